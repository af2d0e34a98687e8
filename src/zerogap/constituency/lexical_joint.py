"""A lexicalised parser and a second-order dependency parser together by dual decomposition (Rush 2014, section 4.2.2, algorithm 7).

Both choose their own heads; the equations y(h, m) = z(h, m) tie them, with a price each. Every parse of the lexicalised half is a
structure of the whole, so that there is always a candidate. Departures: prices lie on the grid, steps are Polyak's unless others are asked
for, and a gap that is left is stated, not hidden.
"""

from __future__ import annotations

import numpy as np

from zerogap.constituency.lexical_agreement import LexicalAgreement
from zerogap.constituency.lexical_decoders import head_scores, search, structure_of
from zerogap.constituency.lexical_problem import Structure
from zerogap.errors import Infeasible, check_problem
from zerogap.grid import Scores
from zerogap.oracles.siblings import sibling_kernel
from zerogap.proof.certificate import Multipliers
from zerogap.proof.solution import Solution
from zerogap.relax.lagrangian import Answer, Candidate, Oracle, State, minimise_dual
from zerogap.structures.linear import agreement


def decode_agreement(
    problem: LexicalAgreement,
    *,
    max_iterations: int = 50,
    time_limit: float | None = None,
    step: str = "polyak",
    scale: float | None = None,
) -> Solution[Structure]:  # fmt: skip
    """The best parse under both models, or the best one found with a bound; Infeasible if one half allows nothing."""
    check_problem(problem, LexicalAgreement)
    size = problem.n_words + 1

    def parse(weights: Scores) -> Answer | None:
        prices = weights.reshape(size, size)
        try:
            found = search(problem.lexical.grammar, head_scores(problem.lexical, prices)).parse
        except Infeasible:
            return None
        structure = structure_of(problem.lexical, found)
        score, heads = problem.lexical.derive(structure)
        return Answer((structure, heads), arcs_of(heads, size), score)

    def tree(weights: Scores) -> Answer | None:
        arcs = weights.reshape(size, size)
        chosen = np.empty(size - 1, dtype=np.int64)
        if sibling_kernel(arcs, problem.siblings, problem.stops, 1, chosen) == -np.inf:
            return None
        heads = tuple(chosen.tolist())
        parts = arcs_of(heads, size)
        return Answer(heads, parts, problem.tree_score(heads) - float(problem.arcs.reshape(-1)[parts].sum()))

    def repair(state: State) -> Candidate | None:
        structure, heads = state.structures[0]
        score = problem.lexical.score(structure) + problem.tree_score(heads)
        return Candidate(structure, score) if score > -np.inf else None

    rows = agreement(2 * size * size, np.stack([np.arange(size * size), size * size + np.arange(size * size)], axis=1))
    relaxed = minimise_dual(
        [Oracle(np.zeros(size * size), parse), Oracle(problem.arcs.reshape(-1), tree)], rows, resolution=problem.resolution,
        terms=problem.terms, repair=repair, step=step, scale=scale, max_iterations=max_iterations, time_limit=time_limit,
    )  # fmt: skip
    if relaxed.bound == -np.inf:
        raise Infeasible("one of the two parsers has no parse of the sentence.", ("lexical", "dependency"))
    best = relaxed.best
    return Solution(
        best.structure if best is not None else None, best.score if best is not None else -np.inf, relaxed.bound,
        Multipliers(tuple(relaxed.multipliers.tolist())), relaxed.trace,
    )  # fmt: skip


def arcs_of(heads: tuple[int, ...], size: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The places of the arcs in a table of heads and words."""
    return np.array(heads, dtype=np.int64) * size + np.arange(1, size)
