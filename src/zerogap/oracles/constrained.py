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

from zerogap.oracles.compile import boolean, float64, int32, int64, kernel, readonly, types, writable
from zerogap.oracles.push import push_max

NOTHING = -1
SOLVED, EXHAUSTED, LIMITED = 0, 1, 2  # why the search ended: with an optimum, with nothing left, at its limit
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
    best[n - 1] = 0.0
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


@kernel(writable(int64, 1)(writable(int64, 1)))
def doubled(pool):
    larger = np.empty(2 * pool.shape[0], dtype=np.int64)
    larger[: pool.shape[0]] = pool
    return larger


@kernel(writable(float64, 1)(writable(float64, 1)))
def doubled_numbers(pool):
    larger = np.empty(2 * pool.shape[0], dtype=np.float64)
    larger[: pool.shape[0]] = pool
    return larger


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
                at, code, parent, heap = doubled(at), doubled(code), doubled(parent), doubled(heap)
                score, priced, key = doubled_numbers(score), doubled_numbers(priced), doubled_numbers(key)
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
                    at, code, parent = doubled(at), doubled(code), doubled(parent)
                    score, priced = doubled_numbers(score), doubled_numbers(priced)
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
            broken[:] = is_broken
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
            best_path[:] = path
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
