"""Bounds on the scores of larger parts that are lower and dearer: the missing token has one of the tags that the sentence has.

Where a template reads nothing but tags of the missing token, tokens with the same tags score the same. So one of each is scored, in all
such templates together, and the largest sum counts; only templates that read words or neighbours of the missing token are
bounded offline, one by one, as in Riedel et al. 2012, section 4.3.2. That is never higher than offline bounds alone, as their largest
weights need not belong to one token, or to one of the sentence.

    over_grandparents[p, c] = max_v sum of templates that read tags v of g  +  sum of offline bounds of the others
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zerogap.dependency.scoring.bounds_offline import NO_GRAND, NO_MOD, NO_SIB
from zerogap.dependency.scoring.single_parts import KIND_OF, SentenceParts, side_of
from zerogap.features.parts.bounds import Integers, part_sums, templates_of
from zerogap.features.parts.templates import ROLES
from zerogap.grid import Scores

if TYPE_CHECKING:
    from zerogap.dependency.scoring.bounds import Looks

TAGS = ("upos", "xpos")  # columns with few values


class Split(NamedTuple):
    """Templates of a kind by what they read of a role, and tokens 0 to n by what the first ones read of them."""

    few: Integers  # nothing, or tags
    rest: Integers
    classes: Integers  # (n + 1,)


def split(parts: SentenceParts, name: str, role: str) -> Split:
    """Templates with a distance are with the rest, as it depends on the token."""
    features = parts.features
    chosen = templates_of(features, KIND_OF[name])
    templates = [features.templates[low - 1] for low in features.low_bytes[chosen].tolist()]
    is_few = [
        template.relation is None and all(attribute.column in TAGS and offset == 0 for r, attribute, offset in template.terms if r == role)
        for template in templates
    ]
    few = chosen[np.array(is_few, dtype=np.bool_)]
    place = ROLES.index(role)
    read = parts.partial[place, :-1][:, few] if place < features.n_roles else np.zeros((parts.n_words + 1, 0), dtype=np.int64)
    classes = np.unique(read, axis=0, return_inverse=True)[1].reshape(-1) if read.shape[1] else np.zeros(len(read), dtype=np.int64)
    return Split(few, np.setdiff1d(chosen, few), classes)


def one_of_each(keys: Integers, order: Integers) -> Integers:
    """Places of the keys, one for each: the one of lowest order."""
    places = np.lexsort((order, keys))
    is_new = np.ones(len(places), dtype=np.bool_)
    is_new[1:] = keys[places][1:] != keys[places][:-1]
    return places[is_new]


def joined(left: Integers, right: Integers) -> tuple[Integers, Integers]:
    """Places of all pairs of equal numbers."""
    order = np.argsort(right, kind="stable")
    begin, end = (np.searchsorted(right[order], left, side=side) for side in ("left", "right"))
    counts = end - begin
    i = np.repeat(np.arange(len(left)), counts)
    within = np.arange(len(i)) - np.repeat(np.cumsum(counts) - counts, counts)
    return i, order[begin[i] + within]


def largest(parts: SentenceParts, name: str, few: Integers, index: tuple[Integers, ...], of: Integers, size: int) -> Scores:
    """(size,): the largest sum of the templates over the parts that are `of` each; -inf if there are none."""
    sums = part_sums(parts.features, parts.partial, parts.table, few, *parts.places(name, *index)).astype(np.float64) * parts.unit
    found = np.full(size, -np.inf)
    np.maximum.at(found, of, sums)
    return found


def grandparent_squares(looks: Looks) -> tuple[Scores, Scores]:
    """over_grandparents, over_modifiers."""
    parts, h, m = looks.parts, looks.heads, looks.modifiers
    over_grandparents, over_modifiers = looks.square(), looks.square()
    side = side_of(h, m)
    below = np.flatnonzero(h > 0)  # arcs p -> c
    p, c = h[below], m[below]
    few, rest, classes = split(parts, "grandparents", "grand")
    above = one_of_each((m * 2 + side) * len(classes) + classes[h], h)  # arcs g -> p
    i, j = joined(m[above], p)
    found = largest(parts, "grandparents", few, (h[above][i], p[j], c[j]), j, len(p))
    over_grandparents[p, c] = found + looks.look(rest, NO_GRAND, side[below], head=p, mod=c)
    few, rest, classes = split(parts, "grandparents", "mod")
    below = below[one_of_each((p * 2 + side[below]) * len(classes) + classes[c], c)]
    i, j = joined(h[below], m)
    found = largest(parts, "grandparents", few, (h[j], m[j], m[below][i]), j, len(h))
    over_modifiers[h, m] = found + looks.look(rest, NO_MOD, side, grand=h, head=m)
    return over_grandparents, over_modifiers


def sibling_squares(looks: Looks) -> tuple[Scores, Scores]:
    """over_siblings, over_modifiers."""
    parts, h, m, n = looks.parts, looks.heads, looks.modifiers, looks.parts.n_words
    over_siblings, over_modifiers = looks.square(), looks.square()
    side, distance = side_of(h, m), np.abs(m - h)
    place = h * 2 + side
    few, rest, classes = split(parts, "siblings", "sib")
    nearest = one_of_each(place * len(classes) + classes[m], distance)  # arcs h -> s: further ones are before fewer modifiers
    i, j = joined(place[nearest], place)
    between = np.flatnonzero(distance[nearest][i] < distance[j])
    i, j = i[between], j[between]
    found = largest(parts, "siblings", few, (h[j], m[nearest][i], m[j]), j, len(h)) + looks.look(rest, NO_SIB, side, head=h, mod=m)
    over_siblings[h, m] = np.maximum(found, parts.scores("siblings", h, h, m))
    few, rest, classes = split(parts, "siblings", "mod")
    furthest = one_of_each(place * len(classes) + classes[m], -distance)
    first = np.flatnonzero(looks.is_first)
    starts = np.concatenate([h, h[first]])  # heads with the modifier before, and without
    before, none = np.concatenate([m, h[first]]), np.concatenate([m, np.full(len(first), n + 1)])
    place_before = np.concatenate([place, place[first]])
    i, j = joined(place[furthest], place_before)
    after = np.flatnonzero(distance[furthest][i] > np.abs(before - starts)[j])
    i, j = i[after], j[after]
    found = largest(parts, "siblings", few, (starts[j], before[j], m[furthest][i]), j, len(starts))
    found += looks.look(rest, NO_MOD, place_before & 1, head=starts, sib=none)
    found[len(h) :] -= parts.alone[h[first], side[first]]
    np.maximum.at(over_modifiers, (starts, before), found)
    return over_siblings, over_modifiers
