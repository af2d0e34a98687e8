"""Bounds on the weights of larger parts, made offline: partial keys are noted of every weight that training sentences have.

Riedel et al. 2012, section 4.3.2. What a partial key is, is in `features.parts.bounds`; which of them there are is here. Arcs that are
known keep their direction in it, so that less is maximised over than all that is missing; distances of siblings are maximised over.

Learners step towards features of gold trees and away from all others, so a weight above 0 is one of a feature of a gold tree: the
trees of the training sentences have them all. If sentences come without trees, or are other ones, arcs that the pruner leaves are gone
through as well, and what is met nowhere becomes a floor of all bounds of its template.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from zerogap.dependency.nearest_trees import projective_heads
from zerogap.dependency.parser.parser import Parser
from zerogap.dependency.scoring.parts import (
    GRAND,
    GRANDPARENT,
    GRANDSIBLING,
    HEAD,
    LEFT,
    MOD,
    RIGHT,
    SIB,
    SIBLING,
    sibling_relations,
    turn,
)  # fmt: skip
from zerogap.dependency.scoring.sentence import Allowed, Integers
from zerogap.dependency.sentence import Sentence
from zerogap.errors import InputError, InvalidStructure
from zerogap.features.parts.bounds import StoredBounds, WeightBounds, bounds_from_notes, cell_of_key, cells_of, weights_to_meet, without
from zerogap.features.parts.keys import ENCODED, PLAN, Encoded, PartFeatures
from zerogap.features.parts.packed_table import packed
from zerogap.features.parts.templates import DIRECTION
from zerogap.features.parts.weight_table import CLEAR, EMPTY, Keys, shift_of
from zerogap.kernels import boolean, inner, int64, kernel, readonly, uint32, writable
from zerogap.problems.dependency.problem import check_acyclic

BOUNDED = ("sibling", "grandparent", "grandsibling")  # kinds of parts
NO_GRAND, NO_SIB, NO_MOD, NO_SIB_MOD, NO_GRAND_SIB = range(5)  # places in MISSING
MISSING = (("grand",), ("sib",), ("mod",), ("sib", "mod"), ("grand", "sib"))
NOTES = 4  # of a weight, at most
SMALLER = 0.5  # the table of weights to be met is made again when no more than this share of it is left


@dataclass(frozen=True, slots=True)
class NotingProgress:
    """How far bounds are: `stage` is trees, or candidates for arcs that the pruner leaves."""

    stage: str
    done: int  # sentences
    sentences: int
    met: int
    weights: int  # above 0, of larger parts


@inner
def partial_key(total, missing, template):
    return ((total + missing) & CLEAR) | template


@kernel(
    int64(
        ENCODED, PLAN, readonly(boolean, 2), readonly(int64, 1), readonly(uint32, 1), readonly(int64, 1), readonly(int64, 2),
        readonly(boolean, 1), writable(int64, 2),
    )
)  # fmt: skip
def note_parts(encoded, plan, allowed, cells, jumps, rows, missing, reads_sib, notes):
    """Goes through all parts of allowed arcs, and notes the partial keys of features in the table; returns how many it noted.

    `rows` are those of cells, `reads_sib` is by template. out: notes (weights, NOTES), in the last column always one. Siblings: without
    sib, mod. Grandparents: without grand, mod. Grand-siblings: without sib, sib and mod, grand and sib, grand. Without sib alone means
    that there is one: whether a modifier is the first is not unknown.
    """
    partial = encoded.partial
    kind_start, relation, _, templates, codes = plan
    n = allowed.shape[0] - 1
    shift = shift_of(cells.shape[0])
    relations = np.zeros(codes.shape[0], dtype=np.int64)
    modifiers = np.empty(n + 1, dtype=np.int64)
    none = n + 1
    n_noted = 0
    for h in range(n + 1):
        of_head = partial[HEAD, h]
        for side in range(LEFT if h > 0 else RIGHT, 2):
            size = 0
            step = 1 if side == RIGHT else -1
            m = h + step
            while 1 <= m <= n:
                if allowed[h, m]:
                    modifiers[size] = m
                    size += 1
                m += step
            down = codes[DIRECTION, side]
            for j in range(size):
                m = modifiers[j]
                of_mod = partial[MOD, m]
                for p in range(j + 1):
                    s = none if p == 0 else modifiers[p - 1]
                    sibling_relations(h, h if p == 0 else s, m, codes, relations)
                    for t in range(kind_start[SIBLING], kind_start[SIBLING + 1]):
                        total, template = of_head[t] + partial[SIB, s, t] + of_mod[t], templates[t]
                        cell = cell_of_key(((total + relations[relation[t]]) & CLEAR) | template, cells, jumps, shift)
                        if cell < 0 or notes[rows[cell], NOTES - 1] != EMPTY:
                            continue
                        row = rows[cell]
                        n_noted += 1
                        if p > 0 or not reads_sib[t]:
                            notes[row, 0] = partial_key(of_head[t] + of_mod[t] + down, missing[NO_SIB, t], template)
                        notes[row, NOTES - 1] = partial_key(of_head[t] + partial[SIB, s, t] + down, missing[NO_MOD, t], template)
                for g in range(n + 1):
                    if h == 0 or g == m or not allowed[g, h]:
                        continue
                    of_grand = partial[GRAND, g]
                    both, up = codes[DIRECTION, turn(g, h, m)], codes[DIRECTION, 1 if h > g else 0]
                    for t in range(kind_start[GRANDPARENT], kind_start[GRANDPARENT + 1]):
                        template = templates[t]
                        cell = cell_of_key(((of_grand[t] + of_head[t] + of_mod[t] + both) & CLEAR) | template, cells, jumps, shift)
                        if cell < 0 or notes[rows[cell], NOTES - 1] != EMPTY:
                            continue
                        row = rows[cell]
                        n_noted += 1
                        notes[row, 0] = partial_key(of_head[t] + of_mod[t] + down, missing[NO_GRAND, t], template)
                        notes[row, NOTES - 1] = partial_key(of_grand[t] + of_head[t] + up, missing[NO_MOD, t], template)
                    if kind_start[GRANDSIBLING] == kind_start[GRANDSIBLING + 1]:
                        continue
                    for p in range(j + 1):
                        of_sib = partial[SIB, none if p == 0 else modifiers[p - 1]]
                        for t in range(kind_start[GRANDSIBLING], kind_start[GRANDSIBLING + 1]):
                            total, template = of_grand[t] + of_head[t] + of_sib[t] + of_mod[t], templates[t]
                            cell = cell_of_key(((total + both) & CLEAR) | template, cells, jumps, shift)
                            if cell < 0 or notes[rows[cell], NOTES - 1] != EMPTY:
                                continue
                            row = rows[cell]
                            n_noted += 1
                            if p > 0 or not reads_sib[t]:
                                notes[row, 0] = partial_key(of_grand[t] + of_head[t] + of_mod[t] + both, missing[NO_SIB, t], template)
                            notes[row, 1] = partial_key(of_grand[t] + of_head[t] + up, missing[NO_SIB_MOD, t], template)
                            notes[row, 2] = partial_key(of_head[t] + of_mod[t] + down, missing[NO_GRAND_SIB, t], template)
                            notes[row, NOTES - 1] = partial_key(total - of_grand[t] + down, missing[NO_GRAND, t], template)
    return n_noted


@functools.lru_cache(maxsize=8)
def missing_codes(features: PartFeatures) -> Keys:
    """(what is missing, templates), for partial keys; see `features.parts.bounds.without`."""
    return np.stack([without(features, *roles) for roles in MISSING])


class Notes:
    """What was noted of the weights above 0, and a table of those that are still to be met, which shrinks."""

    __slots__ = ("met", "missing", "notes", "parser", "places", "reads_sib", "rows", "table", "waiting")

    def __init__(self, parser: Parser) -> None:
        features = parser.model.features
        self.parser = parser
        self.places: Integers = weights_to_meet(parser.model, BOUNDED)
        self.notes: Keys = np.full((len(self.places), NOTES), EMPTY, dtype=np.int64)
        reads = [any(role == "sib" for role, _, _ in template.terms) for template in features.templates]
        self.reads_sib = np.array(reads, dtype=np.bool_)[features.plan.low_bytes - 1]
        self.missing = missing_codes(features)
        self.met = 0
        self.look_for_the_rest()

    def look_for_the_rest(self) -> None:
        model = self.parser.model
        rest = np.flatnonzero(self.notes[:, -1] == EMPTY)
        keys = model.keys[self.places[rest]]
        self.table = cells, jumps = packed(keys, model.steps[self.places[rest]])
        self.rows: Integers = np.zeros(len(cells), dtype=np.int64)
        self.rows[cells_of(keys, cells, jumps)] = rest
        self.waiting = len(rest)

    @property
    def is_done(self) -> bool:
        return self.met == len(self.places)

    def read(self, sentence: Sentence, allowed: Allowed) -> None:
        """Of parts of allowed arcs."""
        features = self.parser.model.features
        partial, totals = features.encode(sentence.columns, len(sentence))
        if features.reading.n_roles <= GRAND:  # kernels look at all roles of larger parts
            partial = np.concatenate([partial, np.zeros((GRAND + 1 - len(partial), *partial.shape[1:]), dtype=np.int64)])
        self.met += note_parts(
            Encoded(partial, totals), features.plan, allowed, *self.table, self.rows, self.missing, self.reads_sib, self.notes
        )
        if len(self.places) - self.met <= SMALLER * self.waiting and not self.is_done:
            self.look_for_the_rest()


def arcs_of_tree(parser: Parser, sentence: Sentence) -> Allowed:
    """Those of the tree of the sentence, and those that a projective parser learned in place of it."""
    heads = np.array(sentence.heads, dtype=np.int64)
    n = len(heads)
    if n and not 0 <= heads.min() <= heads.max() <= n:
        raise InputError(f"{sentence.name or 'a sentence'}: heads are {int(heads.min())} to {int(heads.max())}: expected 0 to {n}.")
    try:
        check_acyclic(heads)
    except InvalidStructure as error:
        raise InputError(f"{sentence.name or 'a sentence'} is not a tree: {error}") from None
    allowed = np.zeros((n + 1, n + 1), dtype=np.bool_)
    allowed[heads, np.arange(1, n + 1)] = True
    if parser.projective and n:
        allowed[projective_heads(sentence, single_root=parser.single_root), np.arange(1, n + 1)] = True
    return allowed


def weight_bounds(parser: Parser, sentences: Sequence[Sentence], *, report: Callable[[NotingProgress], None] | None = None) -> WeightBounds:
    """Bounds for the model of a parser from sentences that it was trained on; from other ones they hold too, but are looser."""
    if not sentences:
        raise InputError("sentences is empty: expected those that the parser was trained on.")
    notes = Notes(parser)
    for sentence in sentences:
        parser.check(sentence)
    for stage in ("trees", "candidates"):
        for i, sentence in enumerate(sentences):
            if notes.is_done:
                break
            if stage == "candidates":
                notes.read(sentence, parser.allowed(parser.model.features.tokens.of(sentence.columns, len(sentence))))
            elif sentence.heads is not None:
                notes.read(sentence, arcs_of_tree(parser, sentence))
            if report is not None:
                report(NotingProgress(stage, i + 1, len(sentences), notes.met, len(notes.places)))
    return bounds_from_notes(parser.model, notes.places, notes.notes)


def compute_bounds(parser: Parser, sentences: Sequence[Sentence], *, report: Callable[[NotingProgress], None] | None = None) -> Parser:
    """The parser with bounds on the scores of larger parts, from the sentences that it was trained on; `save` keeps them.

    `parser.bounds.coverage` is 1 if they were, else bounds hold but are loose.
    """
    bounds = weight_bounds(parser, sentences, report=report)
    return replace(parser, stored_bounds=StoredBounds(parser.model, {}, found=[bounds]))
