"""All factors of a family in a sentence: sets of arcs that a dynamic program does not see together (Qian & Liu 2013, section 4.3).

    grandchildren        g -> h -> m
    great-grandchildren  f -> g -> h -> m
    siblings             h -> s, h -> m       any two modifiers of a head, on the same side or not, adjacent or not
    tri-siblings         h -> r, h -> s, h -> m
    comb                 h -> i, ..., h -> j  four or more words in a row, i to j, that are all modifiers of h, on one side of it

Modifiers of a head come in the order of the sentence. The paper's combs are of "more than 3 consecutive modifiers", and its footnote 2
says that words that do not follow each other would be too many. Since a factor holds when all its arcs are in the tree, whatever else is,
a run of five words is a comb, and so are the two runs of four within it; up to `LONGEST_COMB` words.

Only what a tree of allowed arcs may have is listed: no cycles, one arc from a single root, and in projective problems nothing that
crosses, nor a word above a head that lies between the head and a modifier of it.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError, UnknownMethod
from zerogap.features.parts.keys import BUCKETS
from zerogap.grid import Scores
from zerogap.kernels import boolean, inner, int64, kernel, readonly, writable

Integers = NDArray[np.int64]
Allowed = NDArray[np.bool_]

GRANDCHILDREN, GREAT_GRANDCHILDREN, SIBLINGS, TRISIBLINGS, COMB = range(5)
# of every family, the kind of part in features.part_templates that templates name
FAMILIES: dict[str, str] = {
    "grandchildren": "grandchild",
    "great-grandchildren": "greatgrand",
    "siblings": "anysibling",
    "tri-siblings": "trisibling",
    "comb": "comb",
}
MOST_FACTORS = 2_000_000  # of one family in one sentence: some 200 MB
LONGEST_COMB = 8
LEAST_COMB = 4
COLUMNS = 4  # of tokens
NO_TOKEN = -1


@dataclass(frozen=True, slots=True, eq=False)
class FactorList:
    """The factors of one kind in one sentence: the arcs of factor i are arcs[start[i] : start[i + 1]].

    `tokens` (factors, 4) has the tokens of each in the order of the roles of its kind, NO_TOKEN after them; `lie` (factors, 2) is how they
    lie: a number for the directions of the arcs, and a bucket of distances. `codes`, if any, are more that features tell factors apart by.
    """

    kind: str
    n_words: int
    start: Integers
    arcs: Integers  # h * (n + 1) + m
    tokens: Integers
    lie: Integers
    codes: Integers

    def __len__(self) -> int:
        return len(self.start) - 1

    def where(self, chosen: Allowed) -> FactorList:
        """Some of them."""
        sizes = np.diff(self.start)
        start = np.concatenate([[0], np.cumsum(sizes[chosen])])
        codes = self.codes[chosen] if len(self.codes) else self.codes
        return FactorList(self.kind, self.n_words, start, self.arcs[np.repeat(chosen, sizes)], self.tokens[chosen], self.lie[chosen], codes)

    def arcs_where(self, chosen: Integers) -> tuple[Integers, Integers]:
        """How many arcs some of them have, and these arcs."""
        sizes = np.diff(self.start)[chosen]
        if not len(sizes) or (sizes == sizes[0]).all():
            width = int(sizes[0]) if len(sizes) else 1
            return sizes, self.arcs[self.start[chosen][:, None] + np.arange(width)].reshape(-1)
        at = np.repeat(self.start[chosen] - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))
        return sizes, self.arcs[at]

    def sets(self) -> list[tuple[tuple[int, int], ...]]:
        """The arcs of each, as pairs (head, modifier)."""
        heads, modifiers = np.divmod(self.arcs, self.n_words + 1)
        pairs = list(zip(heads.tolist(), modifiers.tolist(), strict=True))
        bounds = self.start.tolist()
        return [tuple(pairs[a:b]) for a, b in itertools.pairwise(bounds)]

    def scored(self, scores: Scores) -> list[tuple[tuple[tuple[int, int], ...], float]]:
        """What a `Problem` takes as factors; those that score 0 are left out."""
        used = scores != 0.0
        return list(zip(self.where(used).sets(), scores[used].tolist(), strict=True))


@inner
def distance_bucket(distance):
    """1, 2, 3, 4, 5, 6 to 10, 11 to 20, more."""
    if distance <= 5:
        return distance - 1
    return 5 if distance <= 10 else (6 if distance <= 20 else BUCKETS - 1)


@inner
def is_inside(a, b, c):
    """Whether b lies strictly between a and c."""
    return (a < b and b < c) or (c < b and b < a)


@inner
def do_cross(a, b, c, d):
    """Whether exactly one end of each arc lies strictly inside the other."""
    return is_inside(a, c, b) != is_inside(a, d, b) and is_inside(c, a, d) != is_inside(c, b, d)


@inner
def put(place, a, b, c, d, direction, distance, tokens, lie):  # out: tokens, lie
    tokens[place, 0], tokens[place, 1], tokens[place, 2], tokens[place, 3] = a, b, c, d
    lie[place, 0], lie[place, 1] = direction, distance_bucket(distance)


@kernel(
    int64(
        int64, readonly(boolean, 2), int64, int64, int64, int64,
        writable(int64, 1), writable(int64, 1), writable(int64, 2), writable(int64, 2), writable(int64, 1),
    )
)  # fmt: skip
def list_factors(family, allowed, projective, single_root, longest, most, start, arcs, tokens, lie, total):
    """How many factors there are, at most one more than `most`; total[0] is how many arcs they have. If there is room for them,
    out: start, arcs, tokens, lie."""
    size = allowed.shape[0]
    room = tokens.shape[0]
    count, used = 0, 0
    for h in range(size):
        if count > most:
            break
        if family <= GREAT_GRANDCHILDREN:  # h is the head of the last arc
            for g in range(size):
                if h == 0 or not allowed[g, h]:
                    continue
                for m in range(1, size):
                    if not allowed[h, m] or m == g or (projective and is_inside(h, g, m)):
                        continue
                    if family == GRANDCHILDREN:
                        if count < room:
                            put(count, g, h, m, NO_TOKEN, 2 * (h > g) + (m > h), abs(m - g), tokens, lie)
                            arcs[used], arcs[used + 1] = g * size + h, h * size + m
                            start[count + 1] = used + 2
                        count += 1
                        used += 2
                        continue
                    if g == 0 or count > most:
                        continue
                    for f in range(size):
                        if not allowed[f, g] or f in (h, m):
                            continue
                        if projective and (is_inside(g, f, h) or is_inside(h, f, m) or do_cross(f, g, h, m)):
                            continue
                        if count < room:
                            put(count, f, g, h, m, 4 * (g > f) + 2 * (h > g) + (m > h), abs(m - f), tokens, lie)
                            arcs[used], arcs[used + 1], arcs[used + 2] = f * size + g, g * size + h, h * size + m
                            start[count + 1] = used + 3
                        count += 1
                        used += 3
            continue
        if h == 0 and single_root:
            continue
        for s in range(1, size):
            if not allowed[h, s]:
                continue
            if family == COMB:
                m = s
                while m < size and allowed[h, m] and m - s < longest:
                    length = m - s + 1
                    if length >= LEAST_COMB:
                        if count < room:
                            put(count, h, s, m, NO_TOKEN, 1 if m > h else 0, length, tokens, lie)
                            for each in range(s, m + 1):
                                arcs[used + each - s] = h * size + each
                            start[count + 1] = used + length
                        count += 1
                        used += length
                    m += 1
                continue
            for m in range(s + 1, size):
                if not allowed[h, m]:
                    continue
                if family == SIBLINGS:
                    if count < room:
                        put(count, h, s, m, NO_TOKEN, (s > h) + (m > h), m - s, tokens, lie)
                        arcs[used], arcs[used + 1] = h * size + s, h * size + m
                        start[count + 1] = used + 2
                    count += 1
                    used += 2
                    continue
                if count > most:
                    break
                for t in range(m + 1, size):
                    if not allowed[h, t]:
                        continue
                    if count < room:
                        put(count, h, s, m, t, (s > h) + (m > h) + (t > h), t - s, tokens, lie)
                        arcs[used], arcs[used + 1], arcs[used + 2] = h * size + s, h * size + m, h * size + t
                        start[count + 1] = used + 3
                    count += 1
                    used += 3
    total[0] = used
    return count


def family_in(
    family: str,
    allowed: Allowed,
    *,
    projective: bool = True,
    single_root: bool = True,
    longest: int = LONGEST_COMB,
    most: int = MOST_FACTORS,
) -> FactorList:
    """All factors of a family that trees of these arcs (n + 1, n + 1) may have; InputError if there are more than `most`.

    With the arcs of one tree, these are the factors that hold in it.
    """
    if family not in FAMILIES:
        raise UnknownMethod("family of factors", family, FAMILIES)
    given = np.array(allowed)
    if given.dtype != np.bool_ or given.ndim != 2 or given.shape[0] != given.shape[1] or given.size == 0:
        raise InputError(f"allowed is {given.dtype} of shape {given.shape}: expected bool, (n + 1, n + 1).")
    given[:, 0] = False
    np.fill_diagonal(given, False)
    n = len(given) - 1
    number, total = list(FAMILIES).index(family), np.zeros(1, dtype=np.int64)

    def listed(count: int, size: int) -> tuple[int, FactorList]:
        found = FactorList(
            FAMILIES[family], n, np.zeros(count + 1, dtype=np.int64), np.empty(size, dtype=np.int64),
            np.full((count, COLUMNS), NO_TOKEN, dtype=np.int64), np.empty((count, 2), dtype=np.int64), np.zeros(0, dtype=np.int64),
        )  # fmt: skip
        return (
            int(
                list_factors(
                    number, given, 1 if projective else 0, 1 if single_root else 0, longest, most, found.start, found.arcs, found.tokens,
                    found.lie, total,
                )
            ),
            found,
        )  # fmt: skip

    count, _ = listed(0, 0)
    if count > most:
        raise InputError(
            f"{n} words with {np.count_nonzero(given):,} possible arcs have more than {most:,} factors of the family {family}: expected at"
            " most that; allow fewer heads of every word."
        )
    return listed(count, int(total[0]))[1]


def arcs_of(heads: Integers) -> Allowed:
    """The arcs of a tree, as (n + 1, n + 1)."""
    n = len(heads)
    chosen = np.zeros((n + 1, n + 1), dtype=np.bool_)
    chosen[heads, np.arange(1, n + 1)] = True
    return chosen
