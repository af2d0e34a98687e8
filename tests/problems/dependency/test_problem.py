import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import all_trees, tree_score
from zerogap.dependency import LabelledTree, Lazy, Problem, Sparse
from zerogap.errors import InputError, InvalidStructure, ScoreError, ScoreShapeError, ScoreTypeError
from zerogap.problems.dependency.parts import MEANING, ORDERS, meaning, parts_of_tree
from zerogap.testing.strategies import dependency_problems, random_scores, score_arrays


def test_scores_are_rounded_to_a_grid_once_and_frozen():
    given_arcs = np.random.default_rng(0).standard_normal((6, 6))
    before = given_arcs.copy()
    problem = Problem(given_arcs)
    assert (given_arcs == before).all()
    assert not problem.arcs.flags.writeable
    assert problem.n_words == 5
    finite = problem.arcs[np.isfinite(problem.arcs)]
    assert (np.fmod(finite, problem.resolution) == 0).all()
    inside = np.isfinite(problem.arcs)
    assert np.abs(problem.arcs[inside] - given_arcs[inside]).max() <= problem.resolution
    with pytest.raises(AttributeError):
        problem.arcs = given_arcs


def test_column_0_and_the_diagonal_mean_nothing():
    arcs = Problem(np.full((4, 4), 1.0)).arcs
    assert (arcs[:, 0] == -np.inf).all()
    assert (np.diag(arcs) == -np.inf).all()
    assert np.isfinite(arcs).sum() == 9
    huge = np.ones((3, 3))
    huge[:, 0] = 1e200
    assert Problem(huge).resolution == Problem(np.ones((3, 3))).resolution


def test_a_coarser_resolution_may_be_asked_for():
    assert Problem([[0, 0.3], [0, 0]], resolution=0.25).arcs[0, 1] == 0.25
    with pytest.raises(ScoreError, match="resolution"):
        Problem([[0, 0.3], [0, 0]], resolution=0.3)
    with pytest.raises(ScoreError, match="resolution"):
        Problem([[0, 0.3], [0, 0]], resolution=2.0**-80)


def test_what_is_not_arc_scores():
    for shape in [(0, 0), (3,), (3, 4), (2, 2, 2)]:
        with pytest.raises(ScoreShapeError, match="arcs has shape"):
            Problem(np.zeros(shape))
    for value in (np.nan, np.inf):
        arcs = np.zeros((3, 3))
        arcs[1, 2] = value
        for options in ({}, {"stops": np.zeros((3, 3))}):
            with pytest.raises(ScoreError, match=r"arcs\[1, 2\]"):
                Problem(arcs, **options)
    with pytest.raises(ScoreTypeError):
        Problem([["a"]])


@given(score_arrays((4, 4)), st.tuples(*[st.integers(0, 3)] * 3))
def test_the_score_is_the_sum_of_the_arcs(arcs, heads):
    problem = Problem(arcs)
    expected = sum(-np.inf if h == m else arcs[h, m] for m, h in enumerate(heads, start=1))
    assert problem.score(heads) == problem.score(np.array(heads)) == expected


@pytest.mark.parametrize(
    ("heads", "reason"),
    [
        ((2, 0), "2 heads were given: expected 4"),
        ((2, 0, 2, 5), "head of word 4 is 5"),
        ((2, 0, 2, -1), "head of word 4 is -1"),
        ((2, 0, 2, 1.0), r"head of word 4 is 1\.0"),
        ((2, 0, 2, True), "head of word 4 is True"),
        ((2, 3, 1, 0), "cycle, each headed by the next: 1 <- 2 <- 3 <- 1"),
        ((1, 0, 2, 2), "cycle, each headed by the next: 1 <- 1"),
        ((0, 1, 0, 3), "words 1, 3 are all under the root"),
        ((3, 0, 2, 1), "0 -> 2 and 3 -> 1 cross|3 -> 1 and 0 -> 2 cross"),
        ((2, 0, 2, 3), "3 -> 4 is forbidden"),
    ],
)
def test_check_says_what_is_wrong(heads, reason):
    arcs = np.zeros((5, 5))
    arcs[3, 4] = -np.inf
    with pytest.raises(InvalidStructure, match=reason):
        Problem(arcs, projective=True).check(heads)


def test_check_allows_what_was_not_asked_for():
    Problem(np.zeros((5, 5))).check((3, 0, 2, 1))
    Problem(np.zeros((5, 5)), projective=True).check([2, 0, 4, 2])
    Problem(np.zeros((5, 5)), single_root=False).check(np.array([0, 1, 0, 3]))
    Problem(np.zeros((1, 1))).check(())
    assert Problem(np.zeros((1, 1))).score(()) == 0.0


def test_no_compiler_is_loaded():
    code = "import sys, zerogap.problems.dependency.problem, zerogap.proof.dependency.trees; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# larger parts


@given(st.sampled_from(list(ORDERS)), st.integers(0, 5))
def test_parts_of_trees_are_those_that_mean_something(name, n):
    """Every part of every tree means something, and what means something is in some tree."""
    found = set()
    for heads in all_trees(min(n, 4), single_root=False):
        ((_, index),) = parts_of_tree(heads, [name])
        found.update(index)
    expected = {tuple(row) for row in np.argwhere(meaning(name, min(n, 4))).tolist()}
    if name == "stops" and n > 0:
        expected -= {(0, 0)}  # the root has a modifier where there are words
    assert found == expected


@given(dependency_problems(max_words=4, kinds=tuple(ORDERS), max_factors=2), st.data())
@settings(max_examples=200)
def test_the_score_is_what_the_parts_say(problem, data):
    trees = all_trees(problem.n_words, projective=problem.projective, single_root=problem.single_root)
    heads = data.draw(st.sampled_from(trees))
    tables = {name: parts.dense(problem.n_words) for name, parts in problem.parts.items()}
    expected = tree_score(heads, problem.arcs, tables)
    expected += sum(factor.score for factor in problem.factors if all(heads[m - 1] == h for h, m in factor.arcs))
    assert problem.score(heads) == expected
    if expected == -np.inf:
        with pytest.raises(InvalidStructure, match="forbidden"):
            problem.check(heads)
    else:
        problem.check(heads)


@given(dependency_problems(max_words=4, kinds=tuple(ORDERS)), st.data())
def test_heads_that_are_no_tree_have_a_score(problem, data):
    heads = tuple(data.draw(st.integers(0, problem.n_words)) for _ in range(problem.n_words))
    assert problem.score(heads) < np.inf


@pytest.mark.parametrize("name", list(ORDERS))
def test_three_ways_to_give_the_same_parts(name):
    n = 4
    table = random_scores((n + 1,) * ORDERS[name], 1) / 7
    index = np.argwhere(meaning(name, n))
    rows = np.random.default_rng(0).permutation(len(index))
    sparse = Sparse(index[rows], table[tuple(index[rows].T)])
    arcs = np.random.default_rng(2).standard_normal((n + 1, n + 1))
    # one grid for all, whatever the largest score of a kind
    problems = [Problem(arcs, **{name: parts}, resolution=2.0**-30) for parts in (table, sparse, Lazy(lambda *i: table[i], 3 / 7))]
    dense = [getattr(problem, name).dense(n) for problem in problems]
    assert (dense[0] == dense[1]).all()
    assert (dense[0] == dense[2]).all()
    assert (dense[0][~meaning(name, n)] == 0.0).all()
    finite = dense[0][np.isfinite(dense[0])]
    assert (np.fmod(finite, 2.0**-30) == 0).all()
    for heads in all_trees(n):
        assert len({problem.score(heads) for problem in problems}) == 1
    for problem in problems:
        parts = getattr(problem, name)
        assert (parts.at(*index.T) == dense[0][tuple(index.T)]).all()
        assert parts.at(*index.reshape(1, *index.shape).T).shape == (len(index), 1)


def test_parts_that_were_scored_are_counted():
    asked = []

    def function(h, s, m):
        assert h.dtype == s.dtype == m.dtype == np.int64
        asked.append(len(h))
        return np.zeros(len(h))

    problem = Problem(np.zeros((5, 5)), siblings=Lazy(function, 1.0))
    assert problem.parts_scored == 0
    problem.score((0, 1, 1, 1))
    assert problem.parts_scored == 4 == sum(asked)
    assert Problem(np.zeros((3, 3)), stops=Sparse([[0, 1]], [2.0])).parts_scored == 1
    assert Problem(np.zeros((3, 3)), stops=np.zeros((3, 3))).parts_scored == 7
    assert Problem(np.zeros((3, 3)), stops=np.zeros((3, 3)), siblings=Sparse(np.zeros((0, 3), dtype=int), [])).parts_scored == 7
    assert Problem(np.zeros((3, 3))).parts_scored == 0


def test_what_means_nothing_does_not_matter():
    table = np.full((3, 3, 3), np.nan)
    table[meaning("siblings", 2)] = 1.0
    problem = Problem(np.zeros((3, 3)), siblings=table)
    assert problem.score((2, 0)) == 2.0
    assert problem.largest < 1.1


@pytest.mark.parametrize(
    ("parts", "error", "message"),
    [
        ({"siblings": np.zeros((3, 3))}, ScoreShapeError, r"siblings has shape \(3, 3\): expected \(3, 3, 3\)"),
        ({"stops": [["a"]]}, ScoreTypeError, "stops has dtype"),
        ({"siblings": Sparse([[0, 0]], [1.0])}, ScoreShapeError, r"siblings.index has shape \(1, 2\): expected \(p, 3\)"),
        ({"siblings": Sparse([[0.0, 0, 1]], [1.0])}, ScoreTypeError, "siblings.index has dtype float64"),
        ({"siblings": Sparse([[0, 0, 1]], [1.0, 2.0])}, ScoreShapeError, r"siblings.scores has shape \(2,\): expected \(1,\)"),
        ({"siblings": Sparse([[0, 0, 1], [0, 0, 3]], [1, 2])}, InputError, r"siblings.index\[1\] is \(0, 0, 3\): expected tokens from 0"),
        ({"siblings": Sparse([[0, 0, -1]], [1.0])}, InputError, r"siblings.index\[0\] is \(0, 0, -1\)"),
        ({"siblings": Sparse([[0, 0, 2], [0, 2, 1]], [1, 2])}, InputError, r"\[1\] is \(0, 2, 1\): no tree has such a part \(h, s, m\)"),
        ({"grandparents": Sparse([[1, 2, 1]], [1.0])}, InputError, r"no tree has such a part \(g, h, m\)"),
        ({"stops": Sparse([[1, 1], [0, 2], [1, 1]], [1, 2, 3])}, InputError, r"stops.index\[0\] and \[2\] are both \(1, 1\)"),
        ({"stops": Sparse([[1, 1], [0, 2]], [1.0, np.nan])}, ScoreError, r"stops.scores\[1\] is nan"),
        ({"stops": Sparse([[0, 2], [1, 1]], [1.0, np.inf])}, ScoreError, r"stops.scores\[1\] is inf"),
        ({"stops": Lazy(lambda h, s: h, np.inf)}, InputError, "stops.largest is inf"),
        ({"stops": Lazy(lambda h, s: h, "x")}, InputError, "stops.largest is 'x'"),
        ({"stops": Lazy(5, 1.0)}, InputError, "stops.function is 5"),
        ({"labels": np.zeros((3, 3))}, ScoreShapeError, r"labels has shape \(3, 3\)"),
        ({"labels": np.zeros((3, 3, 0))}, ScoreShapeError, "at least one label"),
        ({"labels": np.zeros((3, 3, 2)), "label_names": ["a"]}, InputError, "label_names has 1 names"),
        ({"labels": np.zeros((3, 3, 2)), "label_names": ["a", "a"]}, InputError, "label_names has 2 names, 1 different"),
        ({"label_names": ["a"]}, InputError, "without labels"),
        ({"factors": 5}, InputError, "factors is a int"),
        ({"factors": [5]}, InputError, r"factors\[0\] is 5"),
        ({"factors": [([(0, 1)], 1.0), ([(1, 1)], 1.0)]}, InputError, r"factors\[1\] has the arc \(1, 1\)"),
        ({"factors": [([(0, 3)], 1.0)]}, InputError, r"factors\[0\] has the arc \(0, 3\)"),
        ({"factors": [([(0, 1), (2, 1)], 1.0)]}, InputError, "no two into the same word"),
        ({"factors": [([], 1.0)]}, InputError, "at least one"),
        ({"factors": [([(0, 1)], np.nan)]}, ScoreError, r"factors\[0\] is nan"),
        ({"factors": [([(0, 1)], "x")]}, ScoreTypeError, "factors"),
    ],
)  # fmt: skip
def test_what_is_not_a_part(parts, error, message):
    with pytest.raises(error, match=message):
        Problem(np.zeros((3, 3)), **parts)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda h, s: np.zeros(len(h) + 1), ScoreShapeError, r"function of stops gave shape \(6,\) for 5 parts"),
        (lambda h, s: 0.0, ScoreShapeError, r"gave shape \(\) for 5 parts"),
        (lambda h, s: h + 2.0, ScoreError, r"stops\[1, 1\] is 3.0: expected -inf, or at most 2.0"),
        (lambda h, s: np.where(h == 0, np.nan, 0.0), ScoreError, r"stops\[0, 1\] is nan"),
        (lambda h, s: ["a"] * len(h), ScoreTypeError, "stops has dtype"),
    ],
)
def test_functions_that_break_their_word(function, error, message):
    problem = Problem(np.zeros((3, 3)), stops=Lazy(function, 2.0))
    with pytest.raises(error, match=message):
        problem.score((0, 1))


def test_sums_of_all_parts_are_exact():
    """The grid allows for every part that a tree can have."""
    n = 6
    rng = np.random.default_rng(0)
    tables = {name: rng.standard_normal((n + 1,) * order) * 1000 for name, order in ORDERS.items()}
    labels = rng.standard_normal((n + 1, n + 1, 3))
    problem = Problem(rng.standard_normal((n + 1, n + 1)), **tables, labels=labels, factors=[([(0, 1)], 9.0)] * 50)
    assert problem.terms * problem.largest < 2.0**53 * problem.resolution
    for heads in ((0, 1, 2, 3, 4, 5), (0, 1, 1, 1, 1, 1), (2, 3, 4, 5, 6, 0)):
        score = problem.score((heads, (0,) * n))
        assert (score / problem.resolution).is_integer()
        used = sum(len(index) for _, index in parts_of_tree(heads, ORDERS))
        assert 2 * n + used + 50 <= problem.terms


def test_labelled_trees():
    labels = np.zeros((3, 3, 2))
    labels[2, 1] = [1.0, 4.0]
    labels[0, 2, 0] = -np.inf
    problem = Problem([[0, 1, 9], [0, 0, 2], [0, 5, 0]], labels=labels, label_names=["subject", "root"])
    tree = LabelledTree((2, 0), ("root", "root"))
    assert problem.score(tree) == problem.score(((2, 0), ["root", "root"])) == 18.0
    problem.check(tree)
    assert problem.tree([2, 0], [1, 1]) == tree
    assert problem.score(LabelledTree((2, 0), ("subject", "subject"))) == -np.inf
    for bad, message in [
        ((2, 0), "head|2 heads|sequence"),
        (5, "expected a LabelledTree"),
        (((2, 0), ("root",)), "expected 2, one per word"),
        (((2, 0), ("root", "object")), "label of word 2 is 'object': expected one of 'subject', 'root'"),
        (((2, 0), ("root", 1)), "label of word 2 is 1"),
        (((2, 0), ("subject", "subject")), "label 'subject' of the arc 0 -> 2 is forbidden"),
    ]:
        with pytest.raises(InvalidStructure, match=message):
            problem.check(bad)
    plain = Problem(np.zeros((3, 3)), labels=labels)
    assert plain.score(((2, 0), (1, 1))) == 4.0
    with pytest.raises(InvalidStructure, match="label of word 1 is 2: expected one of 0, 1"):
        plain.check(((2, 0), (2, 1)))
    with pytest.raises(InvalidStructure, match="label of word 1 is True"):
        plain.check(((2, 0), (True, 1)))


def test_forbidden_parts_are_named():
    stops = np.zeros((3, 3))
    stops[2, 1] = -np.inf
    with pytest.raises(InvalidStructure, match=r"the part stops\[2, 1\] is forbidden"):
        Problem(np.zeros((3, 3)), stops=stops).check((2, 0))
    with pytest.raises(InvalidStructure, match=r"factors\[1\]"):
        Problem(np.zeros((3, 3)), factors=[([(0, 1)], -np.inf), ([(0, 2), (2, 1)], -np.inf)]).check((2, 0))


def test_a_sentence_without_words():
    problem = Problem(np.zeros((1, 1)), stops=[[3.0]], siblings=np.zeros((1, 1, 1)), labels=np.zeros((1, 1, 2)))
    assert problem.score(((), ())) == 3.0  # the root has no modifier
    assert set(MEANING) == set(ORDERS)
