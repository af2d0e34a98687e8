"""The best labelling of a sequence under global constraints (Tromble & Eisner 2006, equation 1).

    argmax_y  start[y_0] + sum_t emissions[t, y_t] + transitions[y_t-1, y_t] + end[y_n-1] - penalties of broken soft constraints

over the labellings y that every hard constraint accepts. Transitions may be of first or second order, and may depend on the
position. A labelling is a tuple of label names if names were given, else of indices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError, InvalidStructure, ScoreShapeError
from zerogap.grid import Scores, as_scores, restored, rounded_together
from zerogap.problems.sequence.compiling import bind, types_of
from zerogap.problems.sequence.constraints import Constraint
from zerogap.problems.sequence.labels import Label
from zerogap.problems.sequence.machine import Machine


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Scores (n, L) of labels, (L, L) or (L, L, L) of their neighbours, names for the labels, and constraints.

    `transitions[i, j]` scores label j after label i, `transitions[h, i, j]` after h and i; a leading axis of n - 1 (first order)
    or n - 2 (second order) makes it depend on the position. -inf forbids.
    """

    emissions: Scores  # (n, L)
    transitions: Scores  # (1 or n - order, L, L[, L])
    start: Scores  # (L,)
    end: Scores  # (L,)
    labels: tuple[Label, ...]
    constraints: tuple[Constraint, ...]
    machines: tuple[Machine, ...]
    penalties: Scores  # per constraint, 0 if it is hard
    is_hard: NDArray[np.bool_]  # per constraint
    named: bool
    resolution: float
    terms: int
    largest: float  # no score or penalty has a greater magnitude

    __setstate__ = restored

    def __init__(
        self,
        emissions: object,
        transitions: object = None,
        start: object = None,
        end: object = None,
        labels: Sequence[str] | None = None,
        constraints: Sequence[Constraint] = (),
        *,
        order: int | None = None,
        resolution: float | None = None,
    ) -> None:
        nodes = as_scores(emissions, "emissions", shape=(None, None), check=False)
        n, size = nodes.shape
        names = tuple(range(size)) if labels is None else tuple(labels)
        if len(names) != size or len(set(names)) != size:
            raise InputError(f"labels has {len(names)} names, {len(set(names))} different; emissions has {size} labels: expected as many.")
        constraints = tuple(constraints)  # they are gone through three times
        machines = bind(constraints, names, n)
        scores = {
            "emissions": nodes,
            "transitions": checked_transitions(transitions, n, size, order),
            "start": np.zeros(size) if start is None else as_scores(start, "start", shape=(size,), check=False),
            "end": np.zeros(size) if end is None else as_scores(end, "end", shape=(size,), check=False),
            "penalties": np.array([constraint.penalty or 0.0 for constraint in constraints], dtype=np.float64),
        }
        hard = np.array([constraint.penalty is None for constraint in constraints], dtype=np.bool_)
        terms = 2 * n + 2 + len(constraints)
        rounded, grid, largest = rounded_together(scores, terms, resolution)
        for name, value in (
            *zip(scores, rounded, strict=True), ("labels", names), ("constraints", constraints), ("machines", machines),
            ("is_hard", hard), ("named", labels is not None), ("resolution", grid), ("terms", terms), ("largest", largest),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    @property
    def n_tokens(self) -> int:
        return len(self.emissions)

    @property
    def order(self) -> int:
        return self.transitions.ndim - 2

    @property
    def kinds(self) -> NDArray[np.int64]:
        """(L,): a number from 0 for every label, the same for the labels of a field in a BIO or BIOES scheme."""
        return types_of(self.labels) - 1

    def indices(self, labelling: Sequence[Label]) -> list[int]:
        """The labelling as label indices; InvalidStructure if it is not one."""
        if not isinstance(labelling, tuple | list | np.ndarray) or len(labelling) != self.n_tokens:
            raise InvalidStructure(f"the labelling is {labelling!r}: expected {self.n_tokens} labels.")
        number = {label: i for i, label in enumerate(self.labels)}
        for t, label in enumerate(labelling):
            if isinstance(label, bool | float) or label not in number:
                raise InvalidStructure(f"labelling[{t}] is {label!r}: expected one of the problem's labels.")
        return [number[label] for label in labelling]

    def names(self, indices: Sequence[int]) -> tuple[Label, ...]:
        return tuple(map(self.labels.__getitem__, indices))

    def local_score(self, y: Sequence[int]) -> float:
        """The score without penalties."""
        n, order = len(y), self.order
        if n == 0:
            return 0.0
        labels = np.asarray(y)
        size = len(self.labels)
        total = self.start[y[0]] + self.end[y[-1]] + np.add.reduce(self.emissions.ravel().take(np.arange(0, n * size, size) + labels))
        if n > order:
            place = labels[: n - order]  # among all transitions: reading them in one go is several times as fast as by several indices
            for k in range(1, order + 1):
                place = place * size + labels[k : n - order + k]
            if len(self.transitions) > 1:
                place = place + np.arange(n - order) * size ** (order + 1)
            total += np.add.reduce(self.transitions.ravel().take(place))
        return float(total)

    def broken(self, y: Sequence[int], *, hard: bool = True, soft: bool = True) -> list[int]:
        """The constraints that a labelling breaks."""
        return [c for c, is_hard in enumerate(self.is_hard.tolist()) if (hard if is_hard else soft) and not self.machines[c].accepts(y)]

    def score(self, labelling: Sequence[Label]) -> float:
        return self.score_of(self.indices(labelling))

    def score_of(self, y: Sequence[int]) -> float:
        """The score of a labelling given as label indices."""
        return self.local_score(y) - sum(float(self.penalties[c]) for c in self.broken(y, hard=False))

    def check(self, labelling: Sequence[Label]) -> None:
        """Raises InvalidStructure unless the labelling is allowed and keeps every hard constraint."""
        y = self.indices(labelling)
        if self.local_score(y) == -np.inf:
            raise InvalidStructure("the labelling uses a label or a transition that is forbidden (-inf).")
        for c in self.broken(y, soft=False):
            raise InvalidStructure(f"the labelling breaks {self.constraints[c].name}.")


def checked_transitions(value: object, n: int, size: int, order: int | None) -> Scores:
    """(positions, L, L) or (positions, L, L, L), with one position if it is the same everywhere."""
    if order not in (None, 1, 2):
        raise InputError(f"order is {order!r}: expected 1 or 2.")
    if value is None:
        return np.zeros((1, *(size,) * ((order or 1) + 1)))
    table = as_scores(value, "transitions", check=False)
    candidates = []
    for k in (1, 2) if order is None else (order,):
        axes = (size,) * (k + 1)
        if table.shape == axes:
            candidates.append(table[None])
        elif table.shape == (max(n - k, 0), *axes):
            candidates.append(table if n > k else np.zeros((1, *axes)))
    if len(candidates) == 2:
        raise ScoreShapeError(
            f"transitions has shape {table.shape}: that is second order, or first order by position, as n - 1 equals the number of labels."
            " Say which with order=1 or order=2."
        )
    if not candidates:
        raise ScoreShapeError(
            f"transitions has shape {table.shape}, emissions has {n} tokens and {size} labels: expected ({size}, {size}),"
            f" (n - 1, {size}, {size}), ({size}, {size}, {size}) or (n - 2, {size}, {size}, {size})."
        )
    return np.ascontiguousarray(candidates[0])
