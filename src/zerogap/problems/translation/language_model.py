"""An n-gram language model with back-off as an automaton: a state is the longest suffix of the words so far that can still matter.

    p(w | context) = p(context w)                          if the n-gram is listed
                   = back_off(context) p(w | shorter)      else, where `shorter` lacks the first word of the context

An n-gram is a transition from the state of its context by its last word. A context is a state if the model lists an n-gram that it
begins, or a back-off weight for it; any other is worth the same as its longest suffix that is one. So two hypotheses whose states are the
same number go on alike, and a state never remembers more words than the data asks for (Li & Khudanpur 2008; KenLM calls it minimal).

Scores are logarithms to base 10, as files in the ARPA format have them; `scaled` gives them another unit, on a grid of exact numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError
from zerogap.grid import Scores, largest_magnitude, round_to_grid

BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"
EMPTY_STATE = 0  # no word of the context matters
UNLISTED_UNKNOWN = -100.0  # of unknown words, where a model says nothing of them (KenLM's default)

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
        largest = largest_magnitude(scores) + (self.order - 1) * largest_magnitude(back_offs)
        return replace(self, scores=frozen(scores), back_offs=frozen(back_offs), resolution=resolution, largest=largest)


@dataclass(frozen=True, slots=True, eq=False)
class Ngrams:
    """The n-grams of one order as listed: ids (any, n), scores, and back-off weights, nan where none is given."""

    ids: Integers
    scores: Scores
    back_offs: Scores


def name_ngram(order: int, index: int) -> str:
    return f"{order}-gram {index}"


def build_language_model(words: Sequence[str], listed: Sequence[Ngrams], *, name: Callable[[int, int], str] = name_ngram) -> LanguageModel:
    """The automaton of n-grams of orders 1, 2, ...; `name(order, index)` names one of them in errors.

    The 1-grams are the words, in order. InputError for an n-gram that is listed twice, whose context is not listed or has no back-off
    weight, and for a model without <s> or </s>. A word <unk> is added if there is none.
    """
    words, listed = with_unknown(words, listed)
    ids = {word: i for i, word in enumerate(words)}
    for mark in (BEGIN, END):
        if mark not in ids:
            raise InputError(f"the model does not list {mark}: expected it among its 1-grams.")
    # nodes are n-grams: 0 is the empty one, then come those of order 1, of order 2, ..., sorted by (node of the context, last word)
    v = len(words)
    keys, order_of_lines = np.arange(v, dtype=np.int64), [np.arange(v)]
    starts, suffixes = [0, 1, 1 + v], np.zeros(1 + v, dtype=np.int64)
    for n, level in enumerate(listed[1:], start=2):
        context = contexts_of(level.ids, keys, v, name)
        key = context * v + level.ids[:, -1]
        order = np.argsort(key, kind="stable")
        twice = np.flatnonzero(np.diff(key[order]) == 0)
        if twice.size:
            raise InputError(f"{name(n, int(order[twice[0] + 1]))} is listed twice: expected once.")
        suffixes = np.concatenate([suffixes, suffix_nodes(keys, suffixes, v, context[order], level.ids[order, -1])])
        keys = np.concatenate([keys, key[order]])
        starts.append(1 + len(keys))
        order_of_lines.append(order)
    ranked = [(level.scores[order], level.back_offs[order]) for level, order in zip(listed, order_of_lines, strict=True)]
    scores = np.concatenate([part for part, _ in ranked])
    back_offs = np.concatenate([np.zeros(1), *(part for _, part in ranked)])
    is_context = np.zeros(len(keys) + 1, dtype=bool)
    is_context[keys // v] = True
    lacking = np.flatnonzero(is_context & np.isnan(back_offs))
    if lacking.size:
        n = int(np.searchsorted(starts, lacking[0], side="right")) - 1
        line = int(order_of_lines[n - 1][lacking[0] - starts[n]])
        raise InputError(f"{name(n, line)} has no back-off weight, but longer n-grams begin with it: expected one.")
    is_state = is_context | ((back_offs != 0.0) & ~np.isnan(back_offs))
    is_state[0] = True
    numbers = np.cumsum(is_state) - 1
    states = np.where(is_state, numbers, -1)
    for first, last in itertools.pairwise(starts[1:]):  # suffixes are of lower orders
        states[first:last] = np.where(is_state[first:last], states[first:last], states[suffixes[first:last]])
    return LanguageModel(
        order=len(listed), words=tuple(words),
        keys=frozen(numbers[keys // v] * v + keys % v), scores=frozen(scores), next_states=frozen(states[1:].astype(np.int32)),
        back_offs=frozen(back_offs[is_state]), shorter=frozen(states[suffixes[is_state]].astype(np.int32)), ids=ids,
    )  # fmt: skip


def with_unknown(words: Sequence[str], listed: Sequence[Ngrams]) -> tuple[Sequence[str], Sequence[Ngrams]]:
    if UNKNOWN in words:
        return words, listed
    first, v = listed[0], len(words)
    ids = np.concatenate([first.ids, [[v]]])
    more = Ngrams(ids, np.append(first.scores, UNLISTED_UNKNOWN), np.append(first.back_offs, np.nan))
    return [*words, UNKNOWN], [more, *listed[1:]]


def contexts_of(ids: Integers, keys: Integers, v: int, name: Callable[[int, int], str]) -> Integers:
    """The nodes of all but the last words of n-grams."""
    node = 1 + ids[:, 0]
    for word in ids[:, 1:-1].T:
        key = node * v + word
        at = np.minimum(keys.searchsorted(key), len(keys) - 1)
        missing = np.flatnonzero(keys[at] != key)
        if missing.size:
            raise InputError(f"the context of {name(ids.shape[1], int(missing[0]))} is not listed: expected it, with its back-off weight.")
        node = 1 + at
    return node


def suffix_nodes(keys: Integers, suffixes: Integers, v: int, contexts: Integers, words: Integers) -> Integers:
    """The longest listed n-gram, of lower order, that ends each n-gram."""
    found = np.zeros(len(contexts), dtype=np.int64)
    pending, node = np.arange(len(contexts)), suffixes[contexts]
    while pending.size:
        key = node * v + words[pending]
        at = np.minimum(keys.searchsorted(key), len(keys) - 1)
        hit = keys[at] == key
        found[pending[hit]] = 1 + at[hit]
        pending, node = pending[~hit], suffixes[node[~hit]]  # every word follows the empty n-gram: this ends
    return found


def frozen(array: NDArray[Any]) -> Any:
    array.flags.writeable = False
    return array
