"""Best label sequence of an n-gram model of any order: O(n L^order), ties to the lowest label.

Rush 2014, section 2.2.1, algorithm 1 (trigrams), with the boundary symbols of section 1.2. Contexts are the last
order - 1 labels as one number in base L + 1, where L is the boundary; with a = the label that leaves the context:

    best'[rest, c] = emission[t, c] + max_a (best[a, rest] + transition[a, rest, c])
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zerogap.errors import Infeasible, ScoreShapeError
from zerogap.grid import Scores, as_scores
from zerogap.kernels import float64, int64, kernel, readonly, writable


@kernel(float64(readonly(float64, 2), readonly(float64, 3), writable(float64, 2), writable(int64, 1)))
def ngram_viterbi(emissions, transitions, best, labels):  # out: best (n + 1, contexts), labels (n,)
    """`transitions` is (1 or n + 1, contexts, L + 1): per position if there are n + 1, the last one ends."""
    n, n_labels = emissions.shape
    base, n_contexts = n_labels + 1, best.shape[1]
    n_rest = n_contexts // base
    best[0] = -np.inf
    best[0, n_contexts - 1] = 0.0  # before the first label: boundaries only
    for t in range(n):
        table = transitions[t if transitions.shape[0] > 1 else 0]
        best[t + 1] = -np.inf
        for a in range(base):
            for rest in range(n_rest):
                context = a * n_rest + rest
                so_far = best[t, context]
                if so_far == -np.inf:
                    continue
                row, out = table[context], best[t + 1, rest * base : rest * base + n_labels]
                for c in range(n_labels):  # contiguous and without a branch: LLVM makes vectors of it
                    out[c] = max(out[c], so_far + row[c])
        for rest in range(n_rest):
            for c in range(n_labels):
                best[t + 1, rest * base + c] += emissions[t, c]
    table = transitions[n if transitions.shape[0] > 1 else 0]
    total, context = -np.inf, 0
    for candidate in range(n_contexts):
        if best[n, candidate] + table[candidate, n_labels] > total:
            total, context = best[n, candidate] + table[candidate, n_labels], candidate
    if total == -np.inf:
        return total
    for t in range(n - 1, -1, -1):  # the way back: recompute which label left the context
        rest, c = context // base, context % base
        labels[t] = c
        table = transitions[t if transitions.shape[0] > 1 else 0]
        for a in range(base):
            if best[t, a * n_rest + rest] + table[a * n_rest + rest, c] + emissions[t, c] == best[t + 1, context]:
                context = a * n_rest + rest
                break
    return total


def best_labels(emissions: ArrayLike, transitions: ArrayLike, *, per_position: bool = False) -> tuple[NDArray[np.int64], float]:
    """The best label sequence and its score.

    `emissions` is (n, L). `transitions` is an array with `order` axes of size L + 1, oldest label first and the new one
    last, where index L is the boundary: before the sentence in a context, after it as the new label. With
    `per_position` a leading axis of size n + 1 comes first. See `pad_transitions` for tables without boundaries.
    """
    nodes = as_scores(emissions, "emissions", shape=(None, None))
    n, n_labels = nodes.shape
    table = checked_transitions(as_scores(transitions, "transitions"), n, n_labels, per_position)
    best = np.empty((n + 1, table.shape[1]))
    labels = np.empty(n, dtype=np.int64)
    total = ngram_viterbi(nodes, table, best, labels)
    if total == -np.inf:
        raise Infeasible("every label sequence uses an emission or a transition that is forbidden (-inf).")
    return labels, float(total)


def checked_transitions(table: Scores, n: int, n_labels: int, per_position: bool = False) -> Scores:
    """`table` as (1 or n + 1, contexts, L + 1)."""
    base = n_labels + 1
    axes = table.shape[1:] if per_position else table.shape
    if len(axes) < 2 or axes != (base,) * len(axes) or (per_position and table.shape[0] != n + 1):
        leading = f", after a leading axis of {n + 1}" if per_position else ""
        raise ScoreShapeError(
            f"transitions has shape {table.shape}, emissions has {n} tokens and {n_labels} labels:"
            f" expected two or more axes of size {base} (the labels and the boundary){leading}."
        )
    return np.ascontiguousarray(table.reshape(n + 1 if per_position else 1, base ** (len(axes) - 1), base))


def pad_transitions(transitions: ArrayLike, *, start: ArrayLike | None = None, end: ArrayLike | None = None) -> Scores:
    """A first-order table (L, L) with scores of starting and ending with each label, as (L + 1, L + 1)."""
    inner = as_scores(transitions, "transitions", shape=(None, None))
    n_labels = len(inner)
    if inner.shape[1] != n_labels:
        raise ScoreShapeError(f"transitions has shape {inner.shape}: expected as many columns as rows.")
    table = np.zeros((n_labels + 1, n_labels + 1))
    table[:n_labels, :n_labels] = inner
    if start is not None:
        table[n_labels, :n_labels] = as_scores(start, "start", shape=(n_labels,))
    if end is not None:
        table[:n_labels, n_labels] = as_scores(end, "end", shape=(n_labels,))
    return table
