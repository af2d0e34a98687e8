"""Lagrangian relaxation of translation forests, tightened by partitions of the words until it closes (Rush 2014, sections 5.3 and 5.4).

1. Prices on the last and first words of vertices make what is below a vertex and what is around it agree
(zerogap.translation.forests.end_prices):
   the dual of section 5.3 with words in the place of paths. Whatever no derivation above the best known one has is dropped for good.
2. Where the bound stalls, words that are confused with each other are put into different parts
(zerogap.papers.rush2014.partitions.confused_words), and
   the forest is split by the parts of the words before and at the end of vertices (zerogap.papers.rush2014.partitions.word_classes).
   Prices of the split forest begin where those of the forest before it ended. Then from 1 again.
3. What is left of a split forest soon is small. Then every leaf gets multipliers of its own, for itself and for the steps of its
   paths (D3 to D6, zerogap.papers.rush2014.partitions.trigrams).
4. Where a split closes little, where split forests grow large, or the time is nearly over, the split forest is searched, with its
   prices as bounds on what is outside of a piece: few pieces at first, and if those are not enough, the next split comes before more.

Every derivation above the best known one is in every split forest, so a bound that falls to the known score proves it. Departures:
section 5.4 colours all pairs anew, and its hypergraph stays as it is; here a partition refines the one before, only what is left is
split, and all of a word's copies can be in different parts. Parts are counted as classes of words that were ever told apart.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError, OverlappingTails
from zerogap.papers.rush2014.partitions.confused_words import confusion, two_classes
from zerogap.papers.rush2014.partitions.split_prices import split_prices
from zerogap.papers.rush2014.partitions.trigrams import relax_trigrams
from zerogap.papers.rush2014.partitions.word_classes import split
from zerogap.problems.translation.forest import Derivation
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.proof.solution import Trace
from zerogap.relax.candidate import Candidate
from zerogap.translation.forests.cube_pruning import Compiled, compile_problem, cube_prune
from zerogap.translation.forests.end_prices import ITERATIONS, Pricing, Relaxed
from zerogap.translation.forests.screening import restricted_to, useful_edges
from zerogap.translation.forests.search import search

ENOUGH = 0.1  # prices go on in what is left as long as the gap shrinks by this share
STALLED = 0.1  # a split that closes less of the gap than this share was of the wrong words
SHARPEST = 16.0  # of confusion: only what comes closest to the bound
WORK, FEWEST = 6_000_000, 12  # hyperedges times words that are coloured; more words make larger forests
CUBE_EDGES, CUBE_LIMIT = 100_000, 50  # forests that are small enough to look for a better derivation in them
LEAF_EDGES, LEAVES, LEAF_ITERATIONS = 150, 120, 60  # what is small enough for multipliers of leaves and paths
MANY_EDGES = 1_000_000  # of all split forests together: beyond this, every one is searched; to price so many takes about ten seconds
MOST_EDGES = 4_000_000  # and beyond this, the search is the end
FEW_PIECES = 250_000  # of a search that may come too soon
MOST_CELLS = 100_000_000  # vertices times words of a split forest, which are tables in memory
SEARCH_SHARE = 0.3  # of the time, kept for a search of what partitions leave
PATIENCE = 16  # splits one after the other that close nearly nothing, before what is left is searched
SEED = 5


class Closed(NamedTuple):
    """The best derivation, a bound on all, and how it came about."""

    best: Derivation
    score: float
    bound: float
    parts: int
    splits: int
    by: str  # "prices", "leaves" (multipliers of leaves and paths), "search" (of the split forest), or "" for a gap that is left
    prices: Relaxed  # of the whole forest
    trace: Trace


@dataclass(slots=True)
class Progress:
    """What is known so far: the best derivation by the numbers of the given forest, and the least bound."""

    problem: SyntaxProblem
    best: Derivation
    score: float
    seconds: float | None
    bound: float = np.inf
    begin: float = field(default_factory=time.perf_counter)
    bounds: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def left(self) -> float | None:
        return None if self.seconds is None else self.seconds - (time.perf_counter() - self.begin)

    def found(self, derivation: Derivation) -> None:
        score = self.problem.score(derivation)
        if score > self.score:
            self.best, self.score = derivation, score

    def proved(self, bound: float) -> bool:
        """Whether a bound on all derivations above the best one leaves none."""
        self.bound = max(min(self.bound, bound), self.score)
        self.bounds.append(self.bound)
        self.scores.append(self.score)
        self.times.append(time.perf_counter() - self.begin)
        return self.bound == self.score


@dataclass(slots=True)
class Level:
    """What is left of the forest, split so far: its hyperedges by the numbers of the given forest, the parts of its words, its prices."""

    problem: SyntaxProblem
    given: Compiled
    edges: NDArray[np.int64]
    pricing: Pricing
    parts: NDArray[np.int64]  # (words of the language model,)
    n_parts: int = 1  # words that are left or not


def close_by_partitions(problem: SyntaxProblem, given: Compiled, best: Derivation, *, time_limit: float | None, max_pieces: int) -> Closed:
    """Closes the gap above a known derivation. No target side may be empty."""
    progress = Progress(problem, best, problem.score(best), time_limit)
    words = problem.language_model.n_words
    level = Level(problem, given, np.arange(problem.forest.n_edges), Pricing(problem, given), np.zeros(words, dtype=np.int64))
    whole = priced = improved(progress, level)
    splits, stalls, n_edges, sharpness, random = 0, 0, 0, SHARPEST, np.random.default_rng(SEED)

    def ended(by: str) -> Closed:
        trace = Trace(tuple(progress.bounds), tuple(progress.scores), tuple(progress.times))
        return Closed(progress.best, progress.score, progress.bound, level.n_parts, splits, by, whole, trace)

    while True:
        if progress.proved(priced.bound):
            return ended("prices")
        if leaves_close(progress, level, priced):
            return ended("leaves")
        left = progress.left()
        if left is not None and time_limit is not None and left <= SEARCH_SHARE * time_limit:
            return ended("search" if searched(progress, level, priced, max_pieces) else "")
        if (stalls or n_edges > MANY_EDGES) and searched(progress, level, priced, min(max_pieces, FEW_PIECES)):
            return ended("search")
        following = next_level(level, priced, progress.score, sharpness, random)
        if following is None:
            progress.proved(progress.score)
            return ended("prices")
        n_edges += following.problem.forest.n_edges
        if stalls > PATIENCE or n_edges > MOST_EDGES or cells(following) > MOST_CELLS:
            return ended("search" if searched(progress, level, priced, max_pieces) else "")
        splits, level, gap = splits + 1, following, priced.bound - progress.score
        if level.problem.forest.n_edges <= CUBE_EDGES:
            other = cube_prune(level.problem, limit=CUBE_LIMIT, compiled=level.given)
            if other is not None:
                progress.found(tuple(level.edges[list(other)].tolist()))
        priced = improved(progress, level)
        stalls = stalls + 1 if priced.bound - progress.score > (1.0 - STALLED) * gap else 0
        sharpness = SHARPEST / 2.0**stalls


def cells(level: Level) -> int:
    return level.problem.forest.n_vertices * level.problem.language_model.n_words


def improved(progress: Progress, level: Level) -> Relaxed:
    """Better prices, for as long as they bring the bound down."""
    bound = np.inf
    while True:
        priced = level.pricing.improve(threshold=progress.score, iterations=ITERATIONS)
        if priced.bound - progress.score > (1.0 - ENOUGH) * (bound - progress.score) or priced.bound <= progress.score:
            return priced
        bound = priced.bound


def next_level(level: Level, priced: Relaxed, threshold: float, sharpness: float, random: np.random.Generator) -> Level | None:
    """What is left, split by the words that are confused most; None if nothing is left."""
    problem, n = level.problem, level.problem.language_model.n_words
    most = max(FEWEST, WORK // max(int(priced.alive.sum()), 1))
    classes = two_classes(confusion(problem, level.given, priced, threshold, sharpness), most)
    if not classes.any() or sharpness < 1.0:
        classes = random.permutation(n) % 2
    found = split(problem, priced.alive, classes)
    if found is None:
        return None
    given = compile_problem(found.problem)
    pricing = split_prices(level.pricing, problem, found, given)
    # a part that has words of both classes becomes two
    was = np.maximum(found.words, 0)
    pairs, parts = np.unique(level.parts[was] * 2 + classes[was], return_inverse=True)
    more = len(pairs) - len(np.unique(pairs // 2))
    return Level(found.problem, given, level.edges[found.edges], pricing, parts.astype(np.int64), level.n_parts + more)


def leaves_close(progress: Progress, level: Level, priced: Relaxed) -> bool:
    """Whether multipliers of leaves and paths close the gap, if few enough are left."""
    if priced.alive.sum() > LEAF_EDGES:
        return False
    kept = useful_edges(level.problem.forest, priced.alive)
    if not kept.size:
        return progress.proved(progress.score)
    try:
        found = relax_trigrams(
            restricted_to(level.problem, kept), incumbent=Candidate(None, progress.score), max_leaves=LEAVES, max_iterations=LEAF_ITERATIONS
        )
    except (InputError, OverlappingTails):  # too many leaves, or a vertex twice in a derivation
        return False
    if found.best is not None and found.best.structure is not None:
        progress.found(tuple(level.edges[kept[list(found.best.structure)]].tolist()))
    return progress.proved(found.bound)


def searched(progress: Progress, level: Level, priced: Relaxed, max_pieces: int) -> bool:
    """Whether a search of what is left, split so far, above the best derivation ended in time and among so many pieces."""
    left = progress.left()
    if left is not None and left <= 0.0:
        return False
    found = search(level.problem, level.given, priced, threshold=progress.score, limit=max_pieces, seconds=left)
    if not found.complete:
        return False
    if found.best is not None:
        progress.found(tuple(level.edges[list(found.best)].tolist()))
    return progress.proved(progress.score)
