"""Prices on the words at the ends of vertices: a relaxation in which every neighbour of a vertex may choose its first and last word anew.

This is the dual of section 5.3 of Rush 2014 with words in the place of paths. A vertex t of a forest begins and ends with some word (its
*tokens*). What is below t gets the prices `first[t, l]` and `last[t, r]` of the tokens that it has; whoever reads t pays those of the
tokens that it takes t to have. Any prices give a bound, as they cancel where both sides agree. Words further away than the tokens are
relaxed too: what the language model says of them is the most that it says in any context (zerogap.oracles.ngrams.context_bounds). Then
every target side falls apart into its gaps (zerogap.oracles.forests.gap_terms), and a dynamic program over the forest gives the bound.

A piece that has a token is bounded by the best derivation around its vertex whose reader takes the vertex to have this token (what is
*around* the token): less than what is outside of the vertex, as the reader of a bad token would rather take another.

Prices are improved by diffusion: every token moves some of the difference between the best derivation that has it from above and the best
one that has it from below to the lower side. Departures: the thesis uses subgradients and a multiplier for every step of a path between
leaves; max-marginals move all prices at once and need tens of iterations in place of hundreds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zerogap.kernels import boolean, float64, inner, int32, int64, kernel, readonly, types, writable
from zerogap.oracles.forests.gap_terms import (
    AFTER,
    BACK,
    BEFORE,
    BRIDGE,
    HAND_FIRST,
    HAND_LAST,
    JOINT,
    LISTED,
    NONE,
    PLAIN,
    RUN,
    TERM_TYPES,
    WORDS,
)

SHARE = 0.35  # of the difference that a token moves at once; at 0.4, prices of long sentences swing
STALL, PATIENCE = 0.15, 3  # ends when the gap shrinks by less than this share in so many iterations: a search does the rest sooner


@inner
def best_choice(row, start, tokens, prices, dead, t):
    """The most of row[l] less the price of l, over the tokens of t."""
    best = -np.inf
    for i in range(start[t], start[t + 1]):
        if not dead[i]:
            best = max(best, row[tokens[i]] - prices[i])
    return best


@inner
def raise_choices(rest, row, start, tokens, prices, t, above):
    """The best derivation by token, where the best one has `rest` without this choice."""
    for i in range(start[t], start[t + 1]):
        above[i] = max(above[i], rest + row[tokens[i]] - prices[i])


@inner
def fill_row(row, start, tokens, prices, dead, v):
    row[:] = -np.inf
    for i in range(start[v], start[v + 1]):
        if not dead[i]:
            row[tokens[i]] = prices[i]


@inner
def most_by_word(row, table, start, tokens, prices, dead, t):
    """row[w]: the most of table[l, w] less the price of l, over the tokens of t."""
    row[:] = -np.inf
    for i in range(start[t], start[t + 1]):
        if not dead[i]:
            scored, price = table[tokens[i]], prices[i]
            for w in range(row.shape[0]):
                row[w] = max(row[w], scored[w] - price)


@inner
def evaluate(terms, live, bounds, firsts, lasts, before, worth):
    """What every factor is worth at the prices; also the most before words of vertices that are read next to others."""
    factors, fixed, extra_start, extra_first, extra_last, extra_scores = terms[3], terms[4], terms[5], terms[6], terms[7], terms[8]
    highest, reverse, plain, back = bounds
    f_start, f_tokens, f_prices, f_dead = firsts
    l_start, l_tokens, l_prices, l_dead = lasts
    n_vertices, n_factors, n_firsts = f_start.shape[0] - 1, factors.shape[0], f_prices.shape[0]
    worth[n_factors] = 0.0
    for i in range(n_firsts):
        worth[n_factors + 1 + i] = -np.inf if f_dead[i] else f_prices[i]
    for i in range(l_prices.shape[0]):
        worth[n_factors + 1 + n_firsts + i] = -np.inf if l_dead[i] else l_prices[i]
    f_row, l_row = np.empty(highest.shape[0]), np.empty(highest.shape[0])
    of_first, of_last = np.int64(NONE), np.int64(NONE)  # whose prices are in the rows
    has_before = np.zeros(n_vertices, dtype=np.bool_)
    for i in range(factors.shape[0]):
        if not live[i]:
            continue
        kind, t, b = factors[i, 0], factors[i, 1], factors[i, 2]
        if kind == HAND_FIRST:
            if of_first != t:
                fill_row(f_row, f_start, f_tokens, f_prices, f_dead, t)
                of_first = np.int64(t)
            worth[i] = best_choice(f_row, f_start, f_tokens, f_prices, f_dead, b)
        elif kind == HAND_LAST:
            if of_last != t:
                fill_row(l_row, l_start, l_tokens, l_prices, l_dead, t)
                of_last = np.int64(t)
            worth[i] = best_choice(l_row, l_start, l_tokens, l_prices, l_dead, b)
        elif kind == AFTER:
            worth[i] = best_choice(highest[b], f_start, f_tokens, f_prices, f_dead, t)
        elif kind == PLAIN:
            worth[i] = best_choice(plain[b], f_start, f_tokens, f_prices, f_dead, t)
        elif kind == BEFORE:
            worth[i] = best_choice(reverse[b], l_start, l_tokens, l_prices, l_dead, t)
        elif kind == BACK:
            worth[i] = best_choice(back[b], l_start, l_tokens, l_prices, l_dead, t)
        elif kind == JOINT:
            if not has_before[t]:
                most_by_word(before[t], highest, l_start, l_tokens, l_prices, l_dead, t)
                has_before[t] = True
            worth[i] = best_choice(before[t], f_start, f_tokens, f_prices, f_dead, b)
    for i in range(factors.shape[0]):
        kind = factors[i, 0]
        if not live[i] or (kind != LISTED and kind != RUN and kind != BRIDGE):
            continue
        best = fixed[i] + worth[factors[i, 5]]
        if kind == BRIDGE:
            best += worth[factors[i, 6]]
        for k in range(extra_start[i], extra_start[i + 1]):
            score = extra_scores[k]
            if kind != RUN:
                if f_dead[extra_first[k]]:
                    continue
                score -= f_prices[extra_first[k]]
            if kind != LISTED:
                if l_dead[extra_last[k]]:
                    continue
                score -= l_prices[extra_last[k]]
            best = max(best, score)
        worth[i] = best


@inner
def inside_scores(edge_start, tail_start, tails, base, alive, terms, worth, values, inside):
    """Values of hyperedges without what is outside of their heads, and the best inside of every vertex; returns the bound."""
    left, right = terms[0], terms[1]
    n_vertices = edge_start.shape[0] - 1
    for v in range(n_vertices):
        best = -np.inf
        for e in range(edge_start[v], edge_start[v + 1]):
            if not alive[e]:
                values[e] = -np.inf
                continue
            first, last = tail_start[e], tail_start[e + 1]
            score = base[e] + worth[left[first + e]] + worth[right[first + e]]
            for k in range(first, last):
                score += inside[tails[k]] + worth[left[k + e + 1]] + worth[right[k + e + 1]]
            values[e] = score
            best = max(best, score)
        inside[v] = best
    return inside[n_vertices - 1] + worth[0] + worth[1]


@inner
def outside_scores(edge_start, tail_start, tails, alive, terms, worth, threshold, values, inside, outside, rest):
    """The best outside of every vertex, and of the best derivation that has what terms are made of, what it has besides.

    Hyperedges that no derivation above the threshold has are alive no more."""
    left, right = terms[0], terms[1]
    root = edge_start.shape[0] - 2
    outside[:] = -np.inf
    rest[:] = -np.inf
    outside[root] = worth[0] + worth[1]
    rest[0], rest[1] = inside[root] + worth[1], inside[root] + worth[0]
    for v in range(root, -1, -1):
        around = outside[v]
        for e in range(edge_start[v], edge_start[v + 1]):
            if not alive[e]:
                continue
            total = around + values[e]
            if not total > threshold:
                alive[e] = False
                continue
            first, last = tail_start[e], tail_start[e + 1]
            for k in range(first, last):
                outside[tails[k]] = max(outside[tails[k]], total - inside[tails[k]])
            for k in range(first + e, last + e + 1):
                rest[left[k]] = max(rest[left[k]], total - worth[left[k]])
                rest[right[k]] = max(rest[right[k]], total - worth[right[k]])


@inner
def hand_on(rest, v, t, known, start, tokens, prices, dead, numbers, below, above):
    """Tokens of v that are those of t, which begins or ends it. `numbers` are the tokens of `known`; returns v, whose they are now."""
    if known != v:
        if known >= 0:
            for i in range(start[known], start[known + 1]):
                numbers[tokens[i]] = -1
        for i in range(start[v], start[v + 1]):
            numbers[tokens[i]] = -1 if dead[i] else i
    for j in range(start[t], start[t + 1]):
        i = numbers[tokens[j]]
        if i >= 0:
            score = rest + prices[i] - prices[j]
            above[j] = max(above[j], score)
            if not dead[j]:
                below[i] = max(below[i], score)
    return np.int64(v)


@inner
def token_marginals(terms, live, bounds, firsts, lasts, before, worth, rest, f_below, f_above, l_below, l_above):
    """The best derivation in which what is below (above) a vertex has (takes it to have) each of its tokens; factors that none has die."""
    factors, fixed, extra_start, extra_first, extra_last, extra_scores = terms[3], terms[4], terms[5], terms[6], terms[7], terms[8]
    highest, reverse, plain, back = bounds
    f_start, f_tokens, f_prices, f_dead = firsts
    l_start, l_tokens, l_prices, l_dead = lasts
    n_vertices, n_factors, n_firsts = f_start.shape[0] - 1, factors.shape[0], f_prices.shape[0]
    f_above[:] = -np.inf
    l_above[:] = -np.inf
    for i in range(n_firsts):
        f_below[i] = rest[n_factors + 1 + i] + f_prices[i]
    for i in range(l_prices.shape[0]):
        l_below[i] = rest[n_factors + 1 + n_firsts + i] + l_prices[i]
    for i in range(factors.shape[0]):
        kind = factors[i, 0]
        if rest[i] == -np.inf or (kind != LISTED and kind != RUN and kind != BRIDGE):
            continue
        a, b = factors[i, 5], factors[i, 6]
        if kind == BRIDGE:
            rest[a] = max(rest[a], rest[i] + worth[b])
            rest[b] = max(rest[b], rest[i] + worth[a])
        else:
            rest[a] = max(rest[a], rest[i] + fixed[i])
        for k in range(extra_start[i], extra_start[i + 1]):
            p, q = extra_first[k], extra_last[k]
            score = rest[i] + extra_scores[k]
            if (p >= 0 and f_dead[p]) or (q >= 0 and l_dead[q]):
                continue
            if p >= 0:
                score -= f_prices[p]
            if q >= 0:
                score -= l_prices[q]
                l_above[q] = max(l_above[q], score)
            if p >= 0:
                f_above[p] = max(f_above[p], score)
    has_after = np.full(n_vertices, False)
    after = np.empty((0, 0))
    for i in range(factors.shape[0]):
        live[i] = rest[i] > -np.inf
        if not live[i]:
            continue
        kind, t, b = factors[i, 0], factors[i, 1], factors[i, 2]
        if kind == AFTER:
            raise_choices(rest[i], highest[b], f_start, f_tokens, f_prices, t, f_above)
        elif kind == PLAIN:
            raise_choices(rest[i], plain[b], f_start, f_tokens, f_prices, t, f_above)
        elif kind == BEFORE:
            raise_choices(rest[i], reverse[b], l_start, l_tokens, l_prices, t, l_above)
        elif kind == BACK:
            raise_choices(rest[i], back[b], l_start, l_tokens, l_prices, t, l_above)
        elif kind == JOINT:
            raise_choices(rest[i], before[t], f_start, f_tokens, f_prices, b, f_above)
            if after.shape[0] == 0:
                after = np.empty((n_vertices, highest.shape[0]))
            if not has_after[b]:
                has_after[b] = True
                most_by_word(after[b], reverse, f_start, f_tokens, f_prices, f_dead, b)
            raise_choices(rest[i], after[b], l_start, l_tokens, l_prices, t, l_above)
    f_numbers, l_numbers = np.full(highest.shape[0], -1), np.full(highest.shape[0], -1)
    of_first, of_last = np.int64(NONE), np.int64(NONE)
    for i in range(factors.shape[0]):
        v, t = factors[i, 1], factors[i, 2]
        if live[i] and factors[i, 0] == HAND_FIRST:
            of_first = hand_on(rest[i], v, t, of_first, f_start, f_tokens, f_prices, f_dead, f_numbers, f_below, f_above)
        elif live[i] and factors[i, 0] == HAND_LAST:
            of_last = hand_on(rest[i], v, t, of_last, l_start, l_tokens, l_prices, l_dead, l_numbers, l_below, l_above)


@inner
def move(prices, dead, below, above, threshold, resolution):
    """One step of prices; tokens that no derivation above the threshold has are dead from now on."""
    for i in range(prices.shape[0]):
        if dead[i]:
            continue
        if below[i] <= threshold or above[i] <= threshold:
            dead[i] = True
        else:
            prices[i] += np.rint(SHARE * (above[i] - below[i]) / resolution) * resolution


@inner
def take_inside_out(start, above, inside):
    for v in range(inside.shape[0]):
        for i in range(start[v], start[v + 1]):
            if above[i] > -np.inf:
                above[i] -= inside[v]


TOKENS: Any = types.Tuple((readonly(int64, 1), readonly(int32, 1), writable(float64, 1), writable(boolean, 1)))
BOUNDS: Any = types.Tuple((readonly(float64, 2),) * 4)


@kernel(
    float64(
        readonly(int64, 1), readonly(int64, 1), readonly(int32, 1), readonly(float64, 1), writable(boolean, 1), types.Tuple(TERM_TYPES),
        BOUNDS, float64, float64, int64, TOKENS, TOKENS, writable(float64, 1), writable(float64, 1), writable(float64, 1),
        writable(float64, 1), writable(float64, 2), writable(float64, 1), writable(float64, 1), writable(float64, 1),
    )
)  # fmt: skip
def tighten(
    edge_start, tail_start, tails, base, alive, terms, bounds, threshold, resolution, iterations, firsts, lasts, values, inside, outside,
    term_worth, after, f_around, l_around, history,
):  # fmt: skip
    # base (edges,): scores of hyperedges with what is theirs in terms; bounds: highest, its transpose, plain, the transpose of back
    # out: alive (edges,); prices and dead of tokens; values (edges,), inside, outside (vertices,), term_worth (terms,), after (vertices,
    # tokens): the most that a vertex' first word scores after a token, f_around and l_around (what is around tokens, above the threshold or
    # not) at the final prices; history (iterations,): bounds, nan where none was needed. Returns the bound at the final prices.
    left, right, own, factors = terms[0], terms[1], terms[2], terms[3]
    n_vertices, n_factors = edge_start.shape[0] - 1, factors.shape[0]
    size = n_factors + 1 + f_around.shape[0] + l_around.shape[0]
    worth, rest = np.zeros(size), np.empty(size)
    live = np.ones(n_factors, dtype=np.bool_)
    for i in range(n_factors):
        live[i] = factors[i, 0] != WORDS
    before = np.empty((n_vertices, bounds[0].shape[0]))
    f_below, l_below = np.empty(f_around.shape[0]), np.empty(l_around.shape[0])
    bound = np.inf
    history[:] = np.nan
    outside[:] = -np.inf
    for k in range(iterations):
        evaluate(terms, live, bounds, firsts, lasts, before, worth)
        bound = inside_scores(edge_start, tail_start, tails, base, alive, terms, worth, values, inside)
        history[k] = bound
        if bound <= threshold:
            break
        outside_scores(edge_start, tail_start, tails, alive, terms, worth, threshold, values, inside, outside, rest)
        token_marginals(terms, live, bounds, firsts, lasts, before, worth, rest, f_below, f_around, l_below, l_around)
        if k == iterations - 1 or (k >= PATIENCE and history[k - PATIENCE] - bound < STALL * (history[k - PATIENCE] - threshold)):
            break
        move(firsts[2], firsts[3], f_below, f_around, threshold, resolution)
        move(lasts[2], lasts[3], l_below, l_around, threshold, resolution)
    for k in range(term_worth.shape[0]):
        term_worth[k] = own[k] + worth[left[k]] + worth[right[k]]
    for v in range(n_vertices):
        if outside[v] > -np.inf:
            most_by_word(after[v], bounds[1], firsts[0], firsts[1], firsts[2], firsts[3], v)
    take_inside_out(firsts[0], f_around, inside)
    take_inside_out(lasts[0], l_around, inside)
    return bound
