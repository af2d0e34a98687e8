"""The best derivation of a translation forest under a language model (Rush 2014, equation 5.1).

    argmax_y  sum_{e in y} scores[e] + factor * log p(<s> words of y </s>)   over the derivations y of the forest

A structure is a derivation: the tuple of its hyperedges from the top down, those below a target side from left to right. Scores of
hyperedges and of n-grams and back-offs are rounded once to one grid, so all sums are exact. Of the language model only what the words
of the forest can reach is kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError, InvalidStructure
from zerogap.grid import Scores, as_scores, choose_resolution, largest_magnitude, restored, round_to_grid, unit_of
from zerogap.problems.translation.forest import Forest, longest_derivation
from zerogap.problems.translation.language_model import BEGIN, EMPTY_STATE, UNKNOWN, LanguageModel

LOG_OF_10 = math.log(10.0)  # language models have logarithms to base 10, weights are for natural ones


@dataclass(frozen=True, slots=True, eq=False)
class SyntaxProblem:
    """A forest and a language model, scored together.

    `weight` is that of the natural logarithm of the probability of the sentence. Words that the language model does not list are its <unk>.
    """

    forest: Forest
    language_model: LanguageModel  # of the words of the forest alone, scaled by the weight, on the grid
    word_ids: NDArray[np.int64]  # for every word of the forest, its id in the language model
    scores: Scores  # (edges,), on the grid
    resolution: float
    unit: float
    terms: int  # no derivation adds up more numbers

    __setstate__ = restored

    def __init__(self, forest: Forest, language_model: LanguageModel, *, weight: float = 1.0, resolution: float | None = None) -> None:
        if not isinstance(forest, Forest) or not isinstance(language_model, LanguageModel):
            kinds = f"{type(forest).__name__} and {type(language_model).__name__}"
            raise InputError(f"forest and language_model are {kinds}: expected a Forest and a LanguageModel.")
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not math.isfinite(weight):
            raise InputError(f"weight is {weight!r}: expected a finite number.")
        given = as_scores(forest.scores, "forest.scores")
        local, word_ids = restricted(language_model, forest.words)
        scaled = local.scaled(weight * LOG_OF_10)
        n_edges, n_words = longest_derivation(forest)
        terms = n_edges + (n_words + 1) * language_model.order
        grid = choose_resolution(largest_magnitude(given, scaled.scores, scaled.back_offs), terms, resolution)
        exact = local.scaled(weight * LOG_OF_10, resolution=grid)
        rounded = round_to_grid(given, grid)
        for name, value in (
            ("forest", forest), ("language_model", exact), ("word_ids", word_ids), ("scores", rounded), ("resolution", grid),
            ("unit", unit_of(grid, rounded, exact.scores, exact.back_offs)), ("terms", terms),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    def score(self, derivation: Sequence[int]) -> float:
        """The score of a valid derivation, word by word."""
        self.forest.check(derivation)
        model = self.language_model
        total, state = float(self.scores[list(derivation)].sum()), model.start
        for word in [*self.word_ids[self.forest.yield_of(derivation)].tolist(), model.end_id]:
            score, state = model.step(state, word)
            total += score
        return total

    def check(self, derivation: Sequence[int]) -> None:
        """Raises InvalidStructure unless it is a derivation, and nothing in it is forbidden."""
        self.forest.check(derivation)
        forbidden = [e for e in derivation if self.scores[e] == -np.inf]
        if forbidden:
            raise InvalidStructure(f"hyperedge {forbidden[0]} is forbidden: its score is -inf.")
        if self.score(derivation) == -np.inf:
            raise InvalidStructure(f"the language model forbids the translation {self.translation(derivation)!r}.")

    def translation(self, derivation: Sequence[int]) -> str:
        return self.forest.translation(derivation)


def restricted(model: LanguageModel, words: Sequence[str]) -> tuple[LanguageModel, NDArray[np.int64]]:
    """The model as far as sentences of these words reach it, and the id in it of every word.

    States are those of contexts that the words can make; transitions by other words are gone. All scores stay as they are.
    """
    given = np.array([model.id_of(word) for word in words], dtype=np.int64)
    v = model.n_words
    begin, end = model.ids[BEGIN], model.end_id
    kept_words = np.unique(np.concatenate([given, [begin, end, model.id_of(UNKNOWN)]]))
    is_kept = np.zeros(v, dtype=np.bool_)
    is_kept[kept_words] = True
    seen = np.zeros(model.n_states, dtype=np.bool_)
    fresh = np.array([EMPTY_STATE, model.start], dtype=np.int64)
    arcs: list[NDArray[np.int64]] = []
    while fresh.size:
        fresh = np.unique(fresh)
        fresh = fresh[~seen[fresh]]
        seen[fresh] = True
        first, last = np.searchsorted(model.keys, fresh * v), np.searchsorted(model.keys, (fresh + 1) * v)
        sizes = last - first
        places = np.repeat(first - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
        places = places[is_kept[model.keys[places] - np.repeat(fresh, sizes) * v]]
        arcs.append(places)
        fresh = np.concatenate([model.next_states[places].astype(np.int64), model.shorter[fresh].astype(np.int64)])
    places = np.sort(np.concatenate(arcs))
    states = np.flatnonzero(seen)
    state_number = np.cumsum(seen) - 1
    word_number = np.cumsum(is_kept) - 1
    source = model.keys[places] // v
    keys = state_number[source] * len(kept_words) + word_number[model.keys[places] - source * v]
    names = tuple(model.words[w] for w in kept_words.tolist())
    local = LanguageModel(
        order=model.order, words=names, keys=keys, scores=model.scores[places],
        next_states=state_number[model.next_states[places]].astype(np.int32), back_offs=model.back_offs[states],
        shorter=state_number[model.shorter[states]].astype(np.int32), ids={name: i for i, name in enumerate(names)},
    )  # fmt: skip
    return local, word_number[given]
