"""The scores of a problem by head: what its automata read (see `oracles.heads.agreement`).

For every head and side, `pairs` scores a modifier and the one before it (with the arc), `stops` the last one, `grand` a modifier and
the head of the head, `joint` all three, `outer` the last one and the head of the head. Only candidate arcs have entries. A head of the
head that no tree can have together with a modifier, since it is that modifier, scores -inf in `grand`.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zerogap.dependency.candidate_arcs import Candidates, candidate_heads, candidates_of, entries
from zerogap.dependency.decoding.agreement.sparse_parts import KINDS, add_listed_parts
from zerogap.grid import Integers, Scores
from zerogap.kernels import float64, inner, int64, kernel, readonly, writable
from zerogap.oracles.heads.automata import (
    AUTOMATA,
    CHAIN,
    GRAND,
    JOINT,
    OUTER,
    PROJECTIVE,
    SINGLE_ROOT,
    TABLES_TO_FILL,
    Automata,
    Lattices,
    longest_side,
)  # fmt: skip
from zerogap.problems.dependency.head_automaton import SIDES
from zerogap.problems.dependency.parts import DenseParts, Parts, Sparse, SparseParts
from zerogap.problems.dependency.problem import Problem

NOTHING: Scores = np.zeros(0)
NO_SQUARE: Scores = np.zeros((0, 0))
NO_CUBE: Scores = np.zeros((0, 0, 0))


NONE = np.zeros(0, dtype=np.int64)
NO_LATTICES = Lattices(NONE, NONE, NOTHING, NONE, NONE, NOTHING)


@dataclass(frozen=True, slots=True, eq=False)
class HeadScores:
    """`flags` say what is scored, and which trees are wanted."""

    candidates: Candidates  # with grandparents as contexts, if they are scored
    flags: int
    pairs: Scores
    stops: Scores
    grand: Scores
    joint: Scores
    outer: Scores
    lattices: Lattices = NO_LATTICES

    @property
    def n_words(self) -> int:
        return self.candidates.n_words

    @property
    def pair_start(self) -> Integers:
        """Without parts of two modifiers, each has one score, that of its arc."""
        return self.candidates.pair_start if self.flags & CHAIN else self.candidates.modifier_start

    @property
    def size(self) -> int:
        """How many scores there are, with every head of a head that a modifier is scored for."""
        return int(self.candidates.score_start[-1]) + len(self.lattices.edge_weight)

    @property
    def automata(self) -> Automata:
        """All of it, as kernels take it."""
        c = self.candidates
        return Automata(
            self.flags, c.contexts, c.modifier_start, c.modifiers, c.context, self.pairs, self.pair_start, self.stops, self.grand,
            c.grand_start, self.joint, c.score_start, self.outer, c.stop_start, self.lattices,
        )  # fmt: skip


@inner
def is_impossible(g, h, m, projective):
    """No tree has the arcs g -> h -> m if m is g, and no projective one if g is between the two."""
    return g == m or (projective and (h < g < m or m < g < h))


@kernel(int64(readonly(float64, 2), readonly(float64, 3), readonly(float64, 2), readonly(float64, 3), TABLES_TO_FILL))
def fill_from_arrays(arcs, siblings, stops2, grandparents, automata):
    """out: pairs, stops, grand of automata; arrays of no size are of parts that are not scored."""
    n = arcs.shape[0] - 1
    chain, projective = automata.flags & CHAIN, automata.flags & PROJECTIVE
    modifier_start, modifiers = automata.modifier_start, automata.modifiers
    pairs, pair_start, stops = automata.pairs, automata.pair_start, automata.stops
    grand, grand_start = automata.grand, automata.grand_start
    with_siblings, with_stops, with_grand = siblings.shape[0] > 0, stops2.shape[0] > 0, grandparents.shape[0] > 0
    for place in range(2 * n + 2):
        h = place >> 1
        first = modifier_start[place]
        q = modifier_start[place + 1] - first
        for p in range(q + 1 if chain else min(q, 1)):
            s = h if p == 0 else modifiers[first + p - 1]
            at = pair_start[place] + p * q
            for j in range(q):
                m = modifiers[first + j]
                pairs[at + j] = arcs[h, m] + (siblings[h, s, m] if with_siblings and p <= j else 0.0)
        if chain:
            for p in range(q + 1):
                stops[first + place + p] = stops2[h, h if p == 0 else modifiers[first + p - 1]] if with_stops else 0.0
        if grand.shape[0] > 0 and h > 0:
            at = grand_start[place]
            for g in range(n + 1):
                if arcs[g, h] > -np.inf:
                    for j in range(q):
                        m = modifiers[first + j]
                        grand[at + j] = -np.inf if is_impossible(g, h, m, projective) else grandparents[g, h, m] if with_grand else 0.0
                    at += q
    return 0


@kernel(int64(AUTOMATA, writable(float64, 1)))
def most_added(automata, prices):
    """out: prices (arcs,): the most that a modifier can add to what its head scores, as far as that is finite; else unchanged.

    With these prices no head gains by any modifier, whatever is beside it, but for parts of three; and the tree begins with all that is
    known of its arcs.
    """
    flags, contexts, modifier_start = automata.flags, automata.contexts, automata.modifier_start
    pairs, pair_start, stops = automata.pairs, automata.pair_start, automata.stops
    grand, grand_start = automata.grand, automata.grand_start
    longest = longest_side(automata)
    most, above = np.empty(longest), np.empty(longest)
    for place in range(1, modifier_start.shape[0] - 1):
        h = place >> 1
        first = modifier_start[place]
        q = modifier_start[place + 1] - first
        for j in range(q):
            most[j] = pairs[pair_start[place] + j]
        if flags & CHAIN:
            for p in range(1, q if h > 0 or not flags & SINGLE_ROOT else 1):  # a single modifier of the root is its first
                row = pair_start[place] + p * q
                for j in range(p, q):
                    most[j] = max(most[j], pairs[row + j])
            none = stops[first + place] if h > 0 else 0.0  # the root has a modifier at least
            for j in range(q):
                most[j] += stops[first + place + j + 1] - none
        if flags & GRAND and h > 0:
            for j in range(q):
                above[j] = -np.inf
            for k in range(contexts[h]):
                row = grand_start[place] + k * q
                for j in range(q):
                    above[j] = max(above[j], grand[row + j])
            for j in range(q):
                most[j] += above[j]
        for j in range(q):
            if np.isfinite(most[j]):
                prices[first + j] = most[j]
    return 0


def flags_of(problem: Problem) -> int:
    """Which trees are wanted, and which parts are scored."""
    flags = (PROJECTIVE if problem.projective else 0) + (SINGLE_ROOT if problem.single_root else 0)
    joint, outer = problem.grandsiblings is not None, problem.outermost is not None
    if joint or outer or problem.grandparents is not None:
        flags |= GRAND | (JOINT if joint else 0) | (OUTER if outer else 0)
    if joint or outer or problem.automata:
        return flags | CHAIN
    return flags if problem.siblings is problem.stops is problem.trisiblings is None else flags | CHAIN


def head_scores(problem: Problem, arcs: Scores) -> HeadScores:
    """The scores of a problem; `arcs` (n + 1, n + 1) may hold the best labels."""
    n = problem.n_words
    parts = problem.parts
    flags = flags_of(problem)
    with_grand, chain = bool(flags & GRAND), bool(flags & CHAIN)
    c = candidates_of(arcs > -np.inf, grand=with_grand)
    pair_start, grand_start = c.pair_start if chain else c.modifier_start, c.grand_start
    scores = HeadScores(
        c, flags, pairs=np.empty(pair_start[-1]), stops=np.empty(len(c.modifiers) + 2 * n + 2 if chain else 0),
        grand=np.empty(grand_start[-1] if with_grand else 0), joint=np.zeros(c.score_start[-1] if flags & JOINT else 0),
        outer=np.zeros(c.stop_start[-1] if flags & OUTER else 0),
    )  # fmt: skip
    siblings, grandparents = array_of(problem.siblings), array_of(problem.grandparents)
    fill_from_arrays(
        arcs, NO_CUBE if siblings is None else siblings, NO_SQUARE if problem.stops is None else problem.stops.dense(n),
        NO_CUBE if grandparents is None else grandparents, scores.automata,
    )  # fmt: skip
    for name, table in (
        ("siblings", scores.pairs), ("grandparents", scores.grand), ("grandsiblings", scores.joint), ("outermost", scores.outer),
    ):  # fmt: skip
        given = parts.get(name)
        if isinstance(given, SparseParts):
            add_listed_parts(KINDS.index(name), given.keys, given.scores, scores.automata)
        elif given is not None and (name in ("grandsiblings", "outermost") or not isinstance(given, DenseParts)):
            ask = indices_of(name, c, arcs, scores.grand)
            table[ask[0]] += given.at(*ask[1])
    if problem.trisiblings is None and not problem.automata:
        return scores
    return replace(scores, lattices=lattices_of(problem, c, scores.pairs, pair_start, scores.stops))


def indices_of(name: str, c: Candidates, arcs: Scores, grand: Scores) -> tuple[Integers, tuple[Integers, ...]]:
    """The parts of a kind that trees of candidate arcs can have: their places in its table, and their indices."""
    q = c.modifier_start[1:] - c.modifier_start[:-1]
    if name == "siblings":
        place, entry = entries(c.pair_start, 0, len(q))
        p, j = np.divmod(entry, q[place])
        used = np.flatnonzero(p <= j)
        place, p, j = place[used], p[used], j[used]
        return used, (place >> 1, before(c, place, p), c.modifiers[c.modifier_start[place] + j])
    starts = {"grandparents": c.grand_start, "grandsiblings": c.score_start, "outermost": c.stop_start}[name]
    place, entry = entries(starts, 2, len(q))  # the root has no head
    if name == "grandparents":
        k, j = np.divmod(entry, q[place])
        p = np.zeros_like(j)
    elif name == "grandsiblings":
        rest, j = np.divmod(entry, q[place])
        k, p = np.divmod(rest, q[place] + 1)
    else:
        k, p = np.divmod(entry, q[place] + 1)
        j = p - 1  # -1 is no modifier at all
    is_used = (j >= 0) & ((p <= j) | (name == "outermost"))
    used = np.flatnonzero(is_used)
    used = used[grand[c.grand_start[place[used]] + k[used] * q[place[used]] + j[used]] > -np.inf]
    place, k, p, j = place[used], k[used], p[used], j[used]
    h, m = place >> 1, c.modifiers[c.modifier_start[place] + j]
    head_start, heads = candidate_heads(arcs)
    g = heads[head_start[h] + k]
    if name != "grandsiblings":
        return starts[2] + used, (g, h, m)
    s = before(c, place, p)
    tree = np.flatnonzero(g != s)
    return starts[2] + used[tree], (g[tree], h[tree], s[tree], m[tree])


def lattices_of(problem: Problem, c: Candidates, pairs: Scores, pair_start: Integers, stops: Scores) -> Lattices:
    """States are those of the automaton of a side, with the two last modifiers if three in a row are scored."""
    machines = {(automaton.head, SIDES.index(automaton.side)): automaton for automaton in problem.automata}
    node_start, node_modifier, node_stop = [0], list[int](), list[float]()
    edge_start, edge_from, edge_weight = [0], list[int](), list[float]()
    threes: list[tuple[int, int, int, int]] = []  # trisiblings to be scored, and of which edge
    of_edge: list[int] = []
    for place in range(2 * c.n_words + 2):
        h, side = place >> 1, place & 1
        machine = machines.get((h, side))
        first = int(c.modifier_start[place])
        words = c.modifiers[first : int(c.modifier_start[place + 1])].tolist()
        if place == 0 or (machine is None and (problem.trisiblings is None or len(words) < 2)):
            node_start.append(node_start[-1])
            continue
        moves = {} if machine is None else machine.moves()
        ends = (0.0,) if machine is None else machine.finals
        start = node_start[-1]
        nodes = [(0, -1, -1)]  # state, number of the modifier before the last, number of the last
        node_modifier.append(-1)
        node_stop.append(float(stops[first + place]) + ends[0])
        edge_start.append(edge_start[-1])
        for j, m in enumerate(words):
            found: dict[tuple[int, int, int], list[tuple[int, float]]] = {}
            for number, (state, _, s) in enumerate(nodes):
                if machine is not None and (state, m) not in moves:
                    continue
                after, weight = moves[state, m] if machine is not None else (0, 0.0)
                weight += float(pairs[int(pair_start[place]) + (s + 1) * len(words) + j])
                key = (after, s if problem.trisiblings is not None else -1, j)
                found.setdefault(key, []).append((number, weight))
            for key, edges in found.items():
                for number, weight in edges:
                    _, r, s = nodes[number]
                    if problem.trisiblings is not None and s >= 0:
                        threes.append((h, words[r] if r >= 0 else h, words[s], m))
                        of_edge.append(len(edge_weight))
                    edge_from.append(start + number)
                    edge_weight.append(weight)
                nodes.append(key)
                node_modifier.append(j)
                node_stop.append(float(stops[first + place + j + 1]) + ends[key[0]])
                edge_start.append(len(edge_weight))
        node_start.append(start + len(nodes))
    weights = np.array(edge_weight)
    if problem.trisiblings is not None and threes:
        weights[of_edge] += problem.trisiblings.at(*np.array(threes, dtype=np.int64).T)
    integers = [np.array(numbers, dtype=np.int64) for numbers in (node_start, node_modifier, edge_start, edge_from)]
    return Lattices(integers[0], integers[1], np.array(node_stop), integers[2], integers[3], weights)


def array_of(parts: Parts | None) -> Scores | None:
    """The scores of parts as an array, if they are one."""
    return parts.table if isinstance(parts, DenseParts) else None


def before(candidates: Candidates, place: Integers, p: Integers) -> Integers:
    """The modifier of number p - 1 on a side, or the head itself for p = 0."""
    return np.where(p == 0, place >> 1, candidates.modifiers[candidates.modifier_start[place] + np.maximum(p - 1, 0)])


def problem_of_heads(scores: HeadScores) -> Problem:
    """All that a model scores of a sentence, as a problem whose arcs score nothing by themselves."""
    c = scores.candidates
    n = c.n_words
    q = np.diff(c.modifier_start)
    arcs = np.full((n + 1, n + 1), -np.inf)
    arcs[c.heads, c.modifiers] = 0.0
    head_start, heads = candidate_heads(arcs)
    place, entry = entries(scores.pair_start, 0, len(q))
    p, j = np.divmod(entry, q[place])
    used = np.flatnonzero(p <= j)
    place, p, j = place[used], p[used], j[used]
    modifier = c.modifiers[c.modifier_start[place] + j]
    parts: dict[str, Any] = {}
    first = scores.pairs[scores.pair_start[place] + j]
    if scores.stops.any() or (scores.pairs[used] != first).any():
        parts["siblings"] = Sparse(np.stack([place >> 1, before(c, place, p), modifier], axis=1), scores.pairs[used])
        place, p = entries(c.modifier_start + np.arange(len(q) + 1), 0, len(q))
        used = np.flatnonzero(p > 0)  # a side without modifiers scores nothing
        parts["stops"] = Sparse(np.stack([place[used] >> 1, before(c, place[used], p[used])], axis=1), scores.stops[used])
    else:  # a model without siblings scores arcs
        arcs[place >> 1, modifier] = first
    if scores.flags & GRAND:
        place, entry = entries(c.grand_start, 2, len(q))
        k, j = np.divmod(entry, q[place])
        used = np.flatnonzero(scores.grand[c.grand_start[2] :] > -np.inf)
        place, k, j = place[used], k[used], j[used]
        h = place >> 1
        index = np.stack([heads[head_start[h] + k], h, c.modifiers[c.modifier_start[place] + j]], axis=1)
        parts["grandparents"] = Sparse(index, scores.grand[c.grand_start[2] + used])
    if scores.flags & JOINT and scores.joint.any():
        place, entry = entries(c.score_start, 2, len(q))
        rest, j = np.divmod(entry, q[place])
        k, p = np.divmod(rest, q[place] + 1)
        used = np.flatnonzero((p <= j) & (scores.grand[c.grand_start[place] + k * q[place] + j] > -np.inf))
        place, k, p, j = place[used], k[used], p[used], j[used]
        h = place >> 1
        index = np.stack([heads[head_start[h] + k], h, before(c, place, p), c.modifiers[c.modifier_start[place] + j]], axis=1)
        tree = np.flatnonzero(index[:, 0] != index[:, 2])
        parts["grandsiblings"] = Sparse(index[tree], scores.joint[c.score_start[2] + used[tree]])
    return Problem(arcs, projective=bool(scores.flags & PROJECTIVE), single_root=bool(scores.flags & SINGLE_ROOT), **parts)
