"""Against all projective trees of small sentences, against the best tree without the other arcs for longer ones, and on treebanks."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import config

from zerogap.baselines.brute import all_heads, is_tree
from zerogap.dependency.candidate_arcs import candidates_of
from zerogap.dependency.parser.parser import Parser
from zerogap.dependency.scoring.sentence import every_arc
from zerogap.errors import ScoreShapeError
from zerogap.io.formats.conllu import read_conllu
from zerogap.oracles.trees.grandsibling_marginals import grandsibling_max_marginals, max_marginals_of_candidates
from zerogap.oracles.trees.grandsiblings import grandsibling_kernel
from zerogap.oracles.trees.projective_marginals import best_projective_scores

SLOW = bool(config.DISABLE_JIT)
MODELS = Path(__file__).parents[4] / "models" / "np2"


@functools.cache
def projective_trees(n, single_root):
    return [tree for tree in all_heads(n) if is_tree(tree, projective=True, single_root=single_root)]


def score(heads, parts, stops):
    """By definition: modifiers outward on each side, each with the head's head and the one before it; then the stop of the side."""
    n = len(heads)
    total = 0.0
    for h in range(n + 1):
        g = heads[h - 1] if h else 0
        for side in (range(h - 1, 0, -1), range(h + 1, n + 1)):
            if h == 0 and side.step < 0:
                continue
            before = h
            for m in side:
                if heads[m - 1] == h:
                    total += parts[g, h, before, m]
                    before = m
            total += stops[g, h, before]
    return total


def laid_out(allowed, parts, stops, *, grand):
    c = candidates_of(allowed, grand=grand)
    scores, ends = np.full(c.score_start[-1], -np.inf), np.full(c.stop_start[-1], -np.inf)
    for place in range(2 * c.n_words + 2):
        h = place // 2
        modifiers = c.modifiers[c.modifier_start[place] : c.modifier_start[place + 1]].tolist()
        q = len(modifiers)
        contexts = np.flatnonzero(allowed[:, h]).tolist() if grand and h else [0]
        for k, g in enumerate(contexts):
            for p, before in enumerate([h, *modifiers]):
                ends[c.stop_start[place] + k * (q + 1) + p] = stops[g, h, before]
                for j in range(q):  # also what no projective tree has: it must not be read
                    scores[c.score_start[place] + (k * (q + 1) + p) * q + j] = parts[g, h, before, modifiers[j]]
    return c, scores, ends


def arguments(c, scores, ends, single_root):
    return c.contexts, c.modifier_start, c.modifiers, c.context, c.score_start, scores, c.stop_start, ends, int(single_root)


def best_of(c, scores, ends, single_root):
    return grandsibling_kernel(*arguments(c, scores, ends, single_root), np.empty(c.n_words, dtype=np.int64))


def found_by_kernel(c, scores, ends, single_root):
    marginals = np.full(len(c.modifiers), np.nan)
    best = grandsibling_max_marginals(*arguments(c, scores, ends, single_root), -np.inf, np.inf, marginals)
    return best, marginals.tolist()


def random_parts(random, n, *, grand, holes):
    parts = random.integers(-3, 4, size=(n + 1,) * 4).astype(float)
    stops = random.integers(-2, 3, size=(n + 1,) * 3).astype(float)
    parts[random.random(parts.shape) < holes] = -np.inf
    stops[random.random(stops.shape) < holes / 2] = -np.inf
    if not grand:
        parts[:], stops[:] = parts[:1], stops[:1]
    parts[:, 0], stops[:, 0] = parts[0, 0], stops[0, 0]  # the root has no head
    return parts, stops


def random_arcs(random, n, density):
    allowed = random.random((n + 1, n + 1)) < density
    np.fill_diagonal(allowed, False)
    allowed[:, 0] = False
    return allowed


@given(
    st.integers(0, 5), st.integers(0, 2**32 - 1), st.booleans(), st.booleans(),
    st.sampled_from([0.4, 0.7, 1.0]), st.sampled_from([0.0, 0.05, 0.2]),
)  # fmt: skip
@settings(max_examples=300)
def test_they_are_the_best_of_all_trees(n, seed, single_root, grand, density, holes):
    random = np.random.default_rng(seed)
    allowed = random_arcs(random, n, density)
    parts, stops = random_parts(random, n, grand=grand, holes=holes)
    c, scores, ends = laid_out(allowed, parts, stops, grand=grand)
    optimum, best_with = -np.inf, np.full((n + 1, n + 1), -np.inf)
    for tree in projective_trees(n, single_root):
        if all(allowed[h, m] for m, h in enumerate(tree, start=1)):
            value = score(tree, parts, stops)
            optimum = max(optimum, value)
            for m, h in enumerate(tree, start=1):
                best_with[h, m] = max(best_with[h, m], value)
    assert found_by_kernel(c, scores, ends, single_root) == (optimum, best_with[c.heads, c.modifiers].tolist())
    best, marginals = max_marginals_of_candidates(c, scores, ends, single_root=single_root)
    assert (best, marginals.tolist()) == (optimum, best_with[c.heads, c.modifiers].tolist())
    for options, floor in (({"least": optimum - 2.0}, optimum - 2.0), ({"margin": 3.0}, optimum - 3.0), ({"least": optimum + 1.0}, np.inf)):
        best, some = max_marginals_of_candidates(c, scores, ends, single_root=single_root, **options)
        assert best == optimum
        assert (some <= marginals).all()
        assert np.array_equal(some[marginals >= floor], marginals[marginals >= floor])


def with_only(c, scores, p):
    """Scores that leave modifiers[p] no other head."""
    rest = scores.copy()
    places = np.repeat(np.arange(len(c.modifier_start) - 1), np.diff(c.modifier_start))
    for other in np.flatnonzero(c.modifiers == c.modifiers[p]).tolist():
        if other != p:
            place = places[other]
            q = c.modifier_start[place + 1] - c.modifier_start[place]
            rest[c.score_start[place] : c.score_start[place + 1]].reshape(-1, q)[:, other - c.modifier_start[place]] = -np.inf
    return rest


@pytest.mark.parametrize(("n", "density"), [(7, 1.0), (9, 0.4), *(() if SLOW else ((14, 1.0), (14, 0.3), (30, 0.15)))])
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("grand", [True, False])
def test_they_are_the_best_without_other_heads(n, density, single_root, grand):
    random = np.random.default_rng(n)
    allowed = random_arcs(random, n, density)
    allowed[np.arange(n), np.arange(1, n + 1)] = True  # a chain: there is a tree
    parts, stops = random_parts(random, n, grand=grand, holes=0.02)
    c, scores, ends = laid_out(allowed, parts, stops, grand=grand)
    best, marginals = found_by_kernel(c, scores, ends, single_root)
    assert best == best_of(c, scores, ends, single_root) > -np.inf
    assert marginals == [best_of(c, with_only(c, scores, p), ends, single_root) for p in range(len(marginals))]


@pytest.mark.parametrize("n", [1, 2, 8, 21, 40])
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("grand", [True, False])
def test_with_arcs_alone_it_is_first_order(n, single_root, grand):
    random = np.random.default_rng(n)
    arcs = random.integers(-40, 41, (n + 1, n + 1)) / 8
    allowed = random_arcs(random, n, 1.0 if n < 30 else 0.2)
    allowed[np.arange(n), np.arange(1, n + 1)] = True
    best, best_with = best_projective_scores(np.where(allowed, arcs, -np.inf), single_root=single_root)
    c = candidates_of(allowed, grand=grand)
    scores = np.empty(c.score_start[-1])
    for place in range(2 * n + 2):
        first, last = c.modifier_start[place : place + 2]
        if last > first:
            scores[c.score_start[place] : c.score_start[place + 1]].reshape(-1, last - first)[:] = arcs[place // 2, c.modifiers[first:last]]
    found, marginals = max_marginals_of_candidates(c, scores, np.zeros(c.stop_start[-1]), single_root=single_root)
    assert found == best
    assert marginals.tolist() == best_with[c.heads, c.modifiers].tolist()


def test_no_words():
    c, scores, _ = laid_out(np.zeros((1, 1), dtype=np.bool_), np.zeros((1,) * 4), np.zeros((1,) * 3), grand=True)
    assert found_by_kernel(c, scores, np.array([1.0, 3.0]), True) == (3.0, [])


def test_a_word_without_heads():
    for grand in (True, False):
        allowed = np.zeros((3, 3), dtype=np.bool_)
        allowed[0, 1] = True
        c, scores, ends = laid_out(allowed, np.zeros((3,) * 4), np.zeros((3,) * 3), grand=grand)
        assert found_by_kernel(c, scores, ends, True) == (-np.inf, [-np.inf])


def test_what_is_not_accepted():
    c, scores, ends = laid_out(random_arcs(np.random.default_rng(0), 2, 1.0), np.zeros((3,) * 4), np.zeros((3,) * 3), grand=False)
    with pytest.raises(ScoreShapeError, match=rf"scores has shape \({len(scores) - 1},\): expected \({len(scores)},\)"):
        max_marginals_of_candidates(c, scores[1:], ends, single_root=True)
    with pytest.raises(ScoreShapeError, match="stops has shape"):
        max_marginals_of_candidates(c, scores, ends[1:], single_root=True)


@pytest.mark.data
@pytest.mark.parametrize("order", ["sibling", "grandsibling"])
@pytest.mark.parametrize("pruned", [True, False])
def test_treebank(order, pruned, data):
    model = MODELS / f"it_partut.{order}.projective.npz"
    if not model.exists():
        pytest.skip(f"no {model.name}")
    parser = Parser.load(model)
    longest = 10 if SLOW else 45 if pruned or order == "sibling" else 20
    sentences = [r.sentence for r in read_conllu(data / "ud" / "it_partut" / "dev.conllu") if len(r.sentence) <= longest]
    few = 0
    for sentence in sentences[: 3 if SLOW else 60]:
        hashes = parser.model.features.tokens.of(sentence.columns, len(sentence))
        block = parser.block(parser.model.features.encode_hashes(hashes), parser.allowed(hashes) if pruned else every_arc(len(sentence)))
        c = block.candidates
        heads, score = block.best(single_root=parser.single_root)
        best, marginals = max_marginals_of_candidates(c, block.scores, block.stops, single_root=parser.single_root)
        assert best == score
        table = np.full((c.n_words + 1, c.n_words + 1), -np.inf)
        table[c.heads, c.modifiers] = marginals
        assert (table[:, 1:].max(axis=0) == best).all()
        assert (table[heads, np.arange(1, c.n_words + 1)] == best).all()
        if len(marginals) <= 120:
            few += 1
            alone = [best_of(c, with_only(c, block.scores, p), block.stops, parser.single_root) for p in range(len(marginals))]
            assert marginals.tolist() == alone
    assert few >= 2
