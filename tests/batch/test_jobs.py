"""Jobs from beginning to end: what is written, what is recorded, and what a job survives."""

import gzip
import json
import multiprocessing
import os
import random
import resource
import signal
import time
from dataclasses import replace

import pytest

from tests.batch.conftest import contents
from zerogap.batch import scheduler
from zerogap.batch.job import Job, job_from, load_job
from zerogap.batch.running import run
from zerogap.errors import FormatError, InputError, UnknownMethod


def expected(lines, first=1):
    return "".join(f"{i} {line.upper()}\n" for i, line in enumerate(lines, start=first)).encode()


def in_another_process(job, prepare=lambda: None):
    def work():
        prepare()
        os.setpgrp()
        try:
            run(job)
        except BaseException:
            os._exit(1)
        os._exit(0)

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    return process


def test_shards_in_order(echo, tmp_path):
    lines = [f"word{i}" for i in range(95)]
    summary = run(echo(lines, [], ["x"]))
    assert (summary.records, summary.failures, summary.shards, summary.failed) == (96, 0, 11, ())
    found = contents(tmp_path / "out")
    assert list(found) == [*(f"00000-{k:05d}.txt" for k in range(10)), "00002-00000.txt", "manifest.jsonl"]
    assert b"".join(content for name, content in found.items() if name.startswith("00000")) == expected(lines)
    rows = [json.loads(line) for line in found["manifest.jsonl"].splitlines()]
    assert rows[0]["task"] == "echo"
    assert rows[1]["records"] == 10
    assert rows[11] == {"input": 0, "shards": 10, "failed": None}
    again = run(echo(lines, [], ["x"]))
    assert (again.records, again.answered) == (96, 0)
    assert contents(tmp_path / "out") == found


def test_what_goes_wrong_is_recorded(echo, tmp_path, monkeypatch):
    monkeypatch.setattr(scheduler, "GRACE", 0.3)
    lines = ["a", "raise", "b", "die", "gap", "prove", "sleep", "hang", "c"]
    summary = run(echo(lines, limit=0.3))
    assert (summary.records, summary.failures, summary.gaps) == (9, 4, 1)
    out = tmp_path / "out"
    assert (out / "00000-00000.txt").read_text().split() == ["1", "A", "3", "B", "5", "GAP", "6", "PROVE", "9", "C"]
    assert (out / "00000-00000.proofs.jsonl").read_text() == "proof of prove\n"
    errors = [json.loads(line) for line in (out / "00000-00000.errors.jsonl").read_text().splitlines()]
    assert [(row["error"], row["line"]) for row in errors] == [("KeyError", 2), ("WorkerLost", 1), ("TooSlow", 7), ("WorkerLost", 1)]
    assert "entry 4 from here" in errors[1]["message"]
    assert errors[2]["message"] == "took longer than its limit of 0.3 seconds."


def test_bytes_do_not_depend_on_workers(echo, tmp_path):
    lines = [random.Random(i).choice(["a", "raise", "gap", "prove"]) for i in range(200)]
    found = []
    for workers in (1, 3):
        job = replace(echo(lines, workers=workers, shard_size=7), output=str(tmp_path / f"out{workers}"))
        run(job)
        found.append(contents(tmp_path / f"out{workers}"))
    assert found[0] == found[1]


def test_a_killed_job_goes_on(echo, tmp_path):
    lines = [random.Random(i).choice(["a", "raise", "b"]) for i in range(400)]
    undisturbed = replace(echo(lines), output=str(tmp_path / "undisturbed"))
    run(undisturbed)
    job, rng, kills = echo(lines, options={"seconds": 0.001}), random.Random(1), 0
    manifest = tmp_path / "out" / "manifest.jsonl"

    def done():
        return manifest.read_bytes().count(b"\n") if manifest.exists() else 0

    while True:
        process, wanted = in_another_process(job), done() + rng.randint(1, 6)
        while process.exitcode is None and done() < wanted:
            time.sleep(rng.uniform(0.0, 0.02))
        if process.exitcode is not None:
            break
        kills += 1
        os.kill(process.pid, signal.SIGKILL)
        process.join()
    assert process.exitcode == 0
    assert kills >= 3
    ours, theirs = contents(tmp_path / "out"), contents(tmp_path / "undisturbed")
    description = json.loads(ours["manifest.jsonl"].splitlines()[0])
    assert description["options"] == {"seconds": 0.001}
    ours["manifest.jsonl"], theirs["manifest.jsonl"] = (both["manifest.jsonl"].split(b"\n", 1)[1] for both in (ours, theirs))
    assert {name: content for name, content in ours.items() if not name.endswith(".part")} == theirs
    assert not list((tmp_path / "out").glob(".*.part"))


def test_workers_end_with_a_killed_job(echo):
    process = in_another_process(echo(["a"] * 1000, options={"seconds": 0.02}))
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    for _ in range(100):
        try:
            os.killpg(process.pid, 0)  # somebody of its group is there
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("a worker outlives its job")


def test_a_line_that_was_cut_off(echo, tmp_path):
    lines = ["a"] * 30
    run(echo(lines))
    found = contents(tmp_path / "out")
    manifest = tmp_path / "out" / "manifest.jsonl"
    kept = found["manifest.jsonl"].splitlines(keepends=True)
    manifest.write_bytes(b"".join(kept[:2]) + kept[2][:20])
    (tmp_path / "out" / "00000-00001.txt").write_text("half")
    run(echo(lines))
    assert contents(tmp_path / "out") == found


def test_a_full_disk(echo, tmp_path):
    """No file can grow beyond a few bytes: the job stops and leaves nothing half written, then goes on where there is room."""
    lines = ["a"] * 30 + ["long" * 100] * 10 + ["b"] * 10
    job = echo(lines)
    process = in_another_process(job, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)))
    process.join()
    assert process.exitcode == 1
    assert (tmp_path / "out" / "00000-00002.txt").exists()
    assert not (tmp_path / "out" / "00000-00003.txt").exists()
    summary = run(job)
    assert (summary.records, summary.answered) == (50, 20)
    assert b"".join(content for name, content in contents(tmp_path / "out").items() if name.startswith("0")) == expected(lines)


def test_inputs_that_end_early(tmp_path):
    content = gzip.compress("".join(f"{i}\n" for i in range(3000)).encode())
    (tmp_path / "0.txt.gz").write_bytes(content[: len(content) // 2])
    (tmp_path / "1.txt.gz").write_bytes(gzip.compress(b"x\n"))
    (tmp_path / "2.txt.gz").write_bytes(b"this is not gzip")
    job = Job("echo", (str(tmp_path / "*.gz"),), str(tmp_path / "out"), {}, input_format="lines", workers=1)
    summary = run(job)
    assert [path[-8:] for path, _ in summary.failed] == ["0.txt.gz", "2.txt.gz"]
    assert "cannot be read further" in summary.failed[0][1]
    assert 1000 < summary.records < 3000
    assert (tmp_path / "out" / "00001-00000.txt").read_text() == "1 X\n"


def test_lines_that_are_not_utf8(echo, tmp_path):
    job = echo(["a", "b"])
    (tmp_path / "0.txt").write_bytes(b"a\n\xff\nb\n")
    assert run(job).failures == 1
    assert (tmp_path / "out" / "00000-00000.txt").read_text() == "1 A\n3 B\n"
    assert "0xff" in (tmp_path / "out" / "00000-00000.errors.jsonl").read_text()


def test_another_job_in_the_same_folder(echo):
    run(echo(["a"] * 20))
    with pytest.raises(InputError, match="another shard_size"):
        run(echo(["a"] * 20, shard_size=7))
    with pytest.raises(InputError, match="another inputs"):
        run(echo(["a"] * 21))


def test_a_job_that_runs_already(echo):
    job = echo(["a"] * 200, options={"seconds": 0.02})
    process = in_another_process(job)
    time.sleep(0.3)
    with pytest.raises(InputError, match="runs already"):
        run(job)
    os.kill(process.pid, signal.SIGKILL)
    process.join()


def test_parts_of_a_job(echo, tmp_path):
    files = [[f"x{i}"] for i in range(5)]
    whole = replace(echo(*files), output=str(tmp_path / "whole"))
    run(whole)
    for k in (1, 2):
        run(replace(echo(*files), output=str(tmp_path / "parts" / str(k)), part=(k, 2)))
    parts = {**contents(tmp_path / "parts" / "1"), **contents(tmp_path / "parts" / "2")}
    assert {k: v for k, v in parts.items() if k != "manifest.jsonl"} == {
        k: v for k, v in contents(tmp_path / "whole").items() if k != "manifest.jsonl"
    }


def test_packed_output(echo, tmp_path):
    run(echo(["a", "b"], compress=True))
    assert gzip.decompress((tmp_path / "out" / "00000-00000.txt.gz").read_bytes()) == b"1 A\n2 B\n"


def test_parquet_in(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [{"text": f"x{i}", "n": i} for i in range(50)]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "rows.parquet")
    run(Job("echo", (str(tmp_path / "rows.parquet"),), str(tmp_path / "out"), {}, shard_size=20, workers=1))
    assert (tmp_path / "out" / "00000-00002.txt").read_text().splitlines()[0] == '41 {"TEXT": "X40", "N": 40}'
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no")
    assert run(Job("echo", (str(tmp_path / "bad.parquet"),), str(tmp_path / "bad"), {}, workers=1)).failed


def test_urls(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe_file("/in/a.txt", b"".join(b"w%d\n" % i for i in range(25)))
    job = Job("echo", ("memory://in/*.txt",), "memory://result", {}, input_format="lines", shard_size=10, workers=1)
    assert run(job).shards == 3
    assert memory.cat_file("/result/00000-00002.txt").startswith(b"21 W20\n")
    assert run(job).answered == 0


def test_translation(tmp_path):
    from zerogap.testing import reader_seeds

    (tmp_path / "lm.arpa").write_bytes(reader_seeds.ARPA[0])
    (tmp_path / "table").write_bytes(reader_seeds.TABLES[0])
    (tmp_path / "weights").write_bytes(reader_seeds.WEIGHTS[1])
    (tmp_path / "in.txt").write_text("das haus\n\ndas\n")
    options = {"language_model": str(tmp_path / "lm.arpa"), "weights": str(tmp_path / "weights"), "phrase_table": str(tmp_path / "table")}
    summary = run(Job("translate", (str(tmp_path / "in.txt"),), str(tmp_path / "out"), {**options, "certificates": True}, workers=1))
    assert (summary.records, summary.failures) == (2, 0)
    rows = [json.loads(line) for line in (tmp_path / "out" / "00000-00000.jsonl").read_text().splitlines()]
    assert [(row["line"], row["translation"], row["status"]) for row in rows] == [(1, "the house", "optimal"), (3, "the", "optimal")]
    with pytest.raises(InputError, match="expected one of them"):
        run(Job("translate", (str(tmp_path / "in.txt"),), "x", {**options, "grammar": "g"}))


@pytest.mark.slow
def test_ray_writes_the_same_bytes(tmp_path):
    pytest.importorskip("ray")
    from zerogap.problems.files import problem_to_json
    from zerogap.testing.draws import draw

    (tmp_path / "a.jsonl").write_text("".join(json.dumps(problem_to_json(draw("tree", seed=i))) + "\n" for i in range(60)))
    found = []
    for engine in ("local", "ray"):
        run(Job("decode", (str(tmp_path / "a.jsonl"),), str(tmp_path / engine), {}, engine=engine, workers=2, shard_size=25))
        found.append(contents(tmp_path / engine))
    assert found[0] == found[1]


def test_job_files(tmp_path):
    path = tmp_path / "job.toml"
    path.write_text('task = "decode"\ninput = "a.jsonl"\noutput = "out"\nlimit = 0\n[decode]\nmethod = "auto"\n')
    job = load_job(path, workers=3, engine=None)
    assert (job.task, job.input, job.limit, job.workers, job.options) == ("decode", ("a.jsonl",), None, 3, {"method": "auto"})
    good = {"task": "decode", "input": ["a"], "output": "b"}
    assert job_from({**good, "part": "2/3"}, "job").part == (2, 3)
    for changes, error, message in (
        ({"task": "dekode"}, FormatError, "task is 'dekode': expected one of parse, label"),
        ({"inputs": "a"}, UnknownMethod, "Did you mean 'input'"),
        ({"input": 3}, FormatError, "input is 3"),
        ({"shard_size": 0}, FormatError, "shard_size is 0"),
        ({"limit": "long"}, FormatError, "limit is 'long'"),
        ({"engine": "rai"}, UnknownMethod, "Did you mean 'ray'"),
        ({"part": "3/2"}, FormatError, "part is 3/2"),
        ({"decode": 3}, FormatError, r"\[decode\] as a table"),
    ):
        with pytest.raises(error, match=message):
            job_from(good | changes, "job")
    with pytest.raises(FormatError, match="has no 'output'"):
        job_from({"task": "decode", "input": "a"}, "job")
    with pytest.raises(FormatError, match="not TOML"):
        load_job(written(tmp_path, "task ="))
    with pytest.raises(UnknownMethod, match="option of task 'decode' 'metod'"):
        run(Job("decode", ("a.jsonl",), "out", {"metod": "auto"}))
    with pytest.raises(FormatError, match="no such file"):
        run(Job("decode", (str(tmp_path / "no.jsonl"),), "out", {}))
    with pytest.raises(InputError, match="names no file"):
        run(Job("decode", (str(tmp_path / "*.nothing"),), "out", {}))
    (tmp_path / "a.conllu").write_text("")
    with pytest.raises(InputError, match="task 'decode' reads jsonl"):
        run(Job("decode", (str(tmp_path / "a.conllu"),), "out", {}))


def written(tmp_path, text):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    return path
