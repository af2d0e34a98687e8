"""Conditional log-likelihood of trees with larger parts, by stochastic gradient descent along what belief propagation believes.

Smith & Eisner 2008; so Riedel, Smith & McCallum (2012, section 2.4) train their grandparent models. The gradient is the features
of the gold tree less those of all parts, each as often as it is believed in; belief propagation ends after a few iterations, converged
or not. Steps are those of the first-order field, whose gradient is exact. As for MIRA, and unlike there, features of wrong trees get
weights as well, unless `min_count` is above 0.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zerogap.dependency.candidate_arcs import candidate_heads, entries, is_outside
from zerogap.dependency.decoding.agreement.head_scores import NOTHING, HeadScores
from zerogap.dependency.scoring.heads import heads_under
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
    STOP,
    sibling_relations,
    turn,
)  # fmt: skip
from zerogap.dependency.scoring.sentence import Allowed, arcs_under, every_arc, keys_of_tree, score_of_tree
from zerogap.dependency.sentence import Sentence
from zerogap.dependency.training.options import TrainingOptions, gold_heads, start_with
from zerogap.dependency.training.random_field import FIRST_RATE, LEAST_AMOUNT, SLOWING, Field
from zerogap.features.parts.keys import ENCODED, PLAN, Encoded, PartFeatures
from zerogap.features.parts.learning import WeightTable
from zerogap.features.parts.templates import DIRECTION
from zerogap.features.parts.weight_table import CLEAR, Keys
from zerogap.grid import Integers, Scores
from zerogap.kernels import boolean, borrowing, float64, int64, kernel, readonly, record, types, writable
from zerogap.learning.online import run_epochs
from zerogap.oracles.trees.belief_propagation import Parts, Places, propagate

ITERATIONS, TOLERANCE, DAMPING = 10, 1e-3, 0.1  # of belief propagation for a step


@borrowing
def add_part(kind, plan, relations, sums, amount, least, out, size):  # out: keys and amounts, as far as they reach
    """The keys of one part, from the sums of its tokens; returns how many there are with them."""
    keys, signs = out
    begin, stop = plan.kind_start[kind], plan.kind_start[kind + 1]
    if abs(amount) < least:
        return size
    of_grand, of_head, of_sib, of_mod = sums
    if size + stop - begin <= keys.shape[0]:
        for t in range(begin, stop):
            key = of_grand[t] + of_head[t] + of_sib[t] + of_mod[t] + relations[plan.relation[t]]
            keys[size + t - begin] = (key & CLEAR) | plan.low_bytes[t]
            signs[size + t - begin] = amount
    return size + stop - begin


PLACES = record(Places, *[readonly(int64, 1)] * 6)
BELIEFS = record(Parts, *[readonly(float64, 1)] * 4)


@kernel(
    int64(
        ENCODED, PLAN, readonly(boolean, 2), readonly(int64, 1), PLACES, BELIEFS, float64,
        types.Tuple((writable(int64, 1), writable(float64, 1))),  # type: ignore[no-untyped-call]  # of numba
    )
)  # fmt: skip
def part_keys(encoded, plan, allowed, heads, places, beliefs, least, out):
    """The keys of all parts larger than arcs with how often they are in the gold tree, less how much they are believed in, if that is at
    least `least`; returns how many there are. The root's empty side is not scored.

    out: keys, signs, as far as they reach: if they are too short, call again with longer ones.
    """
    _, modifier_start, modifiers, pair_start, grand_start, joint_start = places
    pair_beliefs, stop_beliefs, grand_beliefs, joint_beliefs = beliefs
    partial, codes = encoded.partial, plan.codes
    n = heads.shape[0]
    none = n + 1
    chain, with_grand, with_joint = stop_beliefs.shape[0] > 0, grand_beliefs.shape[0] > 0, joint_beliefs.shape[0] > 0
    last = np.full((n + 1, 2), none)  # outermost modifiers in the gold tree
    before = np.empty(n + 1, dtype=np.int64)
    for i in range(n):
        for side in range(2):
            m = i + 1 if side == RIGHT else n - i
            h = heads[m - 1]
            if (m > h) == (side == RIGHT):
                before[m], last[h, side] = last[h, side], m
    relations = np.zeros(codes.shape[0], dtype=np.int64)
    nothing = np.zeros(partial.shape[2], dtype=np.int64)
    size = 0
    for h in range(n + 1):
        of_head = partial[HEAD, h]
        for side in range(LEFT if h > 0 else RIGHT, 2):
            place = 2 * h + side
            first = modifier_start[place]
            q = modifier_start[place + 1] - first
            if chain:
                relations[DIRECTION] = codes[DIRECTION, side]
                for p in range(0 if h > 0 else 1, q + 1):
                    s = none if p == 0 else modifiers[first + p - 1]
                    amount = (1.0 if last[h, side] == s else 0.0) - stop_beliefs[first + place + p]
                    size = add_part(STOP, plan, relations, (nothing, of_head, partial[SIB, s], nothing), amount, least, out, size)
                for j in range(q):
                    m = modifiers[first + j]
                    for p in range(j + 1):
                        s = none if p == 0 else modifiers[first + p - 1]
                        amount = (1.0 if heads[m - 1] == h and before[m] == s else 0.0) - pair_beliefs[pair_start[place] + p * q + j]
                        sibling_relations(h, h if p == 0 else s, m, codes, relations)
                        sums = nothing, of_head, partial[SIB, s], partial[MOD, m]
                        size = add_part(SIBLING, plan, relations, sums, amount, least, out, size)
            if not with_grand or h == 0:
                continue
            k = 0
            for g in range(n + 1):
                if not allowed[g, h]:
                    continue
                of_grand = partial[GRAND, g]
                at = grand_start[place] + k * q
                for j in range(q):
                    m = modifiers[first + j]
                    is_gold = heads[h - 1] == g and heads[m - 1] == h
                    relations[DIRECTION] = codes[DIRECTION, turn(g, h, m)]
                    amount = (1.0 if is_gold else 0.0) - grand_beliefs[at + j]
                    sums = of_grand, of_head, nothing, partial[MOD, m]
                    size = add_part(GRANDPARENT, plan, relations, sums, amount, least, out, size)
                    for p in range(j + 1 if with_joint else 0):
                        s = none if p == 0 else modifiers[first + p - 1]
                        belief = joint_beliefs[joint_start[place] + (k * (q + 1) + p) * q + j]
                        amount = (1.0 if is_gold and before[m] == s else 0.0) - belief
                        sums = of_grand, of_head, partial[SIB, s], partial[MOD, m]
                        size = add_part(GRANDSIBLING, plan, relations, sums, amount, least, out, size)
                k += 1
    return size


def places_of(scores: HeadScores) -> Places:
    c = scores.candidates
    return Places(c.contexts, c.modifier_start, c.modifiers, c.pair_start, c.grand_start, c.score_start)


def parts_of(scores: HeadScores, arcs: Scores, features: PartFeatures, *, projective: bool) -> Parts:
    """What belief propagation reads: parts for which there are templates, and which a tree can have."""
    c, grand = scores.candidates, scores.grand
    kinds = {template.kind for template in features.templates}
    if projective and len(grand):
        head_start, heads = candidate_heads(arcs)
        place, entry = entries(c.grand_start, 2, 2 * c.n_words + 2)
        k, j = np.divmod(entry, np.diff(c.modifier_start)[place])
        h = place >> 1
        outside = is_outside(heads[head_start[h] + k], h, c.modifiers[c.modifier_start[place] + j])
        grand = np.where(outside, grand[c.grand_start[2] :], -np.inf)  # the root's modifiers, which come first, have no grandparents
        grand = np.concatenate([scores.grand[: c.grand_start[2]], grand])
    pairs, stops = (scores.pairs, scores.stops) if kinds & {"sibling", "stop", "grandsibling"} else (NOTHING, NOTHING)
    return Parts(pairs, stops, grand, scores.joint if "grandsibling" in kinds else NOTHING)


@dataclass(frozen=True, slots=True, eq=False)
class BeliefField:
    """A random field with larger parts that is being learned: candidate arcs, and a step of gradient descent."""

    arcs: Field  # what it shares with the first-order field
    allowed: Sequence[Allowed]  # with all gold arcs
    grand: bool
    scratch: list[Any]  # keys and amounts, which grow

    def step(self, table: WeightTable, i: int, progress: float) -> float:
        features, options = self.arcs.features, self.arcs.options
        sentence, heads, allowed = self.arcs.sentences[i], self.arcs.gold[i], self.allowed[i]
        words = np.arange(1, len(sentence) + 1)
        encoded = features.encode(sentence.columns, len(sentence))
        arcs, no_arcs = arcs_under(features, table, encoded, allowed), np.where(allowed, 0.0, -np.inf)
        scores = heads_under(features, table, encoded, no_arcs, allowed, grand=self.grand, single_root=options.single_root)
        places, parts = places_of(scores), parts_of(scores, arcs, features, projective=options.projective)
        beliefs = propagate(
            arcs, places, parts, projective=options.projective, single_root=options.single_root, max_iterations=ITERATIONS,
            tolerance=TOLERANCE, damping=DAMPING,
        )  # fmt: skip
        gradient = -beliefs.arcs
        gradient[heads, words] += 1.0
        gradient[:, 0] = 0.0
        keys, amounts = self.arcs.amounts(encoded, gradient)
        more_keys, more_amounts = self.amounts(encoded, allowed, heads, places, beliefs.parts)
        rate = FIRST_RATE / (1.0 + SLOWING * progress)
        loss = beliefs.log_partition - score_of_tree(features, table, encoded, heads)
        table.step(np.concatenate([keys, more_keys]), np.concatenate([amounts, more_amounts]), most=rate, grow=options.min_count == 0)
        return loss

    def amounts(self, encoded: Encoded, allowed: Allowed, heads: Integers, places: Places, beliefs: Parts) -> tuple[Keys, Scores]:
        while True:
            keys, amounts = self.scratch
            plan = self.arcs.features.plan
            size = part_keys(encoded, plan, allowed, heads, places, beliefs, LEAST_AMOUNT, (keys, amounts))
            if size <= len(keys):
                return keys[:size], amounts[:size]
            self.scratch[:] = scratch(2 * size)


def scratch(size: int) -> list[Any]:
    return [np.empty(size, dtype=np.int64), np.empty(size)]


def train_by_beliefs(
    features: PartFeatures,
    sentences: Sequence[Sentence],
    candidates: Sequence[Allowed] | None,
    options: TrainingOptions,
    stage: dict[str, Any],
    *,
    grand: bool,
) -> tuple[Keys, Scores]:
    """Keys and weights; `candidates` are the arcs that a pruner left, None for all."""
    gold = [gold_heads(sentence, options) for sentence in sentences]
    allowed = [every_arc(len(s)) for s in sentences] if candidates is None else [found.copy() for found in candidates]
    for found, heads in zip(allowed, gold, strict=True):
        found[heads, np.arange(1, len(heads) + 1)] = True
    field = BeliefField(Field(features, sentences, gold, options, scratch(1 << 16)), allowed, grand, scratch(1 << 16))
    keys = (keys_of_tree(features, features.encode(s.columns, len(s)), heads) for s, heads in zip(sentences, gold, strict=True))
    return run_epochs(field.step, len(sentences), start=start_with(keys, options.min_count), **stage)
