"""The order in which prefixes of labellings are extended: a heap of those that wait, and a selection of the best of a layer."""

from __future__ import annotations

from zerogap.kernels import float64, int64, kernel, readonly, writable


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


@kernel(float64(writable(float64, 1), int64, int64))
def nth_smallest(values, size, nth):  # out: values, in another order
    """Quickselect (Hoare 1961) among the first `size` values; nth counts from 0."""
    low, high = 0, size - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if nth <= j:
            high = j
        elif nth >= i:
            low = i
        else:
            break
    return values[nth]
