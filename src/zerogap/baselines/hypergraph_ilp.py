"""The best constrained hyperpath as an integer linear program in HiGHS (Rush 2014, the constraints of section 2.2.2).

One binary variable per hyperedge; a vertex is entered exactly as often as the tails above it use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zerogap.baselines.highs import maximise

if TYPE_CHECKING:
    from zerogap.problems.hypergraph import Problem


def solve_ilp(problem: Problem, *, time_limit: float | None = None) -> tuple[int, ...] | None:
    """The hyperedges of an optimal hyperpath by HiGHS's account, or None if there is none (or none within the limit)."""
    graph, rows = problem.hypergraph, problem.constraints
    heads = graph.heads
    flow: list[tuple[list[int], list[float], float, float]] = []
    above: dict[int, list[int]] = {}
    for e in range(graph.n_edges):
        for u in graph.tail(e).tolist():
            above.setdefault(u, []).append(e)
    for v in np.flatnonzero(~graph.is_terminal).tolist():
        into = list(range(int(graph.edge_start[v]), int(graph.edge_start[v + 1])))
        out = above.get(v, []) if v != graph.root else []
        need = 1.0 if v == graph.root else 0.0
        flow.append((into + out, [1.0] * len(into) + [-1.0] * len(out), need, need))
    for r in range(len(rows)):
        at = slice(int(rows.row_start[r]), int(rows.row_start[r + 1]))
        low = float(rows.limits[r]) if rows.is_equation[r] else -np.inf
        flow.append((rows.columns[at].tolist(), rows.coefficients[at].tolist(), low, float(rows.limits[r])))
    upper = (problem.scores > -np.inf).astype(np.float64)
    objective = np.where(upper > 0, problem.scores, 0.0)
    values = maximise(objective, upper, flow, integer=True, time_limit=time_limit)
    if values is None:
        return None
    chosen = {int(heads[e]): int(e) for e in np.flatnonzero(values > 0.5)}
    path, waiting = [], [graph.root]
    while waiting:
        v = waiting.pop()
        if v in chosen:
            path.append(chosen[v])
            waiting.extend(graph.tail(chosen[v]).tolist()[::-1])
    return tuple(path)
