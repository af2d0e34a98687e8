"""Kernels are compiled on their first call, and take records of arrays."""

from __future__ import annotations

from threading import Thread
from typing import NamedTuple

import numpy as np
import pytest
from numba.core import config
from numpy.typing import NDArray

from zerogap import kernels
from zerogap.kernels import float64, int64, kernel, readonly, record, writable

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="about the compiler")


class Pairs(NamedTuple):
    """Two columns of numbers."""

    left: NDArray[np.int64]
    right: NDArray[np.float64]


PAIRS = record(Pairs, readonly(int64, 1), readonly(float64, 1))


@kernel(float64(PAIRS, writable(float64, 1)))
def products(pairs, out):  # out: out (n,)
    total = 0.0
    for i in range(pairs.left.size):
        out[i] = pairs.left[i] * pairs.right[i]
        total += out[i]
    return total


@kernel(float64(PAIRS, writable(float64, 1)))
def twice(pairs, out):
    return products(pairs, out) + products(pairs, out)


@kernel(float64(int64, writable(float64, 1)))
def products_with_itself(n, out):
    """A record that a kernel makes, with arrays that it has filled, is one that another kernel only reads."""
    left, right = np.empty(n, dtype=np.int64), np.empty(n)
    for i in range(n):
        left[i], right[i] = i, i
    return products(Pairs(left, right), out)


def test_nothing_is_compiled_before_the_first_call():
    assert not [name for name in kernels.used if name.endswith(":never")]

    @kernel(float64(float64))
    def never(x):
        return x

    assert never.signatures == []


def test_records_may_hold_writable_arrays():
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    for right in (np.arange(3.0), fixed):
        assert twice(Pairs(np.arange(3), right), np.zeros(3)) == 10.0
    with pytest.raises(TypeError):
        products(Pairs(np.arange(3), np.arange(3.0)), fixed)  # it is filled
    with pytest.raises(TypeError):
        products(Pairs(np.arange(3).astype(np.int32), np.arange(3.0)), np.zeros(3))


def test_records_that_kernels_make():
    out = np.empty(4)
    assert (products_with_itself(4, out), out.tolist()) == (14.0, [0.0, 1.0, 4.0, 9.0])


class Ends(NamedTuple):
    """Two columns of one type."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]


ENDS = record(Ends, readonly(int64, 1), readonly(int64, 1))


@kernel(int64(ENDS))
def distance(ends):
    return ends.last.sum() - ends.first.sum()


@kernel(int64(writable(int64, 1), writable(int64, 1)))
def distance_both_ways(first, last):
    return distance(Ends(first, last)) - distance(Ends(last, first))


def test_records_may_have_fields_of_one_type():
    first, last = np.arange(3), np.arange(3) + 1
    for _ in range(2):
        assert distance(Ends(first, last)) == 3
        assert distance_both_ways(first, last) == 6
    with pytest.raises(TypeError):
        distance(Ends(first, np.arange(3.0)))


def test_the_first_call_takes_no_wrong_arrays():
    """Numba itself checks the arguments of later calls only."""

    @kernel(float64(readonly(float64, 1)))
    def total(values):
        return values.sum()

    for wrong in (np.arange(3), np.arange(6.0)[::2], np.zeros((1, 1)), 1.0):
        with pytest.raises(TypeError):
            total(wrong)
    assert total(np.arange(3.0)) == total(values=np.arange(3.0)) == 3.0


def test_threads_compile_a_kernel_once():
    @kernel(int64(int64))
    def next_number(x):
        return x + 1

    found: list[int] = []
    threads = [Thread(target=lambda: found.append(next_number(1))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2] * 4
    assert len(next_number.signatures) == 1
