"""Families of factors: all that trees of the allowed arcs have, and nothing else."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.baselines.brute import all_heads, is_tree
from zerogap.dependency.decoding.methods import decode
from zerogap.dependency.factors.families import FAMILIES, NO_TOKEN, arcs_of, family_in
from zerogap.errors import InputError, UnknownMethod
from zerogap.problems.dependency.problem import Problem


def by_definition(family: str, heads: tuple[int, ...]) -> set[frozenset[tuple[int, int]]]:
    """The factors of a tree, from the words that define them."""
    arcs = [(h, m) for m, h in enumerate(heads, start=1)]
    head = dict(zip(range(1, len(heads) + 1), heads, strict=True))
    if family == "grandchildren":
        return {frozenset([(head[h], h), (h, m)]) for h, m in arcs if h}
    if family == "great-grandchildren":
        return {frozenset([(head[head[h]], head[h]), (head[h], h), (h, m)]) for h, m in arcs if h and head[h]}
    if family in ("siblings", "tri-siblings"):
        size = 2 if family == "siblings" else 3
        return {frozenset(some) for some in itertools.combinations(arcs, size) if len({h for h, _ in some}) == 1}
    n = len(heads)
    runs = [(i, j) for i in range(1, n + 1) for j in range(i + 3, n + 1)]
    return {
        frozenset((head[i], k) for k in range(i, j + 1)) for i, j in runs if len({head[k] for k in range(i, j + 1)}) == 1
    }  # a head within the run would be its own


def listed(family: str, allowed: np.ndarray, **options: bool) -> list[frozenset[tuple[int, int]]]:
    return [frozenset(arcs) for arcs in family_in(family, allowed, **options).sets()]


@st.composite
def allowed_arcs(draw: st.DrawFn, most_words: int = 5) -> np.ndarray:
    n = draw(st.integers(0, most_words))
    return np.array(draw(st.lists(st.integers(0, 3).map(bool), min_size=(n + 1) ** 2, max_size=(n + 1) ** 2))).reshape(n + 1, n + 1)


@pytest.mark.parametrize("family", FAMILIES)
@given(allowed=allowed_arcs(), projective=st.booleans(), single_root=st.booleans())
def test_all_factors_of_all_trees_and_no_others(family, allowed, projective, single_root):
    n = len(allowed) - 1
    found = listed(family, allowed, projective=projective, single_root=single_root)
    assert len(found) == len(set(found))
    every = np.ones((n + 1, n + 1), dtype=bool)  # a factor is listed if its arcs are allowed and any tree has it
    trees = [heads for heads in all_heads(n) if is_tree(heads, projective=projective, single_root=single_root)]
    possible = set().union(*(by_definition(family, heads) for heads in trees)) if trees else set()
    assert set(listed(family, every, projective=projective, single_root=single_root)) == possible
    assert set(found) == {some for some in possible if all(allowed[h, m] for h, m in some)}


@pytest.mark.parametrize("family", FAMILIES)
@given(heads=st.sampled_from([heads for n in range(6) for heads in all_heads(n) if is_tree(heads, projective=False, single_root=False)]))
def test_with_the_arcs_of_a_tree_the_factors_that_hold(family, heads):
    given_heads = np.array(heads, dtype=np.int64)
    assert set(listed(family, arcs_of(given_heads), projective=False, single_root=False)) == by_definition(family, heads)


def test_tokens_and_how_they_lie():
    found = family_in("siblings", arcs_of(np.array([2, 0, 2, 3])))
    assert found.kind == "anysibling"
    assert found.tokens.tolist() == [[2, 1, 3, NO_TOKEN]]
    assert found.lie.tolist() == [[1, 1]]  # one of them to the right, two words apart
    chain = family_in("great-grandchildren", arcs_of(np.array([2, 0, 2, 3])))
    assert chain.tokens.tolist() == [[0, 2, 3, 4]]
    assert chain.lie.tolist() == [[7, 3]]
    comb = family_in("comb", arcs_of(np.array([6, 6, 6, 6, 6, 0])))
    assert sorted(comb.tokens.tolist()) == [[6, 1, 4, NO_TOKEN], [6, 1, 5, NO_TOKEN], [6, 2, 5, NO_TOKEN]]
    assert [len(arcs) for arcs in comb.sets()] == [4, 5, 4]
    assert len(family_in("comb", arcs_of(np.array([6, 6, 6, 6, 6, 0])), longest=4)) == 2


def test_a_problem_takes_them():
    allowed = np.ones((5, 5), dtype=bool)
    found = family_in("siblings", allowed)
    scores = np.zeros(len(found))
    scores[[i for i, arcs in enumerate(found.sets()) if arcs == ((3, 1), (3, 4))]] = 5.0
    factors = found.scored(scores)
    assert factors == [(((3, 1), (3, 4)), 5.0)]
    assert decode(Problem(np.zeros((5, 5)), factors=factors, projective=True)).score == 5.0


def test_what_is_refused():
    with pytest.raises(UnknownMethod, match="Did you mean 'siblings'"):
        family_in("sibling", np.ones((3, 3), dtype=bool))
    with pytest.raises(InputError, match="expected bool"):
        family_in("siblings", np.ones((3, 3)))
    with pytest.raises(InputError, match=r"40 words with 1,600 possible arcs have more than 1,000 factors of the family tri-siblings"):
        family_in("tri-siblings", np.ones((41, 41), dtype=bool), most=1000)
