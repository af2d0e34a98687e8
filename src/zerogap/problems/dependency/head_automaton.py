"""Weighted automata that read the modifiers of a head on one side, outward from it (Alshawi 1996; Rush 2014, section 6.3).

State 0 is the start. A sequence of modifiers that the automaton does not accept is forbidden; sides without an automaton are free.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zerogap.errors import InputError
from zerogap.grid import Scores, as_scores

SIDES = ("left", "right")
Transition = tuple[int, int, int, float]


@dataclass(frozen=True, slots=True)
class HeadAutomaton:
    """`transitions` are (state, modifier, next state, weight), at most one for a state and a modifier; `finals` has a weight for every
    state, -inf for those in which a side cannot end.

    >>> at_most_one = HeadAutomaton(2, "right", ((0, 3, 1, 0.5), (0, 4, 1, 0.0)), (0.0, 0.0))
    >>> at_most_one.weight([4]), at_most_one.weight([3, 4])
    (0.0, -inf)
    """

    head: int
    side: str
    transitions: tuple[Transition, ...]
    finals: tuple[float, ...]

    def weight(self, modifiers: Sequence[int]) -> float:
        """Of a sequence of modifiers, nearest first; -inf if it is not accepted."""
        moves = self.moves()
        state, total = 0, 0.0
        for modifier in modifiers:
            if (state, modifier) not in moves:
                return -np.inf
            state, weight = moves[state, modifier]
            total += weight
        return total + self.finals[state]

    def moves(self) -> dict[tuple[int, int], tuple[int, float]]:
        """The next state and the weight, by state and modifier; without those that are forbidden."""
        return {(state, modifier): (after, weight) for state, modifier, after, weight in self.transitions if weight > -np.inf}


def side_of(modifier: int, head: int) -> str:
    return SIDES[modifier > head]


def read_automata(value: Any, n: int) -> tuple[list[HeadAutomaton], Scores]:
    """The automata of a problem, checked but for their weights; and all weights, transitions and finals of one after the other.

    They are copies: whoever gave them may go on changing what is not a tuple, and a subclass may weigh modifiers as it likes.
    """
    if not isinstance(value, tuple | list):
        raise InputError(f"automata is a {type(value).__name__}: expected a list of HeadAutomaton.")
    weights: list[Any] = []
    seen = set()
    found: list[HeadAutomaton] = []
    for i, automaton in enumerate(value):
        where = f"automata[{i}]"
        if not isinstance(automaton, HeadAutomaton):
            raise InputError(f"{where} is a {type(automaton).__name__}: expected a HeadAutomaton.")
        head, side, moves, finals = automaton.head, automaton.side, tuple(automaton.transitions), tuple(automaton.finals)
        if not is_integer(head) or not 0 <= head <= n or side not in SIDES or (head == 0 and side == "left"):
            raise InputError(
                f"{where} is of head {head!r}, side {side!r}: expected 0 to {n}, and left or right; the root has a right side."
            )
        if (head, side) in seen:
            raise InputError(f"{where} is a second one of head {head}, side {side!r}: expected one.")
        seen.add((head, side))
        states = len(finals)
        if states == 0:
            raise InputError(f"{where} has no states: expected finals for at least one, the start.")
        known = set()
        for transition in moves:
            if len(transition) != 4 or not all(is_integer(number) for number in transition[:3]):
                raise InputError(f"{where} has the transition {transition!r}: expected (state, modifier, next state, weight).")
            state, modifier, after, weight = transition
            is_beside = 1 <= modifier <= n and modifier != head and side_of(modifier, head) == side
            if not (0 <= state < states and 0 <= after < states and is_beside):
                wanted = f"states from 0 to {states - 1}, and a word on the {side} of {head}"
                raise InputError(f"{where} has the transition {transition!r}: expected {wanted}.")
            if (state, modifier) in known:
                raise InputError(f"{where} has two transitions from state {state} by word {modifier}: expected one.")
            known.add((state, modifier))
            weights.append(weight)
        weights += finals
        found.append(HeadAutomaton(int(head), SIDES[SIDES.index(side)], moves, finals))
    return found, as_scores(weights, "automata", shape=(len(weights),), check=False)


def with_weights(automata: Sequence[HeadAutomaton], weights: Iterable[float]) -> tuple[HeadAutomaton, ...]:
    """The automata with other weights, in the order of `read_automata`."""
    rest = iter(weights)
    found = []
    for automaton in automata:
        transitions = tuple((int(s), int(m), int(t), float(next(rest))) for s, m, t, _ in automaton.transitions)
        found.append(replace(automaton, transitions=transitions, finals=tuple(float(next(rest)) for _ in automaton.finals)))
    return tuple(found)


def is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
