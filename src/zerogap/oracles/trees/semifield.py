"""The inner loops of sums over trees, in three semifields: numbers, their logarithms, and their maxima.

    push(start, stop, out, row, factor, ...)        out[j] = out[j] ⊕ (factor ⊗ row[j])  for start <= j < stop

    numbers:     push_sum     ⊕ add        ⊗ multiply    ⊘ divide      zero 0      one 1
    logarithms:  push_logs    ⊕ add_logs   ⊗ add         ⊘ subtract    zero -inf   one 0
    maxima:      push_max     ⊕ larger     ⊗ add         ⊘ subtract    zero -inf   one 0

A dynamic program that only adds, multiplies and divides is right in all three: written once and inlined, it takes these functions
as arguments. Numbers are fastest and may underflow: kernels notice and turn to logarithms. Several pushes may share one loop: three
more arguments each, or two without `out` for another term of the last one. All that zerogap.oracles.push says of rows holds here
too; `push_max` is there.

`push_max_of_sums(start, stop, out, row, other, added, ...)` adds two rows: out[j] = max(out[j], added + row[j] + other[j]).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import config
from numba.extending import intrinsic

from zerogap.kernels import inner
from zerogap.oracles.push import WIDTH, combine_maxima, emit_push, split

NEGLIGIBLE = -40.0  # e^-40 is less than half a unit in the last place of 1


@inner
def add(a, b):
    return a + b


@inner
def subtract(a, b):
    return a - b


@inner
def multiply(a, b):
    return a * b


@inner
def divide(a, b):
    return a / b


@inner
def larger(a, b):
    return a if a > b else b


def add_logs_in_python(a: float, b: float) -> float:
    """log(e^a + e^b), also of -inf."""
    high, low = max(a, b), min(a, b)
    return high + np.log1p(np.exp(low - high)) if low > high + NEGLIGIBLE else high


add_logs = inner(add_logs_in_python)


def push_sum_in_python(start: int, stop: int, *groups: Any) -> None:  # out: the first row of every group
    for out, *terms in split(groups, [isinstance(value, np.ndarray) for value in groups], 1):
        for row, factor in zip(terms[::2], terms[1::2]):
            out[start:stop] += factor * row[start:stop]


def push_logs_in_python(start: int, stop: int, *groups: Any) -> None:  # out: the first row of every group
    for out, *terms in split(groups, [isinstance(value, np.ndarray) for value in groups], 1):
        for row, factor in zip(terms[::2], terms[1::2]):
            for j in range(start, stop):
                out[j] = add_logs_in_python(out[j], factor + row[j])


def push_max_of_sums_in_python(start: int, stop: int, *groups: Any) -> None:  # out: the first row of every group
    for out, *terms in split(groups, [isinstance(value, np.ndarray) for value in groups], 2):
        for row, other, added in zip(terms[::3], terms[1::3], terms[2::3]):
            np.maximum(out[start:stop], added + row[start:stop] + other[start:stop], out=out[start:stop])


def combine_numbers(context: Any, builder: Any, result: Any, rows: list[Any], factor: Any) -> Any:
    return builder.fadd(result, builder.fmul(rows[0], factor))


def combine_logs(context: Any, builder: Any, result: Any, rows: list[Any], factor: Any) -> Any:
    arguments = [result, builder.fadd(rows[0], factor)]
    return context.compile_internal(builder, add_logs_in_python, types.float64(types.float64, types.float64), arguments)


@intrinsic
def push_sum_in_vectors(typing: Any, start: Any, stop: Any, *groups: Any) -> Any:
    return types.void(types.int64, types.int64, types.StarArgTuple(groups)), emit_push(combine_numbers, 1, WIDTH)


@intrinsic
def push_logs_one_by_one(typing: Any, start: Any, stop: Any, *groups: Any) -> Any:
    return types.void(types.int64, types.int64, types.StarArgTuple(groups)), emit_push(combine_logs, 1, 1)


@intrinsic
def push_max_of_sums_in_vectors(typing: Any, start: Any, stop: Any, *groups: Any) -> Any:
    return types.void(types.int64, types.int64, types.StarArgTuple(groups)), emit_push(combine_maxima, 2, WIDTH)


in_python = config.DISABLE_JIT  # type: ignore[attr-defined]  # set by numba at import
push_sum: Any = push_sum_in_python if in_python else push_sum_in_vectors
push_logs: Any = push_logs_in_python if in_python else push_logs_one_by_one
push_max_of_sums: Any = push_max_of_sums_in_python if in_python else push_max_of_sums_in_vectors
