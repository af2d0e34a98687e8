"""Scores of factors under a table of weights, listed before or at once, and the keys of their features.

A key is the sum over the roles of a factor, as for other parts (see `dependency.scoring.parts`), a number for the directions of its arcs,
one for its distance where a template asks for it, and one of the factor itself, if it has such. The modifiers of a comb are one number,
which depends on their order.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zerogap.dependency.factors.families import COLUMNS, FAMILIES, LONGEST_COMB, MOST_FACTORS, FactorList, family_in, list_factors
from zerogap.dependency.scoring.sentence import Allowed, Integers, Weights
from zerogap.features.parts.keys import BUCKETS, ENCODED, PLAN, WITH_SHARED_HEAD, Encoded, PartFeatures, factor_place
from zerogap.features.parts.templates import DIRECTION, DISTANCE, FACTOR_KINDS, ROLES
from zerogap.features.parts.weight_table import CLEAR, Keys
from zerogap.features.parts.weights import TABLE, add_weights, table_shift, weights_of
from zerogap.grid import Scores
from zerogap.kernels import boolean, borrowing, float64, inlined, int64, kernel, readonly, record, types, writable

EACH = ROLES.index("each")
DIRECTIONS = 4  # of two arcs
AT_ONCE = 512  # keys whose weights are looked up together
SPREAD = 0x5851F42D4C957F2D  # odd
FOUND = types.Tuple((writable(int64, 1), writable(int64, 1), writable(float64, 1)))  # type: ignore[no-untyped-call]  # of numba
NONE = -1  # no role, or no shared token


class FactorKind(NamedTuple):
    """How factors of a kind are read."""

    place: int  # that of the kind in kind_start
    each: int  # whether it is a comb
    roles: Keys  # of the columns of tokens
    shared: int  # the column, 0 or 1, of the token that templates from `apart` on do not read; NONE if there is none


class Listed(NamedTuple):
    """Factors that are listed: see `factors.families.FactorList`."""

    tokens: Integers
    lie: Integers
    own: Integers  # codes, if factors have such


KIND = record(FactorKind, int64, int64, readonly(int64, 1), int64)
LISTED = record(Listed, readonly(int64, 2), readonly(int64, 2), readonly(int64, 1))


@borrowing
def keys_of_factor(c, encoded, plan, kind, factors, base, base_of, keys, at):
    """out: keys, from `at` on; base and base_of (scratch): the sum of the first two roles, which factors in a row often share."""
    partial, (_, relation, _, templates, codes), (tokens, lie, own), roles = encoded.partial, plan, factors, kind.roles
    begin, stop = plan.kind_start[kind.place], plan.kind_start[kind.place + 1]
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
    if kind.each:
        for t in range(size):
            total = 0
            for token in range(tokens[c, 1], tokens[c, 2] + 1):
                total = total * SPREAD + partial[EACH, token, begin + t]
            keys[at + t] += total
    distance = codes[DISTANCE, 2 * lie[c, 1]]
    for t in range(size):
        key = keys[at + t] + (distance if relation[begin + t] == DISTANCE else 0)
        keys[at + t] = (key & CLEAR) | templates[begin + t]


@kernel(int64(ENCODED, PLAN, TABLE, KIND, LISTED, writable(float64, 1)))
def score_factors(encoded, plan, table, kind, factors, scores):  # out: scores
    count = plan.kind_start[kind.place + 1] - plan.kind_start[kind.place]
    shift = table_shift(table)
    keys, base = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    base_of = np.full(2, -1)
    for c in range(factors.tokens.shape[0]):
        keys_of_factor(c, encoded, plan, kind, factors, base, base_of, keys, 0)
        scores[c] = weights_of(keys, count, table, shift)
    return 0


@inlined
def put_keys(first, last, base, sums, more, of_lie, lies, templates, owner, size, keys, owners):  # out: keys and owners, from size on
    """Of templates of a factor: the sum of two tokens is base[t], that of the third sums[more + t], and of_lie[lies + t] is added."""
    for t in range(first, last):
        keys[size + t - first] = ((base[t] + sums[more + t] + of_lie[lies + t]) & CLEAR) | templates[t]
        owners[size + t - first] = owner
    return size + last - first


@kernel(int64(ENCODED, PLAN, TABLE, KIND, int64, LISTED, writable(float64, 1)))
def score_triples(encoded, plan, table, kind, apart, factors, scores):
    """The same for factors of three tokens, of which there are most.

    From template `apart` on, nothing is read of the token that is shared: what these templates say is the same for all
    factors of the other two tokens that lie alike.
    """
    partial, (kind_start, relation, _, templates, codes) = encoded.partial, plan
    tokens, lie, shared, roles = factors.tokens, factors.lie, kind.shared, kind.roles
    begin, stop = kind_start[kind.place], kind_start[kind.place + 1]
    count, size = partial.shape[2], partial.shape[1]
    shift = table_shift(table)
    sums = partial.reshape(-1)
    of_lie = np.empty(DIRECTIONS * BUCKETS * count, dtype=np.int64)  # what is added for directions and distances
    for direction in range(DIRECTIONS):
        for bucket in range(BUCKETS):
            for t in range(begin, stop):
                distance = codes[DISTANCE, 2 * bucket] if relation[t] == DISTANCE else 0
                of_lie[(direction * BUCKETS + bucket) * count + t] = codes[DIRECTION, direction] + distance
    n, keys, owners = tokens.shape[0], np.empty(AT_ONCE + count, dtype=np.int64), np.empty(AT_ONCE + count, dtype=np.int64)
    base, waiting, a, b = np.empty(count, dtype=np.int64), 0, -1, -1
    totals = np.zeros(n + DIRECTIONS * size * size)  # of all factors, and then without the shared token
    is_known, where = np.zeros(DIRECTIONS * size * size, dtype=np.bool_), np.empty(n, dtype=np.int64)
    for c in range(n):
        if a != tokens[c, 0] or b != tokens[c, 1]:
            a, b = tokens[c, 0], tokens[c, 1]
            one, two = (roles[0] * size + a) * count, (roles[1] * size + b) * count
            for t in range(begin, stop):
                base[t] = sums[one + t] + sums[two + t]
        m = tokens[c, 2]
        more, lies = (roles[2] * size + m) * count, (lie[c, 0] * BUCKETS + lie[c, 1]) * count
        where[c] = (lie[c, 0] * size + (a if shared == 1 else b)) * size + m
        waiting = put_keys(begin, apart, base, sums, more, of_lie, lies, templates, c, waiting, keys, owners)
        if not is_known[where[c]]:
            is_known[where[c]] = True
            waiting = put_keys(apart, stop, base, sums, more, of_lie, lies, templates, n + where[c], waiting, keys, owners)
        if waiting >= AT_ONCE:
            waiting = add_weights(keys, owners, waiting, table, shift, totals)
    add_weights(keys, owners, waiting, table, shift, totals)
    for c in range(n):
        scores[c] = totals[c] + totals[n + where[c]]
    return 0


@kernel(FOUND(int64, readonly(boolean, 2), int64, int64, ENCODED, PLAN, TABLE, KIND, int64))
def score_family(family, allowed, single_root, most, encoded, plan, table, kind, apart):
    """The factors of a family that do not score 0: how many arcs each has, these arcs, and the scores. One of -1 arcs stands for more
    than `most` factors. See `families.list_factors` and `score_triples`, which is used if a token is shared."""
    total, one = np.zeros(1, dtype=np.int64), np.full(1, -1, dtype=np.int64)
    no_tokens, no_lie, own = np.empty((0, COLUMNS), dtype=np.int64), np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int64)
    count = list_factors(family, allowed, 1, single_root, LONGEST_COMB, most, one, own, no_tokens, no_lie, total)
    if count > most:
        return one, own, np.zeros(1)
    start, arcs, sizes = np.zeros(count + 1, dtype=np.int64), np.empty(total[0], dtype=np.int64), np.empty(count, dtype=np.int64)
    tokens, lie, scores = np.empty((count, COLUMNS), dtype=np.int64), np.empty((count, 2), dtype=np.int64), np.empty(count)
    list_factors(family, allowed, 1, single_root, LONGEST_COMB, most, start, arcs, tokens, lie, total)
    factors = Listed(tokens, lie, own)
    if kind.shared != NONE:
        score_triples(encoded, plan, table, kind, apart, factors, scores)
    else:
        score_factors(encoded, plan, table, kind, factors, scores)
    kept, used = 0, 0
    for c in range(count):
        if scores[c] != 0.0:
            size = start[c + 1] - start[c]
            for p in range(size):
                arcs[used + p] = arcs[start[c] + p]
            sizes[kept], scores[kept] = size, scores[c]
            kept += 1
            used += size
    return sizes[:kept], arcs[:used], scores[:kept]


@kernel(int64(ENCODED, PLAN, KIND, LISTED, writable(int64, 1)))
def fill_factor_keys(encoded, plan, kind, factors, keys):  # out: keys (factors * templates of the kind,)
    count = plan.kind_start[kind.place + 1] - plan.kind_start[kind.place]
    base, base_of = np.empty(count, dtype=np.int64), np.full(2, -1)
    for c in range(factors.tokens.shape[0]):
        keys_of_factor(c, encoded, plan, kind, factors, base, base_of, keys, c * count)
    return 0


def roles_of(kind: str) -> Keys:
    roles = [ROLES.index(role) for role in FACTOR_KINDS[kind] if role != "each"]
    return np.array([*roles, *[NONE] * (COLUMNS - len(roles))], dtype=np.int64)


READ_BY_KERNEL = {
    kind: FactorKind(
        factor_place(kind), 1 if kind == "comb" else 0, roles_of(kind), roles.index("head") if kind in WITH_SHARED_HEAD else NONE
    )
    for kind, roles in FACTOR_KINDS.items()
}
NUMBER = {family: number for number, family in enumerate(FAMILIES)}


def factor_scores(features: PartFeatures, weights: Weights, encoded: Encoded, factors: FactorList) -> Scores:
    """The score of every factor: the sum of the weights of its features."""
    scores = np.zeros(len(factors))
    if len(factors) and has_templates(features, factors.kind):
        score_factors(
            encoded, features.plan, weights.table, READ_BY_KERNEL[factors.kind], Listed(factors.tokens, factors.lie, factors.codes), scores
        )
    return scores


def family_scores(
    features: PartFeatures, weights: Weights, encoded: Encoded, family: str, allowed: Allowed, *, single_root: bool
) -> tuple[Integers, Integers, Scores]:
    """The factors of a family that projective trees of these arcs may have and that do not score 0: how many arcs each has, these arcs, and
    the scores. The same as `factor_scores` of `family_in`, in one call; InputError as there."""
    kind = FAMILIES[family]
    if not has_templates(features, kind):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
    found: tuple[Integers, Integers, Scores] = score_family(
        NUMBER[family], allowed, 1 if single_root else 0, MOST_FACTORS, encoded, features.plan, weights.table, READ_BY_KERNEL[kind],
        features.apart[kind],
    )  # fmt: skip
    if len(found[0]) and found[0][0] < 0:
        family_in(family, allowed, single_root=single_root, most=MOST_FACTORS)  # says what is wrong
    return found


def has_templates(features: PartFeatures, kind: str) -> bool:
    place = factor_place(kind)
    return bool(features.plan.kind_start[place + 1] > features.plan.kind_start[place])


def factor_keys(features: PartFeatures, encoded: Encoded, factors: FactorList) -> Keys:
    """The keys of all features of the factors, as often as they occur."""
    place = factor_place(factors.kind)
    keys = np.empty(len(factors) * int(features.plan.kind_start[place + 1] - features.plan.kind_start[place]), dtype=np.int64)
    if len(keys):
        fill_factor_keys(encoded, features.plan, READ_BY_KERNEL[factors.kind], Listed(factors.tokens, factors.lie, factors.codes), keys)
    return keys
