"""Many small tests of what a checker must answer: true claims hold, false and unproven ones are refused, problems mean what they meant.

Each test is a function that returns a word for what happened. What it returns of the code as it is, is what it has to return: for claims
that are true or false by enumeration this is known before, and looked at.
"""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import json
import random
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from zerogap.errors import InputError, InvalidStructure, VerificationError, ZerogapError
from zerogap.problems.files import problem_from_json, problem_to_json
from zerogap.proof.files import solution_from_json, solution_to_json
from zerogap.proof.solution import Solution
from zerogap.proof.verify import verify
from zerogap.testing.draws import KINDS
from zerogap.testing.forge import forged, list_of_best, lists_with_gaps, proven, some
from zerogap.testing.forged_claims import Filed
from zerogap.testing.mutations import mutated_value

LEFT_OUT = {"test_purity", "test_tampering"}  # about other things, or the same again


@dataclass(slots=True)
class KillTest:
    """`lines` are the places (file, line) of the trusted base that it comes by, `seconds` how long it takes."""

    name: str
    run: Callable[[], str]
    expected: str = ""
    lines: frozenset[tuple[str, int]] = frozenset()
    seconds: float = 0.0

    @property
    def is_drawn(self) -> bool:
        return self.name.partition(":")[0] in KINDS


def verdict(problem: Any, claim: Solution[Any]) -> str:
    try:
        verify(problem, claim)
    except (VerificationError, InputError):
        return "refused"
    except Exception as error:
        return type(error).__name__
    return "holds"


def claims(tasks: Sequence[str], each: int, seed: int) -> Iterator[KillTest]:
    """True claims, false ones with forged certificates, and claims that are a step stronger than what a certificate proves."""
    for name in tasks:
        foreign = None
        for i in range(each):
            rng = np.random.default_rng([seed, i])
            found = list(proven(name, rng))
            for problem, best, solution in found:
                kind = solution.certificate.kind
                yield KillTest(f"{name}: true {kind}", lambda p=problem, s=solution: verdict(p, s), "holds")  # type: ignore[misc]
                for below in (problem.resolution, 0.5 * problem.resolution):  # where a gap is left, this is true and not proven
                    claim = replace(solution, bound=solution.bound - below)
                    if claim.score <= claim.bound < solution.bound and claim.bound >= best:
                        yield KillTest(f"{name}: unproven {kind}", lambda p=problem, s=claim: verdict(p, s))  # type: ignore[misc]
                for text, certificate, claim in some(rng, list(forged(name, problem, best, solution, foreign, rng)), 40):
                    yield KillTest(f"{name}: {text} {kind}", lambda p=problem, s=claim: said_of(p, s), "refused")  # type: ignore[misc]
                    changed = replace(solution, certificate=certificate)  # may be as good: what the code as it is says
                    yield KillTest(f"{name}: changed {kind}", lambda p=problem, s=changed: verdict(p, s))  # type: ignore[misc]
                foreign = solution.certificate
            ranked = list_of_best(name, problem) if found else None
            if ranked is not None:
                yield KillTest(f"{name}: true list", lambda p=problem, s=ranked: verdict(p, s), "holds")  # type: ignore[misc]
                for claim in lists_with_gaps(best, ranked):
                    yield KillTest(f"{name}: list with a gap", lambda p=problem, s=claim: verdict(p, s), "refused")  # type: ignore[misc]


def said_of(problem: Any, claim: Any) -> str:
    try:
        return verdict(problem, claim.read() if isinstance(claim, Filed) else claim)
    except ZerogapError:
        return "refused"


def definitions(tasks: Sequence[str], each: int, seed: int) -> Iterator[KillTest]:
    """Problems read again: what they hold, what structures score, and which are none; files with something odd in them."""
    for name in tasks:
        for i in range(each):
            rng = np.random.default_rng([seed, i])
            for problem, _, solution in itertools.islice(proven(name, rng), 1):
                value = json.loads(json.dumps(problem_to_json(problem)))
                given = json.loads(json.dumps(solution_to_json(solution)))
                draw = random.Random(i)
                structures = [given["structure"]]
                structures += [mutated_value(given["structure"], draw) for _ in range(12)]
                yield KillTest(f"{name}: definition", lambda v=value, s=structures: meaning(v, s))  # type: ignore[misc]
                yield KillTest(f"{name}: files", lambda v=value, g=given: read_and_verified(v, g), "holds")  # type: ignore[misc]
                for _ in range(4):
                    odd = mutated_value(value, draw)
                    yield KillTest(f"{name}: odd problem", lambda v=odd, s=structures[:2]: meaning(v, s))  # type: ignore[misc]
                    strange = mutated_value(given, draw)
                    yield KillTest(f"{name}: odd solution", lambda v=value, g=strange: read_and_verified(v, g))  # type: ignore[misc]


def meaning(value: Any, structures: Sequence[Any]) -> str:
    """The problem in a JSON value, and what it says of structures."""
    try:
        problem = problem_from_json(value)
    except Exception as error:
        return type(error).__name__
    said = [json.dumps(problem_to_json(problem))]
    for structure in structures:
        for question in (problem.check, problem.score):
            try:
                said.append(repr(question(tuples(structure))))
            except InvalidStructure:
                said.append("invalid")
            except Exception as error:
                said.append(type(error).__name__)
    return "; ".join(said)


def tuples(value: Any) -> Any:
    return tuple(map(tuples, value)) if isinstance(value, list) else value


def read_and_verified(value: Any, given: Any) -> str:
    try:
        return verdict(problem_from_json(value), solution_from_json(given))
    except ZerogapError:
        return "refused"
    except Exception as error:
        return type(error).__name__


def written_tests(folders: Sequence[Path]) -> Iterator[KillTest]:
    """Test functions of folders, or files, that need nothing from pytest but values of parameters."""
    files = [file for given in folders for file in ([given] if given.is_file() else given.rglob("test_*.py"))]
    for path in sorted(file for file in files if file.stem not in LEFT_OUT):
        spec = importlib.util.spec_from_file_location(f"kill_{path.stem}_{abs(hash(path))}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.path.insert(0, str(path.parent))
        try:
            sys.modules[module.__name__] = module
            spec.loader.exec_module(module)
        except Exception as error:
            print(f"{path} is left out: {error}", file=sys.stderr)
            continue
        finally:
            sys.path.pop(0)
        for name, function in list(vars(module).items()):
            if name.startswith("test_") and isinstance(function, types.FunctionType):
                yield from cases(f"{path.name}:{name}", function)


def cases(name: str, function: Callable[..., object]) -> Iterator[KillTest]:
    marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == "parametrize"]
    if any(mark.name in ("slow", "data", "skip", "skipif") for mark in getattr(function, "pytestmark", [])):
        return
    filled: list[dict[str, Any]] = [{}]
    for mark in marks:
        names, values = mark.args[0], mark.args[1]
        names = [part.strip() for part in names.split(",")] if isinstance(names, str) else list(names)
        rows = [
            getattr(row, "values", None) if type(row).__name__ == "ParameterSet" else (row if len(names) > 1 else (row,)) for row in values
        ]
        filled = [{**one, **dict(zip(names, row, strict=True))} for one in filled for row in rows]  # type: ignore[arg-type]
    wanted = set(inspect.signature(function).parameters)
    for i, arguments in enumerate(filled):
        if wanted == set(arguments):
            yield KillTest(f"{name}[{i}]", lambda f=function, a=arguments: passed(f, a), "passed")  # type: ignore[misc]


def passed(function: Callable[..., object], arguments: dict[str, Any]) -> str:
    try:
        function(**arguments)
    except BaseException as error:  # of pytest, too
        return f"{type(error).__name__}"
    return "passed"


def measured(tests: Iterator[KillTest], folders: tuple[str, ...], *, alike: int, longest: float) -> list[KillTest]:
    """The tests with the lines that they come by. Of drawn ones that come by the same lines and say the same, only so many."""
    found: list[KillTest] = []
    seen: dict[Any, int] = {}
    lines: set[tuple[str, int]] = set()

    def within(frame: Any, event: str, _: Any) -> Any:
        if event == "line":
            lines.add((frame.f_code.co_filename, frame.f_lineno))
        return within

    def entered(frame: Any, event: str, _: Any) -> Any:
        return within if frame.f_code.co_filename.startswith(folders) else None

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for test in tests:
            begin = time.process_time()
            said = test.run()
            test.seconds = time.process_time() - begin
            if test.expected and said != test.expected:
                print(f"not as expected: {test.name}: {said[:200]}, not {test.expected}", file=sys.stderr)
                continue
            test.expected = said
            if test.seconds > longest:
                continue
            lines.clear()
            sys.settrace(entered)
            try:
                test.run()
            finally:
                sys.settrace(None)
            test.lines = frozenset(lines)
            key = (test.name.split(":")[0] if test.is_drawn else test.name, said[:20], test.lines)
            seen[key] = seen.get(key, 0) + 1
            if test.lines and seen[key] <= alike:
                found.append(test)
    return found


def drawn(seed: int = 0, each: int = 60) -> Iterator[KillTest]:
    names = list(KINDS)
    yield from claims(names, each, seed)
    yield from definitions(names, each, seed + 1)
