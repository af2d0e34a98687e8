"""A soak test: problems of all tasks for hours in one process, whose memory must not grow.

    python -m zerogap.testing.soak --minutes 60

Problems repeat after a while, so that caches fill up at first and then no more. The first rounds warm up; after them the resident memory
may grow by a tenth, and by 20 MiB at least.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from zerogap.testing.draws import KINDS
from zerogap.testing.fuzz import Tally, fuzz

ROUND = 400  # problems, the same in every round
WARM_UP = 3  # rounds
SHARE, LEAST = 0.1, 20.0  # growth that is allowed: of the memory, and in MiB


def resident() -> float:
    """MiB of this process."""
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))


def soak(seconds: float, *, problems: int = ROUND, report: bool = False) -> tuple[list[float], Tally]:
    """The memory after every round, at least one more than it takes to warm up, and what was done."""
    tally, found = Tally(), list[float]()
    begin = time.perf_counter()
    while len(found) <= WARM_UP or time.perf_counter() - begin < seconds:
        fuzz(list(KINDS), seed=13, problems=problems, tally=tally)
        found.append(resident())
        if report:
            print(f"round {len(found)}: {found[-1]:.1f} MiB; {tally}", file=sys.stderr, flush=True)
    return found, tally


def has_grown(memory: Sequence[float]) -> bool:
    start = memory[WARM_UP - 1]
    return memory[-1] - start > max(SHARE * start, LEAST)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="zerogap.testing.soak", description="Problems of all tasks; the memory must not grow.")
    parser.add_argument("--minutes", type=float, default=1.0, help="how long (1)")
    given = parser.parse_args(arguments)
    memory, tally = soak(60.0 * given.minutes, report=True)
    print(f"{memory[WARM_UP - 1]:.1f} MiB after {WARM_UP} rounds, {memory[-1]:.1f} MiB after {len(memory)}; {tally}")
    return 1 if has_grown(memory) or tally.findings else 0


if __name__ == "__main__":
    sys.exit(main())
