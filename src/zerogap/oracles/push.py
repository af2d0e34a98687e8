"""The inner loop of the dynamic programs, in vector instructions.

    push_max(start, stop, out, row, added, ...)        out[j] = max(out[j], added + row[j])  for start <= j < stop

Several maxima may share one loop: three more arguments each. Left to itself, the compiler must assume that rows overlap,
checks that before every short loop, and writes the maximum as masked stores: 2 to 4 times slower. So the loop is
written in LLVM's vector types, which exist for every processor. Rows are one-dimensional and C-contiguous, and an
`out` overlaps no other. No index is checked. No score is nan or +inf.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

WIDTH = 4  # doubles at a time: one AVX register, two of SSE2 or NEON


def push_max_in_python(start: int, stop: int, *groups: Any) -> None:  # out: the first row of every group
    for out, *terms in split(groups, [isinstance(value, np.ndarray) for value in groups], 1):
        for row, added in zip(terms[::2], terms[1::2]):
            np.maximum(out[start:stop], added + row[start:stop], out=out[start:stop])


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


def combine_maxima(context: Any, builder: Any, result: Any, rows: list[Any], added: Any) -> Any:
    candidate = added
    for row in rows:
        candidate = builder.fadd(candidate, row)
    name = f"llvm.maxnum.v{candidate.type.count}f64" if isinstance(candidate.type, ir.VectorType) else "llvm.maxnum.f64"
    maximum = cgutils.get_or_insert_function(builder.module, ir.FunctionType(candidate.type, [candidate.type] * 2), name)
    return builder.call(maximum, [candidate, result], fastmath=("nnan",))


@intrinsic
def push_max_in_vectors(typing: Any, start: Any, stop: Any, *groups: Any) -> Any:
    return types.void(types.int64, types.int64, types.StarArgTuple(groups)), emit_push(combine_maxima, 1, WIDTH)


push_max: Any = push_max_in_python if config.DISABLE_JIT else push_max_in_vectors  # type: ignore[attr-defined]  # set by numba at import
