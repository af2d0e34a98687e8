"""Exact search for the best labellings under automata, with Viterbi scores of the rest as the bound.

A search state is a token, a lattice state and the states of the *active* machines, packed into one or more 64-bit words. What
can still follow is bounded by the best completion that a few *selected* machines allow (backward Viterbi over lattice and
selected states), under prices on counts that other machines imply:

    bound(prefix) = priced score of the prefix + best priced completion + sum of the largest refunds

With nothing selected and no prices it is the heuristic of A*. Prices make it tight where counts bind, selection where order
does. Of two prefixes that reach the same search state only the better one matters. Soft machines that are lost go to a
state of their own, at their penalty. `search` extends the most promising prefix until a complete labelling is worth what the
bound of the next allows; `sweep` extends all prefixes above a threshold, token by token, as far as its width allows.
"""

from __future__ import annotations

import numpy as np

from zerogap.kernels import boolean, float64, inlined, inner, int64, kernel, readonly, types, writable
from zerogap.oracles.growing_arrays import grown, grown_numbers
from zerogap.oracles.labels.bounds import F1, F2, F3, I1, JUMPS, MACHINES, NOTHING
from zerogap.oracles.labels.queue import dequeue, enqueue, nth_smallest

SOLVED, EXHAUSTED, LIMITED = 0, 1, 2  # why a search ended: with an optimum, with nothing left, at its limit
WORD_BITS, HALF_BITS = 62, 31
HALF_WORD = (1 << HALF_BITS) - 1


@inner
def layout(active, n_states, is_hard):
    """Word, first bit and mask of every active machine, and how many words there are. A lost soft machine is in state n_states."""
    word, shift, mask = np.empty_like(active), np.empty_like(active), np.empty_like(active)
    n_words, used = 1, 0
    for k in range(active.shape[0]):
        largest, bits = n_states[active[k]] - (1 if is_hard[active[k]] else 0), 0
        while largest >> bits:
            bits += 1
        if used + bits > WORD_BITS:
            n_words, used = n_words + 1, 0
        word[k], shift[k], mask[k] = n_words - 1, used, (1 << bits) - 1
        used += bits
    return word, shift, mask, n_words


@inlined
def hashed(h):
    """Never overflows, so that it is the same function without the compiler."""
    product = (h & HALF_WORD) * 2654435769
    return product ^ (product >> 17)


@inlined
def unpack(code, node, n_words, word, shift, mask, states):  # out: states (active,)
    for k in range(word.shape[0]):
        states[k] = (code[node * n_words + word[k]] >> shift[k]) & mask[k]


@inlined
def advance(
    t, j, size, states, follow, base, n_states, table_of, final, final_base, penalties, is_hard, active, word, shift, child
):  # out: child (words,)  # fmt: skip
    """Takes the active machines over one more lattice state: the penalty of the soft ones that are lost, inf if a hard one is."""
    last = t == table_of.shape[1] - 1
    penalty = 0.0
    for w in range(child.shape[0]):
        child[w] = 0
    for k in range(active.shape[0]):
        c, q = active[k], states[k]
        if q != n_states[c]:  # else a soft machine that was lost before
            q = follow[base[c] + (table_of[c, t] * n_states[c] + q) * size + j]
            if last and q >= 0 and not final[final_base[c] + q]:
                q = -1
            if q < 0:
                if is_hard[c]:
                    return np.inf
                penalty += penalties[c]
                q = n_states[c]
        child[word[k]] |= q << shift[k]
    return penalty


@inlined
def slot_of(position, key, start, n_words, at, code, slots):
    """Where a search state is in the table, or the empty slot where it belongs; its words are key[start], key[start + 1], ..."""
    h = position
    for w in range(n_words):
        h = hashed(hashed(h ^ (key[start + w] & HALF_WORD)) ^ (key[start + w] >> HALF_BITS))
    slot = h & (slots.shape[0] - 1)
    while slots[slot] != NOTHING:
        node = slots[slot]
        same = at[node] == position
        for w in range(n_words):
            same = same and code[node * n_words + w] == key[start + w]
        if same:
            break
        slot = (slot + 1) & (slots.shape[0] - 1)
    return slot


@kernel(
    types.Tuple((int64, float64, int64))(
        F2, F3, F1, F3, F3, F1, float64, *MACHINES, F1, readonly(boolean, 1), I1, *JUMPS, float64, int64, writable(int64, 1)
    )
)  # fmt: skip
def search(
    nodes, edges, first, rest, priced_edges, priced_first, refunds,
    follow, base, n_states, table_of, final, final_base, penalties, is_hard, active, jump, jump_of,
    incumbent, limit, path,
):  # out: path (n,)  # fmt: skip
    """The best labelling that scores more than `incumbent`, unless `limit` looks at prefixes end the search first.

    `rest[t, p, s]` bounds what follows in priced scores, `refunds` what prices may give back; p is the mode of the selected
    machines, which must be active. Returns why it ended, the score, and how many looks it took. A prefix makes its children one
    by one, the most promising first (partial expansion, Yoshizumi et al. 2000): when it comes up, its child of that bound is
    made, and it goes back into the queue with the bound of the next.
    """
    n, size = nodes.shape
    word, shift, mask, n_words = layout(active, n_states, is_hard)
    states, child = np.zeros(active.shape[0], dtype=np.int64), np.zeros(n_words, dtype=np.int64)
    capacity = 256
    at = np.empty(capacity, dtype=np.int64)  # token * size + state; from n * size on if complete
    code, parent = np.empty(capacity * n_words, dtype=np.int64), np.empty(capacity, dtype=np.int64)
    modes = np.empty(capacity, dtype=np.int64)
    score, priced = np.empty(capacity, dtype=np.float64), np.empty(capacity, dtype=np.float64)
    heap, key = np.empty(capacity, dtype=np.int64), np.empty(capacity, dtype=np.float64)
    n_nodes, height = 0, 0
    slots = np.full(1024, NOTHING, dtype=np.int64)  # the best prefix of a search state
    looks = 0
    current, bound = NOTHING, np.inf  # the prefix that is looked at, and its bound; NOTHING for the empty one
    t, state, mode, prefix_score, prefix_priced = -1, 0, 0, 0.0, 0.0
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
            penalty = advance(
                t + 1, j, size, states, follow, base, n_states, table_of, final, final_base, penalties, is_hard, active, word, shift, child
            )
            if penalty == np.inf:
                continue
            child_score = prefix_score + (first[j] if t < 0 else edges[row, state, j] + nodes[t + 1, j]) - penalty
            if t + 1 == n - 1:
                position, child_bound, child_priced = n * size + j, child_score, 0.0
            else:
                position = (t + 1) * size + j
                child_priced = prefix_priced + step_priced - penalty
                child_bound = child_priced + rest[t + 1, after, j] + refunds
            if not child_bound > incumbent:
                continue
            if n_nodes + 1 >= capacity:
                capacity *= 2
                at, code, parent, heap = (
                    grown(at, capacity),
                    grown(code, capacity * n_words),
                    grown(parent, capacity),
                    grown(heap, capacity),
                )
                score, priced, key = grown_numbers(score, capacity), grown_numbers(priced, capacity), grown_numbers(key, capacity)
                modes = grown(modes, capacity)
                if 2 * capacity > slots.shape[0]:
                    slots = np.full(4 * capacity, NOTHING, dtype=np.int64)
                    for node in range(n_nodes):
                        if at[node] < n * size:
                            slot = slot_of(at[node], code, node * n_words, n_words, at, code, slots)
                            if slots[slot] == NOTHING or score[node] > score[slots[slot]]:
                                slots[slot] = node
            if t + 1 < n - 1:
                slot = slot_of(position, child, 0, n_words, at, code, slots)
                if slots[slot] != NOTHING and score[slots[slot]] >= child_score:
                    continue  # the same search state was reached at least as well
                slots[slot] = n_nodes
            at[n_nodes], parent[n_nodes], modes[n_nodes] = position, current, after
            for w in range(n_words):
                code[n_nodes * n_words + w] = child[w]
            score[n_nodes], priced[n_nodes] = child_score, child_priced
            height = enqueue(height, n_nodes, position, child_bound, key, heap, at)
            n_nodes += 1
        if next_bound > incumbent:
            height = enqueue(height, current, at[current], next_bound, key, heap, at)

        # take the most promising prefix
        while True:
            if height == 0:
                return EXHAUSTED, -np.inf, looks
            current, bound = heap[0], key[0]
            height = dequeue(height, key, heap, at)
            if at[current] >= n * size:  # complete, and nothing else can be better
                node, t = current, n - 1
                while node != NOTHING:
                    path[t] = at[node] % size
                    node = parent[node]
                    t -= 1
                return SOLVED, score[current], looks
            if slots[slot_of(at[current], code, current * n_words, n_words, at, code, slots)] == current:
                break  # else a better way to the same search state has been found since
        if looks == limit:
            return LIMITED, bound, looks
        looks += 1
        t, state, mode = at[current] // size, at[current] % size, modes[current]
        prefix_score, prefix_priced = score[current], priced[current]
        unpack(code, current, n_words, word, shift, mask, states)


@inner
def narrowed(layer, end, width, bounds, at, code, n_words, parent, modes, score, priced):  # out: all but layer, end, width, n_words
    """Keeps the `width` prefixes of a layer with the highest bounds, in their order; where the layer ends now, and the best bound lost."""
    cut = nth_smallest(bounds.copy(), end - layer, end - layer - width)
    above = 0
    for i in range(end - layer):
        above += bounds[i] > cut
    ties, kept, lost = width - above, layer, -np.inf
    for node in range(layer, end):
        bound = bounds[node - layer]
        if bound > cut or (bound == cut and ties > 0):
            ties -= bound == cut
            at[kept], parent[kept], modes[kept], score[kept], priced[kept] = at[node], parent[node], modes[node], score[node], priced[node]
            for w in range(n_words):
                code[kept * n_words + w] = code[node * n_words + w]
            kept += 1
        else:
            lost = max(lost, bound)
    return kept, lost


@kernel(
    types.Tuple((int64, int64, float64))(
        F2, F3, F1, F3, F3, F1, float64, *MACHINES, F1, readonly(boolean, 1), I1, *JUMPS,
        float64, int64, writable(float64, 1), writable(int64, 2),
    )
)  # fmt: skip
def sweep(
    nodes, edges, first, rest, priced_edges, priced_first, refunds,
    follow, base, n_states, table_of, final, final_base, penalties, is_hard, active, jump, jump_of,
    threshold, width, scores, paths,
):  # out: scores (k,), paths (k, n), best first  # fmt: skip
    """The k best labellings that score more than `threshold`, token by token, with at most `width` prefixes for each.

    A prefix is kept if its bound exceeds the threshold, and of those that reach the same search state the k best. Returns why it
    ended, how many labellings it found, and the highest bound among prefixes that were dropped for the width. SOLVED and
    EXHAUSTED: none were, so what was found is the best, or nothing scores more than the threshold. LIMITED: the labellings that
    were found may not be the best ones (Rush 2014, section 7.4: a beam search that knows when it was exact).
    """
    n, size = nodes.shape
    k_best = scores.shape[0]
    word, shift, mask, n_words = layout(active, n_states, is_hard)
    states, child = np.zeros(active.shape[0], dtype=np.int64), np.zeros(n_words, dtype=np.int64)
    capacity = 1024
    at, parent, modes = np.empty(capacity, dtype=np.int64), np.empty(capacity, dtype=np.int64), np.empty(capacity, dtype=np.int64)
    code, others = np.empty(capacity * n_words, dtype=np.int64), np.empty(capacity if k_best > 1 else 1, dtype=np.int64)
    score, priced = np.empty(capacity, dtype=np.float64), np.empty(capacity, dtype=np.float64)
    bounds = np.empty(capacity, dtype=np.float64)  # of the new layer
    slots = np.full(2048, NOTHING, dtype=np.int64)
    n_nodes, layer, layer_end, n_found = 0, 0, 0, 0
    for i in range(k_best):
        scores[i] = threshold
    floor, dropped = threshold, -np.inf  # what a labelling has to beat
    ends, lasts = np.full(k_best, NOTHING, dtype=np.int64), np.zeros(k_best, dtype=np.int64)
    for t in range(n):
        last = t == n - 1
        row = 0 if edges.shape[0] == 1 else t - 1
        for prefix in range(layer, max(layer_end, layer + (t == 0))):  # before the first token there is one, the empty one
            state, prefix_score, prefix_priced, mode = 0, 0.0, 0.0, 0
            if t > 0:
                state, prefix_score, prefix_priced, mode = at[prefix], score[prefix], priced[prefix], modes[prefix]
            ready = t == 0
            for j in range(size):
                after = jump[jump_of[t], mode, j]
                if after == NOTHING:
                    continue
                step_priced = priced_first[j] if t == 0 else priced_edges[row, state, j] + nodes[t, j]
                if not prefix_priced + step_priced + rest[t, after, j] + refunds > floor:
                    continue
                if not ready:  # unpack the machines once per prefix, and only if it has a child
                    ready = True
                    unpack(code, prefix, n_words, word, shift, mask, states)
                penalty = advance(
                    t, j, size, states, follow, base, n_states, table_of, final, final_base, penalties, is_hard, active, word, shift, child
                )
                if penalty == np.inf:
                    continue
                child_score = prefix_score + (first[j] if t == 0 else edges[row, state, j] + nodes[t, j]) - penalty
                if last:
                    if child_score > floor:
                        n_found += n_found < k_best
                        i = k_best - 1
                        while i > 0 and scores[i - 1] < child_score:
                            scores[i], ends[i], lasts[i] = scores[i - 1], ends[i - 1], lasts[i - 1]
                            i -= 1
                        scores[i], ends[i], lasts[i] = child_score, prefix if t > 0 else NOTHING, j
                        floor = scores[k_best - 1]
                    continue
                child_priced = prefix_priced + step_priced - penalty
                child_bound = child_priced + rest[t, after, j] + refunds
                if not child_bound > floor:
                    continue
                slot = slot_of(j, child, 0, n_words, at, code, slots)
                head = slots[slot]
                if head != NOTHING:  # the search state was reached before: keep the k best ways
                    worst, ways = head, 1
                    if k_best > 1:
                        other = others[head]
                        while other != NOTHING:
                            ways += 1
                            if score[other] < score[worst]:
                                worst = other
                            other = others[other]
                    if ways == k_best:
                        if child_score > score[worst]:
                            parent[worst], score[worst], priced[worst] = prefix if t > 0 else NOTHING, child_score, child_priced
                            bounds[worst - layer_end] = child_bound
                        continue
                if n_nodes == capacity:
                    capacity *= 2
                    at, code, parent = grown(at, capacity), grown(code, capacity * n_words), grown(parent, capacity)
                    score, priced, modes = grown_numbers(score, capacity), grown_numbers(priced, capacity), grown(modes, capacity)
                    if k_best > 1:
                        others = grown(others, capacity)
                bounds = grown_numbers(bounds, n_nodes - layer_end + 1)
                at[n_nodes], parent[n_nodes], modes[n_nodes] = j, prefix if t > 0 else NOTHING, after
                for w in range(n_words):
                    code[n_nodes * n_words + w] = child[w]
                score[n_nodes], priced[n_nodes], bounds[n_nodes - layer_end] = child_score, child_priced, child_bound
                if k_best > 1:
                    others[n_nodes] = NOTHING if head == NOTHING else others[head]
                if head == NOTHING:
                    slots[slot] = n_nodes
                else:
                    others[head] = n_nodes
                n_nodes += 1
                if 2 * (n_nodes - layer_end) > slots.shape[0]:
                    # the first way to a search state is its head; later ones are in the chain already
                    smaller = slots
                    slots = np.full(2 * smaller.shape[0], NOTHING, dtype=np.int64)
                    for node in smaller:
                        if node != NOTHING:
                            slots[slot_of(at[node], code, node * n_words, n_words, at, code, slots)] = node
        if last:
            break
        if n_nodes - layer_end > width:
            n_nodes, lost = narrowed(layer_end, n_nodes, width, bounds, at, code, n_words, parent, modes, score, priced)
            dropped = max(dropped, lost)
        if n_nodes == layer_end:
            break
        for slot in range(slots.shape[0]):
            slots[slot] = NOTHING
        layer, layer_end = layer_end, n_nodes
    for i in range(n_found):
        paths[i, n - 1] = lasts[i]
        node = ends[i]
        for t in range(n - 2, -1, -1):
            paths[i, t] = at[node]
            node = parent[node]
    if dropped > floor:  # what was dropped might have been better
        return LIMITED, n_found, dropped
    return SOLVED if n_found > 0 else EXHAUSTED, n_found, dropped
