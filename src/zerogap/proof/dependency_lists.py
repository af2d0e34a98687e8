"""Lists of the k best scores in place of single scores: what a dynamic program needs to count structures.

A list is the last axis of an array: scores from the highest down, -inf where there are no more.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores


def best_of(scores: Scores, k: int) -> Scores:
    """The k highest along the last axis."""
    if k == 1:
        return scores.max(axis=-1, keepdims=True, initial=-np.inf)
    if scores.shape[-1] > k:
        scores = np.partition(scores, -k, axis=-1)[..., -k:]
    missing = np.full((*scores.shape[:-1], k - scores.shape[-1]), -np.inf)
    return np.concatenate([np.sort(scores, axis=-1)[..., ::-1], missing], axis=-1)


def sums(left: Scores, right: Scores, k: int) -> Scores:
    """Sums of a score from each of two lists, in any order, the k highest among them: the a-th and the b-th, a b <= k."""
    if left.shape[-1] == right.shape[-1] == 1:
        return left + right
    a, b = pairs(left.shape[-1], right.shape[-1], k)
    return left[..., a] + right[..., b]


@functools.cache
def pairs(n_left: int, n_right: int, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    a, b = np.indices((n_left, n_right))
    near = (a + 1) * (b + 1) <= k
    return a[near], b[near]


def added(left: Scores, right: Scores, k: int) -> Scores:
    """The k highest sums of a score from each of two lists."""
    return best_of(sums(left, right, k), k)


def joined(left: Scores, right: Scores, k: int) -> Scores:
    """The k highest sums over all positions of the last axis but one."""
    both = sums(left, right, k)
    return best_of(both.reshape(*both.shape[:-2], both.shape[-2] * both.shape[-1]), k)
