"""Dual decomposition of a lattice and any number of automata that must read the same labels (Rush 2014, section 3.5).

    L(u) = max_y (score(y) - sum_c u_c . y) + sum_c max_{z accepted by c} u_c . z

Every machine has prices u_c[t, label] on the tokens that it looks at: at the others its state stays as it is. A soft machine may
choose any z, and pays its penalty where it does not accept it. Prices move by subgradient steps: up where the lattice uses a
label and the machine does not, down where it is the other way round.
"""

from __future__ import annotations

import numpy as np

from zerogap.kernels import boolean, float64, inlined, inner, int64, kernel, readonly, types, writable
from zerogap.oracles.labels.bounds import F1, F2, F3, I1, MACHINES, completions, dive, find_broken, follow_completions


@inner
def priced_nodes(nodes, first, n_labels, looks_from, looks_at, prices, priced, priced_first):  # out: priced (n, S), priced_first (S,)
    """Scores less the prices of the labels; the label of a lattice state is its remainder by the number of labels."""
    n, size = nodes.shape
    for t in range(n):
        for s in range(size):
            priced[t, s] = nodes[t, s]
    for s in range(size):
        priced_first[s] = first[s]
    for c in range(looks_from.shape[0] - 1):
        for p in range(looks_from[c], looks_from[c + 1]):
            t = looks_at[p]
            for s in range(size):
                price = prices[p * n_labels + s % n_labels]
                if price != 0.0:
                    priced[t, s] -= price
                    if t == 0:
                        priced_first[s] -= price


@inlined
def read(c, q, t, a, size, penalty, follow, base, n_states, table_of):
    """The state of machine c after label a of token t, and what is paid if it is lost there; n_states[c] if it was lost."""
    after, paid = np.int64(n_states[c]), 0.0
    if q < n_states[c]:
        after = np.int64(follow[base[c] + (table_of[c, t] * n_states[c] + q) * size + a])
        if after < 0:
            after, paid = np.int64(n_states[c]), penalty
    return after, paid


@inner
def best_reading(
    c, size, n_labels, looks_from, looks_at, prices, allowed, path,
    follow, base, n_states, table_of, final, final_base, penalty, value, reading,
):  # out: value (looks + 1, states + 1), reading (looks,)  # fmt: skip
    """The labels that machine c would choose, and what they are worth; where several are equal, the one of the path."""
    begin, end, states = looks_from[c], looks_from[c + 1], n_states[c]
    looks = end - begin
    for q in range(states):
        value[looks, q] = 0.0 if final[final_base[c] + q] else -penalty
    value[looks, states] = 0.0  # lost before, and paid for
    for p in range(looks - 1, -1, -1):
        t = looks_at[begin + p]
        for q in range(states + 1):
            best = -np.inf
            for a in range(n_labels):
                if allowed[t, a]:
                    after, paid = read(c, q, t, a, size, penalty, follow, base, n_states, table_of)
                    best = max(best, prices[(begin + p) * n_labels + a] - paid + value[p + 1, after])
            value[p, q] = best
    if value[0, 0] == -np.inf:
        return value[0, 0]
    q = 0
    for p in range(looks):
        t = looks_at[begin + p]
        chosen, chosen_after = -1, 0
        for a in range(n_labels):
            if allowed[t, a]:
                after, paid = read(c, q, t, a, size, penalty, follow, base, n_states, table_of)
                if prices[(begin + p) * n_labels + a] - paid + value[p + 1, after] == value[p, q]:
                    if chosen < 0 or a == path[t] % n_labels:
                        chosen, chosen_after = a, after
        reading[begin + p], q = chosen, chosen_after
    return value[0, 0]


@kernel(
    types.Tuple((float64, float64, int64))(
        F2, F3, F3, F1, int64, *MACHINES, F1, readonly(boolean, 1), I1, I1, readonly(boolean, 2), float64, float64, float64, int64,
        writable(float64, 1), writable(float64, 1), writable(int64, 1), writable(int64, 1), writable(int64, 1),
    )
)  # fmt: skip
def agree(
    nodes, edges, edges_to, first, n_labels, follow, base, n_states, table_of, final, final_base, penalties, is_hard,
    looks_from, looks_at, allowed, resolution, largest, incumbent, iterations,
    level, prices, path, reading, best_path,
):  # out: level (1,), prices at the best bound (looks * labels,), path and reading of the last step, best_path  # fmt: skip
    """The best bound, the best score found, and on how many looks path and readings disagreed at last (0: the bound is reached).

    Steps are Polyak's, towards the incumbent or the best bound less a level that shrinks when it is not reached.
    """
    n, size = nodes.shape
    m, n_looks = n_states.shape[0], looks_at.shape[0]
    priced, priced_first = np.empty_like(nodes), np.empty_like(first)
    jump, jump_of = np.zeros((1, 1, size), dtype=np.int32), np.zeros(n, dtype=np.int64)
    rest, scratch = np.empty((n, 1, size)), np.empty(size)
    most_looks, most_states = 0, 0
    for c in range(m):
        most_looks, most_states = max(most_looks, looks_from[c + 1] - looks_from[c]), max(most_states, n_states[c])
    value = np.empty((most_looks + 1, most_states + 1))
    is_broken, dived = np.empty(m, dtype=np.bool_), np.empty(n, dtype=np.int64)
    current = prices.copy()
    best_bound, stalled, apart = np.inf, 0, 0
    for iteration in range(iterations):
        priced_nodes(nodes, first, n_labels, looks_from, looks_at, current, priced, priced_first)
        completions(priced, edges_to, jump, jump_of, rest, scratch)
        bound = follow_completions(priced, edges_to, priced_first, jump, jump_of, rest, path)
        if bound == -np.inf:
            return bound, incumbent, 0
        for c in range(m):
            worth = best_reading(
                c, size, n_labels, looks_from, looks_at, current, allowed, path, follow, base, n_states, table_of, final, final_base,
                np.inf if is_hard[c] else penalties[c], value, reading,
            )  # fmt: skip
            if worth == -np.inf:
                return worth, incumbent, 0
            bound += worth
        if bound < best_bound:
            best_bound, stalled = bound, 0
            for i in range(prices.shape[0]):
                prices[i] = current[i]
        else:
            stalled += 1
        for attempt in range(2):
            candidate = path
            if attempt == 1:  # the most promising labels that no hard machine forbids, by the priced scores
                if iteration % 8 != 0:
                    break
                candidate = dived
                if dive(
                    priced, edges, priced_first, rest, edges, priced_first, follow, base, n_states, table_of, final, final_base, penalties,
                    is_hard, jump, jump_of, dived,
                ) == -np.inf:  # fmt: skip
                    break
            find_broken(candidate, size, follow, base, n_states, table_of, final, final_base, is_broken)
            total = first[candidate[0]]
            for t in range(1, n):
                total += edges[t - 1 if edges.shape[0] > 1 else 0, candidate[t - 1], candidate[t]] + nodes[t, candidate[t]]
            for c in range(m):
                if is_broken[c]:
                    total -= np.inf if is_hard[c] else penalties[c]
            if total > incumbent:
                incumbent = total
                for t in range(n):
                    best_path[t] = candidate[t]
        apart = 0
        for p in range(n_looks):
            apart += reading[p] != path[looks_at[p]] % n_labels
        if apart == 0 or incumbent >= best_bound:
            break
        if stalled >= 4:
            level[0] *= 0.5
            stalled = 0
        length = np.ceil((bound - max(best_bound - level[0], incumbent)) / (2.0 * apart) / resolution) * resolution
        for p in range(n_looks):
            y, z = path[looks_at[p]] % n_labels, reading[p]
            if y != z:
                current[p * n_labels + y] = min(current[p * n_labels + y] + length, largest)
                current[p * n_labels + z] = max(current[p * n_labels + z] - length, -largest)
    return best_bound, incumbent, apart
