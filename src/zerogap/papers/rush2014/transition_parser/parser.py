"""A beam search over arc-eager derivations, as one kernel (Zhang & Nivre 2011; "ZhangNivre" in Rush 2014, section 8.5.1).

After t actions the beam has the k best states, best first; ties go to the successor of the better state, then to the smaller action.

Weights are 16-bit multiples of a unit, those of a feature for the four actions next to its key, so scores are exact integers. The sum of a
group of features is remembered for the words that decide it, until the next sentence: the states of a beam share most of them, and
so look up few features.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are those of its arguments

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import FormatError, InputError
from zerogap.kernels import inlined, inner
from zerogap.papers.rush2014.transition_parser.system import (
    FRONT,
    GROUPS,
    ITEM,
    MOST_BEAM,
    RELATIONS,
    ROLES,
    STATE,
    Corpus,
    Features,
    Numbers,
    act,
    attach,
    check_beam,
    check_sentence,
    corpus_of,
    features_of,
    fill_sums,
    is_allowed,
    key_of,
    read_state,
    shift_of,
)

if TYPE_CHECKING:
    from zerogap.dependency.sentence import Sentence

FORMAT, VERSION = "zerogap-transition-parser", 1
EMPTY = 0  # no key
MOST_STEPS = 2**15 - 1  # of a weight
PLACE_BITS = (4 * MOST_BEAM - 1).bit_length()  # of a successor: 4 times the place of its state, and the action
LAST_PLACE = (1 << PLACE_BITS) - 1
MIXER = -7046029254386353131  # odd, and its bits look random
SEARCH, EARLY, MAX_VIOLATION = 0, 1, 2  # the best derivation; or where it is to be corrected, see `best_actions`
BLOCK = 64  # looks under way at once
N_ROLES, N_RELATIONS, N_GROUPS = len(ROLES), len(RELATIONS), len(GROUPS)


class Space(NamedTuple):
    """What a search writes into, made once for the longest of all sentences."""

    sums: Numbers  # (n + 4, slots): no token, words 1 to n, the root, and two tokens that are after it
    items: NDArray[np.int32]
    states: NDArray[np.int32]  # (2, beam + 1, STATE): now and next; the last is that of the right derivation
    scores: Numbers  # (beam,)
    heap: Numbers  # (beam,)
    parents: NDArray[np.int16]  # (2 n, beam)
    chosen: NDArray[np.int8]  # (2 n, beam)
    tokens: Numbers  # (roles + 1,): the last is no word
    values: Numbers  # (relations,)
    known: Numbers  # contexts of groups: open addressing
    known_sums: NDArray[np.int32]  # (as many, actions)
    n_known: Numbers  # (1,)
    spots: NDArray[np.int32]  # (beam + 1, groups): where the sums of a state's groups are
    totals: Numbers  # (actions,)
    wanted_keys: Numbers  # (templates * (beam + 1),)
    wanted_spots: NDArray[np.int32]
    actions: NDArray[np.int8]  # (2 n,)
    stack: NDArray[np.int32]  # (n + 1,)


def bits_for(n: int, beam: int) -> int:
    """Of places to remember sums in, for a sentence of n words: twice what one step may need, or most of what all steps do."""
    return (2 * N_GROUPS * (beam + 1) + 8 * min(n, 64) * (beam + 8)).bit_length()


def space_for(n: int, beam: int, features: Features) -> Space:
    size, most = 1 << bits_for(n, beam), len(features.templates) * (beam + 1)
    return Space(
        sums=np.zeros((n + 4, len(features.plan.slot_roles)), dtype=np.int64),
        items=np.zeros((4 * n * (beam + 1) + 1, ITEM), dtype=np.int32),
        states=np.zeros((2, beam + 1, STATE), dtype=np.int32),
        scores=np.zeros(beam, dtype=np.int64),
        heap=np.zeros(beam, dtype=np.int64),
        parents=np.zeros((2 * n, beam), dtype=np.int16),
        chosen=np.zeros((2 * n, beam), dtype=np.int8),
        tokens=np.zeros(N_ROLES + 1, dtype=np.int64),
        values=np.zeros(N_RELATIONS, dtype=np.int64),
        known=np.zeros(size, dtype=np.int64),
        known_sums=np.zeros((size, 4), dtype=np.int32),
        n_known=np.zeros(1, dtype=np.int64),
        spots=np.zeros((beam + 1, N_GROUPS), dtype=np.int32),
        totals=np.zeros(4, dtype=np.int64),
        wanted_keys=np.zeros(most, dtype=np.int64),
        wanted_spots=np.zeros(most, dtype=np.int32),
        actions=np.zeros(2 * n, dtype=np.int8),
        stack=np.zeros(n + 1, dtype=np.int32),
    )


@inlined
def find_groups(s, state, n, plan, space, bits, wanted):  # out: space.spots[s], space.known.., space.wanted.. from `wanted` on
    """Where the sums of a state's groups are remembered; features of those that are new are wanted. Returns how many are wanted then."""
    group_start, slot_start, slot_roles, relations, codes, _, _, contexts = plan
    sums, tokens, values, known = space.sums, space.tokens, space.values, space.known
    read_state(state, space.items, n, tokens, values)
    mask = (1 << bits) - 1
    for group in range(N_GROUPS):
        # no two contexts have the same number, and none has 0
        context = tokens[contexts[group, 0]] | tokens[contexts[group, 1]] << 16 | tokens[contexts[group, 2]] << 32
        context |= values[contexts[group, 3]] << 48 | (group + 1) << 51
        spot = ((context * MIXER) >> (64 - bits)) & mask
        while known[spot] != context and known[spot] != EMPTY:
            spot = (spot + 1) & mask
        if known[spot] == EMPTY:
            known[spot] = context
            for a in range(4):
                space.known_sums[spot, a] = 0
            for t in range(group_start[group], group_start[group + 1]):
                space.wanted_keys[wanted] = key_of(t, slot_start, slot_roles, relations, codes, sums, tokens, values)
                space.wanted_spots[wanted] = spot
                wanted += 1
            space.n_known[0] += 1
        space.spots[s, group] = spot
    return wanted


@inner
def look_up(keys, spots, cells, known_sums):  # out: known_sums, added to
    """Adds the weights of features where they are wanted."""
    shift, mask = shift_of(cells.shape[0]), cells.shape[0] - 1
    first = np.empty(BLOCK, dtype=np.int64)
    for begin in range(0, keys.shape[0], BLOCK):
        size = min(BLOCK, keys.shape[0] - begin)
        for i in range(size):  # no branch: memory has many reads under way at once
            first[i] = cells[(keys[begin + i] >> shift) & mask, 0]
        for i in range(size):
            key, found = keys[begin + i], first[i]
            cell = (key >> shift) & mask
            while found != key and found != EMPTY:
                cell = (cell + 1) & mask
                found = cells[cell, 0]
            if found == key:
                lanes, spot = cells[cell, 1], spots[begin + i]
                known_sums[spot, 0] += (lanes << 48) >> 48
                known_sums[spot, 1] += (lanes << 32) >> 48
                known_sums[spot, 2] += (lanes << 16) >> 48
                known_sums[spot, 3] += lanes >> 48


@inlined
def add_groups(s, space):  # out: space.totals
    """The scores of the actions in a state."""
    known_sums, spots = space.known_sums, space.spots
    a, b, c, d = np.int32(0), np.int32(0), np.int32(0), np.int32(0)
    for group in range(N_GROUPS):
        spot = spots[s, group]
        a += known_sums[spot, 0]
        b += known_sums[spot, 1]
        c += known_sums[spot, 2]
        d += known_sums[spot, 3]
    space.totals[0], space.totals[1], space.totals[2], space.totals[3] = a, b, c, d


@inlined
def sift_down(heap, at, size):  # out: heap: the smallest is on top
    value = heap[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value


@inlined
def push(heap, size, value):  # out: heap
    at = size
    while at > 0 and heap[(at - 1) >> 1] > value:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = value


@inner
def best_actions(words, types, plan, cells, beam, bits, mode, given, space):  # out: space.actions, space.scores
    """The best derivation that the beam finds; returns how many of its actions are in space.actions.

    They are all 2 n; EARLY: those up to where the given derivation is no longer in the beam; MAX_VIOLATION: if the given derivation is not
    the best one, those up to where it is most below the best one.
    """
    n = words.shape[0]
    fill_sums(words, types, plan, space.sums)
    items, heap, scores, known = space.items, space.heap, space.scores, space.known
    items[0] = 0  # the empty stack
    now, n_items, size, place, steps = 0, 1, 1, 0, 0
    for row in (0, beam):
        space.states[0, row] = 0
        space.states[0, row, FRONT] = 1
    scores[0] = 0
    right_score, worst, worst_steps = np.int64(0), np.int64(-1), 0
    space.n_known[0] = 1 << bits  # of another sentence
    while steps < 2 * n:
        if space.n_known[0] + N_GROUPS * (beam + 1) > 1 << (bits - 1):
            known[: 1 << bits] = EMPTY
            space.n_known[0] = 0
        wanted = 0
        for i in range(size + 1 if mode == MAX_VIOLATION else size):
            s = i if i < size else beam
            wanted = find_groups(s, space.states[now, s], n, plan, space, bits, wanted)
        look_up(space.wanted_keys[:wanted], space.wanted_spots[:wanted], cells, space.known_sums)
        found = 0
        for s in range(size):
            state = space.states[now, s]
            add_groups(s, space)
            for action in range(4):
                if is_allowed(action, state, items, n):
                    value = (scores[s] + space.totals[action]) << PLACE_BITS | (LAST_PLACE - (4 * s + action))
                    if found < beam:
                        push(heap, found, value)
                        found += 1
                    elif value > heap[0]:
                        heap[0] = value
                        sift_down(heap, 0, found)
        for rank in range(found - 1, 0, -1):  # what leaves the heap goes behind it: the best comes first
            smallest = heap[0]
            heap[0] = heap[rank]
            sift_down(heap, 0, rank)
            heap[rank] = smallest
        next_place = -1
        for rank in range(found):
            order = LAST_PLACE - (heap[rank] & LAST_PLACE)
            parent, action = order >> 2, order & 3
            n_items = act(action, space.states[now, parent], items, n_items, space.states[1 - now, rank])
            scores[rank] = heap[rank] >> PLACE_BITS
            space.parents[steps, rank], space.chosen[steps, rank] = parent, action
            if mode != SEARCH and parent == place and action == given[steps]:
                next_place = rank
        if mode == MAX_VIOLATION:
            add_groups(beam, space)
            right_score += space.totals[given[steps]]
            n_items = act(given[steps], space.states[now, beam], items, n_items, space.states[1 - now, beam])
            if next_place != 0 and scores[0] - right_score > worst:
                worst, worst_steps = scores[0] - right_score, steps + 1
        now, size, place = 1 - now, found, next_place
        steps += 1
        if mode == EARLY and place < 0:
            break
    if mode == MAX_VIOLATION and place != 0:
        steps = worst_steps
    rank = 0
    for step in range(steps - 1, -1, -1):
        space.actions[step] = space.chosen[step, rank]
        rank = space.parents[step, rank]
    return steps


@inner
def parse_corpus(corpus, plan, cells, beam, bits, space, heads, actions, scores):  # out: heads (words), actions (2 words), scores
    """The best derivations of all sentences, and their trees."""
    for s in range(corpus.start.shape[0] - 1):
        first, last = corpus.start[s], corpus.start[s + 1]
        n = last - first
        best_actions(corpus.words[first:last], corpus.types, plan, cells, beam, bits[s], SEARCH, space.actions[:0], space)
        scores[s] = space.scores[0]
        actions[2 * first : 2 * last] = space.actions[: 2 * n]
        attach(space.actions[: 2 * n], n, heads[first:last], space.stack)
    return 0


@inner
def fill_cells(keys, lanes, cells):  # out: cells, which are empty
    shift, mask = shift_of(cells.shape[0]), cells.shape[0] - 1
    for i in range(keys.shape[0]):
        cell = (keys[i] >> shift) & mask
        while cells[cell, 0] != EMPTY:
            cell = (cell + 1) & mask
        cells[cell, 0], cells[cell, 1] = keys[i], lanes[i]
    return 0


class Derivations(NamedTuple):
    """Of many sentences, one after the other; scores are in units."""

    heads: NDArray[np.int32]
    actions: NDArray[np.int8]
    scores: Numbers


def search_corpus(corpus: Corpus, features: Features, cells: Numbers, beam: int) -> Derivations:
    lengths = np.diff(corpus.start).tolist()
    bits = np.array([bits_for(n, beam) for n in lengths], dtype=np.int64)
    words = len(corpus.words)
    found = Derivations(np.zeros(words, dtype=np.int32), np.zeros(2 * words, dtype=np.int8), np.zeros(len(lengths), dtype=np.int64))
    parse_corpus(corpus, features.plan, cells, beam, bits, space_for(max(lengths, default=0), beam, features), *found)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class TransitionParser:
    """Projective trees with one root, of the best derivation that a beam finds: another may score higher, there is no bound."""

    features: Features
    keys: Numbers  # of features that have weights, ascending
    steps: NDArray[np.int16]  # (keys, actions): weights in units
    unit: float  # a power of two
    beam: int
    about: dict[str, Any] = field(default_factory=dict)  # for people
    cells: Numbers = field(init=False, repr=False)  # (places, 2): key, and four weights of 16 bits

    def __post_init__(self) -> None:
        check_beam(self.beam)
        cells = np.zeros((1 << (2 * len(self.keys) + 1).bit_length(), 2), dtype=np.int64)  # at most half of them are full
        fill_cells(self.keys, np.ascontiguousarray(self.steps, dtype="<i2").view("<i8").reshape(-1), cells)
        object.__setattr__(self, "cells", cells)

    def parse(self, sentence: Sentence) -> tuple[int, ...]:
        """The heads of words 1 to n; 0 is the root."""
        return self.parse_many([sentence])[0]

    def parse_many(self, sentences: Sequence[Sentence]) -> list[tuple[int, ...]]:
        corpus = self.encode(sentences)
        heads = search_corpus(corpus, self.features, self.cells, self.beam).heads.tolist()
        start = corpus.start.tolist()
        return [tuple(heads[first:last]) for first, last in pairwise(start)]

    def derivation(self, sentence: Sentence) -> tuple[tuple[int, ...], float]:
        """The best actions that the beam finds, and their score."""
        found = search_corpus(self.encode([sentence]), self.features, self.cells, self.beam)
        return tuple(found.actions.tolist()), int(found.scores[0]) * self.unit

    def with_beam(self, beam: int) -> TransitionParser:
        return replace(self, beam=beam)

    def encode(self, sentences: Sequence[Sentence]) -> Corpus:
        for sentence in sentences:
            check_sentence(sentence, self.features.columns, self.beam)
        return corpus_of([sentence.columns for sentence in sentences], self.features.columns)

    def save(self, path: str | Path) -> None:
        """Writes the parser into one file, which is there completely or not at all."""
        templates = [template.text for template in self.features.templates]
        header = {"format": FORMAT, "version": VERSION, "beam": self.beam, "about": self.about, "templates": templates, "unit": self.unit}
        text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        target = Path(path)
        temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            with open(temporary, "wb") as file:
                np.savez_compressed(file, allow_pickle=False, header=text, keys=self.keys, steps=self.steps)
            os.replace(temporary, target)
        except OSError as error:
            raise FormatError(f"{path} cannot be written: {error.strerror or error}.") from None
        finally:
            temporary.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | Path) -> TransitionParser:
        """The parser in a file; FormatError says what is wrong with it."""
        try:
            with np.load(path, allow_pickle=False) as archive:
                text, keys, steps = (archive[name] for name in ("header", "keys", "steps"))
            header = json.loads(text.tobytes().decode())
            if header["format"] != FORMAT or header["version"] != VERSION:
                raise InputError(f"it is {header['format']!r}, version {header['version']!r}: expected {FORMAT!r}, version {VERSION}")
            unit = float(header["unit"])
            sound = keys.dtype == np.int64 and steps.dtype == np.int16 and keys.ndim == 1 and steps.shape == (len(keys), 4)
            if not (sound and (keys[1:] > keys[:-1]).all() and (keys != EMPTY).all()):
                raise InputError("keys and steps are not those of features")
            if not (math.isfinite(unit) and math.frexp(unit)[0] == 0.5):
                raise InputError(f"the unit is {unit}: expected a power of two")
            return cls(features_of(header["templates"]), keys, steps, unit, header["beam"], dict(header["about"]))
        except Exception as error:  # damaged archives fail in many ways: zipfile, zlib and NumPy each have their own
            raise FormatError(f"{path} is not a transition parser, or was cut short: {error}.") from None
