"""The gaps of target sides as factors that hyperedges share: what prices and a language model say at best of words on both sides of a gap.

A target side is cut at its vertices into as many terms as it has vertices, and one. What a term is worth depends on the prices of the first
and last tokens of vertices around it (zerogap.oracles.forests.end_prices), and on nothing else; so it is looked up among factors:

    HAND_FIRST   v, t       max_l (first[v, l] - first[t, l])               t begins v; HAND_LAST the same at the end
    AFTER        t, b       max_l (highest[b, l] - first[t, l])             a word before t, and nothing known before it
    PLAIN        t, b       max_l (plain[b, l] - first[t, l])               the same where the model knows no longer context
    LISTED       t, s       PLAIN with s backed off, or n-grams after s     state s before t
    BEFORE       t, w       max_r (highest[r, w] - last[t, r])              a word after t
    BACK         t, w       max_r (back[r, w] - last[t, r])                 the same, and the next word backs off to w
    RUN          t, words   BACK and the words after w, or n-grams over r   two or more words after t
    JOINT        t, u       max_rl (highest[r, l] - last[t, r] - first[u, l])
    BRIDGE       t, w, u    BACK and PLAIN, or n-grams (r, w, l)            one word between two vertices

A head that begins (ends) with a word has the price of its token in the place of a factor. N-grams that reach over a gap are listed with
their factor (`extra`). Words whose context is in the target side itself are scored once. highest, plain and back are those of
zerogap.oracles.ngrams.context_bounds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import boolean, float64, inner, int32, int64, kernel, readonly, types, writable
from zerogap.oracles.ngrams.boundaries import BOUNDARY_TYPES, Boundaries, step
from zerogap.oracles.ngrams.context_bounds import CONTEXT_TYPES, Contexts, find_listed, relaxed_step

HAND_FIRST, HAND_LAST, AFTER, PLAIN, LISTED, BEFORE, BACK, RUN, JOINT, BRIDGE = range(10)
WORDS = 10  # a sequence of words, which is no factor
NONE = -1
PRICE = -2  # PRICE - i stands for the price of token i until factors are counted


class Terms(NamedTuple):
    """Terms of hyperedges, those of hyperedge e from tail_start[e] + e on, and factors: the arrays that kernels take, in this order.

    What a term is made of is numbered through: factors, then nothing at all, then the prices of first tokens, then those of last tokens."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    own: Scores  # what is in no factor
    factors: NDArray[np.int32]  # (factors, 7): kind, two or three numbers, where words of a run begin, two factors that it is made of
    fixed: Scores  # (factors,): added to them
    extra_start: NDArray[np.int64]  # (factors + 1,)
    extra_first: NDArray[np.int32]  # a first token, or NONE
    extra_last: NDArray[np.int32]
    extra_scores: Scores


TERM_TYPES: tuple[Any, ...] = (
    readonly(int32, 1), readonly(int32, 1), readonly(float64, 1), readonly(int32, 2), readonly(float64, 1), readonly(int64, 1),
    readonly(int32, 1), readonly(int32, 1), readonly(float64, 1),
)  # fmt: skip


@inner
def place_of(key, n_slots):
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed ^ (mixed >> np.uint64(32))) >> np.uint64(16)) & (n_slots - 1)


@inner
def factor_of(kind, a, b, c, slots, factors, count):
    """The number of a factor, and how many there are with it."""
    at = place_of(((a * 1000003 + b) * 1000003 + c) * 16 + kind, slots.shape[0])
    while slots[at] >= 0:
        f = slots[at]
        if factors[f, 0] == kind and factors[f, 1] == a and factors[f, 2] == b and factors[f, 3] == c:
            return f, count
        at = (at + 1) & (slots.shape[0] - 1)
    slots[at] = count
    factors[count, 0], factors[count, 1], factors[count, 2], factors[count, 3] = kind, a, b, c
    factors[count, 5], factors[count, 6] = NONE, NONE
    return np.int64(count), count + 1


@kernel(
    int64(
        readonly(int64, 1), readonly(int32, 1), readonly(int32, 1), readonly(boolean, 1), readonly(int32, 2), readonly(int32, 2), int64,
        int64, types.Tuple(BOUNDARY_TYPES), types.Tuple(CONTEXT_TYPES), writable(int64, 1), writable(int32, 1), writable(int32, 1),
        writable(float64, 1), writable(int32, 2), writable(float64, 1),
    )
)  # fmt: skip
def cut_target_sides(
    edge_start, symbol_start, symbols, alive, first_index, last_index, begin, end, lm, contexts, slots, left, right, own, factors, fixed,
):  # fmt: skip
    # first_index, last_index (vertices, tokens): the numbers of tokens; slots (a power of two,): NONE
    # out: left, right, own (terms,), those of hyperedges that are not alive left as they are; factors (any, 7), fixed (any,).
    # Returns how many factors there are, the first two those around the root, or NONE if there is no room for them.
    n_vertices, order, n_words = edge_start.shape[0] - 1, lm[11].shape[1] + 1, lm[2].shape[0]
    lengths, last_of_word, first_token = contexts[8], contexts[13], contexts[14]
    count = 0
    _, count = factor_of(AFTER, n_vertices - 1, begin, 0, slots, factors, count)
    _, count = factor_of(BEFORE, n_vertices - 1, end, 0, slots, factors, count)
    term = 0
    for v in range(n_vertices):
        for e in range(edge_start[v], edge_start[v + 1]):
            a, z = symbol_start[e], symbol_start[e + 1]
            if not alive[e]:
                for p in range(a, z):
                    if symbols[p] < 0:
                        term += 1
                term += 1
                continue
            if count + (order + 4) * (z - a + 1) > factors.shape[0]:
                return NONE
            p = a
            while True:
                begins = p  # of a run of words
                while p < z and symbols[p] >= 0:
                    p += 1
                n = p - begins
                left[term], right[term], own[term] = NONE, NONE, 0.0
                u = -1 - symbols[begins - 1] if begins > a else NONE  # the vertex before
                t = -1 - symbols[p] if p < z else NONE
                state, k = np.int64(0), 0
                if n > 0:
                    w = np.int64(symbols[begins])
                    state, k = np.int64(lm[3][w]), 1
                    if u == NONE:
                        left[term] = PRICE - first_index[v, first_token[w]]
                        if left[term] == NONE:  # a dead token
                            own[term] = -np.inf
                        if first_token[w] == n_words:
                            own[term] += lm[2][w]  # whoever reads the vertex only pays back-offs
                    elif n == 1 and t != NONE and order > 2 and lengths[0] == 0:
                        before = count
                        left[term], count = factor_of(BRIDGE, u, w, t, slots, factors, count)
                        if count > before:
                            f = left[term]
                            factors[f, 5], count = factor_of(BACK, u, w, 0, slots, factors, count)
                            factors[f, 6], count = factor_of(PLAIN, t, w, 0, slots, factors, count)
                    elif n == 1 or order == 2 or lengths[0] < 0:
                        left[term], count = factor_of(BEFORE, u, w, 0, slots, factors, count)
                    else:
                        run = w
                        tail = 0.0
                        for q in range(begins + 1, min(begins + order - 1, p)):
                            run, count = factor_of(WORDS, run, np.int64(symbols[q]), q - begins, slots, factors, count)
                            score, state = step(state, np.int64(symbols[q]), lm)
                            tail += score
                            k += 1
                        before = count
                        left[term], count = factor_of(RUN, u, run, k, slots, factors, count)
                        if count > before:
                            f = left[term]
                            factors[f, 4], fixed[f] = begins, tail
                            factors[f, 5], count = factor_of(BACK, u, w, 0, slots, factors, count)
                    for q in range(begins + k, p):
                        score, state = relaxed_step(
                            state, np.int64(q - begins), np.int64(symbols[q - 1]), np.int64(symbols[q]), lm, contexts
                        )
                        own[term] += score
                elif u == NONE:
                    left[term], count = factor_of(HAND_FIRST, v, t, 0, slots, factors, count)
                elif t != NONE:
                    left[term], count = factor_of(JOINT, u, t, 0, slots, factors, count)
                if t == NONE:
                    if n > 0:
                        right[term] = PRICE - last_index[v, last_of_word[symbols[p - 1]]]
                        if right[term] == NONE:
                            own[term] = -np.inf
                    else:
                        right[term], count = factor_of(HAND_LAST, v, u, 0, slots, factors, count)
                elif n > 0 and (left[term] < 0 or factors[left[term], 0] != BRIDGE):
                    w = np.int64(symbols[p - 1])
                    if (n == 1 and order > 2) or lengths[0] < 0:
                        right[term], count = factor_of(AFTER, t, w, 0, slots, factors, count)
                    elif lengths[state] < 2:
                        right[term], count = factor_of(PLAIN, t, w if state > 0 else n_words, 0, slots, factors, count)
                    else:
                        before = count
                        right[term], count = factor_of(LISTED, t, state, 0, slots, factors, count)
                        if count > before:
                            f = right[term]
                            fixed[f] = contexts[6][state]
                            factors[f, 5], count = factor_of(PLAIN, t, w, 0, slots, factors, count)
                term += 1
                if p == z:
                    break
                p += 1
    return count


@inner
def add_extra(first, last, score, n, extra_first, extra_last, extra_scores):
    if n == extra_first.shape[0]:
        extra_first, extra_last = np.append(extra_first, np.empty_like(extra_first)), np.append(extra_last, np.empty_like(extra_last))
        extra_scores = np.append(extra_scores, np.empty_like(extra_scores))
    extra_first[n], extra_last[n], extra_scores[n] = first, last, score
    return n + 1, extra_first, extra_last, extra_scores


@kernel(
    types.Tuple((writable(int32, 1), writable(int32, 1), writable(float64, 1)))(
        readonly(int32, 1), readonly(int32, 2), readonly(float64, 1), readonly(int32, 2), readonly(int32, 2),
        types.Tuple(BOUNDARY_TYPES), types.Tuple(CONTEXT_TYPES), writable(int64, 1),
    )
)  # fmt: skip
def list_ngrams(symbols, factors, fixed, first_index, last_index, lm, contexts, extra_start):
    # first_index, last_index: NONE for tokens that are dead; out: extra_start (factors + 1,). Returns the first and the last token and the
    # score of every n-gram that a factor lists, as far as it scores more than what the factor is made of.
    highest, plain, back, listed_start, listed_words, listed_scores = contexts[:6]
    lengths, pair_start, pair_states, pair_first = contexts[8], contexts[9], contexts[10], contexts[11]
    order = lm[11].shape[1] + 1
    extra_first, extra_last, extra_scores = np.empty(1024, dtype=np.int32), np.empty(1024, dtype=np.int32), np.empty(1024)
    held_start, held_end = np.full(factors.shape[0], NONE, dtype=np.int64), np.empty(factors.shape[0], dtype=np.int64)
    held, n_held = np.empty(4096, dtype=np.int64), 0
    n = 0
    for f in range(factors.shape[0]):
        extra_start[f] = n
        kind, t = factors[f, 0], factors[f, 1]
        if kind == LISTED:
            state, w = np.int64(factors[f, 2]), factors[factors[f, 5], 2]
            while lengths[state] > 1:
                for at in range(listed_start[state], listed_start[state + 1]):
                    i = first_index[t, listed_words[at]]
                    if i >= 0 and listed_scores[at] > fixed[f] + plain[w, listed_words[at]]:
                        n, extra_first, extra_last, extra_scores = add_extra(
                            i, NONE, listed_scores[at], n, extra_first, extra_last, extra_scores
                        )
                state = np.int64(lm[5][state])
        elif kind == RUN:
            begins = factors[f, 4]
            w = symbols[begins]
            for k in range(pair_start[w], pair_start[w + 1]):
                r = pair_first[k]
                i = last_index[t, r]
                if i < 0:
                    continue
                state = np.int64(pair_states[k])
                at = find_listed(state, np.int64(symbols[begins + 1]), contexts)
                if at < 0:
                    continue
                score = highest[r, w] + listed_scores[at]
                _, state = step(state, np.int64(symbols[begins + 1]), lm)
                for q in range(begins + 2, begins + order - 1):
                    if q - begins >= factors[f, 3]:
                        break
                    more, state = relaxed_step(
                        state, np.int64(q - begins + 1), np.int64(symbols[q - 1]), np.int64(symbols[q]), lm, contexts
                    )
                    score += more
                if score > back[r, w] + fixed[f]:
                    n, extra_first, extra_last, extra_scores = add_extra(NONE, i, score, n, extra_first, extra_last, extra_scores)
        elif kind == BRIDGE:
            w, u, g = factors[f, 2], factors[f, 3], factors[f, 5]
            if held_start[g] < 0:  # the contexts (r, w) of a vertex and a word, for all vertices that come after
                held_start[g] = n_held
                for k in range(pair_start[w], pair_start[w + 1]):
                    if last_index[t, pair_first[k]] >= 0:
                        if n_held == held.shape[0]:
                            held = np.append(held, np.empty_like(held))
                        held[n_held] = k
                        n_held += 1
                held_end[g] = n_held
            for h in range(held_start[g], held_end[g]):
                k = held[h]
                r, state = pair_first[k], np.int64(pair_states[k])
                more = highest[r, w] - back[r, w]
                for at in range(listed_start[state], listed_start[state + 1]):
                    j = first_index[u, listed_words[at]]
                    if j >= 0 and more + listed_scores[at] > plain[w, listed_words[at]]:
                        n, extra_first, extra_last, extra_scores = add_extra(
                            j, last_index[t, r], highest[r, w] + listed_scores[at], n, extra_first, extra_last, extra_scores
                        )
    extra_start[factors.shape[0]] = n
    return extra_first[:n].copy(), extra_last[:n].copy(), extra_scores[:n].copy()


def cut(
    arrays: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]], alive: NDArray[np.bool_], first_index: NDArray[np.int32],
    last_index: NDArray[np.int32], n_firsts: int, begin: int, end: int, lm: Boundaries, contexts: Contexts,
) -> Terms:  # fmt: skip
    """The terms of hyperedges that are alive. No target side may be empty; -1 in the tables of tokens: a vertex has none, or it is dead."""
    _, symbol_start, symbols = arrays
    n_terms = len(symbol_start) - 1 + int((symbols < 0).sum())
    left, right, own = np.full(n_terms, NONE, dtype=np.int32), np.full(n_terms, NONE, dtype=np.int32), np.zeros(n_terms)
    room, count = 1024, NONE
    while 2 * room < n_terms:
        room *= 2
    while count == NONE:
        room *= 2
        factors, fixed, slots = np.zeros((room, 7), dtype=np.int32), np.zeros(room), np.full(2 * room, NONE, dtype=np.int64)
        count = cut_target_sides(
            *arrays, alive, first_index, last_index, begin, end, tuple(lm), tuple(contexts), slots, left, right, own, factors, fixed
        )
    factors, fixed = factors[:count].copy(), fixed[:count].copy()
    left = np.where(left < NONE, count + 1 + PRICE - left, np.where(left == NONE, count, left)).astype(np.int32)
    right = np.where(right < NONE, count + 1 + n_firsts + PRICE - right, np.where(right == NONE, count, right)).astype(np.int32)
    extra_start = np.zeros(count + 1, dtype=np.int64)
    extra = list_ngrams(symbols, factors, fixed, first_index, last_index, tuple(lm), tuple(contexts), extra_start)
    return Terms(left, right, own, factors, fixed, extra_start, *extra)
