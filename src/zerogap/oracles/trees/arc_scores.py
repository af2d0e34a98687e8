"""Arc scores at the border of the tree oracles: what they accept, and why there may be no tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from zerogap.errors import Infeasible, ScoreError, ScoreShapeError
from zerogap.grid import Scores, as_scores
from zerogap.kernels import boolean, float64, kernel, readonly

NOT_SUCH_AN_ARRAY = (TypeError, ValueError, AttributeError, IndexError)  # what a kernel raises for anything but float64 (n+1, n+1)


@kernel(boolean(readonly(float64, 2)))
def is_accepted(scores):
    """True unless scores are not square or some entry is nan or +inf, even one that means nothing."""
    if scores.shape[0] != scores.shape[1]:
        return False
    flat = scores.reshape(-1)
    bad = 0
    for k in range(flat.size):
        bad |= not flat[k] < np.inf
    return bad == 0


def arc_scores(value: Any) -> Scores:
    """`value` as kernels take it: a copy, checked, with -inf in column 0 and on the diagonal, which mean nothing."""
    try:
        scores = clear(as_scores(value, "scores"))
    except ScoreError:  # perhaps where it means nothing
        scores = as_scores(clear(np.array(value.tolist() if hasattr(value, "tolist") else value, dtype=np.float64)), "scores")
    return scores


def clear(scores: Scores) -> Scores:  # out: scores
    if scores.ndim != 2 or scores.shape[0] != scores.shape[1] or scores.size == 0:
        raise ScoreShapeError(f"scores has shape {scores.shape}: expected (n + 1, n + 1), a row and a column for the root first.")
    np.fill_diagonal(scores, -np.inf)
    scores[:, 0] = -np.inf
    return scores


def infeasible(scores: Scores, *, single_root: bool, projective: bool = False) -> Infeasible:
    """Why no tree avoids the forbidden arcs, naming the words that stay out of reach where some do."""
    n = len(scores) - 1
    allowed = scores > -np.inf
    allowed[np.arange(n + 1), np.arange(n + 1)] = False
    allowed[:, 0] = False
    lost = out_of_reach(allowed, 0)
    if lost:
        return Infeasible(f"no tree: {name(lost)} cannot be reached from the root by arcs that are not -inf.", tuple(lost))
    if single_root:
        candidates = {int(r): out_of_reach(allowed, int(r)) for r in np.flatnonzero(allowed[0])}
        root = min(candidates, key=lambda r: (len(candidates[r]), r))
        if candidates[root]:
            return Infeasible(
                f"no tree with a single root: under word {root}, which reaches most, {name(candidates[root])} cannot be reached.",
                tuple(candidates[root]),
            )
    return Infeasible("no projective tree avoids the arcs of score -inf." if projective else "no tree avoids the arcs of score -inf.")


def out_of_reach(allowed: np.ndarray[Any, np.dtype[np.bool_]], start: int) -> list[int]:
    reached = np.zeros(len(allowed), dtype=np.bool_)
    reached[[0, start]] = True
    waiting = [start]
    while waiting:
        new = allowed[waiting.pop()] & ~reached
        reached |= new
        waiting.extend(int(m) for m in np.flatnonzero(new))
    return [int(m) for m in np.flatnonzero(~reached)]


def name(words: list[int]) -> str:
    shown = ", ".join(map(str, words[:10])) + (", ..." if len(words) > 10 else "")
    return f"word {shown}" if len(words) == 1 else f"words {shown}"
