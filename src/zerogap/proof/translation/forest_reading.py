"""Reading words after many states of a language model at once, in plain NumPy: for the checker of translation forests.

    scores[s, w]   what word w scores after state s, with the back-offs on the way to the n-gram that is listed
    scores[s, n]   the back-offs from s down to the empty context
    following[s, w]   the state after it

A model of few states and words is written out as such tables, one look for each word. A larger one is asked step by step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.problems.translation.language_model import EMPTY_STATE, LanguageModel

LARGEST_TABLE = 60_000_000  # states times words, 12 bytes each
States = NDArray[np.int64]


class Reading:
    """A language model to read with."""

    def __init__(self, model: LanguageModel, largest: int = LARGEST_TABLE) -> None:
        self.model = model
        self.scores: Scores | None = None
        self.following: NDArray[np.int32] | None = None
        self.rows: dict[int, Scores] = {}
        if model.n_states * (model.n_words + 1) <= largest:
            self.scores, self.following = tables_of(model)

    def read(self, states: NDArray[Any], words: NDArray[Any]) -> tuple[Scores, States]:
        """What words score after states, one for each, and the states then."""
        if self.scores is None or self.following is None:
            return self.model.steps(states, words)
        return self.scores[states, words], self.following[states, words].astype(np.int64)

    def row(self, state: int) -> Scores:
        """What every word scores after a state, and at the end what backing off from it down to the empty one adds."""
        if self.scores is not None:
            row: Scores = self.scores[state]
            return row
        if state not in self.rows:
            n, backing, at = self.model.n_words, 0.0, state
            while at != EMPTY_STATE:
                backing, at = backing + float(self.model.back_offs[at]), int(self.model.shorter[at])
            self.rows[state] = np.append(self.model.steps(np.full(n, state), np.arange(n))[0], backing)
        return self.rows[state]


def tables_of(model: LanguageModel) -> tuple[Scores, NDArray[np.int32]]:
    """What is not listed after a state is what it is after the shorter one, and a back-off."""
    n = model.n_words
    scores, following = np.zeros((model.n_states, n + 1)), np.zeros((model.n_states, n), dtype=np.int32)
    begins = np.searchsorted(model.keys, np.arange(model.n_states + 1) * n)
    level = np.zeros(model.n_states, dtype=np.int64)  # how often a state backs off
    shorter = model.shorter.astype(np.int64)
    above = shorter.copy()
    while (above != EMPTY_STATE).any():
        level[above != EMPTY_STATE] += 1
        above = shorter[above]
    level[np.arange(model.n_states) != EMPTY_STATE] += 1
    for depth in range(int(level.max()) + 1):
        states = np.flatnonzero(level == depth)
        if depth > 0:
            scores[states] = scores[shorter[states]] + model.back_offs[states][:, None]
            following[states] = following[shorter[states]]
        sizes = begins[states + 1] - begins[states]
        places = np.repeat(begins[states] - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
        owners = np.repeat(states, sizes)
        words = model.keys[places] - owners * n
        scores[owners, words], following[owners, words] = model.scores[places], model.next_states[places]
    return scores, following
