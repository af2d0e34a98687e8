"""An n-gram language model with back-off as an automaton: a state is the longest suffix of the words so far that can still matter.

    p(w | context) = p(context w)                          if the n-gram is listed
                   = back_off(context) p(w | shorter)      else, where `shorter` lacks the first word of the context

An n-gram is a transition from the state of its context by its last word. A context is a state if the model lists an n-gram that it
begins, or a back-off weight for it; any other is worth the same as its longest suffix that is one. So two hypotheses whose states are the
same number go on alike, and a state never remembers more words than the data asks for (Li & Khudanpur 2008; KenLM calls it minimal).

Scores are logarithms to base 10, as files in the ARPA format have them; `scaled` gives them another unit, on a grid of exact numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError
from zerogap.grid import Scores, largest_magnitude, restored, round_to_grid

BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"
EMPTY_STATE = 0  # no word of the context matters

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class LanguageModel:
    """Transitions sorted by state * number of words + word: those of the empty context, one per word, come first."""

    order: int
    words: tuple[str, ...]
    keys: Integers
    scores: Scores  # of the n-gram that is read by the transition
    next_states: NDArray[np.int32]
    back_offs: Scores  # per state; 0 for the empty one
    shorter: NDArray[np.int32]  # per state, the state without the first word
    ids: dict[str, int]
    resolution: float | None = None  # all scores are multiples of it
    largest: float = 0.0  # no word's score, with the back-offs before it, is larger in magnitude; known where there is a resolution

    __setstate__ = restored

    def __post_init__(self) -> None:
        """Where there is a resolution, scores are multiples of it, and `largest` is what it says: proofs rely on both."""
        if self.resolution is not None:
            for name in ("scores", "back_offs"):
                part = getattr(self, name)
                if not np.array_equal(round_to_grid(part, self.resolution), part):
                    raise InputError(f"{name} are no multiples of the resolution {self.resolution!r}: expected a model from scaled().")
            largest = largest_magnitude(self.scores) + (self.order - 1) * largest_magnitude(self.back_offs)
            object.__setattr__(self, "largest", largest)

    @property
    def n_words(self) -> int:
        return len(self.words)

    @property
    def n_states(self) -> int:
        return len(self.back_offs)

    @property
    def start(self) -> int:
        """The state before the first word of a sentence."""
        return int(self.next_states[self.ids[BEGIN]])

    @property
    def end_id(self) -> int:
        return self.ids[END]

    def id_of(self, word: str) -> int:
        """The id of a word; that of <unk> if the model does not list it."""
        return self.ids.get(word, self.ids[UNKNOWN])

    def step(self, state: int, word: int) -> tuple[float, int]:
        """The score of a word after a state, and the state after it."""
        total = 0.0
        while True:
            key = state * len(self.words) + word
            i = int(self.keys.searchsorted(key))
            if i < len(self.keys) and self.keys[i] == key:
                return total + float(self.scores[i]), int(self.next_states[i])
            total += float(self.back_offs[state])
            state = int(self.shorter[state])

    def steps(self, states: NDArray[Any], words: NDArray[Any]) -> tuple[Scores, Integers]:
        """`step` for arrays of states and words of one shape."""
        state, word = (np.array(part, dtype=np.int64) for part in np.broadcast_arrays(states, words))
        total, following = np.zeros(state.shape), np.zeros(state.shape, dtype=np.int64)
        pending = np.ones(state.shape, dtype=bool)
        while pending.any():
            key = state[pending] * len(self.words) + word[pending]
            at = np.minimum(self.keys.searchsorted(key), len(self.keys) - 1)
            found = self.keys[at] == key
            left = state[pending]
            total[pending] += np.where(found, self.scores[at], self.back_offs[left])
            following[pending] = self.next_states[at]  # of those that are found; the others are written again
            state[pending] = self.shorter[left]
            pending[pending] = ~found
        return total, following

    def state_after(self, words: Iterable[int], state: int = EMPTY_STATE) -> int:
        """The state after reading words, by default with nothing known before them."""
        for word in words:
            state = self.step(state, word)[1]
        return state

    def score(self, words: Sequence[str], *, begin: bool = True, end: bool = True) -> float:
        """The logarithm (base 10, unless scaled) of the probability of words, after <s> and with </s> unless told otherwise."""
        state, total = self.start if begin else EMPTY_STATE, 0.0
        for word in [*map(self.id_of, words), *([self.end_id] if end else [])]:
            score, state = self.step(state, word)
            total += score
        return total

    def scaled(self, factor: float, *, resolution: float | None = None) -> LanguageModel:
        """The model with all scores times a factor, n-grams and back-offs rounded to a grid if one is given: then all sums are exact."""
        if not np.isfinite(factor):
            raise InputError(f"factor is {factor}: expected a finite number.")
        with np.errstate(invalid="ignore"):
            scores, back_offs = (
                np.where(part == -np.inf, -np.inf if factor else 0.0, part * factor) for part in (self.scores, self.back_offs)
            )
        if resolution is not None:
            scores, back_offs = round_to_grid(scores, resolution), round_to_grid(back_offs, resolution)
        return replace(self, scores=frozen(scores), back_offs=frozen(back_offs), resolution=resolution)


def remembers_words(model: LanguageModel) -> bool:
    """Whether every state stands for words: the longest suffix of what was read that is a state.

    Proofs about forests rely on it: as many words as the model looks back decide a state, whatever was read before them. A state that
    remembers words is entered by one transition of its own, from the state of all but the last; every other transition leads where the
    same word leads after the shorter state.
    """
    v, n_states = model.n_words, model.n_states
    good = np.array_equal(model.keys[:v], np.arange(v)) and bool((np.diff(model.keys) > 0).all()) and int(model.keys[-1]) < n_states * v
    good = good and len(model.keys) == len(model.scores) == len(model.next_states) and len(model.shorter) == n_states
    for states in (model.next_states, model.shorter):
        good = good and 0 <= int(states.min()) <= int(states.max()) < n_states
    good = good and bool((model.shorter[1:] < np.arange(1, n_states)).all())  # so that backing off ends
    if good:
        source, word = np.divmod(model.keys, v)
        after = model.next_states.astype(np.int64)
        before = np.where(source == EMPTY_STATE, EMPTY_STATE, model.steps(model.shorter[source], word)[1])
        own = np.flatnonzero(after != before)
        parent, entered = np.zeros(n_states, dtype=np.int64), np.bincount(after[own], minlength=n_states)
        parent[after[own]] = source[own]
        good = bool((entered[1:] == 1).all()) and entered[EMPTY_STATE] == 0 and np.array_equal(model.shorter[after[own]], before[own])
        good = good and bool((parent[1:] < np.arange(1, n_states)).all())
        shortened = np.arange(n_states)
        for _ in range(model.order - 1):  # a state remembers fewer words than the order
            shortened = parent[shortened]
        good = good and not shortened.any()
    return bool(good)


def frozen(array: NDArray[Any]) -> Any:
    array.flags.writeable = False
    return array
