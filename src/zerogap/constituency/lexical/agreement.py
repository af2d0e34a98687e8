"""A lexicalised parser with a second-order dependency parser, a tagger or both, by dual decomposition (Rush 2014, 4.2.2, algorithm 7).

Each model chooses its own heads or tags; the equations y(h, m) = z(h, m) and y(i, t) = w(i, t) tie them to the parse, with a price each.
Every parse of the lexicalised part is a structure of the whole, so that there is always a candidate. Departures: prices lie on the
grid; steps are half as long again as Polyak's unless others are asked for; `auto` goes on with branch and bound on heads and tags where a
gap is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.constituency.lexical.decoding import structure_of
from zerogap.constituency.lexical.priced_search import PricedSearch
from zerogap.errors import Infeasible, UnknownMethod, check_problem
from zerogap.grid import Scores
from zerogap.oracles.labels.trigram_prices import Candidates, best_tags, trigram_table
from zerogap.oracles.labels.trigram_tags import pair_starts
from zerogap.oracles.trees.siblings import sibling_kernel
from zerogap.problems.constituency.lexical import Structure
from zerogap.problems.constituency.lexical_agreement import LexicalAgreement
from zerogap.proof.solution import Solution
from zerogap.relax.candidate import Candidate
from zerogap.relax.descent import Fixed, close_gap, limits_of
from zerogap.relax.lagrangian import Answer, Oracle, Relaxed, State, minimise_dual
from zerogap.relax.multipliers import PATIENCE, LagrangianRelaxation, Relax
from zerogap.structures.linear import agreement

METHODS = ("auto", "dual-decomposition")
SCALE = 1.5  # of Polyak's steps, which converge below 2: of 1.25, 1.5 and 1.8, the best on development data


def decode_agreement(
    problem: LexicalAgreement,
    *,
    method: str = "auto",
    max_iterations: int = 50,
    max_nodes: int | None = None,
    time_limit: float | None = None,
    step: str = "polyak",
    scale: float | None = None,
) -> Solution[Structure]:
    """The best parse under all models with a certificate; Infeasible if there is none.

    Methods: `auto`, `dual-decomposition` (algorithm 7; may leave a gap).
    """
    check_problem(problem, LexicalAgreement)
    if method not in METHODS:
        raise UnknownMethod("method", method, METHODS)
    parts = AgreementParts(problem)
    max_nodes = max_nodes if method == "auto" else 1
    multipliers = LagrangianRelaxation(
        parts.relaxation(step=step, scale=scale), partial(choose_split, problem), max_iterations=max_iterations,
        patience=None if max_nodes == 1 else PATIENCE,
    )  # fmt: skip
    closed = close_gap(multipliers, limits_of(time_limit, max_nodes))
    if closed.is_infeasible:
        raise Infeasible("no parse of the sentence has heads and tags that all models allow.", ("lexical", "dependency", "tagger"))
    return closed.solution()


class AgreementParts:
    """The models of a problem as oracles. What a parse was worth before is a bound for the search at other prices."""

    def __init__(self, problem: LexicalAgreement) -> None:
        self.problem = problem
        self.size = problem.n_words + 1
        self.search = PricedSearch(problem.lexical)
        self.seen: dict[tuple[Any, ...], Answer] = {}
        tagging, positions = problem.tagging, problem.lexical.positions
        if tagging is not None:
            first = np.searchsorted(positions, np.arange(self.size)).astype(np.int64)
            self.candidates = Candidates(first, pair_starts(first), tagging.tag_of, np.arange(len(positions), dtype=np.int64))
            self.trigram = trigram_table(tagging.transitions)

    def parse(self, weights: Scores) -> Answer | None:
        """The best parse with heads when arcs, and candidates if there is a tagger, score `weights` more."""
        lexical, n_arcs = self.problem.lexical, self.size**2
        known = max((answer.rest + float(weights[answer.parts].sum()) for answer in self.seen.values()), default=-np.inf)
        tags = weights[n_arcs:] if self.problem.tagging is not None else None
        found = self.search.best(weights[:n_arcs].reshape(self.size, self.size), tags, known)
        if found is None:
            return None
        structure = structure_of(lexical, found)
        if structure not in self.seen:
            derived = lexical.derive(structure)
            parts = arcs_of(derived.heads, self.size)
            if tags is not None:
                parts = np.concatenate([parts, n_arcs + np.array(derived.candidates, dtype=np.int64)])
            self.seen[structure] = Answer((structure, derived.heads, derived.candidates), parts, derived.score)
        return self.seen[structure]

    def tree(self, weights: Scores) -> Answer | None:
        """The best dependency tree when arcs score `weights`."""
        problem, chosen = self.problem, np.empty(self.size - 1, dtype=np.int64)
        if sibling_kernel(weights.reshape(self.size, self.size), problem.siblings, problem.stops, 1, chosen) == -np.inf:
            return None
        heads = tuple(chosen.tolist())
        parts = arcs_of(heads, self.size)
        return Answer(heads, parts, problem.tree_score(heads) - float(problem.arcs.reshape(-1)[parts].sum()))

    def tag(self, weights: Scores) -> Answer | None:
        """The best tags when candidates score `weights`."""
        some, tagging = self.candidates, self.problem.tagging
        assert tagging is not None
        assert self.trigram is not None
        path = np.empty(self.size - 1, dtype=np.int64)
        if best_tags(some.first, some.pair, some.tags, weights, self.trigram, np.empty(some.pair[-1]), path) == -np.inf:
            return None
        chosen = tuple(path.tolist())
        return Answer(chosen, path, tagging.score(chosen) - float(tagging.emissions[path].sum()))

    def relaxation(self, *, step: str, scale: float | None) -> Relax:
        """The dual, with the heads and tags forbidden that the decisions of a node exclude."""
        problem, n_arcs, n_parts = self.problem, self.size**2, self.problem.n_parts
        own = np.arange(n_parts)
        rows = agreement(2 * n_parts, np.stack([own, n_parts + own], axis=1))
        scores = np.concatenate([problem.arcs.reshape(-1), [] if problem.tagging is None else problem.tagging.emissions])

        def repair(state: State) -> Candidate | None:
            structure, heads, candidates = state.structures[0]
            score = self.seen[structure].rest + problem.tree_score(heads) + problem.tag_score(candidates)
            return Candidate(structure, score) if score > -np.inf else None

        def relax(fixed: Fixed, *, multipliers: Scores | None, **search: Any) -> Relaxed:
            allowed = allowed_parts(problem, fixed)
            limited = np.where(allowed, scores, -np.inf)
            oracles = [Oracle(np.where(allowed, 0.0, -np.inf), self.parse), Oracle(limited[:n_arcs], self.tree)]
            oracles += [] if problem.tagging is None else [Oracle(limited[n_arcs:], self.tag)]
            return minimise_dual(
                oracles, rows, multipliers=multipliers, resolution=problem.resolution, terms=problem.terms, repair=repair,
                step=step, scale=SCALE if scale is None and step == "polyak" else scale, **search,
            )  # fmt: skip

        return relax


def allowed_parts(problem: LexicalAgreement, fixed: Fixed) -> NDArray[np.bool_]:
    """The arcs and candidates that the decisions of a node leave."""
    size, positions = problem.n_words + 1, problem.lexical.positions
    arcs, tags = np.ones((size, size), dtype=np.bool_), np.ones(problem.n_parts - size * size, dtype=np.bool_)
    for part, inside in fixed:
        if part < size * size:
            head, word = divmod(part, size)
            arcs[:, word] &= (np.arange(size) == head) == inside
        else:
            chosen = part - size * size
            tags &= (positions != positions[chosen]) | ((np.arange(len(tags)) == chosen) == inside)
    return np.concatenate([arcs.reshape(-1), tags])


def choose_split(problem: LexicalAgreement, fixed: Fixed, state: State) -> int | None:
    """The first head on which parse and tree differ, as in the parse; if there is none, the first tag."""
    (_, heads, candidates), tree, *tags = state.structures
    size = problem.n_words + 1
    for word, (ours, theirs) in enumerate(zip(heads, tree, strict=True), start=1):
        if ours != theirs:
            return int(ours) * size + word
    for ours, theirs in zip(candidates, tags[0] if tags else candidates, strict=True):
        if ours != theirs:
            return size * size + int(ours)
    return None


def arcs_of(heads: Sequence[int], size: int) -> NDArray[np.int64]:
    """The places of the arcs in a table of heads and words."""
    return np.array(heads, dtype=np.int64) * size + np.arange(1, size)
