"""Trigram models over words with few candidate tags each, in exact numbers: the best tags, and prices that hand slack to another model.

Candidates and pairs of them are numbered as in `trigram_tags`; scores are of candidates and of trigrams.

    forward[t, i, j]  = nodes[j] + max_h (forward[t-1, h, i] + trigram[h, i, j])       the best way up to the pair (i, j)
    backward[t, i, j] = max_k (trigram[i, j, k] + nodes[k] + backward[t+1, j, k])      the best way on from it

The slack of a tag is what the best sequence loses if the word must have it. `push_slack` raises every tag by a share of its slack, one
word after the other from the left, each with what the words before it were raised by: the best sequence stays as good as it is, and
another model that must agree may be charged as much (the sequential form of max-marginal averaging; Rush 2014, section 3.2 prices
tags by subgradients alone). One pass back and one forward do it, O(n k^3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import float64, inner, int64, kernel, readonly, writable
from zerogap.oracles.labels.trigram_tags import pair_starts

LOWEST = -math.inf
PLACES, NUMBERS, FILLED = readonly(int64, 1), readonly(float64, 1), writable(float64, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The tags that every word may have."""

    first: NDArray[np.int64]  # (n + 1,): where those of a word begin
    pair: NDArray[np.int64]  # (n + 1,): where the pairs with the word before begin
    tags: NDArray[np.int64]  # (candidates,)
    places: NDArray[np.int64]  # (candidates,): in the flat table of words and tags

    @classmethod
    def of(cls, allowed: NDArray[np.bool_]) -> Candidates:
        """From a table of words and tags."""
        words, tags = np.nonzero(allowed)
        first = np.searchsorted(words, np.arange(len(allowed) + 1)).astype(np.int64)
        return cls(first, pair_starts(first), tags.astype(np.int64), np.flatnonzero(allowed).astype(np.int64))


@inner
def step_forward(t, first, kinds, nodes, trigram, pair, forward):  # out: forward of word t
    edge = trigram.shape[0] - 1
    width = first[t + 1] - first[t]
    if t == 0:
        for j in range(width):
            forward[pair[0] + j] = nodes[first[0] + j] + trigram[edge, edge, kinds[first[0] + j]]
        return
    before = first[t] - first[t - 1]
    further = first[t - 1] - first[t - 2] if t > 1 else 1
    for i in range(before):
        at = pair[t] + i * width
        for j in range(width):
            forward[at + j] = LOWEST
        for h in range(further):
            row = trigram[kinds[first[t - 2] + h] if t > 1 else edge, kinds[first[t - 1] + i]]
            score = forward[pair[t - 1] + h * before + i]
            for j in range(width):
                forward[at + j] = max(forward[at + j], score + row[kinds[first[t] + j]])
        for j in range(width):
            forward[at + j] += nodes[first[t] + j]


@kernel(float64(PLACES, PLACES, PLACES, NUMBERS, readonly(float64, 3), FILLED, writable(int64, 1)))
def best_tags(first, pair, kinds, nodes, trigram, forward, path):  # out: forward (scratch, of every pair), path (n,): candidates
    """The score of the best sequence, -inf if there is none; ties to the lowest tag from the end of the sentence on."""
    n, edge = first.shape[0] - 1, trigram.shape[0] - 1
    for t in range(n):
        step_forward(t, first, kinds, nodes, trigram, pair, forward)
    width = first[n] - first[n - 1]
    before = first[n - 1] - first[n - 2] if n > 1 else 1
    total, i, j = LOWEST, 0, 0
    for p in range(before):
        for c in range(width):
            value = forward[pair[n - 1] + p * width + c]
            value += trigram[kinds[first[n - 2] + p] if n > 1 else edge, kinds[first[n - 1] + c], edge]
            if value > total:
                total, i, j = value, p, c
    if total == LOWEST:
        return total
    for t in range(n - 1, -1, -1):  # the way back: which tag came before is computed again, in the same order
        path[t] = first[t] + j
        if t > 0:
            goal = forward[pair[t] + i * (first[t + 1] - first[t]) + j]
            before = first[t] - first[t - 1]
            further = first[t - 1] - first[t - 2] if t > 1 else 1
            for h in range(further):
                earlier = kinds[first[t - 2] + h] if t > 1 else edge
                step = forward[pair[t - 1] + h * before + i] + trigram[earlier, kinds[first[t - 1] + i], kinds[path[t]]]
                if step + nodes[path[t]] == goal:
                    i, j = h, i
                    break
    return total


@kernel(float64(PLACES, PLACES, PLACES, NUMBERS, readonly(float64, 3), float64, float64, float64, FILLED))
def push_slack(first, pair, kinds, nodes, trigram, share, resolution, most, prices):  # out: prices (candidates,)
    """What every tag is raised by, on the grid and at most `most`; returns the score of the best sequence, the same before and after."""
    n, edge = first.shape[0] - 1, trigram.shape[0] - 1
    forward, backward = np.empty(pair[n]), np.empty(pair[n])
    for t in range(n - 1, -1, -1):
        width = first[t + 1] - first[t]
        before = first[t] - first[t - 1] if t > 0 else 1
        for i in range(before):
            previous = kinds[first[t - 1] + i] if t > 0 else edge
            for j in range(width):
                row = trigram[previous, kinds[first[t] + j]]
                best = row[edge] if t == n - 1 else LOWEST
                if t < n - 1:
                    following = first[t + 2] - first[t + 1]
                    for k in range(following):
                        c = first[t + 1] + k
                        best = max(best, row[kinds[c]] + nodes[c] + backward[pair[t + 1] + j * following + k])
                backward[pair[t] + i * width + j] = best
    raised = nodes.copy()
    total = LOWEST
    for t in range(n):
        step_forward(t, first, kinds, raised, trigram, pair, forward)
        width = first[t + 1] - first[t]
        before = first[t] - first[t - 1] if t > 0 else 1
        total = LOWEST
        for j in range(width):
            best = LOWEST
            for i in range(before):
                best = max(best, forward[pair[t] + i * width + j] + backward[pair[t] + i * width + j])
            prices[first[t] + j] = best
            total = max(total, best)
        for j in range(width):
            c = first[t] + j
            if prices[c] == LOWEST:
                prices[c] = 0.0
                continue
            prices[c] = math.floor(min(share * (total - prices[c]), most) / resolution) * resolution
            raised[c] += prices[c]
            for i in range(before):
                forward[pair[t] + i * width + j] += prices[c]
    return total


def trigram_table(transitions: Scores) -> Scores | None:
    """The transitions of a bigram or trigram model as those of a trigram model; None if the order is higher."""
    if transitions.ndim == 3:
        return transitions
    return np.ascontiguousarray(np.broadcast_to(transitions, (len(transitions), *transitions.shape))) if transitions.ndim == 2 else None
