"""The k best hyperpaths, exactly and lazily (Huang & Chiang 2005, algorithm 3).

After one inside pass, the j-th best derivation of a vertex is found only when somebody asks for it. A derivation is a
hyperedge with a rank for every tail vertex; its successors raise one rank by one. Departures:

- A successor raises only the last raised position or one to its right, so that every rank vector has exactly one
  predecessor and no table of seen ones is needed.
- Of the hyperedges into a vertex only the k best can matter; they are selected when the vertex is first asked.
- All candidates live in one pool, and the queue of a vertex is a leftist heap in it.
- Requests wait on an explicit stack, so that depth is limited by memory only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zerogap.errors import InputError, OverlappingTails
from zerogap.grid import Scores
from zerogap.kernels import float64, int64, kernel, readonly, types, writable
from zerogap.oracles.growing_arrays import grown, grown_numbers
from zerogap.oracles.hypergraphs.best_path import (
    STARTS,
    TAIL_STARTS,
    TAILS,
    VALUES,
    Hyperpath,
    checked_scores,
    inside_chart,
    require_feasible,
)
from zerogap.structures.hypergraph import Hypergraph

NOTHING = -1
EDGE, RAISED, RANKS, LEFT, RIGHT, DEPTH, FIELDS = range(7)  # of a candidate; RAISED is the position of the last raised rank
TOP, FOUND, EXPANDED, COLUMNS = range(4)  # of an asked vertex: its heap, derivations found, and those with successors queued
INTEGERS, NUMBERS = writable(int64, 1), writable(float64, 1)


@kernel(int64(int64, int64, INTEGERS, NUMBERS, INTEGERS))
def merge(a, b, pool, score, spine):  # spine: scratch for the way down
    """The root of two leftist heaps put together; ties to the older candidate."""
    depth = 0
    while a != NOTHING and b != NOTHING:
        if score[b] > score[a] or (score[b] == score[a] and b < a):
            a, b = b, a
        spine[depth] = a
        depth += 1
        a = pool[a * FIELDS + RIGHT]
    below = a if a != NOTHING else b
    while depth > 0:
        depth -= 1
        top = spine[depth]
        left = pool[top * FIELDS + LEFT]
        left_depth = pool[left * FIELDS + DEPTH] if left != NOTHING else 0
        right_depth = pool[below * FIELDS + DEPTH] if below != NOTHING else 0
        if left_depth < right_depth:
            pool[top * FIELDS + LEFT], pool[top * FIELDS + RIGHT] = below, left
            pool[top * FIELDS + DEPTH] = left_depth + 1
        else:
            pool[top * FIELDS + RIGHT] = below
            pool[top * FIELDS + DEPTH] = right_depth + 1
        below = top
    return below


@kernel(int64(NUMBERS, int64, INTEGERS, NUMBERS))
def select(keys, k, chosen, heap):  # out: chosen (k,) positions; heap (k,) is scratch; returns how many
    """The positions of the k largest finite keys, in order of position; ties to the lowest position."""
    size = 0  # heap[:size] is a min-heap of the largest keys so far
    for key in keys:
        if key == -np.inf or (size == k and key <= heap[0]):
            continue
        if size < k:
            i = size
            size += 1
            while i > 0 and heap[(i - 1) // 2] > key:
                heap[i] = heap[(i - 1) // 2]
                i = (i - 1) // 2
        else:
            i = 0
            while 2 * i + 1 < size:
                child = 2 * i + 1
                if child + 1 < size and heap[child + 1] < heap[child]:
                    child += 1
                if heap[child] >= key:
                    break
                heap[i] = heap[child]
                i = child
        heap[i] = key
    if size == 0:
        return 0
    threshold, room = heap[0], size  # room for keys at the threshold
    for i in range(size):
        room -= heap[i] > threshold
    count = 0
    for position in range(len(keys)):
        if keys[position] > threshold or (keys[position] == threshold and room > 0):
            room -= keys[position] == threshold
            chosen[count] = position
            count += 1
    return count


@kernel(
    types.Tuple((INTEGERS, INTEGERS, INTEGERS, INTEGERS, NUMBERS))(STARTS, TAIL_STARTS, TAILS, VALUES, VALUES, VALUES, int64, int64, int64)
)
def derive(edge_start, tail_start, tails, scores, vertex_scores, inside, root, k, longest):
    """Finds the k best derivations of the root and all that they are made of.

    Returns the slot of every vertex (NOTHING if nobody asked it), the candidates found per slot and rank, the candidates,
    their ranks and their scores. `longest` is the size of the longest tail.
    """
    slot = np.full(edge_start.shape[0] - 1, NOTHING, dtype=np.int64)
    slots, found, n_slots = np.empty(64 * COLUMNS, dtype=np.int64), np.empty(64 * k, dtype=np.int64), 0
    pool, score, n_pool = np.empty(1024 * FIELDS, dtype=np.int64), np.empty(1024, dtype=np.float64), 0
    ranks, n_ranks = np.empty(4096, dtype=np.int64), 0
    asked, height, wanted = np.empty(2048, dtype=np.int64), 0, 0  # stack of requests: vertex, rank
    keys, heap, chosen = np.empty(1024, dtype=np.float64), np.empty(k, dtype=np.float64), np.empty(k, dtype=np.int64)
    spine = np.empty(128, dtype=np.int64)  # right spines are logarithmic
    while True:
        if height == 0:
            if wanted == k or (wanted > 0 and slots[slot[root] * COLUMNS + FOUND] < wanted):
                return slot, found, pool, ranks, score
            asked[0], asked[1] = root, wanted
            height = 1
            wanted += 1
        # one turn makes at most one slot, one request, and candidates for k hyperedges or for one longest tail
        slots, found = grown(slots, (n_slots + 1) * COLUMNS), grown(found, (n_slots + 1) * k)
        pool, score = grown(pool, (n_pool + k + longest) * FIELDS), grown_numbers(score, n_pool + k + longest)
        ranks, asked = grown(ranks, n_ranks + (k + longest) * longest), grown(asked, 2 * height + 2)
        v, j = asked[2 * height - 2], asked[2 * height - 1]
        if slot[v] == NOTHING:  # first asked: queue the k best hyperedges, each with all ranks 0
            slot[v] = n_slots
            slots[n_slots * COLUMNS + TOP], slots[n_slots * COLUMNS + FOUND], slots[n_slots * COLUMNS + EXPANDED] = NOTHING, 0, 0
            for rank in range(k):
                found[n_slots * k + rank] = NOTHING
            n_slots += 1
            first, last = edge_start[v], edge_start[v + 1]
            keys = grown_numbers(keys, last - first)
            for e in range(first, last):
                total = scores[e]
                for p in range(tail_start[e], tail_start[e + 1]):
                    total += inside[tails[p]]
                keys[e - first] = total + vertex_scores[v]
            for i in range(select(keys[: last - first], k, chosen, heap)):
                e = first + chosen[i]
                candidate = n_pool * FIELDS
                pool[candidate + EDGE], pool[candidate + RAISED], pool[candidate + RANKS] = e, 0, n_ranks
                pool[candidate + LEFT], pool[candidate + RIGHT], pool[candidate + DEPTH] = NOTHING, NOTHING, 1
                score[n_pool] = keys[chosen[i]]
                for _ in range(tail_start[e], tail_start[e + 1]):
                    ranks[n_ranks] = 0
                    n_ranks += 1
                slots[slot[v] * COLUMNS + TOP] = merge(slots[slot[v] * COLUMNS + TOP], n_pool, pool, score, spine)
                n_pool += 1
        s = slot[v] * COLUMNS
        if slots[s + FOUND] > j:
            height -= 1
            continue

        # the successors of the derivation found last must be queued before the next one is taken
        if slots[s + EXPANDED] < slots[s + FOUND]:
            parent = found[slot[v] * k + slots[s + FOUND] - 1] * FIELDS
            e, at = pool[parent + EDGE], pool[parent + RANKS]
            first, size = tail_start[e], tail_start[e + 1] - tail_start[e]
            missing = NOTHING
            for i in range(pool[parent + RAISED], size):
                u = tails[first + i]
                if edge_start[u] == edge_start[u + 1]:
                    continue  # a terminal has one derivation
                t = slot[u] * COLUMNS
                if slot[u] != NOTHING and (
                    slots[t + FOUND] > ranks[at + i] + 1
                    or (slots[t + TOP] == NOTHING and slots[t + FOUND] > 0 and slots[t + FOUND] == slots[t + EXPANDED])
                ):
                    continue  # its derivation of that rank is known, or known not to exist
                missing = i
                break
            if missing != NOTHING:  # ask for it first, and look again later
                asked[2 * height], asked[2 * height + 1] = tails[first + missing], ranks[at + missing] + 1
                height += 1
                continue
            slots[s + EXPANDED] = slots[s + FOUND]
            for i in range(pool[parent + RAISED], size):
                u = tails[first + i]
                if edge_start[u] == edge_start[u + 1] or slots[slot[u] * COLUMNS + FOUND] <= ranks[at + i] + 1:
                    continue
                total = scores[e]
                for p in range(size):
                    rank = ranks[at + p] + (1 if p == i else 0)
                    ranks[n_ranks + p] = rank
                    w = tails[first + p]
                    total += inside[w] if rank == 0 else score[found[slot[w] * k + rank]]
                candidate = n_pool * FIELDS
                pool[candidate + EDGE], pool[candidate + RAISED], pool[candidate + RANKS] = e, i, n_ranks
                pool[candidate + LEFT], pool[candidate + RIGHT], pool[candidate + DEPTH] = NOTHING, NOTHING, 1
                score[n_pool] = total + vertex_scores[v]
                n_ranks += size
                slots[s + TOP] = merge(slots[s + TOP], n_pool, pool, score, spine)
                n_pool += 1
        best = slots[s + TOP]
        if best == NOTHING:
            height -= 1  # v has no more derivations
            continue
        slots[s + TOP] = merge(pool[best * FIELDS + LEFT], pool[best * FIELDS + RIGHT], pool, score, spine)
        found[slot[v] * k + slots[s + FOUND]] = best
        slots[s + FOUND] += 1


@kernel(
    INTEGERS(
        STARTS, TAIL_STARTS, TAILS, readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(int64, 1),
        int64, int64, int64,
    )
)  # fmt: skip
def write_path(edge_start, tail_start, tails, back, slot, found, pool, ranks, root, k, path):
    """The hyperedges of the derivation of a rank, top first and left to right."""
    edges, n_edges = np.empty(256, dtype=np.int64), 0
    waiting, height = np.empty(256, dtype=np.int64), 1
    waiting[0], waiting[1] = root, path
    while height > 0:
        height -= 1
        v, j = waiting[2 * height], waiting[2 * height + 1]
        if edge_start[v] == edge_start[v + 1]:
            continue
        e, at = back[v], NOTHING  # a vertex that nobody asked is only ever used with its best derivation
        if slot[v] != NOTHING:
            candidate = found[slot[v] * k + j] * FIELDS
            e, at = pool[candidate + EDGE], pool[candidate + RANKS]
        if n_edges == edge_start.shape[0]:
            return edges[:0]  # more than a tree has: a vertex is used twice
        edges = grown(edges, n_edges + 1)
        edges[n_edges] = e
        n_edges += 1
        size = tail_start[e + 1] - tail_start[e]
        waiting = grown(waiting, 2 * (height + size))
        for i in range(size - 1, -1, -1):
            waiting[2 * height], waiting[2 * height + 1] = tails[tail_start[e] + i], ranks[at + i] if at != NOTHING else 0
            height += 1
    return edges[:n_edges]


def k_best_paths(hypergraph: Hypergraph, scores: ArrayLike, k: int, *, vertex_scores: ArrayLike | None = None) -> list[Hyperpath]:
    """The k highest-scoring hyperpaths, best first; all of them if there are fewer. Infeasible if there is none."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"k is {k!r}: expected a positive integer.")
    weights, above = checked_scores(hypergraph, scores, vertex_scores)
    inside, back = inside_chart(hypergraph, weights, above)
    require_feasible(inside[hypergraph.root])
    return k_best_of_chart(hypergraph, weights, above, inside, back, int(k))


def k_best_of_chart(
    hypergraph: Hypergraph, scores: Scores, vertex_scores: Scores, inside: Scores, back: NDArray[np.int64], k: int
) -> list[Hyperpath]:
    """The k best hyperpaths, given the chart and back-pointers of `inside_chart`, whose root is feasible."""
    arrays = hypergraph.edge_start, hypergraph.tail_start, hypergraph.tails
    longest = int(np.diff(hypergraph.tail_start).max())
    root = hypergraph.root
    slot, found, pool, ranks, score = derive(*arrays, scores, vertex_scores, inside, root, k, longest)
    if len(write_path(*arrays, back, slot, found, pool, ranks, root, k, 0)) == 0:
        raise OverlappingTails("a hyperpath uses a vertex more than once: the tails of the hypergraph overlap.")
    best = found[slot[root] * k : (slot[root] + 1) * k]
    return [
        Hyperpath(write_path(*arrays, back, slot, found, pool, ranks, root, k, path), float(score[candidate]))
        for path, candidate in enumerate(best[best != NOTHING])
    ]
