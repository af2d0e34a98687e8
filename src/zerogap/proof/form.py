"""Checks the form of a solution before anything in it is used: exact types, finite numbers, bounded depth.

A checker that reads a value twice must see the same value twice, so nothing but Python's own types is let in: an instance of a
subclass of `float` or `tuple` may answer every question differently.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, get_args

import numpy as np

from zerogap.errors import VerificationError
from zerogap.problems.json_values import shorten
from zerogap.proof.certificate import Certificate, Leaf
from zerogap.proof.solution import Solution, Trace

MOST_LEVELS = 60  # of certificates within certificates
RECORDS = frozenset({Leaf, *get_args(Certificate)})


def check_number(value: Any, name: str) -> None:
    """A number that may be infinite."""
    if (type(value) is not float and type(value) is not int) or math.isnan(value):
        raise VerificationError(f"the {name} is {value!r}: expected a number.")


def check_certificate(certificate: Any) -> None:
    """Raises VerificationError unless a certificate holds nothing but records, tuples, integers, booleans and finite floats."""
    if type(certificate) not in RECORDS:
        raise VerificationError(f"the certificate is {shorten(certificate)}: expected one of the kinds that zerogap knows.")
    waiting: list[tuple[Any, int]] = [(certificate, 0)]
    while waiting:
        value, level = waiting.pop()
        if type(value) is tuple:
            kinds = set(map(type, value))
            if kinds <= {int, bool} or (kinds == {float} and all(map(math.isfinite, value))):
                continue
            waiting += [(entry, level) for entry in value]
        elif type(value) in RECORDS:
            if level > MOST_LEVELS:
                raise VerificationError(f"the certificate has more than {MOST_LEVELS} levels: expected fewer.")
            waiting += [(getattr(value, field.name), level + 1) for field in dataclasses.fields(value)]
        elif type(value) is float:
            if not math.isfinite(value):
                raise VerificationError(f"the certificate holds {value!r}: expected finite numbers.")
        elif type(value) is not int and type(value) is not bool:
            raise VerificationError(f"the certificate holds {shorten(value)}, which is not a leaf, a number or a tuple of them.")


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
    if type(trace) is not Trace or not len(trace.bounds) == len(trace.scores) == len(trace.seconds):
        raise VerificationError(f"the trace is {shorten(trace)}: expected as many bounds as scores and times.")
    for name in ("bounds", "scores", "seconds"):
        for value in getattr(trace, name):
            check_number(value, f"trace's entry in {name}")
    if any(bound < score for bound in trace.bounds):
        raise VerificationError(f"the trace has the bound {min(trace.bounds)!r}, below the score {score!r} of a valid structure.")
    if any(traced > solution.bound for traced in trace.scores):
        raise VerificationError(f"the trace has the score {max(trace.scores)!r}, above the bound {solution.bound!r}.")
