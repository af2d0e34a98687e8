"""The library's log-linear tagger as one half of joint parsing and tagging (Rush 2014, section 4.6.2 has a max-ent tagger there).

A joint problem wants scores of tags over words, and transitions that are the same everywhere. So the tagger has features of words and a
tag, of two and of three neighbouring tags, and none of words and two tags. It may stand wherever an `HmmTagger` does.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from zerogap.errors import InputError
from zerogap.grid import Scores
from zerogap.kernels import float64, int32, int64, kernel, readonly, writable
from zerogap.sequence.tagger.features import EDGE, N_ATTRIBUTES, NODE, NONE, fill_candidates, key_of, mixed, read_words, row_of
from zerogap.sequence.tagger.learning import STEP
from zerogap.sequence.tagger.tagger import Tagger, add_rows, text_of

EDGE_TEMPLATES = ("bias",)
JOINT_WEIGHT = 2.0  # beside a PCFG, chosen on the development part of the Penn Treebank sample


@kernel(
    int64(
        readonly(int32, 1), readonly(int32, 2), readonly(int32, 2), readonly(int32, 1), readonly(int64, 2), readonly(int64, 2),
        writable(float64, 2), writable(float64, 2),
    )
)  # fmt: skip
def score_words(codes, alphabet, slots, entries, node_plan, edge_plan, nodes, pairs):  # out: nodes (n, tags), given as -inf, pairs, as 0
    """Scores of candidates; and those of pairs, (tags + 1, tags), the boundary before the sentence first."""
    n, n_labels = nodes.shape
    attributes = np.empty((n, N_ATTRIBUTES), dtype=np.int64)
    first = np.empty(2, dtype=np.int64)
    first[0], first[1] = 0, n
    read_words(codes, first, alphabet, attributes)
    place, candidates = np.zeros(n_labels, dtype=np.int64), np.empty(n_labels, dtype=np.int64)
    scores, rows = np.empty(n_labels), np.empty(max(node_plan.shape[0], 1), dtype=np.int64)
    for t in range(n):
        width = fill_candidates(attributes, t, slots, entries, place, candidates)
        for j in range(width):
            scores[j] = 0.0
            place[candidates[j]] = j + 1
        for k in range(node_plan.shape[0]):
            key = key_of(NODE, node_plan, k, attributes, 0, n, t)
            rows[k] = row_of(slots, key) if key != NONE else NONE
        add_rows(rows, entries, candidates[:width], place, scores[:width])
        for j in range(width):
            place[candidates[j]] = 0
            nodes[t, candidates[j]] = scores[j]
    for label in range(n_labels):
        candidates[label] = label
        place[label] = label + 1
    for previous in range(n_labels + 1):
        for k in range(edge_plan.shape[0]):
            rows[0] = row_of(slots, mixed(key_of(EDGE, edge_plan, k, attributes, 0, n, 0), previous))
            add_rows(rows[:1], entries, candidates, place, pairs[previous])
    return 0


@dataclass(frozen=True, slots=True, eq=False)
class FeatureTagger:
    """A trained tagger whose pairs of tags are the same everywhere."""

    model: Tagger

    def __post_init__(self) -> None:
        if self.model.edge_templates != EDGE_TEMPLATES:
            raise InputError(f"the tagger has the edge templates {', '.join(self.model.edge_templates)}: expected 'bias' alone.")

    @property
    def tags(self) -> tuple[str, ...]:
        return self.model.names[1]

    @property
    def transitions(self) -> Scores:
        return transitions_of(self.model)

    def emissions(self, words: Sequence[str]) -> Scores:
        """The scores of tags over words, (n, tags), -inf where the word cannot have the tag."""
        return scores_of(self.model, words)[0]

    def tag(self, words: Sequence[str]) -> list[str]:
        """The best tags."""
        return list(self.model.tag(words).xpos)


def scores_of(model: Tagger, words: Sequence[str]) -> tuple[Scores, Scores]:
    size = len(model.tags)
    alphabet, slots, entries, node_plan, edge_plan, _, _ = model.model
    nodes, pairs = np.full((len(words), size), -np.inf), np.zeros((size + 1, size))
    score_words(text_of(words), alphabet, slots, entries, node_plan, edge_plan, nodes, pairs)
    return nodes * STEP, pairs * STEP


@functools.lru_cache(maxsize=8)
def transitions_of(model: Tagger) -> Scores:
    """(tags + 1,) * 3, oldest first, the last index the boundary: trigrams, and the pairs in them. Pairs do not see the end."""
    size = len(model.tags)
    pairs = scores_of(model, ["."])[1]
    table = model.trigram * STEP
    table[:, :size, :size] += pairs[None, 1:]
    table[:, size, :size] += pairs[0]
    return np.ascontiguousarray(table)


def train_feature_tagger(sentences: Iterable[tuple[Sequence[str], Sequence[str]]], *, epochs: int = 8) -> FeatureTagger:
    """A tagger from sentences of words and tags."""
    from zerogap.sequence.tagger.training import train_tagger  # who only loads models does without

    return FeatureTagger(train_tagger([(words, tags, tags) for words, tags in sentences], epochs=epochs, edge_templates=EDGE_TEMPLATES))
