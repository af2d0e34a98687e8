"""Breadth-first search over the transitions of an automaton, along or against them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from zerogap.kernels import int64, kernel, readonly, writable
from zerogap.structures.automaton import DEAD


def transitions(following: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Source, symbol and target of every transition, by source and then in alphabet order."""
    sources, symbols = np.nonzero(following != DEAD)
    return sources, symbols, following[sources, symbols].astype(np.int64)


def rows_of(sources: NDArray[np.int64], n_states: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the transitions of every state begin in the order by state, and that order."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=n_states))])
    return starts, np.argsort(sources, kind="stable")


def flood(
    n_states: int, sources: NDArray[np.int64], targets: NDArray[np.int64], seeds: Iterable[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The fewest transitions from the seeds to every state (-1: none lead there), and the states in breadth-first order."""
    starts, order = rows_of(sources, n_states)
    distance = np.full(n_states, -1, dtype=np.int64)
    queue = np.empty(n_states, dtype=np.int64)
    first = np.array(seeds, dtype=np.int64)
    distance[first] = 0
    queue[: len(first)] = first
    return distance, queue[: breadth_first(starts, targets[order], distance, queue, len(first))]


@kernel(int64(readonly(int64, 1), readonly(int64, 1), writable(int64, 1), writable(int64, 1), int64))
def breadth_first(starts, targets, distance, queue, count):  # out: distance, queue; both hold the seeds
    head = 0
    while head < count:
        q = queue[head]
        head += 1
        for i in range(starts[q], starts[q + 1]):
            if distance[targets[i]] < 0:
                distance[targets[i]] = distance[q] + 1
                queue[count] = targets[i]
                count += 1
    return count
