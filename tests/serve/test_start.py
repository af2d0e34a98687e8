"""What is refused before a server starts, and what workers do with what goes wrong in them."""

import json
import socket
import subprocess
import sys

import pytest

from zerogap.dependency import Problem
from zerogap.errors import InputError
from zerogap.problems.files import problem_to_json
from zerogap.serve import worker
from zerogap.serve.guard import is_local
from zerogap.serve.limits import Limits
from zerogap.serve.models import Models
from zerogap.serve.server import Address, listening
from zerogap.serve.steps import MOST_STEPS, thinned
from zerogap.serve.tasks import TASKS, Context, Task


def run(*options, **more):
    return subprocess.run(
        [sys.executable, "-m", "zerogap.cli.main", "serve", *options], capture_output=True, text=True, timeout=120, **more
    )


def test_others_need_a_token():
    for host in ("0.0.0.0", "::", "192.168.0.1", "example.org", ""):
        with pytest.raises(InputError, match="there is no token"):
            Address(host)
        assert Address(host, token="x").token == "x"
        assert Address(host, no_token=True).token is None
    for host in ("127.0.0.1", "127.1.2.3", "localhost", "::1"):
        assert Address(host).is_local
    assert Address("::1", 80).url == "http://[::1]:80/"
    assert "secret" not in repr(Address(token="secret"))


@pytest.mark.parametrize("token", ["", " a", "a\n", "\u00e9", "a\x00"])
def test_tokens_that_no_header_can_have(token):
    with pytest.raises(InputError, match="expected printable ASCII"):
        Address(token=token)


def test_the_command_says_what_is_wrong(tmp_path):
    done = run("--host", "0.0.0.0")
    assert done.returncode == 1
    assert "--no-token" in done.stderr
    assert "Traceback" not in done.stderr
    (tmp_path / "empty").write_text("\n")
    done = run("--token-file", str(tmp_path / "empty"))
    assert (done.returncode, "expected a token" in done.stderr) == (1, True)


def test_a_port_that_is_taken():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port}"):
            listening(Address(port=port))
    with pytest.raises(InputError, match="cannot listen at no.such.host.invalid"):
        listening(Address("no.such.host.invalid", no_token=True))


def test_limits_are_numbers():
    for wrong in (0, -1, True, "1", float("inf"), float("nan")):
        with pytest.raises(InputError, match="words is"):
            Limits(words=wrong)


@pytest.mark.parametrize(("host", "local"), [
    ("localhost", True), ("LOCALHOST:1", True), ("a.localhost:80", True), ("127.0.0.1", True), ("[::1]:80", True), ("127.1.2.3:8000", True),
    ("", False), ("evil", False), ("localhost.evil", False), ("127.0.0.1@evil", False), ("127.0.0.1:80:90", False), ("evil:127", False),
])  # fmt: skip
def test_names_of_this_machine(host, local):
    assert is_local(host) == local


@pytest.mark.parametrize(("error", "status", "limit"), [
    (MemoryError(), 422, "memory"), (RecursionError(), 422, None), (ZeroDivisionError("secret"), 500, None), (InputError("no"), 422, None),
])  # fmt: skip
def test_what_goes_wrong_in_a_worker(monkeypatch, capsys, error, status, limit):
    def fail(request, context):
        raise error

    task = TASKS["parse"]
    monkeypatch.setitem(TASKS, "parse", Task(fail, task.request, task.answer, ""))
    found, body = worker.answer("parse", b'{"text": "a"}', Context(Models(), Limits()), print)
    assert found == status
    answer = json.loads(body)["error"]
    assert answer.get("limit") == limit
    assert "secret" not in answer["message"]
    assert ("ZeroDivisionError" in capsys.readouterr().err) == (status == 500)


def test_memory_is_limited():
    code = "from zerogap.serve.worker import limit_memory; limit_memory(1 << 26); bytearray(1 << 28)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "MemoryError" in done.stderr


def test_many_steps_are_thinned():
    rows = thinned(list(range(10 * MOST_STEPS)))
    assert len(rows) == MOST_STEPS
    assert (rows[0], rows[-1]) == (0, 10 * MOST_STEPS - 1)


def test_what_is_told_ends_with_the_answer():
    """Also where there are more steps than are told."""
    from zerogap.proof import DynamicProgram, Solution, Trace
    from zerogap.relax.watching import Step, watcher
    from zerogap.serve.steps import watched

    def solve(n):
        for i in range(n):
            watcher()(Step("iteration", 2.0 * n - i, float(i), {}))
        return Solution((1,), n - 1.0, n + 1.0, DynamicProgram(), Trace())

    for n in (3, MOST_STEPS + 5):
        told = []
        watched(lambda n=n: solve(n), told.append)
        assert (told[-1]["bound"], told[-1]["score"]) == (n + 1.0, n - 1.0)
        assert len(told) == min(n, MOST_STEPS) + (n > MOST_STEPS)


def test_nobody_listens_any_more(capsys):
    """What was asked for is given up, and the log has no defect."""

    def gone(step):
        raise BrokenPipeError

    body = worker.json_line({"task": "decode", "problem": problem_to_json(Problem([[0.0, 1.0], [0.0, 0.0]]))})
    with pytest.raises(BrokenPipeError):
        worker.answer("watch", body, Context(Models(), Limits()), gone)
    assert "Traceback" not in capsys.readouterr().err
