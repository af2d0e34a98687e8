"""Label lattices as explicit acyclic automata, and their intersection with constraints (Tromble & Eisner 2006, section 3).

States are numbered token by token: those after t tokens are layer[t] .. layer[t + 1] - 1, state 0 is the start, and every
state of the last layer accepts. The arcs of state s are first_arc[s] .. first_arc[s + 1] - 1; arc a reads lattice state
symbol[a], goes to target[a] and scores weight[a]. Every state lies on a path from the start to the end.
"""

from __future__ import annotations

import numpy as np

from zerogap.kernels import float64, inner, int64, kernel, types, writable
from zerogap.oracles.growing_arrays import grown, grown_numbers
from zerogap.oracles.labels.bounds import F1, F2, F3, I1, MACHINES, NOTHING

ARRAYS = (writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(float64, 1))
LATTICE = (I1, I1, I1, I1, F1)  # layer, first_arc, target, symbol, weight
OF_LATTICE = types.Tuple(ARRAYS)


@inner
def connected(layer, first_arc, target, symbol, weight, kept):
    """Only the arcs that are kept and lie on a path from the start to the end."""
    n_states, n = first_arc.shape[0] - 1, layer.shape[0] - 2
    ending = np.zeros(n_states, dtype=np.bool_)
    ending[layer[n] :] = True
    for s in range(layer[n] - 1, -1, -1):
        for a in range(first_arc[s], first_arc[s + 1]):
            kept[a] = kept[a] and ending[target[a]]
            ending[s] = ending[s] or kept[a]
    number = np.full(n_states, NOTHING, dtype=np.int64)
    number[:1] = 0  # an empty lattice has no start
    for s in range(layer[n]):  # reached states get 1 first, and their numbers below
        if number[s] != NOTHING:
            for a in range(first_arc[s], first_arc[s + 1]):
                if kept[a]:
                    number[target[a]] = 1
    count = 0
    new_layer = np.zeros_like(layer)
    for t in range(n + 1):
        for s in range(layer[t], layer[t + 1]):
            if number[s] != NOTHING and ending[s]:
                number[s] = count
                count += 1
            else:
                number[s] = NOTHING
        new_layer[t + 1] = count
    new_first = np.zeros(count + 1, dtype=np.int64)
    n_arcs = 0
    for s in range(n_states):
        if number[s] != NOTHING:
            for a in range(first_arc[s], first_arc[s + 1]):
                if kept[a]:
                    target[n_arcs], symbol[n_arcs], weight[n_arcs] = number[target[a]], symbol[a], weight[a]
                    n_arcs += 1
            new_first[number[s] + 1] = n_arcs
    return new_layer, new_first, target[:n_arcs].copy(), symbol[:n_arcs].copy(), weight[:n_arcs].copy()


@kernel(OF_LATTICE(F2, F3, F1))
def lattice_of_scores(nodes, edges, first):
    """All that the scores allow, one state per token and lattice state."""
    n, size = nodes.shape
    layer = np.zeros(n + 2, dtype=np.int64)
    for t in range(n + 1):
        layer[t + 1] = 1 + t * size
    first_arc = np.zeros(layer[n + 1] + 1, dtype=np.int64)
    n_arcs, most = 0, size + (n - 1) * size * size
    target, symbol, weight = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64), np.empty(most)
    for t in range(n):
        for s in range(layer[t], layer[t + 1]):
            i = s - layer[t]
            for j in range(size):
                score = first[j] if t == 0 else edges[t - 1 if edges.shape[0] > 1 else 0, i, j] + nodes[t, j]
                if score > -np.inf:
                    target[n_arcs], symbol[n_arcs], weight[n_arcs] = layer[t + 1] + j, j, score
                    n_arcs += 1
            first_arc[s + 1] = n_arcs
    first_arc[layer[n] + 1 :] = n_arcs
    return connected(layer, first_arc, target, symbol, weight, np.ones(n_arcs, dtype=np.bool_))


@kernel(OF_LATTICE(*LATTICE, *MACHINES, int64, int64, float64))
def intersect(layer, first_arc, target, symbol, weight, follow, base, n_states, table_of, final, final_base, c, size, penalty):
    """The paths that machine c accepts: the part of the product that lies on one. The others too at a finite penalty.

    A path that is lost goes on in a state of its own, n_states[c].
    """
    n = layer.shape[0] - 2
    states = n_states[c] + 1
    new_layer = np.zeros_like(layer)
    n_new, n_arcs = min(layer[1], 1), 0
    new_layer[1:] = n_new
    of_state, of_machine = np.zeros(256, dtype=np.int64), np.zeros(256, dtype=np.int64)
    new_first = np.zeros(257, dtype=np.int64)
    new_target, new_symbol, new_weight = np.empty(512, dtype=np.int64), np.empty(512, dtype=np.int64), np.empty(512)
    for t in range(n):
        number = np.full((layer[t + 2] - layer[t + 1]) * states, NOTHING, dtype=np.int64)
        row = base[c] + table_of[c, t] * n_states[c] * size
        for s in range(new_layer[t], new_layer[t + 1]):
            for a in range(first_arc[of_state[s]], first_arc[of_state[s] + 1]):
                q, lost = n_states[c], 0.0
                if of_machine[s] < n_states[c]:
                    q = follow[row + of_machine[s] * size + symbol[a]]
                    if q < 0 or (t == n - 1 and not final[final_base[c] + q]):
                        if penalty == np.inf:
                            continue
                        q, lost = n_states[c], penalty
                pair = (target[a] - layer[t + 1]) * states + q
                if number[pair] == NOTHING:
                    of_state, of_machine = grown(of_state, n_new + 1), grown(of_machine, n_new + 1)
                    new_first = grown(new_first, n_new + 2)
                    of_state[n_new], of_machine[n_new], number[pair] = target[a], q, n_new
                    n_new += 1
                new_target, new_symbol = grown(new_target, n_arcs + 1), grown(new_symbol, n_arcs + 1)
                new_weight = grown_numbers(new_weight, n_arcs + 1)
                new_target[n_arcs], new_symbol[n_arcs], new_weight[n_arcs] = number[pair], symbol[a], weight[a] - lost
                n_arcs += 1
            new_first[s + 1] = n_arcs
        new_layer[t + 2] = n_new
    new_first[new_layer[n] + 1 : n_new + 1] = n_arcs
    return connected(new_layer, new_first[: n_new + 1], new_target, new_symbol, new_weight, np.ones(n_arcs, dtype=np.bool_))


@kernel(float64(*LATTICE, writable(int64, 1)))
def best_path(layer, first_arc, target, symbol, weight, path):  # out: path (n,); returns its score, -inf if the lattice is empty
    """Viterbi from the end; ties go to the first arc."""
    n = layer.shape[0] - 2
    if layer[n + 1] == layer[n]:
        return -np.inf
    rest = np.zeros(first_arc.shape[0] - 1)
    for s in range(layer[n] - 1, -1, -1):
        rest[s] = -np.inf
        for a in range(first_arc[s], first_arc[s + 1]):
            rest[s] = max(rest[s], weight[a] + rest[target[a]])
    s = 0
    for t in range(n):
        a = first_arc[s]
        while weight[a] + rest[target[a]] != rest[s]:
            a += 1
        path[t], s = symbol[a], target[a]
    return rest[0]


@kernel(OF_LATTICE(*LATTICE, float64))
def pruned(layer, first_arc, target, symbol, weight, threshold):
    """Without the arcs whose max-marginal does not exceed the threshold: no path through them scores more (footnote 4)."""
    n_states, n = first_arc.shape[0] - 1, layer.shape[0] - 2
    prefix, rest = np.full(n_states, -np.inf), np.zeros(n_states)
    kept = np.empty(target.shape[0], dtype=np.bool_)
    prefix[:1] = 0.0
    for s in range(layer[n] - 1, -1, -1):
        rest[s] = -np.inf
        for a in range(first_arc[s], first_arc[s + 1]):
            rest[s] = max(rest[s], weight[a] + rest[target[a]])
    for s in range(layer[n]):
        for a in range(first_arc[s], first_arc[s + 1]):
            prefix[target[a]] = max(prefix[target[a]], prefix[s] + weight[a])
            kept[a] = prefix[s] + weight[a] + rest[target[a]] > threshold
    return connected(layer, first_arc, target.copy(), symbol.copy(), weight.copy(), kept)
