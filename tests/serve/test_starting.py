"""A server that is not ready says so, and no request waits for a compiler."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from mmap import mmap
from pathlib import Path
from types import SimpleNamespace

import pytest

import zerogap
from zerogap.errors import FormatError, NotCompiled
from zerogap.kernels import float64, kernel, refuse_while
from zerogap.serve import starting as module
from zerogap.serve import worker
from zerogap.serve.app import application
from zerogap.serve.limits import Limits
from zerogap.serve.models import Models
from zerogap.serve.starting import COMPILING, OK, Starting
from zerogap.serve.tasks import TASKS, Context, Task

httpx = pytest.importorskip("httpx")
PAGE = Path(zerogap.__file__).parent / "serve" / "page" / "app.js"
PRESET = re.search(r'parse: \{.*? text: "(.*?)"', PAGE.read_text())[1]  # the sentence that the page begins with
PREFERRED = json.loads(re.search(r"PREFERRED = \{ parse: (\[.*?\])", PAGE.read_text())[1])


class FakePool:
    """A nursery that gives these answers when it is told to load."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.nursery = self
        self.size, self.opened, self.regular = 0, False, 1

    async def load(self):
        return json.dumps(self.answers.pop(0)).encode()

    async def open(self):
        self.opened = True

    def close(self):
        pass


def starting_of(*answers):
    refusing = mmap(-1, 1)
    refusing[0] = 1
    return Starting(FakePool(*answers), ("label",), refusing)


def ask(app, method, path, **options):
    async def asked():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            return await client.request(method, path, **options)

    return asyncio.run(asked())


def test_until_it_is_ready():
    """The page is there, /health says how far it is, and tasks are to be asked for later."""
    found = starting_of()
    app = application(found, Limits())
    assert ask(app, "GET", "/").status_code == 200
    found.status, found.compiled, found.to_compile, found.compiler = COMPILING, 3, 7, SimpleNamespace()
    health = ask(app, "GET", "/health")
    assert health.status_code == 503
    assert (health.json()["status"], health.json()["compiled"], health.json()["to_compile"]) == ("compiling", 3, 7)
    for path in ("/parse", "/watch"):
        refused = ask(app, "POST", path, json={"text": "Go."})
        assert (refused.status_code, int(refused.headers["retry-after"]) > 0) == (503, True)
        assert "3 of 7 modules" in refused.json()["error"]["message"]
    found.status, found.compiler = OK, None
    assert ask(app, "GET", "/health").json()["status"] == "ok"


def test_kernels_are_compiled_before_models_are_loaded(monkeypatch, capsys):
    monkeypatch.setattr(module, "SECONDS_BETWEEN_NOTES", 0.0)
    found = starting_of({"not_compiled": True}, {"about": {"tasks": ["decode"]}, "lacking": False})
    asyncio.run(found.begin())
    assert (found.failure, found.status, found.about, found.pool.opened) == (None, OK, {"tasks": ["decode"]}, True)
    said = capsys.readouterr().err
    assert "compiling kernels, 0 of 2 modules" in said
    assert "compiling kernels, 2 of 2 modules" in said
    assert found.refusing[0] == 1


def test_nothing_is_said_where_nothing_is_compiled(capsys):
    found = starting_of({"about": {}, "lacking": False})
    asyncio.run(found.begin())
    assert (found.status, capsys.readouterr().err) == (OK, "")


def test_what_is_wrong_with_a_model_is_kept():
    found = starting_of({"error": ["FormatError", "no such file."]})
    asyncio.run(found.begin())
    assert isinstance(found.failure, FormatError)
    assert str(found.failure) == "no such file."


def test_workers_compile_nothing(monkeypatch):
    """Neither a kernel that is imported late, nor one that is rare."""
    task = TASKS["parse"]
    monkeypatch.setattr("zerogap.kernels.is_cached", lambda dispatcher: False)

    def compile_one(request, context):
        @kernel(float64(float64))
        def doubled(x):
            return 2.0 * x

        doubled(1.0)

    refuse_while(lambda: True)
    try:
        with pytest.raises(NotCompiled):
            compile_one(None, None)
        monkeypatch.setitem(TASKS, "parse", Task(compile_one, task.request, task.answer, ""))
        assert worker.answer("parse", b'{"text": "a"}', Context(Models(), Limits()), print) == (worker.NOT_COMPILED, b"")
    finally:
        refuse_while(bool)


def test_what_a_worker_lacks_is_compiled_meanwhile():
    """The request gets a 503, a line of a batch waits."""
    found = starting_of()
    found.status = OK
    compiled = []

    async def compile_everything(*modules, nicer=0):
        compiled.append(modules)

    async def answer(task, body):
        return (200, b"{}") if compiled and found.refusing[0] == 0 else (worker.NOT_COMPILED, b"")

    class Fake(Starting):
        compile = staticmethod(compile_everything)

    fake = Fake(found.pool, found.needed, found.refusing, status=OK)
    fake.pool.answer = answer
    found = fake
    app = application(fake, Limits())
    refused = ask(app, "POST", "/parse", json={"text": "Go."})
    assert (refused.status_code, "retry-after" in refused.headers, refused.json()["error"]["type"]) == (503, True, "NotReady")
    fake.rest, fake.refusing[0] = None, 1
    compiled.clear()
    headers = {"content-type": "application/x-ndjson"}
    assert ask(app, "POST", "/parse/batch", content=b"{}\n", headers=headers).text == "{}\n"
    assert compiled == [()]


SESSION = """
import sys, time
from zerogap.cli.serve import loaded
from zerogap.cli.translate.models import ModelFiles
from zerogap.serve import forms, server, tasks
from zerogap.serve.limits import Limits

assert "numba" not in sys.modules  # the server itself compiles nothing
models = loaded("en", None, None, None, ModelFiles(None, None, None, None, None))
server.prepare(models, Limits())
context = tasks.Context(models, Limits(), time.perf_counter() + 100)
for method in sys.argv[2:]:
    found = tasks.watch(forms.WatchRequest(task="parse", text=sys.argv[1], method=method), context, lambda step: None)
    assert found["status"] == "optimal"
from zerogap.kernels import used
from zerogap.pipeline.kernels import NEEDED
assert used <= set(NEEDED["parse"]), used - set(NEEDED["parse"])
"""


def test_what_the_page_begins_with_needs_no_other_kernels():
    done = subprocess.run([sys.executable, "-c", SESSION, PRESET, *PREFERRED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_model_that_is_not_there(tmp_path):
    command = [sys.executable, "-m", "zerogap.cli.main", "serve", "--port", "0", "--model", "none", "--labels", tmp_path / "none.npz"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "none.npz" in done.stderr


@pytest.mark.slow
def test_a_machine_that_never_compiled_anything(tmp_path):
    """The page at once, then, when the server says that it is ready, right answers to what the page begins with."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    begin = time.monotonic()
    command = [sys.executable, "-m", "zerogap.cli.main", "serve", "--port", "8765"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        with httpx.Client(base_url="http://127.0.0.1:8765", timeout=60) as client:
            seen = set()
            while "ok" not in seen:
                try:
                    seen.add(client.get("/health").json()["status"])
                    assert client.get("/").status_code == 200
                except httpx.ConnectError:
                    assert time.monotonic() - begin < 10.0, "the page should be there at once"
                time.sleep(0.1)
            assert seen >= {"compiling", "ok"}
            seconds = time.monotonic() - begin
            for method in PREFERRED:
                answer = client.post("/watch", json={"task": "parse", "text": PRESET, "method": method})
                assert json.loads(answer.text.splitlines()[-1])["status"] == "optimal", answer.text[-1000:]
    finally:
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=30)[1]
    assert re.search(r"compiling kernels, \d+ of \d+ modules", said)
    print(f"ready after {seconds:.0f} s")
