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
def model(options_of):
    """The options that name a toy grammar."""
    return options_of({"grammar": RULES, "lm": ARPA, "weights": WEIGHTS})


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
    assert run("verify", proofs).output == "1 solution holds, 1 of them optimal\n"
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
    assert wrong.code == 2
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


def test_nbest_lists_are_those_of_moses(run, model, tmp_path):
    done = run("translate", "-", *model, "--nbest", 4, stdin="le dug abarks\n")
    assert done.code == 0
    lines = done.output.splitlines()
    assert len(lines) == 4
    fields = [line.split(" ||| ") for line in lines]
    assert fields[0][:2] == ["0", "the dog barks"]
    scores = [float(row[3]) for row in fields]
    assert scores == sorted(scores, reverse=True)
    weights = dict(line.split() for line in WEIGHTS.splitlines()[1:])
    for row in fields:
        parts = row[2].split()
        values = dict(zip([name.rstrip("=") for name in parts[::2]], map(float, parts[1::2]), strict=True))
        assert sum(float(weights[name]) * value for name, value in values.items()) == pytest.approx(float(row[3]), abs=1e-6)
    beside = run("translate", "-", *model, "--nbest", 4, "--nbest-file", tmp_path / "list", stdin="le dug abarks\n")
    assert beside.output == "the dog barks\n"
    assert (tmp_path / "list").read_text() == done.output


def test_audit(run, model, tmp_path):
    source, proven, nbest = tmp_path / "source", tmp_path / "proven.tsv", tmp_path / "nbest"
    source.write_text("le dug abarks\nle dug\nabarks le dug\n")
    run("translate", source, *model, "--report", proven, "-o", tmp_path / "best", "--nbest", 2, "--nbest-file", nbest)
    perfect = run("audit", nbest, "--report", proven)
    assert perfect.code == 0
    assert perfect.output.split()[-7:] == ["3", "0", "0.0", "-", "-", "0", "0"]
    worse = [line for k, line in enumerate(nbest.read_text().splitlines(keepends=True)) if k != 0]  # without the best of the first
    nbest.write_text("".join(worse))
    found = run("audit", nbest, "--input", source, *model, "-o", tmp_path / "rows")
    assert found.code == 0
    assert found.output.split()[-7:][:3] == ["3", "1", "33.3"]
    assert [row.split("\t")[2] for row in (tmp_path / "rows").read_text().splitlines()[1:]] == ["missed", "optimal", "optimal"]
    scores = tmp_path / "scores.tsv"
    scores.write_text("line\tpop10\n1\t99\n2\t-90\n3\t-80\n")
    above = run("audit", scores, "--column", "pop10", "--report", proven)
    assert "1 score above what is possible" in above.errors
    assert "no column 'pop20'" in run("audit", scores, "--column", "pop20", "--report", proven).errors
    assert run("audit", scores, "--report", proven).code == 1
    assert run("audit", scores).code == 2
    assert run("audit", scores, "--report", proven, *model).code == 2
    proven.write_text(proven.read_text().replace("line\t", "row\t"))
    assert "expected the columns line, words" in run("audit", nbest, "--report", proven).errors


def test_open_gaps_are_not_decided(run, tmp_path):
    proven, other = tmp_path / "proven.tsv", tmp_path / "other"
    proven.write_text("line\twords\tmodel\tstatus\tscore\tbound\tgap\tseconds\n1\t3\tgrammar\tfeasible\t-2.0\t-1.0\t1.0\t0.1\n")
    other.write_text("-1.5\n")
    done = run("audit", other, "--report", proven)
    assert done.code == 3
    assert "1 sentence could not be decided" in done.errors


def test_evaluate(run, tmp_path):
    pytest.importorskip("sacrebleu")
    reference, same, worse = tmp_path / "ref", tmp_path / "same", tmp_path / "worse"
    reference.write_text("the dog barks loudly today\nthe cat sleeps on the mat\n")
    same.write_text(reference.read_text())
    worse.write_text("the dog barks\nthe cat sleeps on a mat now\n")
    assert "BLEU  100.00" in run("evaluate", "translation", reference, same).output
    both = run("evaluate", "translation", reference, same, worse)
    assert "the first is +" in both.output
    assert "p = 0.000" in both.output
    worse.write_text("one line\n")
    assert "1 translations for 2 references" in run("evaluate", "translation", reference, worse).errors
    assert "expected one of none, 13a" in run("evaluate", "translation", reference, same, "--tokenize", "words").errors


TREE_RULES = """(S (NP [D,1] [N,2]) [V,3]) ||| [1] [2] [3] ||| p=-1
(D le) ||| the ||| p=-0.5
(N dug) ||| dog ||| p=-0.25
(V abarks) ||| barks ||| p=-0.125
"""


def test_trees_in_place_of_sentences(run, model, tmp_path):
    rules, report = tmp_path / "tree-rules", tmp_path / "report.tsv"
    rules.write_text(TREE_RULES)
    options = ["--tree-rules", rules, *model[2:], "--report", report]
    (tmp_path / "weights").write_text("[hiero]\np 1\nglue -0.5\noov -3\nlm 1\nwords 0.5\n")
    done = run("translate", "-", *options, stdin="(S (NP (D le) (N dug)) (V abarks))\n\n(S (NP (D le) (N q)) (V abarks))\n")
    assert done.code == 0, done.errors
    assert done.output == "the dog barks\n\nthe q barks\n"
    lists = run("translate", "-", *options, "--nbest", "2", stdin="(S (NP (D le) (N q)) (V abarks))\n")
    assert "p= -1.625" in lists.output
    assert "glue= 1 " in lists.output
    assert run("translate", "-", *options, "--strict", stdin="(N q)\n").code == 1
    wrong = run("translate", "-", *options, stdin="(S (NP (D le)\n")
    assert wrong.code == 1
    assert "line 1" in wrong.errors
    assert run("translate", "-", *options, "--max-span", "3", stdin="").code == 2
    assert run("translate", "-", *options, *model[:2], stdin="").code == 2
    rules.write_text("(S [V,1]) ||| [2] ||| p=-1\n")
    unbalanced = run("translate", "-", *options, stdin="(S (V abarks))\n")
    assert unbalanced.code == 1
    assert "line 1" in unbalanced.errors
    assert "[2] which its source side does not have" in unbalanced.errors


def test_files_as_a_job(run, model, tmp_path):
    (tmp_path / "a.src").write_text("le dug abarks\n")
    done = run("translate", tmp_path / "a.src", *model, "--engine", "local", "--threads", 1, "-o", tmp_path / "out")
    assert done.code == 0, done.errors
    shards = [shard.read_text() for shard in (tmp_path / "out").glob("*.jsonl")]
    assert any('"translation": "the dog barks", "status": "optimal"' in text for text in shards)
