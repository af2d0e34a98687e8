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

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

from zerogap.oracles.compile import inner
from zerogap.oracles.push import WIDTH

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


def split(values: Sequence[Any], is_row: Sequence[bool], rows: int) -> list[list[Any]]:
    """The groups `out, term, term, ...`, a term being so many rows and a scalar: one begins where there is a row more."""
    starts = [k for k in range(len(values) - rows) if (k == 0 or not is_row[k - 1]) and all(is_row[k : k + rows + 1])]
    return [list(values[a:b]) for a, b in zip(starts, [*starts[1:], len(values)])]


Combine = Callable[[Any, Any, Any, list[Any], Any], Any]  # of what is there, the rows and the scalar, as values of LLVM


def emit_push(combine: Combine, rows: int, width: int) -> Any:
    """What a push becomes in LLVM, `width` elements at a time. All of a step is read before anything is written."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        start, stop, packed = args
        kinds = signature.args[2]
        values = [
            context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
            for kind, value in zip(kinds, cgutils.unpack_tuple(builder, packed, len(kinds)))
        ]
        groups = split(values, [isinstance(kind, types.Array) for kind in kinds], rows)
        emit_loop(context, builder, start, stop, groups, combine, rows, width)
        return context.get_dummy_value()

    return emit


def emit_loop(context: Any, builder: Any, start: Any, stop: Any, groups: list[list[Any]], combine: Combine, rows: int, width: int) -> None:
    def push(position: Any, size: int) -> None:
        kind = ir.VectorType(ir.DoubleType(), size) if size > 1 else ir.DoubleType()

        def address(row: Any) -> Any:
            return builder.bitcast(builder.gep(row, [position]), kind.as_pointer())

        def repeat(scalar: Any) -> Any:
            if size == 1:
                return scalar
            filled = ir.Constant(kind, ir.Undefined)
            for lane in range(size):
                filled = builder.insert_element(filled, scalar, ir.Constant(ir.IntType(32), lane))
            return filled

        results = []
        for out, *terms in groups:
            result = builder.load(address(out), align=8)
            for first in range(0, len(terms), rows + 1):
                read = [builder.load(address(row), align=8) for row in terms[first : first + rows]]
                result = combine(context, builder, result, read, repeat(terms[first + rows]))
            results.append(result)
        for (out, *_), result in zip(groups, results):
            builder.store(result, address(out), align=8)

    count = builder.sub(stop, start)
    with builder.if_then(builder.icmp_signed(">", count, ir.Constant(count.type, 0))):
        whole = builder.add(start, builder.and_(count, ir.Constant(count.type, -width)))
        with cgutils.for_range_slice(builder, start, whole, ir.Constant(count.type, width)) as (position, _):
            push(position, width)
        size = width
        while size > 1:  # the rest, by halves
            size //= 2
            has_bit = builder.icmp_signed("!=", builder.and_(count, ir.Constant(count.type, size)), ir.Constant(count.type, 0))
            with builder.if_then(has_bit):
                push(builder.add(start, builder.and_(count, ir.Constant(count.type, -2 * size))), size)


def combine_numbers(context: Any, builder: Any, result: Any, rows: list[Any], factor: Any) -> Any:
    return builder.fadd(result, builder.fmul(rows[0], factor))


def combine_logs(context: Any, builder: Any, result: Any, rows: list[Any], factor: Any) -> Any:
    arguments = [result, builder.fadd(rows[0], factor)]
    return context.compile_internal(builder, add_logs_in_python, types.float64(types.float64, types.float64), arguments)


def combine_maxima(context: Any, builder: Any, result: Any, rows: list[Any], added: Any) -> Any:
    candidate = added
    for row in rows:
        candidate = builder.fadd(candidate, row)
    name = f"llvm.maxnum.v{candidate.type.count}f64" if isinstance(candidate.type, ir.VectorType) else "llvm.maxnum.f64"
    maximum = cgutils.get_or_insert_function(builder.module, ir.FunctionType(candidate.type, [candidate.type] * 2), name)
    return builder.call(maximum, [candidate, result], fastmath=("nnan",))


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
