"""All projective trees as the hyperpaths of one hypergraph, for models from arcs to grandsiblings (Rush 2014, sections 2.2.4 and 8.3.2).

Every tree is exactly one hyperpath, so its k best, sums and maxima over hyperpaths are those over trees. Vertices are items: halves of a
head up to an end (right, left), arcs with what lies between (open), and what lies between two adjacent modifiers (join); which of them
know the head g of their head depends on the parts that are scored:

    arcs                        none does, and there are no joins               Eisner 2000, O(n^3)
    grandparents                all do, and there are no joins                  Koo & Collins 2010, model 0, O(n^4)
    siblings, stops             none does                                       McDonald & Pereira 2006, O(n^3)
    outermost                   halves and joins do                             Carreras 2007, O(n^4)
    grandsiblings, or several   all do                                          Koo & Collins 2010, model 1, O(n^4)

    open ->[i, j | g] <- left[i + 1, j | i]                          makes the arc i -> j, j the first modifier of i
                      <- open ->[i, s | g] + join[s, j | i]          makes the arc i -> j after the arc i -> s
                      <- right[i, r | g] + left[r + 1, j | i]        makes the arc i -> j, without joins
    join[i, j | g]    <- right[i, r | g] + left[r + 1, j | g]
    right[i, j | g]   <- open ->[i, m | g] + right[m, j | i]         makes m the last modifier of i on its side
    right[i, i | g]   <- a terminal                                  makes i a head without modifiers on its right

and so to the left. Only arcs that are not -inf are used, and only items that some tree uses are left: pruned sentences have small
hypergraphs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import Infeasible, ScoreShapeError
from zerogap.grid import Scores, check_scores
from zerogap.kernels import boolean, inner, int64, kernel, readonly, types, writable
from zerogap.oracles.growing_arrays import grown
from zerogap.oracles.hypergraphs.best_path import filter_edges, max_marginals
from zerogap.oracles.hypergraphs.marginals import log_inside, posterior_marginals
from zerogap.oracles.trees.arc_scores import arc_scores, infeasible
from zerogap.structures.hypergraph import Hypergraph

NOTHING, ALONE = -1, -2  # no such vertex; no second tail
FIELDS = 6  # of a hyperedge: two tails, then the part that it makes

ORDERS = {"siblings": 3, "stops": 2, "grandparents": 3, "outermost": 3, "grandsiblings": 4}

Part = Callable[..., Any] | NDArray[np.float64]  # scores of parts: an array, or a function of index arrays


@dataclass(frozen=True, slots=True, eq=False)
class ProjectiveHypergraph:
    """The trees, and for every hyperedge its score and the part that it makes.

    `parts` are rows (g, h, s, m): m >= 0 where it makes the arc h -> m after the modifier s of h (s == h: m is the first); otherwise
    h >= 0 where it makes s the last modifier of h on its side (s == h: there is none). g is the head of h. The rest is -1.
    """

    hypergraph: Hypergraph
    scores: Scores  # (E,)
    parts: NDArray[np.int64]  # (E, 4)
    n_words: int

    @property
    def arcs(self) -> NDArray[np.int64]:
        """(E, 2): the arc (h, m) that a hyperedge makes, (-1, -1) if none."""
        return np.where(self.parts[:, 3:] >= 0, self.parts[:, [1, 3]], NOTHING)

    def heads(self, edges: NDArray[np.int64]) -> NDArray[np.int64]:
        """The heads of words 1 to n in the tree that a hyperpath is."""
        made = self.parts[edges]
        made = made[made[:, 3] >= 0]
        heads = np.empty(self.n_words, dtype=np.int64)
        heads[made[:, 3] - 1] = made[:, 1]
        return heads


INTEGERS = writable(int64, 1)


@inner
def write(edges, n_edges, first, second, g, h, s, m):  # out: edges
    """One more hyperedge, if what it needs exists; returns their number."""
    if first == NOTHING or second == NOTHING:
        return n_edges
    at = n_edges * FIELDS
    edges[at], edges[at + 1] = first, second
    edges[at + 2], edges[at + 3], edges[at + 4], edges[at + 5] = g, h, s, m
    return n_edges + 1


@kernel(types.Tuple((INTEGERS, INTEGERS, int64))(readonly(boolean, 2), int64, int64, int64, int64))
def build(allowed, has_joins, knows_in_halves, knows_in_open, single_root):
    """edge_start (V + 1), the fields of all hyperedges, and the root or NOTHING. A second tail may be ALONE.

    A vertex is made when it has its hyperedges, so they come in the order of their heads, and every tail before its head.
    """
    n = allowed.shape[0] - 1
    heads_of_halves, heads_of_open = n + 1 if knows_in_halves else 1, n + 1 if knows_in_open else 1
    halves = np.empty((3, heads_of_halves, n + 1, n + 1), dtype=np.int64)
    right, left, join = halves[0], halves[1], halves[2]  # [g, i, j]
    opened = np.empty((heads_of_open, n + 1, n + 1), dtype=np.int64)  # [g, head, modifier]
    flat = halves.reshape(-1)
    for k in range(flat.size):
        flat[k] = NOTHING
    flat = opened.reshape(-1)
    for k in range(flat.size):
        flat[k] = NOTHING
    edges, n_edges = np.empty(1024 * FIELDS, dtype=np.int64), 0
    starts, n_vertices = np.empty(1024, dtype=np.int64), 0
    for i in range(n, -1, -1):
        for j in range(i, n + 1):
            for kind in range(5):  # joins, arcs to the right and to the left, right halves, left halves
                if (i == j and kind < 3) or (i == 0 and kind % 2 == 0) or (kind == 0 and not has_joins):
                    continue
                h = j if kind == 2 or kind == 4 else i
                m = i + j - h
                if (kind == 1 or kind == 2) and not allowed[h, m]:
                    continue
                if kind == 3 and i == 0 and single_root and 0 < j < n:
                    continue
                knows = knows_in_open if kind == 1 or kind == 2 else knows_in_halves
                below = h if knows_in_halves else 0  # the head of h's modifiers
                for g in range(n + 1 if knows and i > 0 else 1):
                    if knows and i > 0 and (i <= g <= j or not allowed[g, h] or (kind == 0 and not allowed[g, j])):
                        continue
                    in_halves, in_open = g if knows_in_halves else 0, g if knows_in_open else 0
                    above = g if knows and i > 0 else NOTHING
                    edges = grown(edges, (n_edges + n + 1) * FIELDS)
                    starts = grown(starts, n_vertices + 3)
                    before = n_edges
                    if i == j:  # a terminal, and the half of a head without modifiers
                        starts[n_vertices] = n_edges
                        n_vertices += 1
                        n_edges = write(
                            edges, n_edges, n_vertices - 1, ALONE, above, h if has_joins else NOTHING, h if has_joins else NOTHING, NOTHING
                        )
                    elif kind == 0:
                        for r in range(i, j):
                            n_edges = write(edges, n_edges, right[g, i, r], left[g, r + 1, j], NOTHING, NOTHING, NOTHING, NOTHING)
                    elif kind < 3 and has_joins:
                        inner_half = left[below, i + 1, j] if kind == 1 else right[below, i, j - 1]
                        n_edges = write(edges, n_edges, inner_half, ALONE, above, h, h, m)
                        for s in range(i + 1, i + 1 if h == 0 and single_root else j):
                            between = join[below, s, j] if kind == 1 else join[below, i, s]
                            n_edges = write(edges, n_edges, opened[in_open, h, s], between, above, h, s, m)
                    elif kind < 3:
                        for r in range(i, 1 if h == 0 and single_root else j):
                            one = right[in_halves if kind == 1 else below, i, r]
                            other = left[below if kind == 1 else in_halves, r + 1, j]
                            n_edges = write(edges, n_edges, one, other, above, h, NOTHING, m)
                    else:
                        for last in range(i + 1 if kind == 3 else i, j + 1 if kind == 3 else j):
                            outer_half = right[below, last, j] if kind == 3 else left[below, i, last]
                            made, by = (h, last) if has_joins else (NOTHING, NOTHING)
                            n_edges = write(edges, n_edges, opened[in_open, h, last], outer_half, above, made, by, NOTHING)
                    if n_edges == before:
                        continue
                    starts[n_vertices] = before
                    if kind == 0:
                        join[g, i, j] = n_vertices
                    elif kind < 3:
                        opened[g, h, m] = n_vertices
                    elif kind == 3:
                        right[g, i, j] = n_vertices
                    else:
                        left[g, i, j] = n_vertices
                    n_vertices += 1
    starts = grown(starts, n_vertices + 1)
    starts[n_vertices] = n_edges
    return starts[: n_vertices + 1], edges[: n_edges * FIELDS], right[0, 0, n]


def projective_hypergraph(
    arcs: Any,
    *,
    siblings: Part | None = None,
    stops: Part | None = None,
    grandparents: Part | None = None,
    outermost: Part | None = None,
    grandsiblings: Part | None = None,
    single_root: bool = True,
) -> ProjectiveHypergraph:
    """The projective trees of a sentence under the given parts, as the smallest of the hypergraphs above that can score them.

    `arcs[h, m]` is an array (n + 1, n + 1), -inf forbids. The others are arrays, or functions of index arrays, of siblings(h, s, m),
    stops(h, s), grandparents(g, h, m), outermost(g, h, m) and grandsiblings(g, h, s, m). Here s and m are adjacent modifiers of h on
    one side, s == h where m is the first; stops(h, s) ends a side after s, stops(h, h) is a side without modifiers; in `outermost`, m is
    the last modifier of its side; g is the head of h. Only parts of trees without forbidden arcs are asked for. Raises Infeasible if
    no tree is left.

    >>> trees = projective_hypergraph(np.zeros((3, 3)), siblings=np.zeros((3, 3, 3)))
    >>> trees.hypergraph
    Hypergraph(15 vertices, 12 hyperedges, root 14)
    """
    checked = arc_scores(arcs)
    given = {"siblings": siblings, "stops": stops, "grandparents": grandparents, "outermost": outermost, "grandsiblings": grandsiblings}
    for name, part in given.items():
        expected = (len(checked),) * ORDERS[name]
        if part is not None and not callable(part) and part.shape != expected:
            raise ScoreShapeError(f"{name} has shape {part.shape}: expected {expected}.")
    has_joins = any(part is not None for part in (siblings, stops, outermost, grandsiblings))
    knows_in_open = any(part is not None for part in (grandparents, grandsiblings))
    knows_in_halves = knows_in_open or outermost is not None
    edge_start, fields, root = build(checked > -np.inf, has_joins, knows_in_halves, knows_in_open, 1 if single_root else 0)
    if root == NOTHING:
        raise infeasible(checked, single_root=single_root, projective=True)
    edges = fields.reshape(-1, FIELDS)
    has_tail = edges[:, :2] >= 0
    whole = Hypergraph(
        edge_start=edge_start.copy(),
        tail_start=np.concatenate([[0], np.cumsum(has_tail.sum(axis=1))]).astype(np.int32),
        tails=edges[:, :2][has_tail].astype(np.int32),
        root=int(root),
    )
    used = filter_edges(whole, np.ones(len(edges), dtype=np.bool_))
    graph, parts = used.hypergraph, edges[used.edges, 2:].copy()
    scores = part_scores(parts, checked, siblings, stops, grandparents, outermost, grandsiblings)
    if scores.min() == -np.inf:
        try:
            used = filter_edges(graph, scores > -np.inf)
        except Infeasible:
            raise Infeasible("every projective tree has a part of score -inf.") from None
        graph, parts, scores = used.hypergraph, parts[used.edges], scores[used.edges]
    return ProjectiveHypergraph(graph, scores, parts, len(checked) - 1)


def part_scores(
    parts: NDArray[np.int64],
    arcs: Scores,
    siblings: Part | None,
    stops: Part | None,
    grandparents: Part | None,
    outermost: Part | None,
    grandsiblings: Part | None,
) -> Scores:
    """The scores of what hyperedges make, as `ProjectiveHypergraph.parts` say it."""
    scores = np.zeros(len(parts))

    def add(part: Part | None, which: NDArray[np.bool_], columns: tuple[int, ...]) -> None:
        if part is not None and which.any():
            index = tuple(np.ascontiguousarray(parts[which, column]) for column in columns)
            scores[which] += part(*index) if callable(part) else part[index]

    g, h, s, m = parts.T
    makes_arc, ends_side = m >= 0, (m < 0) & (h >= 0)
    add(arcs, makes_arc, (1, 3))
    add(siblings, makes_arc, (1, 2, 3))
    add(grandparents, makes_arc & (g >= 0), (0, 1, 3))
    add(grandsiblings, makes_arc & (g >= 0), (0, 1, 2, 3))
    add(stops, ends_side, (1, 2))
    add(outermost, ends_side & (g >= 0) & (s != h), (0, 1, 2))
    check_scores(scores, "scores of hyperedges")
    return scores


def arc_posteriors(trees: ProjectiveHypergraph) -> tuple[float, Scores]:
    """The log partition function, and the probability of every arc (n + 1, n + 1), if trees have probability proportional to exp(score)."""
    n, arcs = trees.n_words, trees.arcs
    of_edge, _ = posterior_marginals(trees.hypergraph, trees.scores)
    makes = arcs[:, 0] >= 0
    posteriors = np.zeros((n + 1, n + 1))
    np.add.at(posteriors, tuple(arcs[makes].T), of_edge[makes])
    return float(log_inside(trees.hypergraph, trees.scores)[trees.hypergraph.root]), posteriors


def arc_max_marginals(trees: ProjectiveHypergraph) -> tuple[float, Scores]:
    """The score of a best tree, and for every arc (n + 1, n + 1) the score of a best one that has it, -inf if none does."""
    n, arcs = trees.n_words, trees.arcs
    of_edge, of_vertex = max_marginals(trees.hypergraph, trees.scores)
    makes = arcs[:, 0] >= 0
    best = np.full((n + 1, n + 1), -np.inf)
    np.maximum.at(best, tuple(arcs[makes].T), of_edge[makes])
    return float(of_vertex[trees.hypergraph.root]), best
