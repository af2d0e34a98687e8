"""Sums over all labellings of a first-order chain: the log partition function, node and edge marginals.

    forward[t, j]  = emission[t, j] + log sum_i exp(forward[t-1, i] + transition[i, j])
    backward[t, i] = log sum_j exp(transition[i, j] + emission[t+1, j] + backward[t+1, j])
    P(y_t = i)     = exp(forward[t, i] + backward[t, i] - log Z)

Lafferty, McCallum & Pereira 2001. `chain_marginals` stays in log space and is right for any scores. `chain_expectations` is for training
on many sequences: products of probabilities, scaled at every token, without an exponential per transition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from zerogap.errors import Infeasible, ScoreShapeError
from zerogap.grid import Scores, as_scores
from zerogap.kernels import float64, int64, kernel, readonly, writable

SMALLEST = 1e-200  # below this, a product of probabilities counts as vanished


@kernel(
    float64(
        readonly(float64, 2), readonly(float64, 3), readonly(float64, 1), readonly(float64, 1),
        writable(float64, 2), writable(float64, 2), writable(float64, 2), writable(float64, 3),
    )
)  # fmt: skip
def chain_marginals(emissions, transitions, start, end, forward, backward, node, edge):
    """Out: forward, backward, node (n, L), edge (n - 1, L, L). Returns log Z; `transitions` is (1 or n - 1, L, L), n at least 1."""
    n, size = emissions.shape
    for j in range(size):
        forward[0, j] = start[j] + emissions[0, j]
        backward[n - 1, j] = end[j]
    for t in range(1, n):
        table = transitions[t - 1 if transitions.shape[0] > 1 else 0]
        for j in range(size):
            largest, total = -np.inf, 0.0
            for i in range(size):
                largest = max(largest, forward[t - 1, i] + table[i, j])
            if largest > -np.inf:
                for i in range(size):
                    total += np.exp(forward[t - 1, i] + table[i, j] - largest)
                largest += np.log(total)
            forward[t, j] = emissions[t, j] + largest
    for t in range(n - 2, -1, -1):
        table = transitions[t if transitions.shape[0] > 1 else 0]
        for i in range(size):
            largest, total = -np.inf, 0.0
            for j in range(size):
                largest = max(largest, table[i, j] + emissions[t + 1, j] + backward[t + 1, j])
            if largest > -np.inf:
                for j in range(size):
                    total += np.exp(table[i, j] + emissions[t + 1, j] + backward[t + 1, j] - largest)
                largest += np.log(total)
            backward[t, i] = largest
    largest, total = -np.inf, 0.0
    for j in range(size):
        largest = max(largest, forward[n - 1, j] + end[j])
    if largest == -np.inf:
        return largest
    for j in range(size):
        total += np.exp(forward[n - 1, j] + end[j] - largest)
    log_partition = largest + np.log(total)
    for t in range(n):
        for j in range(size):
            node[t, j] = np.exp(forward[t, j] + backward[t, j] - log_partition)
    for t in range(n - 1):
        table = transitions[t if transitions.shape[0] > 1 else 0]
        for i in range(size):
            for j in range(size):
                edge[t, i, j] = np.exp(forward[t, i] + table[i, j] + emissions[t + 1, j] + backward[t + 1, j] - log_partition)
    return log_partition


@kernel(
    int64(
        readonly(float64, 2), readonly(int64, 1), readonly(float64, 2), readonly(float64, 1), readonly(float64, 1),
        writable(float64, 2), writable(float64, 2), writable(float64, 1),
    )
)  # fmt: skip
def chain_expectations(emissions, first, transitions, start, end, node, edge, log_partition):
    """Out: node (tokens, L) marginals, edge (L, L) their sums over all neighbours, log_partition (sequences,).

    Sequence s has the tokens first[s] to first[s + 1]. Where scores are so far apart that products vanish, log_partition is nan,
    the rows of `node` are 0, and the sequence has no part in `edge`. Returns how many these are.
    """
    size = emissions.shape[1]
    longest = 0
    for s in range(first.shape[0] - 1):
        longest = max(longest, first[s + 1] - first[s])
    shift = -np.inf
    for i in range(size):
        for j in range(size):
            shift = max(shift, transitions[i, j])
    if shift == -np.inf:
        shift = 0.0
    follow, precede = np.empty((size, size)), np.empty((size, size))
    for i in range(size):
        for j in range(size):
            follow[i, j] = np.exp(transitions[i, j] - shift)
            precede[j, i] = follow[i, j]
    highest_end = -np.inf
    for j in range(size):
        highest_end = max(highest_end, end[j])
    local, ahead, below = np.empty((longest, size)), np.empty(size), np.empty(size)
    together, own = np.zeros((size, size)), np.empty((size, size))
    vanished = 0
    for s in range(first.shape[0] - 1):
        begin, n = first[s], first[s + 1] - first[s]
        log_partition[s] = 0.0
        if n == 0:
            continue
        total = 0.0
        for t in range(n):
            forward = node[begin + t]
            highest = -np.inf
            for j in range(size):
                highest = max(highest, emissions[begin + t, j] + (start[j] if t == 0 else 0.0))
            if t > 0:
                forward[:] = 0.0
                for i in range(size):
                    so_far, row = node[begin + t - 1, i], follow[i]
                    for j in range(size):
                        forward[j] += so_far * row[j]
            mass = 0.0
            for j in range(size):
                if highest == -np.inf:
                    local[t, j] = 0.0
                elif t == 0:
                    local[t, j] = np.exp(start[j] + emissions[begin, j] - highest)
                else:
                    local[t, j] = np.exp(emissions[begin + t, j] - highest)
                forward[j] = local[t, j] if t == 0 else forward[j] * local[t, j]
                mass += forward[j]
            if not mass > SMALLEST:
                total = np.nan
                break
            for j in range(size):
                forward[j] /= mass
            total += highest + np.log(mass) + (shift if t > 0 else 0.0)
        own[:] = 0.0
        mass = 0.0
        if total == total and highest_end > -np.inf:
            for j in range(size):
                ahead[j] = np.exp(end[j] - highest_end)
                mass += node[begin + n - 1, j] * ahead[j]
        if mass > SMALLEST:
            total += highest_end + np.log(mass)
        else:
            total = np.nan
        for t in range(n - 1, -1, -1):
            if total != total:
                break
            if t < n - 1:  # ahead[i] = sum_j follow[i, j] * local[t+1, j] * ahead'[j]
                for j in range(size):
                    below[j] = local[t + 1, j] * ahead[j]
                ahead[:] = 0.0
                for j in range(size):
                    weight, column = below[j], precede[j]
                    for i in range(size):
                        ahead[i] += weight * column[i]
            mass, highest = 0.0, 0.0
            for j in range(size):
                mass += node[begin + t, j] * ahead[j]
                highest = max(highest, ahead[j])
            if not mass > SMALLEST:
                total = np.nan
                break
            for i in range(size):
                weight = node[begin + t, i] / mass
                if t < n - 1:
                    row = own[i]
                    for j in range(size):
                        row[j] += weight * below[j]
                node[begin + t, i] = weight * ahead[i]
                ahead[i] /= highest
        log_partition[s] = total
        if total == total:
            for i in range(size):
                for j in range(size):
                    together[i, j] += own[i, j]
        else:
            vanished += 1
            node[begin : begin + n] = 0.0
    for i in range(size):
        for j in range(size):
            edge[i, j] = together[i, j] * follow[i, j]
    return vanished


@dataclass(frozen=True, slots=True, eq=False)
class Marginals:
    """Probabilities of labels at tokens (n, L) and of pairs of neighbouring labels (n - 1, L, L)."""

    log_partition: float
    node: Scores
    edge: Scores


def marginals(emissions: ArrayLike, transitions: ArrayLike, start: ArrayLike | None = None, end: ArrayLike | None = None) -> Marginals:
    """Marginals of one sequence: emissions (n, L), transitions (L, L) or (n - 1, L, L), start and end (L,).

    Infeasible if every labelling is forbidden.
    """
    nodes = as_scores(emissions, "emissions", shape=(None, None))
    n, size = nodes.shape
    table = as_scores(transitions, "transitions")
    if table.shape == (size, size):
        table = table[None]
    elif table.shape != (max(n - 1, 0), size, size):
        raise ScoreShapeError(
            f"transitions has shape {table.shape}, emissions has {n} tokens and {size} labels:"
            f" expected ({size}, {size}) or (n - 1, {size}, {size})."
        )
    first = np.zeros(size) if start is None else as_scores(start, "start", shape=(size,))
    last = np.zeros(size) if end is None else as_scores(end, "end", shape=(size,))
    node, edge = np.zeros((n, size)), np.zeros((max(n - 1, 0), size, size))
    if n == 0:
        return Marginals(0.0, node, edge)
    total = chain_marginals(nodes, np.ascontiguousarray(table), first, last, np.empty((n, size)), np.empty((n, size)), node, edge)
    if total == -np.inf:
        raise Infeasible("every label sequence uses an emission or a transition that is forbidden (-inf).")
    return Marginals(float(total), node, edge)
