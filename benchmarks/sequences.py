"""Exact labelling under 16 global constraints: 20 labels (BIO, 10 fields), seeded instances, milliseconds per sequence.

    python benchmarks/sequences.py [--ilp 3] [--length]

Every field at most once, three fields at least once, three orders. Instances come from ../shared/instances/instances.py
(ZEROGAP_INSTANCES overrides). With --ilp, HiGHS solves the first few of each set for comparison, and must agree.

--length prints something else: how time grows with the number of positions when the number of violations does not. Eight labels in eight
confident runs, every label at most once and two at least once; one token in the middle prefers the first label again, so that the best
labelling breaks one constraint at every length. It also prints what 20 positions cost, problem and decoding apart.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from zerogap import sequence as seq
from zerogap import verify

SOURCE = Path(os.environ.get("ZEROGAP_INSTANCES", Path(__file__).parents[2] / "shared" / "instances")) / "instances.py"
PASSES = 7  # over all problems; the time of a problem is its median, since the machine is shared


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


LENGTHS = (20, 200, 2_000)
TARGET = 100  # microseconds for 20 positions


def stretches(n: int, random: np.random.Generator, *, violated: bool) -> tuple[np.ndarray, np.ndarray, list[seq.Constraint]]:
    """Scores of n positions whose best labelling breaks one constraint, or none."""
    size = 8
    runs = np.arange(n) * size // n
    emissions = random.uniform(0.0, 1.0, (n, size))
    emissions[np.arange(n), runs] += 3.0
    if violated:
        emissions[n // 2, 0] += 6.0  # the first token of a run, which it does not cut in two
    rules = [seq.no_duplicate(label) for label in range(size)] + [seq.at_least_one(0), seq.at_least_one(1, 2)]
    return emissions, random.uniform(0.0, 0.5, (size, size)), rules


def time_of(function: Callable[[], object], repeats: int) -> float:
    """The median, in microseconds."""
    function()
    times = []
    gc.collect()
    gc.disable()
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        times.append(1e6 * (time.perf_counter() - begin))
    gc.enable()
    return statistics.median(times)


def lengths() -> None:
    times = f"{'build µs':>10}{'auto µs':>10}{'per token':>11}{'relaxation µs':>15}{'per token':>11}"
    print(f"{'':20}{'positions':>10}{'violations':>12}{times}")
    for violated in (False, True):
        for n in LENGTHS:
            rows = []
            for seed in range(20):
                emissions, transitions, rules = stretches(n, np.random.default_rng(seed), violated=violated)
                free = seq.decode(seq.Problem(emissions, transitions)).structure
                problem = seq.Problem(emissions, transitions, constraints=rules)
                verify(problem, seq.decode(problem))
                rows.append((
                    len(problem.broken(free)),
                    time_of(lambda e=emissions, t=transitions, r=rules: seq.Problem(e, t, constraints=r), 20),
                    time_of(lambda p=problem: seq.decode(p), 20),
                    time_of(lambda p=problem: seq.decode(p, method="relaxation"), 20),
                ))  # fmt: skip
            broken, build, auto, relaxed = (statistics.median(column) for column in zip(*rows, strict=True))
            name = "one violation" if violated else "no violation"
            figures = f"{broken:12.0f}{build:10.0f}{auto:10.0f}{auto / n:11.2f}{relaxed:15.0f}{relaxed / n:11.2f}"
            target = f"   target < {TARGET} µs to decode" if n == LENGTHS[0] else ""
            print(f"{name:20}{n:10}{figures}{target}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ilp", type=int, default=0, help="how many of each set HiGHS solves too")
    parser.add_argument("--length", action="store_true", help="time against the number of positions instead")
    arguments = parser.parse_args()
    if arguments.length:
        lengths()
        return
    if not SOURCE.exists():
        raise SystemExit(f"no instances at {SOURCE}; set ZEROGAP_INSTANCES")
    source = instances()
    print(f"{'':12}{'median':>10}{'mean':>10}{'max':>10}{'optimal':>10}{'verified':>10}{'HiGHS':>12}")
    for regime, n in (("peaked", 20), ("peaked", 40), ("peaked", 80), ("random", 20), ("random", 40)):
        many = problems(source, regime, n)
        for problem in many:  # warm up: every path of the decoder has run once
            seq.decode(problem)
        passes: list[list[float]] = [[] for _ in many]
        gc.collect()
        gc.disable()  # as timeit does: a collection of all that the compiler left takes 40 ms, once
        for _ in range(PASSES):
            solutions = []
            for problem, own in zip(many, passes, strict=True):
                begin = time.perf_counter()
                solutions.append(seq.decode(problem))
                own.append(1000 * (time.perf_counter() - begin))
        gc.enable()
        times = [statistics.median(own) for own in passes]
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
