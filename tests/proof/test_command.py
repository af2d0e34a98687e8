"""The verifier as a program: the archive runs where there is NumPy and nothing else, and says what `zerogap verify` says."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core import config

from zerogap.errors import Infeasible, ScoreError
from zerogap.proof import command
from zerogap.proof.lines import proof_line
from zerogap.testing.draws import KINDS

# only Python, NumPy and the archive can be imported
ALONE = f"""
import runpy, sys
sys.path.insert(0, {str(Path(np.__file__).parents[1])!r})
class Only:
    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if root in sys.stdlib_module_names or root in ("numpy", "zerogap", "__main__"):
            return None
        raise ImportError(f"{{name}} is not here")
sys.meta_path.insert(0, Only())
sys.argv = sys.argv[1:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    found = sys.modules["zerogap"].__file__
    assert found.startswith(sys.argv[0]), found
"""


def alone(archive, *arguments, stdin=None):
    code = [sys.executable, "-I", "-S", "-c", ALONE, archive, *map(str, arguments)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run(code, capture_output=True, text=True, check=False, env=environment, cwd=Path(archive).parent, input=stdin)


def proofs(kind, n, seed=5):
    """Lines of problems of a task with their solutions by all methods."""
    for i in range(n):
        try:
            problem = KINDS[kind].draw(np.random.default_rng([seed, i]))
        except ScoreError:
            continue
        for method in KINDS[kind].methods(problem).values():
            if not method.rare:
                try:
                    yield proof_line(problem, method.decode(problem), {"line": i})
                except Infeasible:
                    continue


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("archive") / "check.pyz"
    path.write_bytes(command.archive())
    return str(path)


@pytest.mark.skipif(config.DISABLE_JIT, reason="decodes by every method: minutes without the compiler")
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_archive_says_what_the_command_says(kind, archive, tmp_path, capsys):
    lines = list(proofs(kind, 12))
    assert lines
    found = [value for value in map(json.loads, lines) if value["solution"]["structure"] is not None]
    for value in found[:2]:  # two that do not hold
        value["solution"]["score"] += 1.0
        lines.append(json.dumps(value) + "\n")
    path = tmp_path / "proofs.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    code = command.main([str(path)])
    output, errors = capsys.readouterr()
    found = alone(archive, path)
    assert (found.returncode, found.stdout, found.stderr) == (code, output, errors)
    assert code == 1
    assert "2 do not hold" in output


def test_an_archive_by_another_name(archive, tmp_path):
    """Python runs it whatever its name is, and it needs no folder beside it."""
    path = tmp_path / "check.py"
    path.write_bytes(Path(archive).read_bytes())
    found = subprocess.run([sys.executable, str(path), "--help"], capture_output=True, text=True, check=False)
    assert found.returncode == 0
    assert "usage" in found.stderr
    assert command.archive() == path.read_bytes()


def test_the_archive_holds_these_very_files(archive):
    import zipfile

    package = Path(command.__file__).parents[1]
    with zipfile.ZipFile(archive) as packed:
        names = [name for name in packed.namelist() if name != "__main__.py"]
        assert all(packed.read(name) == (package.parent / name).read_bytes() for name in names)
    assert not [name for name in names if name.startswith(("zerogap/io", "zerogap/oracles", "zerogap/cli"))]


def test_bad_lines_are_counted_and_the_rest_is_checked(tmp_path, capsys):
    good = next(proofs("tree", 30))
    bad = ["{}\n", "no JSON\n", "\n", "[" * 100_000 + "\n", '{"problem": 1, "problem": 2}\n']
    path = tmp_path / "p.jsonl"
    path.write_bytes("".join([good, *bad, good]).encode() + b"\xff\n" + b"1" * 5000 + b"\n" + b"{}\n" * 30)
    assert command.main([str(path)]) == 1
    output, errors = capsys.readouterr()
    assert output == "2 solutions hold, 2 of them optimal; 36 do not hold\n"
    said = errors.splitlines()
    assert len(said) == command.MOST_MESSAGES + 1
    assert said[-1] == "... and 16 more"
    assert all(line.startswith(f"{path}, line ") for line in said[:-1])


def test_wrong_usage(tmp_path, capsys):
    assert command.main([]) == 2
    assert command.main(["a", "b", "c"]) == 2
    assert command.main([str(tmp_path / "a.json")]) == 1
    assert command.main([str(tmp_path / "a.jsonl")]) == 1
    (tmp_path / "a.jsonl.gz").write_bytes(b"\x1f\x8b123")
    assert command.main([str(tmp_path / "a.jsonl.gz")]) == 1
    assert "cannot be unpacked" in capsys.readouterr().err


def test_progress_on_a_terminal(tmp_path, capsys, monkeypatch):
    path = tmp_path / "p.jsonl"
    path.write_text(next(proofs("tree", 30)) * 4)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    times = iter(range(1000))
    monkeypatch.setattr(command.time, "monotonic", lambda: float(next(times)))
    assert command.main([str(path)]) == 0
    assert "100%  4 checked, 0 wrong, 0:00 left" in capsys.readouterr().err
