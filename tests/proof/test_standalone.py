"""The verifier in one file: it agrees with `verify` on solutions and on lies, and runs where there is no zerogap."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core import config

from zerogap import dependency
from zerogap.errors import Infeasible, ScoreError
from zerogap.io.problems.files import problem_to_json
from zerogap.io.problems.proofs import proof_line
from zerogap.problems.sequence.regex import compile_regex
from zerogap.proof.files import solution_to_json
from zerogap.proof.standalone import one_file
from zerogap.proof.standalone import program as standalone
from zerogap.proof.standalone.patterns import Pattern
from zerogap.testing.draws import KINDS

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="decodes by every method: minutes without the compiler")


def solved(name, n, seed=5):
    """Problems of a task with their solutions by all methods, as JSON."""
    for i in range(n):
        rng = np.random.default_rng([seed, i])
        try:
            problem = KINDS[name].draw(rng)
        except ScoreError:
            continue
        for method in KINDS[name].methods(problem).values():
            if method.rare:
                continue
            try:
                solution = method.decode(problem)
            except Infeasible:
                continue
            yield json.loads(json.dumps(problem_to_json(problem))), json.loads(json.dumps(solution_to_json(solution)))


@pytest.mark.parametrize("name", ["tree", "sequence", "hypergraph", "joint"])
def test_what_holds_holds(name):
    kinds = set()
    for problem, solution in solved(name, 60):
        standalone.check(problem, solution)
        kinds.add(solution["certificate"]["kind"])
    assert kinds >= {"tree": {"cut-duals", "dynamic-program", "head-prices", "factor-shares"}, "sequence": {"intersection", "agreement"},
                     "hypergraph": {"dynamic-program", "multipliers"}, "joint": {"dynamic-program", "multipliers"}}[name]  # fmt: skip


@pytest.mark.parametrize("name", ["tree", "sequence", "hypergraph", "joint"])
def test_lies_do_not(name):
    unit = 0.0
    for problem, solution in solved(name, 40):
        if solution["status"] != "optimal":
            continue
        unit = max(problem["resolution"], 2.0**-20)
        lies = [{**solution, "bound": solution["bound"] - unit}, {**solution, "score": solution["score"] + unit}]
        lies.append({**solution, "bound": solution["bound"] - unit, "score": solution["score"] - unit})
        if solution["structure"] and name == "tree" and "labels" not in problem:
            lies += [{**solution, "structure": [m + 1 if m == k else h for m, h in enumerate(solution["structure"])]} for k in range(1)]
            lies.append({**solution, "structure": solution["structure"][:-1]})
        for lie in lies:
            with pytest.raises(standalone.Wrong):
                standalone.check(problem, lie)


PATTERNS = st.recursive(
    st.sampled_from(["A", "B-X", "X", "'O'", ".", "[A O]", "[^X]", "()", "[]", '"B-X"']),
    lambda below: st.one_of(
        st.tuples(st.sampled_from(["({})*", "({})+", "({})?", "({}){{2}}", "({}){{1,}}", "({}){{0,2}}", "~({})", "~~({})"]), below).map(
            lambda pair: pair[0].format(pair[1])
        ),
        st.tuples(below, st.sampled_from([" ", " | ", " & "]), below).map(lambda parts: f"({''.join(parts)})"),
    ),
    max_leaves=5,
)


@given(PATTERNS, st.lists(st.integers(0, 3), max_size=5))
def test_patterns_accept_what_the_compiled_ones_accept(pattern, word):
    names = ["A", "B-X", "I-X", "O"]
    known = compile_regex(pattern, names, classes={"X": ["B-X", "I-X"]})
    mine = Pattern(pattern, names, ["A", "X", "X", "O"])
    state = mine.first
    for label in word:
        state = mine.after(state, label)
    assert mine.accepts_empty(state) == known.accepts([names[a] for a in word])


def test_lists_of_the_best_are_not_checked():
    problem = dependency.Problem([[0, 1, 9], [0, 0, 2], [0, 5, 0]])
    line = json.loads(proof_line(problem, dependency.decode(problem, k=2)))
    with pytest.raises(standalone.Unknown, match="list"):
        standalone.check(line["problem"], line["solution"])


def test_it_runs_alone(tmp_path):
    """In a folder of its own, with a Python that has no site packages."""
    script = tmp_path / "check.py"
    script.write_text(one_file(), encoding="utf-8")
    problem = dependency.Problem([[0, 1, 9], [0, 0, 2], [0, 5, 0]])
    line = proof_line(problem, dependency.decode(problem))
    (tmp_path / "proofs.jsonl").write_text(line * 3, encoding="utf-8")

    def run():
        return subprocess.run(
            [sys.executable, "-I", "-S", str(script), "proofs.jsonl"], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    found = run()
    assert (found.returncode, found.stdout) == (0, "3 solutions hold, 3 of them optimal; 0 do not hold; 0 were not checked\n")
    value = json.loads(line)
    value["solution"]["score"] += 1.0
    (tmp_path / "proofs.jsonl").write_text(line + json.dumps(value) + "\n" + "{}\n", encoding="utf-8")
    found = run()
    assert found.returncode == 1
    assert "line 2 does not hold" in found.stdout
    assert "1 solutions hold" in found.stdout
    value["problem"]["kind"] = "phrases"
    (tmp_path / "proofs.jsonl").write_text(json.dumps(value) + "\n", encoding="utf-8")
    found = run()
    assert (found.returncode, "was not checked: problems of the kind phrases" in found.stdout) == (3, True)
