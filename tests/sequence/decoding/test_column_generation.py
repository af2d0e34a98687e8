"""Column generation against all labellings and against Viterbi: the same labelling, ties too, and forward values that prove it."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap import sequence as seq
from zerogap.errors import Infeasible, InputError, VerificationError
from zerogap.oracles.labels import column_generation
from zerogap.oracles.labels.column_generation import best_chain, row_maxima
from zerogap.proof.files import solution_from_json, solution_to_json
from zerogap.proof.verify import verify
from zerogap.sequence.decoding import auto
from zerogap.testing.strategies import score_arrays

METHOD = "column-generation"


@st.composite
def problems(draw, max_tokens=5, max_labels=4):
    n, size = draw(st.integers(0, max_tokens)), draw(st.integers(1, max_labels))
    holes = draw(st.booleans())
    shape = (size, size) if draw(st.booleans()) else (max(n - 1, 0), size, size)
    start, end = (draw(st.one_of(st.none(), score_arrays((size,), holes=holes))) for _ in range(2))
    return seq.Problem(
        draw(score_arrays((n, size), holes=holes)), draw(score_arrays(shape, holes=holes)), start, end, order=1,
    )  # fmt: skip


def first_best(problem):
    """By looking at all labellings, in the order of labels."""
    best, score = None, -np.inf
    for labelling in itertools.product(range(len(problem.labels)), repeat=problem.n_tokens):
        if problem.local_score(labelling) > score:
            best, score = labelling, problem.local_score(labelling)
    return best, score


def tables(problem):
    nodes = problem.emissions.copy()
    nodes[0] += problem.start
    nodes[-1] += problem.end
    return nodes, problem.transitions


def random_problem(seed, n, size, margin, *, integers=False, holes=0.0, by_position=False):
    """Scores of labels of which one per position is `margin` above the others."""
    random = np.random.default_rng(seed)
    draw = (
        (lambda shape: random.integers(-2, 3, shape).astype(float)) if integers else (lambda shape: np.round(random.normal(size=shape), 6))
    )
    nodes, edges = draw((n, size)), draw((n - 1, size, size) if by_position else (size, size))
    nodes[np.arange(n), random.integers(size, size=n)] += margin
    nodes[random.random(nodes.shape) < holes] = -np.inf
    edges[random.random(edges.shape) < holes] = -np.inf
    return seq.Problem(nodes, edges, order=1)


def check_values(chain, nodes, edges):
    """Dual feasibility, and no gap: what the docstring of `values` says, and a labelling along which it is tight."""
    values = chain.values
    assert (values[0] >= nodes[0]).all()
    for t in range(1, len(nodes)):
        through = (values[t - 1][:, None] + edges[t - 1 if len(edges) > 1 else 0]).max(axis=0) + nodes[t]
        assert (values[t] >= through).all()
    assert values[-1].max() == chain.score


@given(problems())
@settings(max_examples=300)
def test_all_labellings(problem):
    labelling, score = first_best(problem)
    if labelling is None:
        with pytest.raises(Infeasible, match="forbidden"):
            seq.decode(problem, method=METHOD)
        return
    solution = seq.decode(problem, method=METHOD)
    assert (solution.structure, solution.score, solution.bound, solution.status) == (labelling, score, score, "optimal")
    verify(problem, solution)
    verify(problem, solution_from_json(solution_to_json(solution)))


@given(problems(), st.sampled_from([0, column_generation.PATIENCE]))
@settings(max_examples=300)
def test_opening_labels_one_by_one(problem, patience):
    """Small problems are solved by opening all labels at once, unless patience is endless."""
    if problem.n_tokens == 0:
        return
    labelling, score = first_best(problem)
    nodes, edges = tables(problem)
    chain = best_chain(nodes, edges, patience=patience)
    assert chain.score == score
    check_values(chain, nodes, edges)
    if labelling is not None:
        assert tuple(chain.path.tolist()) == labelling


@pytest.mark.parametrize("by_position", [False, True])
@pytest.mark.parametrize("holes", [0.0, 0.3])
@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("margin", [0.0, 2.0, 5.0, 9.0])
def test_more_labels(margin, integers, holes, by_position):
    for seed, (n, size) in enumerate([(2, 33), (9, 64), (14, 25), (30, 70)]):
        problem = random_problem(seed, n, size, margin, integers=integers, holes=holes, by_position=by_position)
        known = seq.decode(problem)
        found = seq.decode(problem, method=METHOD)
        assert (found.structure, found.score, found.bound) == (known.structure, known.score, known.score)
        for patience in (0, 1, 30, 10**9):
            chain = best_chain(problem.emissions, problem.transitions, patience=patience)
            assert (tuple(chain.path.tolist()), chain.score) == (known.structure, known.score)
            check_values(chain, problem.emissions, problem.transitions)
        assert chain.exhausted


def test_confident_scores_need_few_transitions():
    problem = random_problem(0, 40, 200, 12.0)
    chain = best_chain(problem.emissions, problem.transitions)
    assert not chain.exhausted
    assert chain.n_touched < 0.02 * 39 * 200 * 200
    again = best_chain(problem.emissions, problem.transitions, row_maxima(problem.transitions))
    assert (again.path == chain.path).all()
    verify(problem, seq.decode(problem, method=METHOD))


def test_a_label_that_only_later_turns_out_to_matter():
    """The best labels by themselves cannot follow each other: what was left closed must be opened after all, far back."""
    size, n = 40, 12
    nodes = np.zeros((n, size))
    nodes[:, 0] = 3.0
    nodes[:, 1] = 2.0
    nodes[-1] = -np.inf
    nodes[-1, 2] = 0.0
    edges = np.full((1, size, size), -50.0)
    np.fill_diagonal(edges[0], 0.0)
    edges[0, 0, 2], edges[0, 1, 2] = -np.inf, 10.0
    chain = best_chain(nodes, edges, patience=0)
    assert chain.path.tolist() == [1] * (n - 1) + [2]
    assert chain.score == 2.0 * (n - 1) + 10.0
    check_values(chain, nodes, edges)


def test_ties_go_to_the_lowest_labels():
    for n, size in [(1, 1), (1, 5), (2, 3), (7, 40)]:
        solution = seq.decode(seq.Problem(np.zeros((n, size))), method=METHOD)
        assert solution.structure == (0,) * n
        assert best_chain(np.zeros((n, size)), np.zeros((1, size, size)), patience=0).path.tolist() == [0] * n
    swapped = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert seq.decode(seq.Problem(np.zeros((4, 2)), swapped), method=METHOD).structure == (0, 1, 0, 1)


def test_few_tokens_and_labels():
    assert seq.decode(seq.Problem(np.zeros((0, 3))), method=METHOD).structure == ()
    assert seq.decode(seq.Problem([[1.0]], [[-np.inf]]), method=METHOD).score == 1.0
    one = seq.Problem([[1.0, 3.0]], start=[5.0, 0.0], end=[0.0, 4.0], labels=["A", "B"])
    assert (seq.decode(one, method=METHOD).structure, seq.decode(one, method=METHOD).score) == (("B",), 7.0)
    with pytest.raises(Infeasible):
        seq.decode(seq.Problem(np.zeros((2, 1)), [[-np.inf]]), method=METHOD)
    with pytest.raises(Infeasible):
        seq.decode(seq.Problem(np.zeros((2, 0))), method=METHOD)


def test_tampered_solutions_fail():
    problem = random_problem(1, 6, 30, 6.0)
    solution = seq.decode(problem, method=METHOD)
    other = (*solution.structure[:-1], (solution.structure[-1] + 1) % 30)
    worse = problem.score(other)
    for claim in (
        replace(solution, bound=solution.bound - problem.resolution),
        replace(solution, score=solution.score + problem.resolution, bound=solution.bound + problem.resolution),
        replace(solution, structure=other),
        replace(solution, structure=other, score=worse, bound=worse),
        replace(solution, certificate=replace(solution.certificate, constraints=(0,))),
        replace(solution, certificate=replace(solution.certificate, prices=((0, 1.0),))),
    ):
        with pytest.raises(VerificationError):
            verify(problem, claim)


def test_alternatives():
    problem = random_problem(2, 5, 12, 3.0)
    solution = seq.decode(problem, method=METHOD, k=3)
    assert solution.alternatives == seq.decode(problem, k=3).alternatives
    verify(problem, solution)


def test_what_it_is_not_for():
    with pytest.raises(InputError, match="order 2 and has 0 constraints"):
        seq.decode(seq.Problem(np.zeros((4, 2)), order=2), method=METHOD)
    with pytest.raises(InputError, match="order 1 and has 1 constraints"):
        seq.decode(seq.Problem(np.zeros((4, 2)), constraints=[seq.at_most(0, 1)]), method=METHOD)


@pytest.mark.parametrize(("size", "n"), [(300, 10), (300, 9), (299, 10)])
def test_auto_generates_columns_of_many_labels(size, n, monkeypatch):
    problem = random_problem(1, n, size, 8.0)
    solution = seq.decode(problem)
    verify(problem, solution)
    monkeypatch.setattr(auto, "MANY_LABELS", 2**62)
    whole = seq.decode(problem)
    assert (solution.structure, solution.score) == (whole.structure, whole.score)
