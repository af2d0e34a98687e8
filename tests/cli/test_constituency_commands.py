"""Constituency parsers from the command line: trained, used, evaluated; and what is said about bad input."""

import json

import pytest

from zerogap.io.formats.brackets import read_trees

TREES = """\
( (S (NP-SBJ (DT the) (NN dog)) (VP (VBZ barks)) (. .)) )
( (S (NP-SBJ (DT the) (NN cat)) (VP (VBZ sees) (NP (DT a) (NN dog))) (. .)) )
( (S (NP-SBJ (NNS dogs)) (VP (VBP see) (NP (NP (DT a) (NN man)) (PP (IN with) (NP (DT a) (NN cat))))) (. .)) )
( (S (NP-SBJ (DT a) (NN man)) (VP (VBZ sees) (NP (DT the) (NN dog)) (PP (IN with) (NP (NNS cats)))) (. .)) )
"""


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    path = tmp_path_factory.mktemp("trees") / "train.mrg"
    path.write_text(TREES)
    return path


@pytest.fixture(scope="module")
def models(trees, tmp_path_factory):
    """A model of every kind."""
    from zerogap.cli.train.trees import TRAINERS, read
    from zerogap.constituency.files import save_model

    folder = tmp_path_factory.mktemp("models")
    for kind, train in TRAINERS.items():
        model = train(read(str(trees)), weight=None, tag_weight=None, tagger="features", epochs=1)
        save_model(model, folder / f"{kind}.npz")
    return folder


@pytest.mark.parametrize("kind", ["pcfg", "joint", "lexical", "pair", "three-way"])
def test_every_kind_parses_text(run, models, kind):
    found = run("parse", "--constituency", models / f"{kind}.npz", "The dog barks.")
    assert found.code == 0
    assert found.output == "(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks)) (. .)))\n"
    assert "1 sentence, 4 words: all proven optimal" in found.errors


def test_train_parse_evaluate(run, trees, tmp_path):
    model, parsed = tmp_path / "m.npz", tmp_path / "parsed.mrg"
    found = run("train", "constituency", trees, "-o", model, "--kind", "joint", "--tagger", "hmm", "--dev", trees)
    assert found.code == 0, found.errors
    assert "4 trees" in found.errors
    assert "development: F1 100.00" in found.errors
    assert "100.0% proven optimal" in found.errors
    assert run("parse", "--constituency", model, trees, "-o", parsed).code == 0
    assert len(list(read_trees(parsed))) == 4
    table = run("evaluate", "constituency", trees, parsed).output
    assert "labelled F1               100.00      100.00" in table
    assert "exact match               100.00      100.00" in table


def test_formats(run, models):
    model = models / "joint.npz"
    drawn = run("parse", "--constituency", model, "the dog barks .", "--format", "tree").output
    assert "├─ NP\n│  ├─ DT the\n" in drawn
    assert "(proven optimal, score " in drawn
    value = json.loads(run("parse", "--constituency", model, "the dog barks .", "--format", "json").output)
    assert value["status"] == "optimal"
    assert value["tags"] == ["DT", "NN", "VBZ", "."]
    assert {"label": "NP", "start": 0, "end": 2} in value["constituents"]
    assert run("parse", "--constituency", model, "the dog barks .", "--format", "svg").output.startswith("<svg")
    two = run("parse", "--constituency", model, "the dog barks .\n\nthe cat sees a dog .", "--format", "svg")
    assert two.code == 1
    assert "expected one for a picture" in two.errors


def test_certificates(run, models, tmp_path):
    proofs = tmp_path / "proofs.jsonl"
    for kind in ("pcfg", "joint", "lexical", "pair", "three-way"):
        assert run("parse", "--constituency", models / f"{kind}.npz", "the dog sees a cat .", "--certificates", proofs).code == 0
        assert "1 of them optimal" in run("verify", proofs).output
        value = json.loads(proofs.read_text())
        value["solution"]["score"] = value["solution"]["bound"] = value["solution"]["bound"] + 1.0
        proofs.write_text(json.dumps(value) + "\n")
        assert run("verify", proofs).code == 1


def test_grammars_as_text_and_glue(run, tmp_path):
    grammar = tmp_path / "g.gr"
    grammar.write_text("S -> N V [1]\nN -> 'dogs' [1]\nV -> 'bark' [1]\n")
    assert run("parse", "--constituency", grammar, "dogs bark").output == "(S (N dogs) (V bark))\n"
    stuck = run("parse", "--constituency", grammar, "bark dogs")
    assert stuck.code == 1
    assert "no symbol covers words 0 to 1" in stuck.errors
    assert "--glue" in stuck.errors
    glued = run("parse", "--constituency", grammar, "bark dogs", "--glue")
    assert glued.code == 0
    assert "(V bark) (N dogs)" in glued.output
    assert "glued together" in glued.errors


def test_bad_input(run, trees, models, tmp_path):
    broken = tmp_path / "broken.mrg"
    broken.write_text("(S (NP (NNS dogs))\n   (VP (VBP bark)\n")
    found = run("train", "constituency", broken, "-o", tmp_path / "m.npz")
    assert found.code == 1
    assert "broken.mrg, line 1, column 1: the bracket that opens here is never closed (2 are open)" in found.errors
    assert not (tmp_path / "m.npz").exists()
    other = tmp_path / "other.mrg"
    other.write_text(TREES.replace("cat)", "cow)", 1))
    found = run("evaluate", "constituency", trees, other)
    assert found.code == 1
    assert "line 2" in found.errors
    assert "expected those of the treebank" in found.errors
    other.write_text(TREES.split("\n")[0])
    assert "has 4 trees" in run("evaluate", "constituency", trees, other).errors
    assert "Did you mean 'joint'" in run("train", "constituency", trees, "-o", tmp_path / "m.npz", "--kind", "jont").errors
    assert run("train", "constituency", trees, "-o", tmp_path / "m.npz", "--kind", "pcfg", "--weight", "1").code == 2
    assert "no such file" in run("parse", "--constituency", tmp_path / "none.npz", "a b").errors
    assert "is of the kind" in run("parse", "--constituency", damaged(tmp_path, models), "a b").errors


def damaged(tmp_path, models):
    """A file of another kind."""
    from zerogap.sequence.tagger.training import train_tagger

    path = tmp_path / "tagger.npz"
    train_tagger([(["a"], ["X"], ["X"])], epochs=1).save(path)
    return path


def test_sentences_without_a_parse_count(run, trees, tmp_path):
    parsed = tmp_path / "parsed.mrg"
    parsed.write_text("(())\n" + "\n".join(TREES.split("\n")[1:]))
    table = run("evaluate", "constituency", trees, parsed).output
    assert "without a parse                1           1" in table


def test_weights_are_told_of_in_one_line(tmp_path):
    """As users see it: the message, and not the line of our code that warned."""
    import subprocess
    import sys

    grammar = tmp_path / "g.gr"
    grammar.write_text("S -> N V [1]\nN -> 'dogs' [0.5] | 'cats' [0.6]\nV -> 'bark' [1]\n")
    command = [sys.executable, "-m", "zerogap.cli.main", "parse", "--constituency", grammar, "dogs bark"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    warned = [line for line in done.stderr.splitlines() if "do not sum to one" in line]
    assert len(warned) == 1
    assert warned[0].startswith(f"zerogap: {grammar}: the probabilities of 1 of 3 symbols")
    assert "UserWarning" not in done.stderr
