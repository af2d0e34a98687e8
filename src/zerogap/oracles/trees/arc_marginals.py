"""At the border of the kernels that say something of every arc: checked scores in, or why there is no tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zerogap.grid import Scores
from zerogap.oracles.trees.arc_scores import arc_scores, infeasible


def for_all_arcs(find: Callable[[Scores, int, Scores], float], scores: Any, *, projective: bool, single_root: bool) -> tuple[float, Scores]:
    """The total that `find(scores, single_root, marginals)` returns and the marginals (n + 1, n + 1) that it fills.

    Column 0 and the diagonal of the scores are ignored, -inf forbids an arc. Raises Infeasible if the total is -inf.
    """
    checked = arc_scores(scores)
    marginals = np.empty(checked.shape)
    total = find(checked, 1 if single_root else 0, marginals)
    if total == -np.inf:
        raise infeasible(checked, single_root=single_root, projective=projective)
    return float(total), marginals
