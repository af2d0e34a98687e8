"""The transition-based parser against a plain one: states are tuples, features are strings, every derivation is enumerated."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import all_trees
from zerogap.dependency.sentence import Sentence
from zerogap.errors import FormatError, InputError, UnknownMethod
from zerogap.io.formats.conllu import read_conllu
from zerogap.papers.rush2014.transition_parser import parser as transition_parser
from zerogap.papers.rush2014.transition_parser import training as transition_training
from zerogap.papers.rush2014.transition_parser.parser import TransitionParser
from zerogap.papers.rush2014.transition_parser.system import (
    LEFT,
    OUTSIDE,
    REDUCE,
    RIGHT,
    SHIFT,
    code_of,
    factor_of,
    features_of,
    hash_of,
    heads_of,
    static_oracle,
    zhang_nivre,
)
from zerogap.papers.rush2014.transition_parser.training import train

FEATURES = features_of(zhang_nivre(["upos"]))
VALENCY = features_of(["s0.upos+s0.lefts", "s0.upos+s0.rights", "n0.upos+n0.lefts"])  # not drowned by others
UPDATES = ("early", "max-violation")
START = ((), 1, ())  # stack, next word, arcs in the order in which they came


def successors(state, n):
    """(action, state) for every action that can be done at all."""
    stack, front, arcs = state
    headed = {m for _, m in arcs}
    if front <= n:
        yield SHIFT, ((*stack, front), front + 1, arcs)
    if stack and stack[-1] not in headed:
        yield LEFT, (stack[:-1], front, (*arcs, (front if front <= n else 0, stack[-1])))
    if stack and front <= n:
        yield RIGHT, ((*stack, front), front + 1, (*arcs, (stack[-1], front)))
    if stack and stack[-1] in headed:
        yield REDUCE, (stack[:-1], front, arcs)


@functools.cache
def leads_to_a_tree(state, n):
    stack, front, arcs = state
    if front > n and not stack:
        return n == 0 or sum(h == 0 for h, _ in arcs) == 1
    return any(leads_to_a_tree(after, n) for _, after in successors(state, n))


@functools.cache
def allowed(state, n):
    return tuple(sorted((action, after) for action, after in successors(state, n) if leads_to_a_tree(after, n)))


def derivations(state, n):
    if state[1] > n and not state[0]:
        yield (), state
    for action, after in allowed(state, n):
        for rest, end in derivations(after, n):
            yield (action, *rest), end


def tree_of(state):
    head = {m: h for h, m in state[2]}
    return tuple(head[m] for m in sorted(head))


def roles_of(state, n):
    """The words that templates read, None where there is none, and the values of relations."""
    stack, front, arcs = state
    head = {m: h for h, m in arcs}
    s0 = stack[-1] if stack else None

    def modifiers(word, side):
        return [m for h, m in arcs if h == word and (m < word if side == "l" else m > word)][::-1]  # outermost first

    found = {"s0": s0, "n0": front, "n1": front + 1, "n2": front + 2, "s0h": head.get(s0), "s0h2": head.get(head.get(s0))}
    lefts, rights = modifiers(s0, "l") if s0 else [], modifiers(s0, "r") if s0 else []
    of_front = [m for h, m in arcs if h == (front if front <= n else 0)][::-1]
    for name, words in (("s0l", lefts), ("s0r", rights), ("n0l", of_front)):
        found[name], found[f"{name}2"] = [*words, None, None][:2]
    distance = front - s0 if s0 else 0
    values = {
        "none": 0, "distance": distance if distance <= 5 else 6 if distance <= 10 else 7,
        "s0.lefts": min(len(lefts), 7), "s0.rights": min(len(rights), 7), "n0.lefts": min(len(of_front), 7),
    }  # fmt: skip
    return found, values


def signed(key):
    """As 64 bits have it."""
    return (key + 2**63) % 2**64 - 2**63


def keys_of(state, sentence, features):
    n = len(sentence)
    roles, values = roles_of(state, n)
    for template in features.templates:
        key = code_of(template.relation, values[template.relation])
        for place, (role, column) in enumerate(template.terms):
            word = roles[role]
            none, root, after = OUTSIDE
            text = none if word is None else sentence.columns[column][word - 1] if word <= n else root if word == n + 1 else after
            key += factor_of(template.text, place) * hash_of(text)
        yield signed(key)


class Plain:
    """Scores by plain sums of weights, which are in a dictionary of (key, action), and a plain beam."""

    def __init__(self, sentence, weights, features=FEATURES):
        self.sentence, self.weights, self.n = sentence, weights, len(sentence)
        self.keys = functools.cache(lambda state: tuple(keys_of(state, sentence, features)))

    def action_score(self, state, action):
        return sum(self.weights.get((key, action), 0) for key in self.keys(state))

    def score(self, actions):
        total, state = 0, START
        for action in actions:
            total += self.action_score(state, action)
            state = dict(successors(state, self.n))[action]
        return total

    def beams(self, k):
        """After every step: (score, actions, state), best first."""
        beam = [(0, (), START)]
        for _ in range(2 * self.n):
            beam = [
                (score + self.action_score(state, action), (*actions, action), after)
                for score, actions, state in beam
                for action, after in allowed(state, self.n)
            ]
            beam = sorted(beam, key=lambda entry: -entry[0])[:k]  # stable: ties to the successor of the better, then the smaller action
            yield beam


def sentence_of(words, tags, heads=None):
    return Sentence({"form": tuple(words), "upos": tuple(tags)}, heads=heads)


@st.composite
def sentences(draw, min_words=0, max_words=4):
    n = draw(st.integers(min_words, max_words))
    return sentence_of(
        draw(st.lists(st.sampled_from("ab"), min_size=n, max_size=n)), draw(st.lists(st.sampled_from("NV"), min_size=n, max_size=n))
    )


@st.composite
def models(draw, sentence):
    """Weights from -2 to 2, mostly 0 and with ties, of features of the sentence's states, as a parser and plainly."""
    seed, density = draw(st.integers(0, 10_000)), draw(st.sampled_from((0.05, 0.3, 1.0)))
    features = draw(st.sampled_from((FEATURES, VALENCY)))
    states, todo = {START}, [START]
    while todo:
        for _, after in allowed(todo.pop(), len(sentence)):
            if after not in states:
                states.add(after)
                todo.append(after)
    keys = np.array(sorted({key for state in states for key in keys_of(state, sentence, features)}), dtype=np.int64)
    rng = np.random.default_rng(seed)
    steps = (rng.integers(-2, 3, size=(len(keys), 4)) * (rng.random((len(keys), 4)) < density)).astype(np.int16)
    weights = {
        (key, action): step for key, row in zip(keys.tolist(), steps.tolist(), strict=True) for action, step in enumerate(row) if step
    }
    return TransitionParser(features, keys, steps, 1.0, 1), Plain(sentence, weights, features)


@pytest.mark.parametrize("n", range(6))
def test_derivations_are_those_of_the_projective_trees(n):
    trees = set(all_trees(n, projective=True))
    found = dict(derivations(START, n)) if n else {(): START}
    assert {tree_of(end) for end in found.values()} == trees
    assert all(len(actions) == 2 * n and heads_of(actions) == tree_of(end) for actions, end in found.items())
    for tree in all_trees(n, projective=False, single_root=False):
        actions = static_oracle(tree)
        assert (actions is not None) == (tree in trees)
        assert actions is None or (actions in found and heads_of(actions) == tree)


@pytest.mark.parametrize("heads", [(1,), (2, 1), (0, 0), (0, 3, 2), (2, 3, 1), (3, 4, 0, 3)])
def test_what_is_no_projective_tree_has_no_derivation(heads):
    assert static_oracle(heads) is None


def test_heads_out_of_range_are_refused():
    with pytest.raises(InputError, match="from 0 to 2"):
        static_oracle((0, 3))


@given(data=st.data())
@settings(max_examples=60)
def test_a_large_beam_finds_the_best_derivation(data):
    sentence = data.draw(sentences())
    parser, plain = data.draw(models(sentence))
    actions, score = parser.with_beam(4096).derivation(sentence)
    assert plain.score(actions) == score
    assert score == max(plain.score(every) for every, _ in derivations(START, len(sentence)))
    assert len(sentence) == 0 or heads_of(actions) in all_trees(len(sentence), projective=True)


@pytest.mark.parametrize(("favoured", "other"), [(2, 3), (3, 2)])
def test_valencies_are_told_apart_when_the_outermost_modifiers_are_the_same(favoured, other):
    """The last word is shifted when it has the first two as its modifiers, and perhaps the third."""
    valency = factor_of("n0.upos+n0.lefts", 0) * hash_of("V")
    steps = {signed(code_of("n0.lefts", lefts) + valency): step for lefts, step in ((favoured, 5), (other, 4))}
    steps[signed(code_of("none", 0) + factor_of("n0l2.form", 0) * hash_of("b"))] = 10
    keys = np.array(sorted(steps), dtype=np.int64)
    weights = np.array([[steps[key] if action == SHIFT else 0 for action in range(4)] for key in keys.tolist()], dtype=np.int16)
    parser = TransitionParser(features_of(["n0.upos+n0.lefts", "n0l2.form"]), keys, weights, 1.0, 4096)
    actions, score = parser.derivation(sentence_of("abcd", "NNNV"))
    assert score == 15
    assert heads_of(actions) == ((4, 4, 2, 0) if favoured == 2 else (4, 4, 4, 0))


@given(data=st.data(), beam=st.sampled_from((1, 2, 3, 8)))
@settings(max_examples=40)
def test_a_beam_keeps_the_best_states(data, beam):
    sentence = data.draw(sentences(min_words=1, max_words=5))
    parser, plain = data.draw(models(sentence))
    *_, last = plain.beams(beam)
    score, actions, end = last[0]
    assert parser.with_beam(beam).derivation(sentence) == (actions, score)
    assert parser.with_beam(beam).parse(sentence) == tree_of(end)


@given(data=st.data())
@settings(max_examples=25)
def test_a_beam_of_one_is_greedy(data):
    sentence = data.draw(sentences(min_words=1))
    parser, plain = data.draw(models(sentence))
    state = START
    for _ in range(2 * len(sentence)):
        _, state = max(allowed(state, len(sentence)), key=lambda choice, state=state: (plain.action_score(state, choice[0]), -choice[0]))
    assert parser.parse(sentence) == tree_of(state)


def random_treebank(seed, size, longest):
    """Trees that follow from the tags: a verb takes the nouns before and after it, a noun the adjectives before it."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(size):
        tags, heads = [], []
        nouns_before = int(rng.integers(0, 3))
        verb = None
        waiting = []  # nouns before the verb
        for noun in range(nouns_before + 1 + int(rng.integers(0, 3))):
            if noun == nouns_before:
                tags.append("V")
                heads.append(0)
                verb = len(tags)
                for m in waiting:
                    heads[m - 1] = verb
                continue
            adjectives = int(rng.integers(0, longest))
            tags += ["A"] * adjectives + ["N"]
            heads += [len(tags)] * adjectives + [verb or -1]
            if verb is None:
                waiting.append(len(tags))
        words = [f"{tag}{rng.integers(5)}" for tag in tags]
        found.append(sentence_of(words, tags, tuple(heads)))
    return found


def plain_training(treebank, beam, epochs, update, seed):
    """Averages of the weights before the first sentence and after every one."""
    weights, totals, moment = {}, {}, 1
    for epoch in range(1, epochs + 1):
        for i in np.random.default_rng([seed, epoch]).permutation(len(treebank)).tolist():
            sentence = treebank[i]
            plain, right = Plain(sentence, weights), static_oracle(sentence.heads)
            beams = list(plain.beams(beam))
            at = len(right)
            if update == "early":
                lost = [t for t, states in enumerate(beams, 1) if right[:t] not in [actions for _, actions, _ in states]]
                at = min([at, *lost])
            elif beams and beams[-1][0][1] != right:
                gaps = [(states[0][0] - plain.score(right[:t]), -t) for t, states in enumerate(beams, 1) if states[0][1] != right[:t]]
                at = -max(gaps)[1]
            if at:
                guess = beams[at - 1][0][1]
                for actions, sign in ((right[:at], 1), (guess, -1)):
                    state = START
                    for action in actions:
                        for key in plain.keys(state):
                            weights[key, action] = weights.get((key, action), 0) + sign
                        state = dict(allowed(state, len(sentence)))[action]
            for name, weight in weights.items():
                totals[name] = totals.get(name, 0) + weight
            moment += 1
    return {name: total / moment for name, total in totals.items() if total}


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("beam", [1, 3])
def test_training_is_the_averaged_perceptron(update, beam):
    treebank = [*[s for s in random_treebank(3, 60, 2) if len(s) <= 5][:12], sentence_of("", "", ())]
    parser = train(treebank, beam=beam, epochs=2, update=update, seed=5, templates=zhang_nivre(["upos"]))
    expected = plain_training(treebank, beam, 2, update, 5)
    unit = 2.0 ** (math.frexp(max(map(abs, expected.values())))[1] - 15)
    assert parser.unit == unit
    found = {
        (key, a): step for key, row in zip(parser.keys.tolist(), parser.steps.tolist(), strict=True) for a, step in enumerate(row) if step
    }
    assert found == {name: round(weight / unit) for name, weight in expected.items() if round(weight / unit)}


@pytest.mark.parametrize("update", UPDATES)
def test_it_learns_what_can_be_learned(update):
    parser = train(random_treebank(0, 150, 3), development=random_treebank(1, 20, 3), beam=4, epochs=6, update=update)
    unseen = random_treebank(2, 50, 3)
    found = parser.parse_many(unseen)
    right = sum(a == b for s, heads in zip(unseen, found, strict=True) for a, b in zip(s.heads, heads, strict=True))
    assert right > 0.99 * sum(map(len, unseen))
    assert found == [parser.parse(sentence) for sentence in unseen]


def test_training_is_deterministic_and_the_table_may_grow(monkeypatch):
    treebank = random_treebank(0, 40, 3)
    reports = []
    first = train(treebank, beam=4, epochs=3, report=reports.append)
    monkeypatch.setattr(transition_training, "FIRST_PLACES", 64)
    second = train(treebank, beam=4, epochs=3)
    assert [epoch.number for epoch in reports] == [1, 2, 3]
    assert first.unit == second.unit
    assert first.about == second.about
    assert (first.keys == second.keys).all()
    assert (first.steps == second.steps).all()


@pytest.mark.parametrize("beam", [1, 6])
def test_scores_of_long_sentences_are_sums_of_weights(beam):
    """Far words, and more modifiers than are told apart."""
    parser = train(random_treebank(0, 60, 16), beam=beam, epochs=2, templates=zhang_nivre(["upos"]))
    weights = {(key, a): step for key, row in zip(parser.keys.tolist(), parser.steps.tolist(), strict=True) for a, step in enumerate(row)}
    for sentence in random_treebank(1, 12, 16):
        actions, score = parser.derivation(sentence)
        assert Plain(sentence, weights).score(actions) * parser.unit == score


@pytest.mark.parametrize("beam", [1, 8])
def test_what_is_forgotten_is_looked_up_again(beam, monkeypatch):
    parser = train(random_treebank(0, 40, 3), beam=beam, epochs=1)
    long = sentence_of(*zip(*[(f, t) for s in random_treebank(4, 60, 4) for f, t in zip(*s.columns.values(), strict=True)], strict=True))
    expected = parser.derivation(long)
    monkeypatch.setattr(transition_parser, "bits_for", lambda n, beam: (2 * transition_parser.N_GROUPS * (beam + 1)).bit_length())
    assert parser.derivation(long) == expected
    assert static_oracle(parser.parse(long)) is not None


def test_few_words():
    parser = train(random_treebank(0, 20, 3), beam=2, epochs=1)
    assert parser.parse_many([]) == []
    assert parser.parse(sentence_of("", "")) == ()
    assert parser.derivation(sentence_of("", "")) == ((), 0.0)
    assert parser.parse(sentence_of("x", "N")) == (0,)
    assert parser.parse(sentence_of("xy", "NV")) in ((2, 0), (0, 1))


def test_a_parser_without_weights_takes_the_first_actions():
    parser = TransitionParser(FEATURES, np.zeros(0, dtype=np.int64), np.zeros((0, 4), dtype=np.int16), 1.0, 3)
    assert parser.parse(sentence_of("xyz", "NVN")) == (3, 3, 0)


def test_saved_and_loaded(tmp_path):
    treebank = random_treebank(0, 60, 3)
    parser = train(treebank, beam=4, epochs=2)
    parser.save(tmp_path / "parser.npz")
    loaded = TransitionParser.load(tmp_path / "parser.npz")
    assert loaded.parse_many(treebank) == parser.parse_many(treebank)
    assert [loaded.derivation(s) for s in treebank] == [parser.derivation(s) for s in treebank]
    assert (loaded.beam, loaded.about) == (4, parser.about)


def test_files_that_are_no_parsers_are_refused(tmp_path):
    path = tmp_path / "parser.npz"
    with pytest.raises(FormatError, match="parser.npz"):
        TransitionParser.load(path)
    parser = train(random_treebank(0, 5, 3), beam=1, epochs=1)
    parser.save(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(FormatError, match="parser.npz"):
        TransitionParser.load(path)
    np.savez(path, header=np.frombuffer(b'{"format": "other", "version": 1}', dtype=np.uint8), keys=parser.keys, steps=parser.steps)
    with pytest.raises(FormatError, match="'other'"):
        TransitionParser.load(path)


def test_trees_that_have_no_derivation_are_left_out():
    treebank = [*random_treebank(0, 10, 3), sentence_of("abcd", "NNVN", (3, 4, 0, 3)), sentence_of("ab", "VV", (0, 0))]
    assert train(treebank, epochs=1).about["left_out"] == 2
    with pytest.raises(InputError, match="none of the 2"):
        train(treebank[-2:], epochs=1)


def test_wrong_options_are_refused():
    treebank = random_treebank(0, 5, 3)
    for beam in (0, 5000, 1.5):
        with pytest.raises(InputError, match="beam is"):
            train(treebank, beam=beam)
    with pytest.raises(InputError, match="epochs is 0"):
        train(treebank, epochs=0)
    with pytest.raises(UnknownMethod, match="early"):
        train(treebank, update="late")
    with pytest.raises(InputError, match=r"sentences\[0\] has the heads None"):
        train([sentence_of("ab", "NV")])
    with pytest.raises(InputError, match="no upos"):
        train(treebank, epochs=1).parse(Sentence({"form": ("a",), "upos": ("_",)}))
    with pytest.raises(InputError, match="expected tags"):
        train([Sentence({"form": ("a",)}, heads=(0,))])


@pytest.mark.parametrize(
    ("template", "message"),
    [("s9.form", "s9"), ("s0.size", "size"), ("s0", "''"), ("s0.form+distance+s0.lefts", "at most one"), ("s0l.form+s0r.form", "too much")],
)
def test_wrong_templates_are_refused(template, message):
    with pytest.raises(InputError, match=message):
        features_of([template])


@pytest.mark.data
def test_real_sentences(data):
    read = [record.sentence for record in read_conllu(data / "ud" / "en_ewt" / "train.conllu")][:800]
    parser = train(read[:600], beam=8, epochs=5)
    for beam in (1, 64):
        assert all(static_oracle(heads) is not None for heads in parser.with_beam(beam).parse_many(read[600:]))
    found = parser.parse_many(read[600:])
    right = sum(a == b for s, heads in zip(read[600:], found, strict=True) for a, b in zip(s.heads, heads, strict=True))
    assert right > 0.74 * sum(map(len, read[600:]))
