"""Models whose larger parts only cost: no sibling, stop, grandparent or grand-sibling has a weight above 0.

Then no tree scores more than its arcs, which makes the best tree easy to prove (`penalty_search`). It is no loss: what speaks for a part
can speak for its arcs, and against all other parts with these.
"""

from __future__ import annotations

import numpy as np

from zerogap.features.parts.keys import PartFeatures
from zerogap.features.parts.learning import NO_CEILINGS
from zerogap.features.parts.model import PartModel
from zerogap.grid import Scores

OF_ARCS = ("arc", "between")
COST = 7e-4  # by which larger parts of right trees cost less after every sentence: chosen on development data


def ceilings_of(features: PartFeatures) -> Scores:
    """By the low bytes of keys: 0 for larger parts."""
    ceilings = NO_CEILINGS.copy()
    ceilings[1 : len(features.templates) + 1] = [np.inf if template.kind in OF_ARCS else 0.0 for template in features.templates]
    return ceilings


def has_penalties_only(model: PartModel) -> bool:
    """Whether no weight of a larger part is above 0."""
    return bool((model.steps <= ceilings_of(model.features)[model.keys & 255]).all())
