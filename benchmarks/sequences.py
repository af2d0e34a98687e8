"""Exact labelling under 16 global constraints: 20 labels (BIO, 10 fields), seeded instances, milliseconds per sequence.

    python benchmarks/sequences.py [--ilp 3]

Every field at most once, three fields at least once, three orders. Instances come from ../shared/instances/instances.py
(ZEROGAP_INSTANCES overrides). With --ilp, HiGHS solves the first few of each set for comparison, and must agree.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import os
import statistics
import time
from pathlib import Path
from typing import Any

from zerogap import sequence as seq
from zerogap import verify

SOURCE = Path(os.environ.get("ZEROGAP_INSTANCES", Path(__file__).parents[2] / "shared" / "instances")) / "instances.py"


def instances() -> Any:
    spec = importlib.util.spec_from_file_location("instances", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def problems(source: Any, regime: str, n: int) -> list[seq.Problem]:
    labels = [f"{tag}-F{field}" for field in range(source.FIELDS) for tag in "BI"]
    rules = [seq.no_duplicate(f"F{field}") for field in source.AT_MOST_ONCE]
    rules += [seq.at_least_one(f"F{field}") for field in source.AT_LEAST_ONCE]
    rules += [seq.precedes(f"F{a}", f"F{b}") for a, b in source.BEFORE]
    return [
        seq.Problem(emissions, transitions, start=start, labels=labels, constraints=rules)
        for emissions, transitions, start, _ in source.sequences(regime, n)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ilp", type=int, default=0, help="how many of each set HiGHS solves too")
    arguments = parser.parse_args()
    if not SOURCE.exists():
        raise SystemExit(f"no instances at {SOURCE}; set ZEROGAP_INSTANCES")
    source = instances()
    print(f"{'':12}{'median':>10}{'mean':>10}{'max':>10}{'optimal':>10}{'verified':>10}{'HiGHS':>12}")
    for regime, n in (("peaked", 20), ("peaked", 40), ("peaked", 80), ("random", 20), ("random", 40)):
        many = problems(source, regime, n)
        for problem in many:  # warm up: every path of the decoder has run once
            seq.decode(problem)
        times, solutions = [], []
        gc.collect()
        gc.disable()  # as timeit does: a collection of all that the compiler left takes 40 ms, once
        for problem in many:
            begin = time.perf_counter()
            solutions.append(seq.decode(problem))
            times.append(1000 * (time.perf_counter() - begin))
        gc.enable()
        for problem, solution in zip(many, solutions, strict=True):
            verify(problem, solution)
        ilp = []
        for problem, solution in zip(many[: arguments.ilp], solutions, strict=False):
            begin = time.perf_counter()
            assert seq.decode(problem, method="ilp").score == solution.score
            ilp.append(1000 * (time.perf_counter() - begin))
        optimal = sum(solution.status == "optimal" for solution in solutions)
        shown = f"{statistics.median(ilp):12.0f}" if ilp else f"{'-':>12}"
        figures = f"{statistics.median(times):10.3f}{statistics.mean(times):10.3f}{max(times):10.1f}"
        print(f"{regime + ' ' + str(n):12}{figures}{optimal:9}%{len(solutions):9}%{shown}")


if __name__ == "__main__":
    main()
