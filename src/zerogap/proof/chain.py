"""The scores of a label chain, for checkers: what a label adds to a prefix, and the most that can follow one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.problems.sequence.problem import Problem


def true_edges(problem: Problem, t: int, history: NDArray[np.int64]) -> Scores:
    """What every label adds to every prefix besides its emission."""
    if t == 0:
        return np.tile(problem.start, (len(history), 1))
    if t < problem.order:
        return np.zeros((len(history), len(problem.labels)))
    table = problem.transitions[t - problem.order if len(problem.transitions) > 1 else 0]
    return table[tuple(history.T)]


def priced_transitions(problem: Problem, steps: Scores) -> list[Scores]:
    """The priced transitions into every token from 1 on, by history."""
    size, order = len(problem.labels), problem.order
    edges: list[Scores] = []
    for t in range(1, problem.n_tokens):
        table = problem.transitions[t - order if len(problem.transitions) > 1 else 0] if t >= order else np.zeros((size,) * (order + 1))
        edges.append(table - steps[:size])
    return edges


def completions(problem: Problem, emissions: Scores, edges: list[Scores]) -> list[Scores]:
    """The most that can follow the last `order` labels after every token. Before `order` tokens the oldest is free."""
    size, order, n = len(problem.labels), problem.order, problem.n_tokens
    rest = [np.zeros((size,) * order)]
    for t in range(n - 1, 0, -1):
        nodes = emissions[t] + (problem.end if t == n - 1 else 0.0)
        after = rest[0] + nodes  # (last labels up to the new one)
        rest.insert(0, (edges[t - 1] + (after if order == 1 else after[None])).max(axis=-1))
    return rest


def rest_of(rest: Scores, history: NDArray[np.int64]) -> Scores:
    """Looked up by history; where the sentence has not that many labels yet, the best over the missing one."""
    if rest.ndim == 1:
        return rest[history[:, 0]]
    known = rest[np.maximum(history[:, 0], 0), history[:, 1]]
    return np.where(history[:, 0] >= 0, known, rest.max(axis=0)[history[:, 1]])
