"""Cascades that begin with rows of weights: rows against their definition, what is stacked against pass after pass, and the last model."""

from dataclasses import replace

import numpy as np
import pytest

import zerogap
from zerogap.archive import read_archive, write_archive
from zerogap.baselines.brute import all_heads, is_tree
from zerogap.dependency import train
from zerogap.dependency.candidate_arcs import candidates_of
from zerogap.dependency.cascade.approximate import Cascade
from zerogap.dependency.cascade.passes import DICTIONARY, FIRST, LAST, ROWS, SECOND, VINE, Pass, arcs_on, run_passes
from zerogap.dependency.cascade.rows import VALUES, n_pairs_of, row_model
from zerogap.dependency.parser.parser import Parser
from zerogap.dependency.scoring.arc_list import score_listed
from zerogap.dependency.scoring.parts import bucket_of
from zerogap.dependency.scoring.sentence import arcs_under, block_under, every_arc, score_of_tree
from zerogap.dependency.sentence import Sentence
from zerogap.dependency.training.cascade import all_arcs, unseen_state, with_cascade
from zerogap.dependency.training.options import TrainingOptions
from zerogap.dependency.training.passes import features_of
from zerogap.dependency.training.rows import learn_rows
from zerogap.errors import FormatError, InputError
from zerogap.features.parts.keys import PartFeatures
from zerogap.features.parts.model import part_model
from zerogap.features.parts.templates import parse_part_templates
from zerogap.features.parts.weight_table import CLEAR
from zerogap.relax.pruning import ALL, MARGIN, Rule
from zerogap.testing.treebanks import treebank

pytestmark = pytest.mark.compiled

COLUMNS = frozenset({"form", "upos"})
KINDS = [(ROWS, FIRST, LAST), (ROWS, FIRST, SECOND, LAST), (DICTIONARY, ROWS, LAST), (DICTIONARY, VINE, FIRST, LAST), (ROWS, FIRST)]

TEXTS = [
    "arc: head.upos+mod.form",
    "arc: head.upos+mod.upos+distance\narc: mod.form+distance\narc: head.form",
    "arc: head.upos+between.upos+mod.upos+distance\narc: head.upos+between.upos+mod.form\narc: mod.upos",
]


@pytest.fixture(scope="module")
def data():
    return treebank(80), treebank(30, seed=1)


@pytest.fixture(scope="module")
def parsers(data):
    return {order: train(data[0], order=order, epochs=2, labels=False, threshold=0.0) for order in ("first", "sibling", "grandsibling")}


def random_rows(data, seed=0):
    """A model whose rows are random, for most tokens of the data."""
    features, rng = features_of(ROWS, COLUMNS), np.random.default_rng(seed)
    model = learn_rows(features, data, [np.array(s.heads) for s in data], epochs=1)
    kept = np.sort(rng.permutation(len(model.keys))[: len(model.keys) // 2])
    rows, pairs = rng.normal(size=(len(kept), VALUES)), rng.normal(size=model.pairs.shape)
    return row_model(features, model.keys[kept], rows, model.heads, model.modifiers[:-1], pairs[:, 1:])


def defined(model, sentence):
    """Scores of arcs from the fields of a model of rows, one feature after the other."""
    features, n = model.features, len(sentence)
    partial, totals = features.encode(sentence.columns, n)
    n_pairs, rows = n_pairs_of(features), dict(zip(model.keys.tolist(), model.rows.tolist(), strict=True))
    heads, modifiers = model.heads.tolist(), model.modifiers.tolist()
    scores = np.full((n + 1, n + 1), -np.inf)
    for h, m in zip(*np.nonzero(every_arc(n)), strict=True):
        side, low, high = int(m > h), min(h, m), max(h, m)
        value, steps = 2 * bucket_of(high - low) + side, 0
        for t in range(n_pairs, len(features.templates)):
            role = 1 if partial[1, 1:, t].any() else 0  # each reads one token
            steps += rows.get(int((partial[role, (h, m)[role], t] & CLEAR) | features.plan.low_bytes[t]), [0] * VALUES)[value]
        a, b = int(partial[0, h, 0]), int(partial[1, m, 0])
        of_pair = model.pairs[heads.index(a) if a in heads else -1, modifiers.index(b) if b in modifiers else -1]
        steps += int(of_pair[0, value])
        for c in range(len(totals)):
            count = int(totals[c, high] - totals[c, low + 1])
            steps += int(of_pair[1 + c, 2 * min(count, 2) + side])
        scores[h, m] = steps * model.unit
    return scores


def test_rows_are_what_they_say(data):
    model = random_rows(data[0])
    one, unknown = Pass(ROWS, model), Sentence({"form": ("?", "n0"), "upos": ("?", "N")})
    for sentence in [*data[1], unknown, Sentence({"form": (), "upos": ()})]:
        hashes = model.features.tokens.of(sentence.columns, len(sentence))
        assert (one.arcs(hashes, every_arc(len(sentence))) == defined(model, sentence)).all()


def test_rows_are_learned():
    """Where a tag and what follows decide on the side of the head."""
    rng = np.random.default_rng(0)
    tags = [rng.choice(["N", "D"], int(rng.integers(1, 8))) for _ in range(200)]
    heads = [np.array([m + 1 if some[m - 1] == "D" and m < len(some) else m - 1 for m in range(1, len(some) + 1)]) for some in tags]
    sentences = [Sentence({"form": tuple(some), "upos": tuple(some)}) for some in tags]
    model = learn_rows(features_of(ROWS, COLUMNS), sentences[:150], heads[:150], epochs=5)
    for sentence, right in zip(sentences[150:], heads[150:], strict=True):
        arcs = Pass(ROWS, model).arcs(model.features.tokens.of(sentence.columns, len(sentence)), every_arc(len(sentence)))
        assert (arcs[:, 1:].argmax(axis=0) == right).all()


def test_rare_tags_are_as_unknown(monkeypatch, data):
    monkeypatch.setattr("zerogap.dependency.training.rows.MOST_CLASSES", 2)
    model = learn_rows(features_of(ROWS, COLUMNS), data[0], [np.array(s.heads) for s in data[0]], epochs=1)
    assert model.pairs.shape[:2] == (3, 3)
    hashes = model.features.tokens.of(data[1][0].columns, len(data[1][0]))
    assert (Pass(ROWS, model).arcs(hashes, every_arc(len(data[1][0]))) == defined(model, data[1][0])).all()


@pytest.mark.parametrize("order", ["first", "sibling", "grandsibling"])
@pytest.mark.parametrize("kinds", KINDS)
def test_the_kernel_does_what_passes_say(parsers, data, order, kinds):
    """The tree is a best one of what passes leave, under the last model on top of their scores."""
    if order == "first":
        kinds = tuple(kind for kind in kinds if kind != LAST)
    parser = with_cascade(parsers[order], *data, kinds=kinds, epochs=1, error=0.1)
    cascade, sentences = Cascade(parser), [*data[1], Sentence({"form": (), "upos": ()}), Sentence({"form": ("n0",), "upos": ("N",)})]
    parser = cascade.parser
    passes = [one for one in parser.passes if one.kind != LAST]
    heads, left = cascade.parsed(sentences)
    assert left.shape == (len(sentences), len(passes))
    last = next((one for one in parser.passes if one.kind == LAST), None)
    model, stacked = (parser.model, 0.0) if last is None else (last.parts, last.stacked)
    assert stacked == (0.0 if last is None else 0.25)
    at = 0
    for i, sentence in enumerate(sentences):
        n = len(sentence)
        hashes = parser.model.features.tokens.of(sentence.columns, n)
        for k in range(len(passes)):
            assert left[i, k] == run_passes(passes[: k + 1], hashes, every_arc(n))[0].sum()
        allowed, before = run_passes(passes, hashes, every_arc(n))
        found = heads[at : at + n]
        assert is_tree(tuple(found.tolist()), projective=True, single_root=True) or n == 0
        assert allowed[found, np.arange(1, n + 1)].all()
        if n:
            encoded = model.features.encode_hashes(hashes)
            arcs = arcs_on(arcs_under(model.features, model, encoded, allowed), before, stacked)
            if order == "first":
                best = zerogap.dependency.decode(zerogap.dependency.Problem(arcs, projective=True)).score
            else:
                best = block_under(model.features, model, encoded, arcs, candidates_of(allowed, grand=order == "grandsibling")).best(
                    single_root=True
                )[1]
            words = np.arange(1, n + 1)
            more = 0.0 if not stacked else stacked * float(before[found, words].sum())
            assert score_of_tree(model.features, model, encoded, found) + more == best
        at += n


@pytest.mark.parametrize("value", [0.0, -0.5, -2.0])
def test_words_that_choose_no_tree(parsers, data, value):
    """Then the chain of words is added, and it is scored as all arcs are."""
    rows = Pass(ROWS, random_rows(data[0], seed=3), Rule(MARGIN, value))
    learned = with_cascade(parsers["grandsibling"], *data, kinds=(ROWS, FIRST, LAST), epochs=1)
    cascade = Cascade(replace(learned, passes=(rows, *learned.passes[1:])))
    passes = cascade.passes[:2]
    _, left = cascade.parsed(data[1])
    chained = 0
    for i, sentence in enumerate(data[1]):
        hashes, n = cascade.hashes([sentence])[0], len(sentence)
        first = passes[0].narrowed(hashes, every_arc(n))
        assert left[i].tolist() == [first.sum(), run_passes(passes, hashes, every_arc(n))[0].sum()]
        own = passes[0].arcs(hashes, every_arc(n))[:, 1:]
        chained += int((own - own.max(axis=0) >= value).sum()) < first.sum()
    assert chained or value == -2.0


@pytest.mark.parametrize("text", TEXTS)
def test_listed_arcs_score_what_all_arcs_do(data, text):
    features, rng = PartFeatures(parse_part_templates(text)), np.random.default_rng(1)
    for sentence in data[1]:
        n = len(sentence)
        encoded, allowed = features.encode(sentence.columns, n), every_arc(n) & (rng.random((n + 1, n + 1)) < 0.6)
        keys = np.unique(rng.choice(all_keys(features, encoded, n), 40))
        model = part_model(features, keys, rng.normal(size=len(keys)))
        heads, modifiers = (np.ascontiguousarray(some) for some in np.nonzero(allowed))
        is_asked, scores = rng.random(n + 1) < 0.8, np.empty(len(heads))
        score_listed(encoded, features.plan, model.table, heads, modifiers, is_asked, scores)
        expected = arcs_under(features, model, encoded, allowed)[heads, modifiers]
        assert (scores == np.where(is_asked[modifiers], expected, 0.0)).all()


def all_keys(features, encoded, n):
    """Of the features of all arcs."""
    from zerogap.dependency.training.gradients import arc_keys

    room = (len(features.templates) + n * features.n_across) * (n + 1) ** 2
    keys, signs = np.empty(room, dtype=np.int64), np.empty(room)
    found = arc_keys(encoded, features.plan, every_arc(n).astype(np.float64), 0.5, keys, signs)
    return keys[:found]


@pytest.mark.parametrize("order", ["sibling", "grandsibling"])
def test_what_all_trees_have_need_not_be_scored(parsers, order):
    """Differences between trees stay as they are."""
    parser, random = parsers[order], np.random.default_rng(0)
    features, grand = parser.model.features, order == "grandsibling"
    for sentence in [one for one in treebank(60, seed=4) if 2 <= len(one) <= 4]:
        n, words = len(sentence), np.arange(1, len(sentence) + 1)
        encoded = features.encode(sentence.columns, n)
        trees = [heads for heads in all_heads(n) if is_tree(heads, projective=True, single_root=True)]
        allowed = every_arc(n) & (random.random((n + 1, n + 1)) < 0.4)
        allowed[trees[int(random.integers(len(trees)))], words] = True
        left = [np.array(heads) for heads in trees if allowed[heads, words].all()]
        arcs = arcs_under(features, parser.model, encoded, allowed)
        found = block_under(features, parser.model, encoded, arcs, candidates_of(allowed, grand=grand), relative=True).best(
            single_root=True
        )
        scores = [score_of_tree(features, parser.model, encoded, heads) for heads in left]
        assert score_of_tree(features, parser.model, encoded, found[0]) == max(scores)
        against = np.where(allowed, -arcs, -np.inf)
        worst = block_under(features, negative(parser.model), encoded, against, candidates_of(allowed, grand=grand), relative=True)
        assert found[1] + worst.best(single_root=True)[1] == max(scores) - min(scores)  # what all trees have is in none of the two


def negative(model):
    return replace(model, steps=(-model.steps).astype(np.int16))


def test_many_words_without_modifiers(parsers):
    """More of them in a row than there are templates: their ends are looked up in several turns."""
    parser, n = parsers["grandsibling"], 400
    features = parser.model.features
    encoded = features.encode({"form": ("n0",) * n, "upos": ("N",) * n}, n)
    allowed = np.zeros((n + 1, n + 1), dtype=np.bool_)
    heads = np.array([0, *[1] * (n - 1)])
    allowed[heads, np.arange(1, n + 1)] = True
    assert parser.block(encoded, allowed).best(single_root=True)[1] == score_of_tree(features, parser.model, encoded, heads)


def test_sentences_that_passes_have_not_seen(data):
    """Every one of them once, with its gold arcs."""
    sentences, gold = data[0], [np.array(s.heads) for s in data[0]]
    options = TrainingOptions(epochs=1)
    seen = []

    def learned(kind, some, right, state, options):
        seen.append([one.name for one in some])
        return Pass(ROWS, learn_rows(features_of(ROWS, COLUMNS), some, right, epochs=1))

    rows = Pass(ROWS, learn_rows(features_of(ROWS, COLUMNS), sentences, gold, epochs=1), Rule(MARGIN, -1.0))
    state = unseen_state([rows], learned, sentences, gold, options, 4)
    assert [len(some) for some in state.left] == [len(s) + 1 for s in sentences]
    assert all(allowed[heads, np.arange(1, len(allowed))].all() for allowed, heads in zip(state.left, gold, strict=True))
    for fold, names in enumerate(seen):
        own = [i for i in range(len(sentences)) if sentences[i].name not in names]
        assert own == list(range(fold, len(sentences), len(seen)))
    assert all(scores.shape == allowed.shape for scores, allowed in zip(state.scores, state.left, strict=True))
    assert all_arcs(sentences).of([1]).left[0].sum() == len(sentences[1]) ** 2


@pytest.mark.parametrize("size", [1, 2, 3])
def test_few_sentences(parsers, data, size):
    parser = with_cascade(parsers["sibling"], data[0][:size], data[1], epochs=1)
    assert [one.kind for one in parser.passes] == [ROWS, FIRST, LAST]
    assert all(is_tree(heads, projective=True, single_root=True) for heads in Cascade(parser).heads(data[1]))


def test_a_last_model_behind_a_vine_alone(parsers, data):
    """There are no scores that it could be stacked on."""
    parser = with_cascade(parsers["sibling"], *data, kinds=(VINE, LAST), epochs=1)
    assert parser.passes[1].stacked == 0.0
    assert all(is_tree(heads, projective=True, single_root=True) for heads in Cascade(parser).heads(data[1]))


def test_files(parsers, data, tmp_path):
    parser, path = with_cascade(parsers["grandsibling"], *data, epochs=1), tmp_path / "m.npz"
    parser.save(path)
    again = Parser.load(path)
    assert [(one.kind, one.rule, one.stacked) for one in again.passes] == [(one.kind, one.rule, one.stacked) for one in parser.passes]
    assert [one.kind for one in again.passes] == [ROWS, FIRST, LAST]
    assert Cascade(again).heads(data[1]) == Cascade(parser).heads(data[1])
    header, arrays = read_archive(path, "zerogap-dependency-model", 1)
    keys = arrays["pass0_keys"]
    for part, damaged in {
        "rows": arrays["pass0_rows"][:-1],
        "keys": keys[::-1].copy(),
        "pairs": arrays["pass0_pairs"][:, :, :1],
        "heads": arrays["pass0_heads"].astype(np.int32),
        "unit": np.array(0.3),
    }.items():
        write_archive(path, header, {**arrays, f"pass0_{part}": damaged})
        with pytest.raises(FormatError, match="pass0_"):
            Parser.load(path)
    for rows in ([["first", "margin", -1.0, 0, 1.0]], [["rows", "margin", -1.0, 0, 0.3]], [["rows", "mean", 0.5, 0]]):
        write_archive(path, {**header, "passes": rows}, arrays)
        with pytest.raises(FormatError):
            Parser.load(path)


def test_what_is_refused(parsers, data):
    parser = with_cascade(parsers["sibling"], *data, epochs=1)
    rows, first, _ = parser.passes
    with pytest.raises(InputError, match="the pass first is stacked, but there is none before it"):
        Cascade(replace(parser, passes=(first,)))
    with pytest.raises(InputError, match="stacked is 0.3 for a pass of kind 'first': expected 0, or a power of two"):
        replace(first, stacked=0.3)
    with pytest.raises(InputError, match="stacked is 1.0 for a pass of kind 'rows'"):
        replace(rows, stacked=1.0)
    with pytest.raises(InputError, match="has a PartModel: expected rows of weights"):
        Pass(ROWS, first.model)
    with pytest.raises(InputError, match="a pass of rows has the rule 'mean': expected 'margin'"):
        replace(rows, rule=Rule("mean", 0.5))
    with pytest.raises(InputError, match="a last model is asked for behind the passes of order 'first'"):
        with_cascade(parsers["first"], *data, kinds=(ROWS, LAST), epochs=1)
    with pytest.raises(InputError, match="rows or vine"):
        Cascade(replace(parser, passes=(rows, replace(with_cascade(parser, *data, kinds=(VINE,), epochs=0).passes[0], rule=ALL))))
    for text in ("arc: head.upos+mod.upos", "arc: mod.upos+distance", "arc: head.upos+mod.upos+count(upos=V)",
                 "arc: head.upos+mod.upos+distance\narc: head.form+mod.form+count(upos=V)", "sibling: sib.upos+distance"):  # fmt: skip
        features, none = PartFeatures(parse_part_templates(text)), np.zeros(0, dtype=np.int64)
        with pytest.raises(InputError, match="templates of two tokens|a model of rows has"):
            row_model(features, none, np.zeros((0, VALUES)), none, none, np.zeros((1, 1, 1, VALUES)))
