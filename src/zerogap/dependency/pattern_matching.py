"""Where patterns hold in a sentence: sets of arcs, which are factors.

Every pattern waits for one value of one attribute, the rarest that it asks for by the look of it; one whose value is not in the
sentence costs nothing. Others are sought by backtracking, node by node, from that word on. Matches with the same arcs are one factor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from zerogap.dependency.factor_families import COLUMNS, NO_TOKEN, FactorList
from zerogap.dependency.factor_patterns import Condition, Order, Pattern, literal
from zerogap.errors import InputError
from zerogap.features.part_keys import hash_of
from zerogap.features.templates import Attribute

MOST_MATCHES = 20_000  # of one pattern in one sentence
RARE = ("form", "lemma", "xpos", "feats", "upos")  # columns by how rare their values are; others are last but one

Labels = Callable[[int, int], str]  # of an arc
Match = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class PatternSet:
    """Patterns, and what each waits for."""

    patterns: tuple[Pattern, ...]
    waiting: dict[Attribute, dict[str, list[int]]] = field(init=False, repr=False)
    always: tuple[int, ...] = field(init=False, repr=False)  # patterns that wait for nothing
    codes: NDArray[np.int64] = field(init=False, repr=False)
    attributes: tuple[Attribute, ...] = field(init=False)

    def __post_init__(self) -> None:
        waiting: dict[Attribute, dict[str, list[int]]] = {}
        always = []
        for number, pattern in enumerate(self.patterns):
            anchor = anchor_of(pattern)
            if anchor is None:
                always.append(number)
                continue
            for value in anchor[1].values:
                waiting.setdefault(anchor[1].attribute, {}).setdefault(literal(value), []).append(number)
        put = object.__setattr__
        put(self, "waiting", waiting)
        put(self, "always", tuple(always))
        put(self, "codes", np.array([hash_of(f"pattern {pattern.name}") for pattern in self.patterns], dtype=np.int64))
        put(self, "attributes", tuple(dict.fromkeys(a for pattern in self.patterns for a in pattern.attributes)))

    @property
    def columns(self) -> tuple[str, ...]:
        """Those that a sentence needs."""
        return tuple(dict.fromkeys(attribute.column for attribute in self.attributes))

    def matches(
        self, columns: Mapping[str, Sequence[str]], allowed: NDArray[np.bool_], *, labels: Labels | None = None
    ) -> list[tuple[int, Match]]:
        """The number of a pattern and the arcs that make it hold, for all that allowed arcs (n + 1, n + 1) can have.

        `labels` gives the label of an arc: for a problem that scores labels, the best one.
        """
        missing = [name for name in self.columns if name not in columns]
        if missing:
            raise InputError(f"the sentence has the columns {', '.join(columns)}: the patterns read {', '.join(self.columns)}.")
        if labels is None:
            for pattern in self.patterns:
                if any(arc.relations for arc in pattern.arcs):
                    raise InputError(
                        f"pattern {pattern.name!r} asks for a relation: expected a problem with labels, or a pattern without relations."
                    )
        values: dict[Attribute, list[str]] = {}
        chosen = set(self.always)
        for attribute, wanted in self.waiting.items():
            present = values_of(attribute, columns, values)
            for value in wanted.keys() & set(present):
                chosen.update(wanted[value])
        found: list[tuple[int, Match]] = []
        for number in sorted(chosen):
            found += [(number, arcs) for arcs in matches_of(self.patterns[number], columns, allowed, values, labels)]
        return found

    def factors(
        self, columns: Mapping[str, Sequence[str]], allowed: NDArray[np.bool_], *, labels: Labels | None = None
    ) -> tuple[FactorList, NDArray[np.int64]]:
        """The same as a list of factors, and the numbers of their patterns. The tokens are those of the first arc of a pattern."""
        size = len(allowed)
        found = self.matches(columns, allowed, labels=labels)
        which = np.array([number for number, _ in found], dtype=np.int64)
        start = np.cumsum([0, *(len(arcs) for _, arcs in found)], dtype=np.int64)
        arcs = np.array([h * size + m for _, some in found for h, m in some], dtype=np.int64)
        tokens = np.full((len(found), COLUMNS), NO_TOKEN, dtype=np.int64)
        tokens[:, :2] = np.array([some[0] for _, some in found], dtype=np.int64).reshape(-1, 2)
        lie = np.zeros((len(found), 2), dtype=np.int64)
        lie[:, 0] = tokens[:, 1] > tokens[:, 0]
        return FactorList("pattern", size - 1, start, arcs, tokens, lie, self.codes[which]), which

    def weights(self, which: NDArray[np.int64]) -> NDArray[np.float64]:
        """The weights that patterns were written with, 0 for those without."""
        return np.array([pattern.weight or 0.0 for pattern in self.patterns])[which]


def best_labels_of(problem: object) -> Labels | None:
    """The best label of every arc of a problem that scores labels: as no factor sees a label, a best tree has no others."""
    scores, names = getattr(problem, "labels", None), getattr(problem, "label_names", None)
    if scores is None or names is None:
        return None
    best = scores.argmax(axis=2)
    return lambda h, m: str(names[int(best[h, m])])


def anchor_of(pattern: Pattern) -> tuple[int, Condition] | None:
    """The node and the test whose values are rarest, as far as one can tell: those of words rather than of tags, and few."""

    def commonness(found: tuple[int, Condition]) -> tuple[int, int]:
        column = found[1].attribute.column
        return RARE.index(column) if column in RARE else len(RARE) - 1, len(found[1].values)

    plain = [(node, test) for node, tests in enumerate(pattern.tests) for test in tests if test.is_plain]
    return min(plain, key=commonness) if plain else None


def values_of(attribute: Attribute, columns: Mapping[str, Sequence[str]], known: dict[Attribute, list[str]]) -> list[str]:
    if attribute not in known:
        known[attribute] = [attribute.of(value) for value in columns[attribute.column]]
    return known[attribute]


def matches_of(
    pattern: Pattern,
    columns: Mapping[str, Sequence[str]],
    allowed: NDArray[np.bool_],
    values: dict[Attribute, list[str]],
    labels: Labels | None,
) -> list[Match]:
    """All sets of arcs of one pattern, in the order of the words that its nodes take."""
    n = len(allowed) - 1
    candidates = []
    for tests in pattern.tests:
        words: Sequence[int] = range(1, n + 1)
        for test in tests:
            given = values_of(test.attribute, columns, values)
            holding = {value for value in set(given) if test.holds(value)}
            words = [word for word in words if given[word - 1] in holding]
        if not len(words):
            return []
        candidates.append(words)
    sequence = search_order(pattern, [len(words) for words in candidates])
    place = {node: step for step, node in enumerate(sequence)}
    # what can be checked when a node gets its word, all others of it having theirs
    orders = [[o for o in pattern.orders if max(place[o.one], place[o.other]) == step] for step in range(len(sequence))]
    same = [[s for s in pattern.same if max(place[s.one], place[s.other]) == step] for step in range(len(sequence))]
    arcs = [[a for a in pattern.arcs if max(place[a.modifier], place.get(a.head, 0)) == step] for step in range(len(sequence))]
    word = [0] * len(sequence)
    found: dict[Match, None] = {}

    def holds(step: int) -> bool:
        node = sequence[step]
        if any(word[sequence[before]] == word[node] for before in range(step)):
            return False
        for order in orders[step]:
            if not 0 <= word[order.other] - word[order.one] - 1 <= order.most:
                return False
        for arc in arcs[step]:
            h, m = 0 if arc.head < 0 else word[arc.head], word[arc.modifier]
            if not allowed[h, m] or (arc.relations and (labels is None or labels(h, m) not in arc.relations)):
                return False
        for s in same[step]:
            one = values_of(s.attribute, columns, values)[word[s.one] - 1]
            if (one == values_of(s.of_other, columns, values)[word[s.other] - 1]) != s.wanted:
                return False
        return True

    def assign(step: int) -> None:
        if step == len(sequence):
            found[tuple((0 if arc.head < 0 else word[arc.head], word[arc.modifier]) for arc in pattern.arcs)] = None
            if len(found) > MOST_MATCHES:
                raise InputError(
                    f"pattern {pattern.name!r} holds at more than {MOST_MATCHES:,} places of a sentence of {n} words: expected tests that"
                    " are narrower."
                )
            return
        node = sequence[step]
        low, high = reach(node, orders[step], word, n)
        for candidate in candidates[node]:
            if low <= candidate <= high:
                word[node] = candidate
                if holds(step):
                    assign(step + 1)

    assign(0)
    return list(found)


def reach(node: int, orders: Sequence[Order], word: Sequence[int], n: int) -> tuple[float, float]:
    """Between which words a node can be."""
    low, high = 1.0, float(n)
    for order in orders:
        if order.other == node:
            low, high = max(low, word[order.one] + 1), min(high, word[order.one] + 1 + order.most)
        else:
            low, high = max(low, word[order.other] - 1 - order.most), min(high, word[order.other] - 1)
    return low, high


def search_order(pattern: Pattern, sizes: Sequence[int]) -> list[int]:
    """The node with the fewest words first, then those that lie beside one that is there, then those with the fewest words."""
    left, chosen = set(range(len(sizes))), list[int]()
    while left:

        def cost(node: int) -> tuple[float, int]:
            near = [o.most for o in pattern.orders if node in (o.one, o.other) and (o.one in chosen or o.other in chosen)]
            return min([sizes[node], *(most + 1 for most in near if most < math.inf)]), node

        best = min(left, key=cost)
        chosen.append(best)
        left.remove(best)
    return chosen
