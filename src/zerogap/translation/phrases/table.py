"""Phrases with their scores, and the weights that make a log-linear model of them (Rush 2014, section 7.2).

    score of a derivation = sum over its phrases of (scores . score weights + words * target length + phrases)
                            + language_model * ln p(target) - distortion * sum |start - previous end|

The pairs of the thesis, (q, r) with w(q, r), are source phrases with their targets; further features are those of Moses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zerogap.errors import InputError

LOWEST = -100.0  # of logarithms of phrase scores: Moses takes no less for a probability of 0


@dataclass(frozen=True, slots=True)
class Phrase:
    """A target of a source phrase, with the natural logarithms of its scores."""

    target: tuple[str, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PhraseTable:
    """The targets of every source phrase, whose words are joined by one space."""

    targets: Mapping[str, tuple[Phrase, ...]]
    n_scores: int

    @property
    def longest(self) -> int:
        """The number of words of the longest source phrase."""
        return max((source.count(" ") + 1 for source in self.targets), default=0)

    def __len__(self) -> int:
        return sum(map(len, self.targets.values()))


@dataclass(frozen=True, slots=True)
class PhraseWeights:
    """The weight of every feature. `unknown` is added for a word that no phrase of one word translates; it is passed through."""

    scores: tuple[float, ...]
    language_model: float
    words: float = 0.0
    phrases: float = 0.0
    distortion: float = 0.0
    distortion_limit: int | None = None
    unknown: float = LOWEST

    def __post_init__(self) -> None:
        numbers = {"language_model": self.language_model, "words": self.words, "phrases": self.phrases}
        numbers |= {"distortion": self.distortion, "unknown": self.unknown} | {f"scores[{i}]": w for i, w in enumerate(self.scores)}
        for name, value in numbers.items():
            if not math.isfinite(value):
                raise InputError(f"{name} is {value}: expected a finite weight.")
        if self.distortion_limit is not None and self.distortion_limit < 0:
            raise InputError(f"distortion_limit is {self.distortion_limit}: expected 0 or more words, or None.")

    def score(self, phrase: Phrase) -> float:
        """All that a phrase is worth by itself, without its language model."""
        total = sum(weight * value for weight, value in zip(self.scores, phrase.scores, strict=True))
        return total + self.words * len(phrase.target) + self.phrases


def spans(words: Sequence[str], longest: int) -> list[tuple[int, int, str]]:
    """All (start, end, words start to end - 1 joined by a space) of at most `longest` words.

    >>> spans(["a", "b"], 2)
    [(0, 1, 'a'), (0, 2, 'a b'), (1, 2, 'b')]
    """
    return [(i, j, " ".join(words[i:j])) for i in range(len(words)) for j in range(i + 1, min(i + longest, len(words)) + 1)]
