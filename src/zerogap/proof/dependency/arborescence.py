"""The weight of a maximum arborescence in integers, with what every arc loses at least (Chu & Liu 1965; Edmonds 1967).

Every node takes its best entering arc; a cycle becomes one node. What was taken away from the arcs that enter a node, when it was one,
is the dual value of its set of words. No arc weighs more than the values of the sets that it enters, and only sets of one word have
positive values, so a tree weighs at most the sum of all values less the slack of its arcs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from zerogap.grid import Integers
from zerogap.proof.integers import ABSENT, Units


@dataclass(frozen=True, slots=True, eq=False)
class Arborescence:
    """The weight of a best tree, -inf if there is none; a tree with an arc weighs less by its slack (n + 1, n + 1) or more."""

    value: Units
    slack: Integers | None  # None where it is not known


def best_arborescence(weights: Integers, single_root: bool) -> Arborescence:
    """With a single root, every arc from the root costs so much that one of them is the fewest."""
    n = len(weights) - 1
    present = weights > ABSENT
    table = [[int(weights[h, m]) if present[h, m] else None for m in range(n + 1)] for h in range(n + 1)]
    cost = 1 + 2 * sum(abs(w) for row in table for w in row if w is not None) if single_root else 0
    nodes = {
        m: {h: w - (cost if h == 0 else 0) for h in range(n + 1) if h != m and (w := table[h][m]) is not None} for m in range(1, n + 1)
    }
    words = {m: [m] for m in nodes}
    duals: list[tuple[list[int], int]] = []
    total = 0
    fresh = n + 1
    while True:
        chosen = {}
        for node, into in nodes.items():
            if not into:
                return Arborescence(-math.inf, None)
            head = max(into, key=lambda h: into[h])
            best = into[head]
            total += best
            if best:
                duals.append((words[node], best))
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
        words[fresh] = [word for node in cycle for word in words[node]]
        fresh += 1
    value = total + cost
    if single_root and value <= -cost // 2:  # more than one arc from the root was needed
        return Arborescence(-math.inf, None)
    if sum(abs(dual) for _, dual in duals) + 2 * cost >= 1 << 62:  # sums of them might leave int64
        return Arborescence(value, None)
    return Arborescence(value, slack_of(weights, duals, cost))


def slack_of(weights: Integers, duals: list[tuple[list[int], int]], cost: int) -> Integers | None:
    """How much less than the duals of the sets that it enters an arc weighs."""
    n = len(weights) - 1
    inside = np.zeros((len(duals), n + 1), dtype=np.int64)
    for row, (words, _) in zip(inside, duals, strict=True):
        row[words] = 1
    values = np.array([value for _, value in duals], dtype=np.int64).reshape(-1, 1)
    allowance = (1 - inside).T @ (values * inside)
    allowance[0] += cost
    return np.where(weights > ABSENT, allowance - weights, 0)


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
