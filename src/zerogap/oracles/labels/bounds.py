"""Bounds on what may follow a prefix of a labelling: backward Viterbi over labels and a few automata, under prices.

Machines come in flat arrays: the state of machine c after state q reads lattice state j at token t is
follow[base[c] + (table_of[c, t] * n_states[c] + q) * S + j], negative if it is lost. A bound may know some *selected* machines,
whose states together are its mode, and prices on counts that others imply. Prices are tuned by subgradient steps.
"""

from __future__ import annotations

import numpy as np

from zerogap.kernels import boolean, float64, int32, int64, kernel, readonly, types, writable
from zerogap.oracles.push import push_max

NOTHING = -1
F1, F2, F3 = readonly(float64, 1), readonly(float64, 2), readonly(float64, 3)
I1, I2 = readonly(int64, 1), readonly(int32, 2)
MACHINES = (readonly(int32, 1), I1, I1, I2, readonly(boolean, 1), I1)  # follow, base, n_states, table_of, final, final_base
JUMPS = (readonly(int32, 3), readonly(int64, 1))  # jump, jump_of: see fill_jumps


@kernel(int64(*MACHINES, I1, writable(int32, 3), readonly(int64, 1)))
def fill_jumps(follow, base, n_states, table_of, final, final_base, selected, jump, tokens):  # out: jump (kinds, modes, S)
    """The states of the selected machines, as one number (their mode), after a token got a lattice state; NOTHING if one is lost.

    Tokens that all selected machines read alike share a kind: `tokens` has one of each.
    """
    size = jump.shape[2]
    for kind in range(jump.shape[0]):
        t = tokens[kind]
        for mode in range(jump.shape[1]):
            for j in range(size):
                left, after, place = mode, 0, 1
                for k in range(selected.shape[0]):
                    c = selected[k]
                    q = follow[base[c] + (table_of[c, t] * n_states[c] + left % n_states[c]) * size + j]
                    if q < 0 or (t == table_of.shape[1] - 1 and not final[final_base[c] + q]):
                        after = NOTHING
                        break
                    after += q * place
                    left //= n_states[c]
                    place *= n_states[c]
                jump[kind, mode, j] = after
    return 0


@kernel(int64(F2, F3, *JUMPS, writable(float64, 3), writable(float64, 1)))
def completions(nodes, edges_to, jump, jump_of, best, value):  # out: best (n, modes, S), what may follow a state; value (S,) is scratch
    """best[t, p, i] = max_j (edge[i, j] + nodes[t + 1, j] + best[t + 1, p after j, j]); `edges_to[., j, i]` is edge[i, j]."""
    n, size = nodes.shape
    for mode in range(best.shape[1]):
        for i in range(size):
            best[n - 1, mode, i] = 0.0
    for t in range(n - 2, -1, -1):
        table, jumps = edges_to[t if edges_to.shape[0] > 1 else 0], jump[jump_of[t + 1]]
        for mode in range(best.shape[1]):
            for i in range(size):
                after = jumps[mode, i]
                value[i] = nodes[t + 1, i] + best[t + 1, after, i] if after != NOTHING else -np.inf
                best[t, mode, i] = -np.inf
            for j in range(size):
                if value[j] > -np.inf:
                    push_max(0, size, best[t, mode], table[j], value[j])
    return 0


@kernel(float64(F2, F3, F1, *JUMPS, F3, writable(int64, 1)))
def follow_completions(nodes, edges_to, first, jump, jump_of, best, path):  # out: path (n,); returns its score
    """The best path by the scores of completions; `first` scores the first state. Ties go to the lowest state."""
    n, size = nodes.shape
    total, mode, next_mode = -np.inf, 0, 0
    for t in range(n):
        most = -np.inf
        for j in range(size):
            after = jump[jump_of[t], mode, j]
            if after != NOTHING:
                step = first[j] if t == 0 else edges_to[t - 1 if edges_to.shape[0] > 1 else 0, j, path[t - 1]] + nodes[t, j]
                if step + best[t, after, j] > most:
                    most, path[t], next_mode = step + best[t, after, j], j, after
        if t == 0:
            total = most
        if most == -np.inf:
            return most
        mode = next_mode
    return total


@kernel(int64(readonly(int64, 1), int64, readonly(int32, 1), I1, I1, I2, readonly(boolean, 1), I1, writable(boolean, 1)))
def find_broken(path, size, follow, base, n_states, table_of, final, final_base, broken):  # out: broken (machines,); returns how many
    """Which machines do not accept a path of lattice states."""
    n_broken = 0
    for c in range(n_states.shape[0]):
        state = 0
        for t in range(path.shape[0]):
            state = follow[base[c] + (table_of[c, t] * n_states[c] + state) * size + path[t]]
            if state < 0:
                break
        broken[c] = state < 0 or not final[final_base[c] + state]
        n_broken += broken[c]
    return n_broken


@kernel(int64(F3, F1, F3, F1, writable(float64, 3), writable(float64, 3), writable(float64, 1)))
def price(edges, first, steps, multipliers, priced, priced_to, priced_first):  # out: priced, priced_to (T, S, S), priced_first (S,)
    """Scores less the prices of the counts that they add to; `priced_to` is transposed."""
    size = first.shape[0]
    for t in range(edges.shape[0]):
        for i in range(size):
            for j in range(size):
                priced[t, i, j] = edges[t, i, j]
    for j in range(size):
        priced_first[j] = first[j]
    for c in range(multipliers.shape[0]):
        if multipliers[c] != 0.0:
            for t in range(edges.shape[0]):
                for i in range(size):
                    for j in range(size):
                        priced[t, i, j] -= multipliers[c] * steps[c, i, j]
            for j in range(size):
                priced_first[j] -= multipliers[c] * steps[c, size, j]
    for t in range(edges.shape[0]):
        for i in range(size):
            for j in range(size):
                priced_to[t, j, i] = priced[t, i, j]
    return 0


@kernel(
    types.Tuple((float64, float64, int64))(
        F2, F3, F1, F3, F1, F1, float64, float64, *MACHINES, F1, readonly(boolean, 1), *JUMPS,
        float64, int64, writable(float64, 1), writable(float64, 1), writable(int64, 1), writable(boolean, 1),
    )
)  # fmt: skip
def tune(
    nodes, edges, first, steps, low, high, resolution, largest,
    follow, base, n_states, table_of, final, final_base, penalties, is_hard, jump, jump_of,
    incumbent, iterations, level, multipliers, best_path, broken,
):  # out: level (1,), multipliers (counts,), best_path (n,) if a better one was found, broken (machines,) at the best bound  # fmt: skip
    """Subgradient steps on the prices of counts; returns the best bound, the best score, and how many steps were taken.

    Every labelling that the machines accept has low <= count <= high, so L(u) = best priced score + sum of u high (or u low
    where u < 0) is a bound. Steps are Polyak's, towards the best bound less a level that shrinks when it is not reached.
    """
    n, size = nodes.shape
    n_counts, m = multipliers.shape[0], n_states.shape[0]
    priced, priced_to, priced_first = np.empty_like(edges), np.empty_like(edges), np.empty(size)
    rest, value = np.empty((n, jump.shape[1], size)), np.empty(size)
    path, counts, direction = np.empty(n, dtype=np.int64), np.empty(n_counts), np.empty(n_counts)
    is_broken = np.empty(m, dtype=np.bool_)
    current = multipliers.copy()
    best_bound, stalled, taken = np.inf, 0, 0
    for iteration in range(iterations):
        price(edges, first, steps, current, priced, priced_to, priced_first)
        completions(nodes, priced_to, jump, jump_of, rest, value)
        bound = follow_completions(nodes, priced_to, priced_first, jump, jump_of, rest, path)
        taken += 1
        if bound == -np.inf:
            return bound, incumbent, taken
        for c in range(n_counts):
            bound += current[c] * (high[c] if current[c] > 0.0 else low[c]) if current[c] != 0.0 else 0.0
            counts[c] = steps[c, size, path[0]]
            for t in range(1, n):
                counts[c] += steps[c, path[t - 1], path[t]]
        find_broken(path, size, follow, base, n_states, table_of, final, final_base, is_broken)
        if bound < best_bound:
            best_bound, stalled = bound, 0
            for c in range(m):
                broken[c] = is_broken[c]
            for c in range(n_counts):
                multipliers[c] = current[c]
        else:
            stalled += 1
        total, lost = first[path[0]], False
        for t in range(1, n):
            total += edges[t - 1 if edges.shape[0] > 1 else 0, path[t - 1], path[t]] + nodes[t, path[t]]
        for c in range(m):
            if is_broken[c]:
                lost = lost or is_hard[c]
                total -= penalties[c]
        if not lost and total > incumbent:
            incumbent = total
            for t in range(n):
                best_path[t] = path[t]
        if incumbent >= best_bound:
            break
        norm = 0.0
        for c in range(n_counts):
            direction[c] = 0.0
            if counts[c] > high[c] or (current[c] > 0.0 and counts[c] < high[c]):
                direction[c] = counts[c] - high[c]
            elif counts[c] < low[c] or (current[c] < 0.0 and counts[c] > low[c]):
                direction[c] = counts[c] - low[c]
            norm += direction[c] * direction[c]
        if norm == 0.0:
            break
        if stalled >= 4:
            level[0] *= 0.5
            stalled = 0
        length = np.ceil((bound - max(best_bound - level[0], incumbent)) / norm / resolution) * resolution
        for c in range(n_counts):
            moved = current[c] + length * direction[c]
            if high[c] == np.inf or (current[c] < 0.0 and direction[c] > 0.0):
                moved = min(moved, 0.0)
            if low[c] == 0.0 or (current[c] > 0.0 and direction[c] < 0.0):
                moved = max(moved, 0.0)
            current[c] = min(max(moved, -largest), largest)
    return best_bound, incumbent, taken


@kernel(float64(F2, F3, F1, F3, F3, F1, *MACHINES, F1, readonly(boolean, 1), *JUMPS, writable(int64, 1)))
def dive(
    nodes, edges, first, rest, priced_edges, priced_first,
    follow, base, n_states, table_of, final, final_base, penalties, is_hard, jump, jump_of, path,
):  # out: path (n,)  # fmt: skip
    """A good labelling: the most promising state that no hard machine forbids, token by token. Its score, -inf at a dead end."""
    n, size = nodes.shape
    m = n_states.shape[0]
    states, lost = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.bool_)
    total, mode, next_mode = 0.0, 0, 0
    for t in range(n):
        most, added = -np.inf, 0.0
        row = t - 1 if edges.shape[0] > 1 else 0
        for j in range(size):
            after = jump[jump_of[t], mode, j]
            if after == NOTHING:
                continue
            step = priced_first[j] if t == 0 else priced_edges[row, path[t - 1], j] + nodes[t, j]
            reach, penalty = step + rest[t, after, j], 0.0
            if not reach > most:
                continue
            for c in range(m):
                if lost[c]:
                    continue
                q = follow[base[c] + (table_of[c, t] * n_states[c] + states[c]) * size + j]
                if q < 0 or (t == n - 1 and not final[final_base[c] + q]):
                    penalty += np.inf if is_hard[c] else penalties[c]
            if reach - penalty > most:
                most, path[t], next_mode = reach - penalty, j, after
                added = (first[j] if t == 0 else edges[row, path[t - 1], j] + nodes[t, j]) - penalty
        if most == -np.inf:
            return most
        total += added
        mode = next_mode
        for c in range(m):
            if not lost[c]:
                states[c] = follow[base[c] + (table_of[c, t] * n_states[c] + states[c]) * size + path[t]]
                lost[c] = states[c] < 0
    return total
