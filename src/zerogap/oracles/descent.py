"""Settings of a kernel's descent of a dual, the same record for all kernels that move prices by subgradient steps."""

from __future__ import annotations

from typing import NamedTuple

from zerogap.kernels import float64, int64, record

POLYAK, DECREASING, SCALED = range(3)


class Steps(NamedTuple):
    """The rule of the steps, and when there are enough.

    POLYAK: (dual - best score) / squared subgradient, times a rate that is halved when the bound does not fall, down to `least_rate`
    (Polyak 1969). DECREASING: rate / (t + 1), t the number of times that the dual went up (Rush 2014, appendix A.2). SCALED: the first one
    as by POLYAK, and the others as many times smaller as by DECREASING, until patience is out unless `least_rate` is 0.
    """

    rate: float
    least_rate: float
    most: int  # steps
    rule: int = POLYAK


STEPS = record(Steps, float64, float64, int64, int64)
