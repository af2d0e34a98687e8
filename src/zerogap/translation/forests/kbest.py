"""The k best derivations of a translation forest, exactly.

All pieces that may be part of a derivation above a threshold, with all ways to make them, are a hypergraph whose best paths are listed
one by one (Huang & Chiang 2005, algorithm 3). If there are k above the threshold, nothing else is better; else the threshold is
lowered, and the prices that prune are found anew.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass, field

import numpy as np

from zerogap.oracles.forests.search import Store, Ways
from zerogap.problems.translation.forest import Derivation
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.translation.forests.cube_pruning import Compiled
from zerogap.translation.forests.end_prices import Relaxed, relax
from zerogap.translation.forests.search import all_ways

FIRST_SHARE = 1 / 64  # of the best score's magnitude: how far below it is looked at first
TRIES = 24  # each looks twice as far; the last one at everything

Ranked = tuple[tuple[float, Derivation], ...]


@dataclass(slots=True)
class Best:
    """The best derivations of a piece so far, as (score, way, ranks of the pieces below), and what may come next."""

    found: list[tuple[float, int, tuple[int, ...]]] = field(default_factory=list)
    waiting: list[tuple[float, int, tuple[int, ...]]] = field(default_factory=list)
    seen: set[tuple[int, tuple[int, ...]]] = field(default_factory=set)


@dataclass(slots=True)
class Lister:
    """Lists derivations of pieces in the order of their scores, as far as they are asked for."""

    ways: Ways
    by_piece: dict[int, list[int]]
    best: dict[int, Best] = field(default_factory=dict)

    def rank(self, piece: int, r: int) -> tuple[float, int, tuple[int, ...]] | None:
        """The r-th best derivation of a piece, from 0; None if there are fewer."""
        own = self.best.get(piece)
        if own is None:
            own = self.best[piece] = Best()
            for way in self.by_piece[piece]:
                self.push(own, way, tuple(0 for b in self.ways.below[way].tolist() if b >= 0))
        while len(own.found) <= r and own.waiting:
            score, way, ranks = heapq.heappop(own.waiting)
            own.found.append((-score, way, ranks))
            for k in range(len(ranks)):
                self.push(own, way, (*ranks[:k], ranks[k] + 1, *ranks[k + 1 :]))
        return own.found[r] if r < len(own.found) else None

    def push(self, own: Best, way: int, ranks: tuple[int, ...]) -> None:
        if (way, ranks) in own.seen:
            return
        own.seen.add((way, ranks))
        below = [self.rank(piece, r) for piece, r in zip(self.ways.below[way].tolist(), ranks, strict=False)]
        if all(entry is not None for entry in below):
            score = float(self.ways.scores[way]) + sum(entry[0] for entry in below if entry is not None)
            heapq.heappush(own.waiting, (-score, way, ranks))

    def derivation(self, piece: int, r: int) -> Derivation:
        edges, waiting = [], [(piece, r)]
        while waiting:
            at = waiting.pop()
            entry = self.rank(*at)
            assert entry is not None
            _, way, ranks = entry
            edges.append(int(self.ways.edges[way]))
            waiting.extend(reversed(list(zip(self.ways.below[way].tolist(), ranks, strict=False))))
        return tuple(edges)


def k_best(
    problem: SyntaxProblem, given: Compiled, best: float, k: int, *, limit: int, time_limit: float | None
) -> tuple[Ranked | None, Relaxed | None]:
    """The k best derivations, fewer if there are no more, and the prices that prove it; None if a limit came first."""
    begin = time.perf_counter()
    reach = max(abs(best) * FIRST_SHARE, problem.unit)
    has_prices = (np.diff(problem.forest.symbol_start) > 0).all()
    for attempt in range(TRIES):
        left = None if time_limit is None else time_limit - (time.perf_counter() - begin)
        if left is not None and left <= 0.0:
            return None, None
        everything = attempt == TRIES - 1 or not has_prices
        threshold = -np.inf if everything else best - np.rint(reach / problem.unit) * problem.unit
        relaxed = None if everything else relax(problem, given, threshold=threshold)
        found = all_ways(problem, given, relaxed, threshold=threshold, limit=limit, seconds=left)
        if found is None:
            return None, None
        listed = listing(problem, *found, k, threshold)
        if len(listed) >= k or everything:
            return tuple(listed), relaxed
        reach *= 2.0
    raise AssertionError("the last try lists everything")


def listing(problem: SyntaxProblem, store: Store, ways: Ways, k: int, threshold: float) -> list[tuple[float, Derivation]]:
    """At most k derivations of the root above the threshold, the best first."""
    by_piece: dict[int, list[int]] = {}
    for way, piece in enumerate(ways.pieces.tolist()):
        by_piece.setdefault(piece, []).append(way)
    lister = Lister(ways, by_piece)
    root = problem.forest.root
    waiting: list[tuple[float, int, int]] = []
    for piece in range(int(store.first[root]), int(store.last[root])):
        entry = lister.rank(piece, 0)
        assert entry is not None
        # what the ends add is the same for all derivations of a piece
        heapq.heappush(waiting, (-problem.score(lister.derivation(piece, 0)), piece, 0))
    listed: list[tuple[float, Derivation]] = []
    while waiting and len(listed) < k:
        score, piece, r = heapq.heappop(waiting)
        if not -score > threshold:
            break
        listed.append((-score, lister.derivation(piece, r)))
        following = lister.rank(piece, r + 1)
        if following is not None:
            current = lister.rank(piece, r)
            assert current is not None
            heapq.heappush(waiting, (score + current[0] - following[0], piece, r + 1))
    return listed
