"""Checks the form of a solution before anything in it is used; see `proof.certificate.check_form` for its certificate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zerogap.errors import VerificationError
from zerogap.grid import MANTISSA_BITS
from zerogap.problems.json_values import shorten
from zerogap.proof.solution import Solution, Trace


def plain_number(value: Any, name: str) -> float:
    """A number that may be infinite, in Python's own type: an instance of a subclass of `float` may answer comparisons as it likes.
    NumPy's, which kernels return that run as plain Python, and integers that float64 holds exactly are taken, too."""
    if (type(value) is int and abs(value) <= 2**MANTISSA_BITS) or (type(value) in (float, np.float64) and not math.isnan(value)):
        return float(value)
    raise VerificationError(f"the {name} is {shorten(value)}: expected a number.")


def plain_structure(value: Any) -> Any:
    """A copy in Python's own types: tuples, integers, strings, None. Integers of NumPy are taken, too."""
    if isinstance(value, tuple | list | np.ndarray):
        parts = []
        for part in value:  # a loop, not a comprehension: deep trees cost one level of Python's stack per level
            parts.append(plain_structure(part))
        return tuple(parts)
    if isinstance(value, np.integer):
        return int(value)
    if value is None or type(value) is int or type(value) is str:
        return value
    raise VerificationError(f"the structure holds {shorten(value)}: expected tuples, integers and strings.")


def check_trace(solution: Solution[Any], score: float) -> None:
    """No traced bound is below the score of the structure, which is valid, and no traced score above the bound, which is proven."""
    trace = solution.trace
    columns = (trace.bounds, trace.scores, trace.seconds) if type(trace) is Trace else ()
    if {type(column) for column in columns} != {tuple} or len({len(column) for column in columns}) != 1:
        raise VerificationError(f"the trace is {shorten(trace)}: expected as many bounds as scores and times.")
    for name in ("bounds", "scores", "seconds"):
        for value in getattr(trace, name):
            plain_number(value, f"trace's entry in {name}")
    if any(bound < score for bound in trace.bounds):
        raise VerificationError(f"the trace has the bound {min(trace.bounds)!r}, below the score {score!r} of a valid structure.")
    if any(traced > solution.bound for traced in trace.scores):
        raise VerificationError(f"the trace has the score {max(trace.scores)!r}, above the bound {solution.bound!r}.")
