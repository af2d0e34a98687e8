"""Tree-to-string rules: what they match, against all ways to cut a tree; bad lines."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.forest_brute import all_derivations
from zerogap.errors import FormatError, Infeasible, InputError
from zerogap.io.formats.brackets import tree_from_text
from zerogap.io.translation.tree_rules import node_of, parse_rule, read_tree_rules
from zerogap.translation.forests.from_tree import TreeRule, tree_forest

TREE = node_of(tree_from_text("(S (NP (DT the) (NN dog)) (VP (VB barks)))"))
RULES = """(S [NP,1] [VP,2]) ||| [VP,2] [1] ||| p=-1
(S (NP (DT the) [NN,1]) [VP,2]) ||| le [1] [2] ||| p=-0.5

(NP (DT the) (NN dog)) ||| le chien ||| p=-2 q=1
(NN dog) ||| chien ||| p=-0.25
(VP (VB barks)) ||| aboie |||
"""


def rules(tmp_path):
    (tmp_path / "rules").write_text(RULES)
    return read_tree_rules(tmp_path / "rules")


def test_matches(tmp_path):
    forest = tree_forest(rules(tmp_path), TREE, {"p": 2.0, "q": 10.0, "words": 0.5, "lm": 1.0}, strict=False)
    found = {forest.translation(y): float(forest.scores[list(y)].sum()) for y in all_derivations(forest)}
    assert found == {"aboie le chien": -2 - 4 + 10 + 1.5, "le chien aboie": -1 - 0.5 + 1.5}


def test_nodes_without_rules(tmp_path):
    few = [rule for rule in rules(tmp_path) if rule.source[0] != "S"]
    forest = tree_forest(few, TREE, {"p": 1.0, "glue": -3.0, "oov": -7.0, "words": 0.25})
    (derivation,) = all_derivations(forest)
    assert forest.translation(derivation) == "le chien aboie"
    assert forest.scores[list(derivation)].sum() == -3 - 2 + 3 * 0.25
    bare = tree_forest([], TREE, {"glue": -3.0, "oov": -7.0})
    (derivation,) = all_derivations(bare)
    assert bare.translation(derivation) == "the dog barks"
    assert bare.scores[list(derivation)].sum() == 6 * -3 + 3 * -7
    with pytest.raises(Infeasible, match="no rules cover the node 'S' over 'the dog barks'"):
        tree_forest(few, TREE, {}, strict=True)
    with pytest.raises(InputError, match="'fluency', which no rule has"):
        tree_forest(few, TREE, {"fluency": 1.0})


@st.composite
def trees(draw, depth=3):
    label = draw(st.sampled_from("AB"))
    if depth == 0 or draw(st.booleans()):
        return label, (draw(st.sampled_from("xy")),)
    return label, tuple(draw(trees(depth - 1)) for _ in range(draw(st.integers(1, 2))))


def fragments(node):
    """All fragments at a node, as (fragment, nodes cut off)."""
    choices = [((), ())]
    for child in node[1]:
        if isinstance(child, str):
            options = [(child, ())]
        else:
            options = [(None, (child,)), *fragments(child)]
        choices = [((*parts, part), (*cut, *more)) for parts, cut in choices for part, more in options]
    return [((node[0], parts), cut) for parts, cut in choices]


def numbered(fragment, count):
    children = []
    for part in fragment[1]:
        if part is None:
            children.append(count[0])
            count[0] += 1
        else:
            children.append(part if isinstance(part, str) else numbered(part, count))
    return fragment[0], tuple(children)


def ways(node):
    """How many ways there are to cut a tree into fragments."""
    return sum(int(np.prod([ways(below) for below in cut])) for _, cut in fragments(node))


@given(trees())
@settings(max_examples=60)
def test_every_way_to_cut_a_tree(tree):
    every = {}

    def collect(node):
        for fragment, cut in fragments(node):
            rule = TreeRule(numbered(fragment, [0]), tuple(below[0] for below in cut), tuple(range(len(cut))), {})
            every[rule.source, rule.frontier] = rule
        for child in node[1]:
            if not isinstance(child, str):
                collect(child)

    collect(tree)
    forest = tree_forest(list(every.values()), tree, {}, strict=True)
    assert sum(1 for _ in all_derivations(forest)) == ways(tree)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("(S [NP,1]) ||| a ||| p=1", "expected each of the 1 of its source side once"),
        ("(S [NP,1]) ||| [2] ||| p=1", r"target nonterminal \[2\] which its source side does not have"),
        ("(S [NP,1]) ||| [VP,1] ||| p=1", "does not have"),
        ("(S [NP,1] [VP,1]) ||| [1] ||| p=1", "two source nonterminals"),
        ("(S [1]) ||| [1] |||", "no label"),
        ("(S (NP a) ||| b |||", "not closed"),
        ("(S a) b ||| c |||", "goes on"),
        ("(S) ||| c |||", "no children"),
        ("S ||| c |||", "expected a tree"),
        ("(S a) ||| c ||| p=x", "expected name=number"),
        ("(S a)", "1 fields"),
    ],
)
def test_bad_lines(line, message):
    with pytest.raises(FormatError, match=message):
        parse_rule(line, "rules, line 3")
