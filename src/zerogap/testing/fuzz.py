"""Differential fuzzing: random problems of every task, by every method, against enumeration and the checker.

    python -m zerogap.testing.fuzz --minutes 10
    python -m zerogap.testing.fuzz --minutes 60 --tasks tree,sequence --seed 7 --save findings

A method that proves its answers must give the best score there is; one that does not must lie between: score <= best <= bound. Every
certificate must verify. What fails is shrunk as long as it fails, and saved as JSON with the seed that drew it. Counts are added to
`counts.jsonl` in the folder of findings, so that several runs make one campaign.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from zerogap.errors import Infeasible, OverlappingTails, ScoreError, ZerogapError
from zerogap.problems.files import problem_from_json, problem_to_json
from zerogap.proof.verify import verify
from zerogap.testing.drawing import Method
from zerogap.testing.draws import KINDS, Kind

RARE = 0.02  # share of problems that slow methods are tried on
MOST_STEPS = 2000  # of shrinking
SECONDS_BETWEEN_NOTES = 60.0


@dataclass(slots=True)
class Tally:
    """What was done."""

    problems: Counter[str] = field(default_factory=Counter)
    decoded: Counter[str] = field(default_factory=Counter)
    refused: int = 0  # scores that no grid holds
    skipped: int = 0  # too much to enumerate
    findings: list[str] = field(default_factory=list)
    begin: float = field(default_factory=time.perf_counter)
    stopped: bool = False  # by a signal: what was done so far counts

    def as_json(self) -> dict[str, Any]:
        return {
            "problems": sum(self.problems.values()), "decoded": sum(self.decoded.values()), "refused": self.refused,
            "skipped": self.skipped,
            "findings": len(self.findings), "seconds": round(time.perf_counter() - self.begin, 1), "by_task": dict(self.problems),
            "by_method": dict(self.decoded),
        }  # fmt: skip

    def __str__(self) -> str:
        seconds = time.perf_counter() - self.begin
        total, decoded = sum(self.problems.values()), sum(self.decoded.values())
        speed = f"{seconds / 60:.1f} minutes, {total / seconds:,.0f} problems per second"
        return f"{total:,} problems, {decoded:,} answers checked, {len(self.findings)} findings ({speed})"


def complaint(problem: Any, best: float, method: Method) -> str | None:
    """What is wrong with the answer of a method; None if nothing is."""
    try:
        solution = method.decode(problem)
    except Infeasible as error:
        return f"Infeasible ({error}), but the best score is {best!r}" if best > -np.inf else None
    except OverlappingTails:  # relaxations over paths say that they do not take such forests
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}\n{''.join(traceback.format_tb(error.__traceback__)[-3:])}"
    try:
        if solution.structure is not None:
            problem.check(solution.structure)
            if problem.score(solution.structure) != solution.score:
                return f"the structure scores {problem.score(solution.structure)!r}, the solution says {solution.score!r}"
        elif solution.score != -np.inf:
            return f"there is no structure, and the score is {solution.score!r}"
        if not solution.score <= best <= solution.bound:
            return f"the best score is {best!r}, the solution says {solution.score!r} to {solution.bound!r}"
        gap = 0.0 if solution.score == solution.bound else solution.bound - solution.score
        if method.exact and gap > method.within * max(1.0, min(abs(solution.score), abs(solution.bound))):
            return f"a gap was left: {solution.score!r} to {solution.bound!r}"
        verify(problem, solution)
    except ZerogapError as error:
        return f"{type(error).__name__}: {error}"
    return None


def examined(kind: Kind, problem: Any, rng: np.random.Generator, tally: Tally, name: str, rare: float = RARE) -> tuple[str, str] | None:
    """The first method with a wrong answer, and what is wrong."""
    best = kind.optimum(problem)
    if best is None:
        tally.skipped += 1
        return None
    for method_name, method in kind.methods(problem).items():
        if method.rare and rng.random() >= rare:
            continue
        found = complaint(problem, best, method)
        tally.decoded[f"{name}: {method_name}"] += 1
        if found is not None:
            return method_name, found
    return None


def fuzz(
    tasks: Sequence[str], *, seed: int = 0, seconds: float | None = None, problems: int | None = None, save: Path | None = None,
    report: Callable[[Tally], object] | None = None, rare: float = RARE, tally: Tally | None = None,
) -> Tally:  # fmt: skip
    """Draws problems of the tasks in turn, until the time is over or as many were drawn. Problem i has the seed [seed, i]."""
    tally = Tally() if tally is None else tally
    noted = time.perf_counter()
    i = 0
    while not tally.stopped and (problems is None or i < problems) and (seconds is None or time.perf_counter() - tally.begin < seconds):
        name = tasks[i % len(tasks)]
        kind = KINDS[name]
        rng = np.random.default_rng([seed, i])
        i += 1
        try:
            problem = kind.draw(rng)
        except ScoreError:
            tally.refused += 1
            continue
        tally.problems[name] += 1
        found = examined(kind, problem, rng, tally, name, rare)
        if found is not None:
            tally.findings.append(f"{name}, {found[0]}, seed [{seed}, {i - 1}]: {found[1]}")
            if save is not None:
                save_finding(save, kind, name, problem, found, [seed, i - 1])
        if report is not None and time.perf_counter() - noted > SECONDS_BETWEEN_NOTES:
            noted = time.perf_counter()
            report(tally)
    return tally


def save_finding(folder: Path, kind: Kind, name: str, problem: Any, found: tuple[str, str], seed: list[int]) -> None:
    """A JSON file with the shrunk problem and the seed."""
    method, message = found
    value: dict[str, Any] = {"task": name, "method": method, "seed": seed, "complaint": message}
    value["problem"] = shrunk(kind, problem_to_json(problem), method)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}-{method}-{seed[0]}-{seed[1]}.json").write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def shrunk(kind: Kind, value: dict[str, Any], method: str) -> dict[str, Any]:
    """The smallest problem that can be found by leaving entries out and making numbers simple, with which the method still fails."""

    def fails(candidate: dict[str, Any]) -> bool:
        try:
            problem = problem_from_json(candidate)
            best = kind.optimum(problem)
            methods = kind.methods(problem)
        except Exception:  # no problem any more
            return False
        return best is not None and method in methods and complaint(problem, best, methods[method]) is not None

    value = {key: entry for key, entry in value.items() if key != "resolution"} if fails({**value, "resolution": None}) else value
    if not fails(value):  # it is not the same when read back: keep what there is
        return value
    steps, improved = 0, True
    while improved and steps < MOST_STEPS:
        improved = False
        for candidate in simpler(value):
            steps += 1
            if steps >= MOST_STEPS:
                break
            if fails(candidate):
                value, improved = candidate, True
                break
    return value


KEPT = ("format", "version", "kind")


def simpler(value: Any) -> Iterator[Any]:
    """The value with one entry less, or one number simpler."""
    if isinstance(value, dict):
        for key in value:
            if key not in KEPT:
                yield {other: entry for other, entry in value.items() if other != key}
                for below in simpler(value[key]):
                    yield {**value, key: below}
    elif isinstance(value, list):
        for i in range(len(value)):
            yield value[:i] + value[i + 1 :]
        for i, entry in enumerate(value):
            for below in simpler(entry):
                yield [*value[:i], below, *value[i + 1 :]]
    elif isinstance(value, float) and value != 0.0:
        yield 0.0
        if abs(value) > 1.0:
            yield float(np.sign(value))
        if value != round(value):
            yield float(round(value))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="zerogap.testing.fuzz", description="Random problems by every method against enumeration.")
    parser.add_argument("--minutes", type=float, default=1.0, help="how long (1)")
    parser.add_argument("--problems", type=int, help="stop after as many problems")
    parser.add_argument("--tasks", default=",".join(KINDS), help=f"some of {', '.join(KINDS)}, with commas between (all)")
    parser.add_argument("--seed", type=int, default=0, help="another one draws other problems (0)")
    parser.add_argument("--save", type=Path, default=Path("findings"), help="folder for what fails, and for the counts (findings)")
    given = parser.parse_args(arguments)
    tasks = given.tasks.split(",")
    for task in tasks:
        if task not in KINDS:
            parser.error(f"task {task!r} is not known: expected some of {', '.join(KINDS)}.")
    tally = Tally()
    signal.signal(signal.SIGTERM, lambda *_: setattr(tally, "stopped", True))
    fuzz(
        tasks, seed=given.seed, seconds=60.0 * given.minutes, problems=given.problems, save=given.save,
        report=lambda tally: print(tally, file=sys.stderr, flush=True), tally=tally,
    )  # fmt: skip
    given.save.mkdir(parents=True, exist_ok=True)
    with open(given.save / "counts.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps({"seed": given.seed, **tally.as_json()}) + "\n")
    for name, count in sorted(tally.decoded.items()):
        print(f"{count:>10,}  {name}")
    for finding in tally.findings[:20]:
        print(finding)
    print(tally)
    return 1 if tally.findings else 0


if __name__ == "__main__":
    sys.exit(main())
