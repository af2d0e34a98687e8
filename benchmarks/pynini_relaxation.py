"""The peer: constraint relaxation (Tromble & Eisner 2006, figure 2) and brute force (section 3) on OpenFst, through pynini's own API.

Import it from benchmarks/srl.py and benchmarks/citations.py, or look at it alone:

    python benchmarks/pynini_relaxation.py     needs pynini; checks itself against zerogap on random problems

Lattices are acceptors over labels with tropical weights, costs = -scores in float32 (OpenFst's TropicalWeight has no other precision, so
the path that it finds is scored again in float64 by `Problem.score_of`). A model without transitions has one state per position, any other
one per position and label. Constraints are unweighted acceptors, sorted by input label once. Only violated constraints are intersected;
whether one is violated is found by running its table over the labels in Python, which is faster than `intersect` with a string.

What is timed is said where it is printed: `decode` takes a lattice and constraint automata that stand ready; `build` makes the lattice and,
lazily, those automata of the example that are violated. Automata that are the same in all examples are built offline and never timed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pynini
import pywrapfst

from zerogap.problems.sequence.machine import DEAD, Machine
from zerogap.sequence import Problem

Fst = Any
SHARED: dict[int, tuple[Machine, Fst]] = {}  # by identity of the compiled machine, which zerogap keeps for equal constraints


def lattice(problem: Problem) -> Fst:
    """Label a is symbol a + 1: 0 is epsilon."""
    n, size = problem.emissions.shape
    fst = pywrapfst.VectorFst()
    costs = -problem.emissions
    first, last = costs[0] - problem.start, -problem.end
    arc, one = pywrapfst.Arc, pywrapfst.Weight.one("tropical")
    if not problem.transitions.any():
        costs = costs.copy()
        costs[0] -= problem.start
        costs[-1] -= problem.end
        fst.add_states(n + 1)
        for t, row in enumerate(costs.tolist()):
            for a, cost in enumerate(row):
                if cost < np.inf:
                    fst.add_arc(t, arc(a + 1, a + 1, cost, t + 1))
        fst.set_start(0)
        fst.set_final(n, one)
        return fst
    fst.add_states(1 + n * size)
    fst.set_start(0)
    for a, cost in enumerate(first.tolist()):
        if cost < np.inf:
            fst.add_arc(0, arc(a + 1, a + 1, cost, 1 + a))
    for t in range(1, n):
        table = (costs[t] - problem.transitions[t - 1 if len(problem.transitions) > 1 else 0]).tolist()
        for i, row in enumerate(table):
            for a, cost in enumerate(row):
                if cost < np.inf:
                    fst.add_arc(1 + (t - 1) * size + i, arc(a + 1, a + 1, cost, 1 + t * size + a))
    for a, cost in enumerate(last.tolist()):
        if cost < np.inf:
            fst.set_final(1 + (n - 1) * size + a, cost)
    return fst


def acceptor(machine: Machine, n: int) -> Fst:
    """The constraint; one that knows positions has a copy of its reachable states for every position."""
    fst = pywrapfst.VectorFst()
    arc, one = pywrapfst.Arc, pywrapfst.Weight.one("tropical")
    if machine.table_of is None:
        fst.add_states(machine.n_states)
        for q, row in enumerate(machine.rows[0]):
            for a, target in enumerate(row):
                if target != DEAD:
                    fst.add_arc(q, arc(a + 1, a + 1, one, target))
        for q in np.flatnonzero(machine.final).tolist():
            fst.set_final(q, one)
    else:
        number = {0: fst.add_state()}
        for t in range(n):
            following: dict[int, int] = {}
            table = machine.rows[machine.table_of[t]]
            for q, state in number.items():
                for a, target in enumerate(table[q]):
                    if target != DEAD:
                        if target not in following:
                            following[target] = fst.add_state()
                        fst.add_arc(state, arc(a + 1, a + 1, one, following[target]))
            number = following
        for q, state in number.items():
            if machine.final[q]:
                fst.set_final(state, one)
    fst.set_start(0)
    fst.arcsort("ilabel")
    return fst


def shared(machine: Machine) -> Fst:
    found = SHARED.get(id(machine))
    if found is None:
        found = SHARED[id(machine)] = (machine, acceptor(machine, 0))  # the machine is kept, so that its identity stays its own
    return found[1]


def offline(problem: Problem) -> None:
    """Builds the automata that do not speak of positions."""
    for machine in problem.machines:
        if machine.table_of is None:
            shared(machine)


def automata_of(problem: Problem) -> Callable[[int], Fst]:
    """The automaton of a constraint, built when it is first asked for."""
    kept: dict[int, Fst] = {}

    def get(c: int) -> Fst:
        machine = problem.machines[c]
        if machine.table_of is None:
            return shared(machine)
        if c not in kept:
            kept[c] = acceptor(machine, problem.n_tokens)
        return kept[c]

    return get


def labels_of(best: Fst) -> list[int]:
    labels, state = [], best.start()
    while state != pywrapfst.NO_STATE_ID:
        following = pywrapfst.NO_STATE_ID
        for arc in best.arcs(state):
            labels.append(arc.ilabel - 1)
            following = arc.nextstate
        state = following
    return labels


def relax(problem: Problem, start: Fst, automaton: Callable[[int], Fst]) -> list[int]:
    """Figure 2; the constraint with the fewest states first, which is also zerogap's choice."""
    current = start
    waiting = sorted(range(len(problem.machines)), key=lambda c: problem.machines[c].n_states)
    while True:
        labels = labels_of(pywrapfst.shortestpath(current))
        broken = next((c for c in waiting if not problem.machines[c].accepts(labels)), None)
        if broken is None:
            return labels
        waiting.remove(broken)
        current = pywrapfst.intersect(current, automaton(broken))


def intersect_all(problem: Problem, start: Fst, automaton: Callable[[int], Fst]) -> list[int]:
    """Section 3."""
    current = start
    for c in range(len(problem.machines)):
        current = pywrapfst.intersect(current, automaton(c))
    return labels_of(pywrapfst.shortestpath(current))


def main() -> None:
    from zerogap import sequence as seq

    random = np.random.default_rng(0)
    for _ in range(100):
        n, size = int(random.integers(3, 9)), 4
        rules = [seq.no_duplicate(a) for a in range(3)] + [seq.at_least_one(0), seq.at(1, 3), seq.spans([(0, 2)]), seq.precedes(0, 1)]
        for transitions in (None, random.integers(-9, 9, (size, size))):
            problem = Problem(random.integers(-9, 9, (n, size)), transitions, constraints=rules)
            offline(problem)
            best = seq.decode(problem).score
            for method in (relax, intersect_all):
                assert problem.score_of(method(problem, lattice(problem), automata_of(problem))) == best
    print(f"pynini {pynini.__version__}: 200 random problems, the same scores")


if __name__ == "__main__":
    main()
