"""Builds language models from listed n-grams, as files in the ARPA format have them; `LanguageModel` says what the automaton means."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from zerogap.errors import InputError
from zerogap.grid import Scores
from zerogap.problems.translation.language_model import BEGIN, END, UNKNOWN, Integers, LanguageModel, frozen

UNLISTED_UNKNOWN = -100.0  # of unknown words, where a model says nothing of them (KenLM's default)


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
