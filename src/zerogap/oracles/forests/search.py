"""The intersection of a forest with a language model: all pieces of every vertex, or all that may be part of something better than known.

Bar-Hillel et al. 1961 in the form of Rush 2014, sections 5.4 and 7.4: a piece is a vertex with the ends that the model must know (see
zerogap.oracles.ngrams.boundaries), and of several with the same ends the best one stands for all. With prices (see
zerogap.oracles.forests.end_prices), a piece is kept only if its score, its prices and the bound on what is around its two tokens come to
more than the threshold. Without a beam this finds all that there is; a beam keeps so many pieces of every vertex, those that lose the least
(Rush 2014, algorithm 10), and tells whether it left any out.

Target sides are read from left to right. What was read so far is a piece too, bounded by the relaxation of what is left; those with the
same ends are one, unless all ways to make pieces are asked for, as the k best derivations need them. Pieces of a vertex are grouped by
their left ends, so that what stands before them is scored once for each group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import boolean, float64, inner, int32, int64, kernel, readonly, record, writable
from zerogap.oracles.forests.cube_pruning import ENDS, FOREST, LM
from zerogap.oracles.ngrams.boundaries import EMPTY_PIECE, finish, read_piece, read_word

TOO_MANY, PAUSED = -2, -3


class Around(NamedTuple):
    """What prices say of a forest; tables are -inf for tokens that a vertex does not have."""

    alive: NDArray[np.bool_]  # (edges,)
    inside: Scores  # (vertices,)
    outside: Scores
    worth: Scores  # (terms,): see zerogap.oracles.forests.gap_terms
    after: Scores  # (vertices, tokens): the most that a vertex' first word scores after a token
    highest: Scores  # (tokens, tokens)
    first_prices: Scores  # (vertices, tokens)
    last_prices: Scores
    around_first: Scores
    around_last: Scores
    waiting: Scores  # (lefts + 1,): a bound on what waits but for the first word, the empty piece last
    last_token: NDArray[np.int32]  # (states,)


class Store(NamedTuple):
    """Pieces as they are found, by vertex, with the hyperedge of each and the pieces below it."""

    first: NDArray[np.int64]  # (vertices,)
    last: NDArray[np.int64]
    lefts: NDArray[np.int32]
    states: NDArray[np.int32]
    scores: Scores
    edges: NDArray[np.int32]
    below: NDArray[np.int32]

    @classmethod
    def empty(cls, n_vertices: int, arity: int, size: int) -> Store:
        ranges = np.zeros(n_vertices, dtype=np.int64), np.zeros(n_vertices, dtype=np.int64)
        ids = [np.empty(size, dtype=np.int32) for _ in range(3)]
        return cls(*ranges, ids[0], ids[1], np.empty(size), ids[2], np.empty((size, arity), dtype=np.int32))

    def grown(self, size: int) -> Store:
        """The same pieces with room for more."""
        wider = Store.empty(len(self.first), self.below.shape[1], size)
        for k in range(2, len(self)):
            wider[k][: len(self[k])] = self[k]
        return Store(self.first, self.last, *wider[2:])


class Ways(NamedTuple):
    """All ways to make pieces: the hyperedge, the pieces below, -1 for none, and what is not scored below."""

    pieces: NDArray[np.int32]
    edges: NDArray[np.int32]
    scores: Scores
    below: NDArray[np.int32]

    @classmethod
    def empty(cls, arity: int, size: int) -> Ways:
        return cls(np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size), np.empty((size, arity), dtype=np.int32))


class Limits(NamedTuple):
    """What a search looks for, and how far it goes."""

    threshold: float  # derivations that score more
    budget: int  # how often the model is asked about a piece before a pause
    width: int  # pieces of a vertex


class Groups(NamedTuple):
    """Pieces of a vertex by their left ends: those of group g are members[first[g]] to members[last[g]], the best first."""

    members: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    left: NDArray[np.int64]


AROUND = record(
    Around, readonly(boolean, 1), readonly(float64, 1), readonly(float64, 1), readonly(float64, 1), readonly(float64, 2),
    readonly(float64, 2), readonly(float64, 2), readonly(float64, 2), readonly(float64, 2), readonly(float64, 2), readonly(float64, 1),
    readonly(int32, 1),
)  # fmt: skip
STORE = record(
    Store, writable(int64, 1), writable(int64, 1), writable(int32, 1), writable(int32, 1), writable(float64, 1), writable(int32, 1),
    writable(int32, 2),
)  # fmt: skip
WAYS = record(Ways, writable(int32, 1), writable(int32, 1), writable(float64, 1), writable(int32, 2))
LIMITS = record(Limits, float64, int64, int64)


@inner
def first_of_left(left, lm):
    """The word that a left end begins with, or the number of words if nothing waits."""
    return np.int64(lm[8][left]) if left > 0 else np.int64(lm[2].shape[0])


@inner
def slot_of(left, state, n_slots):
    mixed = (np.uint64(left + 2) * np.uint64(0x9E3779B97F4A7C15)) ^ (np.uint64(state) * np.uint64(0xC2B2AE3D27D4EB4F))
    return np.int64((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(8)) & (n_slots - 1)


@inner
def longer(array, size):
    """A copy of an array with room for twice as many entries, at least `size`."""
    grown = np.empty(max(2 * array.shape[0], size), dtype=array.dtype)
    grown[: array.shape[0]] = array
    return grown


@inner
def merge(n, lefts, states, scores, below, arity, slots):
    """Of read-so-far pieces with the same ends, keeps the best in the place of the first; returns how many are left."""
    n_slots = 16
    while n_slots < 2 * n:
        n_slots *= 2
    if n_slots > slots.shape[0]:
        slots = np.empty(n_slots, dtype=np.int64)
    slots[:n_slots] = -1
    kept = 0
    for i in range(n):
        slot = slot_of(lefts[i], states[i], n_slots)
        while slots[slot] >= 0 and (lefts[slots[slot]] != lefts[i] or states[slots[slot]] != states[i]):
            slot = (slot + 1) & (n_slots - 1)
        j = slots[slot]
        if j < 0:
            j = kept
            kept += 1
            slots[slot] = j
        elif not scores[i] > scores[j]:
            continue
        lefts[j], states[j], scores[j] = lefts[i], states[i], scores[i]
        for k in range(arity):
            below[j * arity + k] = below[i * arity + k]
    return kept, slots


@inner
def rest_of_edge(symbol_start, symbols, e, term, inside, worth, rest):
    """rest[k]: the most that comes after the k-th vertex of a target side, with prices, if it ends as suits what comes."""
    k = 0
    for p in range(symbol_start[e], symbol_start[e + 1]):
        k += symbols[p] < 0
    total = 0.0
    at = k
    for p in range(symbol_start[e + 1] - 1, symbol_start[e] - 1, -1):
        if symbols[p] < 0:
            total += worth[term + at]
            at -= 1
            rest[at] = total
            total += inside[-1 - symbols[p]]


@inner
def group_pieces(begin, end, lefts, losses, room, groups, n_members, n_groups):
    """Groups pieces begin .. end that lose less than `room`, and the groups by their best; returns grown arrays and counts."""
    members, group_first, group_last, group_left = groups
    found = np.empty(end - begin, dtype=np.int64)
    n = 0
    for j in range(begin, end):
        if losses[j] < room:
            found[n] = j
            n += 1
    found = found[:n]
    found = found[np.argsort(losses[begin:end][found - begin], kind="mergesort")]
    found = found[np.argsort(lefts[begin:end][found - begin], kind="mergesort")]
    if n_members + n > members.shape[0]:
        members = longer(members, n_members + n)
    base = n_groups
    for i in range(n):
        members[n_members + i] = found[i]
        if i == 0 or lefts[found[i]] != lefts[found[i - 1]]:
            if n_groups == group_first.shape[0]:
                group_first, group_last, group_left = longer(group_first, 0), longer(group_last, 0), longer(group_left, 0)
            group_first[n_groups], group_left[n_groups] = n_members + i, lefts[found[i]]
            n_groups += 1
        group_last[n_groups - 1] = n_members + i + 1
    least = np.empty(n_groups - base)
    for g in range(base, n_groups):
        least[g - base] = losses[members[group_first[g]]]
    order = np.argsort(least, kind="mergesort")
    group_first[base:n_groups] = group_first[base:n_groups][order]
    group_last[base:n_groups] = group_last[base:n_groups][order]
    group_left[base:n_groups] = group_left[base:n_groups][order]
    return Groups(members, group_first, group_last, group_left), n_members + n, n_groups


@kernel(int64(FOREST, AROUND, LM, ENDS, readonly(int64, 1), LIMITS, STORE, WAYS, writable(int64, 1)))
def search_pieces(forest, known, lm, ends, order, limits, store, ways, counts):  # out: store, ways (if there is room for any), counts
    """The best piece of the root by its finished score, -1 if there is none, TOO_MANY if they do not fit, PAUSED if the model was asked
    more often than the budget: then the last vertex is not done.

    `order` are all vertices, what is below a vertex before it. `counts` (5,): how often the model was asked about a piece; vertices that
    are done, and their pieces, which a search goes on from; pieces that did not fit the beam (added to); ways of vertices that are done.
    """
    edge_start, symbol_start, symbols, scores = forest
    alive, inside, outside, worth, after, highest, first_prices, last_prices, around_first, around_last, waiting, last_token = known
    first, last, lefts, states, piece_scores, edges, below = store
    way_pieces, way_edges, way_scores, way_below = ways
    threshold, budget, width = limits
    done, n_pieces = counts[1], counts[2]
    n_vertices, arity, n_words = edge_start.shape[0] - 1, below.shape[1], lm[2].shape[0]
    size = lefts.shape[0]
    losses = np.empty(size)
    group_start, group_end = np.zeros(n_vertices, dtype=np.int64), np.zeros(n_vertices, dtype=np.int64)
    groups = Groups(
        np.empty(4096, dtype=np.int64), np.empty(1024, dtype=np.int64), np.empty(1024, dtype=np.int64), np.empty(1024, dtype=np.int64)
    )
    n_groups, n_members = 0, 0
    for k in range(done):
        v = order[k]
        for j in range(first[v], last[v]):
            left = np.int64(lefts[j])
            priced = piece_scores[j] + waiting[left] + first_prices[v, first_of_left(left, lm)] + last_prices[v, last_token[states[j]]]
            losses[j] = inside[v] - priced
        group_start[v] = n_groups
        room = inside[v] + outside[v] - threshold
        groups, n_members, n_groups = group_pieces(first[v], last[v], lefts, losses, room, groups, n_members, n_groups)
        group_end[v] = n_groups
    longest = 0
    for e in range(symbol_start.shape[0] - 1):
        longest = max(longest, symbol_start[e + 1] - symbol_start[e])
    rest = np.empty(longest + 1)
    terms = np.empty(symbol_start.shape[0] - 1, dtype=np.int64)
    n_terms = 0
    for e in range(terms.shape[0]):
        terms[e] = n_terms
        for p in range(symbol_start[e], symbol_start[e + 1]):
            n_terms += symbols[p] < 0
        n_terms += 1
    n_nodes = lm[9].shape[0] - 1
    # what was read so far, and the same with one symbol more
    a_left, a_state, a_score, a_below = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64), np.empty(64 * arity + 1, np.int64)
    b_left, b_state, b_score, b_below = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64), np.empty(64 * arity + 1, np.int64)
    slots = np.empty(64, dtype=np.int64)
    tried = 0
    all_ways = way_pieces.shape[0] > 0
    n_ways = counts[4]
    for at in range(done, n_vertices):
        v = order[at]
        begin = n_pieces
        counts[0], counts[1], counts[2], counts[4] = tried, at, n_pieces, n_ways
        first[v], last[v] = begin, begin
        if outside[v] == -np.inf:
            continue
        members, group_first, group_last, group_left = groups
        n_slots = 64
        piece_slots = np.full(n_slots, -1, dtype=np.int64)
        for e in range(edge_start[v], edge_start[v + 1]):
            if not alive[e] or scores[e] == -np.inf:
                continue
            if tried > budget:
                return PAUSED
            rest_of_edge(symbol_start, symbols, e, terms[e], inside, worth, rest)
            a, z = symbol_start[e], symbol_start[e + 1]
            n, k = 1, 0
            a_left[0], a_state[0], a_score[0] = EMPTY_PIECE, 0, scores[e]
            for p in range(a, z):
                s = symbols[p]
                if s >= 0:
                    if k == 0:
                        a_left[0], a_state[0], more = read_word(a_left[0], a_state[0], np.int64(s), lm)
                        a_score[0] += more
                    elif p + 1 < z and symbols[p + 1] < 0 and not all_ways:  # what differs by what is further back is one now
                        n, slots = merge(n, a_left, a_state, a_score, a_below, arity, slots)
                    continue
                following = p + 1  # the end of the words after the vertex, which are read with its pieces
                while following < z and symbols[following] >= 0:
                    following += 1
                t = -1 - s
                m = 0
                for i in range(n):
                    left, state, score = a_left[i], a_state[i], a_score[i]
                    token = np.int64(n_words)
                    head_side = 0.0  # what waits at the left end, with its price
                    need = threshold - outside[v]
                    if left != EMPTY_PIECE:
                        token = np.int64(last_token[state])
                        word = first_of_left(left, lm)
                        head_side = waiting[left] + first_prices[v, word]
                        need = threshold - around_first[v, word]
                    for g in range(group_start[t], group_end[t]):
                        least = losses[members[group_first[g]]]
                        if left != EMPTY_PIECE and not score + head_side + after[t, token] + inside[t] - least + rest[k] > need:
                            break  # groups come in the order of what their best pieces lose
                        piece_left = group_left[g]
                        word = first_of_left(piece_left, lm)
                        gap = highest[token, word] + head_side
                        if left == EMPTY_PIECE:
                            gap = first_prices[v, word]
                            need = threshold - around_first[v, word]
                        if not score + gap - first_prices[t, word] + inside[t] - least + rest[k] > need:
                            continue
                        tried += 1
                        new_left, new_state, more = read_piece(left, state, piece_left, np.int64(states[members[group_first[g]]]), lm)
                        # the state after it is not its own
                        is_open = (piece_left > n_nodes or piece_left == EMPTY_PIECE) and left != EMPTY_PIECE
                        side = waiting[new_left] + first_prices[v, first_of_left(new_left, lm)]
                        for place in range(group_first[g], group_last[g]):
                            j = members[place]
                            total = score + more + piece_scores[j]
                            own_state = new_state if is_open else np.int64(states[j])
                            next_token = np.int64(last_token[own_state])
                            now_left, now_side = new_left, side
                            if following > p + 1:
                                if not total + side + last_prices[t, last_token[states[j]]] + rest[k] > need:
                                    continue
                                for q in range(p + 1, following):
                                    now_left, own_state, read = read_word(now_left, own_state, np.int64(symbols[q]), lm)
                                    total += read
                                next_token = np.int64(last_token[own_state])
                                if now_left != new_left:
                                    now_side = waiting[now_left] + first_prices[v, first_of_left(now_left, lm)]
                            if following == z:
                                bound = total + now_side + last_prices[v, next_token]
                            else:
                                u = -1 - symbols[following]
                                bound = total + now_side + after[u, next_token] + inside[u] + rest[k + 1]
                            if not bound > need:
                                continue
                            if m == b_left.shape[0]:
                                b_left, b_state, b_score = longer(b_left, 0), longer(b_state, 0), longer(b_score, 0)
                                b_below = longer(b_below, b_left.shape[0] * arity + 1)
                            b_left[m], b_state[m], b_score[m] = now_left, own_state, total
                            for h in range(k):
                                b_below[m * arity + h] = a_below[i * arity + h]
                            b_below[m * arity + k] = j
                            for h in range(k + 1, arity):
                                b_below[m * arity + h] = -1
                            m += 1
                a_left, b_left = b_left, a_left
                a_state, b_state = b_state, a_state
                a_score, b_score = b_score, a_score
                a_below, b_below = b_below, a_below
                n = m
                k += 1
                if n == 0:
                    break
            for i in range(n):
                left, state, score = a_left[i], a_state[i], a_score[i]
                word, token = first_of_left(left, lm), np.int64(last_token[state])
                priced = score + waiting[left] + first_prices[v, word] + last_prices[v, token]
                if not priced + min(around_first[v, word], around_last[v, token]) > threshold:
                    continue
                slot = slot_of(left, state, n_slots)
                while piece_slots[slot] >= 0 and (lefts[piece_slots[slot]] != left or states[piece_slots[slot]] != state):
                    slot = (slot + 1) & (n_slots - 1)
                j = piece_slots[slot]
                if j >= 0 and not score > piece_scores[j] and not all_ways:
                    continue
                if j < 0:
                    if n_pieces == size:
                        return TOO_MANY
                    j = n_pieces
                    n_pieces += 1
                    piece_slots[slot] = j
                    lefts[j], states[j] = left, state
                    if 2 * (n_pieces - begin) > n_slots:
                        n_slots *= 4
                        piece_slots = np.full(n_slots, -1, dtype=np.int64)
                        for h in range(begin, n_pieces):
                            slot = slot_of(np.int64(lefts[h]), np.int64(states[h]), n_slots)
                            while piece_slots[slot] >= 0:
                                slot = (slot + 1) & (n_slots - 1)
                            piece_slots[slot] = h
                    piece_scores[j] = -np.inf
                if all_ways:
                    if n_ways == way_pieces.shape[0]:
                        return TOO_MANY
                    way_pieces[n_ways], way_edges[n_ways], way_scores[n_ways] = j, e, score
                    for h in range(arity):
                        way_below[n_ways, h] = a_below[i * arity + h] if h < k else -1
                        if h < k:
                            way_scores[n_ways] -= piece_scores[a_below[i * arity + h]]
                    n_ways += 1
                if not score > piece_scores[j]:
                    continue
                piece_scores[j], edges[j], losses[j] = score, e, inside[v] - priced
                for h in range(arity):
                    below[j, h] = a_below[i * arity + h] if h < k else -1
        if n_pieces - begin > width:
            counts[3] += n_pieces - begin - width
            kept = np.sort(np.argsort(losses[begin:n_pieces], kind="mergesort")[:width])
            for i in range(width):
                j, h = begin + i, begin + kept[i]
                lefts[j], states[j], piece_scores[j], edges[j], losses[j] = lefts[h], states[h], piece_scores[h], edges[h], losses[h]
                below[j] = below[h]
            n_pieces = begin + width
        last[v] = n_pieces
        group_start[v] = n_groups
        groups, n_members, n_groups = group_pieces(begin, n_pieces, lefts, losses, np.inf, groups, n_members, n_groups)
        group_end[v] = n_groups
    counts[0], counts[1], counts[2], counts[4] = tried, n_vertices, n_pieces, n_ways
    best, argmax = -np.inf, -1
    for i in range(first[n_vertices - 1], last[n_vertices - 1]):
        score = piece_scores[i] + finish(np.int64(lefts[i]), np.int64(states[i]), ends[0], ends[1], lm)
        if score > best:
            best, argmax = score, i
    return argmax
