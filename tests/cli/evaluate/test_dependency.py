"""`zerogap evaluate dependency` as a person runs it."""

import re

import pytest

from zerogap.cli.evaluate.dependency import text_of
from zerogap.io.formats.conllu import read_conllu


def test_two_files_or_a_model(run, toy, trees, tmp_path):
    run("parse", trees[1], "--model", toy, "-o", tmp_path / "out.conllu")
    compared = run("evaluate", "dependency", trees[1], tmp_path / "out.conllu")
    assert compared.code == 0
    assert re.search(r"^all words +82 +\d\d\.\d\d% +\d\d\.\d\d% ", compared.output, flags=re.M)
    assert re.search(r"^no punctuation +70 ", compared.output, flags=re.M)
    assert re.search(r"^1 to 10 words +82 ", compared.output, flags=re.M)
    direct = run("evaluate", "dependency", trees[1], "--model", toy)
    assert direct.output == compared.output
    assert "12 sentences, 82 words: all proven optimal" in direct.errors
    same = run("evaluate", "dependency", trees[1], trees[1])
    assert same.output.count("100.00%") >= 6
    alone = run("evaluate", "dependency", trees[1], "--model", toy / "parser.npz")
    assert alone.output == compared.output
    predicted = run("evaluate", "dependency", trees[1], "--model", toy, "--tags", "predict")
    run("parse", trees[1], "--model", toy, "--tags", "predict", "-o", tmp_path / "out.conllu")
    assert predicted.output == run("evaluate", "dependency", trees[1], tmp_path / "out.conllu").output
    by_form = run("evaluate", "dependency", trees[1], trees[1], "--punctuation", "form")
    assert by_form.output == same.output


def test_text(run, toy, trees, tmp_path):
    exact = run("evaluate", "dependency", trees[1], trees[1], "--text").output
    assert re.search(r"^LAS +82 +82 +82 +100.00% +100.00% +100.00%$", exact, flags=re.M)
    found = run("evaluate", "dependency", trees[1], "--model", toy, "--text")
    assert found.code == 0
    assert re.search(r"^Tokens +82 +82 +82 ", found.output, flags=re.M)
    assert re.search(r"^UPOS +82 +82 +\d+ ", found.output, flags=re.M)
    text = text_of(list(read_conllu(trees[1])))
    (tmp_path / "a.txt").write_text(text)
    assert text.startswith("The teachers painted the small window. The child is happy. ")
    run("parse", tmp_path / "a.txt", "--model", toy, "-o", tmp_path / "out.conllu")
    assert run("evaluate", "dependency", trees[1], tmp_path / "out.conllu", "--text").output == found.output
    assert run("evaluate", "dependency", trees[1], "--model", toy / "parser.npz", "--text").code == 1  # it reads tags


def test_paragraphs_and_blanks(tmp_path):
    row = "{}\t{}\t_\t_\t_\t_\t_\t_\t_\t{}\n"
    sentence = row.format(1, "Go", "_") + row.format("2-3", "don't", "SpaceAfter=No") + row.format(2, "do", "_") + row.format(3, "n't", "_")
    path = tmp_path / "a.conllu"
    path.write_text("# newdoc id = 1\n" + sentence + "\n" + sentence + "\n# newpar\n" + row.format(1, "End", "_") + "\n")
    assert text_of(list(read_conllu(path))) == "Go don'tGo don't\n\nEnd "


def test_wrong_usage_is_exit_code_2(run, toy, trees):
    assert run("evaluate", "dependency", trees[1]).code == 2
    assert run("evaluate", "dependency", trees[1], trees[1], "--model", toy).code == 2
    assert run("evaluate", "dependency", trees[1], trees[1], "--tags", "predict").code == 2
    assert "zerogap evaluate dependency test.conllu parsed.conllu" in run("evaluate", "dependency", "--help").output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.conllu", "GOLD"], "none.conllu cannot be read"),
        (["GOLD", "none.conllu"], "none.conllu cannot be read"),
        (["empty.conllu", "GOLD"], "empty.conllu holds no sentences"),
        (["GOLD", "other.conllu"], "'test-1': word 2 is 'teachers' in gold and 'students' in predicted"),
        (["GOLD", "half.conllu"], "predicted has 1 sentences, gold has more: 'test-2' is without a counterpart"),
        (["GOLD", "headless.conllu"], "'test-1' has no heads in predicted"),
        (["GOLD", "other.conllu", "--text"], "the texts differ after 3 characters"),
        (["GOLD", "GOLD", "--punctuation", "maybe"], "Known: auto, upos, form"),
        (["GOLD", "--model", "TOY", "--tags", "gold"], "Known: keep, predict"),
        (["GOLD", "--model", "klingon"], "model 'klingon' is not known"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_message(run, toy, trees, tmp_path, monkeypatch, arguments, message):
    gold = trees[1].read_text()
    for name, content in (
        ("empty.conllu", "\n"), ("other.conllu", gold.replace("teachers", "students")), ("half.conllu", gold.split("\n\n")[0] + "\n\n"),
        ("headless.conllu", re.sub(r"\t\d+\t[a-z:]+\t_\t", "\t_\t_\t_\t", gold)),
    ):  # fmt: skip
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    done = run("evaluate", "dependency", *[{"GOLD": trees[1], "TOY": toy}.get(argument, argument) for argument in arguments])
    assert (done.code, done.output) == (2 if "UnknownMethod" in done.errors else 1, "")
    assert message in done.errors
