"""Training of the transition-based parser: the averaged perceptron over whole derivations, an epoch in one kernel.

A sentence is searched until the canonical derivation of its tree is no longer in the beam, or to the end. If the best derivation differs
from it, weights go towards the right actions up to there and away from the best ones (Collins & Roark 2004, as in Zhang & Nivre 2011); or
up to where the right derivation is most below the best one ("max-violation", Huang, Fayong & Guo 2012). Trees that are not projective
have no derivation: they are left out, and counted.

While they are learned, weights are integers, in the same table from which searches read them; beside it stand the sums that averages need.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are those of its arguments

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError, UnknownMethod
from zerogap.kernels import inner
from zerogap.papers.rush2014.transition_parser.parser import (
    EARLY,
    EMPTY,
    MAX_VIOLATION,
    MOST_STEPS,
    TransitionParser,
    best_actions,
    bits_for,
    search_corpus,
    space_for,
)
from zerogap.papers.rush2014.transition_parser.system import (
    FRONT,
    Features,
    Numbers,
    act,
    check_beam,
    check_sentence,
    corpus_of,
    derive,
    features_of,
    key_of,
    read_state,
    shift_of,
    zhang_nivre,
)

if TYPE_CHECKING:
    from zerogap.dependency.sentence import Sentence

UPDATES = {"early": EARLY, "max-violation": MAX_VIOLATION}
FIRST_PLACES = 1 << 16
N_KEYS, MOMENT, ALL_UPDATES, EARLY_UPDATES, COUNTS = range(5)  # what training counts


class Epoch(NamedTuple):
    number: int
    updates: int  # sentences that changed weights
    accuracy: float | None  # heads of `development` that are right
    is_best: bool
    seconds: float  # of the processor


@inner
def learn(plan, actions, begin, sign, n, cells, sums, counts, space):  # out: cells, sums (places, 4), counts
    """Adds the sign to the weights of all features of the actions from `begin` on."""
    shift, mask = shift_of(cells.shape[0]), cells.shape[0] - 1
    items, states = space.items, space.states
    states[0, 0] = 0
    states[0, 0, FRONT] = 1
    items[0] = 0
    n_items = 1
    for step in range(actions.shape[0]):
        state, action = states[step & 1, 0], np.int64(actions[step])
        if step >= begin:
            read_state(state, items, n, space.tokens, space.values)
            for t in range(plan.relations.shape[0]):
                key = key_of(t, plan.slot_start, plan.slot_roles, plan.relations, plan.codes, space.sums, space.tokens, space.values)
                cell = (key >> shift) & mask
                while cells[cell, 0] != key and cells[cell, 0] != EMPTY:
                    cell = (cell + 1) & mask
                if cells[cell, 0] == EMPTY:
                    cells[cell, 0] = key
                    counts[N_KEYS] += 1
                lanes = cells[cell, 1]
                weight = (lanes << (48 - 16 * action)) >> 48
                if abs(weight + sign) <= MOST_STEPS:
                    ones = np.int64(65535) << (16 * action)
                    cells[cell, 1] = (lanes & ~ones) | (((weight + sign) << (16 * action)) & ones)
                    sums[cell, action] += sign * counts[MOMENT]
        n_items = act(action, state, items, n_items, states[1 - (step & 1), 0])


@inner
def run_epoch(corpus, right, order, begin, plan, beam, bits, mode, cells, sums, counts, space):  # out: cells, sums, counts
    """Learns from sentences order[begin:]; returns before which place of the order the table must grow, or the end."""
    for at in range(begin, order.shape[0]):
        s = order[at]
        first, last = corpus.start[s], corpus.start[s + 1]
        given = right[2 * first : 2 * last]
        size = best_actions(corpus.words[first:last], corpus.types, plan, cells, beam, bits[s], mode, given, space)
        differs = 0
        while differs < size and space.actions[differs] == given[differs]:
            differs += 1
        if differs < size:
            if counts[N_KEYS] + 2 * (size - differs) * plan.relations.shape[0] > cells.shape[0] >> 1:
                return at
            guess = space.actions[:size]
            learn(plan, given[:size], differs, 1, last - first, cells, sums, counts, space)
            learn(plan, guess, differs, -1, last - first, cells, sums, counts, space)
            counts[ALL_UPDATES] += 1
            counts[EARLY_UPDATES] += size < given.shape[0]
        counts[MOMENT] += 1
    return order.shape[0]


@inner
def move(cells, sums, new_cells, new_sums):  # out: new_cells, new_sums, which are empty
    shift, mask = shift_of(new_cells.shape[0]), new_cells.shape[0] - 1
    for i in range(cells.shape[0]):
        if cells[i, 0] != EMPTY:
            cell = (cells[i, 0] >> shift) & mask
            while new_cells[cell, 0] != EMPTY:
                cell = (cell + 1) & mask
            new_cells[cell] = cells[i]
            new_sums[cell] = sums[i]
    return 0


def train(
    sentences: Sequence[Sentence],
    *,
    development: Sequence[Sentence] = (),
    beam: int = 8,
    epochs: int = 15,
    update: str = "early",
    seed: int = 0,
    templates: Sequence[str] | None = None,
    report: Callable[[Epoch], None] | None = None,
) -> TransitionParser:
    """A parser for sentences with the same columns. With `development`, the epoch that finds most of its heads is kept.

    `templates` are those of Zhang & Nivre unless given, with the tags that there are, fine and coarse. `parser.about` says how many
    sentences were left out, and how many updates did not reach the end of theirs.
    """
    check_beam(beam)
    if update not in UPDATES:
        raise UnknownMethod("update", update, tuple(UPDATES))
    if not isinstance(epochs, int) or epochs < 1:
        raise InputError(f"epochs is {epochs!r}: expected a whole number of at least 1.")
    features = features_of(zhang_nivre(tags_of(sentences)) if templates is None else templates)
    for name, given in (("sentences", sentences), ("development", development)):
        for i, sentence in enumerate(given):
            check_sentence(sentence, features.columns, beam)
            if sentence.heads is None or not all(0 <= head <= len(sentence) for head in sentence.heads):
                raise InputError(f"{name}[{i}] has the heads {sentence.heads}: expected a tree, with numbers from 0 to {len(sentence)}.")
    found = [right_actions(sentence) for sentence in sentences]
    kept = [i for i, actions in enumerate(found) if actions is not None]
    if not any(len(sentences[i]) for i in kept):
        raise InputError(f"none of the {len(sentences)} sentences has words in a projective tree with one root: expected some.")
    corpus = corpus_of([sentences[i].columns for i in kept], features.columns)
    right = np.concatenate([actions for actions in found if actions is not None])
    tests = corpus_of([sentence.columns for sentence in development], features.columns)
    wanted = np.array([head for sentence in development for head in sentence.heads or ()], dtype=np.int32)

    lengths = np.diff(corpus.start).tolist()
    bits = np.array([bits_for(n, beam) for n in lengths], dtype=np.int64)
    space = space_for(max(lengths), beam, features)
    cells, sums = np.zeros((FIRST_PLACES, 2), dtype=np.int64), np.zeros((FIRST_PLACES, 4), dtype=np.int64)
    counts = np.zeros(COUNTS, dtype=np.int64)
    counts[MOMENT] = 1
    best, best_accuracy = None, -1.0
    for epoch in range(1, epochs + 1):
        begin, updates = time.process_time(), int(counts[ALL_UPDATES])
        order = np.random.default_rng([seed, epoch]).permutation(len(kept))
        at = 0
        while at < len(order):
            at = run_epoch(corpus, right, order, at, features.plan, beam, bits, UPDATES[update], cells, sums, counts, space)
            if at < len(order):
                old = cells, sums
                cells, sums = (np.zeros((2 * len(array), array.shape[1]), dtype=np.int64) for array in old)
                move(*old, cells, sums)
        accuracy, is_best = None, True
        if len(wanted) or epoch == epochs:
            about = {
                "sentences": len(sentences), "left_out": len(sentences) - len(kept), "updates": int(counts[ALL_UPDATES]),
                "early_updates": int(counts[EARLY_UPDATES]), "epochs": epoch, "seed": seed, "update": update, "trained_with_beam": beam,
            }  # fmt: skip
            parser = averaged(features, cells, sums, int(counts[MOMENT]), beam, about)
            if len(wanted):
                accuracy = float((search_corpus(tests, features, parser.cells, beam).heads == wanted).mean())
                is_best = accuracy > best_accuracy
            if is_best:
                best, best_accuracy = parser, accuracy or 0.0
        if report is not None:
            report(Epoch(epoch, int(counts[ALL_UPDATES]) - updates, accuracy, is_best, time.process_time() - begin))
    assert best is not None  # the last epoch, if no other
    return best


def averaged(features: Features, cells: Numbers, sums: Numbers, moment: int, beam: int, about: dict[str, Any]) -> TransitionParser:
    """Averages over all moments, rounded to 16 bits."""
    used = np.flatnonzero(cells[:, 0] != EMPTY)
    used = used[np.argsort(cells[used, 0])]
    weights = cells[used, 1].astype("<i8").view("<i2").reshape(-1, 4) - sums[used] / moment
    largest = float(np.abs(weights).max(initial=0.0))
    unit = 2.0 ** (math.frexp(largest)[1] - 15) if largest > 0.0 else 1.0
    steps = np.clip(np.rint(weights / unit), -MOST_STEPS, MOST_STEPS).astype(np.int16)
    nonzero = steps.any(axis=1)
    return TransitionParser(features, cells[used[nonzero], 0], steps[nonzero], unit, beam, about)


def right_actions(sentence: Sentence) -> NDArray[np.int8] | None:
    n = len(sentence)
    actions = np.zeros(2 * n, dtype=np.int8)
    return actions if derive(np.array(sentence.heads, dtype=np.int32), actions, np.zeros(n + 1, dtype=np.int32)) else None


def tags_of(sentences: Sequence[Sentence]) -> tuple[str, ...]:
    """Columns of tags, fine ones first, that most words have."""
    words = sum(map(len, sentences))
    known = {name: sum(value != "_" for s in sentences for value in s.columns.get(name, ())) for name in ("xpos", "upos")}
    found = tuple(name for name, number in known.items() if number > 0.5 * words)
    if not found:
        raise InputError(f"of {words} words, {known['xpos']} have xpos and {known['upos']} upos: expected tags of most words.")
    return found
