"""The verifier as a program: `zerogap verify`, and the main function of the archive that `zerogap verify --export` writes.

    python check.pyz proofs.jsonl            every line holds a problem and its solution
    python check.pyz problem.json solution.json

It goes on after a line that does not hold. Exit codes: 0 if everything holds, 1 if something does not, 2 for wrong usage.
"""

from __future__ import annotations

import os
import sys
import time
import zipfile
from io import BytesIO
from pathlib import Path
from types import TracebackType

from zerogap.errors import InputError, ZerogapError
from zerogap.problems.files import load_problem
from zerogap.proof.files import load_solution
from zerogap.proof.lines import STANDARD, Lines, proof_in
from zerogap.proof.verify import verify

MOST_MESSAGES = 20
USAGE = "usage: check.pyz PROOFS.jsonl, or check.pyz PROBLEM.json SOLUTION.json (.jsonl may end in .gz; - is standard input)"
PACKED = ("problems", "proof", "structures")  # with errors.py, grid.py and what `import zerogap` needs, all that a verifier is made of
MODULES = ("__init__.py", "_lazy.py", "errors.py", "grid.py")


def main(arguments: list[str] | None = None) -> int:
    """The exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) not in (1, 2) or given[0] in ("-h", "--help"):
        print(USAGE, file=sys.stderr)
        return 0 if given[:1] in (["-h"], ["--help"]) else 2
    try:
        return check_files(given[0], given[1] if len(given) == 2 else None)
    except ZerogapError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1


def check_files(problem: str | Path, solution: str | Path | None) -> int:
    """Checks a solution, or all lines of a file; says what it found on standard output. ZerogapError if one solution does not hold."""
    if solution is None:
        return check_lines(problem)
    for claim in verify(load_problem(problem), load_solution(solution)).checked:
        print(claim)
    return 0


def check_lines(path: str | Path) -> int:
    """The reason of every line that does not hold on standard error (of the first MOST_MESSAGES), and counts on standard output."""
    if os.fspath(path) != STANDARD and ".jsonl" not in Path(path).suffixes:
        raise InputError(f"{path} has no solution beside it: expected a problem and a solution, or one file of lines (.jsonl).")
    checked = optimal = wrong = 0
    lines = Lines(path)
    with Progress() as progress:
        for where, line in lines:
            try:
                problem, solution = proof_in(line, where)
                verify(problem, solution)
            except (ZerogapError, MemoryError) as error:
                wrong += 1
                if wrong <= MOST_MESSAGES:
                    said = str(error) or "it does not fit into memory."
                    progress.say(said if where in said else f"{where}: {said}")
            else:
                checked += 1
                optimal += solution.status == "optimal"
            progress.show(checked + wrong, wrong, lines.part)
    if wrong > MOST_MESSAGES:
        print(f"... and {wrong - MOST_MESSAGES:,} more", file=sys.stderr)
    holds = f"{checked:,} solution{'' if checked == 1 else 's'} hold{'s' if checked == 1 else ''}, {optimal:,} of them optimal"
    print(f"{holds}; {wrong:,} {'does' if wrong == 1 else 'do'} not hold" if wrong else holds)
    return 1 if wrong else 0


class Progress:
    """A line on standard error, if that is a terminal: how many lines were checked, how much of the file that is, and the time left."""

    def __init__(self) -> None:
        self.on = sys.stderr.isatty()
        self.begun = self.shown = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.clear()

    def show(self, lines: int, wrong: int, part: float | None) -> None:
        now = time.monotonic()
        if not self.on or now - self.shown < 0.5:
            return
        self.shown = now
        text = f"{lines:,} checked, {wrong:,} wrong"
        if part:
            seconds = int((now - self.begun) * (1 - part) / part)
            text = f"{part:4.0%}  {text}, {seconds // 60}:{seconds % 60:02} left"
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def say(self, text: str) -> None:
        self.clear()
        print(text, file=sys.stderr)

    def clear(self) -> None:
        if self.on:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def archive() -> bytes:
    """These very files as a program that Python runs: the same bytes for the same sources."""
    package = Path(__file__).resolve().parents[1]
    files = [package / name for name in MODULES]
    files += sorted(path for room in PACKED for path in (package / room).rglob("*.py"))
    content = BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        entries = {f"zerogap/{path.relative_to(package).as_posix()}": path.read_text(encoding="utf-8") for path in files}
        entries["__main__.py"] = "import sys\n\nfrom zerogap.proof.command import main\n\nsys.exit(main())\n"
        for name, text in entries.items():
            packed.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)  # dated 1980
    return b"#!/usr/bin/env python3\n" + content.getvalue()
