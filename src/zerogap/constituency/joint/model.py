"""A parser and a tagger that are trained apart and decoded together (Rush 2014, section 4.6.2, with an HMM for the max-ent tagger).

    score(tree) = log P(tree by the PCFG)  +  weight * (score of its tags by the trigram tagger)

The grammar's preterminals are finer than tags: all symbols whose label is a tag stand for it.

model = train_joint(trees)
model.parse(["Dogs", "bark", "."])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from zerogap.constituency.grammars.pcfg import PcfgModel, train
from zerogap.constituency.joint.decoding import decode
from zerogap.constituency.joint.hmm_tagger import train_tagger
from zerogap.constituency.treebank.binarising import label_of, unbinarise
from zerogap.constituency.treebank.trees import Tree, from_preorder
from zerogap.errors import Infeasible, InputError
from zerogap.grid import Scores
from zerogap.problems.constituency.joint import JointProblem, subtrees, tags_of, tags_with_symbols
from zerogap.problems.constituency.joint import Tree as Structure
from zerogap.proof.solution import Solution

WEIGHT = 1.0  # of an HMM tagger, chosen on the development part of the Penn Treebank sample by F1 and tags
RESOLUTION = 2.0**-20  # the same for all sentences, so that they share one rounded grammar


class TrigramTagger(Protocol):
    """What joint models want of a tagger: an `HmmTagger` is one, `sequence.tagger.joint.FeatureTagger` another."""

    @property
    def tags(self) -> tuple[str, ...]: ...

    @property
    def transitions(self) -> Scores: ...  # (tags + 1,) * 3, oldest first, the last index the boundary

    def emissions(self, words: Sequence[str]) -> Scores: ...  # (n, tags)

    def tag(self, words: Sequence[str]) -> list[str]: ...


def checked_weight(name: str, weight: object) -> None:
    if isinstance(weight, bool) or not (isinstance(weight, int | float) and 0.0 <= weight < np.inf):
        raise InputError(f"{name} is {weight!r}: expected a number from 0.")


@dataclass(frozen=True, slots=True, eq=False)
class JointModel:
    """A PCFG, a tagger whose tags are the labels of the PCFG's, and the weight of the tagger."""

    pcfg: PcfgModel
    tagger: TrigramTagger
    weight: float = WEIGHT

    def __post_init__(self) -> None:
        checked_weight("weight", self.weight)
        unknown = [tag for tag in self.pcfg.lexicon.tags if label_of(tag) not in self.tagger.tags]
        if unknown:
            raise InputError(f"the grammar has the preterminal {unknown[0]!r}: expected labels that are tags of the tagger.")

    def problem(self, words: Sequence[str], *, tokens: Sequence[str] | None = None) -> JointProblem:
        """The problem of a sentence. `tokens`, if given, are what another tokeniser made of it for the tagger: they must be the words."""
        if tokens is not None:
            check_same_words(words, tokens)
        lexical = self.pcfg.lexical_scores(words)
        labels = {tag: label_of(tag) for tag in self.pcfg.lexicon.tags}
        return JointProblem(
            self.pcfg.grammar, tags=self.tagger.tags, lexical=lexical, emissions=self.emissions(words, lexical, labels),
            transitions=self.weight * self.tagger.transitions, preterminals=labels, resolution=RESOLUTION,
        )  # fmt: skip

    def emissions(self, words: Sequence[str], lexical: Scores, labels: dict[str, str]) -> Scores:
        """Those of the tagger. A word for which the models know no common tag has the parser's, at the tagger's lowest score."""
        table = self.tagger.emissions(words)
        place = {tag: i for i, tag in enumerate(self.tagger.tags)}
        tag_of = np.array([place[label] for label in labels.values()])
        allowed = tags_with_symbols(lexical[:, self.pcfg.tag_symbols], tag_of, len(place))
        finite = table[np.isfinite(table)]
        for i in np.flatnonzero(~(allowed & np.isfinite(table)).any(axis=1)):
            table[i, allowed[i]] = finite.min(initial=0.0)
        return np.where(np.isfinite(table), self.weight * np.where(np.isfinite(table), table, 0.0), -np.inf)

    def decode(self, words: Sequence[str], **options: Any) -> Solution[Structure]:
        """The best structure under both models with a certificate for it; options as of `constituency.decode`."""
        return decode(self.problem(words), **options)

    def parse(self, words: Sequence[str], **options: Any) -> Tree:
        """The best parse under both models, as a tree of the treebank's labels."""
        structure = self.decode(words, **options).structure
        if structure is None:
            raise Infeasible("no parse was found within the limits: expected more time or iterations.")
        return tree_from(structure, words)


def check_same_words(leaves: Sequence[str], tokens: Sequence[str]) -> None:
    """Raises InputError at the first place where the leaves of parses and the tokens of the tagger differ."""
    for i, (leaf, token) in enumerate(zip(leaves, tokens, strict=False)):
        if leaf != token:
            raise InputError(f"tokens[{i}] is {token!r}, the leaf there is {leaf!r}: expected the same words for parser and tagger.")
    if len(leaves) != len(tokens):
        raise InputError(f"tokens has {len(tokens)} entries, the sentence {len(leaves)} words: expected one for each.")


def tree_from(structure: Structure, words: Sequence[str]) -> Tree:
    """The tree with the treebank's labels of a structure over words."""
    if len(tags_of(structure)) != len(words):
        raise InputError(f"the structure has {len(tags_of(structure))} leaves: expected one for each of the {len(words)} words.")
    nodes = subtrees(structure)
    sizes = [sum(isinstance(child, tuple) for child in node[1:]) for node in nodes]
    return unbinarise(from_preorder([node[0] for node in nodes], sizes, words))


def train_joint(trees: Iterable[Tree], *, weight: float = WEIGHT, tagger: TrigramTagger | None = None, **options: Any) -> JointModel:
    """Both models from the same cleaned trees (`cleaning.cleaned`), the tagger an HMM unless one is given; options go to `pcfg.train`."""
    given = list(trees)
    found = tagger or train_tagger(zip(t.words(), t.tags(), strict=True) for t in given)
    return JointModel(train(given, **options), found, weight)
