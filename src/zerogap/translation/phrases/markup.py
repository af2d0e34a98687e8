"""Marked-up input, before a model says what it scores: spans with their translations, zones and walls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from zerogap.problems.translation.phrase_constraints import Constraints, Fixed, Wall, Words, Zone
from zerogap.translation.phrases.table import LOWEST, PhraseWeights


@dataclass(frozen=True, slots=True)
class MarkedSpan:
    """Translations that the line itself gives for words start to end, with their probabilities."""

    start: int
    end: int
    targets: tuple[Words, ...]
    probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class MarkedSentence:
    words: Words
    spans: tuple[MarkedSpan, ...] = ()
    zones: tuple[Zone, ...] = ()
    walls: tuple[Wall, ...] = ()


def constraints_of(
    sentence: MarkedSentence,
    weights: PhraseWeights,
    *,
    required: Sequence[Words] = (),
    forbidden: Sequence[Words] = (),
    exclusive: bool = True,
) -> Constraints:
    """With `exclusive`, a marked span has no other translation; without, those of the table compete."""
    fixed = []
    for span in sentence.spans:
        scores = [marked_score(weights, *pair) for pair in zip(span.targets, span.probabilities, strict=True)]
        fixed.append(Fixed(span.start, span.end, span.targets, tuple(scores), exclusive))
    return Constraints(tuple(required), tuple(forbidden), tuple(fixed), sentence.zones, sentence.walls)


def marked_score(weights: PhraseWeights, target: Words, probability: float) -> float:
    """As Moses has it: the logarithm of the probability is shared out among all scores of the table."""
    logarithm = max(math.log(probability), LOWEST) if probability > 0.0 else LOWEST
    shared = sum(weights.scores) * logarithm / len(weights.scores) if weights.scores else 0.0
    return shared + weights.words * len(target) + weights.phrases
