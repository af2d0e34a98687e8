"""Trees: cleaned, binarised and back, headed, compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.constituency.treebank.binarising import DIRECTIONS, binarise, is_added, label_of, symbol_of, unbinarise
from zerogap.constituency.treebank.cleaning import cleaned, escaped, unescaped, with_top
from zerogap.constituency.treebank.head_rules import PUNCTUATION, dependency_heads, head_child, head_words
from zerogap.constituency.treebank.splits import SPLITS, splits_named
from zerogap.constituency.treebank.trees import Tree, from_preorder, preorder, spans
from zerogap.errors import InputError, InvalidStructure, UnknownMethod
from zerogap.io.formats.brackets import read_trees, tree_from_text
from zerogap.io.formats.conllu import read_conllu

LABELS = st.one_of(st.sampled_from(["NP", "VP", "S", "NN", "VBZ", "CC", "IN", ","]), st.text(st.sampled_from("A^⟨⟩\\+<>|@"), max_size=3))


def trees():
    """Proper trees: words below tags, any labels, also those that mean something in symbols."""
    leaves = st.builds(lambda label, word: Tree(label, (word,)), LABELS, st.text(max_size=2))
    return st.recursive(leaves, lambda below: st.builds(lambda label, kids: Tree(label, tuple(kids)), LABELS,
                                                        st.lists(below, min_size=1, max_size=5)), max_leaves=15)  # fmt: skip


@given(
    trees(), st.sampled_from([None, 0, 1, 2, 3]), st.integers(1, 3), st.sampled_from(DIRECTIONS), st.booleans(),
    st.sets(st.sampled_from(sorted(SPLITS))),
)  # fmt: skip
def test_unbinarise_undoes_binarise(tree, horizontal, vertical, direction, tag_parents, names):
    splits = splits_named(sorted(names))
    made = binarise(tree, horizontal=horizontal, vertical=vertical, direction=direction, tag_parents=tag_parents, splits=splits)
    assert all(len(node.children) <= 2 for node in preorder(made)[0])
    assert made.words() == tree.words()
    assert unbinarise(made) == tree


@given(st.text(st.sampled_from("AB^⟨⟩\\"), max_size=6), st.text(max_size=3))
def test_symbols_keep_labels(label, more):
    assert label_of(symbol_of(label)) == label
    assert not is_added(symbol_of(label))
    assert label_of(symbol_of(label) + "^" + more) == label
    assert is_added(symbol_of(label) + "⟨x⟩")


def test_markovisation_by_example():
    tree = tree_from_text("(S (NP (DT a) (JJ b) (NN c) (PP d)) (VP (V e)))")

    def noun_phrase(**options):
        return str(binarise(tree, **options).subtrees[0])

    assert noun_phrase(horizontal=1) == "(NP (DT a) (NP⟨DT⟩ (JJ b) (NP⟨JJ⟩ (NN c) (PP d))))"
    assert noun_phrase(horizontal=1, direction="left") == "(NP (NP⟨PP⟩ (NP⟨NN⟩ (DT a) (JJ b)) (NN c)) (PP d))"
    assert noun_phrase(direction="head") == "(NP (DT a) (NP⟨NN<JJ⟩ (JJ b) (NP⟨NN>PP⟩ (NN c) (PP d))))"
    assert noun_phrase(horizontal=0, vertical=2, tag_parents=True).startswith("(NP^S (DT^NP^S a)") is False
    assert noun_phrase(horizontal=0, vertical=2, tag_parents=True).startswith("(NP^S (DT^NP a) (NP^S⟨⟩")
    assert str(binarise(tree, vertical=3).subtrees[1]) == "(VP^S (V e))"
    with pytest.raises(InputError, match="horizontal is -1"):
        binarise(tree, horizontal=-1)
    with pytest.raises(InputError, match="vertical is 0"):
        binarise(tree, vertical=0)
    with pytest.raises(UnknownMethod, match="Did you mean 'right'"):
        binarise(tree, direction="rigth")
    with pytest.raises(UnknownMethod, match="split 'verbs'"):
        splits_named(["verbs"])
    with pytest.raises(InvalidStructure, match="words beside other children"):
        binarise(Tree("A", ("b", "c")))


def test_cleaning():
    tree = tree_from_text("((S (NP-SBJ-1 (NNP A)) (VP (VBD b) (NP (-NONE- *-1)) (PP=2 (PP-LOC (-LRB- -LRB-) (ADVP|PRT (RB c)))))))")
    assert str(cleaned(tree)) == "(TOP (S (NP (NNP A)) (VP (VBD b) (PP (-LRB- -LRB-) (ADVP (RB c))))))"
    assert "NP-SBJ-1" in str(cleaned(tree, functions=True))
    assert "(NP (-NONE- *-1))" in str(cleaned(tree, traces=True))
    assert "(PP (PP (-LRB-" in str(cleaned(tree, repeated=True))
    assert cleaned(tree, top=None).label == ""
    assert cleaned(tree_from_text("(S (NP (-NONE- *)))")) is None
    assert str(with_top(tree_from_text("(S (A b))"))) == "(TOP (S (A b)))"
    assert str(with_top(tree_from_text("(ROOT (S (A b)))"))) == "(TOP (S (A b)))"
    assert str(with_top(tree_from_text("((A b) (C d))"))) == "(TOP (A b) (C d))"
    assert str(with_top(tree_from_text("(A b)"))) == "(TOP (A b))"


@given(st.text(st.sampled_from("()[]{}ab"), max_size=4))
def test_escaped_words_can_be_written(word):
    assert unescaped(escaped(word)) == word
    assert "(" not in escaped(word)


@given(trees())
def test_trees_from_their_nodes(tree):
    nodes, starts, ends = spans(tree)
    sizes = [0 if node.is_preterminal else len(node.children) for node in nodes]
    assert from_preorder([node.label for node in nodes], sizes, tree.words()) == tree
    for node, start, end in zip(nodes, starts, ends, strict=True):
        assert node.words() == tree.words()[start:end]


@given(trees(), st.sampled_from(["collins", "yamada"]))
def test_heads_make_a_projective_tree(tree, rules):
    _, heads = head_words(tree, rules=rules)
    for node, start, end, head in zip(*spans(tree), heads, strict=True):
        assert start <= head < end, node
    found = dependency_heads(tree, rules=rules)
    assert found.count(0) == 1
    for word in range(1, len(found) + 1):  # every word leads to the root
        steps = 0
        while word > 0:
            word, steps = found[word - 1], steps + 1
            assert steps <= len(found)
    assert found[heads[0]] == 0


def test_head_rules_by_example():
    assert head_child("VP", ["TO", "VP"]) == 0
    assert head_child("NP", ["NP", "PP"]) == 0
    assert head_child("NP", ["DT", "NN", "POS"]) == 2
    assert head_child("NP", ["QP", "$"]) == 1
    assert head_child("S-TPC", ["NP-SBJ", "VP"]) == 1
    assert head_child("VP", ["ADVP", "VP", "CC", "VP"]) == 1
    assert head_child("S", ["CC", "S", ",", "CC", "S"], rules="yamada") == 4
    assert head_child("X", [",", "NN"]) == 1
    assert head_child("X", [",", "."]) == 0
    with pytest.raises(UnknownMethod, match="head rules 'colins'"):
        head_child("S", ["NP", "VP"], rules="colins")


@pytest.mark.data
def test_yamadas_rules_give_the_dependency_treebank(data):
    trees = [cleaned(tree) for tree in read_trees(data / "ptb" / "dev.mrg")]
    sentences = [record.sentence for record in read_conllu(data / "ptb_dep" / "dev.conllu")]
    for tree, sentence in zip(trees, sentences, strict=True):
        ours = dependency_heads(tree, rules="yamada")
        for tag, head, expected in zip(tree.tags(), ours, sentence.heads, strict=True):
            assert head == expected or tag in PUNCTUATION
