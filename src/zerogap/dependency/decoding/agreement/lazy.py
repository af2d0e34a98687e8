"""Dual decomposition that scores few of the largest parts: column generation inside algorithm 9 of Rush 2014.

Grand-siblings are most of what a model has to score. At first each has a bound (`score_bounds`; Riedel et al. 2012, section 4.3) in place
of its score: tree and heads make the bounds agree, and what they find bounds all trees. Then parts are priced: with a part, a
head loses so much of the dual. Those that lose little are scored, and prices are sought again from where they were, until all that lose
little are known. From then on, the parts of every tree that is found are scored, and if that made it worse, prices are sought again: so
`agreed` goes on as ever, and ends with a tree whose parts are all scored, at a bound that holds whatever the others score.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zerogap.dependency.candidate_arcs import CANDIDATES
from zerogap.dependency.decoding.agreement.decoder import HeadRelaxation
from zerogap.dependency.decoding.agreement.head_scores import HeadScores
from zerogap.dependency.decoding.agreement.relaxation import Agreement, Run
from zerogap.dependency.scoring.bounds import Looks
from zerogap.dependency.scoring.bounds_offline import missing_codes
from zerogap.dependency.scoring.heads import heads_under
from zerogap.dependency.scoring.parts import GRAND, GRANDSIBLING, HEAD, MOD, SIB, turn
from zerogap.dependency.scoring.single_parts import SentenceParts
from zerogap.features.parts.bounds import WeightBounds, weights_table
from zerogap.features.parts.keys import ENCODED, PLAN, Encoded
from zerogap.features.parts.model import PartModel
from zerogap.features.parts.templates import DIRECTION
from zerogap.features.parts.weight_table import CLEAR
from zerogap.features.parts.weights import TABLE, table_shift, weights_of
from zerogap.grid import Integers, Scores
from zerogap.kernels import boolean, float64, int64, kernel, readonly, writable
from zerogap.oracles.heads.reduced_costs import joint_slacks
from zerogap.problems.dependency.parts import parts_of_tree
from zerogap.proof.solution import Trace
from zerogap.relax.candidate import Candidate, better
from zerogap.relax.descent import Closed, close_gap, limits_of
from zerogap.relax.steps import HEADS_AT_ROOT

if TYPE_CHECKING:
    from zerogap.dependency.scoring.sentence import Allowed

SHARE = 0.08  # of the gap: parts that lose less are scored
LATER_SHARE = 0.3  # later, when trees are found whose parts were not known
FIRST_STEPS, MORE_STEPS = 40, 60  # with bounds, and after some of them gave way to scores


@kernel(
    int64(
        ENCODED, PLAN, TABLE, readonly(float64, 2), CANDIDATES, *[readonly(float64, 2)] * 2, readonly(float64, 1), float64,
        writable(float64, 1), writable(boolean, 1),
    )
)  # fmt: skip
def fill_joints(encoded, plan, table, arcs, candidates, over_pairs, over_contexts, slacks, most, joints, known):
    """Bounds of all grand-siblings if there are no slacks, else scores of those that lose less than `most`; returns how many.

    out: joints, known (as joints): whether a part is scored.
    """
    partial = encoded.partial
    kind_start, _, _, templates, codes = plan
    modifier_start, modifiers, joint_start = candidates.modifier_start, candidates.modifiers, candidates.score_start
    n = arcs.shape[0] - 1
    shift = table_shift(table)
    keys = np.empty(partial.shape[2], dtype=np.int64)
    count = 0
    for h in range(1, n + 1):
        of_head = partial[HEAD, h]
        for place in (2 * h, 2 * h + 1):
            first = modifier_start[place]
            size = modifier_start[place + 1] - first
            at = joint_start[place]
            for g in range(n + 1):
                if arcs[g, h] == -np.inf:
                    continue
                of_grand = partial[GRAND, g]
                for p in range(size + 1):
                    for j in range(p, size):
                        m = modifiers[first + j]
                        if slacks.shape[0] == 0:
                            joints[at + p * size + j] = min(over_pairs[g, h], over_contexts[h, m])
                            count += 1
                        elif not known[at + p * size + j] and slacks[at + p * size + j] < most:
                            of_sib, of_mod = partial[SIB, n + 1 if p == 0 else modifiers[first + p - 1]], partial[MOD, m]
                            code = codes[DIRECTION, turn(g, h, m)]
                            found = 0
                            for t in range(kind_start[GRANDSIBLING], kind_start[GRANDSIBLING + 1]):
                                keys[found] = ((of_grand[t] + of_head[t] + of_sib[t] + of_mod[t] + code) & CLEAR) | templates[t]
                                found += 1
                            joints[at + p * size + j] = weights_of(keys, found, table, shift)
                            known[at + p * size + j] = True
                            count += 1
                at += (size + 1) * size
    return count


@dataclass(slots=True, eq=False)
class LazyHeads:
    """The scores of a sentence by head, of which grand-siblings have bounds until they are asked for."""

    model: PartModel
    encoded: Encoded
    arcs: Scores
    heads: HeadScores  # `joint` changes
    parts: SentenceParts
    bounds: tuple[Scores, Scores]  # over_pairs and over_contexts of `GrandsiblingBounds`
    known: NDArray[np.bool_]
    position: Integers  # (n + 1, n + 1): numbers of arcs
    n_parts: int = 0
    n_scored: int = 0

    def fill(self, slacks: Scores, most: float) -> int:
        return int(
            fill_joints(
                self.encoded, self.model.features.plan, self.model.table, self.arcs, self.heads.candidates, *self.bounds, slacks, most,
                self.heads.joint, self.known,
            )
        )  # fmt: skip

    def score(self, slacks: Scores, most: float) -> int:
        """Scores the parts that lose less than `most`, and says how many."""
        count = self.fill(slacks, most)
        self.n_scored += count
        return count

    def score_tree(self, heads: Integers) -> int:
        """Scores the parts of a tree, and says how many were not known."""
        ((_, found),) = parts_of_tree(heads.tolist(), ["grandsiblings"])
        if not found:
            return 0
        g, h, s, m = np.array(found, dtype=np.int64).T
        arc = self.position[h, m]
        c, place = self.heads.candidates, 2 * h + (m > h)
        first = c.modifier_start[place]
        size = c.modifier_start[place + 1] - first
        row = np.where(s == h, 0, self.position[h, s] - first + 1)
        entry = c.score_start[place] + (c.context[self.position[g, h]] * (size + 1) + row) * size + arc - first
        new = np.flatnonzero(~self.known[entry])
        if new.size:
            self.heads.joint[entry[new]] = self.parts.scores("grandsiblings", g[new], h[new], s[new], m[new])
            self.known[entry[new]] = True
            self.n_scored += len(new)
        return len(new)

    def complete(self) -> HeadScores:
        """All scores."""
        self.score(np.zeros(len(self.heads.joint)), math.inf)
        return self.heads


def lazy_heads(model: PartModel, bounds: WeightBounds, encoded: Encoded, arcs: Scores, allowed: Allowed, *, single_root: bool) -> LazyHeads:
    """`arcs` are the scores of the allowed arcs, -inf elsewhere."""
    features = model.features
    heads = heads_under(features, model, encoded, arcs, allowed, grand=True, single_root=single_root, joint=False)
    parts = SentenceParts(features, weights_table(model), model.unit, encoded[0], allowed, arcs, np.zeros((len(arcs), 2)))
    squares = Looks(parts, bounds.part_table(), missing_codes(features)).grandsiblings(False)
    c = heads.candidates
    position = np.full(arcs.shape, -1)
    position[c.heads, c.modifiers] = np.arange(len(c.modifiers))
    known = np.zeros(len(heads.joint), dtype=np.bool_)
    lazy = LazyHeads(model, encoded, arcs, heads, parts, (squares.over_pairs, squares.over_contexts), known, position)
    lazy.n_parts = lazy.fill(np.zeros(0), 0.0)
    return lazy


def agreed_lazily(
    lazy: LazyHeads, unit: float, scored: Callable[[Integers], Candidate], *, begin: float, time_limit: float | None = None
) -> Closed:
    """Closes the gap for the scores that `lazy` has after more and more of them were asked for. Prices are multiples of `unit`."""
    limits = limits_of(time_limit, begin=begin)
    best: Candidate | None = None

    def candidate(heads: Integers) -> Candidate:
        nonlocal best
        found = scored(heads)
        best = better(best, found)
        return found

    def price(run: Run, share: float) -> int:
        """Scores the parts that lose little at the prices of a run, beside its gap, and says how many."""
        slacks = np.full(len(lazy.known), math.inf)
        joint_slacks(lazy.heads.automata, run.prices, slacks)
        return lazy.score(slacks, share * (run.bound - (-math.inf if best is None else best.score)))

    def score_more(run: Run) -> bool:
        """Steps go on until the parts of the best tree that they found are scored."""
        if run.heads is None or not lazy.score_tree(run.heads):
            return False
        price(run, LATER_SHARE)
        return True

    agreement = Agreement(lazy.heads, unit, score_more=score_more)
    prices, steps = agreement.first_prices(lazy.arcs), HEADS_AT_ROOT._replace(most=FIRST_STEPS)
    trace, bound, now = Trace(), math.inf, begin
    while True:
        run = agreement.descend(agreement.state(()), prices, -math.inf, steps, limits.deadline)
        if run.heads is not None:
            candidate(run.heads)
        found = run.trace(now, bound)
        score = -math.inf if best is None else best.score
        trace = trace.then(replace(found, scores=(score,) * len(found)))  # its scores are of bounds
        bound, now = min(bound, run.bound), time.perf_counter()
        if best is not None and best.score >= run.bound:
            return Closed(best, best.score, agreement.evidence(run.prices), trace, 1)
        prices, steps = run.prices.copy(), steps._replace(most=MORE_STEPS)
        if best is None or limits.is_over or not price(run, SHARE):
            break
    closed = close_gap(HeadRelaxation(agreement, candidate, prices, now), limits, incumbent=best)
    return replace(closed, trace=trace.then(closed.trace))
