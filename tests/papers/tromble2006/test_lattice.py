"""Explicit lattices against enumeration of their paths."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap import sequence as seq
from zerogap.oracles.labels.product import multiply
from zerogap.oracles.labels.queue import nth_smallest
from zerogap.papers.tromble2006.lattice import best_path, intersect, lattice_of_scores, pruned
from zerogap.sequence.decoding.lattice import joined_machines, lattice_of, pack, pack_tables
from zerogap.testing.strategies import score_arrays

LABELS = ("A", "B", "O")
RULES = [
    seq.no_duplicate("A"), seq.no_duplicate("B"), seq.at_least_one("A"), seq.precedes("A", "B"), seq.precedes("B", "A"),
    seq.at_most("O", 2), seq.follows_only("A", "B"), seq.regex("~(.* A A .*)"),
    seq.disallow("O"), seq.spans([(0, 2)]), seq.same_label([0, 2]), seq.at(1, "A"),
]  # fmt: skip


@st.composite
def problems(draw):
    n = draw(st.integers(1, 4))
    rules = [rule for rule in draw(st.lists(st.sampled_from(RULES), max_size=3)) if n > 2 or rule.kind not in ("same_label", "spans", "at")]
    return seq.Problem(draw(score_arrays((n, 3))), draw(score_arrays((3, 3))), labels=LABELS, constraints=rules)


def paths_of(arcs):
    """Every path with its score."""
    layer, first_arc, target, symbol, weight = arcs
    n = len(layer) - 2
    if layer[1] == 0:
        return {}
    found = {(): (0, 0.0)}
    for _ in range(n):
        found = {
            (*path, int(symbol[a])): (int(target[a]), total + float(weight[a]))
            for path, (s, total) in found.items()
            for a in range(first_arc[s], first_arc[s + 1])
        }
    return {path: total for path, (_, total) in found.items()}


def expected(problem, rules, penalties=None):
    found = {}
    for y in itertools.product(range(3), repeat=problem.n_tokens):
        lost = [c for c in rules if not problem.machines[c].accepts(y)]
        if problem.local_score(y) > -np.inf and (not lost or penalties is not None):
            found[y] = problem.local_score(y) - sum(penalties[c] for c in lost if penalties is not None)
    return found


@given(problems())
@settings(max_examples=200)
def test_intersection_has_exactly_the_accepted_paths(problem):
    lattice, packed = lattice_of(problem), pack(problem)
    hard = soft = lattice_of_scores(lattice.nodes, lattice.edges, lattice.first)
    assert paths_of(hard) == expected(problem, [])
    for c in range(len(problem.machines)):
        if paths_of(hard):
            hard = intersect(*hard, *packed.tables, c, 3, np.inf)
            assert paths_of(hard) == expected(problem, range(c + 1))
        if paths_of(soft):
            soft = intersect(*soft, *packed.tables, c, 3, 2.0)
            assert paths_of(soft) == expected(problem, range(c + 1), [2.0] * (c + 1))
    path = np.empty(problem.n_tokens, dtype=np.int64)
    allowed = paths_of(hard)
    score = best_path(*hard, path)
    assert score == max(allowed.values(), default=-np.inf)
    if allowed:
        assert allowed[tuple(path.tolist())] == score


@given(problems(), st.integers(-6, 6))
@settings(max_examples=200)
def test_pruning_keeps_what_scores_more(problem, threshold):
    lattice = lattice_of(problem)
    arcs = lattice_of_scores(lattice.nodes, lattice.edges, lattice.first)
    before = paths_of(arcs)
    kept = pruned(*arcs, float(threshold))
    after = paths_of(kept)
    assert {path for path, score in before.items() if score > threshold} <= set(after) <= set(before)
    on_a_good_path = {(t, path[max(t - 1, 0) : t + 1]) for path, score in before.items() if score > threshold for t in range(len(path))}
    assert len(kept[2]) == len(on_a_good_path)  # every arc that is left lies on one: nothing is kept out of laziness


@given(st.lists(st.sampled_from(RULES[:8]), min_size=2, max_size=5), st.lists(st.integers(0, 2), max_size=6))
@settings(max_examples=150)
def test_a_group_accepts_what_all_its_machines_accept(rules, labelling):
    machines = seq.Problem(np.zeros((3, 3)), labels=LABELS, constraints=rules).machines
    for group, members in joined_machines(machines):
        assert group.accepts(labelling) == all(machines[i].accepts(labelling) for i in members)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=12), st.data())
def test_nth_smallest(values, data):
    nth = data.draw(st.integers(0, len(values) - 1))
    assert nth_smallest(np.array(values, dtype=np.float64), len(values), nth) == sorted(values)[nth]


def test_products_that_are_too_large_are_refused():
    machines = seq.Problem(np.zeros((1, 3)), labels=LABELS, constraints=[seq.at_most("A", 3), seq.at_most("B", 3)]).machines
    follow, base, n_states, final, _ = pack_tables(machines, 3, 1)
    assert multiply(follow, base, n_states, final, np.empty((4, 3), dtype=np.int32), np.empty(4, dtype=np.bool_)) == -1


@pytest.mark.parametrize("n", [1, 2])
def test_an_empty_lattice(n):
    problem = seq.Problem(np.full((n, 3), -np.inf), labels=LABELS)
    lattice = lattice_of(problem)
    arcs = lattice_of_scores(lattice.nodes, lattice.edges, lattice.first)
    assert len(arcs[2]) == 0
    assert best_path(*arcs, np.empty(n, dtype=np.int64)) == -np.inf
    assert len(pruned(*arcs, 0.0)[2]) == 0
    packed = pack(seq.Problem(np.zeros((n, 3)), labels=LABELS, constraints=RULES[:1]))
    assert len(intersect(*arcs, *packed.tables, 0, 3, np.inf)[2]) == 0
