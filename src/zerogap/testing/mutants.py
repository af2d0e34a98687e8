"""Mutation testing of the trusted base: every small change to a checker or to a definition must be noticed by a test or an attack.

    python -m zerogap.testing.mutants
    python -m zerogap.testing.mutants --modules zerogap.proof.leaves,zerogap.proof.chain

The tests (see `kill_tests`) are drawn, run and measured once. Every mutant is then put into a forked child, where the tests that come
by its line run until one of them says something else than before. Mutants that change nothing that matters are listed in
`tests/proof/explained_mutants.txt` with a reason. All others must be killed.
"""

from __future__ import annotations

import argparse
import ast
import functools
import gc
import importlib
import os
import pkgutil
import random
import resource
import signal
import sys
import time
import types
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zerogap.problems
import zerogap.proof
from zerogap.testing.kill_tests import KillTest, drawn, measured, written_tests
from zerogap.testing.mutating import Mutant, code_of, mutants_of

TRUSTED = ("zerogap.problems", "zerogap.proof")
EXPLAINED = Path("tests/proof/explained_mutants.txt")
FOLDERS = ("tests/proof", "tests/problems", "tests/regressions")
SECONDS = 0.2  # of drawn tests for a mutant
SECONDS_WRITTEN = 1.5  # and of those that somebody wrote
LONGEST = 1.0  # seconds of a test
HANG = 4  # times as long as they take without it, and a second: then it loops
MEMORY = 2 << 30  # bytes more than there are before
TESTS_KILL, SURVIVED, CRASHED = 10, 11, 12


@dataclass(slots=True)
class Count:
    """Mutants of a module, and names of those that were not killed."""

    killed: int = 0
    by: Counter[str] = field(default_factory=Counter)
    explained: list[str] = field(default_factory=list)
    survivors: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.killed:>6,} killed {len(self.explained):>4} explained {len(self.survivors):>4} survivors"


def modules_of(packages: Iterable[str]) -> list[str]:
    found = []
    for package in packages:
        path = importlib.import_module(package).__path__
        found += [name for _, name, _ in pkgutil.walk_packages(path, package + ".")]
    return found


def mutate(module: types.ModuleType, tree: ast.Module, mutant: Mutant) -> None:
    """Changes the live module, wherever it is imported. Called in a child only."""
    mutant.change()  # the child has a tree of its own
    statement = tree.body[mutant.top]
    if mutant.function:
        target: Any = module
        names = mutant.function.split(".")[: 2 if isinstance(statement, ast.ClassDef) else 1]
        for name in names[:-1]:
            target = vars(target)[name]
        bare(vars(target)[names[-1]]).__code__ = code_of(statement, mutant.function)
    else:
        assigned(module, statement)
    for name, loaded in list(sys.modules.items()):
        if name.startswith("zerogap"):
            for value in vars(loaded).values():
                if isinstance(value, functools._lru_cache_wrapper):
                    value.cache_clear()


def bare(function: Any) -> Any:
    while not isinstance(function, types.FunctionType):
        if isinstance(function, property):
            function = function.fget
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif hasattr(function, "func"):
            function = function.func
        else:
            function = function.__func__
    return function


def assigned(module: types.ModuleType, statement: ast.stmt) -> None:
    """A constant with another value, wherever it is imported."""
    space = dict(vars(module))
    before = dict(space)
    exec(compile(ast.Module([statement], []), "<mutant>", "exec", flags=0x1000000, dont_inherit=True), space)
    for name, value in space.items():
        old = before.get(name)
        if name not in before or value is old or name.startswith("__"):
            continue
        if isinstance(value, dict):
            assert isinstance(old, dict)
            old.clear()
            old.update(value)
            continue
        for loaded_name, loaded in list(sys.modules.items()):
            if loaded_name.startswith(TRUSTED) and name in vars(loaded) and vars(loaded)[name] is old:
                setattr(loaded, name, value)


def tried(module: types.ModuleType, tree: ast.Module, mutant: Mutant, tests: Sequence[KillTest]) -> tuple[bool, str]:
    """Whether a mutant is killed, and by what."""
    reading, writing = os.pipe()
    seconds = sum(test.seconds for test in tests)
    child = os.fork()
    if child == 0:
        os.close(reading)
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        status = CRASHED
        try:
            limit = int(HANG * seconds) + 2
            resource.setrlimit(resource.RLIMIT_CPU, (limit + int(time.process_time()), limit + int(time.process_time()) + 1))
            resource.setrlimit(resource.RLIMIT_AS, (size_of() + MEMORY, size_of() + MEMORY))
            if not mutant.function:
                status = TESTS_KILL  # if the module cannot be imported
            mutate(module, tree, mutant)
            status = SURVIVED
            for test in tests:
                if test.run() != test.expected:
                    os.write(writing, test.name.encode()[:1000])
                    status = TESTS_KILL
                    break
        except BaseException as error:
            os.write(writing, f"{type(error).__name__}: {error}".encode()[:1000])
            status = TESTS_KILL if status == TESTS_KILL or isinstance(error, MemoryError | RecursionError) else CRASHED
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode("utf-8", "replace")
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True, f"signal {signal.Signals(os.WTERMSIG(status)).name}"
    code = os.WEXITSTATUS(status)
    if code == CRASHED:
        print(f"  not tried: {mutant.key}: {said}", flush=True)
        return False, said
    return code == TESTS_KILL, said


def size_of() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def chosen(by_line: dict[tuple[str, int], list[KillTest]], path: str, mutant: Mutant, everything: list[KillTest]) -> list[KillTest]:
    """The tests that come by a mutant, as many as there is time for: of every kind some, the quick ones first."""
    if not mutant.function:
        found = everything
    else:
        found = by_line.get((path, mutant.line), [])
    rng = random.Random(0)
    order = sorted(found, key=lambda test: test.seconds * rng.expovariate(1.0))
    kept = []
    for is_drawn, most in ((True, SECONDS), (False, SECONDS_WRITTEN)):
        spent = 0.0
        for test in order:
            if test.is_drawn == is_drawn and spent + test.seconds < most:
                kept.append(test)
                spent += test.seconds
    return kept


def explained_in(path: Path) -> dict[str, str]:
    """Reasons by mutant. A line is: module | function | before -> after | reason."""
    found = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                key, _, reason = line.rpartition(" | ")
                found[key] = reason
    return found


def run(
    names: Sequence[str],
    tests: list[KillTest],
    explained: dict[str, str],
    *,
    only: str = "",
    again: set[str] | None = None,
    report: bool = True,
) -> dict[str, Count]:
    """Tries the mutants of the modules, those of `again` if it is given, and counts."""
    by_line: dict[tuple[str, int], list[KillTest]] = defaultdict(list)
    for test in tests:
        for place in test.lines:
            by_line[place].append(test)
    counts = {}
    gc.collect()
    gc.freeze()  # children share what is there
    for name in names:
        module = importlib.import_module(name)
        path = str(module.__file__)
        tree = ast.parse(Path(path).read_text(encoding="utf-8"))
        count = counts[name] = Count()
        begin = time.perf_counter()
        mutants = list(mutants_of(name, tree))
        stale = [key for key in explained if key.startswith(f"{name} | ") and key not in {mutant.key for mutant in mutants}]
        if report and stale:
            print("  explained, but not there any more:", *stale, sep="\n    ", flush=True)
        for mutant in mutants:
            if only not in mutant.key or (again is not None and mutant.key not in again):
                continue
            if mutant.key in explained:
                count.explained.append(mutant.key)
                continue
            before = chosen(by_line, path, mutant, tests)
            killed, said = tried(module, tree, mutant, before)
            if killed:
                count.killed += 1
                count.by[said.split(":")[0]] += 1
            else:
                count.survivors.append(mutant.key)
                if report:
                    print(f"  {mutant.key}    (line {mutant.line}, {len(before)} tests)", flush=True)
        if report:
            print(f"{name:<50} {count}  ({time.perf_counter() - begin:.0f} s)", flush=True)
    return counts


def places() -> tuple[str, ...]:
    return tuple(str(Path(str(package.__file__)).parent) + os.sep for package in (zerogap.problems, zerogap.proof))


def all_tests(root: Path, folders: Sequence[str], *, seed: int, each: int, alike: int) -> list[KillTest]:
    sys.path.insert(0, str(root.resolve()))

    def tests() -> Iterator[KillTest]:
        yield from written_tests([root / folder for folder in folders])
        yield from drawn(seed, each)

    return measured(tests(), places(), alike=alike, longest=LONGEST)


def listed_in(path: Path) -> set[str]:
    """Names of mutants in what a run printed."""
    return {line.strip().partition("    (line")[0] for line in path.read_text(encoding="utf-8").splitlines() if "    (line " in line}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m zerogap.testing.mutants", description="Mutation testing of the trusted base.")
    parser.add_argument("--modules", help="some modules or packages, with commas between (all of problems and proof)")
    parser.add_argument("--each", type=int, default=60, help="drawn problems of every task (60)")
    parser.add_argument("--alike", type=int, default=6, help="tests kept of those that come by the same lines (6)")
    parser.add_argument("--seed", type=int, default=0, help="another one draws other problems (0)")
    parser.add_argument("--only", default="", help="mutants whose name holds this")
    parser.add_argument("--again", type=Path, help="only the survivors in what a run printed, a file")
    parser.add_argument("--tests", default=",".join(FOLDERS), help="folders or files of written tests (those of proofs and problems)")
    parser.add_argument("--root", type=Path, default=Path(), help="the folder of the repository (.)")
    given = parser.parse_args(arguments)
    known = modules_of(TRUSTED)
    names = known
    if given.modules:
        wanted = given.modules.split(",")
        names = [name for want in wanted for name in known if name == want or name.startswith(want + ".")]
        if not names:
            parser.error(f"modules {given.modules!r} are not known: expected some of {', '.join(known)}.")
    begin = time.perf_counter()
    tests = all_tests(given.root, given.tests.split(","), seed=given.seed, each=given.each, alike=given.alike)
    total = sum(test.seconds for test in tests)
    print(f"{len(tests):,} tests that take {total:.1f} s, made in {time.perf_counter() - begin:.0f} s", flush=True)
    counts = run(names, tests, explained_in(given.root / EXPLAINED), only=given.only, again=listed_in(given.again) if given.again else None)
    killed = sum(count.killed for count in counts.values())
    explained = sum(len(count.explained) for count in counts.values())
    survivors = sum(len(count.survivors) for count in counts.values())
    print(f"{killed:,} killed, {explained:,} explained, {survivors:,} survivors")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
