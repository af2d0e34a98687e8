"""`zerogap translate` with a grammar, as a person runs it."""

import json

import pytest

ARPA = """\\data\\
ngram 1=6
ngram 2=4

\\1-grams:
-99\t<s>\t-0.5
-1\t</s>
-2\t<unk>
-1\tthe\t-0.25
-1\tdog\t-0.25
-1\tbarks\t-0.25

\\2-grams:
-0.1\t<s> the
-0.2\tthe dog
-0.3\tdog barks
-0.4\tbarks </s>

\\end\\
"""
RULES = """[S] ||| [X,1] ||| [X,1] ||| glue=0
[S] ||| [S,1] [X,2] ||| [S,1] [X,2] ||| glue=1
[X] ||| le dug ||| the dog ||| p=-1
[X] ||| le dug ||| dog the ||| p=-0.5
[X] ||| [X,1] abarks ||| [X,1] barks ||| p=-0.25
[X] ||| [X,1] abarks ||| barks [X,1] ||| p=-0.125
[X] ||| abarks ||| barks ||| p=-2
"""
WEIGHTS = "[hiero]\np 1\nglue -0.5\noov -3\nlm 1\nwords 0.5\nmax_span 5\n"


@pytest.fixture
def model(tmp_path):
    """The options that name a toy grammar."""
    files = {"grammar": RULES, "lm": ARPA, "weights": WEIGHTS}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return [part for name in files for part in (f"--{name}", tmp_path / name)]


def test_lines_stay_in_order(run, model):
    done = run("translate", "-", *model, stdin="le dug abarks\n\nle dug\n")
    assert done.code == 0
    assert done.output == "the dog barks\n\nthe dog\n"
    assert "2 sentences, 5 words: all proven optimal; 1 empty line" in done.errors


def test_proofs_and_reports(run, model, tmp_path):
    proofs, report = tmp_path / "proofs.jsonl", tmp_path / "report.tsv"
    assert run("translate", "-", *model, "--certificates", proofs, "--report", report, stdin="le dug abarks q\n").code == 0
    header, row = (line.split("\t") for line in report.read_text().splitlines())
    assert dict(zip(header, row, strict=True)).items() >= {"status": "optimal", "gap": "0.0", "words": "4"}.items()
    assert run("verify", proofs).output == "1 solutions hold, 1 of them optimal\n"
    value = json.loads(proofs.read_text())
    value["solution"]["bound"] -= 0.5
    value["solution"]["score"] -= 0.5
    proofs.write_text(json.dumps(value) + "\n")
    assert run("verify", proofs).code == 1


def test_words_that_no_rule_has_pass_through(run, model):
    assert run("translate", "-", *model, stdin="le dug q\n").output == "the dog q\n"
    refused = run("translate", "-", *model, "--strict", stdin="le dug\nle dug q\n")
    assert refused.code == 1
    assert "line 2: no derivation covers the sentence; no rule translates 'le', 'dug', 'q' alone" in refused.errors
    gone_on = run("translate", "-", *model, "--strict", "--on-error", "empty", stdin="le dug\nle dug q\n")
    assert gone_on.output == "the dog\n\n"
    assert "1 without a translation" in gone_on.errors


def test_wrong_use(run, model, tmp_path):
    wrong = run("translate", "-", *model, "--method", "cube", stdin="le\n")
    assert wrong.code == 1
    assert "Known: auto" in wrong.errors
    for options, message in (
        (["--stack", 5], "--stack is for phrases"),
        (["--segments"], "are for phrases"),
        (["--nbest-file", tmp_path / "n"], "needs --nbest"),
        (["--distortion-limit", 3], "are for phrases"),
        (["--config", tmp_path / "moses.ini"], "names all of the model"),
    ):
        refused = run("translate", "-", *model, *options, stdin="le\n")
        assert refused.code == 2
        assert message in " ".join(refused.errors.replace("│", " ").split())
    assert run("translate", "-", stdin="le\n").code == 2


def test_bad_files(run, model, tmp_path):
    for name, text, message in (
        ("grammar", RULES + "[X] ||| le [X,1] ||| b ||| p=1\n", "line 8 has the source nonterminal [X,1] and no such target one"),
        ("lm", ARPA.replace("ngram 2=4", "ngram 2=5"), "expected 5, as announced"),
        ("weights", WEIGHTS + "fluency 2\n", "fluency"),
        ("weights", WEIGHTS.replace("glue -0.5\n", ""), "weights have none for 'glue'"),
        ("weights", WEIGHTS.replace("lm 1\n", ""), "'lm'"),
    ):
        before = (tmp_path / name).read_text()
        (tmp_path / name).write_text(text)
        done = run("translate", "-", *model, stdin="le dug\n")
        assert done.code == 1
        assert message in done.errors
        (tmp_path / name).write_text(before)
    assert "no such file" in run("translate", "-", *model[:-1], tmp_path / "none", stdin="le\n").errors
