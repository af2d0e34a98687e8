"""The inner loop of the dynamic programs, in vector instructions.

    push_max(start, stop, out, row, added, ...)        out[j] = max(out[j], added + row[j])  for start <= j < stop

Several maxima may share one loop: three more arguments each. Left to itself, the compiler must assume that rows overlap,
checks that before every short loop, and writes the maximum as masked stores: 2 to 4 times slower. So the loop is
written in LLVM's vector types, which exist for every processor. Rows are one-dimensional and C-contiguous, and an
`out` overlaps no other. No index is checked. No score is nan or +inf.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

WIDTH = 4  # doubles at a time: one AVX register, two of SSE2 or NEON


def push_max_in_python(start: int, stop: int, *groups: Any) -> None:  # out: the first row of every group
    for out, *pairs in split(groups, [isinstance(value, np.ndarray) for value in groups]):
        for row, added in zip(pairs[::2], pairs[1::2]):
            np.maximum(out[start:stop], added + row[start:stop], out=out[start:stop])


def split(values: Sequence[Any], is_row: Sequence[bool]) -> list[list[Any]]:
    """The groups `out, row, added, row, added, ...`: one begins where two rows follow each other."""
    starts = [k for k in range(len(values)) if is_row[k] and is_row[k + 1]]
    return [list(values[a:b]) for a, b in zip(starts, [*starts[1:], len(values)])]


@intrinsic
def push_max_in_vectors(typing: Any, start: Any, stop: Any, *groups: Any) -> Any:
    return types.void(types.int64, types.int64, types.StarArgTuple(groups)), emit_push_max


def emit_push_max(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    start, stop, packed = args
    kinds = signature.args[2]
    is_row = [isinstance(kind, types.Array) for kind in kinds]
    values = [
        context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
        for kind, value in zip(kinds, cgutils.unpack_tuple(builder, packed, len(kinds)))
    ]
    groups = split(values, is_row)
    one, two, width = (ir.Constant(start.type, size) for size in (1, 2, WIDTH))

    def push(position: Any, size: int) -> None:
        """One step: `size` elements from `position` on. All is read before anything is written."""
        vector = ir.VectorType(ir.DoubleType(), size)
        maximum = cgutils.get_or_insert_function(builder.module, ir.FunctionType(vector, [vector, vector]), f"llvm.maxnum.v{size}f64")

        def address(row: Any) -> Any:
            return builder.bitcast(builder.gep(row, [position]), vector.as_pointer())

        def repeat(scalar: Any) -> Any:
            filled = ir.Constant(vector, ir.Undefined)
            for lane in range(size):
                filled = builder.insert_element(filled, scalar, ir.Constant(ir.IntType(32), lane))
            return filled

        results = []
        for out, *pairs in groups:
            result = builder.load(address(out), align=8)
            for row, added in zip(pairs[::2], pairs[1::2]):
                candidate = builder.fadd(builder.load(address(row), align=8), repeat(added))
                result = builder.call(maximum, [candidate, result], fastmath=("nnan",))
            results.append(result)
        for (out, *_), result in zip(groups, results):
            builder.store(result, address(out), align=8)

    def has_bit(count: Any, bit: Any) -> Any:
        return builder.icmp_signed("!=", builder.and_(count, bit), ir.Constant(bit.type, 0))

    count = builder.sub(stop, start)
    with builder.if_then(builder.icmp_signed(">", count, ir.Constant(count.type, 0))):
        whole = builder.add(start, builder.and_(count, ir.Constant(count.type, -WIDTH)))
        with cgutils.for_range_slice(builder, start, whole, width) as (position, _):
            push(position, WIDTH)
        with builder.if_then(has_bit(count, two)):
            push(whole, 2)
        with builder.if_then(has_bit(count, one)):
            push(builder.sub(stop, one), 1)
    return context.get_dummy_value()


push_max: Any = push_max_in_python if config.DISABLE_JIT else push_max_in_vectors  # type: ignore[attr-defined]  # set by numba at import
