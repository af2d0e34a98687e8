"""Labelled brackets of parses against those of a treebank, counted as evalb does with COLLINS.prm (Collins 1997).

A bracket is a label over the words from one place to another. The top node, traces and punctuation (tags , : `` '' .) do not count,
and neither do words below these; ADVP and PRT are the same. Tags are no brackets. What covers only punctuation is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from zerogap.constituency.treebank.cleaning import EMPTY, cleaned, without_function
from zerogap.constituency.treebank.trees import Tree, spans
from zerogap.errors import InvalidStructure

TOPS = frozenset(("TOP", "ROOT", "S1", ""))
PUNCTUATION = frozenset((",", ":", "``", "''", "."))
EQUAL = {"PRT": "ADVP"}

Bracket = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class BracketScores:
    """Counts over sentences, and the ratios that are made of them."""

    sentences: int = 0
    parsed_sentences: int = 0  # those with a parse
    matched: int = 0
    parsed: int = 0  # brackets
    gold: int = 0
    exact: int = 0  # sentences whose brackets are all right
    crossing: int = 0  # brackets of parses that cross one of the treebank
    without_crossing: int = 0  # sentences
    words: int = 0  # without punctuation
    tags: int = 0  # right ones

    @property
    def precision(self) -> float:
        return self.matched / self.parsed if self.parsed else 0.0

    @property
    def recall(self) -> float:
        return self.matched / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.matched / (self.parsed + self.gold) if self.parsed + self.gold else 0.0

    @property
    def exact_match(self) -> float:
        return self.exact / self.sentences if self.sentences else 0.0

    @property
    def tag_accuracy(self) -> float:
        return self.tags / self.words if self.words else 0.0

    def __add__(self, other: BracketScores) -> BracketScores:
        return BracketScores(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    def __str__(self) -> str:
        return (
            f"F1 {100 * self.f1:.2f}, precision {100 * self.precision:.2f}, recall {100 * self.recall:.2f}, exact "
            f"{100 * self.exact_match:.1f}%, tags {100 * self.tag_accuracy:.2f}% of {self.words:,} words in {self.sentences:,} sentences"
        )


def brackets(tree: Tree, ignored: Sequence[bool]) -> Counter[Bracket]:
    """The brackets of a tree that count, each with how often it is there, given the words that do not count."""
    nodes, starts, ends = spans(tree)
    before = [0]  # words that count before every place
    for skip in ignored:
        before.append(before[-1] + (not skip))
    found: Counter[Bracket] = Counter()
    for node, start, end in zip(nodes, starts, ends, strict=True):
        label = without_function(node.label)
        if not node.is_preterminal and label not in TOPS and before[start] < before[end]:
            found[EQUAL.get(label, label), before[start], before[end]] += 1
    return found


def is_ignored(tree: Tree) -> list[bool]:
    """Which words do not count, by their tags."""
    return [without_function(tag) in PUNCTUATION or tag == EMPTY for tag in tree.tags()]


def sentence_length(tree: Tree) -> int:
    """The number of words without traces and punctuation."""
    return is_ignored(tree).count(False)


def compare(gold: Tree, parsed: Tree | None) -> BracketScores:
    """One sentence. None is a sentence without a parse: all its brackets are missed. The tags of the treebank say what is punctuation."""
    kept = cleaned(gold, functions=True, repeated=True, top=None)
    if kept is None:
        return BracketScores(sentences=1, exact=1, without_crossing=1)
    ignored = is_ignored(kept)
    right, words = brackets(kept, ignored), ignored.count(False)
    if parsed is None:
        return BracketScores(sentences=1, gold=right.total(), words=words, without_crossing=1)
    if kept.words() != parsed.words():
        raise InvalidStructure(f"the words of the parse are {shown(parsed)}: expected those of the treebank, {shown(kept)}.")
    ours = brackets(parsed, ignored)
    crossing = sum(n for (_, a, b), n in ours.items() if any(a < c < b < d or c < a < d < b for _, c, d in right))
    tags = zip(kept.tags(), parsed.tags(), ignored, strict=True)
    return BracketScores(
        sentences=1, parsed_sentences=1, matched=(right & ours).total(), parsed=ours.total(), gold=right.total(), exact=int(right == ours),
        crossing=crossing, without_crossing=int(crossing == 0), words=words, tags=sum(a == b for a, b, skip in tags if not skip),
    )  # fmt: skip


def evaluate(gold: Iterable[Tree], parsed: Iterable[Tree | None], *, longest: int | None = None) -> BracketScores:
    """All sentences, or those of at most `longest` words without punctuation."""
    total = BracketScores()
    for tree, parse in zip(gold, parsed, strict=True):
        if longest is None or sentence_length(tree) <= longest:
            total += compare(tree, parse)
    return total


def shown(tree: Tree) -> str:
    text = " ".join(tree.words())
    return repr(text if len(text) <= 60 else text[:57] + "...")
