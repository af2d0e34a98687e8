"""Scores of listed factors under a table of weights, and the keys of their features.

A key is the sum over the roles of a factor, as for other parts (see `dependency.scoring`), a number for the directions of its arcs, one
for its distance where a template asks for it, and one of the factor itself, if it has such. The modifiers of a comb are one number,
which depends on their order.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.dependency.factor_families import COLUMNS, FactorList
from zerogap.dependency.scored import Weights
from zerogap.dependency.scoring import SENTENCE, TABLE
from zerogap.features.packed_table import step_of
from zerogap.features.part_keys import BUCKETS, WITH_SHARED_HEAD, Encoded, PartFeatures, factor_place
from zerogap.features.part_templates import DIRECTION, DISTANCE, FACTOR_KINDS, ROLES
from zerogap.features.weight_table import CLEAR, Keys
from zerogap.features.weights import table_shift, weights_of
from zerogap.grid import Scores
from zerogap.oracles.compile import float64, inlined, inner, int64, kernel, readonly, writable

EACH = ROLES.index("each")
DIRECTIONS = 4  # of two arcs
SPREAD = 0x5851F42D4C957F2D  # odd
FACTORS = (int64, int64, readonly(int64, 1), readonly(int64, 2), readonly(int64, 2), readonly(int64, 1))


@inner
def keys_of_factor(
    c, partial, begin, stop, relation, templates, codes, each, roles, tokens, lie, own, base, base_of, keys, at
):  # fmt: skip
    """out: keys, from `at` on; base and base_of (scratch): the sum of the first two roles, which factors in a row often share."""
    size = stop - begin
    if base_of[0] != tokens[c, 0] or base_of[1] != tokens[c, 1]:
        base_of[0], base_of[1] = tokens[c, 0], tokens[c, 1]
        one, two = partial[roles[0], tokens[c, 0]], partial[roles[1], tokens[c, 1]]
        for t in range(size):
            base[t] = one[begin + t] + two[begin + t]
    code = codes[DIRECTION, lie[c, 0]]
    if own.shape[0]:
        code += own[c]
    for t in range(size):
        keys[at + t] = base[t] + code
    for r in range(2, roles.shape[0]):
        if roles[r] >= 0:
            more = partial[roles[r], tokens[c, r]]
            for t in range(size):
                keys[at + t] += more[begin + t]
    if each:
        for t in range(size):
            total = 0
            for token in range(tokens[c, 1], tokens[c, 2] + 1):
                total = total * SPREAD + partial[EACH, token, begin + t]
            keys[at + t] += total
    distance = codes[DISTANCE, 2 * lie[c, 1]]
    for t in range(size):
        key = keys[at + t] + (distance if relation[begin + t] == DISTANCE else 0)
        keys[at + t] = (key & CLEAR) | templates[begin + t]


@kernel(int64(*SENTENCE, *TABLE, *FACTORS, writable(float64, 1)))
def score_factors(
    partial, kind_start, relation, run_end, templates, codes, cells, numbers, jumps, place, each, roles, tokens, lie, own, scores
):  # fmt: skip
    """out: scores. `place` is that of the kind in kind_start, `each` whether it is a comb, `roles` those of the columns of tokens."""
    begin, stop = kind_start[place], kind_start[place + 1]
    shift = table_shift(cells, jumps)
    keys, base = np.empty(stop - begin, dtype=np.int64), np.empty(stop - begin, dtype=np.int64)
    base_of = np.full(2, -1)
    for c in range(tokens.shape[0]):
        keys_of_factor(c, partial, begin, stop, relation, templates, codes, each, roles, tokens, lie, own, base, base_of, keys, 0)
        scores[c] = weights_of(keys, stop - begin, cells, numbers, jumps, shift)
    return 0


@inlined
def weight_of_templates(first, last, base, sums, more, of_lie, lies, templates, keys, cells, numbers, jumps, shift):
    """What templates say of a factor: the sum of two tokens is base[t], that of the third sums[more + t], and of_lie[lies + t] is added."""
    if jumps.shape[0]:  # without an array of keys there is nothing that could overlap, and nothing to wait for
        total = np.int64(0)
        for t in range(first, last):
            total += step_of(((base[t] + sums[more + t] + of_lie[lies + t]) & CLEAR) | templates[t], cells, jumps, shift)
        return total * numbers[0]
    for t in range(first, last):
        keys[t - first] = ((base[t] + sums[more + t] + of_lie[lies + t]) & CLEAR) | templates[t]
    return weights_of(keys, last - first, cells, numbers, jumps, shift)


@kernel(int64(*SENTENCE, *TABLE, int64, int64, int64, readonly(int64, 1), readonly(int64, 2), readonly(int64, 2), writable(float64, 1)))
def score_triples(
    partial, kind_start, relation, run_end, templates, codes, cells, numbers, jumps, apart, shared, place, roles, tokens, lie, scores
):  # fmt: skip
    """The same for factors of three tokens, of which there are most.

    From template `apart` on, nothing is read of the token in column `shared`, which is 0 or 1: what these templates say is the same for all
    factors of the other two tokens that lie alike.
    """
    begin, stop = kind_start[place], kind_start[place + 1]
    count, size = partial.shape[2], partial.shape[1]
    shift = table_shift(cells, jumps)
    sums = partial.reshape(-1)
    of_lie = np.empty(DIRECTIONS * BUCKETS * count, dtype=np.int64)  # what is added for directions and distances
    for direction in range(DIRECTIONS):
        for bucket in range(BUCKETS):
            for t in range(begin, stop):
                distance = codes[DISTANCE, 2 * bucket] if relation[t] == DISTANCE else 0
                of_lie[(direction * BUCKETS + bucket) * count + t] = codes[DIRECTION, direction] + distance
    keys, base = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    a, b = -1, -1
    without = np.full(DIRECTIONS * size * size, np.nan)
    for c in range(tokens.shape[0]):
        if a != tokens[c, 0] or b != tokens[c, 1]:
            a, b = tokens[c, 0], tokens[c, 1]
            one, two = (roles[0] * size + a) * count, (roles[1] * size + b) * count
            for t in range(begin, stop):
                base[t] = sums[one + t] + sums[two + t]
        m = tokens[c, 2]
        more, lies = (roles[2] * size + m) * count, (lie[c, 0] * BUCKETS + lie[c, 1]) * count
        at = (lie[c, 0] * size + (a if shared == 1 else b)) * size + m
        if np.isnan(without[at]):
            without[at] = weight_of_templates(apart, stop, base, sums, more, of_lie, lies, templates, keys, cells, numbers, jumps, shift)
        with_all = weight_of_templates(begin, apart, base, sums, more, of_lie, lies, templates, keys, cells, numbers, jumps, shift)
        scores[c] = with_all + without[at]
    return 0


@kernel(int64(*SENTENCE, *FACTORS, writable(int64, 1)))
def fill_factor_keys(partial, kind_start, relation, run_end, templates, codes, place, each, roles, tokens, lie, own, keys):
    """out: keys (factors * templates of the kind,)."""
    begin, stop = kind_start[place], kind_start[place + 1]
    base = np.empty(stop - begin, dtype=np.int64)
    base_of = np.full(2, -1)
    at = 0
    for c in range(tokens.shape[0]):
        keys_of_factor(c, partial, begin, stop, relation, templates, codes, each, roles, tokens, lie, own, base, base_of, keys, at)
        at += stop - begin
    return at


def read_by_kernel(factors: FactorList) -> tuple[int, int, Keys, Keys, Keys, Keys]:
    roles = [ROLES.index(role) for role in FACTOR_KINDS[factors.kind] if role != "each"]
    numbers = np.array([*roles, *[-1] * (COLUMNS - len(roles))], dtype=np.int64)
    place = factor_place(factors.kind)
    return place, 1 if factors.kind == "comb" else 0, numbers, factors.tokens, factors.lie, factors.codes


def factor_scores(features: PartFeatures, weights: Weights, encoded: Encoded, factors: FactorList) -> Scores:
    """The score of every factor: the sum of the weights of its features."""
    scores = np.zeros(len(factors))
    place = factor_place(factors.kind)
    if not len(factors) or features.kind_start[place + 1] == features.kind_start[place]:
        return scores
    read = read_by_kernel(factors)
    if factors.kind in WITH_SHARED_HEAD:
        apart, shared = features.apart[factors.kind], FACTOR_KINDS[factors.kind].index("head")
        score_triples(encoded[0], *features.plan, *weights.table, apart, shared, place, read[2], factors.tokens, factors.lie, scores)
    else:
        score_factors(encoded[0], *features.plan, *weights.table, *read, scores)
    return scores


def factor_keys(features: PartFeatures, encoded: Encoded, factors: FactorList) -> Keys:
    """The keys of all features of the factors, as often as they occur."""
    place = factor_place(factors.kind)
    keys = np.empty(len(factors) * int(features.kind_start[place + 1] - features.kind_start[place]), dtype=np.int64)
    if len(keys):
        fill_factor_keys(encoded[0], *features.plan, *read_by_kernel(factors), keys)
    return keys
