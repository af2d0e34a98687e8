"""Weights while they are learned: a table that grows, steps of MIRA and the perceptron, and averages over all moments.

Every weight has its drift, the sum of its changes times the moments at which they happened (see `learning.averaging`); the average is
weight - drift / moments. Weights of a template may have a ceiling, which no step takes them beyond.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.features.parts.weight_table import EMPTY, Keys, cell_of, shift_of
from zerogap.features.parts.weights import Table
from zerogap.grid import Scores
from zerogap.kernels import float64, int64, kernel, readonly, writable

FULLEST = 0.5  # share of places that are taken
NO_JUMPS = np.zeros(0, dtype=np.uint32)
LOW_BYTES = 256  # of keys: the numbers of templates
NO_CEILINGS = np.full(LOW_BYTES, np.inf)


@kernel(
    int64(readonly(int64, 1), readonly(float64, 1), readonly(float64, 2), writable(int64, 1), writable(float64, 1), writable(float64, 2))
)
def move_all(old_cells, old_numbers, old_values, cells, numbers, values):  # out: cells and numbers (given as EMPTY), values (2, places)
    shift = shift_of(cells.shape[0] >> 1)
    for old in range(0, old_cells.shape[0], 2):
        if old_cells[old] != EMPTY:
            cell = cell_of(old_cells[old], cells, shift)
            cells[cell] = old_cells[old]
            numbers[cell + 1] = old_numbers[old + 1]
            values[0, cell >> 1] = old_values[0, old >> 1]
    return 0


@kernel(
    int64(
        readonly(int64, 1), readonly(float64, 1), float64, float64, float64, int64, readonly(float64, 1),
        writable(int64, 1), writable(float64, 1), writable(float64, 2), writable(int64, 1), writable(float64, 1),
    )
)  # fmt: skip
def update(changed, signs, loss, most, moment, grow, ceilings, cells, numbers, values, touched, result):
    """One step of MIRA towards the features of sign 1 and away from those of sign -1 (Crammer et al. 2006; Rush 2014, section 8.4.3).

        step = min(most, (loss - margin) / |difference|^2)        with loss < 0: a step of the perceptron, which is `most`

    Signs may be other amounts. `moment` is when it happens, for the average; without `grow`, keys that are not there stay out. Weights do
    not go beyond the `ceilings` of their templates, and those that are there and should go up do not count in the norm. Returns how many
    keys are new; there must be room for them.
    out: cells, numbers, values (drift, difference; difference is 0 before and after), touched (scratch, at least as long as changed),
    result (step, margin).
    """
    shift = shift_of(cells.shape[0] >> 1)
    n_new = 0
    for i in range(changed.shape[0]):
        cell = cell_of(changed[i], cells, shift)
        if cells[cell] == EMPTY:
            if not grow:
                touched[i] = -1
                continue
            cells[cell] = changed[i]
            n_new += 1
        touched[i] = cell
        values[1, cell >> 1] += signs[i]
    margin, norm = 0.0, 0.0
    for i in range(changed.shape[0]):  # sums over the features of the difference, through all that changed them
        cell = touched[i]
        if cell >= 0:
            difference = values[1, cell >> 1]
            margin += numbers[cell + 1] * signs[i]
            norm += 0.0 if difference > 0.0 and numbers[cell + 1] >= ceilings[changed[i] & 255] else difference * signs[i]
    step = most
    if loss >= 0.0:
        step = 0.0 if norm <= 0.0 or loss <= margin else min(most, (loss - margin) / norm)
    for i in range(changed.shape[0]):
        cell = touched[i]
        if cell >= 0:
            difference = values[1, cell >> 1]
            if difference != 0.0:
                before = numbers[cell + 1]
                after = min(before + step * difference, ceilings[changed[i] & 255])
                numbers[cell + 1] = after
                values[0, cell >> 1] += moment * (after - before)
                values[1, cell >> 1] = 0.0
    result[0], result[1] = step, margin
    return n_new


@kernel(int64(readonly(int64, 1), float64, float64, readonly(int64, 1), writable(float64, 1), writable(float64, 2)))
def lift(keys, amount, moment, cells, numbers, values):  # out: numbers, values
    """Takes weights below 0 up by an amount, but not above 0, as often as they are there."""
    shift = shift_of(cells.shape[0] >> 1)
    for i in range(keys.shape[0]):
        cell = cell_of(keys[i], cells, shift)
        if cells[cell] != EMPTY and numbers[cell + 1] < 0.0:
            change = min(amount, -numbers[cell + 1])
            numbers[cell + 1] += change
            values[0, cell >> 1] += moment * change
    return 0


class WeightTable:
    """Weights while they are learned: the table grows, and every weight has its drift, which gives its average."""

    __slots__ = ("cells", "moment", "n_keys", "numbers", "result", "touched", "values")

    def __init__(self, places: int = 1 << 16) -> None:
        self.cells: Keys = np.zeros(2 * places, dtype=np.int64)
        self.numbers: Scores = self.cells.view(np.float64)
        self.values: Scores = np.zeros((2, places))
        self.touched: Keys = np.zeros(1 << 12, dtype=np.int64)
        self.result: Scores = np.zeros(2)
        self.n_keys = 0
        self.moment = 0.0

    @property
    def table(self) -> Table:
        """What scoring reads; not for longer than until the next step."""
        return Table(self.cells, self.numbers, NO_JUMPS)

    def make_room(self, n: int) -> None:
        """For as many new keys."""
        places = len(self.cells) // 2
        while self.n_keys + n > FULLEST * places:
            places *= 2
        if places > len(self.cells) // 2:
            cells, values = np.zeros(2 * places, dtype=np.int64), np.zeros((2, places))
            move_all(self.cells, self.numbers, self.values, cells, cells.view(np.float64), values)
            self.cells, self.numbers, self.values = cells, cells.view(np.float64), values
        if n > len(self.touched):
            self.touched = np.zeros(2 * n, dtype=np.int64)

    def step(
        self, changed: Keys, signs: Scores, *, loss: float = -1.0, most: float = 1.0, grow: bool = True, ceilings: Scores = NO_CEILINGS
    ) -> float:
        """A step of MIRA, or of size `most` if there is no loss; returns its size. `ceilings` are by the low bytes of keys."""
        self.make_room(len(changed))
        self.n_keys += update(
            changed, signs, loss, most, self.moment, 1 if grow else 0, ceilings,
            self.cells, self.numbers, self.values, self.touched, self.result,
        )  # fmt: skip
        return float(self.result[0])

    def lift(self, keys: Keys, amount: float) -> None:
        """Takes weights below 0 nearer to it."""
        lift(keys, amount, self.moment, self.cells, self.numbers, self.values)

    def average(self) -> tuple[Keys, Scores]:
        """All keys, and the means of their weights at every moment."""
        taken = np.flatnonzero(self.cells[::2] != EMPTY)
        weights = self.numbers[1::2][taken]
        return self.cells[::2][taken], weights - self.values[0, taken] / self.moment if self.moment else weights
