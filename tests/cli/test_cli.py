"""The command as a person runs it: data on standard output, words on standard error, exit codes that mean something."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import zerogap
from zerogap.cli.selftest import choices
from zerogap.cli.terminal import progress

UNITED = Path(__file__).parents[2] / "examples" / "united.json"


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "zerogap.cli.main", *map(str, arguments)], capture_output=True, text=True, check=False)


def test_version_and_help():
    assert run("--version").stdout == f"zerogap {zerogap.__version__}\n"
    shown = run("--help").stdout
    for word in ("decode", "verify", "doctor", "Exit codes"):
        assert word in shown
    assert run("decode", "--help").returncode == 0
    assert run().returncode == 2
    assert run("decod").returncode == 2


def test_decode_then_verify(tmp_path):
    done = run("decode", UNITED, "--output", tmp_path / "s.json", "--plot", tmp_path / "gap.svg")
    assert done.returncode == 0
    assert done.stdout == ""
    assert "optimal: score 6" in done.stderr
    assert (tmp_path / "gap.svg").read_text().startswith("<svg")
    checked = run("verify", UNITED, tmp_path / "s.json")
    assert checked.returncode == 0
    assert "so it is optimal" in checked.stdout
    piped = run("decode", UNITED)
    assert json.loads(piped.stdout)["structure"] == json.loads((tmp_path / "s.json").read_text())["structure"]

    tampered = json.loads(piped.stdout)
    tampered["bound"] -= 1.0
    (tmp_path / "t.json").write_text(json.dumps(tampered))
    refused = run("verify", UNITED, tmp_path / "t.json")
    assert refused.returncode == 1
    assert "VerificationError" in refused.stderr
    assert refused.stdout == ""


def test_the_k_best(tmp_path):
    problem = zerogap.dependency.Problem([[0, 9, 10, 9], [0, 0, 20, 3], [0, 30, 0, 30], [0, 11, 0, 0]])
    zerogap.save_problem(problem, tmp_path / "p.json")
    done = run("decode", tmp_path / "p.json", "--k", 3, "-o", tmp_path / "s.json")
    assert done.returncode == 0
    solution = zerogap.load_solution(tmp_path / "s.json")
    assert [score for _, score in solution.alternatives] == sorted((score for _, score in solution.alternatives), reverse=True)
    assert len(solution.alternatives) == 2
    assert "its 2 alternatives" in run("verify", tmp_path / "p.json", tmp_path / "s.json").stdout
    assert run("decode", UNITED, "--k", 3).returncode == 2


def test_a_gap_left_open_is_exit_code_3(tmp_path):
    zerogap.save_problem(choices(limited=True), tmp_path / "p.json")
    done = run("decode", tmp_path / "p.json", "--method", "lagrangian")
    assert done.returncode == 3
    assert "gap" in done.stderr
    assert json.loads(done.stdout)["status"] == "feasible"


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "not JSON"), ("{}", "format is None"), ('{"format": "zerogap-solution", "version": 1}', "expected 'zerogap-problem'")],
)
def test_bad_files_are_exit_code_1(tmp_path, content, message):
    (tmp_path / "p.json").write_text(content)
    done = run("decode", tmp_path / "p.json")
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_unknown_method_and_missing_file(tmp_path):
    done = run("decode", UNITED, "--method", "beam")
    assert done.returncode == 2
    assert "Known: auto" in done.stderr
    assert run("decode", tmp_path / "none.json").returncode == 1


def test_doctor():
    done = run("doctor")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"All \d+ self-tests passed", done.stdout)
    assert "\x1b" not in done.stdout  # no colours and no bars where nobody is looking
    assert done.stderr == ""


def test_progress_is_silent_off_the_terminal(capsys):
    with progress("working", total=2) as steps:
        steps.advance()
        steps.advance("still working")
    assert (steps.done, steps.description) == (2, "still working")
    assert capsys.readouterr() == ("", "")
