"""Taggers: the kernels against enumeration, words and candidates against their definitions, models in files, and training on small text."""

import itertools
import json
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import FormatError, InputError
from zerogap.oracles.labels.trigram_sums import sum_sequences
from zerogap.oracles.labels.trigram_tags import best_sequence, pair_starts
from zerogap.sequence.tagger.features import (
    ATTRIBUTES,
    CASE,
    CLOSED,
    EDGE,
    FORM,
    KEY_SHIFT,
    KIND,
    LOOK,
    LOWER,
    N_ATTRIBUTES,
    NODE,
    OPEN,
    PREFIX,
    SHAPE,
    SUFFIX,
    characters,
    hashed,
    read_words,
)
from zerogap.sequence.tagger.tagger import BATCH, WIDE, Tagger, Tags, kinds_of, plan_of, table_of, text_of
from zerogap.sequence.tagger.training import Progress, accuracy, checked, dictionary, jackknife, train_tagger

NOUNS = ("dog", "cat", "house", "engine", "walk", "station", "kitten", "garden")
VERBS = ("sees", "likes", "paints", "finds", "walks")
NAMES = ("Anna", "Peter", "Munich")


def sentences(count, seed=0):
    """Sentences of a small grammar in which "walk" and "walks" are nouns or verbs, by what stands before them."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        subject = [(rng.choice(NAMES), "PROPN", "NNP")] if rng.random() < 0.4 else [("The", "DET", "DT"), (rng.choice(NOUNS), "NOUN", "NN")]
        verb = [(rng.choice(VERBS), "VERB", "VBZ")] if rng.random() < 0.6 else [("must", "AUX", "MD"), ("walk", "VERB", "VB")]
        thing = [("the", "DET", "DT"), (rng.choice(NOUNS), "NOUN", "NN")] if rng.random() < 0.5 else [("walks", "NOUN", "NNS")]
        found.append(tuple(zip(*subject, *verb, *thing, (".", "PUNCT", "."), strict=True)))
    return found


@pytest.fixture(scope="module")
def corpus():
    return sentences(120)


@pytest.fixture(scope="module")
def tagger(corpus):
    return train_tagger(corpus, epochs=4)


# the oracle


@st.composite
def lattices(draw, holes):
    widths = draw(st.lists(st.integers(1, 3), max_size=5))
    n_kinds = draw(st.integers(1, 3))
    first = np.cumsum([0, *widths], dtype=np.int64)
    pair = pair_starts(first)
    value = st.integers(-2, 2).map(float)
    score = st.one_of(value, st.just(-math.inf)) if holes else value
    kinds = np.array(draw(st.lists(st.integers(0, n_kinds - 1), min_size=sum(widths), max_size=sum(widths))), dtype=np.int64)
    pairs = np.array(draw(st.lists(score, min_size=int(pair[-1]), max_size=int(pair[-1]))), dtype=np.float64)
    size = (n_kinds + 1) ** 3
    trigram = np.array(draw(st.lists(value, min_size=size, max_size=size)), dtype=np.float32).reshape((n_kinds + 1,) * 3)
    return first, pair, kinds, pairs, trigram


def all_sequences(first):
    return itertools.product(*(range(i, j) for i, j in itertools.pairwise(first.tolist())))


def score_of(first, pair, kinds, pairs, trigram, path):
    edge, total = len(trigram) - 1, 0.0
    padded = [edge, edge, *(int(kinds[c]) for c in path), edge]
    for t, c in enumerate(path):
        width = first[t + 1] - first[t]
        total += pairs[pair[t] + (path[t - 1] - first[t - 1] if t else 0) * width + c - first[t]]
    triples = zip(padded, padded[1:], padded[2:], strict=False)
    return total + (sum(float(trigram[triple]) for triple in triples) if path else 0.0)


@given(lattices(holes=True))
def test_best_sequence_is_the_best_of_all(lattice):
    first, _, _, pairs, _ = lattice
    path = np.zeros(len(first) - 1, dtype=np.int64)
    found = best_sequence(*lattice, np.empty(len(pairs)), np.empty(len(pairs), dtype=np.int32), path)
    assert found == max(score_of(*lattice, y) for y in all_sequences(first))
    assert all(first[t] <= path[t] < first[t + 1] for t in range(len(path)))
    if found > -math.inf:
        assert score_of(*lattice, tuple(path.tolist())) == found


@given(lattices(holes=False))
def test_probabilities_are_those_of_all_sequences(lattice):
    first, pair, _, pairs, _ = lattice
    inside, outside = np.zeros(len(pairs)), np.zeros(len(pairs))
    total = sum_sequences(*lattice, inside, outside)
    scores = {y: score_of(*lattice, y) for y in all_sequences(first)}
    assert total == pytest.approx(math.log(sum(math.exp(score) for score in scores.values())))
    for t in range(len(first) - 1):
        width = first[t + 1] - first[t]
        for state in range(pair[t], pair[t + 1]):
            i, j = divmod(state - pair[t], width)
            through = (s for y, s in scores.items() if y[t] == first[t] + j and (t == 0 or y[t - 1] == first[t - 1] + i))
            assert math.exp(inside[state] + outside[state] - total) == pytest.approx(sum(math.exp(score - total) for score in through))


def test_ties_go_to_the_lowest_candidates():
    first = np.array([0, 3, 6, 9])
    pair = pair_starts(first)
    path = np.zeros(3, dtype=np.int64)
    zeros, trigram = np.zeros(int(pair[-1])), np.zeros((2, 2, 2), dtype=np.float32)
    best_sequence(first, pair, np.zeros(9, dtype=np.int64), zeros, trigram, zeros.copy(), np.empty(len(zeros), dtype=np.int32), path)
    assert path.tolist() == [0, 3, 6]


# words


def attributes_of(*groups):
    first = np.cumsum([0, *map(len, groups)], dtype=np.int64)
    found = np.full((first[-1], N_ATTRIBUTES), -1, dtype=np.int64)
    read_words(text_of([word for words in groups for word in words]), first, characters(), found)
    return found


def test_words_share_the_attributes_that_they_should():
    upper, lower, other, short, digits, years = attributes_of(("Walking", "walking", "talking", "ng", "3:45", "9:12"))
    same = {name for name, a, b in zip(ATTRIBUTES, upper, lower, strict=True) if a == b}
    assert same == {"lower", "plain", *(f"suffix{i}" for i in range(1, 6)), *(f"prefix{i}" for i in range(1, 5)), "case"}
    assert [int(a == b) for a, b in zip(lower[SUFFIX : SUFFIX + 5], other[SUFFIX : SUFFIX + 5], strict=True)] == [1] * 5
    assert (lower[PREFIX : PREFIX + 4] != other[PREFIX : PREFIX + 4]).all()
    assert short[SUFFIX + 1] == lower[SUFFIX + 1]
    assert short[SUFFIX + 2] == 0 == short[PREFIX + 2]
    assert digits[SHAPE] == years[SHAPE]
    assert digits[KIND] == years[KIND] != lower[KIND]


def test_attributes_do_not_depend_on_other_sentences():
    one, two = ("A", "fine", "day"), ("RUN", "AWAY", "NOW")
    together = attributes_of(one, two)
    assert (together[:3] == attributes_of(one)).all()
    assert (together[3:] == attributes_of(two)).all()
    cases = [
        attributes_of(words)[0, CASE]
        for words in (one, two, ("it", "rains", "now"), ("The", "Long", "Walk", "Home"), ("?", "12"), ("Well",))
    ]
    assert len(set(cases)) == len(cases)


@given(st.lists(st.text(max_size=6).map(lambda word: word.replace("\n", "")), max_size=6))
def test_the_text_of_words_can_be_read_back(words):
    codes = text_of(words).tolist()
    assert "".join(map(chr, codes)).split("\n") == (words or [""])


def test_keys_of_arrays_are_those_of_kernels(tagger):
    keys = hashed(5, np.array([1, 2**61, 7]), 3)
    assert len(set(keys.tolist())) == 3
    assert (keys >= 0).all()
    assert hashed(5, 7, 3)[0] == keys[2]
    assert len(tagger.keys) == len(set(tagger.keys.tolist()))


def test_templates_that_do_not_parse():
    assert plan_of(("bias", "lower[-1]+kind[0]")).tolist() == [[-1] * 6, [1, -1, ATTRIBUTES.index("kind"), 0, -1, -1]]
    for wrong in ("lower", "lemma[0]", "lower[0]+lower[1]+lower[2]+lower[3]", ""):
        with pytest.raises(InputError, match="template"):
            plan_of([wrong])


def test_wide_rows_have_a_weight_for_every_label():
    keys, lengths = np.array([3, 1 << 39, (1 << 39) + 512]), np.array([2, 30, 1])
    labels, weights = np.array([0, 4, *range(30), 7]), np.arange(1, 34)
    slots, entries = table_of(keys, lengths, labels, weights, 40)
    starts = slots[slots[:, 1] != -1, 1]
    assert sorted(entries[starts].tolist()) == [WIDE, 1, 2]
    assert len(entries) == 3 + 2 + 40 + 1


def test_very_many_tags_are_told_apart_by_their_universal_tags_in_trigrams():
    few, many = [("NOUN", str(i)) for i in range(50)], [("NOUN" if i % 2 else "VERB", str(i)) for i in range(500)]
    assert kinds_of(few).tolist() == list(range(50))
    assert kinds_of(many).tolist() == [0 if i % 2 else 1 for i in range(500)]
    words = [tuple(zip(*[(f"w{i}", *many[i]) for i in range(k, k + 10)], strict=True)) for k in range(0, 500, 10)]
    tagger = train_tagger(words, epochs=2)
    assert tagger.trigram.shape == (3, 3, 3)
    assert accuracy(tagger, words)[0] > 0.9
    for forms in (["w3", "w77"], ["w4", "unseen"], ["unseen"]):
        check_against_all_taggings(tagger, forms)


# tagging


def check_against_all_taggings(tagger, forms):
    """The definition of `tagger.py`, from the arrays of the model: candidates, and the score of every sequence of them."""
    found = tagger.tag(forms)
    ends = np.cumsum(tagger.lengths)
    rows = {
        int(key): dict(zip(tagger.labels[end - n : end].tolist(), tagger.weights[end - n : end].tolist(), strict=True))
        for key, n, end in zip(tagger.keys, tagger.lengths, ends, strict=True)
    }
    words, n = attributes_of(forms), len(forms)

    def row(key, *values):
        return rows.get(int(hashed(key, *values)[0]) >> KEY_SHIFT, {})

    def candidates(word):
        looks = [row(LOOK, word[KIND], size, word[SUFFIX + size - 1] if size else 0) for size in (3, 2, 1, 0)]
        return row(CLOSED, word[FORM]) or {**row(OPEN, word[LOWER]), **next(filter(None, looks), row(LOOK, 0, 0, 0))}

    def weights(begin, plan, t, *more):
        for k, terms in enumerate(plan.reshape(len(plan), -1, 2).tolist()):
            values = [
                (words[t + offset][attribute] if 0 <= t + offset < n else -t - offset if t + offset < 0 else 11 + t + offset - n)
                for attribute, offset in terms
                if attribute >= 0
            ]
            if all(values):
                yield row(begin, k + 1, *values, *more)

    def score(labels):
        kinds, edge = kinds_of(tagger.tags), len(tagger.trigram) - 1
        padded = [edge, edge, *(int(kinds[label]) for label in labels), edge]
        total = sum(int(tagger.trigram[three]) for three in zip(padded, padded[1:], padded[2:], strict=False))
        for t, label in enumerate(labels):
            before = labels[t - 1] + 1 if t else 0
            of_word, of_pair = weights(NODE, plan_of(tagger.templates), t), weights(EDGE, plan_of(tagger.edge_templates), t, before)
            # what has no choice is not scored, which is the same for all sequences
            total += sum(found.get(label, 0) for found in of_word) if len(allowed[t]) > 1 else 0
            total += sum(found.get(label, 0) for found in of_pair) if len(allowed[t]) * (len(allowed[t - 1]) if t else 1) > 1 else 0
        return total

    allowed = [candidates(word) for word in words]
    labels = tuple(tagger.tags.index(tag) for tag in zip(*found, strict=True))
    assert score(labels) == max(score(sequence) for sequence in itertools.product(*map(sorted, allowed)))


@pytest.mark.parametrize("forms", [["walk"], ["Dogs", "walk"], ["The", "walk", "walks"], ["Zorks", "must", "find"]])
def test_tags_are_the_best_of_all(tagger, forms):
    check_against_all_taggings(tagger, forms)


def test_ambiguous_words_get_the_tag_of_their_place(tagger):
    found = tagger.tag(["Peter", "must", "walk", "the", "walk", "."])
    assert isinstance(found, Tags)
    assert found.upos == ("PROPN", "AUX", "VERB", "DET", "NOUN", "PUNCT")
    assert found.xpos == ("NNP", "MD", "VB", "DT", "NN", ".")
    assert tagger.tag(("The", "cat", "walks", "walks", ".")).xpos == ("DT", "NN", "VBZ", "NNS", ".")


def test_unseen_text_of_the_same_kind(tagger):
    upos, xpos = accuracy(tagger, sentences(60, seed=9))
    assert upos > 0.98
    assert xpos > 0.98


@pytest.mark.parametrize(
    "forms",
    [
        [], [""], ["", ""], ["x"], ["\n"], ["a\nb", "c"], ["\ud800"], ["\x00", "\U0001f600", "\u3042\u3044", "ẞ", "İstanbul"],
        ["walk" * 5000], ["-"] * 3, ["the", "gardens", "of", "Zürich"], ["The", "walk"] * 1000, [f"unknown{i}" for i in range(2000)],
    ],
)  # fmt: skip
def test_every_word_gets_a_tag(tagger, forms):
    found = tagger.tag(forms)
    assert len(found.upos) == len(found.xpos) == len(forms)
    assert set(zip(*found, strict=True)) <= set(tagger.tags)


@given(st.lists(st.lists(st.text(max_size=5), max_size=5), max_size=4))
def test_many_sentences_are_tagged_as_one_by_one(tagger, groups):
    assert tagger.tag_many(groups) == [tagger.tag(forms) for forms in groups]


def test_threads_give_the_same(tagger):
    groups = [forms for forms, _, _ in sentences(3 * BATCH, seed=3)]
    alone = tagger.tag_many(groups, threads=1)
    assert alone == tagger.tag_many(groups, threads=2) == tagger.tag_many(groups) == [tagger.tag(forms) for forms in groups]


def test_what_is_not_a_sentence(tagger):
    for wrong in ("The cat", ["The", 3], [None]):
        with pytest.raises(InputError, match="expected the words"):
            tagger.tag(wrong)
    with pytest.raises(InputError, match="expected its words"):
        tagger.tag_many(["The cat"])
    with pytest.raises(InputError, match="threads"):
        tagger.tag_many([["The"]], threads=0)


# training


def test_the_same_input_gives_the_same_file(corpus, tagger, tmp_path):
    tagger.save(tmp_path / "one.npz")
    train_tagger(corpus, epochs=4).save(tmp_path / "two.npz")
    train_tagger(corpus, epochs=4, seed=1).save(tmp_path / "other.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes() != (tmp_path / "other.npz").read_bytes()


def test_reports(corpus):
    seen: list[Progress] = []
    train_tagger(corpus, epochs=3, development=corpus[:20], report=seen.append)
    assert [progress.epoch for progress in seen] == [1, 2, 3]
    assert seen[0].loss > seen[2].loss > 0.0
    assert seen[2].upos == 1.0
    seen.clear()
    train_tagger(corpus[:5], epochs=1, report=seen.append)
    assert seen[0].upos is None


def test_a_penalty_makes_the_model_smaller(corpus, tagger):
    assert len(train_tagger(corpus, epochs=4, penalty=5.0).labels) < len(tagger.labels)
    assert set(train_tagger(corpus, epochs=0).weights.tolist()) == {0}


def test_one_word_is_enough():
    tagger = train_tagger([(["yes"], ["INTJ"], ["UH"]), ([], [], [])], epochs=1)
    assert tagger.tag(["no", "no"]) == (("INTJ", "INTJ"), ("UH", "UH"))


def test_what_cannot_be_trained_on(corpus):
    for wrong, message in (
        ([], "empty"), ([([], [], [])], "0 different tags"), ([(["a"], ["X"], [])], r"columns of \[1, 1, 0\]"),
        ([(["a"], ["X"], [None])], "form or tag"), ([(["a"], ["X"])], "columns"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            train_tagger(wrong)
    for option, value in (("epochs", -1), ("seed", 0.5), ("penalty", -1.0), ("penalty", math.nan), ("epochs", True)):
        with pytest.raises(InputError, match=option):
            train_tagger(corpus, **{option: value})


def test_candidates_contain_what_was_seen(corpus):
    gold = np.array([0 if upos == "NOUN" else 1 for _, column, _ in checked(corpus, "corpus") for upos in column])
    attributes = attributes_of(*(forms for forms, _, _ in corpus))
    keys, labels = dictionary(attributes, gold, 2)
    assert len(keys) == len(labels)
    assert set(labels.tolist()) == {0, 1}


def test_jackknife_tags_every_sentence_without_having_seen_it():
    strange = (["Zork", "likes", "the", "dog"], ["X", "VERB", "DET", "NOUN"], ["FW", "VBZ", "DT", "NN"])
    data = [strange, *sentences(60, seed=4)]
    found = jackknife(data, folds=3, epochs=2)
    assert [len(tags.upos) for tags in found] == [len(forms) for forms, _, _ in data]
    assert "X" not in found[0].upos  # only this sentence has the tag
    assert found == jackknife(data, folds=3, epochs=2, threads=1)
    for folds in (1, 62, True, 2.0):
        with pytest.raises(InputError, match="folds"):
            jackknife(data, folds=folds)


# files


def test_a_file_gives_the_same_tagger(tagger, tmp_path):
    tagger.save(tmp_path / "tagger.npz")
    loaded = Tagger.load(str(tmp_path / "tagger.npz"))
    for name in ("tags", "templates", "edge_templates"):
        assert getattr(loaded, name) == getattr(tagger, name)
    for name in ("keys", "lengths", "labels", "weights", "trigram"):
        assert (getattr(loaded, name) == getattr(tagger, name)).all()
    groups = [forms for forms, _, _ in sentences(20, seed=8)]
    assert loaded.tag_many(groups) == tagger.tag_many(groups)


def rewritten(path, target, change):
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(arrays["header"].tobytes().decode())
    change(header, arrays)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(target, **arrays)


def changed(name, function):
    def change(header, arrays):
        if name in arrays:
            arrays[name] = function(arrays[name])
        else:
            header[name] = function(header[name])

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed("format", lambda _: "another"), "format"),
        (changed("version", lambda version: version + 1), "version"),
        (changed("tags", lambda tags: tags[:-1]), "labels of tags"),
        (changed("tags", lambda tags: [*tags[:-1], tags[0]]), "different ones"),
        (changed("tags", lambda tags: [*tags[:-1], "NOUN"]), "pairs"),
        (changed("templates", lambda templates: [*templates, "lemma[0]"]), "template"),
        (changed("templates", lambda templates: [*templates, 3]), "strings"),
        (changed("keys", lambda keys: keys[:4]), "bytes"),
        (changed("keys", lambda keys: keys[:, :-1]), "fit"),
        (changed("keys", np.zeros_like), "ascend"),
        (changed("keys", lambda keys: np.full_like(keys, 255)), "ascend"),
        (changed("lengths", lambda lengths: lengths * 0), "fit"),
        (changed("labels", lambda labels: labels[:-1]), "fit"),
        (changed("labels", lambda labels: labels * 0 + 60000), "ascending labels"),
        (changed("weights", lambda weights: weights.astype(np.int64)), "int64"),
        (changed("trigram_places", lambda places: places + 1000), "trigrams"),
        (lambda header, arrays: arrays.pop("trigram_weights"), "trigram_weights"),
        (lambda header, arrays: header.pop("tags"), "tags"),
    ],
)
def test_files_that_are_not_taggers(tagger, tmp_path, change, message):
    tagger.save(tmp_path / "tagger.npz")
    rewritten(tmp_path / "tagger.npz", tmp_path / "wrong.npz", change)
    with pytest.raises(FormatError, match=message):
        Tagger.load(tmp_path / "wrong.npz")


def test_files_that_are_damaged(tagger, tmp_path):
    tagger.save(tmp_path / "tagger.npz")
    whole = (tmp_path / "tagger.npz").read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.npz").write_bytes(whole[:size])
        with pytest.raises(FormatError, match="cut.npz"):
            Tagger.load(tmp_path / "cut.npz")
    with pytest.raises(FormatError, match="no such file"):
        Tagger.load(tmp_path / "nothing.npz")
    with pytest.raises(FormatError, match="cannot be written"):
        tagger.save(tmp_path / "nothing" / "tagger.npz")


# real text


@pytest.mark.data
def test_tags_of_english_web_text(data):
    def read(path):
        found, words = [], []
        for line in path.read_text(encoding="utf-8").splitlines():
            cells = line.split("\t")
            if cells[0].isdigit():
                words.append((cells[1], cells[3], cells[4]))
            elif not line and words:
                found.append(tuple(zip(*words, strict=True)))
                words = []
        return found

    development = read(data / "ud" / "en_ewt" / "dev.conllu")
    half = len(development) // 2
    upos, xpos = accuracy(train_tagger(development[:half], epochs=3), development[half:])
    assert upos > 0.86
    assert xpos > 0.85
