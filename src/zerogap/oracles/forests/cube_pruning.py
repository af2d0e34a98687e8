"""Cube pruning: the best few pieces of every vertex of a translation forest, found from the best few of the vertices below (Chiang 2007).

A piece has a left end, a state and a score (see zerogap.oracles.ngrams.boundaries); pieces of one vertex with the same ends are one, the
best of them. Candidates of all hyperedges into a vertex wait in one heap, by score and an estimate of the words that wait at the left end;
each that is taken out puts in those with the next piece of one vertex below. After `limit` candidates the vertex is done. This is a
heuristic: what it returns is a derivation, not a proof.

The lazy form (Huang & Chiang 2007, section 3) does not score a hyperedge before it is its turn: until then it waits with the scores of
the best pieces below it and no language model between them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import boolean, float64, inner, int32, int64, kernel, readonly, record, types, writable
from zerogap.oracles.ngrams.boundaries import BOUNDARY_TYPES, EMPTY_PIECE, Boundaries, finish, read_piece, read_word


class ForestArrays(NamedTuple):
    """A forest whose words are those of a language model; hyperedges into a vertex come after those below it."""

    edge_start: NDArray[np.int64]  # (vertices + 1,): hyperedges into vertex v are edge_start[v] to edge_start[v + 1]
    symbol_start: NDArray[np.int32]  # (edges + 1,): their target sides
    symbols: NDArray[np.int32]  # a word, or -1 - vertex
    scores: Scores  # (edges,)


class Pieces(NamedTuple):
    """Pieces by vertex, the best first, with the hyperedge of each and the pieces below it in the order of its target side."""

    start: NDArray[np.int64]  # (vertices + 1,)
    lefts: NDArray[np.int32]
    states: NDArray[np.int32]
    scores: Scores
    edges: NDArray[np.int32]
    below: NDArray[np.int32]  # (pieces, largest number of vertices in a target side)


FOREST = record(ForestArrays, readonly(int64, 1), readonly(int32, 1), readonly(int32, 1), readonly(float64, 1))
PIECES = record(
    Pieces, writable(int64, 1), writable(int32, 1), writable(int32, 1), writable(float64, 1), writable(int32, 1), writable(int32, 2)
)
LM, ENDS = types.Tuple(BOUNDARY_TYPES), types.UniTuple(int64, 2)


@inner
def push(heap_keys, heap_ids, size, key, number):
    """Adds an entry to a heap, the largest key on top, ties to the lowest number."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if heap_keys[above] > key or (heap_keys[above] == key and heap_ids[above] < number):
            break
        heap_keys[at], heap_ids[at] = heap_keys[above], heap_ids[above]
        at = above
    heap_keys[at], heap_ids[at] = key, number


@inner
def pop(heap_keys, heap_ids, size):
    """Takes the top out of a heap of so many entries; the caller has read it."""
    key, number = heap_keys[size - 1], heap_ids[size - 1]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size - 1:
            break
        right = child + 1
        if right < size - 1 and (
            heap_keys[right] > heap_keys[child] or (heap_keys[right] == heap_keys[child] and heap_ids[right] < heap_ids[child])
        ):
            child = right
        if key > heap_keys[child] or (key == heap_keys[child] and number < heap_ids[child]):
            break
        heap_keys[at], heap_ids[at] = heap_keys[child], heap_ids[child]
        at = child
    heap_keys[at], heap_ids[at] = key, number


@inner
def waiting_score(left, lm):
    """An estimate of what the words at a left end will score: with nothing before them."""
    return lm[12][left] if left > 0 else 0.0


@inner
def piece_of(symbol_start, symbols, scores, e, below, lefts, states, piece_scores, lm):
    """(left, state, score) of a hyperedge over pieces of the vertices in its target side."""
    left, state, score = np.int64(EMPTY_PIECE), np.int64(0), scores[e]
    t = 0
    for p in range(symbol_start[e], symbol_start[e + 1]):
        if symbols[p] >= 0:
            left, state, more = read_word(left, state, np.int64(symbols[p]), lm)
        else:
            i = below[t]
            t += 1
            left, state, more = read_piece(left, state, np.int64(lefts[i]), np.int64(states[i]), lm)
            score += piece_scores[i]
        score += more
    return left, state, score


@kernel(int64(FOREST, LM, ENDS, int64, boolean, PIECES))
def cube_prune(forest, lm, ends, limit, lazy, pieces):  # out: pieces
    """The best piece of the root by its finished score, or -1. `ends`: the state before a sentence, and the word after it."""
    edge_start, symbol_start, symbols, scores = forest
    first, lefts, states, piece_scores, edges, below = pieces
    n_vertices, arity = edge_start.shape[0] - 1, below.shape[1]
    most_edges = 0
    for v in range(n_vertices):
        most_edges = max(most_edges, edge_start[v + 1] - edge_start[v])
    room = most_edges + limit * max(arity, 1) + 1
    heap_keys, heap_ids = np.empty(room), np.empty(room, dtype=np.int64)
    c_edge, c_ranks = np.empty(room, dtype=np.int64), np.empty((room, max(arity, 1)), dtype=np.int64)
    c_left, c_state, c_score = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64), np.empty(room)
    c_scored = np.empty(room, dtype=np.bool_)
    pieces_below = np.empty(max(arity, 1), dtype=np.int64)
    n_slots = 4
    while n_slots < 2 * limit:
        n_slots *= 2
    slot_piece = np.full(n_slots, -1, dtype=np.int64)
    ahead = np.empty(piece_scores.shape[0])  # scores of pieces with the estimate of what waits
    n_pieces = 0
    for v in range(n_vertices):
        first[v] = n_pieces
        slot_piece[:] = -1
        n_heap, n_candidates = 0, 0
        for e in range(edge_start[v], edge_start[v + 1]):
            t, possible, sketch = 0, scores[e] > -np.inf, scores[e]
            for p in range(symbol_start[e], symbol_start[e + 1]):
                if symbols[p] < 0:
                    u = -1 - symbols[p]
                    if first[u] == first[u + 1]:
                        possible = False
                        break
                    pieces_below[t] = first[u]
                    sketch += ahead[first[u]]
                    t += 1
                elif lazy:
                    sketch += lm[2][symbols[p]]
            if not possible:
                continue
            c = n_candidates
            n_candidates += 1
            c_edge[c] = e
            c_ranks[c, :] = 0
            c_scored[c] = not lazy
            if not lazy:
                c_left[c], c_state[c], c_score[c] = piece_of(
                    symbol_start, symbols, scores, e, pieces_below, lefts, states, piece_scores, lm
                )
                sketch = c_score[c] + waiting_score(c_left[c], lm)
            push(heap_keys, heap_ids, n_heap, sketch, c)
            n_heap += 1
        popped = 0
        while n_heap > 0 and popped < limit:
            c = heap_ids[0]
            pop(heap_keys, heap_ids, n_heap)
            n_heap -= 1
            e = c_edge[c]
            t = 0
            for p in range(symbol_start[e], symbol_start[e + 1]):
                if symbols[p] < 0:
                    pieces_below[t] = first[-1 - symbols[p]] + c_ranks[c, t]
                    t += 1
            n_below = t
            if not c_scored[c]:
                c_scored[c] = True
                c_left[c], c_state[c], c_score[c] = piece_of(
                    symbol_start, symbols, scores, e, pieces_below, lefts, states, piece_scores, lm
                )
                push(heap_keys, heap_ids, n_heap, c_score[c] + waiting_score(c_left[c], lm), c)
                n_heap += 1
                continue
            popped += 1
            slot = ((c_left[c] + 2) * 1000003 + c_state[c] * 7919) & (n_slots - 1)
            while slot_piece[slot] >= 0 and (lefts[slot_piece[slot]] != c_left[c] or states[slot_piece[slot]] != c_state[c]):
                slot = (slot + 1) & (n_slots - 1)
            i = slot_piece[slot]
            if i < 0 or c_score[c] > piece_scores[i]:
                if i < 0:
                    i = n_pieces
                    n_pieces += 1
                    slot_piece[slot] = i
                    lefts[i], states[i] = c_left[c], c_state[c]
                piece_scores[i], edges[i] = c_score[c], e
                for t in range(arity):
                    below[i, t] = pieces_below[t] if t < n_below else -1
            t = 0
            last = 0  # vectors of ranks are reached one way only: by raising a place that nothing raised comes after
            for k in range(n_below):
                if c_ranks[c, k] > 0:
                    last = k
            for p in range(symbol_start[e], symbol_start[e + 1]):
                if symbols[p] >= 0:
                    continue
                u = -1 - symbols[p]
                if t >= last and pieces_below[t] + 1 < first[u + 1]:
                    d = n_candidates
                    n_candidates += 1
                    c_edge[d] = e
                    c_scored[d] = True
                    c_ranks[d, :] = c_ranks[c, :]
                    c_ranks[d, t] += 1
                    pieces_below[t] += 1
                    c_left[d], c_state[d], c_score[d] = piece_of(
                        symbol_start, symbols, scores, e, pieces_below, lefts, states, piece_scores, lm
                    )
                    pieces_below[t] -= 1
                    push(heap_keys, heap_ids, n_heap, c_score[d] + waiting_score(c_left[d], lm), d)
                    n_heap += 1
                t += 1
        begin = first[v]
        for i in range(begin, n_pieces):
            ahead[i] = piece_scores[i] + waiting_score(np.int64(lefts[i]), lm)
        order = np.argsort(-ahead[begin:n_pieces], kind="mergesort")
        ahead[begin:n_pieces] = ahead[begin:n_pieces][order]
        lefts[begin:n_pieces] = lefts[begin:n_pieces][order]
        states[begin:n_pieces] = states[begin:n_pieces][order]
        piece_scores[begin:n_pieces] = piece_scores[begin:n_pieces][order]
        edges[begin:n_pieces] = edges[begin:n_pieces][order]
        for k in range(arity):
            below[begin:n_pieces, k] = below[begin:n_pieces, k][order]
        first[v + 1] = n_pieces
    best, argmax = -np.inf, -1
    for i in range(first[n_vertices - 1], n_pieces):
        score = piece_scores[i] + finish(np.int64(lefts[i]), np.int64(states[i]), ends[0], ends[1], lm)
        if score > best:
            best, argmax = score, i
    return argmax


def cube_pruned(
    forest: ForestArrays, lm: Boundaries, ends: tuple[int, int], arity: int, *, limit: int, lazy: bool = False
) -> tuple[Pieces, int]:
    """The pieces of every vertex, and the best one of the root, -1 if there is none. Words of the forest are those of the model."""
    n_vertices = len(forest.edge_start) - 1
    size = n_vertices * limit
    lefts, states, edges = (np.empty(size, dtype=np.int32) for _ in range(3))
    below = np.full((size, arity), -1, dtype=np.int32)
    pieces = Pieces(np.zeros(n_vertices + 1, dtype=np.int64), lefts, states, np.empty(size), edges, below)
    return pieces, int(cube_prune(forest, tuple(lm), ends, limit, lazy, pieces))


def derivation_of(pieces: Pieces, piece: int) -> tuple[int, ...]:
    """The hyperedges of a piece from the top down, left to right."""
    edges, waiting = [], [piece]
    while waiting:
        i = waiting.pop()
        edges.append(int(pieces.edges[i]))
        waiting.extend(b for b in pieces.below[i].tolist()[::-1] if b >= 0)
    return tuple(edges)
