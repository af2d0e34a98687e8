"""Checks bounds of trees with larger parts by dual decomposition: a tree and the automata of all heads choose arcs on their own.

    bound = max_tree sum_{h -> m in it} (down + up)[h, m]
          + sum_h max_{g, modifiers} score_h(g, modifiers) - down of the modifiers - up[g, h]

within the arcs that a leaf leaves: part h * (n + 1) + m says that the arc h -> m is in the tree. Any prices prove some bound. The root has
at least one modifier, with a single root exactly one, and no modifier of h is g.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import VerificationError
from zerogap.grid import Scores
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.certificate import Certificate, HeadPrices, Leaf, Leaves, Screened
from zerogap.proof.dependency_charts import arc_chart
from zerogap.proof.exact_values import Units, check_exact, from_units, in_units, units_of
from zerogap.proof.leaves import check_cover

if TYPE_CHECKING:
    from zerogap.problems.dependency.head_automaton import HeadAutomaton

KNOWN = {"siblings", "stops", "grandparents", "outermost", "grandsiblings", "trisiblings", "automata"}
Allowed = NDArray[np.bool_]


def head_prices_bound(problem: Problem, certificate: Certificate, arcs: Scores) -> float:
    """The bound that prices prove, after screening or in leaves; `arcs` have their best labels."""
    larger = set(problem.larger)
    if larger - KNOWN:
        raise VerificationError(f"a certificate of kind 'head-prices' proves nothing about {', '.join(sorted(larger - KNOWN))}.")
    n = problem.n_words
    if n == 0:  # only the root, which ends without modifiers
        stops = problem.parts.get("stops")
        end = 0.0 if stops is None else float(stops.at(np.array([0]), np.array([0]))[0])
        return end + sum(automaton.finals[0] for automaton in problem.automata)
    allowed = arcs > -np.inf
    return bound_within(problem, certificate, arcs, allowed, np.zeros_like(allowed))


def bound_within(problem: Problem, certificate: Certificate, arcs: Scores, allowed: Allowed, required: Allowed) -> float:
    """Of the trees that have no other arcs than those that are allowed, and all that are required."""
    match certificate:
        case HeadPrices():
            down, up = read_prices(problem, certificate)
            if np.any(required & ~allowed):
                return -math.inf
            heads = (head_part(problem, arcs, down, up, allowed, required, h) for h in range(problem.n_words + 1))
            return from_units(tree_part(problem, down, up, allowed) + sum(heads), problem.resolution)
        case Screened(prices=prices, threshold=threshold, rest=rest):
            left = possible_arcs(problem, prices, threshold, arcs, allowed, required)
            return max(threshold, bound_within(problem, rest, arcs, left, required))
        case Leaves(leaves):
            check_cover(leaves, (problem.n_words + 1) ** 2)
            return max(bound_of_leaf(problem, leaf, arcs, allowed, required) for leaf in leaves)
        case _:
            raise VerificationError(f"a certificate of kind {certificate.kind!r} in a leaf proves nothing about dependency trees.")


def bound_of_leaf(problem: Problem, leaf: Leaf, arcs: Scores, allowed: Allowed, required: Allowed) -> float:
    left, wanted = allowed.copy(), required.copy()
    for part, inside in leaf.fixed:
        h, m = divmod(part, problem.n_words + 1)
        if inside:
            left[:, m] &= np.arange(problem.n_words + 1) == h
            wanted[h, m] = True
        else:
            left[h, m] = False
    return bound_within(problem, leaf.certificate, arcs, left, wanted)


def possible_arcs(problem: Problem, prices: HeadPrices, threshold: float, arcs: Scores, allowed: Allowed, required: Allowed) -> Allowed:
    """Those that a tree above the threshold may have: by the bound of the prices if tree, head and modifier must take the arc."""
    least = units_of(threshold, problem.resolution, "threshold")
    down, up = read_prices(problem, prices)
    heads = [head_part(problem, arcs, down, up, allowed, required, h) for h in range(problem.n_words + 1)]
    tree = tree_part(problem, down, up, allowed)
    total = tree + sum(heads)
    left = allowed.copy()
    if total == -math.inf:
        return left
    for h, m in np.argwhere(allowed).tolist():
        only, wanted = allowed.copy(), required.copy()
        only[:, m] = np.arange(problem.n_words + 1) == h
        wanted[h, m] = True
        bound = total - heads[h] + head_part(problem, arcs, down, up, allowed, wanted, h)
        bound = bound - heads[m] + head_part(problem, arcs, down, up, only, required, m)
        if bound > least:  # the tree is asked last: it takes longest
            bound = bound - tree + tree_part(problem, down, up, only)
        left[h, m] = bound > least
    return left


def read_prices(problem: Problem, certificate: HeadPrices) -> tuple[Scores, Scores]:
    """Down and up (n + 1, n + 1)."""
    n = problem.n_words
    if not len(certificate.arcs) == len(certificate.down) == len(certificate.up):
        sizes = f"{len(certificate.arcs)} arcs, {len(certificate.down)} and {len(certificate.up)} prices"
        raise VerificationError(f"there are {sizes}: expected as many of each.")
    size = (n + 1) ** 2
    if len(set(certificate.arcs)) < len(certificate.arcs) or not all(type(arc) is int and 0 <= arc < size for arc in certificate.arcs):
        raise VerificationError(f"arcs has something else than different numbers from 0 to {size - 1}.")
    check_exact((*certificate.down, *certificate.up), problem)
    down, up = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    down.reshape(-1)[list(certificate.arcs)] = certificate.down
    up.reshape(-1)[list(certificate.arcs)] = certificate.up
    return down, up


def asks_for_heads(problem: Problem) -> bool:
    return bool(problem.parts.keys() & {"grandparents", "outermost", "grandsiblings"})


def tree_part(problem: Problem, down: Scores, up: Scores, allowed: Allowed) -> Units:
    """The best tree under the prices, in units: sums of prices are exact."""
    weights = np.where(allowed, down + up if asks_for_heads(problem) else down, -np.inf)
    if not problem.projective:
        return best_tree_units(weights, problem)
    return in_units(float(arc_chart(weights[..., None], problem.single_root, 1)[0]), problem.resolution)


def head_part(problem: Problem, arcs: Scores, down: Scores, up: Scores, allowed: Allowed, required: Allowed, h: int) -> Units:
    """The worth of the best choice of head h, in units: one head has at most `problem.terms` scores, so its sums are exact."""
    n = problem.n_words
    with_heads = h > 0 and asks_for_heads(problem)
    heads = np.flatnonzero(allowed[:, h]) if with_heads else np.array([-1])
    values = -up[heads, h] if with_heads else np.zeros(1)
    for side in (-1, 1) if h > 0 else (1,):
        modifiers = np.arange(h + side, n + 1 if side > 0 else 0, side)
        modifiers = modifiers[allowed[h, modifiers]]
        machine = next((a for a in problem.automata if a.head == h and (a.side == "right") == (side > 0)), None)
        if machine is None and problem.trisiblings is None:
            values = values + best_side(problem, arcs[h] - down[h], required[h], heads, h, modifiers)
        else:
            values = values + best_walk(problem, arcs[h] - down[h], required[h], heads, h, modifiers.tolist(), machine)
    return in_units(float(values.max(initial=-math.inf)), problem.resolution)


def best_side(problem: Problem, worth: Scores, required: Allowed, heads: NDArray[np.int64], h: int, modifiers: NDArray[np.int64]) -> Scores:
    """The best choice of modifiers on a side of h, in order outward from it, for every head of h. (heads,)"""

    def scored(name: str, *index: Any) -> Scores:
        parts = problem.parts.get(name)
        if parts is None or (h == 0 and name in ("grandparents", "outermost", "grandsiblings")):
            return np.zeros(np.broadcast_shapes(*(np.shape(i) for i in index)))
        return parts.at(*np.broadcast_arrays(*index))

    best = np.full((len(heads), len(modifiers) + 1), -np.inf)  # of choices that end with each modifier; with none first
    best[:, 0] = 0.0
    least = 0  # nothing before the last required modifier can be the previous one
    for j, m in enumerate(modifiers.tolist(), start=1):
        before = np.concatenate([[h], modifiers[: j - 1]])[least:j]
        if h == 0 and problem.single_root:
            before = before[:1] if least == 0 else before[:0]
        added = scored("siblings", h, before, m) + scored("grandsiblings", heads[:, None], h, before[None, :], m)
        possible = heads != m
        if problem.projective and h > 0:
            possible &= (heads < min(h, m)) | (heads > max(h, m))
        added = np.where(possible[:, None], added + scored("grandparents", heads[:, None], h, m) + worth[m], -np.inf)
        best[:, j] = (best[:, least : least + len(before)] + added).max(axis=1, initial=-np.inf)
        if required[m]:
            least = j
    last = np.concatenate([[h], modifiers])[least:]
    ended = best[:, least:] + scored("stops", h, last[None, :])
    outermost = scored("outermost", heads[:, None], h, last[None, :])
    ended = ended + np.where(last == h, 0.0, outermost)
    if h == 0 and least == 0:
        ended[:, 0] = -np.inf
    return np.asarray(ended.max(axis=1, initial=-np.inf))


def best_walk(
    problem: Problem,
    worth: Scores,
    required: Allowed,
    heads: NDArray[np.int64],
    h: int,
    modifiers: list[int],
    machine: HeadAutomaton | None,
) -> Scores:
    """The same where three modifiers in a row are scored, or an automaton reads them: over its states and the last two modifiers."""
    parts = problem.parts
    each, one = np.zeros(len(heads), dtype=np.int64), np.zeros(1, dtype=np.int64)

    def scored(name: str, *index: Any) -> Any:
        with_heads = name in ("grandparents", "outermost", "grandsiblings")
        if name not in parts or (h == 0 and with_heads):
            return 0.0
        return parts[name].at(heads, *(each + i for i in index)) if with_heads else float(parts[name].at(*(one + i for i in index))[0])

    best: dict[tuple[int, int, int], Scores] = {(0, h, h): np.zeros(len(heads))}  # state, modifier before the last, last modifier
    for m in modifiers:
        possible = heads != m
        if problem.projective and h > 0:
            possible &= (heads < min(h, m)) | (heads > max(h, m))
        new: dict[tuple[int, int, int], Scores] = {}
        for (state, r, s), value in best.items():
            if h == 0 and problem.single_root and s != h:
                continue
            after, weight = (0, 0.0) if machine is None else step_of(machine, state, m)
            if weight == -math.inf:
                continue
            added = worth[m] + weight + scored("siblings", h, s, m) + (scored("trisiblings", h, r, s, m) if s != h else 0.0)
            total = value + added + scored("grandparents", h, m) + scored("grandsiblings", h, s, m)
            key = (after, s, m)
            new[key] = np.maximum(new.get(key, -np.inf), np.where(possible, total, -np.inf))
        best = new if required[m] else {**best, **new}
    ended = np.full(len(heads), -np.inf)
    for (state, _, s), value in best.items():
        if h == 0 and s == h:
            continue
        end = scored("stops", h, s) + (0.0 if machine is None else machine.finals[state])
        ended = np.maximum(ended, value + end + (scored("outermost", h, s) if s != h else 0.0))
    return ended


def step_of(machine: HeadAutomaton, state: int, modifier: int) -> tuple[int, float]:
    """The next state and the weight, -inf if there is none."""
    return next(((after, weight) for s, m, after, weight in machine.transitions if s == state and m == modifier), (0, -math.inf))


def best_tree_value(weights: Scores, problem: Problem) -> float:
    """The weight of a maximum arborescence; -inf if there is none."""
    return from_units(best_tree_units(weights, problem), problem.resolution)


def best_tree_units(weights: Scores, problem: Problem) -> Units:
    """The weight of a maximum arborescence in units (Chu & Liu 1965; Edmonds 1967); -inf if there is none.

    With a single root, every arc from the root costs so much that one of them is the fewest.
    """
    n = len(weights) - 1
    finite = weights > -np.inf
    table = [[int(weights[h, m] / problem.resolution) if finite[h, m] else None for m in range(n + 1)] for h in range(n + 1)]
    cost = 1 + 2 * sum(abs(w) for row in table for w in row if w is not None) if problem.single_root else 0
    nodes = {
        m: {h: w - (cost if h == 0 else 0) for h in range(n + 1) if h != m and (w := table[h][m]) is not None} for m in range(1, n + 1)
    }
    total = 0
    fresh = n + 1
    while True:
        chosen = {}
        for node, into in nodes.items():
            if not into:
                return -math.inf
            head = max(into, key=lambda h: into[h])
            best = into[head]
            total += best
            nodes[node] = {h: w - best for h, w in into.items()}
            chosen[node] = head
        cycle = cycle_of(chosen)
        if cycle is None:
            break
        inside = set(cycle)
        entering: dict[int, int] = {}
        for node in cycle:
            for h, w in nodes.pop(node).items():
                if h not in inside and w > entering.get(h, w - 1):
                    entering[h] = w
        for into in nodes.values():
            leaving = [into.pop(h) for h in cycle if h in into]
            if leaving:
                into[fresh] = max(leaving)
        nodes[fresh] = entering
        fresh += 1
    value = total + cost
    if problem.single_root and value <= -cost // 2:  # more than one arc from the root was needed
        return -math.inf
    return value


def cycle_of(chosen: dict[int, int]) -> list[int] | None:
    """The nodes of a cycle of chosen heads, if there is one; 0 is the root."""
    done: set[int] = set()
    for start in chosen:
        walk: list[int] = []
        node = start
        while node != 0 and node not in done:
            if node in walk:
                return walk[walk.index(node) :]
            walk.append(node)
            node = chosen[node]
        done.update(walk)
    return None
