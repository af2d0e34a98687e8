"""N-gram scores against back-off by its definition, over dictionaries; and against KenLM where it is installed."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import InputError
from zerogap.kernels import float64, int64, kernel, readonly
from zerogap.oracles.ngrams.lookup import TABLE_TYPES, ngram_score, ngram_tables, words_score
from zerogap.translation.language_models import Ngrams, build_language_model

WORDS = ["<s>", "</s>", "<unk>", "a", "b"]


@st.composite
def models(draw, max_order=4):
    """A model and its dictionaries {ngram: score}, {ngram: back-off}: any n-grams whose contexts are listed, suffixes need not be."""
    order = draw(st.integers(1, max_order))
    grid = st.integers(-64, 0).map(lambda k: k / 16)
    levels, scores, back_offs = [], {}, {}
    contexts = [()]
    for n in range(1, order + 1):
        possible = [(*context, w) for context in contexts for w in range(len(WORDS))]
        grams = possible if n == 1 else draw(st.lists(st.sampled_from(possible), unique=True, max_size=12))
        for gram in grams:
            scores[gram] = draw(grid)
            if n < order and draw(st.integers(0, 3)):
                back_offs[gram] = draw(st.one_of(st.just(0.0), grid))
        contexts = [gram for gram in grams if gram in back_offs]
        ids = np.array(grams, dtype=np.int64).reshape(len(grams), n)
        levels.append(Ngrams(ids, np.array([scores[g] for g in grams]), np.array([back_offs.get(g, np.nan) for g in grams])))
        if not contexts:
            break
    return build_language_model(WORDS, levels), len(levels), scores, back_offs


def by_definition(order, scores, back_offs, context, word):
    """The score of a word after a context of any length."""
    context = tuple(context[max(0, len(context) - order + 1) :])
    if (*context, word) in scores:
        return scores[(*context, word)]
    return back_offs.get(context, 0.0) + by_definition(order, scores, back_offs, context[1:], word)


def tables_of(model):
    return ngram_tables(model.keys, model.scores, model.next_states, model.back_offs, model.shorter, model.n_words)


@kernel(float64(readonly(int64, 1), int64, *TABLE_TYPES))
def score_after(context, word, slots, slot_numbers, word_scores, word_states, back_offs, shorter):
    return ngram_score(context, word, slots, slot_numbers, word_scores, word_states, back_offs, shorter)


@given(models(), st.lists(st.integers(0, 4), max_size=6))
def test_every_way_to_score_is_the_definition(given_model, ids):
    model, order, scores, back_offs = given_model
    tables = tables_of(model)
    state, total = model.start, 0.0
    for i, word in enumerate(ids):
        wanted = by_definition(order, scores, back_offs, [0, *ids[:i]], word)
        score, following = model.step(state, word)
        assert score == wanted == score_after(np.array([0, *ids[:i]][-3:], dtype=np.int64), word, *tables)
        assert words_score(tables, state, np.array([word])) == (score, following)
        many_scores, many_states = model.steps(np.array([state, 0]), np.array([word, word]))
        assert (many_scores[0], many_states[0]) == (score, following)
        state, total = following, total + score
    assert words_score(tables, model.start, np.array(ids, dtype=np.int64)) == (total, state)
    assert model.score([WORDS[i] for i in ids], end=False) == total
    assert model.state_after([0, *ids]) == state


@given(models(max_order=3))
def test_states_are_minimal(given_model):
    """Contexts with one state are scored alike; two states differ in some sentence, or a back-off weight tells them apart."""
    model, order, scores, back_offs = given_model
    by_state = {}
    for context in itertools.product(range(5), repeat=3):
        row = tuple(by_definition(order, scores, back_offs, context, w) for w in range(5))
        assert by_state.setdefault(model.state_after(context), row) == row
    empty = tuple(by_definition(order, scores, back_offs, (), w) for w in range(5))
    assert by_state.setdefault(0, empty) == empty


@given(models(), st.sampled_from([0.5, 0.1333, -1.0, 0.0]))
def test_scaled_to_a_grid(given_model, factor):
    model = given_model[0]
    scaled = model.scaled(factor, resolution=2.0**-20)
    assert np.allclose(scaled.scores, model.scores * factor, atol=2.0**-20)
    for array in (scaled.scores, scaled.back_offs):
        assert np.array_equal(np.rint(array * 2.0**20), array * 2.0**20)
    assert scaled.next_states is model.next_states


def test_wrong_calls():
    model = build_language_model(WORDS, [Ngrams(np.arange(5)[:, None], np.zeros(5), np.zeros(5))])
    tables = tables_of(model)
    with pytest.raises(InputError, match="words has ids from 0 to 5: expected 0 to 4"):
        words_score(tables, 0, np.array([0, 5]))
    with pytest.raises(InputError, match="state is 1: expected 0 to 0"):
        words_score(tables, 1, np.array([0]))
    with pytest.raises(InputError, match="5 keys, 4 scores"):
        ngram_tables(model.keys, model.scores[:4], model.next_states, model.back_offs, model.shorter, 5)
    with pytest.raises(InputError, match="factor is nan"):
        model.scaled(np.nan)


@pytest.mark.data
def test_kenlm_gives_the_same(data):
    kenlm = pytest.importorskip("kenlm")
    from zerogap.io.translation.arpa import load_language_model

    path = data / "mt" / "multi30k-deen" / "lm.arpa.gz"
    model, peer = load_language_model(path), kenlm.Model(str(path))
    for line in (data / "mt" / "multi30k-deen" / "test.ref").read_text().splitlines()[:50]:
        assert model.score(line.split()) == pytest.approx(peer.score(line), abs=1e-4)


@pytest.mark.data
def test_kernel_and_model_agree_on_real_sentences(data):
    from zerogap.io.translation.arpa import load_language_model

    model = load_language_model(data / "mt" / "multi30k-deen" / "lm.arpa.gz").scaled(0.0958 * np.log(10), resolution=2.0**-32)
    tables = tables_of(model)
    for line in (data / "mt" / "multi30k-deen" / "test.ref").read_text().splitlines():
        ids = np.array([*map(model.id_of, line.split()), model.end_id])
        assert words_score(tables, model.start, ids)[0] == model.score(line.split())
