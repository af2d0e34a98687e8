"""Prices on the words at the ends of vertices: a relaxation in which every neighbour of a vertex may choose its first and last word anew.

This is the dual of section 5.3 of Rush 2014 with words in the place of paths. A vertex t of a forest begins and ends with some word (its
*tokens*). What is below t gets the prices `first[t, l]` and `last[t, r]` of the tokens that it has; whoever reads t pays those of the
tokens that it takes t to have. Any prices give a bound, as they cancel where both sides agree. Between neighbours stands

    highest[r, l] >= log p(l | words that end in r)

for the best context that ends in r, so words further away are relaxed too; a word with both of its predecessors in its own target side is
scored as it is. Then every target side falls apart into its gaps, and a dynamic program over the forest gives the bound:

    word r, vertex t       after[t, r]  = max_l (highest[r, l] - first[t, l])
    vertex t, word w       before[t, w] = max_r (highest[r, w] - last[t, r])
    vertices t, u          max_l (before[t, l] - first[u, l])
    t first (last) in h    max_l (first[h, l] - first[t, l])          (the same with last)

A piece that has a token is bounded by the best derivation around its vertex whose reader takes the vertex to have this token (what is
*around* the token): less than what is outside of the vertex, as the reader of a bad token would rather take another.

Prices are improved by diffusion: every token moves some of the difference between the best derivation that has it from above and the best
one that has it from below to the lower side. Departures: the thesis uses subgradients and a multiplier for every step of a path between
leaves; max-marginals move all prices at once and need tens of iterations in place of hundreds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zerogap.oracles.compile import boolean, float64, inner, int32, int64, kernel, readonly, types, writable
from zerogap.oracles.lm_boundaries import BOUNDARY_TYPES, step

SHARE = 0.4  # of the difference that a token moves at once; at a half, prices swing
STALL, PATIENCE = 0.03, 3  # ends when the gap shrinks by less than this share in so many iterations


@kernel(int64(readonly(int32, 1), readonly(int32, 1), readonly(float64, 2), types.Tuple(BOUNDARY_TYPES), writable(float64, 1)))
def inner_scores(
    symbol_start, symbols, highest, lm, scores
):  # out: scores (edges,), added to: words whose predecessor is in the target side
    waits = lm[6]
    for e in range(symbol_start.shape[0] - 1):
        first = symbol_start[e]
        if first < symbol_start[e + 1] and symbols[first] >= 0 and not waits[symbols[first]]:
            scores[e] += lm[2][symbols[first]]  # whoever reads the vertex only pays back-offs
        for p in range(first + 1, symbol_start[e + 1]):
            if symbols[p] < 0 or symbols[p - 1] < 0:
                continue
            if p >= first + 2 and symbols[p - 2] >= 0:
                _, state = step(np.int64(lm[3][symbols[p - 2]]), np.int64(symbols[p - 1]), lm)
                score, _ = step(state, np.int64(symbols[p]), lm)
                scores[e] += score
            else:
                scores[e] += highest[symbols[p - 1], symbols[p]]
    return 0


@kernel(
    int64(
        readonly(int64, 1), readonly(int32, 1), readonly(int32, 1), readonly(int32, 1), readonly(int32, 1),
        writable(boolean, 2), writable(boolean, 2),
    )
)  # fmt: skip
def end_tokens(edge_start, symbol_start, symbols, first_token, last_token, firsts, lasts):  # out: firsts, lasts (vertices, tokens)
    n_vertices = edge_start.shape[0] - 1
    seen = np.full((2, n_vertices), -1, dtype=np.int64)
    for v in range(n_vertices):
        for e in range(edge_start[v], edge_start[v + 1]):
            a, z = symbols[symbol_start[e]], symbols[symbol_start[e + 1] - 1]
            if a >= 0:
                firsts[v, first_token[a]] = True
            elif seen[0, -1 - a] != v:
                seen[0, -1 - a] = v
                firsts[v] |= firsts[-1 - a]
            if z >= 0:
                lasts[v, last_token[z]] = True
            elif seen[1, -1 - z] != v:
                seen[1, -1 - z] = v
                lasts[v] |= lasts[-1 - z]
    return 0


@kernel(
    int64(
        readonly(int64, 1), readonly(int32, 1), readonly(int32, 1), readonly(boolean, 1), readonly(boolean, 2), readonly(boolean, 2),
        int64, int64, writable(boolean, 2), writable(boolean, 2),
    )
)  # fmt: skip
def neighbours(edge_start, symbol_start, symbols, alive, firsts, lasts, begin, end, follows, precedes):
    # out: follows (words + 1, words + 1), by the word before, and precedes, by the word after; a pair of neighbours is in one of them
    n_vertices = edge_start.shape[0] - 1
    seen_after = np.zeros(firsts.shape, dtype=np.bool_)
    seen_before = np.zeros(firsts.shape, dtype=np.bool_)
    seen_pair = np.zeros((n_vertices, n_vertices), dtype=np.bool_)
    follows[begin] |= firsts[n_vertices - 1]
    precedes[end] |= lasts[n_vertices - 1]
    for e in range(symbol_start.shape[0] - 1):
        if not alive[e]:
            continue
        for p in range(symbol_start[e] + 1, symbol_start[e + 1]):
            a, b = symbols[p - 1], symbols[p]
            if a >= 0 and b >= 0:
                follows[a, b] = True
            elif a >= 0 and not seen_after[-1 - b, a]:
                seen_after[-1 - b, a] = True
                follows[a] |= firsts[-1 - b]
            elif b >= 0 and a < 0 and not seen_before[-1 - a, b]:
                seen_before[-1 - a, b] = True
                precedes[b] |= lasts[-1 - a]
            elif a < 0 and b < 0 and not seen_pair[-1 - a, -1 - b]:
                seen_pair[-1 - a, -1 - b] = True
                for r in range(lasts.shape[1]):
                    if lasts[-1 - a, r]:
                        follows[r] |= firsts[-1 - b]
    return 0


@inner
def passed_on(row, start, tokens, prices, dead, t):
    """The best of row[l] - price of l over the tokens of t: t is the first (or last) symbol of what has the prices in `row`."""
    best = -np.inf
    for i in range(start[t], start[t + 1]):
        if not dead[i]:
            best = max(best, row[tokens[i]] - prices[i])
    return best


@inner
def fill_row(row, start, tokens, prices, dead, v):
    row[:] = -np.inf
    for i in range(start[v], start[v + 1]):
        if not dead[i]:
            row[tokens[i]] = prices[i]


FOREST: tuple[Any, ...] = (readonly(int64, 1), readonly(int32, 1), readonly(int32, 1))
TOKENS: tuple[Any, ...] = (readonly(int64, 1), readonly(int32, 1), writable(float64, 1), writable(boolean, 1))


@inner
def inside_outside(
    edge_start, symbol_start, symbols, scores, alive, highest, reverse, first_token, last_token, begin, end, f_start, f_tokens, f_prices,
    f_dead, l_start, l_tokens, l_prices, l_dead, before, after, joint, values, inside, outside,
):  # fmt: skip
    """The bound; values of hyperedges without what is outside of their heads, and the best inside and outside of every vertex."""
    n_vertices, n_tokens = edge_start.shape[0] - 1, highest.shape[0]
    f_row, l_row = np.empty(n_tokens), np.empty(n_tokens)
    on_left, on_right = np.empty(n_vertices), np.empty(n_vertices)  # of the current head, by its first (last) vertex
    left_seen, right_seen = np.full(n_vertices, -1, dtype=np.int64), np.full(n_vertices, -1, dtype=np.int64)
    joint[:] = np.nan
    for v in range(n_vertices):
        fill_row(f_row, f_start, f_tokens, f_prices, f_dead, v)
        fill_row(l_row, l_start, l_tokens, l_prices, l_dead, v)
        best = -np.inf
        for e in range(edge_start[v], edge_start[v + 1]):
            values[e] = -np.inf
            if not alive[e]:
                continue
            score = scores[e]
            a, z = symbol_start[e], symbol_start[e + 1]
            for p in range(a, z):
                s = symbols[p]
                if s < 0:
                    t = -1 - s
                    score += inside[t]
                    if p == a:
                        if left_seen[t] != v:
                            left_seen[t] = v
                            on_left[t] = passed_on(f_row, f_start, f_tokens, f_prices, f_dead, t)
                        score += on_left[t]
                    elif symbols[p - 1] >= 0:
                        score += after[t, symbols[p - 1]]
                    else:
                        u = -1 - symbols[p - 1]
                        if np.isnan(joint[u, t]):
                            joint[u, t] = passed_on(before[u], f_start, f_tokens, f_prices, f_dead, t)
                        score += joint[u, t]
                    if p == z - 1:
                        if right_seen[t] != v:
                            right_seen[t] = v
                            on_right[t] = passed_on(l_row, l_start, l_tokens, l_prices, l_dead, t)
                        score += on_right[t]
                else:
                    if p == a:
                        score += f_row[first_token[s]]
                    elif symbols[p - 1] < 0:
                        score += before[-1 - symbols[p - 1], s]
                    if p == z - 1:
                        score += l_row[last_token[s]]
            values[e] = score
            best = max(best, score)
        inside[v] = best
        before[v] = -np.inf
        after[v] = -np.inf
        for i in range(l_start[v], l_start[v + 1]):
            if not l_dead[i]:
                row, scored, price = before[v], highest[l_tokens[i]], l_prices[i]
                for w in range(n_tokens):
                    row[w] = max(row[w], scored[w] - price)
        for i in range(f_start[v], f_start[v + 1]):
            if not f_dead[i]:
                row, scored, price = after[v], reverse[f_tokens[i]], f_prices[i]
                for w in range(n_tokens):
                    row[w] = max(row[w], scored[w] - price)
    root = n_vertices - 1
    outside[:] = -np.inf
    outside[root] = after[root, begin] + before[root, end]
    for v in range(root, -1, -1):
        if outside[v] == -np.inf:
            continue
        for e in range(edge_start[v], edge_start[v + 1]):
            if values[e] == -np.inf:
                continue
            total = outside[v] + values[e]
            for p in range(symbol_start[e], symbol_start[e + 1]):
                if symbols[p] < 0:
                    outside[-1 - symbols[p]] = max(outside[-1 - symbols[p]], total - inside[-1 - symbols[p]])
    return inside[root] + outside[root]


@inner
def token_marginals(
    edge_start, symbol_start, symbols, highest, reverse, first_token, last_token, begin, end, f_start, f_tokens, f_prices, f_dead, l_start,
    l_tokens, l_prices, l_dead, before, after, joint, values, inside, outside, word_before, word_after, pairs, f_below, f_above, l_below,
    l_above,
):  # fmt: skip
    """The best derivation in which what is below (above) a vertex has (takes it to have) each of its tokens."""
    n_vertices, n_tokens = edge_start.shape[0] - 1, highest.shape[0]
    root = n_vertices - 1
    # of the best derivation that has a gap, without the gap itself: by word and vertex, vertex and word, two vertices
    word_before[:] = -np.inf
    word_after[:] = -np.inf
    pairs[:] = -np.inf
    f_below[:] = -np.inf
    f_above[:] = -np.inf
    l_below[:] = -np.inf
    l_above[:] = -np.inf
    total = inside[root] + outside[root]
    word_before[root, begin] = total - after[root, begin]
    word_after[root, end] = total - before[root, end]
    f_row, l_row = np.empty(n_tokens), np.empty(n_tokens)
    f_best, l_best = np.empty(n_tokens), np.empty(n_tokens)
    left, right = np.empty(n_vertices), np.empty(n_vertices)
    for v in range(root, -1, -1):
        if outside[v] == -np.inf:
            continue
        fill_row(f_row, f_start, f_tokens, f_prices, f_dead, v)
        fill_row(l_row, l_start, l_tokens, l_prices, l_dead, v)
        f_best[:] = -np.inf
        l_best[:] = -np.inf
        left[: v + 1] = -np.inf
        right[: v + 1] = -np.inf
        for e in range(edge_start[v], edge_start[v + 1]):
            if values[e] == -np.inf:
                continue
            total = values[e] + outside[v]
            a, z = symbol_start[e], symbol_start[e + 1]
            for p in range(a, z):
                s = symbols[p]
                if s < 0:
                    t = -1 - s
                    if p == a:
                        left[t] = max(left[t], total)
                    elif symbols[p - 1] >= 0:
                        b = symbols[p - 1]
                        word_before[t, b] = max(word_before[t, b], total - after[t, b])
                    else:
                        u = -1 - symbols[p - 1]
                        pairs[u, t] = max(pairs[u, t], total - joint[u, t])
                    if p == z - 1:
                        right[t] = max(right[t], total)
                else:
                    if p == a:
                        f_best[first_token[s]] = max(f_best[first_token[s]], total)
                    elif symbols[p - 1] < 0:
                        t = -1 - symbols[p - 1]
                        word_after[t, s] = max(word_after[t, s], total - before[t, s])
                    if p == z - 1:
                        l_best[last_token[s]] = max(l_best[last_token[s]], total)
        for t in range(v):
            if left[t] > -np.inf:  # t begins v: tokens are handed on
                rest = left[t] - passed_on(f_row, f_start, f_tokens, f_prices, f_dead, t)
                for i in range(f_start[t], f_start[t + 1]):
                    score = rest + f_row[f_tokens[i]] - f_prices[i]
                    f_above[i] = max(f_above[i], score)
                    if not f_dead[i]:
                        f_best[f_tokens[i]] = max(f_best[f_tokens[i]], score)
            if right[t] > -np.inf:
                rest = right[t] - passed_on(l_row, l_start, l_tokens, l_prices, l_dead, t)
                for i in range(l_start[t], l_start[t + 1]):
                    score = rest + l_row[l_tokens[i]] - l_prices[i]
                    l_above[i] = max(l_above[i], score)
                    if not l_dead[i]:
                        l_best[l_tokens[i]] = max(l_best[l_tokens[i]], score)
        for i in range(f_start[v], f_start[v + 1]):
            f_below[i] = f_best[f_tokens[i]]
        for i in range(l_start[v], l_start[v + 1]):
            l_below[i] = l_best[l_tokens[i]]
    for t in range(n_vertices):
        for b in range(n_tokens):
            if word_before[t, b] > -np.inf:
                for i in range(f_start[t], f_start[t + 1]):
                    f_above[i] = max(f_above[i], word_before[t, b] + highest[b, f_tokens[i]] - f_prices[i])
            if word_after[t, b] > -np.inf:
                for i in range(l_start[t], l_start[t + 1]):
                    l_above[i] = max(l_above[i], word_after[t, b] + reverse[b, l_tokens[i]] - l_prices[i])
        for u in range(n_vertices):
            if pairs[t, u] > -np.inf:
                for i in range(f_start[u], f_start[u + 1]):
                    f_above[i] = max(f_above[i], pairs[t, u] + before[t, f_tokens[i]] - f_prices[i])
                for i in range(l_start[t], l_start[t + 1]):
                    l_above[i] = max(l_above[i], pairs[t, u] + after[u, l_tokens[i]] - l_prices[i])


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


@kernel(
    float64(
        *FOREST, readonly(float64, 1), writable(boolean, 1), readonly(float64, 2), readonly(float64, 2), readonly(int32, 1),
        readonly(int32, 1), int64, int64, float64, float64, int64, *TOKENS, *TOKENS, writable(float64, 1), writable(float64, 1),
        writable(float64, 1), writable(float64, 2), writable(float64, 2), writable(float64, 2), writable(float64, 1), writable(float64, 1),
        writable(float64, 1),
    )
)  # fmt: skip
def tighten(
    edge_start, symbol_start, symbols, scores, alive, highest, reverse, first_token, last_token, begin, end, threshold, resolution,
    iterations, f_start, f_tokens, f_prices, f_dead, l_start, l_tokens, l_prices, l_dead, values, inside, outside, before, after, joint,
    f_around, l_around, bounds,
):  # fmt: skip
    # out: alive (edges,); prices and dead of tokens; values (edges,), inside, outside (vertices,), before, after (vertices, tokens), joint
    # (vertices, vertices), f_around and l_around (what is around tokens, above the threshold or not) at the final prices;
    # bounds (iterations,), nan where none was needed. Returns the bound at the final prices.
    n_vertices, n_tokens = edge_start.shape[0] - 1, highest.shape[0]
    word_before, word_after = np.empty((n_vertices, n_tokens)), np.empty((n_vertices, n_tokens))
    pairs = np.empty((n_vertices, n_vertices))
    f_below, l_below = np.empty(f_prices.shape[0]), np.empty(l_prices.shape[0])
    bound = np.inf
    bounds[:] = np.nan
    for k in range(iterations):
        bound = inside_outside(
            edge_start, symbol_start, symbols, scores, alive, highest, reverse, first_token, last_token, begin, end, f_start, f_tokens,
            f_prices, f_dead, l_start, l_tokens, l_prices, l_dead, before, after, joint, values, inside, outside,
        )  # fmt: skip
        bounds[k] = bound
        if bound <= threshold:
            break
        for v in range(n_vertices):
            for e in range(edge_start[v], edge_start[v + 1]):
                if values[e] + outside[v] <= threshold:
                    alive[e] = False
        token_marginals(
            edge_start, symbol_start, symbols, highest, reverse, first_token, last_token, begin, end, f_start, f_tokens, f_prices, f_dead,
            l_start, l_tokens, l_prices, l_dead, before, after, joint, values, inside, outside, word_before, word_after, pairs, f_below,
            f_around, l_below, l_around,
        )  # fmt: skip
        if k == iterations - 1 or (k >= PATIENCE and bounds[k - PATIENCE] - bound < STALL * (bounds[k - PATIENCE] - threshold)):
            break
        move(f_prices, f_dead, f_below, f_around, threshold, resolution)
        move(l_prices, l_dead, l_below, l_around, threshold, resolution)
    take_inside_out(f_start, f_around, inside)
    take_inside_out(l_start, l_around, inside)
    return bound
