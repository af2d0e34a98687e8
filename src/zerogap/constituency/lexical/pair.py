"""A lexicalised parser and a dependency parser as one model: they must agree on heads (Rush 2014, section 4.2.2). With a weight for the
tagger, the three must agree on heads and tags.

The dependency parser scores arcs and siblings and reads the tagger's best tags, unless tags are given. It is trained on tags of the same
quality, which the tagger gives sentences that it has not seen, and without a pruner: an arc that is left out cannot be in any parse of the
pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zerogap.constituency.joint.model import checked_weight
from zerogap.constituency.lexical.model import LexicalModel, train_lexical
from zerogap.constituency.treebank.head_rules import dependency_heads
from zerogap.constituency.treebank.trees import Tree
from zerogap.dependency.parser.parser import Parser
from zerogap.dependency.sentence import Sentence
from zerogap.errors import InputError
from zerogap.problems.constituency.lexical import LexicalProblem
from zerogap.problems.constituency.lexical_agreement import LexicalAgreement, TagScores
from zerogap.sequence.tagger.joint import FeatureTagger, train_feature_tagger

WEIGHT = 1.0  # of the dependency parser
TAG_WEIGHT = 1.0  # of the tagger, where it is one of three
FOLDS, FOLD_EPOCHS = 5, 4  # for the tags on which the dependency parser is trained


@dataclass(frozen=True, slots=True, eq=False)
class LexicalPair:
    """Two parsers, a tagger, and the weights of the second parser and of the tagger; at 0 the tagger only helps the second parser."""

    lexical: LexicalModel
    dependency: Parser
    tagger: FeatureTagger
    weight: float = WEIGHT
    tag_weight: float = 0.0

    def __post_init__(self) -> None:
        for name in ("weight", "tag_weight"):
            checked_weight(name, getattr(self, name))
        if self.dependency.order not in ("first", "sibling") or not (self.dependency.projective and self.dependency.single_root):
            raise InputError(f"the dependency parser is of order {self.dependency.order!r}: expected a projective one of first or sibling.")

    def problem(self, words: Sequence[str], *, tags: Sequence[str] | None = None) -> LexicalAgreement:
        """The problem of a sentence; with `tags`, every word has its tag, and the tagger has nothing to say."""
        found = tuple(self.tagger.tag(words) if tags is None else tags)
        half = self.dependency.problem(Sentence({"form": tuple(words), "upos": found, "xpos": found}))
        siblings, stops = (None if part is None else part.dense(len(words)) for part in (half.siblings, half.stops))
        lexical = self.lexical.problem(words, tags=tags)
        tagging = self.tagging(words, lexical) if tags is None and self.tag_weight > 0.0 else None
        return LexicalAgreement(
            lexical, half.arcs, siblings=siblings, stops=stops, weight=self.weight, tagging=tagging, tag_weight=self.tag_weight
        )

    def tagging(self, words: Sequence[str], lexical: LexicalProblem) -> TagScores:
        """The tagger's scores of the parser's candidates. A word for which both know no common tag has them all, at the lowest score."""
        place = {tag: t for t, tag in enumerate(self.tagger.tags)}
        unknown = [lexical.grammar.symbols[s] for s in lexical.tags if lexical.grammar.symbols[s] not in place]
        if unknown:
            raise InputError(f"the parser has the tag {unknown[0]!r}: expected tags of the tagger.")
        tag_of = np.array([place[lexical.grammar.symbols[s]] for s in lexical.tags], dtype=np.int64)
        table = self.tagger.emissions(words)
        scores = table[lexical.positions, tag_of]
        lowest = float(table[np.isfinite(table)].min(initial=0.0))
        for i in range(len(words)):
            here = lexical.positions == i
            if not np.isfinite(scores[here]).any():
                scores[here] = lowest
        return TagScores(tag_of, scores, self.tagger.transitions)


def train_pair(trees: Iterable[Tree], *, weight: float = WEIGHT, tag_weight: float = 0.0, epochs: int = 5, **options: Any) -> LexicalPair:
    """All parts from the same cleaned trees (`cleaning.cleaned`); options go to `train_lexical`."""
    from zerogap.dependency.training.parser import train  # who only loads models does without
    from zerogap.sequence.tagger.training import jackknife

    given = list(trees)
    tagged = [(tree.words(), tree.tags()) for tree in given]
    folds = min(FOLDS, len(given))
    predicted = [tuple(tags) for _, tags in tagged]
    if folds > 1:
        predicted = [tags.xpos for tags in jackknife([(w, t, t) for w, t in tagged], folds, epochs=FOLD_EPOCHS, threads=1)]
    sentences = []
    for tree, seen in zip(given, predicted, strict=True):
        heads = tuple(dependency_heads(tree, rules=options.get("head_rules", "yamada")))
        sentences.append(Sentence({"form": tuple(tree.words()), "upos": seen, "xpos": seen}, heads))
    parser = train(sentences, order="sibling", epochs=epochs, threshold=0.0, labels=False)
    return LexicalPair(train_lexical(given, **options), parser, train_feature_tagger(tagged), weight, tag_weight)
