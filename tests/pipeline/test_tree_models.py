"""Constituency models of all kinds: taggers as partners, files, parsers, words on their way in."""

import dataclasses

import numpy as np
import pytest

from zerogap.archive import read_archive, write_archive
from zerogap.constituency.files import load_model, load_tagger, save_model, save_tagger
from zerogap.constituency.grammars.pcfg import train
from zerogap.constituency.joint.model import train_joint
from zerogap.constituency.lexical.agreement import decode_agreement
from zerogap.constituency.lexical.model import train_lexical
from zerogap.constituency.lexical.pair import LexicalPair, train_pair
from zerogap.errors import FormatError, Infeasible, InputError, UnknownMethod
from zerogap.io.formats.brackets import tree_from_text
from zerogap.oracles.labels.trigram_prices import Candidates, best_tags
from zerogap.pipeline.tree_parsers import TreeParser, compact, narrowed
from zerogap.pipeline.tree_sources import as_treebank, read_words
from zerogap.proof.verify import verify
from zerogap.sequence.tagger.joint import FeatureTagger, train_feature_tagger
from zerogap.sequence.tagger.training import train_tagger

TREES = [
    tree_from_text(f"(TOP {text})")
    for text in (
        "(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))",
        "(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (DT a) (NN dog))) (. .))",
        "(S (NP (NNS dogs)) (VP (VBP see) (NP (NP (DT a) (NN man)) (PP (IN with) (NP (DT a) (NN cat))))) (. .))",
        "(S (NP (DT a) (NN man)) (VP (VBZ sees) (NP (DT the) (NN dog)) (PP (IN with) (NP (NNS cats)))) (. .))",
    )
]
TAGGED = [(tree.words(), tree.tags()) for tree in TREES]
WORDS = ["the", "man", "sees", "dogs", "with", "cats", "."]


@pytest.fixture(scope="module")
def models():
    tagger = train_feature_tagger(TAGGED, epochs=2)
    pair = train_pair(TREES, epochs=1)
    return {
        "pcfg": train(TREES), "hmm": train_joint(TREES), "features": train_joint(TREES, tagger=tagger), "lexical": train_lexical(TREES),
        "pair": pair, "three-way": dataclasses.replace(pair, tag_weight=1.0),
    }  # fmt: skip


def test_scores_of_the_feature_tagger_are_those_of_the_tagger(models):
    tagger = models["features"].tagger
    for words in (WORDS, ["dogs"], ["Unknown", "words", "here", "."], *(words for words, _ in TAGGED)):
        nodes = tagger.emissions(words)
        some = Candidates.of(nodes > -np.inf)
        path = np.empty(len(words), dtype=np.int64)
        scores = nodes.reshape(-1)[some.places]
        best_tags(some.first, some.pair, some.tags, scores, tagger.transitions, np.empty(some.pair[-1]), path)
        assert [tagger.tags[tag] for tag in some.tags[path]] == tagger.tag(words)


def test_a_tagger_with_other_edges_is_refused():
    with pytest.raises(InputError, match="expected 'bias' alone"):
        FeatureTagger(train_tagger([(words, tags, tags) for words, tags in TAGGED], epochs=1))


@pytest.mark.parametrize("kind", ["pcfg", "hmm", "features", "lexical", "pair", "three-way"])
def test_files(models, kind, tmp_path):
    path = tmp_path / "model.npz"
    save_model(models[kind], path)
    first, again = TreeParser(models[kind]).parse(WORDS), TreeParser(load_model(path)).parse(WORDS)
    assert first.tree == again.tree
    assert first.solution.score == again.solution.score
    assert again.solution.status == "optimal"
    assert "so it is optimal" in verify(again.problem, again.solution).checked


@pytest.mark.parametrize("kind", ["pcfg", "hmm", "features", "lexical", "pair"])
def test_damaged_files(models, kind, tmp_path):
    path, broken = tmp_path / "model.npz", tmp_path / "broken.npz"
    save_model(models[kind], path)
    data = path.read_bytes()
    broken.write_bytes(data[: len(data) // 2])
    with pytest.raises(FormatError, match=r"broken\.npz"):
        load_model(broken)
    header, arrays = read_archive(str(path), *kind_of(path))
    for name in sorted(arrays)[:4]:
        write_archive(str(broken), header, {key: value for key, value in arrays.items() if key != name})
        with pytest.raises(FormatError, match=r"broken\.npz"):
            load_model(broken)


def kind_of(path):
    from zerogap.archive import format_of

    return format_of(str(path)), 1


def test_parts_of_a_file_are_named(models, tmp_path):
    path = tmp_path / "pair.npz"
    save_model(models["pair"], path)
    header, arrays = read_archive(str(path), *kind_of(path))
    write_archive(str(path), header, arrays | {"tagger": arrays["tagger"][:100]}, compressed=False)
    with pytest.raises(FormatError, match=r"pair\.npz, part 'tagger'"):
        load_model(path)


def test_a_tagger_in_a_file(models, tmp_path):
    save_tagger(models["hmm"].tagger, tmp_path / "tagger.npz")
    again = load_tagger(tmp_path / "tagger.npz")
    assert again.tag(WORDS) == models["hmm"].tagger.tag(WORDS)
    with pytest.raises(FormatError, match="expected a constituency parser"):
        load_model(tmp_path / "tagger.npz")


def test_three_models_agree(models):
    """The best tree under all three is what the sum of the three says, and no other tree of theirs scores more."""
    model = models["three-way"]
    problem = model.problem(WORDS)
    solution = decode_agreement(problem)
    found = problem.lexical.derive(solution.structure)
    assert solution.status == "optimal"
    assert solution.score == found.score + problem.tree_score(found.heads) + problem.tagging.score(found.candidates)
    assert "so it is optimal" in verify(problem, solution).checked
    for kind in ("pair", "lexical"):
        other = TreeParser(models[kind]).parse(WORDS).solution.structure
        assert problem.score(other) <= solution.score


def test_given_tags(models):
    tags = ["DT", "NN", "VBZ", "NNS", "IN", "NNS", "."]
    for kind, model in models.items():
        parsed = TreeParser(model).parse(WORDS, tags=tags)
        assert parsed.tree.tags() == tags, kind
        with pytest.raises(InputError, match="'XYZ', which training never saw"):
            TreeParser(model).parse(WORDS, tags=["XYZ", *tags[1:]])
        with pytest.raises(InputError, match="1 entries for 7 words"):
            TreeParser(model).parse(WORDS, tags=["DT"])


def test_smaller_problems_are_the_same(models):
    problem = models["hmm"].problem(WORDS)
    parser = TreeParser(models["hmm"])
    for same in (narrowed(problem), compact(narrowed(problem))):
        assert parser.solve(same).score == parser.solve(problem).score


def test_options(models):
    with pytest.raises(UnknownMethod, match="Did you mean 'auto'"):
        TreeParser(models["pcfg"], method="aut")
    with pytest.raises(InputError, match="glue was asked for"):
        TreeParser(models["lexical"], glue=True)
    with pytest.raises(InputError, match="weight is -1"):
        dataclasses.replace(models["pair"], weight=-1)
    with pytest.raises(InputError, match="tag_weight is 'x'"):
        LexicalPair(models["pair"].lexical, models["pair"].dependency, models["pair"].tagger, 1.0, "x")
    with pytest.raises(InputError, match="no words"):
        TreeParser(models["pcfg"]).parse([])
    with pytest.raises(Infeasible, match="no parse"):
        TreeParser(models["lexical"]).parse([".", "."], tags=[".", "."])


def test_words_as_the_treebank_has_them(tmp_path):
    assert as_treebank(["(", "\u201cGo\u201d", ")"], set()) == ("-LRB-", "\u201cGo\u201d", "-RRB-")
    assert as_treebank(['"', "a", '"', "\u201c", "\u201d"], {"``", "''"}) == ("``", "a", "''", "``", "''")
    assert as_treebank(['"'], {'"', "``"}) == ('"',)
    path = tmp_path / "trees"
    path.write_text("( (S (NP-SBJ (-NONE- *)) (VP (VB Go)) (. !)) )\n")
    found = list(read_words(str(path), set()))
    assert [words.forms for words in found] == [("Go", "!")]
    assert found[0].where.endswith("trees, line 1")
    path.write_text("Go! Stop.\n")
    assert [words.forms for words in read_words(str(path), set())] == [("Go", "!"), ("Stop", ".")]
