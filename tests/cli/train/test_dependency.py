"""`zerogap train dependency` and `zerogap train tagger` as a person runs them."""

import re
from dataclasses import replace

import pytest

import zerogap
from zerogap.dependency.parser.parser import Parser
from zerogap.sequence.tagger.tagger import Tagger

ROW = "{}\t{}\t_\t{}\t_\t_\t{}\t{}\t_\t_\n"


def rows(*words):
    return "".join(ROW.format(i, *word) for i, word in enumerate(words, start=1)) + "\n"


GOOD = rows(("Tom", "PROPN", 2, "nsubj"), ("waits", "VERB", 0, "root"))
CYCLE = "# sent_id = round-and-round\n" + rows(("Tom", "PROPN", 2, "nsubj"), ("waits", "VERB", 1, "root"))
ROOTS = "# sent_id = two-roots\n" + rows(("Tom", "PROPN", 0, "root"), ("waits", "VERB", 0, "root"))
BARE = "# sent_id = bare\n" + rows(("Tom", "PROPN", "_", "_"))


def test_train_evaluate_parse(run, trees, tmp_path):
    (tmp_path / "mine").mkdir()
    parser, tagger = tmp_path / "mine" / "parser.npz", tmp_path / "mine" / "tagger.npz"
    done = run("train", "dependency", trees[0], "--dev", trees[1], "-o", parser, "--epochs", 3, "--jackknife", 3)
    assert (done.code, done.output) == (0, "")
    assert re.search(r"^tree, epoch 2 of 3: \d+ wrong heads, dev UAS \d+\.\d\d% \(\d+\.\d s\)$", done.errors, flags=re.M)
    assert re.search(r"^labels, epoch 3 of 3: \d+ wrong relations, dev relations [\d.]+% ", done.errors, flags=re.M)
    assert re.search(r"parser.npz: grandsibling model of [\d,]+ weights, from 60 sentences of 419 words in 3 epochs", done.errors)
    assert re.search(r"in 3 epochs \(the best was \d\); 0\.\d MB \([\d.]+ s\)\n", done.errors)
    assert re.search(r"all words +82 +[\d.]+% +[\d.]+% ", done.errors)
    assert Parser.load(parser).about["treebank"] == "trees-train.conllu"
    tagged = run("train", "tagger", trees[0], "--dev", trees[1], "-o", tagger)
    assert (tagged.code, tagged.output) == (0, "")
    assert re.search(r"^epoch 4 of 4: loss [\d.]+ per word, dev UPOS [\d.]+%, XPOS [\d.]+%$", tagged.errors, flags=re.M)
    assert re.search(r"tagger.npz: \d+ tags, from 60 sentences of 419 words in 4 epochs; 0\.\d MB", tagged.errors)
    assert run("parse", "The baker sings.", "--model", tmp_path / "mine").code == 0
    again = tmp_path / "again.npz"
    run("train", "dependency", trees[0], "--dev", trees[1], "-o", again, "--epochs", 3, "--jackknife", 3)
    assert again.read_bytes() == parser.read_bytes()  # no time in it


@pytest.mark.parametrize("order", ["first", "sibling", "grandsibling"])
@pytest.mark.parametrize("algorithm", ["mira", "perceptron"])
def test_models_and_algorithms(run, trees, tmp_path, order, algorithm):
    model = tmp_path / "m.npz"
    done = run("train", "dependency", trees[0], "-o", model, "--model", order, "--algorithm", algorithm, "--epochs", 1, "--seed", 4)
    assert done.code == 0, done.errors
    assert Parser.load(model).order == order
    assert "(the best was" not in done.errors
    assert run("evaluate", "dependency", trees[1], "--model", model).code == 0


def test_cascade(run, trees, tmp_path):
    """A parser with a cascade parses fast, without a proof, and as ever otherwise."""
    model = tmp_path / "quick.npz"
    done = run("train", "dependency", trees[0], "--dev", trees[1], "-o", model, "--epochs", 2, "--cascade", "--pruning-error", 0.05)
    assert done.code == 0, done.errors
    assert re.search(r"^first pass, epoch 3 of 3: loss \d+ ", done.errors, flags=re.M)
    assert re.search(r"^last model, epoch 8 of 8: \d+ wrong heads, dev UAS ", done.errors, flags=re.M)
    fast = run("parse", trees[1], "--model", model, "--fast")
    assert fast.code == 0, fast.errors  # nobody asked for a proof
    assert "not proven: --fast" in fast.errors
    assert "not proven: --method cascade" in run("parse", trees[1], "--model", model, "--method", "cascade").errors
    shards = run("parse", trees[1], "--model", model, "--fast", "--engine", "local", "--threads", 1, "-o", tmp_path / "shards")
    assert (shards.code, "not proven: method cascade" in shards.errors) == (0, True), shards.errors
    assert "zerogap_status = feasible" in fast.output
    slow = run("parse", trees[1], "--model", model)
    assert slow.code == 0
    assert "all proven optimal" in slow.errors
    heads = [[line.split("\t")[6] for line in found.output.splitlines() if "\t" in line] for found in (fast, slow)]
    assert sum(a == b for a, b in zip(*heads, strict=True)) > 0.9 * len(heads[0])
    plain = tmp_path / "plain.npz"
    run("train", "dependency", trees[0], "-o", plain, "--epochs", 1)
    refused = run("parse", trees[1], "--model", plain, "--fast")
    assert refused.code == 1
    assert "the parser has no cascade" in refused.errors
    for options, code, message in (
        (["--method", "cascades"], 2, "Did you mean 'cascade'?"),
        (["--fast", "--method", "exact-cascade"], 2, "--fast was given with --method exact-cascade"),
        (["--method", "exact-cascade"], 1, "expected a projective one of order 'grandsibling' trained with --penalties"),
    ):
        refused = run("parse", trees[1], "--model", model, *options)
        assert (refused.code, message in refused.errors) == (code, True), refused.errors


def test_penalties(run, trees, tmp_path):
    """The exact cascade: the trees of a parser without a pruner, with proofs that hold."""
    model, plain, proofs = tmp_path / "sure.npz", tmp_path / "plain.npz", tmp_path / "proofs.jsonl"
    done = run("train", "dependency", trees[0], "-o", model, "--epochs", 1, "--penalties")
    assert done.code == 0, done.errors
    replace(Parser.load(model), pruner=None).save(plain)
    found = run("parse", trees[1], "--model", model, "--method", "exact-cascade", "--certificates", proofs)
    assert found.code == 0, found.errors
    assert "all proven optimal" in found.errors
    assert found.output == run("parse", trees[1], "--model", plain).output
    assert run("verify", proofs).code == 0
    for options, message in (
        (["--model", "first"], "--penalties was given with --model first"),
        (["--non-projective"], "--penalties was given with --non-projective"),
        (["--learner", "bp"], "--penalties was given with --algorithm bp"),
    ):
        refused = run("train", "dependency", trees[0], "-o", model, "--penalties", *options)
        assert (refused.code, message in refused.errors) == (1, True), refused.errors


def test_factors(run, trees, tmp_path):
    """A parser with sets of arcs is trained, used and checked as others are."""
    model, patterns, proofs = tmp_path / "rich.npz", tmp_path / "patterns.txt", tmp_path / "proofs.jsonl"
    patterns.write_text("verb-last: a[upos=NOUN] ... v[upos=VERB]; v -> a\n")
    arguments = ("train", "dependency", trees[0], "--dev", trees[1], "-o", model, "--model", "sibling", "--epochs", 2)
    done = run(*arguments, "--factors", f"siblings,grandchildren,{patterns}", "--factor-epochs", 2, "--heads", 5)
    assert done.code == 0, done.errors
    assert re.search(r"^factors, epoch 2 of 2: \d+ wrong heads, dev UAS \d+\.\d\d% ", done.errors, flags=re.M)
    assert re.search(r"rich.npz: sibling with factors model of [\d,]+ weights, from 60 sentences of 419 words in 2 epochs", done.errors)
    parser = zerogap.load(model).parser
    assert (parser.factored.families, parser.most_heads) == (("siblings", "grandchildren"), 5)
    assert [pattern.name for pattern in parser.factored.patterns.patterns] == ["verb-last"]
    parsed = run("parse", trees[1], "--model", model, "-o", tmp_path / "parsed.conllu", "--certificates", proofs)
    assert "all proven optimal" in parsed.errors
    assert "12 solutions hold, 12 of them optimal" in run("verify", proofs).output
    assert run("evaluate", "dependency", trees[1], "--model", model).code == 0


def test_options(run, trees, tmp_path):
    model = tmp_path / "m.npz"
    arguments = ("train", "dependency", trees[0], "-o", model, "--model", "first", "--epochs", 2)
    assert run(*arguments, "--algorithm", "crf").code == 0
    assert run(*arguments, "--no-labels", "--max-features", 500, "--multi-root").code == 0
    parser = Parser.load(model)
    assert (parser.labeller, parser.model.n_weights, parser.single_root) == (None, 500, False)
    assert run(*arguments, "--non-projective", "--min-count", 2).code == 0
    assert not Parser.load(model).projective
    assert run("parse", trees[1], "--model", model, "--certificates", tmp_path / "p.jsonl").code == 0
    assert run("verify", tmp_path / "p.jsonl").output == "12 solutions hold, 12 of them optimal\n"
    crossing = ("train", "dependency", trees[0], "-o", model, "--epochs", 2, "--nonprojective")
    for more in (("--model", "sibling"), ("--model", "grandsibling", "--relaxed")):
        assert run(*crossing, *more).code == 0
        assert run("parse", trees[1], "--model", model, "--certificates", tmp_path / "p.jsonl").code == 0
        assert run("verify", tmp_path / "p.jsonl").output == "12 solutions hold, 12 of them optimal\n"
    assert run(*crossing, "--model", "grandparent", "--learner", "bp", "--threshold", 0, "--bounds").code == 0
    parser = Parser.load(model)
    assert (parser.order, parser.pruner, parser.bounds.coverage) == ("grandparent", None, 1.0)
    assert run("parse", trees[1], "--model", model, "--certificates", tmp_path / "p.jsonl").code == 0
    assert run("verify", tmp_path / "p.jsonl").output == "12 solutions hold, 12 of them optimal\n"
    assert run(*arguments, "--columns", "upos,lemma").code == 0
    assert set(Parser.load(model).columns) == {"form", "lemma", "upos"}
    assert "Known: form, lemma, upos, xpos, feats" in run(*arguments, "--columns", "form,pos").errors
    (tmp_path / "templates.txt").write_text("# two\narc: head.upos+mod.upos\n\narc: mod.form+distance\n")
    assert run(*arguments, "--templates", tmp_path / "templates.txt").code == 0
    assert {template.text for template in Parser.load(model).model.features.templates} == {"head.upos+mod.upos", "mod.form+distance"}
    (tmp_path / "templates.txt").write_text("arc: head.lemma+mod.upos\n")
    lacking = run(*arguments, "--templates", tmp_path / "templates.txt")
    assert lacking.code == 1
    assert "reads the column 'lemma': expected form, upos, xpos, or --columns form,upos,xpos,lemma." in lacking.errors
    done = run(*arguments, "--dev", trees[1], "--patience", 1, "--epochs", 30)
    assert re.search(r"in (\d|1\d) epochs \(the best was", done.errors)


def test_training_goes_on_from_checkpoints(run, trees, tmp_path):
    arguments = ("train", "dependency", trees[0], "--model", "sibling", "--seed", 3)
    assert run(*arguments, "-o", tmp_path / "whole.npz", "--epochs", 3).code == 0
    assert run(*arguments, "-o", tmp_path / "part.npz", "--epochs", 2, "--checkpoints", tmp_path / "state").code == 0
    resumed = run(*arguments, "-o", tmp_path / "part.npz", "--epochs", 3, "--checkpoints", tmp_path / "state")
    assert "tree, epoch 3 of 3" in resumed.errors
    assert "tree, epoch 2 of 3" not in resumed.errors
    assert (tmp_path / "part.npz").read_bytes() == (tmp_path / "whole.npz").read_bytes()
    other = run(*arguments[:-1], 4, "-o", tmp_path / "part.npz", "--epochs", 3, "--checkpoints", tmp_path / "state")
    assert other.code == 1
    assert "is a checkpoint of another training" in other.errors


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GOOD + CYCLE, "bad.conllu, line 5: round-and-round is not a tree: "),
        (
            GOOD + ROOTS,
            "bad.conllu, line 5: two-roots has 2 roots (words 1, 2): expected one; single_root=False (--multi-root) allows more.",
        ),
        (GOOD + BARE, "bad.conllu, line 5: bare has no heads"),
        (GOOD + "1\tTom\n\n", "bad.conllu, line 4: 2 columns"),
        (GOOD + GOOD.replace("\t0\t", "\t9\t"), "bad.conllu, line 5: the head of word 2 is '9'"),
        (GOOD + CYCLE.split("\n", 1)[1], "bad.conllu, line 4 is not a tree: "),
        ("", "bad.conllu holds no trees"),
    ],
)
def test_trees_that_are_none(run, tmp_path, monkeypatch, content, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.conllu").write_text(content)
    done = run("train", "dependency", "bad.conllu", "-o", "m.npz")
    assert (done.code, done.output) == (2 if "UnknownMethod" in done.errors else 1, "")
    assert message in done.errors
    assert not (tmp_path / "m.npz").exists()
    if content:
        skipped = run("train", "dependency", "bad.conllu", "-o", "m.npz", "--on-error", "skip", "--epochs", 1)
        assert skipped.code == 0, skipped.errors
        assert "Left out." in skipped.errors
        assert "from 1 sentence of 2 words" in skipped.errors


def test_several_roots(run, tmp_path):
    (tmp_path / "a.conllu").write_text((GOOD + ROOTS) * 3)
    assert run("train", "dependency", tmp_path / "a.conllu", "-o", tmp_path / "m.npz", "--multi-root", "--epochs", 1).code == 0
    assert not zerogap.load(tmp_path / "m.npz").parser.single_root


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dependency", "none.conllu", "-o", "m.npz"], "none.conllu cannot be read: No such file"),
        (["dependency", "good.conllu", "-o", "none/m.npz"], "none/m.npz cannot be written: none is not a folder"),
        (["dependency", "good.conllu", "-o", "."], "cannot be written: it is a folder"),
        (["dependency", "good.conllu", "-o", "m.npz", "--model", "second"], "order 'second' is not known"),
        (["dependency", "good.conllu", "-o", "m.npz", "--algorithm", "svm"], "Known: mira, perceptron, crf"),
        (["dependency", "good.conllu", "-o", "m.npz", "--algorithm", "crf"], "algorithm 'crf' was given with order 'grandsibling'"),
        (["dependency", "good.conllu", "-o", "m.npz", "--relaxed"], "relaxed=True was given with order 'grandsibling'"),
        (["dependency", "good.conllu", "-o", "m.npz", "--step", "0"], "step is 0.0: expected a number above 0"),
        (["dependency", "good.conllu", "-o", "m.npz", "--dev", "empty.conllu"], "empty.conllu holds no trees"),
        (["dependency", "good.conllu", "-o", "m.npz", "--templates", "empty.conllu"], "empty.conllu holds no templates"),
        (["dependency", "good.conllu", "-o", "m.npz", "--templates", "odd.txt"], "odd.txt, line 2: "),
        (["dependency", "good.conllu", "-o", "m.npz", "--on-error", "no"], "Known: stop, skip"),
        (["dependency", "good.conllu", "-o", "m.npz", "--factors", "sibs"], "--factors 'sibs' is not known. Did you mean 'siblings'?"),
        (["dependency", "good.conllu", "-o", "m.npz", "--factors", ","], "expected names such as siblings,grandchildren,comb"),
        (["dependency", "good.conllu", "-o", "m.npz", "--factors", "none.txt"], "none.txt cannot be read"),
        (["dependency", "good.conllu", "-o", "m.npz", "--factors", "good.conllu"], "good.conllu, line 1, column 1: expected the name"),
        (["dependency", "good.conllu", "-o", "m.npz", "--factors", "comb", "--non-projective"], "expected a projective parser"),
        (["dependency", "good.conllu", "-o", "m.npz", "--factors", "comb", "--model", "grandparent"], "expected first, sibling"),
        (["dependency", "good.conllu", "-o", "m.npz", "--cascade"], "--cascade was given without --dev"),
        (["dependency", "good.conllu", "--dev", "good.conllu", "-o", "m.npz", "--cascade", "--nonprojective"], "with --non-projective"),
        (["tagger", "empty.conllu", "-o", "m.npz"], "empty.conllu holds no tags"),
        (["tagger", "untagged.conllu", "-o", "m.npz"], "untagged.conllu holds no tags"),
        (["tagger", "good.conllu", "-o", "."], "cannot be written: it is a folder"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_message(run, tmp_path, monkeypatch, arguments, message):
    for name, content in (
        ("good.conllu", GOOD), ("empty.conllu", "\n"), ("odd.txt", "arc: head.form\narc: head.\n"),
        ("untagged.conllu", GOOD.replace("PROPN", "_").replace("VERB", "_")),
    ):  # fmt: skip
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    done = run("train", *arguments)
    assert (done.code, done.output) == (2 if "UnknownMethod" in done.errors else 1, "")
    assert message in done.errors
    assert not (tmp_path / "m.npz").exists()


def test_a_tagger_of_universal_tags_only(run, tmp_path):
    (tmp_path / "a.conllu").write_text(GOOD * 5)
    assert run("train", "tagger", tmp_path / "a.conllu", "-o", tmp_path / "t.npz", "--epochs", 2).code == 0
    assert Tagger.load(tmp_path / "t.npz").tag(["Tom", "waits"]).upos == ("PROPN", "VERB")


def test_help_teaches(run):
    assert "zerogap parse article.txt --model mine" in run("train", "dependency", "--help").output
    assert "zerogap train tagger train.conllu" in run("train", "tagger", "--help").output
    assert run("train", "dependency", "x.conllu").code == 2


def test_shards(run, trees, tmp_path):
    """Trees that are learned on two parts of the treebank at once, by two processes."""
    train, test = trees
    found = run("train", "dependency", train, "-o", tmp_path / "mixed.npz", "--model", "first", "--epochs", 4, "--shards", 2)
    assert found.code == 0
    assert run("parse", test, "--model", tmp_path / "mixed.npz", "-o", tmp_path / "parsed.conllu").code == 0
    assert run("train", "dependency", train, "-o", tmp_path / "x.npz", "--model", "first", "--learner", "crf", "--shards", 2).code == 1
