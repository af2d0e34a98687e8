"""Rows that arc values violate if they are no mixture of trees: sets of words that too little enters, and arcs that cross.

Every tree has an arc into every set of words (Edmonds 1967); with one head for every word, these cuts describe exactly the mixtures of
trees. They take the place of the flow of Riedel, Smith & McCallum 2012, section 3.1, which admits more and has a variable and a row for
every arc. Projective trees also obey, for an arc between i and j, i < j,

    z[i, j] + z[j, i] <= sum of z[h, k] over h from i to j           for k between them: a word below an arc has its head there
    z[i, j] + z[j, i] + sum of z[h, k] over h between them <= 1      for k beside them: no word beside an arc has its head below it

Integral values that obey all of this are projective trees.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores

VIOLATED = 1e-6  # rows that are violated by less are left alone


def unentered_sets(values: Scores) -> list[list[int]]:
    """Sets of words into which arcs of less than 1 in all lead; empty if there is none. One head for every word is given.

    First the circles among words that have one head each. If there are none, every word is asked for a smallest cut between the root and
    it: words of one head are taken together with it, so few are left to ask.
    """
    n = len(values) - 1
    top = values.argmax(axis=0)
    certain = values.max(axis=0) > 1.0 - VIOLATED
    certain[0] = False
    above = np.where(certain, top, np.arange(n + 1))
    circles = circles_of(above)
    if circles:
        return circles
    for _ in range(max(n.bit_length(), 1)):
        above = above[above]
    groups, group = np.unique(above, return_inverse=True)
    if len(groups) == 1:
        return []
    capacity = np.zeros((len(groups), len(groups)))
    heads, words = np.nonzero(values > VIOLATED / (n + 1))
    np.add.at(capacity, (group[heads], group[words]), values[heads, words])
    np.fill_diagonal(capacity, 0.0)
    found: dict[tuple[int, ...], None] = {}
    asked = np.zeros(len(groups), dtype=np.bool_)
    for target in range(1, len(groups)):
        if asked[target]:
            continue
        inside = sink_side(capacity, target)
        if inside is not None:
            asked |= inside
            found[tuple(np.flatnonzero(inside[group]).tolist())] = None
    return [list(words) for words in found]


def circles_of(above: NDArray[np.int64]) -> list[list[int]]:
    """The circles of a function, of more than one token each."""
    state, found = np.zeros(len(above), dtype=np.int64), []
    for start in range(1, len(above)):
        walk, token = [], start
        while state[token] == 0:
            state[token] = start + 1
            walk.append(token)
            token = int(above[token])
        if state[token] == start + 1 and above[token] != token:
            found.append(sorted(walk[walk.index(token) :]))
    return found


def sink_side(capacity: Scores, target: int) -> NDArray[np.bool_] | None:
    """The nodes from which the target can still be reached after a largest flow from node 0 to it; None if that is 1 or more."""
    residual = capacity.copy()
    size, flow = len(residual), 0.0
    while True:
        before = np.full(size, -1)
        before[0] = 0
        queue = [0]
        for node in queue:
            if before[target] >= 0:
                break
            for after in np.flatnonzero((residual[node] > 1e-12) & (before < 0)).tolist():
                before[after] = node
                queue.append(after)
        if before[target] < 0:
            break
        path, node = [], target
        while node != 0:
            path.append((int(before[node]), node))
            node = int(before[node])
        amount = min(residual[a, b] for a, b in path)
        for a, b in path:
            residual[a, b] -= amount
            residual[b, a] += amount
        flow += amount
        if flow > 1.0 - VIOLATED:
            return None
    inside = np.zeros(size, dtype=np.bool_)
    inside[target] = True
    queue = [target]
    for node in queue:
        for other in np.flatnonzero((residual[:, node] > 1e-12) & ~inside).tolist():
            inside[other] = True
            queue.append(other)
    return inside


def crossings(values: Scores) -> list[tuple[int, int, int]]:
    """(i, j, k), i < j: words k below an arc between i and j whose head is too much outside, or beside it and too much below it."""
    n = len(values) - 1
    either = np.triu(values + values.T)
    i, j = np.nonzero(either > VIOLATED)
    wide = j - i > 1
    i, j = i[wide], j[wide]
    if not len(i):
        return []
    sums = np.zeros((n + 2, n + 1))
    np.cumsum(values, axis=0, out=sums[1:])
    from_i_to_j, between = sums[j + 1] - sums[i], sums[j] - sums[i + 1]  # (pairs, words)
    words, arc = np.arange(n + 1), either[i, j][:, None]
    is_below = (words > i[:, None]) & (words < j[:, None])
    is_beside = (words < i[:, None]) | (words > j[:, None])
    over = (is_below & (arc > from_i_to_j + VIOLATED)) | (is_beside & (arc + between > 1.0 + VIOLATED))
    pair, k = np.nonzero(over)
    return list(zip(i[pair].tolist(), j[pair].tolist(), k.tolist(), strict=True))
