"""The algebra of automata: union, intersection, complement, concatenation, star, minimal form, best strings.

Constraints are regular languages, closed under all of these (Tromble & Eisner 2006, section 2; Rush 2014, section
2.2.5). Only states that can be reached are built, and symbols that no state tells apart are handled once. Sums of
weights are exact where the weights lie on a grid (`zerogap.grid`), and so is every claim here about weights.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import zip_longest
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import AlphabetMismatch, AutomatonError, Infeasible, InputError
from zerogap.oracles.automata.flood import flood, rows_of, transitions
from zerogap.oracles.automata.refinement import initial_partition, refine
from zerogap.structures.automaton import DEAD, Automaton

T = TypeVar("T", bound=np.generic)

MAX_STATES = 1_000_000


def intersection(left: Automaton, right: Automaton, *, max_states: int = MAX_STATES) -> Automaton:
    """The strings that both accept; their weights add."""
    check_alphabets(left, right)
    return product(left, right, both=True, max_states=max_states)


def union(left: Automaton, right: Automaton, *, max_states: int = MAX_STATES) -> Automaton:
    """The strings that either accepts, both unweighted."""
    check_alphabets(left, right)
    demand_unweighted("union", left, right)
    return product(left, right, both=False, max_states=max_states)


def complement(automaton: Automaton) -> Automaton:
    """The strings that an unweighted automaton does not accept. Adds a sink where transitions are missing."""
    demand_unweighted("complement", automaton)
    following, final = automaton.following, automaton.final
    if (following == DEAD).any():
        sink = automaton.n_states
        following = np.where(following == DEAD, sink, following)
        following = np.vstack([following, np.full((1, following.shape[1]), sink)])
        final = np.append(final, -np.inf)
    return Automaton(
        alphabet=automaton.alphabet,
        following=following.astype(np.int32),
        weights=np.zeros(following.shape),
        final=np.where(final == -np.inf, 0.0, -np.inf),
        start=automaton.start,
    )


def concatenation(left: Automaton, right: Automaton, *, max_states: int = MAX_STATES) -> Automaton:
    """A string of `left` followed by one of `right`, both unweighted. Takes up to `left` times 2^`right` states."""
    check_alphabets(left, right)
    demand_unweighted("concatenation", left, right)
    shifted = np.where(right.following == DEAD, DEAD, right.following + left.n_states)
    return determinise(
        left.alphabet,
        np.vstack([left.following, shifted]),
        start=left.start,
        entrances=accepting_states(left),
        entered=right.start + left.n_states,
        accepting=accepting_states(right) + left.n_states,
        max_states=max_states,
    )


def star(automaton: Automaton, *, max_states: int = MAX_STATES) -> Automaton:
    """Any number of strings of an unweighted automaton, none included, one after the other."""
    demand_unweighted("star", automaton)
    accepting = accepting_states(automaton)
    begin = automaton.n_states  # accepts the empty string; nothing returns to it, so it adds nothing else
    return determinise(
        automaton.alphabet,
        np.vstack([automaton.following, automaton.following[automaton.start]]),
        start=begin,
        entrances=accepting,
        entered=automaton.start,
        accepting=np.append(accepting, begin),
        max_states=max_states,
    )


def trim(automaton: Automaton) -> Automaton:
    """Without the states that no accepted string visits. One dead state remains of the empty language."""
    sources, _, targets = transitions(automaton.following)
    reached, _ = flood(automaton.n_states, sources, targets, [automaton.start])
    ending, _ = flood(automaton.n_states, targets, sources, accepting_states(automaton))
    kept = (reached >= 0) & (ending >= 0)
    if not kept.any():
        n_symbols = len(automaton.alphabet)
        return Automaton(automaton.alphabet, np.full((1, n_symbols), DEAD, np.int32), np.zeros((1, n_symbols)), np.array([-np.inf]))
    number = np.append(np.where(kept, np.cumsum(kept) - 1, DEAD), DEAD)  # the last entry is for DEAD itself
    following = number[automaton.following[kept]]
    return Automaton(
        alphabet=automaton.alphabet,
        following=following.astype(np.int32),
        weights=np.where(following == DEAD, 0.0, automaton.weights[kept]),
        final=automaton.final[kept],
        start=int(number[automaton.start]),
    )


def minimise(automaton: Automaton) -> Automaton:
    """The automaton with the fewest states and the same weights, the same tables for the same language.

    First, weights move along the paths so that states which differ by a constant agree (Mohri 1997): every state gives
    up the weight of its first completion, the shortest string that it accepts, lowest symbols first. That exists for
    every state, whereas a best completion does not where a cycle has a positive weight. The constant of the start goes
    to the final weights, which are therefore all equal. Then the partition of states is refined (Valmari & Lehtinen
    2008, O(m log m) for m transitions) and the blocks are numbered breadth-first from the start.
    """
    machine = trim(automaton)
    accepting = machine.final > -np.inf
    if not accepting.any():
        return machine
    letter, first = distinct_columns(machine.following, machine.weights)
    following = machine.following[:, first]
    sources, symbols, targets = transitions(following)
    weights, constant = machine.weights[:, first][sources, symbols], 0.0
    if machine.is_weighted:
        completion = first_completions(machine.final, sources, targets, weights)
        weights = weights + completion[targets] - completion[sources]
        constant = completion[machine.start]
    _, weight_class = np.unique(weights, return_inverse=True)
    _, label = np.unique(symbols * (len(weights) + 1) + weight_class, return_inverse=True)
    block = refine(
        initial_partition(accepting.astype(np.int64)),
        initial_partition(label),
        sources.astype(np.int32),
        targets.astype(np.int32),
        *rows_of(targets, machine.n_states),
    )
    members, representative = np.unique(block, return_index=True)
    quotient = np.full((len(members), len(first)), DEAD, dtype=np.int64)
    quotient[block[sources], symbols] = block[targets]
    quotient_weights = np.zeros(quotient.shape)
    quotient_weights[block[sources], symbols] = weights
    block_sources, _, block_targets = transitions(quotient)
    _, order = flood(len(members), block_sources, block_targets, [block[machine.start]])
    number = np.full(len(members) + 1, DEAD, dtype=np.int32)
    number[order] = np.arange(len(members))
    return Automaton(
        alphabet=automaton.alphabet,
        following=spread(number[quotient[order]], letter),
        weights=spread(quotient_weights[order] + 0.0, letter),
        final=np.where(accepting[representative[order]], constant + 0.0, -np.inf),
    )


def is_empty(automaton: Automaton) -> bool:
    """Whether no string is accepted."""
    sources, _, targets = transitions(automaton.following)
    reached, _ = flood(automaton.n_states, sources, targets, [automaton.start])
    return not bool(((reached >= 0) & (automaton.final > -np.inf)).any())


def equivalent(left: Automaton, right: Automaton) -> bool:
    """Whether both give every string the same weight: their minimal forms are the same tables."""
    check_alphabets(left, right)
    one, other = minimise(left), minimise(right)
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("following", "weights", "final"))


def best_string(automaton: Automaton, length: int | None = None) -> tuple[Hashable, ...]:
    """The accepted string of highest weight, of exactly `length` symbols if given.

    Ties go to the shortest, then to the lowest symbols from the left. Raises Infeasible if there is none, AutomatonError
    if there is no highest because a cycle of positive weight lies on an accepting path.
    """
    if length is not None:
        return best_of_length(automaton, length)
    machine = trim(automaton)
    if is_empty(machine):
        raise Infeasible("the automaton accepts no string.")
    best = best_completions(machine)
    # Along tight transitions nothing is lost; the fewest of them lead to a state where ending is tight too.
    tight = (machine.following != DEAD) & (machine.weights + best[machine.following] == best[:, None])
    sources, symbols = np.nonzero(tight)
    ends = np.flatnonzero(machine.final == best)
    distance, _ = flood(machine.n_states, machine.following[sources, symbols].astype(np.int64), sources, ends)
    state, string = machine.start, []
    while distance[state] > 0:
        a = int(np.flatnonzero(tight[state] & (distance[machine.following[state]] == distance[state] - 1))[0])
        string.append(machine.alphabet[a])
        state = int(machine.following[state, a])
    return tuple(string)


def best_of_length(automaton: Automaton, length: int) -> tuple[Hashable, ...]:
    """best[t, q] = max_a (weights[q, a] + best[t + 1, following[q, a]]), from the end of the string."""
    if length < 0:
        raise InputError(f"length is {length}: expected 0 or more.")
    weights = np.where(automaton.following == DEAD, -np.inf, automaton.weights)
    best = np.empty((length + 1, automaton.n_states))
    best[length] = automaton.final
    for t in range(length - 1, -1, -1):
        best[t] = (weights + best[t + 1][automaton.following]).max(axis=1, initial=-np.inf)
    if best[0, automaton.start] == -np.inf:
        raise Infeasible(f"the automaton accepts no string of {length} symbols.")
    state, string = automaton.start, []
    for t in range(length):
        a = int(np.argmax(weights[state] + best[t + 1][automaton.following[state]]))
        string.append(automaton.alphabet[a])
        state = int(automaton.following[state, a])
    return tuple(string)


def best_completions(machine: Automaton) -> NDArray[np.float64]:
    """The weight of the best string from every state of a trimmed automaton, by Bellman-Ford.

    A cycle among the transitions that raised their states last has a positive weight, and such a cycle shows up among
    them as soon as it has raised itself: that is found before the last round.
    """
    weights = np.where(machine.following == DEAD, -np.inf, machine.weights)
    best = machine.final.copy()
    raised_by = np.full(machine.n_states, DEAD, dtype=np.int64)
    while machine.alphabet:
        values = weights + best[machine.following]
        symbols = values.argmax(axis=1)
        value = values[np.arange(machine.n_states), symbols]
        higher = np.flatnonzero(value > best)
        if higher.size == 0:
            break
        best[higher] = value[higher]
        raised_by[higher] = machine.following[higher, symbols[higher]]
        ahead = np.append(raised_by, DEAD)  # after k doublings, the state 2^k steps ahead; DEAD stays DEAD
        for _ in range(machine.n_states.bit_length()):
            ahead = ahead[ahead]
        if (ahead != DEAD).any():
            raise AutomatonError(
                f"the weights are unbounded: state {int(np.flatnonzero(ahead != DEAD)[0])} of the trimmed automaton leads into a"
                " cycle of positive weight on an accepting path. Give a length."
            )
    return best


def first_completions(
    final: NDArray[np.float64], sources: NDArray[np.int64], targets: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The weight of the shortest accepted string from every state, lowest symbols first; every state has one."""
    distance, order = flood(len(final), targets, sources, np.flatnonzero(final > -np.inf))
    shortest = np.flatnonzero(distance[targets] == distance[sources] - 1)
    states, first = np.unique(sources[shortest], return_index=True)  # transitions of a state come in alphabet order
    step = np.full(len(final), -1)
    step[states] = shortest[first]
    completion = final.tolist()
    for q in order.tolist():
        if step[q] >= 0:
            completion[q] = weights[step[q]] + completion[targets[step[q]]]
    return np.array(completion)


def product(left: Automaton, right: Automaton, *, both: bool, max_states: int) -> Automaton:
    """Pairs of states in step: a string is accepted by `both`, or by either of two unweighted automata.

    A pair (p, q) has the code (p + 1) * width + (q + 1), so that 0 in either place stands for a dead side.
    """
    letter, first = distinct_columns(left.following, right.following)
    width = right.n_states + 1
    left_rows, right_rows = with_dead_row(left.following[:, first]), with_dead_row(right.following[:, first])
    frontier = np.array([(left.start + 1) * width + right.start + 1])
    seen, found, reached = {0, int(frontier[0])}, [], []
    while frontier.size:
        p, q = left_rows[frontier // width - 1], right_rows[frontier % width - 1]
        target = (p + 1) * width + q + 1
        if both:
            target[(p == DEAD) | (q == DEAD)] = 0
        found.append(frontier)
        reached.append(target)
        fresh = [code for code in np.unique(target).tolist() if code not in seen]
        seen.update(fresh)
        check_size(len(seen), max_states)
        frontier = np.array(fresh, dtype=np.int64)
    codes, targets = np.concatenate(found), np.concatenate(reached)
    order = np.argsort(codes)
    following = order[np.searchsorted(codes, np.maximum(targets, codes[order[0]]), sorter=order)]
    following = spread(np.where(targets == 0, DEAD, following).astype(np.int32), letter)
    p, q = codes // width - 1, codes % width - 1
    if both:
        weights = np.where(following == DEAD, 0.0, left.weights[p] + right.weights[q])
        final = left.final[p] + right.final[q]
    else:
        weights = np.zeros(following.shape)
        final = np.maximum(np.append(left.final, -np.inf)[p], np.append(right.final, -np.inf)[q])
    return Automaton(left.alphabet, following, weights, final)


def determinise(
    alphabet: tuple[Hashable, ...],
    following: NDArray[np.integer],
    *,
    start: int,
    entrances: NDArray[np.int64],
    entered: int,
    accepting: NDArray[np.int64],
    max_states: int,
) -> Automaton:
    """Sets of states that move together, where to be in one of `entrances` is to be in `entered` as well."""
    letter, first = distinct_columns(following)
    rows = following[:, first].tolist()
    doors, goals = set(entrances.tolist()), set(accepting.tolist())

    def closed(states: Iterable[int]) -> frozenset[int]:
        members = set(states)
        members.discard(DEAD)
        if not doors.isdisjoint(members):
            members.add(entered)
        return frozenset(members)

    sets = [closed([start])]
    number = {frozenset[int](): DEAD, sets[0]: 0}
    table = []
    for members in sets:  # grows while it is read
        row = []
        for column in zip(*(rows[q] for q in members), strict=True):
            target = closed(column)
            if target not in number:
                number[target] = len(sets)
                sets.append(target)
                check_size(len(sets), max_states)
            row.append(number[target])
        table.append(row)
    new = spread(np.array(table, dtype=np.int32).reshape(len(sets), len(first)), letter)
    final = np.array([-np.inf if goals.isdisjoint(members) else 0.0 for members in sets])
    return Automaton(alphabet, new, np.zeros(new.shape), final)


def check_alphabets(left: Automaton, right: Automaton) -> None:
    if left.alphabet == right.alphabet:
        return
    missing = object()
    for i, (one, other) in enumerate(zip_longest(left.alphabet, right.alphabet, fillvalue=missing)):
        if one is missing or other is missing or one != other:
            shown = ["nothing" if name is missing else repr(name) for name in (one, other)]
            raise AlphabetMismatch(f"symbol {i} is {shown[0]} on the left and {shown[1]} on the right: expected equal alphabets.")


def demand_unweighted(operation: str, *automata: Automaton) -> None:
    for position, automaton in enumerate(automata):
        if automaton.is_weighted:
            which = "automaton" if len(automata) == 1 else ("left", "right")[position]
            raise AutomatonError(
                f"{operation}: {which} is weighted. A deterministic automaton cannot in general hold the better of two weights for one"
                " string; intersect weighted automata instead."
            )


def check_size(n_states: int, max_states: int) -> None:
    if n_states > max_states:
        raise AutomatonError(f"the automaton has more than {max_states:,} states.")


def accepting_states(automaton: Automaton) -> NDArray[np.int64]:
    return np.flatnonzero(automaton.final > -np.inf)


def with_dead_row(following: NDArray[np.int32]) -> NDArray[np.int64]:
    """State DEAD is -1, so it finds the last row: from there, all is dead."""
    return np.vstack([following, np.full((1, following.shape[1]), DEAD)]).astype(np.int64)


def distinct_columns(*tables: NDArray[np.generic]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The class of every column over all tables, numbered by first appearance, and the first column of every class."""
    classes: dict[bytes, int] = {}
    columns = [np.ascontiguousarray(table.T) for table in tables]
    letter = [classes.setdefault(b"".join(c[a].tobytes() for c in columns), len(classes)) for a in range(tables[0].shape[1])]
    classes_of = np.array(letter, dtype=np.int64)
    _, first = np.unique(classes_of, return_index=True)
    return classes_of, first


def spread(table: NDArray[T], letter: NDArray[np.int64]) -> NDArray[T]:
    """From one column per class to one per symbol, C-contiguous as kernels need it, which table[:, letter] is not."""
    return np.take(table, letter, axis=1)
