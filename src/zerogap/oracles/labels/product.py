"""The product of several deterministic machines at once: only the tuples of states that can be reached."""

from __future__ import annotations

import numpy as np

from zerogap.kernels import boolean, int32, int64, kernel, readonly, writable

I1 = readonly(int64, 1)


@kernel(int64(readonly(int32, 1), I1, I1, readonly(boolean, 1), writable(int32, 2), writable(boolean, 1)))
def multiply(follow, base, n_states, final, following, accepts):  # out: following (most, labels), accepts (most,)
    """The states of machine c after state q reads label a are follow[base[c] + q * labels + a], negative if it is lost.

    Returns how many tuples were found, numbered breadth first from the start; -1 if there are more than `most`.
    """
    most, n_labels = following.shape
    m = n_states.shape[0]
    tuples = np.zeros((most, m), dtype=np.int32)
    slots = np.full(4 * most, -1, dtype=np.int64)
    after = np.zeros(m, dtype=np.int32)
    n_found = 0
    first_final = np.zeros(m, dtype=np.int64)
    for c in range(1, m):
        first_final[c] = first_final[c - 1] + n_states[c - 1]
    state, label = -1, n_labels - 1  # the start is what "nothing" leads to
    while True:
        lost = False
        if state >= 0:
            for c in range(m):
                after[c] = follow[base[c] + tuples[state, c] * n_labels + label]
                if after[c] < 0:
                    lost = True
                    break
        target = -1
        if not lost:
            h = np.int64(0)
            for c in range(m):
                h = ((h ^ after[c]) & 0x7FFFFFFF) * 2654435769
                h ^= h >> 17
            slot = h & (4 * most - 1)
            while slots[slot] >= 0:
                same = True
                for c in range(m):
                    same = same and tuples[slots[slot], c] == after[c]
                if same:
                    break
                slot = (slot + 1) & (4 * most - 1)
            target = slots[slot]
            if target < 0:
                if n_found == most:
                    return -1
                target = n_found
                slots[slot] = target
                accepts[target] = True
                for c in range(m):
                    tuples[target, c] = after[c]
                    accepts[target] = accepts[target] and final[first_final[c] + after[c]]
                n_found += 1
        if state >= 0:
            following[state, label] = target
        label += 1
        if label == n_labels:
            state, label = state + 1, 0
            if state == n_found:
                return n_found
