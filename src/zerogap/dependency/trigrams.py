"""The automaton of a head that scores three modifiers in a row (Rush 2014, section 6.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from zerogap.problems.dependency.head_automaton import HeadAutomaton, Transition


def trigram_automaton(
    head: int, side: str, n: int, score: Callable[[int, int, int], float], stop: Callable[[int, int], float] = lambda r, s: 0.0
) -> HeadAutomaton:
    """The trigram-sibling automaton of section 6.3: every modifier is scored with the two before it, `head` standing for none.

    `score(r, s, m)` is for a modifier m after r and s, `stop(r, s)` for the end after them. States are pairs of modifiers.
    """
    words = list(range(head + 1, n + 1)) if side == "right" else list(range(head - 1, 0, -1))
    states = {(head, head): 0}
    transitions: list[Transition] = []
    for (r, s), state in iter_states(states):
        for m in words[words.index(s) + 1 :] if s != head else words:
            after = states.setdefault((s, m), len(states))
            transitions.append((state, m, after, score(r, s, m)))
    return HeadAutomaton(head, side, tuple(transitions), tuple(stop(r, s) for r, s in states))


def iter_states(states: dict[tuple[int, int], int]) -> Iterable[tuple[tuple[int, int], int]]:
    """The states, and those that are added meanwhile."""
    done = 0
    while done < len(states):
        pair = list(states)[done]
        yield pair, states[pair]
        done += 1
