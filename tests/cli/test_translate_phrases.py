"""`zerogap translate` with a phrase table, as a person runs it."""

import json
import math

import pytest

ARPA = """\\data\\
ngram 1=8
ngram 2=4

\\1-grams:
-99\t<s>\t-0.5
-1\t</s>
-2\t<unk>
-1\tthe\t-0.25
-1\thouse\t-0.25
-1.5\thome\t-0.25
-1\tis\t-0.25
-1\tsmall\t-0.25

\\2-grams:
-0.1\t<s> the
-0.2\tthe house
-0.3\thouse is
-0.4\tsmall </s>

\\end\\
"""
TABLE = """das ||| the ||| 1 1 1 1 ||| 0-0
haus ||| house ||| 0.9 0.9 0.9 0.9 ||| 0-0
haus ||| home ||| 0.5 0.5 0.5 0.5 ||| 0-0
das haus ||| the house ||| 0.9 0.9 0.9 0.9 ||| 0-0 1-1
ist ||| is ||| 1 1 1 1 ||| 0-0
klein ||| small ||| 1 1 1 1 ||| 0-0
"""
WEIGHTS = """[phrase]
p_f_given_e 0.25
lex_f_given_e 0.25
p_e_given_f 0.25
lex_e_given_f 0.25
lm 0.5
words 0.5
phrases -0.1
distortion 0.2
distortion_limit 4
"""


@pytest.fixture
def model(options_of):
    """The options that name a toy model."""
    return options_of({"phrase-table": TABLE, "lm": ARPA, "weights": WEIGHTS})


def test_segments_alignments_and_empty_lines(run, model, tmp_path):
    links = tmp_path / "links"
    done = run("translate", "-", *model, "--segments", "--alignment", links, stdin="das haus ist klein\n\nklein q\n")
    assert done.code == 0
    assert done.output == "the house |0-1| is |2-2| small |3-3|\n\nq |1-1| small |0-0|\n"
    assert links.read_text() == "0-0 1-1 2-2 3-3\n\n0-1 1-0\n"


def test_every_exact_method_and_the_verbose_gap(run, model):
    for method in ("auto", "optimal-beam", "staged-beam", "lr-tight", "chang-collins", "a-star", "ilp"):
        done = run("translate", "-", *model, "--method", method, "--verbose", stdin="das haus ist klein\n")
        assert (done.code, done.output) == (0, "the house is small\n")
        assert "line 1, 4 words: optimal, score" in done.errors
        assert "gap 0.0000" in done.errors


def test_nbest_lists_are_proven(run, model, tmp_path):
    proofs = tmp_path / "proofs.jsonl"
    done = run("translate", "-", *model, "--nbest", 3, "--certificates", proofs, stdin="das haus\n")
    rows = [line.split(" ||| ") for line in done.output.splitlines()]
    assert [row[:2] for row in rows] == [["0", "the house"], ["0", "the house"], ["0", "the home"]]
    scores = [float(row[-1]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 3
    assert run("verify", proofs).output == "1 solution holds, 1 of them optimal\n"
    value = json.loads(proofs.read_text())
    assert len(value["solution"]["alternatives"]) == 2


def test_constraints_of_every_line(run, model, tmp_path):
    done = run("translate", "-", *model, "--forbid", "house", stdin="das haus ist klein\n")
    assert done.output == "the home is small\n"
    done = run("translate", "-", *model, "--require", "small the", stdin="das haus ist klein\n")
    assert "small the" in done.output
    (tmp_path / "required").write_text("home ||| small\n\n")
    done = run("translate", "-", *model, "--required", tmp_path / "required", stdin="das haus ist klein\ndas haus\n")
    assert done.output == "the home is small\nthe house\n"
    wrong = run("translate", "-", *model, "--required", tmp_path / "required", stdin="das haus\n")
    assert wrong.code == 1
    assert "has 2 lines: expected 1, one for every line of the input" in wrong.errors


def test_markup(run, model, tmp_path):
    line = 'das <n translation="cottage">haus</n> <wall/> ist klein\n'
    proofs = tmp_path / "proofs.jsonl"
    done = run("translate", "-", *model, "--markup", "exclusive", "--certificates", proofs, "--segments", stdin=line)
    assert done.output == "the |0-0| cottage |1-1| is |2-2| small |3-3|\n"
    assert run("verify", proofs).output == "1 solution holds, 1 of them optimal\n"
    links = tmp_path / "links"
    wide = '<n translation="a tiny hut" prob="0.5">das haus</n> klein\n'
    done = run("translate", "-", *model, "--markup", "exclusive", "--alignment", links, "--nbest", 2, stdin=wide)
    assert links.read_text() == "0-0 0-1 0-2 1-0 1-1 1-2 2-3\n"
    text, values, score = done.output.splitlines()[0].split(" ||| ")[1:]
    assert text == "a tiny hut small"
    features = dict(zip(values.split()[::2], map(float, values.split()[1::2]), strict=True))
    assert features["unknown="] == 0.0
    weights = {f"{name}=": float(value) for name, value in (row.split() for row in WEIGHTS.splitlines()[1:-1])}
    assert math.isclose(sum(weight * features[name] for name, weight in weights.items()), float(score), abs_tol=1e-5)
    done = run("translate", "-", *model, "--markup", "inclusive", stdin=line.replace("n trans", 'n prob="0.01" trans'))
    assert done.output == "the house is small\n"
    wrong = run("translate", "-", *model, "--markup", "exclusive", stdin="das <n>haus</n>\n")
    assert wrong.code == 1
    assert "line 1: <n> says nothing" in wrong.errors
    assert "Did you mean 'exclusive'" in run("translate", "-", *model, "--markup", "exclusiv", stdin=line).errors


def test_what_no_translation_satisfies(run, model):
    failed = run("translate", "-", *model, "--require", "tree", stdin="das haus\n")
    assert failed.code == 1
    assert "line 1: no translation satisfies the required phrase 'tree'." in failed.errors
    gone_on = run("translate", "-", *model, "--require", "tree", "--on-error", "empty", stdin="das haus\n\n")
    assert (gone_on.code, gone_on.output) == (0, "\n\n")
    far = run("translate", "-", *model, "--require", "small the", "--distortion-limit", 0, stdin="das haus ist klein\n")
    assert "With a distortion limit of 4 in place of 0, there is one." in far.errors


def test_bad_tables_are_named(run, model, tmp_path):
    (tmp_path / "phrase-table").write_text(TABLE + "haus ||| hut ||| 1 1 oops 1\n")
    wrong = run("translate", "-", *model, stdin="das haus\n")
    assert wrong.code == 1
    assert "line 7: 'oops' is not a score: expected a probability" in wrong.errors


def test_many_files_as_a_job(run, model, tmp_path):
    for name, text in (("a.de", "das haus ist klein\n"), ("b.de", "klein\n")):
        (tmp_path / name).write_text(text)
    done = run("translate", tmp_path / "*.de", *model, "--engine", "local", "--threads", 1, "-o", tmp_path / "out", "--certificates", "yes")
    assert done.code == 0, done.errors
    rows = [json.loads(line) for shard in sorted((tmp_path / "out").glob("*.jsonl")) for line in shard.read_text().splitlines()]
    found = [row for row in rows if "translation" in row]
    assert [(row["translation"], row["status"]) for row in found] == [("the house is small", "optimal"), ("small", "optimal")]
    for more in (["--nbest", 3], ["--segments"], ["--forbid", "house"]):
        wrong = run("translate", "x", *model, *more, "--engine", "local", "-o", tmp_path / "no")
        assert wrong.code == 2
        assert "a job has no such option" in wrong.errors
