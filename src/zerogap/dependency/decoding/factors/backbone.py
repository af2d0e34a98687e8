"""Backbones of parsing with factors: the fastest oracle that scores all parts of a problem but its factors (Qian & Liu 2013, section 3.5).

A maximum arborescence, a dynamic program over projective trees, or else dual decomposition, whose proof is then part of the whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from zerogap.dependency.candidate_arcs import candidates_of, entries, scores_of_candidates
from zerogap.dependency.decoding.methods import GRANDSIBLINGS as OF_GRANDSIBLINGS
from zerogap.dependency.decoding.methods import OUTERMOST as OF_OUTERMOST
from zerogap.dependency.decoding.methods import SIBLINGS as OF_SIBLINGS
from zerogap.dependency.decoding.methods import candidates_are_faster
from zerogap.grid import Flags, Integers, Scores
from zerogap.oracles.factors.shares import ARBORESCENCE, EISNER, OTHER, SIBLING
from zerogap.oracles.trees.grandsiblings import grandsibling_kernel
from zerogap.oracles.trees.nonprojective_marginals import nonprojective_max_marginals
from zerogap.oracles.trees.outermost import outermost_kernel
from zerogap.oracles.trees.projective_marginals import projective_max_marginals
from zerogap.oracles.trees.sibling_marginals import sibling_max_marginals
from zerogap.oracles.trees.siblings import sibling_kernel
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.certificate import Certificate, DynamicProgram, HeadPrices
from zerogap.relax.candidate import Candidate
from zerogap.relax.descent import close_gap, limits_of

CHUNK_WORK = 10**8
MOST_DENSE = 150  # words up to which arrays of all siblings are made, even if few arcs are left


class Oracle(Protocol):
    """A best tree under these weights of arcs and all else that is scored but factors, its value or a bound of it, and the evidence; None
    if there is no tree, or none was found in time."""

    def __call__(self, weights: Scores, time_limit: float | None) -> tuple[Integers | None, float, Certificate]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Backbone:
    """What finds the best tree without factors: the number of one that the kernel calls itself, or OTHER and a function."""

    kind: int
    chunk: int  # calls between two looks at the clock
    best: Oracle | None = None
    siblings: Scores = field(default_factory=lambda: np.zeros((0, 0, 0)))  # what SIBLING reads, and stops
    stops: Scores = field(default_factory=lambda: np.zeros((0, 0)))

    def best_with(self, weights: Scores, *, single_root: bool) -> Scores | None:
        """For every arc the value of a best tree that has it; None if there is no tree. Not for OTHER."""
        found, one = np.empty_like(weights), 1 if single_root else 0
        if self.kind == SIBLING:
            best = sibling_max_marginals(weights, self.siblings, self.stops, one, found)
        else:
            best = (projective_max_marginals if self.kind == EISNER else nonprojective_max_marginals)(weights, one, found)
        return None if best == -np.inf else found


def backbone_of(problem: Problem, allowed: Flags, unit: float) -> Backbone:
    parts = set(problem.larger) - {"factors"}
    if not parts:  # by its work, so that answers do not depend on the clock
        return Backbone(EISNER if problem.projective else ARBORESCENCE, max(1, CHUNK_WORK // problem.n_words**3))
    n = problem.n_words
    if problem.projective and parts <= OF_SIBLINGS and n <= MOST_DENSE:
        siblings = np.zeros((n + 1,) * 3) if problem.siblings is None else problem.siblings.dense(n)
        stops = np.zeros((n + 1,) * 2) if problem.stops is None else problem.stops.dense(n)
        return Backbone(SIBLING, max(1, CHUNK_WORK // n**3), None, siblings, stops)
    if problem.projective and parts <= OF_GRANDSIBLINGS:
        return Backbone(OTHER, 1, dynamic_program(problem, allowed, parts))
    return Backbone(OTHER, 1, agreement_of(problem, unit))


def dynamic_program(problem: Problem, allowed: Flags, parts: set[str]) -> Oracle:
    """Projective trees with larger parts."""
    n, single_root = problem.n_words, 1 if problem.single_root else 0
    heads = np.empty(n, dtype=np.int64)
    find: Callable[[Scores], float]
    if parts <= OF_OUTERMOST and not candidates_are_faster(problem, np.where(allowed, 0.0, -np.inf)):
        cube, table = np.zeros((n + 1,) * 3), np.zeros((n + 1,) * 2)
        siblings, outermost = (cube if given is None else given.dense(n) for given in (problem.siblings, problem.outermost))
        stops = table if problem.stops is None else problem.stops.dense(n)
        if problem.outermost is None:
            find = lambda weights: sibling_kernel(weights, siblings, stops, single_root, heads)  # noqa: E731
        else:
            find = lambda weights: outermost_kernel(weights, siblings, stops, outermost, single_root, heads)  # noqa: E731
    else:
        c = candidates_of(allowed, grand=bool(parts & {"grandparents", "outermost", "grandsiblings"}))
        scores, stops = scores_of_candidates(problem, np.where(allowed, 0.0, -np.inf), c)
        place, entry = entries(c.score_start, 0, 2 * n + 2)
        arc = c.modifier_start[place] + entry % np.diff(c.modifier_start)[place]
        of_heads, of_modifiers = c.heads[arc], c.modifiers[arc]

        def find(weights: Scores) -> float:
            with_arcs = scores + weights[of_heads, of_modifiers]
            value = grandsibling_kernel(
                c.contexts, c.modifier_start, c.modifiers, c.context, c.score_start, with_arcs, c.stop_start, stops, single_root, heads
            )
            return float(value)

    def best(weights: Scores, time_limit: float | None) -> tuple[Integers | None, float, Certificate]:
        value = float(find(weights))
        return None if value == -np.inf else heads, value, DynamicProgram()

    return best


def agreement_of(problem: Problem, unit: float) -> Oracle:
    """Dual decomposition as a backbone: the problem without factors and labels, with other arcs."""
    from zerogap.dependency.decoding.agreement.decoder import HeadRelaxation  # most do without
    from zerogap.dependency.decoding.agreement.head_scores import head_scores
    from zerogap.dependency.decoding.agreement.relaxation import Agreement

    plain: Problem = object.__new__(Problem)
    for name in Problem.__slots__:
        object.__setattr__(plain, name, getattr(problem, name))
    for name, value in (("labels", None), ("label_names", None), ("factors", ())):
        object.__setattr__(plain, name, value)
    words = np.arange(1, problem.n_words + 1)

    def best(weights: Scores, time_limit: float | None) -> tuple[Integers | None, float, Certificate]:
        agreement = Agreement(head_scores(plain, weights), unit)

        def candidate(heads: Integers) -> Candidate:
            change = weights[heads, words].sum() - plain.arcs[heads, words].sum()
            return Candidate(heads.copy(), plain.score(plain.tree(heads)) + float(change))

        begin = time.perf_counter()
        heads = HeadRelaxation(agreement, candidate, agreement.first_prices(weights), begin)
        closed = close_gap(heads, limits_of(time_limit, begin=begin))
        if closed.best is None:
            plainly = isinstance(closed.certificate, HeadPrices)  # there is no tree at any prices
            return None, closed.bound, agreement.evidence(agreement.first_prices(weights)) if plainly else closed.certificate
        return closed.best.structure, closed.bound, closed.certificate

    return best
