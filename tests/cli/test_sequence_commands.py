"""Train, label, evaluate: as a person runs them, on the examples that come with the library."""

import gzip
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import zerogap
from zerogap.cli.main import main
from zerogap.io.rules.files import load_constraints
from zerogap.problems.files import problem_from_json
from zerogap.proof.files import solution_from_json
from zerogap.sequence.model import SequenceModel

ROOT = Path(__file__).parents[2]
TRAIN, TEST = ROOT / "examples" / "references-train.jsonl", ROOT / "examples" / "references-test.jsonl"
RULES, NAMES = ROOT / "examples" / "references.yaml", ROOT / "examples" / "names.txt"


class Done:
    def __init__(self, code, output, errors):
        self.code, self.output, self.errors = code, output, errors


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs the command in this process: (exit code, standard output, standard error)."""

    def call(*arguments, stdin=""):
        monkeypatch.setattr(sys, "argv", ["zerogap", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        code = 0
        try:
            main()
        except SystemExit as left:
            code = left.code or 0
        output, errors = capsys.readouterr()
        assert "Traceback" not in errors
        return Done(code, output, errors)

    return call


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A model of references with constraints, and one of names."""
    folder = tmp_path_factory.mktemp("models")
    for source, name, extra in ((TRAIN, "cite.npz", ["--constraints", str(RULES)]), (NAMES, "names.npz", [])):
        command = [sys.executable, "-m", "zerogap.cli.main", "train", "sequence", str(source), "-o", str(folder / name), *extra]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout == ""
        assert re.search(r"\.npz: \d labels, [\d,]+ weights, from \d+ sequences of \d+ tokens", done.stderr)
    return folder


def test_help_teaches_and_loads_nothing_heavy(run):
    shown = run("--help").output
    assert [shown.index(f" {word} ") for word in ("decode", "verify", "train", "label", "evaluate", "constraints", "doctor")] == sorted(
        shown.index(f" {word} ") for word in ("decode", "verify", "train", "label", "evaluate", "constraints", "doctor")
    )
    for command in (["train", "sequence"], ["label"], ["evaluate", "sequence"]):
        assert "zerogap " + " ".join(command) in run(*command, "--help").output
    heavy = ("numpy", "numba", "yaml", "zerogap.sequence", "zerogap.io", "zerogap.oracles")
    code = f"import sys, zerogap.cli.main; print([m for m in sys.modules if m.startswith({heavy!r})])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    assert run("train").code == 2
    assert run("train", "sequence", TRAIN).code == 2  # no output


def test_label_then_evaluate(run, models, tmp_path):
    done = run("label", models / "cite.npz", TEST, "-o", tmp_path / "out.jsonl", "--certificates", tmp_path / "proofs.jsonl")
    assert (done.code, done.output) == (0, "")
    assert "20 sequences: all proven optimal" in done.errors
    for given, found in zip(TEST.read_text().splitlines(), (tmp_path / "out.jsonl").read_text().splitlines(), strict=True):
        assert {**json.loads(found), "labels": None} == {**json.loads(given), "labels": None}
    compared = run("evaluate", "sequence", TEST, tmp_path / "out.jsonl")
    assert re.match(r"processed 334 tokens with 107 phrases; found: \d+ phrases; correct: \d+\.\naccuracy: ", compared.output)
    direct = run("evaluate", "sequence", TEST, "--model", models / "cite.npz")
    assert direct.output == compared.output
    assert run("evaluate", "sequence", TEST, "--model", models / "cite.npz", "--no-constraints").code == 0


def test_certificates_can_be_checked(run, models, tmp_path):
    run("label", models / "cite.npz", TEST, "-o", tmp_path / "out.jsonl", "--certificates", tmp_path / "proofs.jsonl")
    lines = (tmp_path / "proofs.jsonl").read_text().splitlines()
    assert len(lines) == 20
    for number, (line, labelled) in enumerate(zip(lines, (tmp_path / "out.jsonl").read_text().splitlines(), strict=True), start=1):
        proof = json.loads(line)
        solution = solution_from_json(proof["solution"])
        assert proof["line"] == number
        assert list(solution.structure) == json.loads(labelled)["labels"]
        zerogap.verify(problem_from_json(proof["problem"]), solution)


def test_columns_through_a_pipe(run, models):
    text = NAMES.read_text()
    assert run("label", models / "names.npz", "-", stdin=text).output == text
    bare = re.sub(r" \S+$", "", text, flags=re.M)
    done = run("label", models / "names.npz", "-", stdin=bare)
    assert done.output == text
    assert "2 sequences: all proven optimal" in done.errors
    kept = run("label", models / "names.npz", NAMES, "--keep-labels").output
    assert kept == re.sub(r" (\S+)$", r" \1 \1", text, flags=re.M)
    assert run("label", models / "names.npz", "-", stdin="").output == ""
    one = run("label", models / "names.npz", "-", "--columns", "_,form,pos", stdin="1 Port N\r\n2 Almeida N\r\n")
    assert one.output == "1 Port N B-LOC\r\n2 Almeida N I-LOC\r\n"
    lacking = run("label", models / "names.npz", "-", "--columns", "form", stdin="Port\n")
    assert lacking.code == 1
    assert "'pos'" in lacking.errors


def test_packed_files_and_the_file_itself(run, models, tmp_path):
    shutil.copy(NAMES, tmp_path / "names.txt")
    for _ in range(2):  # no surprises on a second run
        assert run("label", models / "names.npz", tmp_path / "names.txt", "-o", tmp_path / "names.txt").code == 0
        assert (tmp_path / "names.txt").read_text() == NAMES.read_text()
    assert run("label", models / "names.npz", tmp_path / "names.txt", "-o", tmp_path / "out.gz").code == 0
    first = (tmp_path / "out.gz").read_bytes()
    assert gzip.decompress(first).decode() == NAMES.read_text()
    run("label", models / "names.npz", tmp_path / "names.txt", "-o", tmp_path / "out.gz")
    assert (tmp_path / "out.gz").read_bytes() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["names.txt", "out.gz"]


IMPOSSIBLE = "constraints:\n  - disallow: title\n  - at_least_one: title\n    name: has a title\n"


def test_infeasible_sequences(run, models, tmp_path):
    (tmp_path / "rules.yaml").write_text(IMPOSSIBLE)
    arguments = ("label", models / "cite.npz", TEST, "--constraints", tmp_path / "rules.yaml", "-o", tmp_path / "out.jsonl")
    (tmp_path / "out.jsonl").write_text("what was there before")
    stopped = run(*arguments)
    assert stopped.code == 1
    assert f"{TEST}, line 1: no labelling keeps these constraints together: disallow(title), has a title." in stopped.errors
    assert (tmp_path / "out.jsonl").read_text() == "what was there before"
    skipped = run(*arguments, "--on-infeasible", "skip")
    assert skipped.code == 0
    assert (tmp_path / "out.jsonl").read_text() == ""
    assert "20 sequences: 0 proven optimal, 20 infeasible" in skipped.errors
    assert "... and 10 more" in skipped.errors
    assert run(*arguments, "--on-infeasible", "unconstrained").code == 0
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 20
    assert run(*arguments, "--on-infeasible", "ignore").code == 2
    assert "Known: stop, skip, unconstrained" in run(*arguments, "--on-infeasible", "ignore").errors
    assert run(*arguments, "--no-constraints").code == 2


def test_constraints_of_one_sequence(run, models):
    line = json.loads(TEST.read_text().splitlines()[0])
    text = json.dumps({**line, "constraints": [{"at": {"position": 0, "label": "title"}}, {"at": {"position": 1, "label": "author"}}]})
    done = run("label", models / "cite.npz", "-", stdin=text)
    assert done.code == 1
    assert "standard input, line 1: no labelling" in done.errors
    assert "authors come first" in done.errors
    assert run("label", models / "cite.npz", "-", "--no-constraints", stdin=text).code == 0
    forced = json.dumps({**line, "constraints": [{"at": {"position": 0, "label": "title"}}]})
    assert json.loads(run("label", models / "cite.npz", "-", stdin=forced).output)["labels"][0] == "title"
    beyond = json.dumps({**line, "constraints": [{"at": {"position": 99, "label": "title"}}]})
    assert "standard input, line 1: at speaks of position 99" in run("label", models / "cite.npz", "-", stdin=beyond).errors


def test_a_gap_left_open_is_exit_code_3(run, models, monkeypatch):
    real = zerogap.sequence.decode

    def hasty(problem, **options):
        solution = real(problem, **options)
        return (
            replace(solution, structure=None, score=-float("inf"))
            if "title" not in solution.structure[:-1]
            else replace(solution, bound=solution.bound + 1)
        )

    monkeypatch.setattr("zerogap.cli.label.sequences.decode", hasty)
    done = run("label", models / "cite.npz", TEST)
    assert done.code == 3
    assert "line 1: a gap of 1 is left open" in done.errors
    assert "20 sequences: 0 proven optimal, 20 with a gap left open" in done.errors
    assert len(done.output.splitlines()) == 20
    nothing = run("label", models / "names.npz", NAMES)
    assert (nothing.code, nothing.output) == (3, "")
    assert "no labels that keep the constraints were found in time. Left out." in nothing.errors


def test_penalties_can_be_looked_at_and_edited(run, models, tmp_path):
    shown = run("constraints", models / "cite.npz").output
    (tmp_path / "rules.yaml").write_text(shown)
    assert load_constraints(tmp_path / "rules.yaml") == SequenceModel.load(models / "cite.npz").constraints
    assert "name: authors come first" in shown
    assert "penalty: 2.0" not in shown  # it was learned
    run("constraints", models / "cite.npz", "-o", tmp_path / "rules.toml")
    assert load_constraints(tmp_path / "rules.toml") == load_constraints(tmp_path / "rules.yaml")
    assert run("label", models / "cite.npz", TEST, "--constraints", tmp_path / "rules.toml").code == 0
    assert run("constraints", models / "names.npz").output == "constraints: []\n"


def test_training_options(run, tmp_path):
    (tmp_path / "templates.txt").write_text("# two\nform[0]\n\npos[-1]+pos[0]  # neighbours\n")
    arguments = ("train", "sequence", NAMES, "-o", tmp_path / "m.npz", "--templates", tmp_path / "templates.txt")
    done = run(*arguments, "--epochs", 3, "--algorithm", "perceptron", "--seed", 1, "--development", NAMES)
    assert done.code == 0, done.errors
    assert "processed 14 tokens with 5 phrases" in done.errors
    assert SequenceModel.load(tmp_path / "m.npz").templates == ("form[0]", "pos[-1]+pos[0]")
    assert run(*arguments, "--columns", "form,tag,label").code == 1
    assert "column 'pos' is not known" in run(*arguments, "--columns", "form,tag,label").errors
    assert "Known: crf, crf-sgd, perceptron" in run(*arguments, "--algorithm", "svm").errors
    (tmp_path / "rules.yaml").write_text("constraints:\n - disallow: PER\n - no_duplicate: LOC\n   penalty: 3\n")
    soft = run(*arguments, "--constraints", tmp_path / "rules.yaml", "--keep-penalties")
    assert "rules.yaml: disallow(PER) is broken by 1 of 2 examples; a penalty would make it soft." in soft.errors
    assert SequenceModel.load(tmp_path / "m.npz").constraints[1].penalty == 3.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "sequence", "none.txt", "-o", "m.npz"], "none.txt cannot be read: No such file"),
        (["train", "sequence", "names.txt", "-o", "none/m.npz"], "none/m.npz cannot be written: none is not a folder"),
        (["train", "sequence", "names.txt", "-o", "."], "cannot be written: it is a folder"),
        (["train", "sequence", "empty.txt", "-o", "m.npz"], "empty.txt holds no sequences"),
        (["train", "sequence", "bare.txt", "-o", "m.npz"], "bare.txt, line 1: there are no labels"),
        (["train", "sequence", "names.txt", "-o", "m.npz", "--columns", "form,label"], "names.txt, line 1: 3 columns"),
        (["train", "sequence", "names.txt", "-o", "m.npz", "--constraints", "typo.yaml"], "typo.yaml, line 2: 'PRE' is neither"),
        (["train", "sequence", "names.txt", "-o", "m.npz", "--templates", "empty.txt"], "empty.txt holds no templates"),
        (["train", "sequence", "names.txt", "-o", "m.npz", "--templates", "odd.txt"], "odd.txt, line 2: "),
        (["train", "sequence", "names.txt", "-o", "m.npz", "--scheme", "IOB"], "scheme is 'IOB'"),
        (["label", "none.npz", "names.txt"], "none.npz cannot be read"),
        (["label", "names.txt", "names.txt"], "names.txt is not a model file"),
        (["label", "MODEL", "none.txt"], "none.txt cannot be read"),
        (["label", "MODEL", "names.txt", "--constraints", "typo.yaml"], "typo.yaml, line 2: 'PRE' is neither"),
        (["label", "MODEL", "none.txt", "--method", "beam"], "method 'beam' is not known"),
        (["label", "MODEL", "names.txt", "--format", "csv"], "Known: auto, columns, jsonl"),
        (["label", "MODEL", "names.txt", "-o", "none/out.txt"], "none/out.txt cannot be written: No such file"),
        (["label", "MODEL", "names.txt", "-o", "."], "cannot be written: it is a folder"),
        (["evaluate", "sequence", "names.txt", "bare.txt"], "names.txt, line 1, and bare.txt, line 1: 8 and 1 tokens"),
        (["evaluate", "sequence", "bare.txt", "bare.txt"], "bare.txt, line 1: there are no labels to compare with"),
        (["evaluate", "sequence", "names.txt", "other.txt"], "the tokens 'Kolb' and 'Kalb' differ"),
        (["evaluate", "sequence", "names.txt", "half.txt"], "names.txt has 2 sequences, half.txt has 1"),
        (["constraints", "MODEL", "-o", "rules.json"], "does not end in .yaml"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_message(run, models, tmp_path, monkeypatch, arguments, message):
    text = NAMES.read_text()
    for name, content in (
        ("names.txt", text), ("empty.txt", "\n"), ("bare.txt", "a\n"), ("other.txt", text.replace("Kolb", "Kalb")),
        ("odd.txt", "bias\nform[\n"), ("half.txt", text.split("\n\n")[0] + "\n"), ("typo.yaml", "constraints:\n - disallow: PRE\n"),
    ):  # fmt: skip
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    done = run(*[models / "names.npz" if argument == "MODEL" else argument for argument in arguments])
    assert done.code == (2 if "UnknownMethod" in done.errors else 1)
    assert message in done.errors
    assert done.output == ""
    assert not (tmp_path / "m.npz").exists()


def test_wrong_usage_is_exit_code_2(run, models):
    assert run("evaluate", "sequence", NAMES).code == 2
    assert run("evaluate", "sequence", NAMES, NAMES, "--model", models / "names.npz").code == 2
    assert run("evaluate", "sequence", NAMES, NAMES, "--no-constraints").code == 2
    assert run("label", models / "names.npz", NAMES, "--threads", "0").code == 2


def test_batches_keep_the_order(run, models, monkeypatch):
    monkeypatch.setattr("zerogap.relax.parallel.CHUNK", 3)
    batches = run("label", models / "cite.npz", TEST, "--threads", 2).output
    assert [json.loads(line)["id"] for line in batches.splitlines()] == list(range(40, 60))


def test_the_commands_of_the_documentation(run, tmp_path, monkeypatch):
    """Every ```sh block of docs/sequences.md, in order, in one folder that has the examples in it."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "sequences.md").read_text(), flags=re.S)
    commands = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    assert len(commands) >= 4
    for command in commands:
        words = shlex.split(command)
        assert words[0] == "zerogap"
        assert run(*words[1:]).code == 0, command


def test_certificates_of_a_whole_file_are_checked_line_by_line(run, models, tmp_path):
    proofs = tmp_path / "proofs.jsonl"
    assert run("label", models / "cite.npz", TEST, "-o", tmp_path / "out.jsonl", "--certificates", proofs).code == 0
    done = run("verify", proofs)
    assert "solutions hold" in done.output
    lines = proofs.read_text().splitlines()
    value = json.loads(lines[-1])
    value["solution"]["bound"] -= 1.0
    proofs.write_text("\n".join([*lines[:-1], json.dumps(value)]))
    refused = run("verify", proofs)
    assert refused.code == 1
    assert f"line {len(lines)}" in refused.errors
