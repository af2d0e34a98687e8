"""Tokens of a sentence that are the same to a template: parts that differ only in such tokens need one look for all of them.

A template reads some attributes of each token of a part, its own or its neighbours'. What it reads of one token is a reading, a list of
attributes and offsets. There are few: a tag, a word, two tags side by side. Tokens with the same values belong to one class of a reading,
and all keys of a template with tokens of the same classes are equal. Fifty words have about 11 tags, so of the triples of tags, which are
125,000, there are 1,331.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.features.parts.keys import PAD, PartFeatures
from zerogap.features.parts.templates import ROLES
from zerogap.kernels import inner

Integers = NDArray[np.int64]
NOTHING = 0  # the reading of templates that do not look at a role


class Readings(NamedTuple):
    """What the templates of a model read of single tokens."""

    of_role: Integers  # (roles, templates), in the order of kernels: numbers of readings
    start: Integers  # (readings + 1,): places in terms
    terms: Integers  # (terms, 2): attribute, offset


@functools.lru_cache(maxsize=8)
def readings_of(features: PartFeatures) -> Readings:
    number = {attribute: a for a, attribute in enumerate(features.tokens.attributes)}
    known: dict[tuple[tuple[int, int], ...], int] = {(): NOTHING}
    of_role = np.zeros((len(ROLES), len(features.templates)), dtype=np.int64)
    for t, low in enumerate(features.low_bytes.tolist()):
        for r, role in enumerate(ROLES):
            terms = {(number[attribute], offset) for of, attribute, offset in features.templates[low - 1].terms if of == role}
            of_role[r, t] = known.setdefault(tuple(sorted(terms)), len(known))
    flat = [term for terms in known for term in terms]
    return Readings(of_role, np.cumsum([0, *map(len, known)]), np.array(flat, dtype=np.int64).reshape(-1, 2))


@inner
def find_classes(hashes, start, terms, classes, members, counts):
    """out: classes (readings, n + 2), members (readings, n + 2): a token of each class, counts (readings, 2).

    Classes are numbered as they are met: those of words, then of the root, then of no token. counts[:, 0] are those of words and root,
    counts[:, 1] are all.
    """
    rows, n = hashes.shape[0], classes.shape[1] - 2
    for reading in range(classes.shape[0]):
        size = 0
        for i in range(n + 2):
            token = i + 1 if i < n else (0 if i == n else n + 1)
            row = token + PAD if token <= n else rows - 1 - PAD
            found = -1
            for c in range(size):
                other = members[reading, c]
                other_row = other + PAD if other <= n else rows - 1 - PAD
                same = True
                for p in range(start[reading], start[reading + 1]):
                    same &= hashes[row + terms[p, 1], terms[p, 0]] == hashes[other_row + terms[p, 1], terms[p, 0]]
                if same:
                    found = c
                    break
            if found < 0:
                found = size
                members[reading, size] = token
                size += 1
            classes[reading, token] = found
            if i == n:
                counts[reading, 0] = size
        counts[reading, 1] = size
    return 0
