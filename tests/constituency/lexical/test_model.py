"""The head-driven model: probabilities that sum to one, and parses of a treebank."""

import numpy as np
import pytest

from zerogap.constituency.evaluation import evaluate
from zerogap.constituency.lexical.counts import MEMORIES, STOP, annotated, count_events, has_verb
from zerogap.constituency.lexical.decoding import decode_lexical
from zerogap.constituency.lexical.model import train_lexical
from zerogap.constituency.treebank.cleaning import cleaned
from zerogap.constituency.treebank.head_rules import dependency_heads
from zerogap.constituency.treebank.splits import splits_named
from zerogap.errors import Infeasible, InputError, UnknownMethod
from zerogap.io.formats.brackets import read_trees, tree_from_text
from zerogap.proof.constituency.lexical import lexical_bound
from zerogap.proof.verify import verify

TEXTS = [
    "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))",
    "(TOP (S (NP (NP (DT the) (NN dog)) (PP (IN in) (NP (NN town)))) (VP (VBZ sleeps)) (. .)))",
    "(TOP (S (NP (NNS dogs)) (VP (VBP see) (NP (DT a) (NN man)) (PP (IN with) (NP (NN town)))) (. .)))",
]
TREES = [tree_from_text(text) for text in TEXTS]


def test_counts_by_hand():
    counts = count_events(TREES[:1], memory="label")
    assert counts.heads["NP", "NN", "NN", "dog"] == 1
    assert counts.steps[("NP", "NN", 0, "-"), 0, "DT", "NN", "dog"] == 1
    assert counts.steps[("NP", "NN", 0, "DT"), 0, STOP, "NN", "dog"] == 1
    assert counts.steps[("S", "VP", 1, "-"), 0, ".", "VBZ", "barks"] == 1
    assert counts.steps[("S", "VP", 0, "-"), 0, "NP", "VBZ", "barks"] == 1
    assert counts.sisters["NP", 0, "NN", "dog", "VBZ", "barks"] == 1
    assert counts.sisters["", 0, "DT", "the", "NN", "dog"] == 1
    assert counts.roots["VBZ", "barks"] == 1
    assert counts.root == "TOP"


def test_verbs_between():
    verbs = [0, 0, 1, 1, 2]  # the second and the fourth of four words
    assert [has_verb(verbs, 0, edge) for edge in range(5)] == [False, False, True, True, True]
    assert [has_verb(verbs, 3, edge) for edge in range(5)] == [True, True, False, False, False]


def test_annotated_trees():
    tree = annotated(TREES[1], vertical=2, splits=splits_named(("base",)))
    assert [node.label for node in tree.subtrees[0].subtrees[0].subtrees] == ["NP^NP^base", "PP^NP"]


@pytest.mark.parametrize("memory", list(MEMORIES))
def test_probabilities(memory):
    """What a step can become sums to one for every head, seen or not."""
    model = train_lexical(TREES, memory=memory)
    for head in (("NN", "dog"), ("NN", "cat"), ("VBZ", "barks")):
        shares = model.mixture.column(*head)
        steps: dict[int, list[int]] = {}
        for r, event in enumerate(model.binary_event.tolist()):
            here = int(model.grammar.binary[r, 1 + model.grammar.head_side[r]])
            steps.setdefault(here, []).append(event)
        for u, event in enumerate(model.unary_event.tolist()):
            if model.grammar.unary_edge[u] >= 0:
                steps.setdefault(int(model.grammar.unary[u, 1]), []).append(event)
        for events in steps.values():
            assert shares[events].sum(axis=0) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("rules", ["yamada", "collins"])
def test_it_parses_what_it_has_seen(rules):
    model = train_lexical(TREES, head_rules=rules)
    for tree in TREES:
        for tags in (tree.tags(), None):
            problem = model.problem(tree.words(), tags=tags)
            solution = decode_lexical(problem)
            assert lexical_bound(problem, solution.certificate, 0) * problem.resolution == solution.score
        assert model.tree(solution.structure, tree.words()) == tree
        assert problem.heads(solution.structure) == tuple(dependency_heads(tree, rules=rules))


def test_errors():
    with pytest.raises(UnknownMethod, match="Did you mean 'class'"):
        train_lexical(TREES, memory="clas")
    with pytest.raises(InputError, match="there are no trees"):
        train_lexical([])
    with pytest.raises(InputError, match="'S' on top, others 'TOP'"):
        train_lexical([*TREES, *TREES[0].subtrees])


@pytest.mark.data
def test_a_treebank(data):
    """Pruned and unpruned search agree on real sentences and are verified; heads are those of the head rules."""
    trees = [cleaned(tree) for tree in read_trees(data / "ptb" / "dev.mrg")]
    model = train_lexical(trees[:200], vertical=1)
    some = [tree for tree in trees[200:] if len(tree.words()) <= 14][:8]
    parses, parsed = [], []
    for tree in some:
        problem = model.problem(tree.words(), tags=tree.tags())
        try:
            solution = decode_lexical(problem)
        except Infeasible:  # training is small
            continue
        parsed.append(tree)
        assert solution.status == "optimal"
        assert decode_lexical(problem, pruning=False).score == solution.score
        parses.append(model.tree(solution.structure, tree.words()))
        assert problem.heads(solution.structure) == tuple(dependency_heads(parses[-1]))
        verify(problem, solution)
    assert len(parses) >= 5
    assert evaluate(parsed, parses).f1 > 0.6
    assert np.isfinite(decode_lexical(model.problem(parsed[0].words())).score)
