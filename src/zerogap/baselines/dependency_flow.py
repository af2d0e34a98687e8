"""Dependency trees as flows, the constraints of Martins, Smith & Xing 2009 on the variables of arcs.

Every word has one head. What makes a tree of that is flow from the root along the arcs: of one commodity, of which every word
consumes a unit, or of one commodity for every word, a unit that only this word consumes. The second says exactly which arc
values are mixtures of trees, with n times as many variables; the first admits more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.baselines.highs import Blocks, Ids
from zerogap.errors import Infeasible
from zerogap.grid import Scores


class Arcs(NamedTuple):
    """The allowed arcs: heads[a] -> words[a] has column columns[a]."""

    heads: Ids
    words: Ids
    columns: Ids
    number: Ids  # (n + 1, n + 1), a of an arc; -1 if it is forbidden
    allowed: NDArray[np.bool_]  # (n + 1, n + 1)


def add_arcs(program: Blocks, scores: Scores, *, single_root: bool) -> Arcs:
    """A variable for every arc that is not -inf; one head per word, and one root arc or at least one."""
    n = len(scores) - 1
    allowed = scores > -np.inf
    heads, words = np.nonzero(allowed)
    columns = program.add_columns(scores[heads, words])
    number = np.full(scores.shape, -1)
    number[heads, words] = np.arange(len(heads))
    program.fill(program.add_rows(n, 1.0, 1.0)[words - 1], columns)
    below_root = columns[heads == 0]
    program.fill(np.repeat(program.add_rows(1, float(n > 0), 1.0 if single_root else np.inf), len(below_root)), below_root)
    return Arcs(heads, words, columns, number, allowed)


def add_single_flow(program: Blocks, arcs: Arcs, n: int) -> None:
    """What enters a word is one more than what leaves it; an arc carries up to n units. That n units leave the root follows."""
    flow = program.add_columns(np.zeros(len(arcs.heads)), upper=np.inf)
    consume = program.add_rows(n, 1.0, 1.0)
    leaves_word = arcs.heads > 0
    program.fill(consume[arcs.words - 1], flow)
    program.fill(consume[arcs.heads[leaves_word] - 1], flow[leaves_word], -1.0)
    capacity = program.add_rows(len(flow), -np.inf, 0.0)
    program.fill(capacity, flow)
    program.fill(capacity, arcs.columns, -float(n))


def add_multi_flow(program: Blocks, arcs: Arcs, n: int) -> None:
    """For every word k, a unit of flow from the root to k through arcs in proportion to their values.

    Word k has one head, so its commodity enters it just as arcs do and never leaves it: the variables of arcs at k are saved.
    """
    ends, a = np.nonzero((arcs.heads != np.arange(1, n + 1)[:, None]) & (arcs.words != np.arange(1, n + 1)[:, None]))
    ends += 1
    flow = program.add_columns(np.zeros(len(a)), upper=np.inf)
    passes = program.add_rows(n * n, 0.0, 0.0)  # of commodity k at word m: what enters is what leaves; none for m == k
    program.fill(passes[(ends - 1) * n + arcs.words[a] - 1], flow)
    leaves_word = arcs.heads[a] > 0
    program.fill(passes[((ends - 1) * n + arcs.heads[a] - 1)[leaves_word]], flow[leaves_word], -1.0)
    last = arcs.heads > 0
    program.fill(passes[(arcs.words[last] - 1) * n + arcs.heads[last] - 1], arcs.columns[last], -1.0)
    capacity = program.add_rows(len(flow), -np.inf, 0.0)
    program.fill(capacity, flow)
    program.fill(capacity, arcs.columns[a], -1.0)


FLOWS = {"single": add_single_flow, "multi": add_multi_flow}


def projected(values: Scores, allowed: NDArray[np.bool_], *, single_root: bool) -> tuple[int, ...]:
    """The tree whose arcs have the largest sum of these values in [0, 1]."""
    scores = np.where(allowed, values, -np.inf)
    if single_root:
        scores[0] -= len(scores)  # more than all words can gain: as few root arcs as possible
    heads = best_heads(scores)
    if single_root and np.count_nonzero(heads == 0) > 1:
        raise Infeasible("no tree with a single root is left by the arcs that are not -inf.")
    return tuple(heads.tolist())


def best_heads(scores: Scores) -> Ids:
    """Edmonds 1967, by contraction of one cycle after the other: the plain form, without the oracles that are compared with this."""
    n = len(scores) - 1
    heads = scores[:, 1:].argmax(axis=0)
    if n and np.isneginf(scores[heads, np.arange(1, n + 1)]).any():
        raise Infeasible("no tree is left by the arcs that are not -inf.")
    cycle = a_cycle(heads)
    if cycle is None:
        return heads
    outside = np.setdiff1d(np.arange(n + 1), cycle)
    lost = scores[heads[cycle - 1], cycle]
    into = scores[np.ix_(outside, cycle)] - lost
    smaller = np.full((len(outside) + 1, len(outside) + 1), -np.inf)  # the cycle is the last node
    smaller[:-1, :-1] = scores[np.ix_(outside, outside)]
    smaller[:-1, -1] = into.max(axis=1)
    out_of = scores[np.ix_(cycle, outside)]
    smaller[-1, :-1] = out_of.max(axis=0)
    chosen = best_heads(smaller)
    full = heads.copy()
    for position, head in enumerate(chosen[:-1].tolist(), start=1):
        full[outside[position] - 1] = outside[head] if head < len(outside) else cycle[out_of[:, position].argmax()]
    entered = int(into[chosen[-1]].argmax())
    full[cycle[entered] - 1] = outside[chosen[-1]]
    return full


def a_cycle(heads: Ids) -> Ids | None:
    seen = [0] * (len(heads) + 1)
    for start in range(1, len(heads) + 1):
        word = start
        while word > 0 and seen[word] == 0:
            seen[word] = start
            word = int(heads[word - 1])
        if word > 0 and seen[word] == start:
            cycle = [word]
            while heads[cycle[-1] - 1] != word:
                cycle.append(int(heads[cycle[-1] - 1]))
            return np.array(cycle)
    return None
