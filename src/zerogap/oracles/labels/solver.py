"""The best labelling under automata, by whatever proves it first: the loop around the bounds and the searches.

Viterbi comes first, and is enough for most sequences (Tromble & Eisner 2006, section 5.2.2). Then a short best-first search
that knows only the machines found broken so far (figure 2's idea: the others are relaxed). What is still open is closed in
rounds: prices on counts are tuned, machines without a count that stay broken are selected into the bound, and a sweep looks for
labellings above a threshold that falls from round to round (Rush 2014, section 7.7: search and multipliers in turn). For
sweeps, machines are grouped: the product of several, minimised, stands for them. Machines with one state are folded into the
scores of the nodes.
"""

from __future__ import annotations

import numpy as np

from zerogap.kernels import boolean, float64, inner, int64, kernel, readonly, types, writable
from zerogap.oracles.labels.bounds import (
    F1,
    F2,
    F3,
    I1,
    MACHINES,
    completions,
    dive,
    fill_jumps,
    find_broken,
    follow_completions,
    price,
    tune,
)
from zerogap.oracles.labels.search import EXHAUSTED, LIMITED, SOLVED, search, sweep

PRICED, SWEPT, OPEN, IMPOSSIBLE = 3, 4, 5, 6  # how rounds ended: the bound of prices is reached, a sweep proved it, not yet, no labelling
TUNING_STEPS = 8  # subgradient steps between two sweeps
DEEPER, DEEPEST = 1.5, 8.0  # how much further below the bound each sweep goes than the last; beyond this share of it, all the way
WIDER = 8  # how much wider the next sweep is if one had to drop prefixes
MOST_MODES = 32  # states of the machines that bounds know of
INCUMBENT, BOUND, LEVEL, DEPTH = range(4)  # entries of `numbers`
WIDTH, SELECTED = range(2)  # entries of `sizes`


@inner
def fold(nodes, first, follow, base, n_states, table_of, is_hard, folded):  # out: nodes, first, folded (machines,)
    """Hard machines with one state only forbid labels at positions."""
    n, size = nodes.shape
    for c in range(n_states.shape[0]):
        folded[c] = n_states[c] == 1 and is_hard[c]
        if folded[c]:
            for t in range(n):
                for j in range(size):
                    if follow[base[c] + table_of[c, t] * size + j] < 0:
                        nodes[t, j] = -np.inf
                        if t == 0:
                            first[j] = -np.inf


@inner
def transposed(edges):
    result = np.empty_like(edges)
    for t in range(edges.shape[0]):
        for i in range(edges.shape[1]):
            for j in range(edges.shape[2]):
                result[t, j, i] = edges[t, i, j]
    return result


@inner
def activate(active, broken, group_of):  # out: active; returns whether any is new
    """Machines that turned out broken are relaxed no longer, and neither is the group that each is in."""
    new = False
    for c in range(group_of.shape[0]):
        if broken[c] and not active[group_of[c]]:
            active[group_of[c]] = new = True
    return new


@kernel(
    types.Tuple((int64, float64))(
        writable(float64, 2), F3, writable(float64, 1), *MACHINES, F1, readonly(boolean, 1), int64,
        writable(boolean, 1), writable(boolean, 1), writable(int64, 1),
    )
)  # fmt: skip
def first_look(
    nodes, edges, first, follow, base, n_states, table_of, final, final_base, penalties, is_hard, limit, folded, active, path
):  # out: nodes, first (folded), folded, active (machines,), path (n,)  # fmt: skip
    """Viterbi, then searches of `limit` looks in all under the machines found broken. SOLVED, EXHAUSTED or LIMITED, and the score."""
    n, size = nodes.shape
    m = n_states.shape[0]
    fold(nodes, first, follow, base, n_states, table_of, is_hard, folded)
    edges_to = transposed(edges)
    jump, jump_of = np.zeros((1, 1, size), dtype=np.int32), np.zeros(n, dtype=np.int64)
    rest = np.empty((n, 1, size))
    completions(nodes, edges_to, jump, jump_of, rest, np.empty(size))
    score = follow_completions(nodes, edges_to, first, jump, jump_of, rest, path)
    for c in range(m):
        active[c] = False
    if score == -np.inf:
        return EXHAUSTED, score
    broken, alone = np.empty(m, dtype=np.bool_), np.arange(m)
    looks = 0
    while find_broken(path, size, follow, base, n_states, table_of, final, final_base, broken) > 0:
        if not activate(active, broken, alone):
            break  # only soft ones, which are paid for
        reason, found, more = search(
            nodes, edges, first, rest, edges, first, 0.0, follow, base, n_states, table_of, final, final_base, penalties, is_hard,
            np.flatnonzero(active), jump, jump_of, -np.inf, limit - looks, path,
        )  # fmt: skip
        looks += more
        if reason != SOLVED:
            return reason, score if reason == LIMITED else -np.inf
        score = found
    return SOLVED, score


@inner
def select_more(n_selected, selected, broken, is_counted, is_hard, folded, n_states):  # out: selected; returns how many are
    """Adds the smallest broken machines that have no count to price, as long as the bound stays cheap."""
    modes = 1
    for i in range(n_selected):
        modes *= n_states[selected[i]]
        broken[selected[i]] = False
    while True:
        smallest = -1
        for c in range(n_states.shape[0]):
            if broken[c] and is_hard[c] and not is_counted[c] and not folded[c] and modes * n_states[c] <= MOST_MODES:
                if smallest < 0 or n_states[c] < n_states[smallest]:
                    smallest = c
        if smallest < 0:
            return n_selected
        selected[n_selected] = smallest
        broken[smallest] = False
        modes *= n_states[smallest]
        n_selected += 1


@inner
def kinds_of_tokens(selected, table_of, jump_of, tokens):  # out: jump_of (n,), tokens (n,); returns how many kinds there are
    """Tokens that all selected machines read alike are of one kind; the last token is of its own."""
    n = table_of.shape[1]
    kinds = 0
    for t in range(n):
        kind = 0
        while kind < kinds:
            same = t < n - 1
            for i in range(selected.shape[0]):
                same = same and table_of[selected[i], t] == table_of[selected[i], tokens[kind]]
            if same:
                break
            kind += 1
        if kind == kinds:
            tokens[kinds] = t
            kinds += 1
        jump_of[t] = kind
    return kinds


@kernel(
    int64(
        F2, F3, F1, F3, F1, F1, I1, readonly(boolean, 1), float64, float64, *MACHINES, F1, readonly(boolean, 1), readonly(boolean, 1),
        I1, int64, int64, writable(float64, 1), writable(int64, 1), writable(int64, 1), writable(boolean, 1), writable(boolean, 1),
        writable(float64, 1), writable(int64, 1),
    )
)  # fmt: skip
def close(
    nodes, edges, first, steps, low, high, counted, is_counted, resolution, largest,
    follow, base, n_states, table_of, final, final_base, penalties, is_hard, folded,
    group_of, rounds, widest, numbers, sizes, selected, broken, active, multipliers, path,
):  # out: numbers, sizes, selected, broken (machines,), active (machines and groups,), multipliers (counts,), path (n,)  # fmt: skip
    """Rounds of tuning and sweeping; all that they need to go on later is in their outputs.

    After the machines come the groups; group_of[c] is the group that stands for machine c in sweeps, or c itself. `numbers`: the
    score of `path`, which may be -inf; the bound; the level and the depth that tuning and sweeping have come to. `sizes`: how many
    prefixes of one length a sweep may keep, how many machines are selected.
    """
    n, size = nodes.shape
    m = group_of.shape[0]
    own = (follow, base[:m], n_states[:m], table_of[:m], final, final_base[:m], penalties[:m], is_hard[:m])
    level, candidate = np.empty(1), np.empty((1, n), dtype=np.int64)
    found, is_broken = np.empty(1), np.empty(m, dtype=np.bool_)
    priced, priced_to, priced_first = np.empty_like(edges), np.empty_like(edges), np.empty_like(first)
    tokens, jump_of = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for _ in range(rounds):
        sizes[SELECTED] = select_more(sizes[SELECTED], selected, broken, is_counted, is_hard, folded, n_states[:m])
        chosen = selected[: sizes[SELECTED]]
        modes = 1
        for c in chosen:
            modes *= n_states[c]
            active[group_of[c]] = True
        jump = np.empty((kinds_of_tokens(chosen, table_of, jump_of, tokens), modes, size), dtype=np.int32)
        fill_jumps(own[0], own[1], own[2], own[3], own[4], own[5], chosen, jump, tokens)
        level[0] = numbers[LEVEL]
        numbers[BOUND], numbers[INCUMBENT], _ = tune(
            nodes, edges, first, steps, low, high, resolution, largest,
            own[0], own[1], own[2], own[3], own[4], own[5], own[6], own[7], jump, jump_of,
            numbers[INCUMBENT], TUNING_STEPS, level, multipliers, path, broken,
        )  # fmt: skip
        numbers[LEVEL] = level[0]
        if numbers[BOUND] == -np.inf:
            return IMPOSSIBLE
        if numbers[INCUMBENT] >= numbers[BOUND]:
            return PRICED
        activate(active, broken, group_of)
        refunds = 0.0
        for c in range(multipliers.shape[0]):
            if multipliers[c] != 0.0:
                refunds += multipliers[c] * (high[c] if multipliers[c] > 0.0 else low[c])
                active[group_of[counted[c]]] = True  # else prefixes that differ in what they paid would be taken for equals
        price(edges, first, steps, multipliers, priced, priced_to, priced_first)
        rest = np.empty((n, modes, size))
        completions(nodes, priced_to, jump, jump_of, rest, np.empty(size))
        dived = dive(
            nodes, edges, first, rest, priced, priced_first,
            own[0], own[1], own[2], own[3], own[4], own[5], own[6], own[7], jump, jump_of, candidate[0],
        )  # fmt: skip
        if dived > numbers[INCUMBENT]:
            numbers[INCUMBENT] = dived
            path[:] = candidate[0]
        threshold = max(numbers[INCUMBENT], numbers[BOUND] - numbers[DEPTH])
        while True:
            reason, n_found, dropped = sweep(
                nodes, edges, first, rest, priced, priced_first, refunds,
                follow, base, n_states, table_of, final, final_base, penalties, is_hard, np.flatnonzero(active), jump, jump_of,
                threshold, sizes[WIDTH], found, candidate,
            )  # fmt: skip
            numbers[BOUND] = min(numbers[BOUND], max(found[0], dropped))
            if n_found == 0:
                break
            find_broken(candidate[0], size, own[0], own[1], own[2], own[3], own[4], own[5], is_broken)
            if not activate(active, is_broken, group_of):
                numbers[INCUMBENT] = found[0]
                path[:] = candidate[0]
                break
        if reason == LIMITED:
            if sizes[WIDTH] == widest:
                return OPEN
            sizes[WIDTH] = min(WIDER * sizes[WIDTH], widest)
        elif threshold <= numbers[INCUMBENT]:
            return SWEPT if numbers[INCUMBENT] > -np.inf else IMPOSSIBLE
        else:
            numbers[DEPTH] = np.inf if numbers[DEPTH] > DEEPEST * (abs(numbers[BOUND]) + 1.0) else DEEPER * numbers[DEPTH]
    return OPEN
