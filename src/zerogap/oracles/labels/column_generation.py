"""Best path of a first-order chain by column generation: exact, and most transitions are never looked at.

Riedel, Smith & McCallum 2012, section 4.5, and Belanger, Passos, Riedel & McCallum 2012. Viterbi is a linear program whose variables are
transitions and whose duals are forward values:

    value[t, b] = node[t, b] + incoming[t, b],  incoming[t, b] = max_a (value[t-1, a] + edge[a, b])

The restricted program holds all transitions out of the *opened* labels, whose values are exact. The value of any other label is ours to
choose (section 4.3.3), large enough for every transition into it. The transitions out of it are priced together, by the most that any of
them adds, reach[a] = max_b edge[a, b] (sections 4.3.1 and 4.3.2), which is computed once:

    value[t, a] = node[t, a] + max(incoming[t, a], min(ceiling[t-1], upper[t, a]))
    ceiling[t]  = max of value[t, a] + reach[a] over the labels a that are not opened

upper[t, a] is +inf, or a bound from the rows of labels that are not opened: these are read where many come close.

A label is *settled* when no label before it that is not opened improves its incoming[t, b]: by those bounds, else by the transition itself
(equation 10). One that might is settled and opened in turn. The end of the chain is the last to be settled: then no transition has a
positive reduced cost. On the way there, so is the best label of every position: without that, ceilings would drift away from values.

Departures: values are forward ones only, and the program is never solved again, as in CarpeDiem (Esposito & Radicioni 2009): a new row of
transitions only raises what follows it. Labels that tie are opened too, so that all best paths are known. When too many labels come
close, all are opened: that is Viterbi.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import float64, inner, int32, int64, kernel, readonly, writable
from zerogap.oracles.push import push_max

CEILING, LOWEST, REST, PUSHED = range(4)  # rows of `bounds`, see generate_columns
LISTED, OPENED = range(2)  # rows of `sizes`: how many labels of a position are
ROWS, SINGLE, EFFORT, EXHAUSTED = range(4)  # entries of `counts`: rows read, transitions priced alone, all work, whether all were opened
SCAN, SORT, LOOK, TOUCH = 6, 60, 30, 100  # work: for a label in a pass over all, in a list sorted or read, for one transition; 1 in a row
PATIENCE = 3  # when a third of the work of Viterbi is spent, all labels are opened
MANY = 4  # labels whose rows are read together, rather than a transition of each
BLOCK = 32  # labels whose maximum is taken at a time


@inner
def highest(values, block):  # out: block (BLOCK,) is scratch
    """The largest of some values: a loop over a single maximum would not become vector instructions."""
    whole = values.shape[0] // BLOCK * BLOCK
    for k in range(BLOCK):
        block[k] = -np.inf
    for begin in range(0, whole, BLOCK):
        push_max(0, BLOCK, block, values[begin : begin + BLOCK], 0.0)
    largest = -np.inf
    for k in range(BLOCK):
        largest = max(largest, block[k])
    for a in range(whole, values.shape[0]):
        largest = max(largest, values[a])
    return largest


@inner
def sort_down(labels, values, n):  # out: labels, values
    """Puts the first n labels in the order of their values, largest first (Shell 1959)."""
    gap = 1
    while 3 * gap < n:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            label, value, j = labels[i], values[i], i
            while j >= gap and values[j - gap] < value:
                labels[j], values[j] = labels[j - gap], values[j - gap]
                j -= gap
            labels[j], values[j] = label, value
        gap //= 3


@inner
def list_candidates(t, threshold, incoming, upper, promise, bounds, listed, brought, sizes, brings, block, counts):
    """Lists the labels of position t that may bring `threshold` or more, unless they are listed; brings and block are scratch."""
    if threshold >= bounds[LOWEST, t]:
        return
    size = brings.shape[0]
    before = bounds[CEILING, t - 1] if t > 0 else -np.inf
    for a in range(size):
        brings[a] = promise[t, a] + max(incoming[t, a], min(upper[t, a], before))
    n_listed = 0
    for a in range(size):
        if brings[a] >= threshold:
            if brings[a] > -np.inf:
                listed[t, n_listed], brought[t, n_listed] = a, brings[a]
                n_listed += 1
            brings[a] = -np.inf
    sizes[LISTED, t], bounds[LOWEST, t], bounds[REST, t] = n_listed, threshold, highest(brings, block)
    sort_down(listed[t], brought[t], sizes[LISTED, t])
    counts[EFFORT] += SCAN * size + SORT * n_listed


@inner
def push_bounds(t, n_pushed, nodes, edges, incoming, upper, promise, bounds, listed, brought, sizes, brings, counts):
    """Lowers upper[t + 1] by the rows of the first labels in the list of position t. Out: upper, counts; brings is scratch."""
    size = nodes.shape[1]
    before = bounds[CEILING, t - 1] if t > 0 else -np.inf
    rest = bounds[REST, t] if n_pushed == sizes[LISTED, t] else max(bounds[REST, t], brought[t, n_pushed])
    for b in range(size):
        brings[b] = rest
    for k in range(n_pushed):
        a = listed[t, k]
        if promise[t, a] > -np.inf:
            value = nodes[t, a] + max(incoming[t, a], min(upper[t, a], before))
            push_max(0, size, brings, edges[t if edges.shape[0] > 1 else 0, a], value)
            counts[ROWS] += 1
            counts[EFFORT] += size
    for b in range(size):
        upper[t + 1, b] = min(upper[t + 1, b], brings[b])


@inner
def open_label(t, b, nodes, edges, incoming, promise, opened, sizes, counts):  # out: incoming, promise, opened, sizes, counts
    value = nodes[t, b] + incoming[t, b]
    promise[t, b] = -np.inf
    opened[t, sizes[OPENED, t]] = b
    sizes[OPENED, t] += 1
    if t + 1 == nodes.shape[0]:
        incoming[t + 1, 0] = max(incoming[t + 1, 0], value)
    elif value > -np.inf:
        push_max(0, nodes.shape[1], incoming[t + 1], edges[t if edges.shape[0] > 1 else 0, b], value)
        counts[ROWS] += 1
        counts[EFFORT] += nodes.shape[1]


@inner
def settle(
    goal, label, budget, nodes, edges, incoming, upper, promise, bounds, listed, brought, opened, sizes, wanted, brings, block, counts
):  # out: all but nodes and edges
    """Settles and opens a label at position `goal`, and first whatever before it has to be."""
    n = nodes.shape[0]
    t = goal
    wanted[t] = label
    while t <= goal and counts[EFFORT] <= budget:
        b, best, found, s = wanted[t], incoming[t, wanted[t]], -1, t - 1
        if t > 0 and best <= min(upper[t, b], bounds[CEILING, s]):
            list_candidates(s, best, incoming, upper, promise, bounds, listed, brought, sizes, brings, block, counts)
            before = bounds[CEILING, s - 1] if s > 0 else -np.inf
            threshold, most, n_ahead = best, bounds[REST, s], 0
            while n_ahead < sizes[LISTED, s] and brought[s, n_ahead] >= threshold:
                a = listed[s, n_ahead]
                most = max(most, promise[s, a] + max(incoming[s, a], min(upper[s, a], before)))
                n_ahead += 1
            if n_ahead < sizes[LISTED, s]:
                most = max(most, brought[s, n_ahead])
            bounds[CEILING, s] = most = min(bounds[CEILING, s], most)
            counts[EFFORT] += LOOK * n_ahead
            if t < n and n_ahead >= MANY and threshold < bounds[PUSHED, s]:
                push_bounds(s, n_ahead, nodes, edges, incoming, upper, promise, bounds, listed, brought, sizes, brings, counts)
                bounds[PUSHED, s] = threshold
            if best <= min(upper[t, b], most):
                for k in range(n_ahead):
                    a = listed[s, k]
                    so_far = max(incoming[s, a], min(upper[s, a], before))
                    if promise[s, a] + so_far >= threshold and promise[s, a] + so_far > -np.inf:
                        value = nodes[s, a] + so_far
                        if t < n:
                            value += edges[s if edges.shape[0] > 1 else 0, a, b]
                            counts[SINGLE] += 1
                            counts[EFFORT] += TOUCH
                        if value > best or (value == best and found < 0 and value > -np.inf):
                            best, found = value, a
        if found >= 0:
            t -= 1
            wanted[t] = found
        else:
            if t < n:
                open_label(t, b, nodes, edges, incoming, promise, opened, sizes, counts)
            t += 1


@inner
def open_all(nodes, edges, incoming, opened, sizes):  # out: incoming, opened, sizes
    """Viterbi."""
    n, size = nodes.shape
    for t in range(n):
        sizes[OPENED, t] = size
        for b in range(size):
            opened[t, b], incoming[t + 1, b] = b, -np.inf
        table, following = edges[t if edges.shape[0] > 1 and t + 1 < n else 0], incoming[t + 1]
        for a in range(size):
            value = nodes[t, a] + incoming[t, a]
            if t + 1 == n:
                following[0] = max(following[0], value)
            elif value > -np.inf:
                push_max(0, size, following, table[a], value)


@inner
def first_best(nodes, edges, incoming, opened, sizes, path):  # out: path (n,); opened: labels on best paths come first
    """Of all best paths, whose labels are all opened, the one with the lowest first label, then the lowest second one, and so on."""
    n = nodes.shape[0]
    used = np.zeros(n, dtype=np.int64)
    for t in range(n - 1, -1, -1):
        for k in range(sizes[OPENED, t]):
            a = opened[t, k]
            value = nodes[t, a] + incoming[t, a]
            leads_on = t + 1 == n and value == incoming[n, 0]
            if t + 1 < n and value > -np.inf:
                row = edges[t if edges.shape[0] > 1 else 0, a]
                for later in range(used[t + 1]):
                    b = opened[t + 1, later]
                    if value + row[b] == incoming[t + 1, b]:
                        leads_on = True
                        break
            if leads_on:
                opened[t, k], opened[t, used[t]] = opened[t, used[t]], a
                used[t] += 1
    for t in range(n):
        path[t] = nodes.shape[1]
        for k in range(used[t]):
            b = opened[t, k]
            if t == 0:
                path[t] = min(path[t], b)
            elif b < path[t]:
                a = path[t - 1]
                if nodes[t - 1, a] + incoming[t - 1, a] + edges[t - 1 if edges.shape[0] > 1 else 0, a, b] == incoming[t, b]:
                    path[t] = b


@kernel(
    float64(
        readonly(float64, 2), readonly(float64, 3), readonly(float64, 2), int64, writable(float64, 2), writable(float64, 2),
        writable(float64, 2), writable(int32, 2), writable(int64, 2), writable(int64, 1), writable(int64, 1),
    )
)  # fmt: skip
def generate_columns(nodes, edges, reach, patience, incoming, upper, bounds, opened, sizes, path, counts):
    """Out: incoming, upper (n + 1, L), bounds (4, n), opened (n, L), sizes (2, n), path (n,), counts (4,). Returns the score of the path.

    `edges` is (1 or n - 1, L, L) and `reach` (1 or n - 1, L); n and L are at least 1. Position n is the end, its only label 0.
    promise[t, a] is node[t, a] + reach[a], and -inf once a is opened. listed[t] has all labels that bring bounds[LOWEST, t] or more, in the
    order of what they `brought` when they were listed; no other brings more than bounds[REST, t]. upper[t + 1] knows the rows of those that
    bring bounds[PUSHED, t] or more. What a label brings is never found to be more than was thought, so lists and bounds stay right.
    """
    n, size = nodes.shape
    promise, listed, brought = np.empty((n, size)), np.empty((n, size), dtype=np.int32), np.empty((n, size))
    wanted, brings, block, nothing = np.empty(n + 1, dtype=np.int64), np.empty(size), np.empty(BLOCK), np.zeros(size)
    for k in range(counts.shape[0]):
        counts[k] = 0
    for b in range(size):
        incoming[0, b], upper[0, b] = 0.0, -np.inf
    for goal in range(n + 1):
        best, budget = 0, (goal + 1 + n // 10) * size * size // patience if patience > 0 else 2**62
        if goal < n:
            sizes[OPENED, goal] = 0
            bounds[CEILING, goal] = bounds[LOWEST, goal] = bounds[PUSHED, goal] = np.inf
            adds = nothing if goal + 1 == n else reach[goal if reach.shape[0] > 1 else 0]
            for b in range(size):
                incoming[goal + 1, b] = -np.inf
            for b in range(size):
                upper[goal + 1, b] = np.inf
            for b in range(size):
                promise[goal, b] = nodes[goal, b] + adds[b]
            for b in range(size):
                brings[b] = nodes[goal, b] + incoming[goal, b]
            most = highest(brings, block)
            while brings[best] != most:  # the best label, by what is known
                best += 1
            counts[EFFORT] += SCAN * size
        settle(
            goal, best, budget, nodes, edges, incoming, upper, promise, bounds, listed, brought, opened, sizes, wanted,
            brings, block, counts,
        )  # fmt: skip
        if counts[EFFORT] > budget:
            open_all(nodes, edges, incoming, opened, sizes)
            counts[EXHAUSTED] = 1
            break
    if incoming[n, 0] > -np.inf:
        first_best(nodes, edges, incoming, opened, sizes, path)
    return incoming[n, 0]


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """The best path and its score, -inf if there is none, and what was known at the end."""

    path: NDArray[np.int64]  # (n,)
    score: float
    n_touched: int  # transitions that were looked at, each time counted, besides those that `row_maxima` looks at
    exhausted: bool  # all labels were opened
    nodes: Scores  # (n, L)
    incoming: Scores  # (n + 1, L)
    upper: Scores  # (n + 1, L)
    ceiling: Scores  # (n,)
    opened: NDArray[np.int32]  # (n, L): of position t the first n_opened[t]
    n_opened: NDArray[np.int64]

    @property
    def values(self) -> Scores:
        """(n, L): a solution of the dual program, which proves that no path scores more than the largest of values[n - 1].

        values[0] >= node[0], and values[t + 1, b] >= values[t, a] + edge[a, b] + node[t + 1, b] for all labels.
        """
        values = self.incoming[:-1].copy()
        if not self.exhausted:
            np.maximum(values[1:], np.minimum(self.upper[1:-1], self.ceiling[:-1, None]), out=values[1:])
        for t, k in enumerate(self.n_opened):
            values[t, self.opened[t, :k]] = self.incoming[t, self.opened[t, :k]]
        return values + self.nodes


def best_chain(nodes: Scores, edges: Scores, maxima: Scores | None = None, *, patience: int = PATIENCE) -> Chain:
    """The path with the best sum of nodes (n, L) and edges (1 or n - 1, L, L); of several best ones the first in the order of labels.

    n and L are at least 1, no score is nan or +inf, and sums are exact (grid.py). `maxima`, from `row_maxima`, may be kept for all chains
    with the same edges. With `patience` 0 labels are opened one by one however many there are.
    """
    n, size = nodes.shape
    reach = row_maxima(edges) if maxima is None else maxima
    incoming, upper, bounds = np.empty((n + 1, size)), np.empty((n + 1, size)), np.empty((4, n))
    opened, sizes = np.empty((n, size), dtype=np.int32), np.empty((2, n), dtype=np.int64)
    path, counts = np.empty(n, dtype=np.int64), np.empty(4, dtype=np.int64)
    score = generate_columns(nodes, edges, reach, patience, incoming, upper, bounds, opened, sizes, path, counts)
    exhausted = bool(counts[EXHAUSTED])
    touched = (n - 1) * size * size if exhausted else int(counts[ROWS]) * size + int(counts[SINGLE])
    return Chain(path, float(score), touched, exhausted, nodes, incoming, upper, bounds[CEILING], opened, sizes[OPENED])


def row_maxima(edges: Scores) -> Scores:
    """The most that a transition out of every label adds: (1 or n - 1, L)."""
    return edges.max(axis=2)
