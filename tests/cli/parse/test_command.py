"""`zerogap parse` as a person runs it."""

import gzip
import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import zerogap
from zerogap.cli.parse import dependency as parse_module
from zerogap.cli.parse.dependency import is_a_text
from zerogap.io.formats.conllu import read_conllu
from zerogap.pipeline import Pipeline
from zerogap.problems.files import problem_from_json
from zerogap.proof.files import solution_from_json

TEXT = "The old baker sings. Tom didn't wait!"


def test_a_text_on_the_command_line(run, toy):
    done = run("parse", TEXT, "--model", toy)
    assert done.code == 0
    assert "2 sentences, 10 words: all proven optimal" in done.errors
    assert done.output == zerogap.load(toy)(TEXT).to_conllu()
    assert done.output.count("# zerogap_status = optimal\n# zerogap_gap = 0\n") == 2
    assert "6-7" not in done.output
    assert "2-3\tdidn't" in done.output
    assert run("parse", "", "--model", toy).output == run("parse", " ", "--model", toy).output == ""


def test_the_bundled_model_has_no_exact_cascade(run):
    """One line says so, and how to train a model that has one."""
    done = run("parse", TEXT, "--method", "exact-cascade")
    assert (done.code, done.errors.count("\n")) == (1, 1)
    assert "the bundled model en is not" in done.errors
    assert "zerogap train dependency train.conllu --dev dev.conllu -o sure.npz --penalties" in done.errors


def test_formats(run, toy):
    values = [json.loads(line) for line in run("parse", TEXT, "--model", toy, "--format", "json").output.splitlines()]
    assert [value["text"] for value in values] == ["The old baker sings.", "Tom didn't wait!"]
    assert {value["status"] for value in values} == {"optimal"}
    drawn = run("parse", TEXT, "--model", toy, "--format", "tree").output
    assert drawn == zerogap.load(toy)(TEXT).draw() + "\n"
    assert "\x1b" not in drawn
    wrong = run("parse", TEXT, "--model", toy, "--format", "xml")
    assert wrong.code == 2
    assert "Known: conllu, json, tree" in wrong.errors


@pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")
def test_a_text_on_a_terminal_is_drawn(toy):
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "zerogap.cli.main", "parse", "The old baker sings.", "--model", str(toy)]
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | {"TERM": "xterm"}
    subprocess.run(command, stdout=follower, stderr=subprocess.PIPE, check=True, env=environment)
    os.close(follower)
    shown = os.read(leader, 10_000).decode()
    os.close(leader)
    assert re.sub(r"\x1b\[\d*m", "", shown).replace("\r", "").splitlines()[0].startswith("    ╭─ 1 The ")
    assert "\x1b[" in shown


def test_files_in_files_out(run, toy, trees, tmp_path):
    gold = trees[1].read_text()
    done = run("parse", trees[1], "--model", toy, "-o", tmp_path / "out.conllu")
    assert (done.code, done.output) == (0, "")
    assert "12 sentences, 82 words: all proven optimal" in done.errors
    written = (tmp_path / "out.conllu").read_text()
    bare = re.sub(r"# zerogap_.*\n", "", written)
    assert [row.split("\t")[:6] for row in bare.splitlines()] == [row.split("\t")[:6] for row in gold.splitlines()]
    assert written.count("# zerogap_gap = 0\n") == 12
    # packed, through a pipe, onto itself, twice
    (tmp_path / "in.conllu.gz").write_bytes(gzip.compress(gold.encode()))
    assert run("parse", tmp_path / "in.conllu.gz", "--model", toy).output == written
    assert run("parse", "-", "--model", toy, stdin=gold).output == written
    shutil.copy(trees[1], tmp_path / "same.conllu")
    for _ in range(2):
        assert run("parse", tmp_path / "same.conllu", "--model", toy, "-o", tmp_path / "same.conllu").code == 0
        assert (tmp_path / "same.conllu").read_text() == written
    # trees that are there are not looked at
    headless = re.sub(r"\t\d+\t[a-z:]+\t_\t", "\t_\t_\t_\t", gold)
    assert run("parse", "-", "--model", toy, stdin=headless).output == written


def test_text_files(run, toy, tmp_path):
    (tmp_path / "a.txt").write_text("The baker\nsings. Tom waits.\n\nClara laughed")
    done = run("parse", tmp_path / "a.txt", "--model", toy)
    assert re.findall("# text = (.*)", done.output) == ["The baker sings.", "Tom waits.", "Clara laughed"]
    by_line = run("parse", tmp_path / "a.txt", "--model", toy, "--lines")
    assert re.findall("# text = (.*)", by_line.output) == ["The baker", "sings.", "Tom waits.", "Clara laughed"]
    piped = run("parse", "-", "--model", toy, stdin=(tmp_path / "a.txt").read_text())
    assert piped.output == done.output
    starts = [
        json.loads(line)["words"][0]["start"]
        for line in run("parse", tmp_path / "a.txt", "--model", toy, "--format", "json").output.splitlines()
    ]
    assert starts == [0, 17, 29]


@pytest.mark.parametrize("name", ["empty.conllu", "empty.txt", "blank.conllu", "-"])
def test_nothing_in_nothing_out(run, toy, tmp_path, name):
    if name != "-":
        (tmp_path / name).write_text("" if "empty" in name else "\n\n")
    done = run("parse", name if name == "-" else tmp_path / name, "--model", toy)
    assert (done.code, done.output) == (0, "")
    assert "nothing to parse" in done.errors


def test_threads_and_batches_change_nothing(run, toy, trees, tmp_path):
    (tmp_path / "many.conllu").write_text(trees[0].read_text() * 3)
    outputs = [run("parse", tmp_path / "many.conllu", "--model", toy, "--threads", threads).output for threads in (1, 2, 3)]
    assert outputs[0] == outputs[1] == outputs[2]
    assert run("parse", tmp_path / "many.conllu", "--model", toy, "--threads", 0).code == 2
    # also up to where something is wrong
    (tmp_path / "many.conllu").write_text(trees[0].read_text() + "1\tx\n")
    broken = [run("parse", tmp_path / "many.conllu", "--model", toy, "--threads", threads) for threads in (1, 2)]
    assert broken[0].output == broken[1].output
    assert len(re.findall("zerogap_gap", broken[0].output)) == 60
    assert "many.conllu, line 600: 2 columns ('1 x'): expected 10." in broken[0].errors
    assert broken[0].code == 1


def test_certificates_are_checked(run, toy, trees, tmp_path):
    proofs = tmp_path / "proofs.jsonl"
    done = run("parse", trees[1], "--model", toy, "-o", tmp_path / "out.conllu", "--certificates", proofs)
    assert done.code == 0
    records = list(read_conllu(tmp_path / "out.conllu"))
    lines = proofs.read_text().splitlines()
    for record, line in zip(records, lines, strict=True):
        value = json.loads(line)
        solution = solution_from_json(value["solution"])
        assert solution.structure == record.sentence.heads
        assert value["id"] == record.sentence.name
        zerogap.verify(problem_from_json(value["problem"]), solution)
    assert run("verify", proofs).output == "12 solutions hold, 12 of them optimal\n"
    value["solution"]["bound"] += 1.0
    value["solution"]["structure"] = value["solution"]["structure"][::-1]
    proofs.write_text("\n".join([*lines[:-1], json.dumps(value)]))
    refused = run("verify", proofs)
    assert refused.code == 1
    assert "line 12" in refused.errors


def test_tags(run, toy, trees, tmp_path):
    odd = "1\tTom\t_\tVERB\tVB\t_\t_\t_\t_\t_\n2\twaits\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    kept = run("parse", "-", "--model", toy, stdin=odd).output
    assert "1\tTom\t_\tVERB\tVB\t" in kept
    assert "2\twaits\t_\tVERB\tVBZ\t" in kept
    predicted = run("parse", "-", "--model", toy, "--tags", "predict", stdin=odd).output
    assert "1\tTom\t_\tPROPN\tNNP\t" in predicted
    alone = run("parse", "-", "--model", toy / "parser.npz", stdin=re.sub("VERB\tVB", "_\t_", odd))
    assert alone.code == 0
    assert "no word has any: the trees are worse than they could be (--tagger en finds upos and xpos)." in alone.errors
    text = run("parse", "Tom waits.", "--model", toy / "parser.npz")
    assert text.code == 1
    assert "which the sentences do not have: a tagger (tagger=, --tagger) finds upos and xpos" in text.errors
    assert run("parse", "Tom waits.", "--model", toy / "parser.npz", "--tagger", toy).code == 0
    assert run("parse", trees[1], "--model", toy / "parser.npz", "--tags", "predict", "--on-error", "skip").code == 1
    (tmp_path / "a.txt").write_text("Tom waits.")
    assert run("parse", tmp_path / "a.txt", "--model", toy / "parser.npz", "--on-error", "skip").code == 1
    assert "Known: keep, predict" in run("parse", "x", "--model", toy, "--tags", "gold").errors


def test_what_is_malformed_stops_or_is_left_out(run, toy, tmp_path):
    rows = "1\tTom\t_\tPROPN\tNNP\t_\t_\t_\t_\t_\n2\twaits\t_\tVERB\tVBZ\t_\t_\t_\t_\t_\n\n"
    long = "".join(f"{i}\tvery\t_\tADV\tRB\t_\t_\t_\t_\t_\n" for i in range(1, 2600)) + "\n"
    path = tmp_path / "bad.conllu"
    path.write_bytes(
        (rows + rows.replace("2\t", "5\t") + rows).encode() + rows.encode().replace(b"Tom", b"T\xf6m") + long.encode() + rows.encode()
    )
    stopped = run("parse", path, "--model", toy, "-o", tmp_path / "out.conllu")
    assert stopped.code == 1
    assert f"{path}, line 5: the id is '5': expected 2" in stopped.errors
    assert not (tmp_path / "out.conllu").exists()
    skipped = run("parse", path, "--model", toy, "-o", tmp_path / "out.conllu", "--on-error", "skip")
    assert skipped.code == 0
    assert (tmp_path / "out.conllu").read_text().count("# zerogap_status = optimal") == 3
    assert f"{path}, line 10: the text is not UTF-8 (byte 0xf6). Left out." in skipped.errors
    assert "has 2,599 words: a model of order 'grandsibling' takes at most 2,500. Left out." in skipped.errors
    assert "3 sentences, 6 words: all proven optimal" in skipped.errors
    path.write_text(rows.replace("2\t", "5\t") * 30)
    assert "... and 20 more" in run("parse", path, "--model", toy, "--on-error", "skip").errors
    assert "Known: stop, skip" in run("parse", path, "--model", toy, "--on-error", "ignore").errors


def test_a_gap_left_open_is_exit_code_3(run, toy, monkeypatch):
    real = Pipeline.parse_one

    def hasty(self, unparsed, **options):
        parsed = real(self, unparsed, **options)
        return replace(parsed, solution=replace(parsed.solution, bound=parsed.solution.bound + 0.5))

    monkeypatch.setattr(Pipeline, "parse_one", hasty)
    done = run("parse", "Tom waits. Clara sings.", "--model", toy)
    assert done.code == 3
    assert "# zerogap_status = feasible\n# zerogap_gap = 0.5\n" in done.output
    assert "2 sentences, 6 words: 0 proven optimal, 2 with a gap left open" in done.errors


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("A sentence.", True), ("word", True), ("", True), ("x" * 5000, True), ("see notes.txt", True), ("What is in a.txt?", True),
        ("-", False), ("none.conllu", False), ("my trees.conllu", False), ("none.txt", False), ("none.conllu.gz", False),
        ("none.CONLLX", False), ("x.gz", False),
    ],
)  # fmt: skip
def test_what_is_a_text(given, expected):
    assert is_a_text(given) is expected


def test_a_file_without_a_suffix(run, toy, trees, tmp_path):
    (tmp_path / "trees").write_text(trees[1].read_text().split("\n\n")[0] + "\n\n")
    assert run("parse", tmp_path / "trees", "--model", toy).output.startswith("# sent_id = test-1\n")
    as_text = run("parse", tmp_path / "trees", "--model", toy, "--input-format", "text")
    assert as_text.output.startswith("# sent_id = 1\n")
    assert "Known: auto, text, conllu, conllx, treebank" in run("parse", tmp_path / "trees", "--model", toy, "--input-format", "csv").errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.conllu"], "none.conllu cannot be read: no such file"),
        (["none.txt", "--model", "TOY"], "none.txt cannot be read: no such file"),
        ([".", "--model", "TOY"], ". cannot be read: it is a folder"),
        (["Hello.", "--model", "klingon"], "model 'klingon' is not known"),
        (["Hello.", "--model", "none/en"], "none/en cannot be read: no such file or folder"),
        (["Hello.", "--model", "bad.conllu"], "bad.conllu is not a model file"),
        (["Hello.", "--model", "TOY/tagger.npz"], "expected 'zerogap-dependency-model'"),
        (["bad.conllu", "--model", "TOY"], "bad.conllu, line 1: 2 columns"),
        (["Hello.", "--model", "TOY", "-o", "none/out.conllu"], "none/out.conllu cannot be written: No such file"),
        (["Hello.", "--model", "TOY", "--certificates", "."], "cannot be written: it is a folder"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_message(run, toy, tmp_path, monkeypatch, arguments, message):
    (tmp_path / "bad.conllu").write_text("1\tx\n")
    monkeypatch.chdir(tmp_path)
    done = run("parse", *[argument.replace("TOY", str(toy)) for argument in arguments])
    assert (done.code, done.output) == (2 if "UnknownMethod" in done.errors else 1, "")
    assert message in done.errors


def test_bytes_of_the_terminal_that_are_not_utf_8(run, toy):
    done = run("parse", "caf\udce9", "--model", toy)
    assert done.code == 1
    assert "the text is not UTF-8" in done.errors


def test_help_teaches(run):
    shown = run("parse", "--help").output
    assert 'zerogap parse "Time flies like an arrow."' in shown
    assert "zerogap verify proofs.jsonl" in shown
    assert run("parse").code == 2


def test_progress_tells_the_speed(toy, trees):
    summary, steps = parse_module.Summary("sentence"), parse_module.Steps("parsing")
    job = parse_module.Job(zerogap.load(toy), lambda parsed: "", keep_tags=True)
    sentences = parse_module.file_sentences(str(trees[1]), "auto", False, "stop", summary)
    assert len(list(parse_module.answers(job, sentences, 1, "stop", summary, steps))) == steps.done == 12
    assert re.fullmatch(r"parsing: 82 words, [\d,]+ per second", steps.description)


def test_the_commands_of_the_documentation(run, toy, tmp_path, monkeypatch):
    """Every ```sh block of docs/parsing.md, in order, in one folder that has the examples in it; `en` is the toy here."""
    root = Path(__file__).parents[3]
    shutil.copytree(root / "examples", tmp_path / "examples")
    shutil.copytree(toy, tmp_path / "models" / "en")
    (tmp_path / "article.txt").write_text("The baker sings. Tom waits.\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("zerogap.pipeline.loading.MODELS", tmp_path / "models")
    blocks = re.findall(r"```sh\n(.*?)```", (root / "docs" / "parsing.md").read_text(), flags=re.S)
    commands = [shlex.split(line) for block in blocks for line in block.splitlines()]
    assert len(commands) > 12
    for program, *arguments in commands:
        if program == "mkdir":
            Path(*arguments).mkdir()
        else:
            assert program == "zerogap"
            assert run(*arguments).code == 0, arguments


@pytest.mark.data
def test_treebanks_with_multiword_tokens_and_empty_nodes(run, toy, data, tmp_path):
    sentences = (data / "ud" / "en_ewt" / "dev.conllu").read_text().split("\n\n")[:80]
    given = "\n\n".join(sentences) + "\n\n"
    (tmp_path / "part.conllu").write_text(given)
    one, two = (run("parse", tmp_path / "part.conllu", "--model", toy, "--threads", threads).output for threads in (1, 2))
    assert one == two

    def without_trees(text):
        rows = (line.split("\t") for line in text.split("\n") if not line.startswith("# zerogap"))
        return [[*row[:6], *row[9:]] for row in rows]

    assert without_trees(one) == without_trees(given)
