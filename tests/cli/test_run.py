"""`zerogap run`, `--engine`, and `zerogap verify` on what they wrote."""

import json
import subprocess
import sys

import pytest


@pytest.fixture
def job(tmp_path, toy, trees):
    def written(**settings):
        path = tmp_path / "job.toml"
        given = {"task": "parse", "input": [str(trees[1])], "output": str(tmp_path / "out"), "shard_size": 3, "workers": 2} | settings
        lines = [f"{key} = {json.dumps(value)}" for key, value in given.items() if not isinstance(value, dict)]
        options = {"model": str(toy), "certificates": True} | settings.get("parse", {})
        path.write_text("\n".join([*lines, "[parse]", *(f"{key} = {json.dumps(value)}" for key, value in options.items())]))
        return path

    return written


def test_a_job_writes_what_parse_writes(run, job, toy, trees, tmp_path):
    found = run("run", job())
    assert found.code == 0
    assert "shards: all answers proven optimal" in found.errors
    plain = run("parse", trees[1], "--model", toy)
    shards = sorted((tmp_path / "out").glob("0*.conllu"))
    assert len(shards) > 1
    assert "".join(path.read_text() for path in shards) == plain.output
    for proofs in sorted((tmp_path / "out").glob("*.proofs.jsonl")):
        assert run("verify", proofs).code == 0
    again = run("run", job())
    assert "0 records of them now" in again.errors


def test_text_json_and_engines(run, toy, tmp_path):
    for i in range(3):
        (tmp_path / f"{i}.txt").write_text(f"The dog saw {i} cats. It slept.\n\nA cat slept.\n")
    found = run(
        "parse", tmp_path / "*.txt", "--engine", "local", "--model", toy, "-o", tmp_path / "out", "--format", "json", "--threads", 1
    )
    assert found.code == 0
    rows = [json.loads(line) for path in sorted((tmp_path / "out").glob("0*.jsonl")) for line in path.read_text().splitlines()]
    assert [row["id"] for row in rows] == ["1.1", "1.2", "3.1"] * 3
    assert rows[0]["text"] == "The dog saw 0 cats."
    (tmp_path / "a.jsonl").write_text(
        json.dumps({"id": "x", "tokens": ["A", "cat"]}) + "\n{}\n" + json.dumps({"text": "A dog. A cat."}) + "\n"
    )
    found = run("parse", tmp_path / "a.jsonl", "--engine", "local", "--model", toy, "-o", tmp_path / "lines", "--threads", 1)
    assert found.code == 0
    assert "1 record without an answer" in found.errors
    text = (tmp_path / "lines" / "00000-00000.conllu").read_text()
    assert [line.split(" = ")[1] for line in text.splitlines() if line.startswith("# sent_id")] == ["x", "3.1", "3.2"]


def test_sequences(run, tmp_path):
    train = tmp_path / "train.txt"
    train.write_text("New B-LOC\nYork I-LOC\n\nHello O\nworld O\n\n" * 5)
    assert run("train", "sequence", train, "-o", tmp_path / "m.npz").code == 0
    source = tmp_path / "in.txt"
    source.write_text("New O\nYork O\n\nHello O\n\nbad\n\n")
    options = ("--columns", "form,label", "--format", "columns")
    found = run("label", tmp_path / "m.npz", source, "--engine", "local", "-o", tmp_path / "out", "--threads", 1, *options)
    assert found.code == 0
    assert (tmp_path / "out" / "00000-00000.txt").read_text().startswith("New B-LOC\nYork I-LOC\n\nHello O\n\n")
    assert "line" in (tmp_path / "out" / "00000-00000.errors.jsonl").read_text()


def test_decode_and_verify_as_jobs(run, tmp_path):
    from zerogap.problems.files import problem_to_json
    from zerogap.testing.draws import draw

    seeds = {"tree": 3, "sequence": 5, "joint": 3, "lexical": 3, "agreement": 1, "phrases": 3, "forest": 3}  # with a structure each
    lines = [json.dumps(problem_to_json(draw(kind, seed=seed))) for kind, seed in seeds.items()]
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n")
    for task, source in (("decode", tmp_path / "in.jsonl"), ("verify", tmp_path / "decode" / "00000-00000.jsonl")):
        path = tmp_path / f"{task}.toml"
        path.write_text(f'task = "{task}"\ninput = "{source}"\noutput = "{tmp_path / task}"\nworkers = 1\n')
        assert run("run", path).code == 0
    rows = [json.loads(line) for line in (tmp_path / "verify" / "00000-00000.jsonl").read_text().splitlines()]
    assert [row["status"] for row in rows] == ["optimal"] * len(lines)
    found = run("verify", tmp_path / "decode" / "00000-00000.jsonl")
    assert found.code == 0
    assert f"{len(rows)} solutions hold" in found.output


def test_what_does_not_hold(run, tmp_path):
    from zerogap import dependency
    from zerogap.proof.lines import proof_line

    problem = dependency.Problem([[0, 1, 9], [0, 0, 2], [0, 5, 0]])
    good = proof_line(problem, dependency.decode(problem))
    bad = json.loads(good)
    bad["solution"]["bound"] -= 1.0
    path = tmp_path / "proofs.jsonl"
    path.write_text(good + json.dumps(bad) + "\n" + good)
    assert run("verify", path).code == 1
    found = run("verify", path, "--keep-going")
    assert found.code == 1
    assert "2 solutions hold" in found.output
    assert "1 does not hold" in found.output
    assert run("verify").code == 2
    assert run("verify", "--export", tmp_path / "check.py").code == 0
    alone = subprocess.run([sys.executable, "-I", tmp_path / "check.py", path], capture_output=True, text=True, check=False)
    assert alone.returncode == 1
    assert "2 solutions hold, 2 of them optimal; 1 does not hold" in alone.stdout


def test_mistakes(run, job, tmp_path):
    assert run("parse", "x.txt", "--engine", "local").code == 2
    assert "expected --output" in run("parse", "x.txt", "--engine", "local").errors
    found = run("run", job(task="pars"))
    assert found.code == 1
    assert "expected one of parse, label" in found.errors
    found = run("run", job(parse={"modle": "en"}))
    assert "Did you mean 'model'" in found.errors
    assert run("run", tmp_path / "none.toml").code == 1
