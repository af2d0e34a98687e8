"""A language model over words that know the class of the word before them.

Where the words of a model are put into classes, a word of the new model is a word of the old one and the class of its predecessor. It
scores what the old one scores; but where neighbours are only known by what they can be, the class leaves fewer contexts. A context is a
context of the old model with the class before its first word: its other words tell theirs. Rush 2014, section 5.4, has classes in the
states of a derivation; here they are in the words too, so that prices see them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.oracles.ngrams.boundaries import state_words
from zerogap.problems.translation.language_model import BEGIN, END, UNKNOWN, LanguageModel

Integers = NDArray[np.int64]
MARKS = (BEGIN, END, UNKNOWN)  # words of every model, with no class before them


class ClassModel(NamedTuple):
    """`ids[k]` is the new word of the k-th pair that was asked for."""

    model: LanguageModel
    ids: Integers


def class_model(model: LanguageModel, classes: Integers, pairs: Integers) -> ClassModel:
    """Words are pairs of an old word and the class before it, (any, 2), sorted; `classes` has one for every old word.

    After <s> comes the class of <s>; the class before a word of the new model must be that of the old word which it follows."""
    base = np.concatenate([[model.ids[mark] for mark in MARKS], pairs[:, 0]]).astype(np.int64)
    n_old, n_new = model.n_words, len(base)
    number = np.full((n_old, int(max(classes.max(), pairs[:, 1].max(initial=0))) + 1), -1, dtype=np.int64)
    number[pairs[:, 0], pairs[:, 1]] = len(MARKS) + np.arange(len(pairs))
    sequences, lengths = words_of_states(model)
    # new states: the empty one, then every old one with each new word that its first word can be
    copies = np.argsort(base, kind="stable")
    first, count = np.searchsorted(base[copies], np.arange(n_old)), np.bincount(base, minlength=n_old)
    heads = np.where(lengths > 0, sequences[:, 0], 0)
    sizes = np.where(lengths > 0, count[heads], 1)
    start = np.cumsum(sizes) - sizes  # of an old state among the new ones
    old_state = np.repeat(np.arange(model.n_states), sizes)
    place = np.arange(len(old_state)) - start[old_state]
    head = np.where(lengths[old_state] > 0, copies[np.minimum(first[heads[old_state]] + place, n_new - 1)], -1)
    rank = np.empty(n_new, dtype=np.int64)
    rank[copies] = np.arange(n_new) - first[base[copies]]

    def state_of(old: Integers, front: Integers) -> Integers:
        """The new states of old ones whose first word is `front`, a new word; -1 if that is none."""
        found = start[old] + np.where(lengths[old] > 0, rank[front], 0)
        return np.where((lengths[old] > 0) & (front < 0), -1, found)

    def inner_word(old: Integers, position: Integers) -> Integers:
        """The new word at a position of an old state, not the first."""
        return number[sequences[old, position], classes[sequences[old, np.maximum(position - 1, 0)]]]

    # back-offs: what a shorter context begins with was inside
    kept = lengths[model.shorter[old_state]]
    shorter = state_of(model.shorter[old_state].astype(np.int64), np.where(kept > 0, inner_word(old_state, lengths[old_state] - kept), -1))
    # transitions, those of the empty state for every new word
    sources = model.keys // n_old
    words = model.keys - sources * n_old
    of_word = np.arange(n_new)
    firsts = model.next_states[base].astype(np.int64)
    arcs = np.flatnonzero(sources > 0)
    new_arc = np.repeat(arcs, sizes[sources[arcs]])
    offset = np.cumsum(sizes[sources[arcs]]) - sizes[sources[arcs]]
    new_source = start[sources[new_arc]] + np.arange(len(new_arc)) - np.repeat(offset, sizes[sources[arcs]])
    before, word = sources[new_arc], words[new_arc]
    new_word = np.where(word == model.end_id, MARKS.index(END), number[word, classes[sequences[before, lengths[before] - 1]]])
    into = model.next_states[new_arc].astype(np.int64)
    position = lengths[before] + 1 - lengths[into]  # of the next state's first word in what was read
    front = np.where(position == 0, head[new_source], np.where(position == lengths[before], new_word, -1))
    inside = (position > 0) & (position < lengths[before])
    front[inside] = inner_word(before[inside], position[inside])
    following = state_of(into, front)
    usable = (new_word >= 0) & (following >= 0)
    keys = np.concatenate([of_word, (new_source * n_new + new_word)[usable]])
    scores = np.concatenate([model.scores[base], model.scores[new_arc][usable]])
    states = np.concatenate([state_of(firsts, of_word), following[usable]])
    order = np.argsort(keys, kind="stable")
    names = (*MARKS, *map(str, range(len(pairs))))
    found = LanguageModel(
        order=model.order, words=names, keys=keys[order], scores=scores[order], next_states=states[order].astype(np.int32),
        back_offs=model.back_offs[old_state], shorter=np.maximum(shorter, 0).astype(np.int32),
        ids={name: i for i, name in enumerate(names)},
    )  # fmt: skip
    return ClassModel(found, len(MARKS) + np.arange(len(pairs)))


def words_of_states(model: LanguageModel) -> tuple[Integers, Integers]:
    """The words of every state, (states, longest), and how many they are."""
    known = state_words(model.keys, model.next_states, model.n_words, model.n_states)
    lengths = np.maximum(known.lengths, 0).astype(np.int64)
    sequences = np.zeros((model.n_states, max(int(lengths.max()), 1) + 1), dtype=np.int64)
    at, position = np.arange(model.n_states), lengths - 1
    while (position >= 0).any():
        inside = position >= 0
        sequences[np.flatnonzero(inside), position[inside]] = known.last[at[inside]]
        at, position = np.where(inside, known.prefix[at], at), position - 1
    return sequences, lengths
