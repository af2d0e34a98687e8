"""Scores of the automata of heads under a model, for candidate arcs: what dual decomposition reads of a sentence.

A model scores a side without modifiers by which side it is, a problem does not. So that score is given to every arc into the word, and
taken back where the side has a first modifier; the root always has one.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.dependency.candidate_arcs import CANDIDATES, candidates_of
from zerogap.dependency.decoding.agreement.head_scores import NOTHING, HeadScores
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
from zerogap.dependency.scoring.sentence import Allowed, Weights
from zerogap.features.parts.keys import ENCODED, PLAN, Encoded, PartFeatures
from zerogap.features.parts.templates import DIRECTION
from zerogap.features.parts.weight_table import CLEAR
from zerogap.features.parts.weights import TABLE, table_shift, weights_of
from zerogap.grid import Scores
from zerogap.kernels import float64, int64, kernel, readonly, types, writable
from zerogap.oracles.heads import automata as head_sides

OUT = types.UniTuple(writable(float64, 1), 4)  # type: ignore[no-untyped-call]  # of numba


@kernel(int64(ENCODED, PLAN, TABLE, readonly(float64, 2), CANDIDATES, int64, OUT))
def score_heads(encoded, plan, table, arcs, candidates, with_joint, out):
    """`arcs` are the scores of the candidates, -inf elsewhere. out: pairs, stops, grands, joints; see `head_scores`."""
    partial = encoded.partial
    kind_start, relation, _, templates, codes = plan
    _, modifier_start, _, modifiers, _, joint_start, _, pair_start, grand_start, grand = candidates
    pairs, stops, grands, joints = out
    n = arcs.shape[0] - 1
    shift = table_shift(table)
    relations = np.zeros(codes.shape[0], dtype=np.int64)
    keys = np.empty(partial.shape[2], dtype=np.int64)
    alone = np.zeros((n + 1, 2))  # what sides without modifiers score
    none = n + 1
    for h in range(n + 1):
        of_head = partial[HEAD, h]
        for side in range(LEFT if h > 0 else RIGHT, 2):
            place = 2 * h + side
            first = modifier_start[place]
            size = modifier_start[place + 1] - first
            for p in range(size + 1):
                of_sib = partial[SIB, none if p == 0 else modifiers[first + p - 1]]
                found = 0
                for t in range(kind_start[STOP], kind_start[STOP + 1]):
                    keys[found] = ((of_head[t] + of_sib[t] + codes[DIRECTION, side]) & CLEAR) | templates[t]
                    found += 1
                score = weights_of(keys, found, table, shift)
                if p == 0:
                    alone[h, side] = score if h > 0 else 0.0
                stops[first + place + p] = score if p > 0 else 0.0
    stops[0] = 0.0
    for h in range(n + 1):
        of_head = partial[HEAD, h]
        for side in range(LEFT if h > 0 else RIGHT, 2):
            place = 2 * h + side
            first = modifier_start[place]
            size = modifier_start[place + 1] - first
            for j in range(size):
                m = modifiers[first + j]
                of_mod = partial[MOD, m]
                arc = arcs[h, m] + alone[m, LEFT] + alone[m, RIGHT]
                for p in range(size + 1):
                    if p > j:
                        pairs[pair_start[place] + p * size + j] = -np.inf
                        continue
                    s = none if p == 0 else modifiers[first + p - 1]
                    of_sib = partial[SIB, s]
                    sibling_relations(h, h if p == 0 else s, m, codes, relations)
                    found = 0
                    for t in range(kind_start[SIBLING], kind_start[SIBLING + 1]):
                        keys[found] = ((of_head[t] + of_sib[t] + of_mod[t] + relations[relation[t]]) & CLEAR) | templates[t]
                        found += 1
                    score = arc + weights_of(keys, found, table, shift)
                    pairs[pair_start[place] + p * size + j] = score - alone[h, side] if p == 0 else score
            if not grand or h == 0:
                continue
            k = 0
            for g in range(n + 1):
                if arcs[g, h] == -np.inf:
                    continue
                of_grand = partial[GRAND, g]
                for j in range(size):
                    m = modifiers[first + j]
                    of_mod = partial[MOD, m]
                    code = codes[DIRECTION, turn(g, h, m)]
                    found = 0
                    for t in range(kind_start[GRANDPARENT], kind_start[GRANDPARENT + 1]):
                        keys[found] = ((of_grand[t] + of_head[t] + of_mod[t] + code) & CLEAR) | templates[t]
                        found += 1
                    score = weights_of(keys, found, table, shift)
                    grands[grand_start[place] + k * size + j] = score if g != m else -np.inf
                    for p in range(size + 1 if with_joint else 0):
                        score = 0.0
                        if p <= j:
                            of_sib = partial[SIB, none if p == 0 else modifiers[first + p - 1]]
                            found = 0
                            for t in range(kind_start[GRANDSIBLING], kind_start[GRANDSIBLING + 1]):
                                keys[found] = ((of_grand[t] + of_head[t] + of_sib[t] + of_mod[t] + code) & CLEAR) | templates[t]
                                found += 1
                            score = weights_of(keys, found, table, shift)
                        joints[joint_start[place] + (k * (size + 1) + p) * size + j] = score
                k += 1
    return 0


def heads_under(
    features: PartFeatures, weights: Weights, encoded: Encoded, arcs: Scores, allowed: Allowed, *, grand: bool, single_root: bool,
    joint: bool = True,
) -> HeadScores:  # fmt: skip
    """`arcs` are the scores of the allowed arcs, -inf elsewhere. Without `joint`, parts of three score 0 for now."""
    c = candidates_of(allowed, grand=grand)
    pairs, stops = np.empty(c.pair_start[-1]), np.zeros(len(c.modifiers) + 2 * len(c.contexts))
    grands, joints = (np.zeros(c.grand_start[-1]), np.zeros(c.score_start[-1])) if grand else (NOTHING, NOTHING)
    score_heads(encoded, features.plan, weights.table, arcs, c, 1 if joint else 0, (pairs, stops, grands, joints))
    flags = head_sides.CHAIN + head_sides.SINGLE_ROOT * single_root + (head_sides.GRAND + head_sides.JOINT) * grand
    return HeadScores(c, flags, pairs, stops, grands, joints, NOTHING)
