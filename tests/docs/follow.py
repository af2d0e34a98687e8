"""Follows pages of the documentation as a reader would: Python examples and shell commands, from top to bottom, in an empty folder.

    python tests/docs/follow.py docs/tutorial.md [--within SECONDS]

Blocks marked `python` are sessions that must print what they show. Blocks marked `console` have commands after `$` and their output (of
commands that fail, what they say on standard error). Blocks marked `sh` are commands that must succeed. Nothing but the standard library is
needed here, and the command `zerogap` is the one beside the Python that runs this.
"""

from __future__ import annotations

import argparse
import doctest
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

BLOCK = re.compile(r"^```(python|console|sh)\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Differs(AssertionError):
    """A page does not show what happens."""


def follow(page: Path) -> Iterator[tuple[str, float]]:
    """Runs the blocks of a page in the current folder; the first line of each, and how long it took. Differs if one is not as shown."""
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        kind, source = block.groups()
        line = text.count("\n", 0, block.start()) + 1
        begin = time.perf_counter()
        if kind == "python":
            session(source, names, page, line)
        elif kind == "console":
            for command, output in commands(source):
                shell(command, output, page, line)
        else:
            shell(source, None, page, line)
        yield source.partition("\n")[0], time.perf_counter() - begin


def session(source: str, names: dict[str, object], page: Path, line: int) -> None:
    test = doctest.DocTestParser().get_doctest(source, names, page.name, str(page), line)
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    if result.failed:
        raise Differs("".join(said))


def commands(source: str) -> Iterator[tuple[str, str]]:
    """(command, expected output) pairs of a console."""
    for part in re.split(r"^\$ ", source, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def shell(command: str, output: str | None, page: Path, line: int) -> None:
    beside = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], env=beside, capture_output=True, text=True, check=False)
    where = f"{page.name}, line {line}: {command}"
    if output is None:
        if done.returncode:
            raise Differs(f"{where}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")
        return
    got = done.stderr if done.returncode else done.stdout
    if not doctest.OutputChecker().check_output(output, got, FLAGS):
        raise Differs(f"{where}\nexpected:\n{output}\ngot (exit code {done.returncode}):\n{got}\n{done.stderr}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("--within", type=float, help="fail if it takes more seconds than these")
    given = parser.parse_args()
    page = given.page.resolve()
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for first, seconds in follow(page):
            print(f"{seconds:7.1f} s  {first}", flush=True)
        os.chdir(page.parent)
    total = time.perf_counter() - begin
    print(f"{total:7.1f} s  all of {page.name}")
    if given.within is not None and total > given.within:
        sys.exit(f"{page.name} took {total:.0f} s: expected at most {given.within:.0f}.")


if __name__ == "__main__":
    main()
