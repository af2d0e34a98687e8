"""Best-first search for the best labelling under automata: exact, with Viterbi scores of the rest as the bound.

A search state is a token, a lattice state and the states of all machines, packed into one number. What can still follow is
bounded by the best completion that a few *selected* machines allow (backward Viterbi over lattice and selected states), under
prices on counts that other machines imply:

    bound(prefix) = priced score of the prefix + best priced completion + sum of the largest refunds

With nothing selected and no prices it is the heuristic of A*. Prices make it tight where counts bind, selection where order
does. The best prefix in a queue is extended until a complete labelling is worth what the bound of the next best prefix
allows. Of two prefixes that reach the same search state only the better one matters. Soft machines that are lost go to a
state of their own, at their penalty.
"""

from __future__ import annotations

import numpy as np

from zerogap.oracles.compile import boolean, float64, int64, kernel, readonly, types, writable
from zerogap.oracles.label_bounds import F1, F2, F3, I1, JUMPS, MACHINES, NOTHING
from zerogap.oracles.pools import grown, grown_numbers

SOLVED, EXHAUSTED, LIMITED = 0, 1, 2  # why a search ended: with an optimum, with nothing left, at its limit


@kernel(int64(int64, int64, int64))
def mixed(position, code, mask):
    h = position * 7046029254386353131 + code * 5859967846236521237
    h ^= h >> 29
    return h & mask


@kernel(int64(int64, int64, int64, float64, writable(float64, 1), writable(int64, 1), readonly(int64, 1)))
def enqueue(height, node, position, bound, key, heap, at):  # out: key, heap; returns the new height
    """Highest bound first, then the later token, then the one that came first."""
    i = height
    while i > 0:
        up = (i - 1) // 2
        if key[up] > bound or (key[up] == bound and at[heap[up]] >= position):
            break
        key[i], heap[i] = key[up], heap[up]
        i = up
    key[i], heap[i] = bound, node
    return height + 1


@kernel(int64(int64, writable(float64, 1), writable(int64, 1), readonly(int64, 1)))
def dequeue(height, key, heap, at):  # out: key, heap without their first entry; returns the new height
    height -= 1
    moved, moved_key = heap[height], key[height]
    i = 0
    while 2 * i + 1 < height:
        child = 2 * i + 1
        if child + 1 < height and (key[child + 1] > key[child] or (key[child + 1] == key[child] and at[heap[child + 1]] > at[heap[child]])):
            child += 1
        if moved_key > key[child] or (moved_key == key[child] and at[moved] >= at[heap[child]]):
            break
        key[i], heap[i] = key[child], heap[child]
        i = child
    key[i], heap[i] = moved_key, moved
    return height


@kernel(
    types.Tuple((int64, float64, int64, writable(int64, 1)))(
        F2, F3, F1, F3, F3, F1, float64, *MACHINES, I1, F1, readonly(boolean, 1), I1, *JUMPS, float64, int64,
    )
)  # fmt: skip
def search(
    nodes, edges, first, rest, priced_edges, priced_first, refunds,
    follow, base, n_states, table_of, final, final_base, shift, penalties, is_hard, selected, jump, jump_of,
    incumbent, limit,
):  # fmt: skip
    """The best labelling that scores more than `incumbent`, unless `limit` looks at prefixes end the search first.

    `rest[t, p, s]` bounds what follows in priced scores, `refunds` what prices may give back. The state of machine c has the bits
    of a code from shift[c] to shift[c + 1]. Returns why it ended, the score, how many looks it took, and the path of lattice
    states. A prefix makes its children one by one, the most promising first (partial expansion, Yoshizumi et al. 2000): when
    it comes up, its child of that bound is made, and it goes back into the queue with the bound of the next.
    """
    n, size = nodes.shape
    m = n_states.shape[0]
    path = np.empty(n, dtype=np.int64)
    capacity = 256
    at = np.empty(capacity, dtype=np.int64)  # token * size + state; from n * size on if complete
    code, parent = np.empty(capacity, dtype=np.int64), np.empty(capacity, dtype=np.int64)
    score, priced = np.empty(capacity, dtype=np.float64), np.empty(capacity, dtype=np.float64)
    heap, key = np.empty(capacity, dtype=np.int64), np.empty(capacity, dtype=np.float64)
    n_nodes, height = 0, 0
    slots = np.full(1024, NOTHING, dtype=np.int64)  # the best prefix of a search state
    mask = slots.shape[0] - 1
    mode = 0  # of the selected machines, for the prefix that is looked at
    looks = 0
    current, bound = NOTHING, np.inf  # the prefix that is looked at, and its bound; NOTHING for the empty one
    t, state, prefix_code, prefix_score, prefix_priced = -1, 0, 0, 0.0, 0.0
    while True:
        # make the children that reach the bound, and remember the bound of the best of the others
        next_bound = -np.inf
        row = 0 if edges.shape[0] == 1 or t < 0 else t
        for j in range(size):
            after = jump[jump_of[t + 1], mode, j]
            if after == NOTHING:
                continue
            step_priced = priced_first[j] if t < 0 else priced_edges[row, state, j] + nodes[t + 1, j]
            reach = prefix_priced + step_priced + rest[t + 1, after, j] + refunds
            if reach == -np.inf or reach > bound:
                continue  # impossible, or made before
            if reach < bound and current != NOTHING:
                next_bound = max(next_bound, reach)
                continue
            if not reach > incumbent:
                continue
            added = first[j] if t < 0 else edges[row, state, j] + nodes[t + 1, j]
            child_code, penalty, lost = 0, 0.0, False
            for c in range(m):
                q = (prefix_code >> shift[c]) & ((1 << (shift[c + 1] - shift[c])) - 1)
                if q != n_states[c]:  # else a soft machine that was lost before
                    q = follow[base[c] + (table_of[c, t + 1] * n_states[c] + q) * size + j]
                    if t + 1 == n - 1 and q >= 0 and not final[final_base[c] + q]:
                        q = -1
                    if q < 0:
                        if is_hard[c]:
                            lost = True
                            break
                        penalty += penalties[c]
                        q = n_states[c]
                child_code |= q << shift[c]
            if lost:
                continue
            child_score = prefix_score + added - penalty
            if t + 1 == n - 1:
                position, child_code, child_bound, child_priced = n * size + j, 0, child_score, 0.0
            else:
                position = (t + 1) * size + j
                child_priced = prefix_priced + step_priced - penalty
                child_bound = child_priced + rest[t + 1, after, j] + refunds
            if not child_bound > incumbent:
                continue
            if n_nodes + 1 >= capacity:
                capacity *= 2
                at, code, parent, heap = grown(at, capacity), grown(code, capacity), grown(parent, capacity), grown(heap, capacity)
                score, priced, key = grown_numbers(score, capacity), grown_numbers(priced, capacity), grown_numbers(key, capacity)
                if 2 * capacity > slots.shape[0]:
                    slots = np.full(4 * capacity, NOTHING, dtype=np.int64)
                    mask = slots.shape[0] - 1
                    for node in range(n_nodes):
                        if at[node] < n * size:
                            slot = mixed(at[node], code[node], mask)
                            while slots[slot] != NOTHING and (at[slots[slot]] != at[node] or code[slots[slot]] != code[node]):
                                slot = (slot + 1) & mask
                            if slots[slot] == NOTHING or score[node] > score[slots[slot]]:
                                slots[slot] = node
            if t + 1 < n - 1:
                slot = mixed(position, child_code, mask)
                while slots[slot] != NOTHING and (at[slots[slot]] != position or code[slots[slot]] != child_code):
                    slot = (slot + 1) & mask
                if slots[slot] != NOTHING and score[slots[slot]] >= child_score:
                    continue  # the same search state was reached at least as well
                slots[slot] = n_nodes
            at[n_nodes], code[n_nodes], parent[n_nodes] = position, child_code, current
            score[n_nodes], priced[n_nodes] = child_score, child_priced
            height = enqueue(height, n_nodes, position, child_bound, key, heap, at)
            n_nodes += 1
        if next_bound > incumbent:
            height = enqueue(height, current, at[current], next_bound, key, heap, at)

        # take the most promising prefix
        while True:
            if height == 0:
                return EXHAUSTED, -np.inf, looks, path
            current, bound = heap[0], key[0]
            height = dequeue(height, key, heap, at)
            if at[current] >= n * size:  # complete, and nothing else can be better
                node, t = current, n - 1
                while node != NOTHING:
                    path[t] = at[node] % size
                    node = parent[node]
                    t -= 1
                return SOLVED, score[current], looks, path
            slot = mixed(at[current], code[current], mask)
            while at[slots[slot]] != at[current] or code[slots[slot]] != code[current]:
                slot = (slot + 1) & mask
            if slots[slot] == current:
                break  # else a better way to the same search state has been found since
        if looks == limit:
            return LIMITED, bound, looks, path
        looks += 1
        t, state = at[current] // size, at[current] % size
        prefix_code, prefix_score, prefix_priced = code[current], score[current], priced[current]
        mode, place = 0, 1
        for k in range(selected.shape[0]):
            c = selected[k]
            mode += ((prefix_code >> shift[c]) & ((1 << (shift[c + 1] - shift[c])) - 1)) * place
            place *= n_states[c]


@kernel(
    types.Tuple((int64, float64, int64, writable(int64, 1)))(
        F2, F3, F1, F3, F3, F1, float64, *MACHINES, I1, F1, readonly(boolean, 1), I1, *JUMPS, float64, int64,
    )
)  # fmt: skip
def sweep(
    nodes, edges, first, rest, priced_edges, priced_first, refunds,
    follow, base, n_states, table_of, final, final_base, shift, penalties, is_hard, selected, jump, jump_of,
    threshold, limit,
):  # fmt: skip
    """The best labelling that scores more than `threshold`, token by token: all prefixes whose bound exceeds it are kept.

    Arguments and results are those of `search`; EXHAUSTED says that nothing scores more than the threshold, LIMITED that more
    than `limit` prefixes would have to be kept. Where many prefixes matter this is several times as fast: there is no queue,
    and a table of search states for one token at a time.
    """
    n, size = nodes.shape
    m = n_states.shape[0]
    path = np.empty(n, dtype=np.int64)
    capacity = 1024
    at, code, parent = np.empty(capacity, dtype=np.int64), np.empty(capacity, dtype=np.int64), np.empty(capacity, dtype=np.int64)
    score, priced = np.empty(capacity, dtype=np.float64), np.empty(capacity, dtype=np.float64)
    slots = np.full(2048, NOTHING, dtype=np.int64)
    states = np.zeros(m, dtype=np.int64)
    n_nodes, layer, layer_end = 0, 0, 0
    best, best_node, best_last = threshold, NOTHING, 0
    for t in range(n):
        last = t == n - 1
        row = 0 if edges.shape[0] == 1 else t - 1
        mask = slots.shape[0] - 1
        for prefix in range(layer, max(layer_end, layer + (t == 0))):  # before the first token there is one, the empty one
            state, prefix_code, prefix_score, prefix_priced, mode, place = 0, 0, 0.0, 0.0, 0, 1
            if t > 0:
                state, prefix_code, prefix_score, prefix_priced = at[prefix], code[prefix], score[prefix], priced[prefix]
                for k in range(selected.shape[0]):
                    c = selected[k]
                    mode += ((prefix_code >> shift[c]) & ((1 << (shift[c + 1] - shift[c])) - 1)) * place
                    place *= n_states[c]
            ready = False
            for j in range(size):
                after = jump[jump_of[t], mode, j]
                if after == NOTHING:
                    continue
                step_priced = priced_first[j] if t == 0 else priced_edges[row, state, j] + nodes[t, j]
                if not prefix_priced + step_priced + rest[t, after, j] + refunds > best:
                    continue
                if not ready:  # unpack the machines once per prefix, and only if it has a child
                    ready = True
                    for c in range(m):
                        states[c] = (prefix_code >> shift[c]) & ((1 << (shift[c + 1] - shift[c])) - 1)
                child_code, penalty, lost = 0, 0.0, False
                for c in range(m):
                    q = states[c]
                    if q != n_states[c]:
                        q = follow[base[c] + (table_of[c, t] * n_states[c] + q) * size + j]
                        if last and q >= 0 and not final[final_base[c] + q]:
                            q = -1
                        if q < 0:
                            if is_hard[c]:
                                lost = True
                                break
                            penalty += penalties[c]
                            q = n_states[c]
                    child_code |= q << shift[c]
                if lost:
                    continue
                child_score = prefix_score + (first[j] if t == 0 else edges[row, state, j] + nodes[t, j]) - penalty
                if last:
                    if child_score > best:
                        best, best_node, best_last = child_score, prefix if t > 0 else NOTHING, j
                    continue
                child_priced = prefix_priced + step_priced - penalty
                if not child_priced + rest[t, after, j] + refunds > best:
                    continue
                slot = mixed(j, child_code, mask)
                while slots[slot] != NOTHING and (at[slots[slot]] != j or code[slots[slot]] != child_code):
                    slot = (slot + 1) & mask
                node = slots[slot]
                if node != NOTHING:
                    if child_score > score[node]:
                        parent[node], score[node], priced[node] = prefix, child_score, child_priced
                    continue
                if n_nodes == limit:
                    return LIMITED, threshold, n_nodes, path
                if n_nodes == capacity:
                    capacity *= 2
                    at, code, parent = grown(at, capacity), grown(code, capacity), grown(parent, capacity)
                    score, priced = grown_numbers(score, capacity), grown_numbers(priced, capacity)
                slots[slot] = n_nodes
                at[n_nodes], code[n_nodes], parent[n_nodes] = j, child_code, prefix if t > 0 else NOTHING
                score[n_nodes], priced[n_nodes] = child_score, child_priced
                n_nodes += 1
                if 2 * (n_nodes - layer_end) > slots.shape[0]:
                    slots = np.full(2 * slots.shape[0], NOTHING, dtype=np.int64)
                    mask = slots.shape[0] - 1
                    for node in range(layer_end, n_nodes):
                        slot = mixed(at[node], code[node], mask)
                        while slots[slot] != NOTHING:
                            slot = (slot + 1) & mask
                        slots[slot] = node
        if last:
            break
        if n_nodes == layer_end:
            return EXHAUSTED, threshold, n_nodes, path
        slots[:] = NOTHING
        layer, layer_end = layer_end, n_nodes
    if (best_node == NOTHING and n > 1) or (n == 1 and best == threshold):
        return EXHAUSTED, threshold, n_nodes, path
    path[n - 1] = best_last
    node = best_node
    for t in range(n - 2, -1, -1):
        path[t] = at[node]
        node = parent[node]
    return SOLVED, best, n_nodes, path
