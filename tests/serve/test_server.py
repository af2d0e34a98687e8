"""The server as clients see it: every task, every limit, and nothing that holds up others."""

import json
import os
import re
import signal
import socket
import threading
import time

import numpy as np
import pytest

import zerogap
from tests.serve.conftest import Server, wait_until
from zerogap.problems.files import problem_to_json
from zerogap.proof.files import solution_from_json

KEY = {"authorization": "Bearer secret"}
TEXT = "Time flies like an arrow. Fruit flies like a banana."


def problem_of(**parts):
    return {"format": "zerogap-problem", "version": 1, "kind": "dependency"} | parts


SMALL = problem_of(arcs=[[0, 1], [0, 0]])


def slow_problem():
    """Random siblings and grandparents of 40 words: no decoder is done with them in seconds."""
    random = np.random.default_rng(0)
    cubes = [np.round(random.normal(size=(41, 41, 41)), 1).tolist() for _ in range(2)]
    return problem_of(arcs=np.zeros((41, 41)).tolist(), siblings=cubes[0], grandparents=cubes[1])


def metric(server, name):
    found = re.search(rf"^{re.escape(name)} (\S+)$", server.http.get("/metrics").text, re.MULTILINE)
    return 0.0 if found is None else float(found[1])


def refused(answer, status, limit=None):
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert error["message"]
    assert error.get("limit") == limit
    return error["message"]


@pytest.fixture(scope="module")
def tight():
    """A server with a token and narrow limits, and no models."""
    options = ["--model", "none", "--workers", "1", "--max-requests", "2", "--max-seconds", "3"]
    found = Server(*options, env={"ZEROGAP_TOKEN": "secret"})
    yield found
    found.process.kill()
    assert "secret" not in found.process.stderr.read()
    found.http.close()


# tasks


def test_parse_is_what_python_says(server):
    answer = server.post("/parse", {"text": TEXT, "include": ["conllu", "proof", "svg"]}).json()
    document = zerogap.load("en")(TEXT, threads=1)
    assert len(answer["sentences"]) == 2
    for found, sentence in zip(answer["sentences"], document, strict=True):
        assert found["conllu"] == sentence.to_conllu()
        assert found["svg"] == sentence.plot().svg
        assert {key: value for key, value in found.items() if key not in ("conllu", "svg", "proof")} == sentence.to_json()
        problem = zerogap.problems.files.problem_from_json(found["proof"]["problem"])
        assert "optimal" in str(zerogap.verify(problem, solution_from_json(found["proof"]["solution"])))
        assert server.post("/verify", found["proof"]).json()["valid"]


def test_words_that_are_known(server):
    answer = server.post("/parse", {"sentences": [["Time", "flies"], []]}).json()
    assert [len(sentence["words"]) for sentence in answer["sentences"]] == [2, 0]


def test_a_reference_is_one_sequence(server):
    """Cut at blanks only, as models of references are trained: initials end no sentence, and punctuation stays where it is."""
    reference = "A. Okafor, K. Dorn (2004). Exact parsing. Journal of Inference, 17(1), 31-38."
    answer = server.post("/label", {"text": f" {reference}\n"}).json()["sequences"]
    assert [found["tokens"] for found in answer] == [reference.split()]
    told = watched(server, task="label", text=reference)
    assert (told[0]["sentences"], told[0]["tokens"]) == (1, reference.split())


@pytest.mark.parametrize("task", ["parse", "trees", "label", "translate"])
def test_an_empty_text(server, task):
    for text in ("", " \n "):
        answer = server.post("/watch", {"task": task, "text": text})
        assert (answer.status_code, answer.json()["error"]["message"]) == (422, "the text is empty: expected at least one word.")


def test_labels(server):
    answer = server.post("/label", {"text": "Anna sees Bert", "include": ["proof"]}).json()["sequences"]
    assert answer[0]["labels"].count("P") == 1  # as the constraint says
    assert answer[0]["status"] == "optimal"
    assert server.post("/verify", answer[0]["proof"]).json()["valid"]
    free = server.post("/label", {"examples": [{"tokens": ["Anna", "sees", "Bert"]}], "constraints": False}).json()["sequences"]
    assert free[0]["labels"] == ["P", "O", "P"]
    assert free[0]["score"] > answer[0]["score"]


def test_trees(server):
    answer = server.post("/trees", {"text": "the dog sees the cat", "include": ["proof", "svg"]}).json()["sentences"]
    assert answer[0]["svg"].startswith("<svg")
    assert answer[0]["tree"] == "(S (NP (D the) (N dog)) (VP (V sees) (NP (D the) (N cat))))"
    assert answer[0]["status"] == "optimal"
    assert server.post("/verify", answer[0]["proof"]).json()["valid"]
    refused(server.post("/trees", {"text": "dog the sees"}), 422)


def test_translations(server):
    answer = server.post("/translate", {"sentences": ["das haus", "das haus das"], "include": ["proof"]}).json()["sentences"]
    assert [found["translation"] for found in answer] == ["the house", "the house the"]
    assert all(found["status"] == "optimal" and server.post("/verify", found["proof"]).json()["valid"] for found in answer)


def test_decode_and_verify(server):
    problem = zerogap.dependency.Problem([[0, 5, 1], [0, 0, 8], [0, 9, 0]])
    solution = zerogap.dependency.decode(problem, k=2)
    answer = server.post("/decode", {"problem": problem_to_json(problem), "k": 2}).json()
    found = solution_from_json(answer["solution"])
    assert (found.structure, found.score, found.bound, found.alternatives) == (solution.structure, 13.0, 13.0, solution.alternatives)
    checked = server.post("/verify", {"problem": problem_to_json(problem), "solution": answer["solution"]}).json()
    assert checked["valid"]
    assert checked["checked"] == list(zerogap.verify(problem, solution).checked)
    wrong = {**answer["solution"], "bound": 12.5}
    checked = server.post("/verify", {"problem": problem_to_json(problem), "solution": wrong}).json()
    assert not checked["valid"]
    assert "12.5" in checked["reason"]


def watched(server, **body):
    answer = server.post("/watch", body)
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


def test_steps_of_a_parse(server):
    problem, *steps, solution = watched(server, text=TEXT, sentence=1, method="head-automata")
    assert problem["sentences"] == 2
    assert {"auto", "head-automata"} <= set(problem["methods"])
    assert [word["form"] for word in problem["words"]][:2] == ["Fruit", "flies"]
    assert len(steps) > 1
    bounds = [step["bound"] for step in steps]
    assert bounds == sorted(bounds, reverse=True)
    assert steps[-1]["bound"] == steps[-1]["score"] == solution["score"]
    assert not steps[-1]["only_tree"]
    assert solution["status"] == "optimal"
    assert solution["conllu"].count("\n") >= 5
    assert server.post("/verify", solution["proof"]).json()["valid"]


@pytest.mark.parametrize(("task", "text", "key"), [
    ("parse", "Time flies.", "words"), ("trees", "the dog sees the cat", "tree"), ("label", "Anna sees Bert", "labels"),
    ("translate", "das haus", "phrases"),
])  # fmt: skip
def test_every_task_can_be_watched(server, task, text, key):
    *steps, solution = watched(server, task=task, text=text)
    assert steps[0]["event"] == "problem"
    assert any(step["event"] == "step" for step in steps)
    assert solution["event"] == "solution"
    assert solution[key]


def test_constraints_that_are_intersected(server):
    steps = watched(server, task="label", text="Anna sees Bert", method="relaxation")
    assert steps[1]["kind"] == "intersection"
    assert steps[1]["intersected"] in steps[1]["violated"]
    assert steps[-2]["kind"] == "end"
    assert steps[-2]["bound"] == steps[-2]["score"] == steps[-1]["score"]


# batches


def test_batches_keep_the_order(server):
    texts = [f"This is sentence {i}." for i in range(40)]
    answers = server.lines("/parse/batch", [{"text": text} for text in texts])
    assert [answer["sentences"][0]["text"] for answer in answers] == texts


def test_a_bad_line_is_one_error(server):
    answers = server.lines("/parse/batch", [{"text": "Go."}, "\n", "{no json}\n", {"text": 1}, {"text": "Stop."}])
    assert ["error" in answer for answer in answers] == [False, True, True, False]


def test_batches_stream(server):
    """The first answer is there before the last line was sent."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        line = b'{"text": "Go."}\n'
        head = ["POST /parse/batch HTTP/1.1", "host: localhost", "content-type: application/x-ndjson", f"content-length: {2 * len(line)}"]
        connection.sendall("\r\n".join([*head, "", ""]).encode() + line)
        found = b""
        while b"sentences" not in found:
            found += connection.recv(4096)
        connection.sendall(line)
        while found.count(b"sentences") < 2:
            found += connection.recv(4096)


# limits


def test_long_sentences(server):
    message = refused(server.post("/parse", {"text": "word " * 61}), 422, "words")
    assert "61 words" in message
    assert "60" in message
    refused(server.post("/label", {"examples": [{"tokens": ["a"] * 61}]}), 422, "words")
    refused(server.post("/translate", {"sentences": ["a " * 61]}), 422, "words")


def test_large_bodies(server):
    refused(server.post("/parse", {"text": "word " * 300_000}), 413, "body")
    endless = (b"x" * 65536 for _ in range(40))  # no length is told
    refused(server.http.post("/parse", content=endless, headers={"content-type": "application/json"}), 413, "body")
    answers = server.lines("/parse/batch", [{"text": "Go."}, {"text": "x" * 2_000_000}])
    assert answers[-1]["error"]["limit"] == "body"


def test_slow_problems_end_and_hold_nobody_up(server):
    problem = slow_problem()
    found = {}

    def ask(i):
        found[i] = server.post("/decode", {"problem": problem, "method": "price-and-cut"})

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    wait_until(lambda: metric(server, 'zerogap_workers{state="busy"}') >= 2)
    begin = time.perf_counter()
    for _ in range(5):
        assert server.post("/parse", {"text": "Time flies."}).status_code == 200
    assert time.perf_counter() - begin < 4.0, "short requests wait for long ones"
    for thread in threads:
        thread.join()
    for answer in found.values():
        if answer.status_code != 200:
            refused(answer, 422, "seconds")
        else:
            assert answer.json()["solution"]["status"] == "feasible"
    assert server.post("/parse", {"text": "Time flies."}).status_code == 200


@pytest.mark.parametrize(("path", "kind", "times"), [("/watch", "json", 1), ("/decode/batch", "x-ndjson", 3)])
def test_work_ends_when_the_client_leaves(server, path, kind, times):
    task = {"task": "decode"} if path == "/watch" else {}
    body = (json.dumps({"problem": slow_problem(), "method": "price-and-cut"} | task) + "\n").encode() * times
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        head = [f"POST {path} HTTP/1.1", "host: localhost", f"content-type: application/{kind}", f"content-length: {len(body)}"]
        connection.sendall("\r\n".join([*head, "", ""]).encode() + body)
        wait_until(lambda: metric(server, 'zerogap_workers{state="busy"}') >= 1)
    begin = time.monotonic()
    wait_until(lambda: metric(server, 'zerogap_workers{state="busy"}') == 0, seconds=8)
    assert time.monotonic() - begin < 4.0


def test_too_many_at_once(tight):
    problem = slow_problem()
    found = []
    body = {"problem": problem, "method": "head-automata"}
    threads = [threading.Thread(target=lambda: found.append(tight.post("/decode", body, headers=KEY))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    turned_away = [answer for answer in found if answer.status_code == 429]
    assert turned_away
    assert turned_away[0].headers["retry-after"] == "1"
    refused(turned_away[0], 429, "concurrency")


# bad input


@pytest.mark.parametrize(("path", "body", "message"), [
    ("/parse", {}, "either text or sentences"),
    ("/parse", {"text": "a", "sentences": [["a"]]}, "either text or sentences"),
    ("/parse", {"txt": "a"}, "txt"),
    ("/parse", {"text": 3}, "text"),
    ("/parse", {"text": "\ud800"}, ""),
    ("/parse", {"sentences": [["a", " "]]}, "sentences[0][1] is ' '"),
    ("/parse", {"text": "a", "include": ["everything"]}, "include[0]"),
    ("/label", {"examples": [{"labels": ["A"]}]}, "examples[0]"),
    ("/decode", {"problem": problem_of(kind="nothing")}, "kind is 'nothing'"),
    ("/decode", {"problem": SMALL, "method": "x"}, "Known:"),
    ("/decode", {"problem": problem_of(arcs=[[0, "nan"]])}, "arcs"),
    ("/decode", {"problem": SMALL, "time_limit": -1}, "time_limit"),
    ("/verify", {"problem": {}, "solution": {}}, "problem.format"),
    ("/watch", {"task": "decode", "text": "a"}, "expected problem"),
    ("/watch", {"text": "Go.", "sentence": 5}, "the text has 1"),
    ("/watch", {"text": "One.", "sentence": 1}, "the text has 1"),
])  # fmt: skip
def test_what_is_not_accepted(server, path, body, message):
    if body.get("text") == "\ud800":
        answer = server.http.post(path, content=b'{"text": "\\ud800"}', headers={"content-type": "application/json"})
    else:
        answer = server.post(path, body)
    assert message in refused(answer, 422)


def test_what_is_not_json(server):
    for content in (b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"text": ' + b"9" * 5000 + b"}", b'{"text": NaN}'):
        refused(server.http.post("/parse", content=content, headers={"content-type": "application/json"}), 422)
    refused(server.http.post("/parse", content=b"{}", headers={"content-type": "text/plain"}), 415)
    refused(server.http.post("/parse", content=b"{}"), 415)


def test_what_is_not_there(server):
    refused(server.http.get("/nothing"), 404)
    refused(server.http.get("/parse"), 405)
    refused(server.http.get("/page/../app.py"), 404)
    refused(server.http.get("/page/%2e%2e/app.py"), 404)


def test_other_names(server):
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil"):
        refused(server.http.get("/health", headers={"host": host}), 421)
    for host in ("localhost", "localhost:8000", "127.0.0.1:1", "[::1]:80", "[::1]"):
        assert server.http.get("/health", headers={"host": host}).status_code == 200


# around


def test_health_and_metrics(server):
    health = server.http.get("/health").json()
    assert health["status"] == "ok"
    assert set(health["tasks"]) == {"parse", "label", "trees", "translate", "decode", "verify"}
    assert health["limits"]["words"] == 60
    text = server.http.get("/metrics").text
    names = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(names) == len(set(names))
    for line in text.splitlines():
        assert line.startswith("#") or re.fullmatch(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+', line), line
    before = metric(server, 'zerogap_requests_total{path="/parse",status="200"}')
    server.post("/parse", {"text": "Go."})
    assert metric(server, 'zerogap_requests_total{path="/parse",status="200"}') == before + 1


def test_the_page_needs_nothing_from_elsewhere(server):
    for path in ("/", "/docs"):
        answer = server.http.get(path)
        assert answer.status_code == 200
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert not re.findall(r'(?:src|href)="(?!/|#)[^"]*"', answer.text)
        for file in re.findall(r'(?:src|href)="(/page/[^"]+)"', answer.text):
            found = server.http.get(file)
            assert found.status_code == 200
            assert server.http.get(file, headers={"if-none-match": found.headers["etag"]}).status_code == 304
            assert not re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|https?://(?!www\.w3\.org)", found.text)


def test_openapi_is_complete(server):
    description = server.http.get("/openapi.json").json()
    names = set(description["components"]["schemas"])
    used = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(description)))
    assert used <= names
    assert {"/parse", "/parse/batch", "/watch", "/health", "/metrics"} <= set(description["paths"])
    for path in description["paths"].values():
        for operation in path.values():
            for media in operation.get("requestBody", {}).get("content", {}).values():
                for example in media.get("examples", {}).values():
                    answer = server.post(f"/{operation['operationId']}", example["value"])
                    assert answer.status_code in (200, 422), (operation["operationId"], answer.text)


def test_tokens(tight):
    body = {"problem": problem_to_json(zerogap.dependency.Problem([[0, 1], [0, 0]]))}
    answer = tight.post("/decode", body)
    refused(answer, 401)
    assert answer.headers["www-authenticate"] == "Bearer"
    for wrong in ("Bearer secre", "Bearer secrets", "secret", "Basic secret", "Bearer s\u00e9cret".encode()):
        refused(tight.post("/decode", body, headers={"authorization": wrong}), 401)
    refused(tight.http.get("/metrics"), 401)
    assert tight.post("/decode", body, headers=KEY).status_code == 200
    assert tight.http.get("/health").json()["needs_token"] is True
    assert tight.http.get("/").status_code == 200


def test_there_is_no_model(tight):
    message = refused(tight.post("/parse", {"text": "Go."}, headers=KEY), 404)
    assert "--model" in message


def test_what_is_in_progress_is_answered():
    """After SIGTERM, too; and nothing of the server is left."""
    going = Server("--model", "none", "--workers", "1", "--max-seconds", "4")
    found = []
    body = {"problem": slow_problem(), "method": "head-automata", "time_limit": 1.5}
    thread = threading.Thread(target=lambda: found.append(going.post("/decode", body)))
    thread.start()
    wait_until(lambda: metric(going, 'zerogap_workers{state="busy"}') == 1)
    workers = children(going.process.pid)
    os.kill(going.process.pid, signal.SIGTERM)
    thread.join()
    assert found[0].status_code == 200
    going.process.wait(timeout=20)
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in workers))
    going.http.close()


def children(pid):
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
            for child in file.read().split():
                found += [int(child), *children(int(child))]
    return found


def test_workers_end_with_a_server_that_is_killed(tight):
    """The last test: there is no such server any more."""
    workers = children(tight.process.pid)
    assert len(workers) >= 2
    tight.process.kill()
    tight.process.wait()
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in workers))
