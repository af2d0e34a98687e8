"""Dual decomposition that scores few parts finds what it finds with all of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap import verify
from zerogap.dependency import train
from zerogap.dependency.parser import parser as model
from zerogap.dependency.parser.parser import Parser
from zerogap.dependency.scoring.bounds_offline import compute_bounds
from zerogap.dependency.scoring.sentence import keys_of_tree
from zerogap.dependency.sentence import Sentence
from zerogap.errors import VerificationError
from zerogap.features.parts.keys import PartFeatures
from zerogap.features.parts.model import part_model
from zerogap.features.parts.templates import parse_part_templates
from zerogap.io.formats.conllu import read_conllu

pytestmark = pytest.mark.compiled

FEATURES = PartFeatures(
    parse_part_templates("""
arc: head.upos+mod.upos
arc: distance
sibling: head.upos+sib.upos+mod.upos
stop: head.upos+sib.upos
grandparent: grand.upos+head.upos+mod.upos
grandsibling: grand.upos+head.upos+sib.upos+mod.upos
grandsibling: grand.form+head.upos+mod.upos
""")
)


@pytest.fixture
def lazily(monkeypatch):
    monkeypatch.setattr(model, "MANY_PARTS", 1)


def random_sentence(rng, n):
    order = rng.permutation(n) + 1
    heads = np.zeros(n, dtype=np.int64)
    for i in range(1, n):
        heads[order[i] - 1] = order[rng.integers(i)]
    columns = {"form": tuple(rng.choice(list("abc"), n)), "upos": tuple(rng.choice(list("NVPD"), n))}
    return Sentence(columns, tuple(heads.tolist()))


def random_parser(rng, examples, single_root=True):
    found = [keys_of_tree(FEATURES, FEATURES.encode(s.columns, len(s)), np.array(s.heads, dtype=np.int64)) for s in examples]
    keys = np.unique(np.concatenate(found))
    parser = Parser(
        "grandsibling", part_model(FEATURES, keys, rng.integers(-8, 9, len(keys)) / 4.0), projective=False, single_root=single_root
    )
    return compute_bounds(parser, examples)


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.booleans())
@settings(max_examples=60)
def test_same_score_as_with_all_parts(seed, n, single_root):
    rng = np.random.default_rng(seed)
    parser = random_parser(rng, [random_sentence(rng, int(rng.integers(1, 8))) for _ in range(6)], single_root)
    sentence = random_sentence(rng, n)
    whole = parser.parse(sentence)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "MANY_PARTS", 1)
        lazy = parser.parse(sentence)
    assert (lazy.solution.score, lazy.solution.status) == (whole.solution.score, "optimal")
    assert lazy.problem.score(lazy.heads) == whole.problem.score(lazy.heads) == lazy.solution.score
    verify(lazy.problem, lazy.solution)
    trace = lazy.solution.trace
    assert all(bound >= lazy.solution.score for bound in trace.bounds)
    assert all(score <= lazy.solution.score for score in trace.scores)
    assert list(trace.bounds) == sorted(trace.bounds, reverse=True)


def test_a_limit_leaves_a_true_bound(lazily):
    rng = np.random.default_rng(3)
    parser = random_parser(rng, [random_sentence(rng, 8) for _ in range(10)])
    sentence = random_sentence(rng, 12)
    best = parser.parse(sentence).solution
    stopped = parser.parse(sentence, time_limit=0.0).solution
    assert stopped.score <= best.score <= stopped.bound


def test_tampered_prices_are_refused(lazily):
    rng = np.random.default_rng(5)
    parser = random_parser(rng, [random_sentence(rng, 8) for _ in range(10)])
    parse = parser.parse(random_sentence(rng, 8))
    with pytest.raises(VerificationError):
        verify(parse.problem, replace(parse.solution, bound=parse.solution.bound - 0.25))


@pytest.mark.data
def test_a_real_model_scores_few_parts(data, lazily):
    sentences = [record.sentence for record in read_conllu(data / "ud" / "hu_szeged" / "train.conllu")][:150]
    parser = train(sentences, order="grandsibling", projective=False, epochs=2, labels=False)
    parser = compute_bounds(parser, sentences)
    held_out = [record.sentence for record in read_conllu(data / "ud" / "hu_szeged" / "dev.conllu")][:15]
    scored = parts = 0
    for sentence in held_out:
        lazy = parser.parse(sentence)
        scored, parts = scored + lazy.scores.n_scored, parts + lazy.scores.n_parts
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(model, "MANY_PARTS", 2**62)
            assert parser.parse(sentence).solution.score == lazy.solution.score
    assert 0 < scored < parts / 3
