"""A weighted deterministic finite automaton as tables (Rush 2014, section 2.2.5; Tromble & Eisner 2006, section 2).

States are 0 .. Q-1, symbols are positions in `alphabet`. A missing transition is -1; a state that does not accept has
final weight -inf. Weights are scores: the weight of a string is the sum along its path plus the final weight.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import AlphabetMismatch, AutomatonError
from zerogap.grid import Scores, as_scores

DEAD = -1


@dataclass(frozen=True, slots=True, eq=False)
class Automaton:
    """`following[q, a]` is the state after symbol `a`, `weights[q, a]` its score, `final[q]` the score of ending in `q`."""

    alphabet: tuple[Hashable, ...]
    following: NDArray[np.int32]  # (Q, symbols), DEAD where there is no transition
    weights: Scores  # (Q, symbols), 0 where there is no transition
    final: Scores  # (Q,), -inf where the state does not accept
    start: int = 0

    def __post_init__(self) -> None:
        check_tables(self)
        for array in (self.following, self.weights, self.final):
            array.flags.writeable = False

    @property
    def n_states(self) -> int:
        return len(self.final)

    @property
    def is_weighted(self) -> bool:
        accepting = self.final[np.isfinite(self.final)]
        return bool(self.weights.any() or accepting.any())

    def __repr__(self) -> str:
        kind = "weighted" if self.is_weighted else "unweighted"
        return f"Automaton({self.n_states:,} states, {len(self.alphabet)} symbols, {kind})"

    def encode(self, symbols: Sequence[Hashable]) -> list[int]:
        """The positions of symbol names in the alphabet."""
        position = {name: i for i, name in enumerate(self.alphabet)}
        for i, name in enumerate(symbols):
            if name not in position:
                raise AlphabetMismatch(f"symbols[{i}] is {name!r}: expected one of {shown_alphabet(self.alphabet)}.")
        return [position[name] for name in symbols]

    def score(self, symbols: Sequence[Hashable]) -> float:
        """The weight of a string of symbol names; -inf if it is not accepted."""
        state, total = self.start, 0.0
        for a in self.encode(symbols):
            total += float(self.weights[state, a])
            state = int(self.following[state, a])
            if state == DEAD:
                return -np.inf
        return total + float(self.final[state])

    def accepts(self, symbols: Sequence[Hashable]) -> bool:
        return self.score(symbols) > -np.inf


def check_tables(machine: Automaton) -> None:
    """Kernels index with these tables and check nothing, so nothing may point outside."""
    shape = (machine.n_states, len(machine.alphabet))
    if machine.following.shape != shape or machine.weights.shape != shape:
        raise AutomatonError(f"following has shape {machine.following.shape}, weights {machine.weights.shape}: expected {shape} of both.")
    bad = np.argwhere((machine.following < DEAD) | (machine.following >= machine.n_states))
    if bad.size:
        q, a = (int(i) for i in bad[0])
        expected = f"a state from 0 to {machine.n_states - 1}, or {DEAD} for none"
        raise AutomatonError(f"following[{q}, {a}] is {machine.following[q, a]}: expected {expected}.")
    if not 0 <= machine.start < machine.n_states:
        raise AutomatonError(f"start is {machine.start}: expected a state from 0 to {machine.n_states - 1}.")


def shown_alphabet(alphabet: Sequence[Hashable]) -> str:
    names = [str(name) for name in alphabet]
    return ", ".join(names) if len(names) <= 12 else ", ".join(names[:10]) + f", ... ({len(names)} symbols)"


def automaton(alphabet: Sequence[Hashable], following: Any, *, weights: Any = None, final: Any, start: int = 0) -> Automaton:
    """An automaton from tables, checked. `final` holds booleans (who accepts) or final weights (-inf: does not)."""
    names = tuple(alphabet)
    if len(set(names)) != len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise AutomatonError(f"alphabet holds {twice!r} twice: expected distinct symbols.")
    table = np.array(following)
    if table.size == 0:
        table = table.reshape(len(np.atleast_1d(np.asarray(final))), len(names)).astype(np.int64)
    if table.dtype.kind not in "iu" or table.ndim != 2 or table.shape[1] != len(names):
        raise AutomatonError(f"following has shape {table.shape} and dtype {table.dtype}: expected integers (states, {len(names)}).")
    n_states = len(table)
    if n_states == 0:
        raise AutomatonError("following has no states: expected at least one.")
    ends = np.asarray(final)
    if ends.dtype == np.bool_:
        ends = np.where(ends, 0.0, -np.inf)
    scores = np.zeros(table.shape) if weights is None else as_scores(weights, "weights", shape=(n_states, len(names)))
    forbidden = scores == -np.inf
    return Automaton(
        alphabet=names,
        following=np.ascontiguousarray(np.where(forbidden, DEAD, np.clip(table, -2, 2**31 - 1)), dtype=np.int32),
        weights=np.ascontiguousarray(np.where(forbidden | (table == DEAD), 0.0, scores) + 0.0),
        final=as_scores(ends, "final", shape=(n_states,)) + 0.0,
        start=int(start),
    )


def ngram_automaton(alphabet: Sequence[Hashable], transitions: Any) -> Automaton:
    """An n-gram model as an automaton whose states are the last symbols read (example 2.2.4).

    `transitions` has `order` axes of len(alphabet) + 1, oldest symbol first, the last index the boundary.
    """
    base = len(alphabet) + 1
    table = as_scores(transitions, "transitions")
    if table.ndim < 2 or table.shape != (base,) * table.ndim:
        raise AutomatonError(f"transitions has shape {table.shape}: expected {base} (symbols and boundary) along two or more axes.")
    contexts = base ** (table.ndim - 1)
    flat = table.reshape(contexts, base)
    following = (np.arange(contexts)[:, None] * base + np.arange(base - 1)) % contexts
    return automaton(alphabet, following, weights=flat[:, :-1], final=flat[:, -1], start=contexts - 1)
