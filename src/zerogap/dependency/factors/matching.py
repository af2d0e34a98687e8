"""Matches of patterns in a sentence: sets of arcs, which are factors.

Every pattern waits for one value of one attribute, the rarest that it asks for by the look of it; one whose value is not in the
sentence costs nothing. Others are sought by backtracking, node by node, from that word on. Matches with the same arcs are one factor.
What is waited for, and which tests hold, is remembered of every combination of column values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.dependency.factors.families import COLUMNS, NO_TOKEN, FactorList
from zerogap.dependency.factors.patterns import Condition, Order, Pattern, PatternArc, Same, literal
from zerogap.errors import InputError
from zerogap.features.labels.templates import Attribute
from zerogap.features.parts.keys import hash_of

MOST_MATCHES = 20_000  # of one pattern in one sentence
MOST_REMEMBERED = 200_000  # combinations of column values
RARE = ("form", "lemma", "xpos", "feats", "upos")  # columns by how rare their values are; others are last but one

Labels = Callable[[int, int], str]  # of an arc
Match = tuple[tuple[int, int], ...]
Look = tuple[int, tuple[int, ...]]  # of a word: which tests hold, a bit for each; and the patterns that waited for it


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Nodes in the order in which they get their words, and what can be checked then, all others of it having theirs."""

    sequence: tuple[int, ...]
    orders: tuple[tuple[Order, ...], ...]
    same: tuple[tuple[Same, ...], ...]
    arcs: tuple[tuple[PatternArc, ...], ...]


def plan_of(pattern: Pattern) -> Plan:
    sequence = search_order(pattern)
    place = {node: step for step, node in enumerate(sequence)}
    steps = range(len(sequence))
    orders = tuple(tuple(o for o in pattern.orders if max(place[o.one], place[o.other]) == step) for step in steps)
    same = tuple(tuple(s for s in pattern.same if max(place[s.one], place[s.other]) == step) for step in steps)
    arcs = tuple(tuple(a for a in pattern.arcs if max(place[a.modifier], place.get(a.head, 0)) == step) for step in steps)
    return Plan(sequence, orders, same, arcs)


def search_order(pattern: Pattern) -> tuple[int, ...]:
    """The node that waits for a word first, then those that lie beside one that is there, then those whose values are rarest."""
    left, chosen = set(range(len(pattern.nodes))), list[int]()
    rarity = [min((commonness(test) for test in tests if test.is_plain), default=(len(RARE), 0)) for tests in pattern.tests]

    def cost(node: int) -> tuple[float, tuple[int, int], int]:
        near = [o.most for o in pattern.orders if node in (o.one, o.other) and (o.one in chosen or o.other in chosen)]
        return min(near, default=math.inf), rarity[node], node

    while left:
        chosen.append(min(left, key=cost))
        left.remove(chosen[-1])
    return tuple(chosen)


@dataclass(frozen=True, slots=True, eq=False)
class PatternSet:
    """Patterns, and what each waits for."""

    patterns: tuple[Pattern, ...]
    waiting: dict[Attribute, dict[str, list[int]]] = field(init=False, repr=False)
    always: tuple[int, ...] = field(init=False, repr=False)  # patterns that wait for nothing
    tests: tuple[Condition, ...] = field(init=False, repr=False)  # of all nodes, each once
    needs: tuple[tuple[int, ...], ...] = field(init=False, repr=False)  # of the nodes of every pattern: the bits of their tests
    plans: tuple[Plan, ...] = field(init=False, repr=False)
    codes: NDArray[np.int64] = field(init=False, repr=False)
    attributes: tuple[Attribute, ...] = field(init=False)
    columns: tuple[str, ...] = field(init=False)  # those that a sentence needs
    asks_for_relation: str | None = field(init=False)  # the name of a pattern that does
    remembered: dict[tuple[str, ...], Look] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        waiting: dict[Attribute, dict[str, list[int]]] = {}
        always = []
        for number, pattern in enumerate(self.patterns):
            anchor = anchor_of(pattern)
            if anchor is None:
                always.append(number)
                continue
            for value in anchor.values:
                waiting.setdefault(anchor.attribute, {}).setdefault(literal(value), []).append(number)
        tests = tuple(dict.fromkeys(test for pattern in self.patterns for tests in pattern.tests for test in tests))
        bit = {test: 1 << i for i, test in enumerate(tests)}
        attributes = tuple(dict.fromkeys(a for pattern in self.patterns for a in pattern.attributes))
        labelled = (pattern.name for pattern in self.patterns if any(arc.relations for arc in pattern.arcs))
        made: tuple[tuple[str, Any], ...] = (
            ("waiting", waiting),
            ("always", tuple(always)),
            ("tests", tests),
            ("needs", tuple(tuple(sum({bit[test] for test in tests}) for tests in pattern.tests) for pattern in self.patterns)),
            ("plans", tuple(map(plan_of, self.patterns))),
            ("codes", np.array([hash_of(f"pattern {pattern.name}") for pattern in self.patterns], dtype=np.int64)),
            ("attributes", attributes),
            ("columns", tuple(dict.fromkeys(attribute.column for attribute in attributes))),
            ("asks_for_relation", next(labelled, None)),
            ("remembered", {}),
        )
        for name, value_of in made:
            object.__setattr__(self, name, value_of)

    def look(self, values: tuple[str, ...]) -> Look:
        """What there is to know of a word with these values of the columns."""
        by_column = dict(zip(self.columns, values, strict=True))
        given = {attribute: attribute.of(by_column[attribute.column]) for attribute in self.attributes}
        holding = sum(1 << i for i, test in enumerate(self.tests) if test.holds(given[test.attribute]))
        waited = {number for attribute, wanted in self.waiting.items() for number in wanted.get(given[attribute], ())}
        found = holding, tuple(sorted(waited))
        if len(self.remembered) < MOST_REMEMBERED:
            self.remembered[values] = found
        return found

    def matches(
        self, columns: Mapping[str, Sequence[str]], allowed: NDArray[np.bool_], *, labels: Labels | None = None
    ) -> list[tuple[int, Match]]:
        """The number of a pattern and the arcs that make it hold, for all that allowed arcs (n + 1, n + 1) can have.

        `labels` gives the label of an arc: for a problem that scores labels, the best one.
        """
        if any(name not in columns for name in self.columns):
            raise InputError(f"the sentence has the columns {', '.join(columns)}: the patterns read {', '.join(self.columns)}.")
        if labels is None and self.asks_for_relation is not None:
            raise InputError(
                f"pattern {self.asks_for_relation!r} asks for a relation: expected a problem with labels, or a pattern without relations."
            )
        known = self.remembered
        given = zip(*[columns[name] for name in self.columns], strict=True) if self.columns else [()] * (len(allowed) - 1)
        looks = [known.get(values) or self.look(values) for values in given]
        chosen = set(self.always).union(*(waited for _, waited in looks if waited))
        found: list[tuple[int, Match]] = []
        for number in sorted(chosen):
            candidates = [[word for word, (holding, _) in enumerate(looks, 1) if holding & need == need] for need in self.needs[number]]
            if all(candidates):
                plan = self.plans[number]
                found += [(number, arcs) for arcs in matches_of(self.patterns[number], plan, candidates, columns, allowed, labels)]
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


def anchor_of(pattern: Pattern) -> Condition | None:
    """The test whose values are rarest, as far as one can tell: those of words rather than of tags, and few."""
    return min((test for tests in pattern.tests for test in tests if test.is_plain), key=commonness, default=None)


def commonness(test: Condition) -> tuple[int, int]:
    column = test.attribute.column
    return RARE.index(column) if column in RARE else len(RARE) - 1, len(test.values)


def matches_of(
    pattern: Pattern,
    plan: Plan,
    candidates: Sequence[Sequence[int]],
    columns: Mapping[str, Sequence[str]],
    allowed: NDArray[np.bool_],
    labels: Labels | None,
) -> list[Match]:
    """All sets of arcs of one pattern, in the order of the words that its nodes take; candidates are the words that each of them may."""
    n = len(allowed) - 1
    word = [0] * len(plan.sequence)
    found: dict[Match, None] = {}

    def holds(step: int) -> bool:
        node = plan.sequence[step]
        if any(word[before] == word[node] for before in plan.sequence[:step]):
            return False
        for order in plan.orders[step]:
            if not 0 <= word[order.other] - word[order.one] - 1 <= order.most:
                return False
        for arc in plan.arcs[step]:
            h, m = 0 if arc.head < 0 else word[arc.head], word[arc.modifier]
            if not allowed[h, m] or (arc.relations and (labels is None or labels(h, m) not in arc.relations)):
                return False
        for s in plan.same[step]:
            one = s.attribute.of(columns[s.attribute.column][word[s.one] - 1])
            if (one == s.of_other.of(columns[s.of_other.column][word[s.other] - 1])) != s.wanted:
                return False
        return True

    def assign(step: int) -> None:
        if step == len(plan.sequence):
            found[tuple((0 if arc.head < 0 else word[arc.head], word[arc.modifier]) for arc in pattern.arcs)] = None
            if len(found) > MOST_MATCHES:
                raise InputError(
                    f"pattern {pattern.name!r} holds at more than {MOST_MATCHES:,} places of a sentence of {n} words: expected tests that"
                    " are narrower."
                )
            return
        node = plan.sequence[step]
        low, high = reach(node, plan.orders[step], word, n)
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
