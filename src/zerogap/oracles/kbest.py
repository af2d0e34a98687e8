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
from numpy.typing import ArrayLike

from zerogap.errors import InputError
from zerogap.oracles.compile import float64, inner, int64, kernel, readonly, types, writable
from zerogap.oracles.hypergraph import (
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
EDGE, RAISED, RANKS, LEFT, RIGHT, DEPTH = range(6)  # fields of a candidate; RAISED is the position of the last raised rank
TOP, FOUND, EXPANDED = range(3)  # fields of an asked vertex: its heap, derivations found, and those with successors queued


@inner
def grown(array, size):
    """`array` with room for at least `size` entries."""
    if size <= array.shape[0]:
        return array
    larger = np.empty((max(size, 2 * array.shape[0]), array.shape[1]), dtype=array.dtype)
    larger[: array.shape[0]] = array
    return larger


@inner
def merge(a, b, pool, score, spine):  # spine: scratch for the way down
    """The root of two leftist heaps put together; ties to the older candidate."""
    depth = 0
    while a != NOTHING and b != NOTHING:
        if score[b, 0] > score[a, 0] or (score[b, 0] == score[a, 0] and b < a):
            a, b = b, a
        spine[depth] = a
        depth += 1
        a = pool[a, RIGHT]
    below = a if a != NOTHING else b
    while depth > 0:
        depth -= 1
        top = spine[depth]
        pool[top, RIGHT] = below
        left = pool[top, LEFT]
        left_depth = pool[left, DEPTH] if left != NOTHING else 0
        right_depth = pool[below, DEPTH] if below != NOTHING else 0
        if left_depth < right_depth:
            pool[top, LEFT], pool[top, RIGHT] = below, left
            right_depth = left_depth
        pool[top, DEPTH] = right_depth + 1
        below = top
    return below


@inner
def select(keys, k, chosen):  # out: chosen[:count]; returns count
    """The positions of the k largest finite keys, in order of position; ties to the lowest position."""
    threshold, room = -np.inf, keys.shape[0]
    if keys.shape[0] > k:
        threshold = np.partition(keys, keys.shape[0] - k)[keys.shape[0] - k]  # the k-th largest
        room = k  # for keys at the threshold
        for key in keys:
            room -= key > threshold
    count = 0
    for i in range(keys.shape[0]):
        if keys[i] > threshold or (keys[i] == threshold > -np.inf and room > 0):
            room -= keys[i] == threshold
            chosen[count] = i
            count += 1
    return count


@kernel(
    types.UniTuple(types.Array(int64, 1, "C"), 2)(
        STARTS, TAIL_STARTS, TAILS, VALUES, VALUES, VALUES, readonly(int64, 1), int64, int64, writable(float64, 1)
    )
)
def k_best(edge_start, tail_start, tails, scores, vertex_scores, inside, back, root, k, best_scores):  # out: best_scores (k,)
    """Returns the hyperedges of all paths, one after the other, and where each begins."""
    slot = np.full(edge_start.shape[0] - 1, NOTHING, dtype=np.int32)
    n_slots = 0
    slots = np.empty((64, 3), dtype=np.int64)
    found = np.empty((64, k), dtype=np.int64)  # per slot and rank: a candidate
    n_pool = 0
    pool = np.empty((1024, 6), dtype=np.int64)
    score = np.empty((1024, 1), dtype=np.float64)
    n_ranks = 0
    ranks = np.empty((4096, 1), dtype=np.int64)
    spine = np.empty(128, dtype=np.int64)  # right spines are logarithmic

    asked = np.empty((1024, 2), dtype=np.int64)  # stack of requests: vertex, rank
    height, wanted = 0, 0
    while True:
        if height == 0:
            if wanted == k or (wanted > 0 and slots[slot[root], FOUND] < wanted):
                break
            asked[0, 0], asked[0, 1] = root, wanted
            height = 1
            wanted += 1
        v, j = asked[height - 1, 0], asked[height - 1, 1]
        s = slot[v]
        if s == NOTHING:  # first asked: queue the k best hyperedges, each with all ranks 0
            s = n_slots
            slot[v] = s
            n_slots += 1
            slots, found = grown(slots, n_slots), grown(found, n_slots)
            slots[s, TOP], slots[s, FOUND], slots[s, EXPANDED] = NOTHING, 0, 0
            first, last = edge_start[v], edge_start[v + 1]
            keys = np.empty(last - first, dtype=np.float64)
            for e in range(first, last):
                total = scores[e]
                for p in range(tail_start[e], tail_start[e + 1]):
                    total += inside[tails[p]]
                keys[e - first] = total + vertex_scores[v]
            chosen = np.empty(min(k, last - first), dtype=np.int64)
            for i in range(select(keys, k, chosen)):
                e = first + chosen[i]
                size = tail_start[e + 1] - tail_start[e]
                pool, score, ranks = grown(pool, n_pool + 1), grown(score, n_pool + 1), grown(ranks, n_ranks + size)
                pool[n_pool, EDGE], pool[n_pool, RAISED], pool[n_pool, RANKS] = e, 0, n_ranks
                pool[n_pool, LEFT], pool[n_pool, RIGHT], pool[n_pool, DEPTH] = NOTHING, NOTHING, 1
                score[n_pool, 0] = keys[chosen[i]]
                ranks[n_ranks : n_ranks + size] = 0
                n_ranks += size
                slots[s, TOP] = merge(slots[s, TOP], n_pool, pool, score, spine)
                n_pool += 1
        if slots[s, FOUND] > j:
            height -= 1
            continue

        # the successors of the derivation found last must be queued before the next one is taken
        if slots[s, EXPANDED] < slots[s, FOUND]:
            parent = found[s, slots[s, FOUND] - 1]
            e = pool[parent, EDGE]
            size = tail_start[e + 1] - tail_start[e]
            missing = NOTHING
            for i in range(pool[parent, RAISED], size):
                u = tails[tail_start[e] + i]
                t = slot[u]
                if edge_start[u] == edge_start[u + 1]:
                    continue  # a terminal has one derivation
                exhausted = t != NOTHING and slots[t, TOP] == NOTHING and 0 < slots[t, FOUND] == slots[t, EXPANDED]
                if t == NOTHING or (slots[t, FOUND] <= ranks[pool[parent, RANKS] + i, 0] + 1 and not exhausted):
                    missing = i
                    break
            if missing != NOTHING:  # ask for it first, and look again later
                asked = grown(asked, height + 1)
                asked[height, 0] = tails[tail_start[e] + missing]
                asked[height, 1] = ranks[pool[parent, RANKS] + missing, 0] + 1
                height += 1
                continue
            slots[s, EXPANDED] = slots[s, FOUND]
            for i in range(pool[parent, RAISED], size):
                u = tails[tail_start[e] + i]
                if edge_start[u] == edge_start[u + 1] or slots[slot[u], FOUND] <= ranks[pool[parent, RANKS] + i, 0] + 1:
                    continue  # u has no derivation of that rank
                pool, score, ranks = grown(pool, n_pool + 1), grown(score, n_pool + 1), grown(ranks, n_ranks + size)
                total = scores[e]
                for p in range(size):
                    rank = ranks[pool[parent, RANKS] + p, 0] + (p == i)
                    ranks[n_ranks + p, 0] = rank
                    w = tails[tail_start[e] + p]
                    total += inside[w] if rank == 0 else score[found[slot[w], rank], 0]
                pool[n_pool, EDGE], pool[n_pool, RAISED], pool[n_pool, RANKS] = e, i, n_ranks
                pool[n_pool, LEFT], pool[n_pool, RIGHT], pool[n_pool, DEPTH] = NOTHING, NOTHING, 1
                score[n_pool, 0] = total + vertex_scores[v]
                n_ranks += size
                slots[s, TOP] = merge(slots[s, TOP], n_pool, pool, score, spine)
                n_pool += 1
        best = slots[s, TOP]
        if best == NOTHING:
            height -= 1  # v has no more derivations
            continue
        slots[s, TOP] = merge(pool[best, LEFT], pool[best, RIGHT], pool, score, spine)
        found[s, slots[s, FOUND]] = best
        slots[s, FOUND] += 1

    # write the paths down, top first and left to right
    n_paths = slots[slot[root], FOUND]
    begins = np.zeros(n_paths + 1, dtype=np.int64)
    edges = np.empty((1024, 1), dtype=np.int64)
    n_edges = 0
    for path in range(n_paths):
        best_scores[path] = score[found[slot[root], path], 0]
        asked[0, 0], asked[0, 1] = root, path
        height = 1
        while height > 0:
            height -= 1
            v, j = asked[height, 0], asked[height, 1]
            if edge_start[v] == edge_start[v + 1]:
                continue
            e, at = back[v], NOTHING  # a vertex that nobody asked is only ever used with its best derivation
            if slot[v] != NOTHING:
                e, at = pool[found[slot[v], j], EDGE], pool[found[slot[v], j], RANKS]
            edges = grown(edges, n_edges + 1)
            edges[n_edges, 0] = e
            n_edges += 1
            size = tail_start[e + 1] - tail_start[e]
            asked = grown(asked, height + size)
            for i in range(size - 1, -1, -1):
                asked[height, 0] = tails[tail_start[e] + i]
                asked[height, 1] = ranks[at + i, 0] if at != NOTHING else 0
                height += 1
        begins[path + 1] = n_edges
    return edges[:n_edges, 0].copy(), begins


def k_best_paths(
    hypergraph: Hypergraph, scores: ArrayLike, k: int, *, vertex_scores: ArrayLike | None = None
) -> list[Hyperpath]:
    """The k highest-scoring hyperpaths, best first; all of them if there are fewer. Infeasible if there is none."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"k is {k!r}: expected a positive integer.")
    weights, above = checked_scores(hypergraph, scores, vertex_scores)
    inside, back = inside_chart(hypergraph, weights, above)
    require_feasible(inside[hypergraph.root])
    found = np.empty(k)
    arrays = hypergraph.edge_start, hypergraph.tail_start, hypergraph.tails
    edges, begins = k_best(*arrays, weights, above, inside, back, hypergraph.root, k, found)
    return [Hyperpath(edges[begins[i] : begins[i + 1]], float(found[i])) for i in range(len(begins) - 1)]
