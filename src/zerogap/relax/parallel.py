"""Many problems on several threads, in order: kernels release the interpreter's lock while they run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from zerogap.errors import InputError
from zerogap.proof.solution import Solution

Problem = TypeVar("Problem")


def decode_each(
    decode: Callable[..., Solution[Any]], problems: Sequence[Problem], threads: int | None, **options: Any
) -> list[Solution[Any]]:
    """`[decode(problem, **options) for problem in problems]`; `threads` is as many as there are processors unless given."""
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
        raise InputError(f"threads is {threads!r}: expected a positive integer.")
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda problem: decode(problem, **options), problems))
