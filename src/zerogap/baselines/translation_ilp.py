"""Syntax-based translation as a linear program over derivations and trigrams of paths (Rush 2014, constraints D0 to D6), in HiGHS.

Every trigram of paths is a variable of its own, so this is for tiny forests. With whole numbers it is exact; without, its optimum is the
best bound that the multipliers of section 5.3 can give.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zerogap.baselines.highs import Blocks, solve_program
from zerogap.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zerogap.problems.translation.forest_problem import SyntaxProblem
    from zerogap.translation.forests.leaf_graph import LeafGraph

FIRST_START, SECOND_START, FIRST_END, SECOND_END = range(4)  # as in the graph of leaves
Path = tuple[int, int, tuple[int, ...]]  # from a leaf, to a leaf, steps


def solve_program_of_paths(
    problem: SyntaxProblem, graph: LeafGraph, *, integer: bool = True, time_limit: float | None = None, max_paths: int = 200_000
) -> tuple[tuple[int, ...] | None, float]:
    """(derivation, value): an optimal derivation by HiGHS's account, None without whole numbers or if none was found in time."""
    edges = graph.hypergraph
    if count_trigrams(graph) > max_paths:
        size = f"{count_trigrams(graph):,} trigrams of paths"
        raise InputError(f"the forest has {size}: expected at most {max_paths:,} for a linear program.")
    paths = all_paths(graph)
    following: dict[int, list[Path]] = {}
    for path in paths:
        following.setdefault(path[0], []).append(path)
    trigrams = [(first, second) for first in paths for second in following.get(first[1], ())]
    blocks = Blocks()
    y_edge = blocks.add_columns(graph.scores)
    y_path = blocks.add_columns(np.array([trigram_score(problem, graph, a, b) for a, b in trigrams]))
    # D0: a vertex is entered as often as it is used, the root once
    inner = np.arange(graph.n_leaves, edges.n_vertices)
    rows = blocks.add_rows(len(inner) - 1, 0.0, 0.0)
    top = blocks.add_rows(1, 1.0, 1.0)
    row_of = {int(v): int(r) for v, r in zip(inner, [*rows, *top], strict=True)}
    blocks.fill(np.array([row_of[int(h)] for h in edges.heads]), y_edge, 1.0)
    uses = [(row_of[int(v)], e) for e in range(edges.n_edges) for v in edges.tail(e) if v >= graph.n_leaves]
    blocks.fill(np.array([r for r, _ in uses], dtype=np.int64), np.array([e for _, e in uses], dtype=np.int64), -1.0)
    # D2 to D4: leaves; D5 and D6: steps
    leaf_uses = [(int(v), e) for e in range(edges.n_edges) for v in edges.tail(e) if v < graph.n_leaves]
    step_uses = [(s, e) for e, own in enumerate(graph.edge_steps) for s in own]
    first_gap, last_gap = graph.step_number(FIRST_START, SECOND_START), graph.step_number(FIRST_END, SECOND_END)
    for kind, left_out in ((2, (FIRST_START, SECOND_START)), (1, (FIRST_START, SECOND_END)), (0, (FIRST_END, SECOND_END))):
        chosen = [((a[0], a[1], b[1])[kind], k) for k, (a, b) in enumerate(trigrams)]
        tie(blocks, graph.n_leaves, left_out, leaf_uses, chosen, y_path)
    for kind, gap in ((0, last_gap), (1, first_gap)):
        taken = [(s, k) for k, pair in enumerate(trigrams) for s in pair[kind][2]]
        tie(blocks, graph.n_steps, (gap,), step_uses, taken, y_path)
    scores, upper = np.concatenate(blocks.scores), np.concatenate(blocks.upper)
    forbidden = scores == -np.inf
    upper[forbidden] = 0.0
    objective = np.where(forbidden, 0.0, scores)
    outcome = solve_program(
        objective, upper, blocks.matrix(), integer=np.arange(len(scores)) < (len(y_edge) if integer else 0), time_limit=time_limit
    )
    if outcome.values is None:
        return None, -np.inf
    value = float(objective @ outcome.values)
    if not integer:
        return None, value
    into = {int(edges.heads[e]): e for e in range(edges.n_edges) if outcome.values[e] > 0.5}
    derivation, waiting = [], [edges.root]
    while waiting:
        v = waiting.pop()
        if v in into:
            derivation.append(into[v])
            waiting.extend(edges.tail(into[v]).tolist()[::-1])
    return tuple(e for e in derivation if e != edges.n_edges - 1), value


def tie(
    blocks: Blocks,
    size: int,
    left_out: tuple[int, ...],
    uses: list[tuple[int, int]],
    choices: list[tuple[int, int]],
    y_path: NDArray[np.int64],
) -> None:
    """Rows that make what derivations use agree with what trigrams have, for all numbers below `size` that are not left out."""
    rows = blocks.add_rows(size, 0.0, 0.0)
    for entries, sign, columns in ((uses, 1.0, None), (choices, -1.0, y_path)):
        kept = sorted({(i, c) for i, c in entries if i not in left_out})
        at = np.array([c for _, c in kept], dtype=np.int64)
        blocks.fill(rows[np.array([i for i, _ in kept], dtype=np.int64)], at if columns is None else columns[at], sign)


def count_trigrams(graph: LeafGraph) -> int:
    """How many pairs of paths meet in a leaf, without listing them."""
    size = graph.hypergraph.n_vertices
    below = [int(v < graph.n_leaves) for v in range(size)]  # paths down from a vertex to a leaf, and up from a leaf to it
    above = list(below)
    for h, c in sorted(graph.downs.tolist()):  # a head has a larger number than what is below it
        below[h] += below[c]
    for x, h in sorted(graph.ups.tolist(), key=lambda pair: pair[1]):
        above[h] += above[x]
    out, into = [0] * size, [0] * size
    for x, y in graph.turns.tolist():
        out[x] += below[y]
        into[y] += above[x]
    for x, h in sorted(graph.ups.tolist(), key=lambda pair: -pair[0]):
        out[x] += out[h]
    for h, c in sorted(graph.downs.tolist(), key=lambda pair: -pair[1]):
        into[c] += into[h]
    return sum(out[v] * into[v] for v in range(graph.n_leaves))


def all_paths(graph: LeafGraph) -> list[Path]:
    """Every path from a leaf to the next: up, one turn, and down."""
    ups: dict[int, list[tuple[int, int]]] = {}
    turns: dict[int, list[tuple[int, int]]] = {}
    downs: dict[int, list[tuple[int, int]]] = {}
    number = 0
    for table, pairs in ((ups, graph.ups), (turns, graph.turns), (downs, graph.downs)):
        for a, b in pairs.tolist():
            table.setdefault(a, []).append((b, number))
            number += 1
    found: list[Path] = []
    for leaf in range(graph.n_leaves):
        climbing: list[tuple[int, tuple[int, ...]]] = [(leaf, ())]
        while climbing:
            x, steps = climbing.pop()
            climbing += [(h, (*steps, s)) for h, s in ups.get(x, ())]
            descending = [(y, (*steps, s)) for y, s in turns.get(x, ())]
            while descending:
                y, more = descending.pop()
                if y < graph.n_leaves:
                    found.append((leaf, y, more))
                descending += [(c, (*more, s)) for c, s in downs.get(y, ())]
    return found


def trigram_score(problem: SyntaxProblem, graph: LeafGraph, first: Path, second: Path) -> float:
    """What the last leaf of a trigram scores."""
    model, words = problem.language_model, graph.words
    v1, v2, v3 = first[0], first[1], second[1]
    if words[v3] < 0 or v3 <= SECOND_START:
        return 0.0
    if v2 <= SECOND_START:
        state = model.start
    elif v1 <= SECOND_START:
        state = model.step(model.start, int(words[v2]))[1]
    else:
        state = model.state_after([int(words[v1]), int(words[v2])])
    return float(model.step(state, int(words[v3]))[0])
