"""A server with small models, started once: the real thing, on a free port of this machine."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

httpx = pytest.importorskip("httpx")


class Server:
    def __init__(self, *options, env=None):
        command = [sys.executable, "-m", "zerogap.cli.main", "serve", "--port", "0", *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})
        said, found = "", None
        while found is None:
            line = self.process.stderr.readline()  # kernels may have to be compiled first, and that is told
            if not line:
                raise AssertionError(said)
            said += line
            found = re.search(r"zerogap serves .* (http://\S+)", line)
        self.url = found[1].rstrip("/")
        self.http = httpx.Client(base_url=self.url, timeout=60)

    def post(self, path, body, **options):
        return self.http.post(path, json=body, **options)

    def lines(self, path, values):
        content = "".join(value if isinstance(value, str) else json.dumps(value) + "\n" for value in values)
        answer = self.http.post(path, content=content, headers={"content-type": "application/x-ndjson"})
        assert answer.status_code == 200
        return [json.loads(line) for line in answer.text.splitlines()]

    def stop(self, with_signal=signal.SIGTERM):
        self.http.close()
        self.process.send_signal(with_signal)
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return self.process.stderr.read()


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Files of a model of labels, a grammar for trees, and phrases with a language model."""
    folder = tmp_path_factory.mktemp("models")
    from zerogap.sequence import Example, at_most, train

    names = ("Anna", "Bert", "Carla")
    examples = [Example({"form": (name, "sees", other)}, ("P", "O", "P")) for name in names for other in names]
    train(examples, constraints=[at_most("P", 1)], templates=["form[0]"]).save(folder / "labels.npz")
    (folder / "trees.txt").write_text('S -> NP VP\nVP -> V NP\nNP -> D N\nD -> "the"\nN -> "dog" [0.5] | "cat" [0.5]\nV -> "sees"\n')
    (folder / "phrases.txt").write_text(
        "das ||| the ||| 0.5 0.5 0.5 0.5\nhaus ||| house ||| 0.5 0.5 0.5 0.5\ndas haus ||| the house ||| 0.4 0.4 0.4 0.4\n"
    )
    (folder / "lm.arpa").write_text("\\data\\\nngram 1=5\n\n\\1-grams:\n-99 <s>\n-1 </s>\n-2 <unk>\n-0.7 the\n-0.9 house\n\n\\end\\\n")
    weights = ["p_f_given_e 0.2", "lex_f_given_e 0.2", "p_e_given_f 0.2", "lex_e_given_f 0.2", "lm 0.5", "words 0", "phrases -0.1"]
    (folder / "weights.txt").write_text("\n".join(["[phrase]", *weights, "distortion 0.1", "distortion_limit 4", ""]))
    return folder


@pytest.fixture(scope="session")
def server(models):
    files = {
        "--labels": "labels.npz",
        "--trees": "trees.txt",
        "--phrase-table": "phrases.txt",
        "--lm": "lm.arpa",
        "--weights": "weights.txt",
    }
    options = [part for option, name in files.items() for part in (option, models / name)]
    options += ["--max-seconds", 5, "--max-words", 60, "--workers", 2]
    found = Server(*map(str, options))
    yield found
    assert "Traceback" not in found.stop()
    assert found.process.returncode in (0, -signal.SIGTERM)


def wait_until(holds, seconds=10.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError("it did not come about in time")
