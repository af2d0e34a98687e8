"""A phrase-based model: a phrase table, a language model and their weights, which make a problem of every sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from zerogap.errors import InputError
from zerogap.problems.translation.language_model import LanguageModel
from zerogap.problems.translation.phrase_constraints import Constraints
from zerogap.problems.translation.phrases import Option, PhraseProblem
from zerogap.translation.phrases.table import PhraseTable, PhraseWeights, spans

RESOLUTION = 2.0**-26  # leaves sums over some 200 words exact under usual language models


@dataclass(frozen=True, slots=True, eq=False)
class PhraseModel:
    """`language_model` is what was given, scaled by its weight to natural logarithms on the grid; problems share it."""

    table: PhraseTable
    weights: PhraseWeights
    language_model: LanguageModel

    def __init__(
        self, table: PhraseTable, weights: PhraseWeights, language_model: LanguageModel, *, resolution: float = RESOLUTION
    ) -> None:
        if len(table) and table.n_scores != len(weights.scores):
            raise InputError(
                f"weights has {len(weights.scores)} weights of phrase scores: expected {table.n_scores}, as in the phrase table."
            )
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "weights", weights)
        scaled = language_model.scaled(weights.language_model * math.log(10.0), resolution=resolution)
        object.__setattr__(self, "language_model", scaled)

    def problem(self, words: Sequence[str], *, reordering: str = "limit", constraints: Constraints | None = None) -> PhraseProblem:
        """The problem of a tokenised sentence. A word without a phrase of its own is passed through."""
        options: list[Option] = []
        for start, end, text in spans(words, self.table.longest):
            for phrase in self.table.targets.get(text, ()):
                options.append((start, end, phrase.target, self.weights.score(phrase)))
        alone = {start for start, end, _, _ in options if end == start + 1}
        for i, word in enumerate(words):
            if i not in alone:
                options.append((i, i + 1, (word,), self.weights.unknown + self.weights.words + self.weights.phrases))
        return PhraseProblem(
            words, options, self.language_model,
            distortion=self.weights.distortion, distortion_limit=self.weights.distortion_limit, reordering=reordering,
            constraints=constraints,
        )  # fmt: skip
