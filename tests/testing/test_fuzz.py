"""Seconds of what runs for hours by hand; and that a planted defect is found, shrunk and saved."""

import json
from dataclasses import replace

import numpy as np
import pytest

from zerogap import sequence
from zerogap.problems.files import problem_from_json
from zerogap.testing import fuzz, fuzz_readers, readers, soak
from zerogap.testing.drawing import Method
from zerogap.testing.draws import KINDS
from zerogap.testing.readers import Reader


@pytest.mark.parametrize("task", sorted(KINDS))
def test_every_task_and_method(task):
    tally = fuzz.fuzz([task], seed=42, problems=40, rare=0.05)
    assert tally.findings == []
    assert sum(tally.problems.values()) > 30
    assert sum(tally.decoded.values()) > 40


def test_a_defect_is_found_and_shrunk(tmp_path, monkeypatch):
    """A decoder whose bound is too low where there are two tokens or more."""

    def broken(problem):
        solution = sequence.decode(problem)
        return replace(solution, bound=solution.bound - 1.0) if problem.n_tokens >= 2 else solution

    kind = replace(KINDS["sequence"], methods=lambda problem: {"broken": Method(broken)})
    monkeypatch.setitem(KINDS, "sequence", kind)
    monkeypatch.setattr(fuzz, "MOST_STEPS", 300)
    tally = fuzz.fuzz(["sequence"], seed=3, problems=6, save=tmp_path)
    assert tally.findings
    assert "the solution says" in tally.findings[0]
    value = json.loads(next(tmp_path.glob("*.json")).read_text())
    problem = problem_from_json(value["problem"])
    assert value["method"] == "broken"
    assert problem.n_tokens == 2  # as few as it takes
    assert np.count_nonzero(problem.emissions) <= 2


def test_the_same_seed_draws_the_same():
    one, other = (fuzz.fuzz(["tree", "forest"], seed=8, problems=10).as_json() for _ in range(2))
    assert {k: v for k, v in one.items() if k != "seconds"} == {k: v for k, v in other.items() if k != "seconds"}


def test_the_commands(tmp_path, capsys):
    assert fuzz.main(["--problems", "8", "--minutes", "1", "--save", str(tmp_path)]) == 0
    assert fuzz_readers.main(["--inputs", "200", "--readers", "conllu;arpa", "--save", str(tmp_path)]) == 0
    assert json.loads((tmp_path / "counts.jsonl").read_text())["problems"] > 0
    assert json.loads((tmp_path / "reader_counts.jsonl").read_text())["inputs"] == 200
    with pytest.raises(SystemExit):
        fuzz.main(["--tasks", "trees"])
    assert "expected some of tree, hypergraph" in capsys.readouterr().err


def test_every_reader():
    """A thousand mutations of every file format."""
    known = readers.readers()
    for name, reader in known.items():
        assert any(fuzz_readers.outcome(reader, seed) is None for seed in reader.seeds), name
    tally = fuzz_readers.run(list(known), seed=9, inputs=1000 * len(known) // 20 * 2)
    assert tally.findings == {}


def test_a_reader_that_fails_is_caught(monkeypatch, tmp_path):
    def read(data):
        if b"x" in data:
            raise KeyError("x")

    monkeypatch.setattr(fuzz_readers, "readers", lambda: {"broken": Reader(read, (b"some text",), (b"x",))})
    tally = fuzz_readers.run(["broken"], inputs=500, save=tmp_path)
    assert [key[:2] for key in tally.findings] == [("broken", "KeyError")]
    assert next(tmp_path.glob("broken-*.bin")).read_bytes() == b"x"


def test_soaking():
    memory, tally = soak.soak(0.0, problems=16)
    assert len(memory) == soak.WARM_UP + 1
    assert not soak.has_grown(memory)
    assert not tally.findings
    assert soak.has_grown([100.0, 100.0, 100.0, 121.0])
