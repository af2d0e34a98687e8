"""Checks bounds of trees with larger parts by dual decomposition: a tree and the automata of all heads choose arcs on their own.

    bound = max_tree sum_{h -> m in it} (down + up)[h, m]
          + sum_h max_{g, modifiers} score_h(g, modifiers) - down of the modifiers - up[g, h]

within the arcs that a leaf leaves: part h * (n + 1) + m says that the arc h -> m is in the tree. Any prices prove some bound. The root has
at least one modifier, with a single root exactly one, and no modifier of h is g. All numbers are integers, in units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zerogap.errors import VerificationError
from zerogap.grid import Flags, Integers
from zerogap.problems.dependency.head_automaton import HeadAutomaton
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.certificate import Certificate, HeadPrices, Leaf, Leaves, Screened
from zerogap.proof.dependency.arborescence import Arborescence, best_arborescence
from zerogap.proof.dependency.charts import arc_chart
from zerogap.proof.integers import ABSENT, Units, number, plus, settled, units, units_of, units_of_all
from zerogap.proof.leaves import check_cover

KNOWN = {"siblings", "stops", "grandparents", "outermost", "grandsiblings", "trisiblings", "automata"}
WITH_HEADS = ("grandparents", "outermost", "grandsiblings")
MOST_CELLS = 30_000_000  # of the tables of all heads that are kept


def head_prices_bound(
    problem: Problem, certificate: Certificate, arcs: Integers, unit: float, largest: int, larger: tuple[str, ...]
) -> Units:
    """The bound that prices prove, after screening or in leaves; `arcs` (n + 1, n + 1) have their best labels."""
    if set(larger) - KNOWN:
        raise VerificationError(f"a certificate of kind 'head-prices' proves nothing about {', '.join(sorted(set(larger) - KNOWN))}.")
    if problem.n_words == 0:  # only the root, which ends without modifiers
        stops = problem.parts.get("stops")
        ends = [] if stops is None else [number(units(stops.at(np.array([0]), np.array([0])), unit)[0])]
        ends += [number(units(np.array(automaton.finals[:1]), unit)[0]) for automaton in problem.automata]
        return sum(ends)
    allowed = arcs > ABSENT
    return Heads(problem, arcs, unit, largest).bound(certificate, Node(allowed, np.zeros_like(allowed)))


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """The trees that have no other arcs than those that are allowed, and all that are required."""

    allowed: Flags
    required: Flags

    def after(self, leaf: Leaf) -> Node:
        allowed, required = self.allowed.copy(), self.required.copy()
        for part, inside in leaf.fixed:
            h, m = divmod(part, len(allowed))
            if inside:
                allowed[:, m] &= np.arange(len(allowed)) == h
                required[h, m] = True
            else:
                allowed[h, m] = False
        return Node(allowed, required)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """All parts of one side of a head h, for its heads g and its modifiers from the nearest outward; place 0 stands for h itself.

    `parts[g, i, j]` is the score of modifier j after modifier i, without its arc; `ends[g, i]` that of ending after modifier i.
    """

    heads: Integers
    modifiers: Integers
    parts: Integers  # (heads, modifiers + 1, modifiers + 1), absent unless i < j
    ends: Integers  # (heads, modifiers + 1)


@dataclass(slots=True, eq=False)
class Heads:
    """The heads of a problem; tables of parts are made once, for all arcs that the problem allows."""

    problem: Problem
    arcs: Integers
    unit: float
    largest: int
    sides: dict[tuple[int, int], Side] = field(default_factory=dict)
    cells: int = 0

    @property
    def asks_for_heads(self) -> bool:
        return any(name in self.problem.parts for name in WITH_HEADS)

    def bound(self, certificate: Certificate, node: Node) -> Units:
        match certificate:
            case HeadPrices():
                down, up = self.prices(certificate)
                if (node.required & ~node.allowed).any():
                    return -math.inf
                heads = [self.choice(h, down, up, node).best for h in range(self.problem.n_words + 1)]
                return self.tree(down, up, node.allowed).value + sum(heads)
            case Screened(prices=prices, threshold=threshold, rest=rest):
                least = units_of(threshold, self.unit, "threshold")
                left = self.possible_arcs(prices, least, node)
                return max(least, self.bound(rest, Node(left, node.required)))
            case Leaves(leaves):
                check_cover(leaves, (self.problem.n_words + 1) ** 2)
                return max(self.bound(leaf.certificate, node.after(leaf)) for leaf in leaves)
            case _:
                raise VerificationError(f"a certificate of kind {certificate.kind!r} in a leaf proves nothing about dependency trees.")

    def prices(self, certificate: HeadPrices) -> tuple[Integers, Integers]:
        """Down and up (n + 1, n + 1). With the scores of a head, and with each other, their sums are exact."""
        n = self.problem.n_words
        if not len(certificate.arcs) == len(certificate.down) == len(certificate.up):
            sizes = f"{len(certificate.arcs)} arcs, {len(certificate.down)} and {len(certificate.up)} prices"
            raise VerificationError(f"there are {sizes}: expected as many of each.")
        size = (n + 1) ** 2
        numbers = certificate.arcs
        if len(set(numbers)) < len(numbers) or not all(type(arc) is int and 0 <= arc < size for arc in numbers):
            raise VerificationError(f"arcs has something else than different numbers from 0 to {size - 1}.")
        values = units_of_all((*certificate.down, *certificate.up), self.unit, "prices", beside=self.largest)
        down, up = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        down[list(numbers)], up[list(numbers)] = values[: len(numbers)], values[len(numbers) :]
        return down.reshape(n + 1, n + 1), up.reshape(n + 1, n + 1)

    # ------------------------------------------------------------ the tree

    def tree(self, down: Integers, up: Integers, allowed: Flags) -> Arborescence:
        """The best tree under the prices."""
        weights = np.where(allowed, down + up if self.asks_for_heads else down, ABSENT)
        if not self.problem.projective:
            return best_arborescence(weights, self.problem.single_root)
        return Arborescence(number(arc_chart(weights[..., None], self.problem.single_root, 1)[0]), None)

    # ------------------------------------------------------------ screening

    def possible_arcs(self, prices: HeadPrices, threshold: int, node: Node) -> Flags:
        """The arcs that a tree above the threshold may have: by the bound of the prices if tree, head and modifier must take the arc."""
        down, up = self.prices(prices)
        n = self.problem.n_words
        choices = [self.choice(h, down, up, node) for h in range(n + 1)]
        tree = self.tree(down, up, node.allowed)
        total = tree.value + sum(choice.best for choice in choices)
        left = node.allowed.copy()
        if total == -math.inf:
            return left
        for h, m in np.argwhere(node.allowed).tolist():
            by_head = self.with_modifier(choices[h], h, m, down, up, node)
            by_modifier = choices[m].under(h, self.asks_for_heads)
            bound = total - choices[h].best + by_head - choices[m].best + by_modifier
            if tree.slack is not None:
                left[h, m] = bound - int(tree.slack[h, m]) > threshold
            else:
                left[h, m] = bound > threshold
            if left[h, m]:  # the tree is asked last: it takes longest
                only = node.allowed.copy()
                only[:, m] = np.arange(n + 1) == h
                left[h, m] = bound - tree.value + self.tree(down, up, only).value > threshold
        return left

    def with_modifier(self, choice: Choice, h: int, m: int, down: Integers, up: Integers, node: Node) -> Units:
        """The best choice of head h that has modifier m."""
        if choice.with_modifier is not None:
            return choice.with_modifier[m]
        required = node.required.copy()
        required[h, m] = True
        return self.choice(h, down, up, Node(node.allowed, required)).best

    # ------------------------------------------------------------ heads

    def choice(self, h: int, down: Integers, up: Integers, node: Node) -> Choice:
        """The best choice of head h among its heads g and its modifiers on both sides."""
        n = self.problem.n_words
        with_heads = h > 0 and self.asks_for_heads
        heads = np.arange(n + 1) if with_heads else np.array([-1])
        values = np.where(node.allowed[:, h], -up[:, h], ABSENT) if with_heads else np.zeros(1, dtype=np.int64)
        worth = np.where(node.allowed[h], plus(self.arcs[h], -down[h]), ABSENT)
        forced: list[tuple[Integers, Integers, Integers]] | None = []  # of every side: its best, its modifiers, the best with each
        for side in (-1, 1) if h > 0 else (1,):
            machine = next((a for a in self.problem.automata if a.head == h and (a.side == "right") == (side > 0)), None)
            if machine is None and self.problem.trisiblings is None:
                best, modifiers, with_each = self.best_side(h, side, heads, worth, node.required[h])
                if forced is not None:
                    forced.append((best, modifiers, with_each))
            else:
                best, forced = self.best_walk(h, side, heads, worth, node.required[h], machine), None
            values = plus(values, best)
        best_with: dict[int, Units] | None = None if forced is None else {}
        for best, modifiers, with_each in forced or ():
            # the other side and the head stay as they are: take this side's best out, and put in the best with the modifier
            rest = settled(np.where(best > ABSENT, values - best, ABSENT))
            found = settled(rest[:, None] + with_each).max(axis=0, initial=ABSENT)
            best_with.update(zip(modifiers.tolist(), map(number, found), strict=True))  # type: ignore[union-attr]
        return Choice(heads, values, number(values.max(initial=ABSENT)), best_with)

    def best_side(self, h: int, side: int, heads: Integers, worth: Integers, required: Flags) -> tuple[Integers, Integers, Integers]:
        """The best choice of modifiers on a side of h for every head of h (heads,); the modifiers, and the best choice with each of them.

        A path over the places of the side: forward[g, j] is the best of what ends with j, backward[g, j] of what follows it.
        """
        table = self.side(h, side, heads)
        k = len(table.modifiers)
        steps = plus(table.parts[:, :, 1:], worth[table.modifiers])
        ends = table.ends.copy()
        for j in (
            np.flatnonzero(required[table.modifiers]) + 1
        ).tolist():  # no step passes over a required modifier, and no end comes before it
            steps[:, :j, j:] = ABSENT
            ends[:, :j] = ABSENT
        forward, backward = np.full((len(heads), k + 1), ABSENT), ends.copy()
        forward[:, 0] = 0
        for j in range(1, k + 1):
            forward[:, j] = settled(forward[:, :j] + steps[:, :j, j - 1]).max(axis=1)
        for i in range(k - 1, -1, -1):
            later = settled(steps[:, i, i:] + backward[:, i + 1 :]).max(axis=1)
            backward[:, i] = np.maximum(backward[:, i], later)
        with_each = settled(forward[:, 1:] + backward[:, 1:])
        return backward[:, 0], table.modifiers, with_each

    def side(self, h: int, side: int, heads: Integers) -> Side:
        """The parts of a side, kept for the next node as far as there is room."""
        if (h, side) in self.sides:
            return self.sides[h, side]
        problem, n = self.problem, self.problem.n_words
        modifiers = np.arange(h + side, n + 1 if side > 0 else 0, side)
        modifiers = modifiers[self.arcs[h, modifiers] > ABSENT]
        places = np.concatenate([[h], modifiers])
        g, m = heads[:, None, None], places[None, None, :]
        order = np.arange(len(places))
        possible = (order[None, :, None] < order[None, None, :]) & (g != m)
        if problem.projective and h > 0 and self.asks_for_heads:
            possible = possible & ((g < np.minimum(h, m)) | (g > np.maximum(h, m)))
        if h == 0 and problem.single_root:
            possible = possible & (order[None, :, None] == 0)
        parts = np.where(possible, 0, ABSENT) + np.zeros((len(heads), len(places), len(places)), dtype=np.int64)
        where = np.nonzero(parts > ABSENT)
        index = {"g": heads[where[0]], "h": np.full(len(where[0]), h), "s": places[where[1]], "m": places[where[2]]}
        for name, letters in (("siblings", "hsm"), ("grandparents", "ghm"), ("grandsiblings", "ghsm")):
            if len(where[0]) and (name == "siblings" or h > 0):
                parts[where] = plus(parts[where], self.scored(name, *(index[letter] for letter in letters)))
        ends = np.zeros((len(heads), len(places)), dtype=np.int64)
        each = np.broadcast_to(places, ends.shape)
        ends = plus(ends, self.scored("stops", np.full(ends.shape, h), each))
        if h > 0 and len(modifiers):
            of_heads = np.broadcast_to(heads[:, None], ends.shape)[:, 1:]
            last = self.scored("outermost", of_heads, np.full(of_heads.shape, h), each[:, 1:])
            ends[:, 1:] = plus(ends[:, 1:], last)
        if h == 0:
            ends[:, 0] = ABSENT  # the root has a modifier
        found = Side(heads, modifiers, parts, ends)
        self.cells += parts.size
        if self.cells <= MOST_CELLS:
            self.sides[h, side] = found
        return found

    def scored(self, name: str, *index: Integers) -> Any:
        """The scores of parts, 0 if there are none of the kind."""
        parts = self.problem.parts.get(name)
        return 0 if parts is None else units(parts.at(*index), self.unit)

    def best_walk(self, h: int, side: int, heads: Integers, worth: Integers, required: Flags, machine: HeadAutomaton | None) -> Integers:
        """The same where three modifiers in a row are scored, or an automaton reads them: over its states and the last two modifiers."""
        problem, n = self.problem, self.problem.n_words
        modifiers = [m for m in range(h + side, n + 1 if side > 0 else 0, side) if worth[m] > ABSENT]
        moves = {} if machine is None else machine.moves()

        def scored(name: str, *index: int) -> Any:
            if name in WITH_HEADS:
                return self.scored(name, heads, *(np.full(len(heads), i) for i in index)) if h > 0 else 0
            return self.scored(name, *(np.array([i]) for i in index))

        best: dict[tuple[int, int, int], Integers] = {(0, h, h): np.zeros(len(heads), dtype=np.int64)}  # state, the last two modifiers
        for m in modifiers:
            possible = heads != m
            if problem.projective and h > 0 and self.asks_for_heads:
                possible &= (heads < min(h, m)) | (heads > max(h, m))
            new: dict[tuple[int, int, int], Integers] = {}
            for (state, r, s), value in best.items():
                if h == 0 and problem.single_root and s != h:
                    continue
                if machine is not None and (state, m) not in moves:
                    continue
                after, weight = (0, 0.0) if machine is None else moves[state, m]
                total = plus(plus(value, worth[m]), int(weight / self.unit))
                total = plus(total, scored("siblings", h, s, m))
                if s != h:
                    total = plus(total, scored("trisiblings", h, r, s, m))
                total = plus(plus(total, scored("grandparents", h, m)), scored("grandsiblings", h, s, m))
                key = (after, s, m)
                new[key] = np.maximum(new.get(key, ABSENT), np.where(possible, total, ABSENT))
            best = new if required[m] else {**best, **new}
        ended = np.full(len(heads), ABSENT)
        for (state, _, s), value in best.items():
            if h == 0 and s == h:
                continue
            total = plus(value, scored("stops", h, s))
            if machine is not None:
                total = plus(total, units(np.array([machine.finals[state]]), self.unit)[0])
            ended = np.maximum(ended, plus(total, scored("outermost", h, s)) if s != h else total)
        return ended


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What a head gets: for each of its heads, at best, and at best with a modifier (None if that is not known)."""

    heads: Integers
    values: Integers
    best: Units
    with_modifier: dict[int, Units] | None

    def under(self, g: int, asks_for_heads: bool) -> Units:
        """If the head is g."""
        return number(self.values[g]) if asks_for_heads else self.best
