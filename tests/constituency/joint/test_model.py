"""Extracted grammars with a tagger: preterminals that share a tag, cycles of unary rules, trained models, the hard pipeline."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.constituency_lp import solve_lp
from zerogap.constituency import JointProblem, decode, grammar
from zerogap.constituency.evaluation import evaluate
from zerogap.constituency.grammars.extraction import Markovisation
from zerogap.constituency.grammars.pcfg import train
from zerogap.constituency.joint.hmm_tagger import train_tagger
from zerogap.constituency.joint.model import JointModel, train_joint, tree_from
from zerogap.constituency.joint.parser_and_tagger import Halves
from zerogap.constituency.pipeline_decoding import decode_pipeline
from zerogap.constituency.treebank.cleaning import cleaned
from zerogap.errors import Infeasible, InputError, InvalidStructure, ScoreShapeError, VerificationError
from zerogap.io.formats.brackets import read_trees, tree_from_text
from zerogap.problems.constituency.joint import subtrees
from zerogap.proof import Multipliers
from zerogap.proof.verify import verify
from zerogap.testing.strategies import score_arrays

PRETERMINALS = {"A^X": "a", "A^Y": "a", "B": "b"}
SYMBOLS = ("A^X", "A^Y", "B", "X", "Y", "S")


@st.composite
def split_problems(draw):
    """Two tags of three preterminals, and unary rules that go round in a cycle."""
    rules = {(x, ("word",)): 0.0 for x in PRETERMINALS} | {
        ("S", ("X",)): 0.0,
        ("X", ("Y",)): -1.0,
        ("Y", ("X",)): float(draw(st.integers(-1, 1))),
    }
    for _ in range(draw(st.integers(2, 9))):
        parent = draw(st.sampled_from(("X", "Y", "S")))
        right = tuple(draw(st.lists(st.sampled_from(SYMBOLS[:-1]), min_size=1, max_size=2)))
        if right != (parent,) and (parent, right) not in rules:
            rules[parent, right] = float(draw(st.integers(-3, 0 if len(right) == 1 else 3)))
    g = grammar([(p, right, s) for (p, right), s in rules.items()], root="S", cycles=True)
    n, order = draw(st.integers(1, 4)), draw(st.integers(2, 4))
    lexical = np.full((n, len(g.symbols)), -np.inf)
    lexical[:, [g.symbols.index(x) for x in PRETERMINALS]] = draw(score_arrays((n, 3)))
    return JointProblem(
        g, tags=("b", "a"), lexical=lexical, emissions=draw(score_arrays((n, 2))), transitions=draw(score_arrays((3,) * order)),
        preterminals=PRETERMINALS,
    )  # fmt: skip


def all_trees(problem, i, j, symbol, above=()):
    """All trees in which no symbol comes twice in a chain."""
    names = problem.grammar.symbols
    found = [(names[symbol], i)] if j == i + 1 and problem.lexical[i, symbol] > -np.inf else []
    for parent, child in problem.grammar.unary.tolist():
        if parent == symbol and child not in above:
            found += [(names[symbol], below) for below in all_trees(problem, i, j, child, (*above, symbol))]
    for parent, left, right in problem.grammar.binary.tolist():
        if parent == symbol:
            for split in range(i + 1, j):
                found += [(names[symbol], a, b) for a in all_trees(problem, i, split, left) for b in all_trees(problem, split, j, right)]
    return found


@given(split_problems(), st.sampled_from(["auto", "intersection", "ilp"]))
@settings(max_examples=60)
def test_every_method_against_all_trees(problem, method):
    trees = all_trees(problem, 0, problem.n_words, problem.grammar.root)
    best = max((problem.score(tree) for tree in trees), default=-np.inf)
    if best == -np.inf:
        with pytest.raises(Infeasible):
            decode(problem, method=method)
        return
    solution = decode(problem, method=method)
    problem.check(solution.structure)
    assert solution.score == solution.bound == best
    assert verify(problem, solution).bound == best
    with pytest.raises(VerificationError):
        verify(problem, replace(solution, bound=best - problem.unit))


@given(split_problems(), st.sampled_from([0.0, 0.4, 1.0]))
@settings(max_examples=40)
def test_multipliers_alone_and_the_pipeline_are_never_wrong(problem, push):
    trees = all_trees(problem, 0, problem.n_words, problem.grammar.root)
    best = max((problem.score(tree) for tree in trees), default=-np.inf)
    if best == -np.inf:
        return
    solution = decode(problem, method="dual-decomposition", max_iterations=5, push=push)
    assert solution.score <= best <= solution.bound
    verify(problem, solution)
    try:
        tree = decode_pipeline(problem)
    except Infeasible:
        return
    assert problem.score(tree) <= best
    # no other sequence of tags is better for the tagger, given what the grammar knows of every word
    others = {tuple(problem.tag_numbers(tree)) for tree in trees}
    assert problem.tagging_score(problem.tag_numbers(tree)) == max(problem.tagging_score(tags) for tags in others)


def example_4_4_1() -> JointProblem:
    """Parses want A A B or A B A, the tagger A A A or A B B: halves of each agree on every word, whole ones do not."""
    g = grammar(
        [("X", ["A", "X"], 0), ("X", ["A", "B"], 0), ("X", ["B", "A"], 0), ("X", ["A", "A"], -1), ("X", ["B", "B"], -1)]
        + [(tag, [word], 0) for tag in "AB" for word in ("s1", "s2", "s3")],
        root="X",
    )  # fmt: skip
    transitions = np.full((3, 3, 3), -1.0)
    for a, b, c in ((2, 2, 0), (2, 0, 0), (2, 0, 1), (0, 0, 0), (0, 1, 1), (0, 0, 2), (1, 1, 2)):
        transitions[a, b, c] = 0.0
    return JointProblem(g, ["s1", "s2", "s3"], tags=("A", "B"), transitions=transitions)


def test_example_4_4_1_has_a_fractional_optimum_that_branching_closes():
    problem = example_4_4_1()
    halves = Halves.of(problem)
    assert solve_lp(problem, halves.indexed, halves.chart()) == pytest.approx(0.0)
    dual = decode(problem, method="dual-decomposition")
    assert dual.status == "feasible"
    assert dual.bound == 0.0
    solution = decode(problem)
    assert solution.status == "optimal"
    assert solution.score == decode(problem, method="intersection").score == -1.0
    verify(problem, solution)


TREES = [
    tree_from_text(text)
    for text in (
        "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))",
        "(TOP (S (NP (DT the) (JJ old) (NN dog)) (VP (VBZ sees) (NP (DT a) (NN cat))) (. .)))",
        "(TOP (S (NP (NNS dogs)) (VP (VBP see) (NP (NP (NNS cats)) (PP (IN in) (NP (NNS parks))))) (. .)))",
        "(TOP (NP (NP (NNS dogs)) (PP (IN in) (NP (DT the) (NN park))) (. .)))",
    )
]
SPLIT = Markovisation(horizontal=1, vertical=2, tag_parents=True)


def test_a_trained_model():
    model = train_joint(TREES, markovisation=SPLIT, weight=1.0)
    assert len(model.pcfg.lexicon.tags) > len(model.tagger.tags)
    assert evaluate(TREES, [model.parse(tree.words()) for tree in TREES]).f1 == 1.0
    words = ["the", "cat", "zaps", "."]
    problem = model.problem(words)
    solution = decode(problem)
    assert solution.status == "optimal"
    assert isinstance(solution.certificate, Multipliers)
    verify(problem, solution)
    assert tree_from(solution.structure, words).words() == words
    assert problem.score(decode_pipeline(problem)) <= solution.score
    assert problem.rules is model.problem(["dogs", "bark"]).rules  # sentences share what is made of the grammar


def test_tampered_multipliers_fail():
    model = train_joint(TREES, markovisation=SPLIT, weight=1.0)
    problem = model.problem(["the", "old", "cats", "see", "."])
    solution = decode(problem)
    values = list(solution.certificate.values)
    part = 2 * len(problem.tags) + problem.tag_numbers(solution.structure)[2]
    values[part] += 64.0  # the tagger gets more for this tag than the parser can lose by another
    with pytest.raises(VerificationError):
        verify(problem, replace(solution, certificate=Multipliers(tuple(values))))
    with pytest.raises(VerificationError, match="multipliers for"):
        verify(problem, replace(solution, certificate=Multipliers(tuple(values[1:]))))


def test_bad_input():
    model = train_joint(TREES, markovisation=SPLIT, glue=None)
    with pytest.raises(InputError, match="tokens has 1 entries, the sentence 2 words"):
        model.problem(["dogs", "bark"], tokens=["dogs"])
    with pytest.raises(InputError, match=r"tokens\[1\] is 'barks', the leaf there is 'bark'"):
        model.problem(["dogs", "bark"], tokens=["dogs", "barks"])
    assert model.problem(["dogs", "bark"], tokens=["dogs", "bark"]).n_words == 2
    with pytest.raises(InputError, match="no words"):
        model.problem([])
    with pytest.raises(InputError, match="weight is -1"):
        JointModel(model.pcfg, model.tagger, -1.0)
    with pytest.raises(InputError, match="expected labels that are tags"):
        JointModel(model.pcfg, train_tagger([[("a", "X")]]))
    problem = model.problem(TREES[0].words())
    with pytest.raises(InvalidStructure, match="leaves are the words"):
        problem.check(decode(model.problem(TREES[1].words())).structure)
    with pytest.raises(InputError, match="has 4 leaves: expected one for each of the 2 words"):
        tree_from(decode(problem).structure, ["the", "dog"])
    with pytest.raises(InputError, match="push is 2"):
        decode(problem, push=2)
    parts = {"tags": problem.tags, "lexical": problem.lexical, "transitions": problem.transitions}
    labels = {name: problem.tags[tag] for name, (_, tag) in problem.leaf_tags.items()}
    with pytest.raises(ScoreShapeError, match=r"emissions has shape \(3, "):
        JointProblem(problem.grammar, **parts, preterminals=labels, emissions=problem.emissions[1:])
    with pytest.raises(InputError, match="preterminals has the symbol 'XX'"):
        JointProblem(problem.grammar, **parts, preterminals={"XX": "DT"})
    with pytest.raises(InputError, match="preterminals has the tag 'XX'"):
        JointProblem(problem.grammar, **parts, preterminals=dict.fromkeys(labels, "XX"))


def test_scores_need_not_be_probabilities():
    g = grammar([("S", ["N", "V"], 7.5), ("N", ["dogs"], 3), ("V", ["bark"], -2)], root="S")
    problem = JointProblem(g, ["dogs", "bark"], tags=("N", "V"), transitions=np.full((3, 3), 11.0))
    assert decode(problem).score == 7.5 + 3 - 2 + 33


def test_a_sentence_without_a_parse_names_what_nothing_covers():
    g = grammar([("S", ["NP", "V"], 0), ("NP", ["D", "N"], 0), ("D", ["the"], 0), ("N", ["dogs"], 0), ("V", ["bark"], 0)], root="S")
    options = {"tags": ("N", "V", "D"), "transitions": np.zeros((4, 4))}
    with pytest.raises(Infeasible, match="no symbol covers words 1 to 2") as caught:
        decode(JointProblem(g, ["the", "dogs", "dogs", "bark"], **options))
    assert caught.value.conflict == ((1, 3),)
    forbidden = np.zeros((3, 3))
    forbidden[1] = -np.inf
    with pytest.raises(Infeasible, match="word 1 has no symbol"):
        decode(JointProblem(g, ["the", "dogs", "bark"], emissions=forbidden, **options))


def test_the_pipeline_may_have_no_parse():
    g = grammar([("S", ["N", "V"], 0), ("N", ["dogs"], 0), ("V", ["bark"], 0), ("N", ["bark"], 0)], root="S")
    transitions = np.zeros((3, 3))
    transitions[0, 0] = 5.0
    problem = JointProblem(g, ["dogs", "bark"], tags=("N", "V"), transitions=transitions)
    assert decode(problem).structure == ("S", ("N", 0), ("V", 1))
    with pytest.raises(Infeasible, match="no parse with the tagger's tags N N"):
        decode_pipeline(problem)
    with pytest.raises(Infeasible, match="forbidden by the tagger"):
        decode_pipeline(JointProblem(g, ["dogs", "bark"], tags=("N", "V"), transitions=np.full((3, 3), -np.inf)))


@pytest.mark.data
def test_a_treebank(data):
    """A small grammar and its tagger: every sentence is decoded to a proof, the proof holds, and the pipeline is never better."""
    trees = [cleaned(tree) for tree in read_trees(data / "ptb" / "dev.mrg")]
    tagger = train_tagger(zip(tree.words(), tree.tags(), strict=True) for tree in trees)
    model = JointModel(train(trees[:100], markovisation=SPLIT, weight=1.0), tagger, 0.5)
    some = [tree for tree in trees[100:] if len(tree.words()) <= 15][:8]
    for tree in some:
        problem = model.problem(tree.words())
        solution = decode(problem)
        assert solution.status == "optimal"
        assert verify(problem, solution).bound == solution.score
        assert problem.score(decode_pipeline(problem)) <= solution.score
        leaves = [node for node in subtrees(solution.structure) if isinstance(node[1], int)]
        assert [problem.tags[problem.leaf_tags[node[0]][1]] for node in leaves] == tree_from(solution.structure, tree.words()).tags()
