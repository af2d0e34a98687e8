"""The best of all trees under a third-order model whose larger parts only cost (`cascade.exact`): most arcs are never looked at again.

No tree scores more than its arcs, so first-order max-marginals bound every tree with an arc (Rush 2014, section 8.4.1, but proved):

1. The core: arcs of trees whose arcs alone score no less than the best ones do, but for a margin. All parts of the core are
   scored, and its best tree is the candidate. If no arc outside has a max-marginal of the candidate's score, it is the best tree.
2. If one has, trees that leave the core are bounded by `oracles.trees.core_bounds`, with parts whose arcs are in the core as they are and
   all others at 0. What good trees pay for larger parts is then in their bounds, too: few arcs are left, often none.
3. Those with the highest bounds come into the core, what cannot reach the candidate leaves it, and so on from 1.

Each step leaves all arcs of all trees that score as much as the candidate: the tree is the one that the full parser finds, ties included.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zerogap.dependency.candidate_arcs import laid_out
from zerogap.dependency.scoring.parts import ACROSS, RIGHT, crosses, score_arcs, score_candidates, sum_weights
from zerogap.dependency.scoring.tree_features import choice_keys
from zerogap.features.parts.keys import ENCODED, PLAN, encoded_by
from zerogap.features.parts.model import MODEL
from zerogap.features.parts.weights import TABLE, Table
from zerogap.kernels import boolean, float64, inner, int64, kernel, readonly, record, writable
from zerogap.oracles.push import push_max
from zerogap.oracles.trees.core_bounds import Core, CoreScores, core_max_marginals
from zerogap.oracles.trees.grandsiblings import grandsibling_kernel
from zerogap.oracles.trees.projective_marginals import inside_outside
from zerogap.oracles.trees.semifield import add, larger, subtract

MARGIN, STEP = 1.0, 1.0  # in wrong arcs of MIRA: chosen on development data


@inner
def lay_out_core(left, core):
    """A `Core`; n_core (n + 1,) and likely (n + 1, n + 1), the heads of h in the core, each of which is a context of its own.

    After them come a context for all others on the left of h, and one for those on its right, if there are any.
    """
    n = left.shape[0] - 1
    contexts, start, n_core = np.empty(n + 1, dtype=np.int64), np.empty(n + 2, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    likely, context = np.empty((n + 1, n + 1), dtype=np.int64), np.empty((n + 1, n + 1), dtype=np.int64)
    in_core, modifiers = np.empty((n + 1, n + 1), dtype=np.int64), np.empty((n + 1) * (n + 1), dtype=np.int64)
    places = np.empty((3, 2 * n + 3), dtype=np.int64)
    modifier_start, between_start, pair_start = places[0], places[1], places[2]
    contexts[0], n_core[0], start[0], start[1] = 1, 0, 0, 1
    for g in range(n + 1):
        for h in range(n + 1):
            context[g, h] = in_core[g, h] = -1
    for h in range(1, n + 1):
        size, others = 0, np.zeros(2, dtype=np.int64)
        for g in range(n + 1):
            if core[g, h]:
                likely[h, size], context[g, h] = g, size
                size += 1
            elif left[g, h]:
                others[1 if g > h else 0] = 1
        n_core[h] = size
        for g in range(n + 1):
            if left[g, h] and not core[g, h]:
                context[g, h] = size + (others[0] if g > h else 0)
        contexts[h] = size + others[0] + others[1]
        start[h + 1] = start[h] + contexts[h]
    at, between, pairs = 0, 0, 0
    for place in range(2 * n + 2):
        h, side = place >> 1, place & 1
        modifier_start[place], between_start[place], pair_start[place] = at, between, pairs
        step = 1 if side == RIGHT else -1
        m, first = h + step, at
        while 1 <= m <= n:
            if core[h, m]:
                modifiers[at], in_core[h, m] = m, at - first
                at += 1
            m += step
        between += (at - first) ** 2
        pairs += contexts[h] * (at - first) ** 2
    modifier_start[2 * n + 2], between_start[2 * n + 2], pair_start[2 * n + 2] = at, between, pairs
    return Core(contexts, start, context, in_core, modifier_start, modifiers, between_start, pair_start), n_core, likely


@inner
def score_core(encoded, plan, table, arcs, core):
    """All parts of the arcs of the core, as the grand-sibling kernel reads them: the layout, scores, stops."""
    n = arcs.shape[0] - 1
    of_core = np.empty((n + 1, n + 1))
    for h in range(n + 1):
        for m in range(n + 1):
            of_core[h, m] = arcs[h, m] if core[h, m] else -np.inf
    candidates = laid_out(core, 1)
    scores, stops = np.empty(candidates.score_start[-1]), np.empty(candidates.stop_start[-1])
    score_candidates(encoded, plan, table, of_core, candidates, 0, scores, stops)
    return candidates, scores, stops


@inner
def bound_arcs(arcs, left, core, candidates, known, stops, single_root, least, marginals):
    """What no tree of the arcs that are left scores more than. `known` are the scores of parts of the core, `stops` those of its ends.

    Parts that the core itself cannot have, as a word has no other head there, are not known. out: marginals (n + 1, n + 1), of every arc,
    less if below `least`.
    """
    known_start, stop_start = candidates.score_start, candidates.stop_start
    n = arcs.shape[0] - 1
    layout, n_core, likely = lay_out_core(left, core)
    contexts, start, _, _, modifier_start, modifiers, _, pair_start = layout
    first, later, pairs = np.empty((start[n + 1], n + 1)), np.empty((start[n + 1], n + 1)), np.empty(pair_start[2 * n + 2])
    ends, none = np.zeros((n + 1, n + 1)), np.empty((n + 1, 2))
    for h in range(n + 1):
        for k in range(contexts[h]):
            r, is_likely = start[h] + k, h == 0 or k < n_core[h]
            for m in range(n + 1):
                crossing = h > 0 and is_likely and crosses(likely[h, k], h, m)
                first[r, m] = later[r, m] = arcs[h, m] if left[h, m] and not crossing else -np.inf
            for place in range(2 * h, 2 * h + 2):
                begin, size = modifier_start[place], modifier_start[place + 1] - modifier_start[place]
                for j in range(size):
                    m = modifiers[begin + j]
                    most, row = first[r, m], known_start[place] + k * (size + 1) * size + j
                    for i in range(-1, j):  # -1: m is the first
                        score = known[row + (i + 1) * size] if is_likely else -np.inf
                        score = score if score > -np.inf else most
                        if i < 0:
                            first[r, m] = score
                        else:
                            pairs[pair_start[place] + (k * size + j) * size + i] = score
        for side in range(2):
            place = 2 * h + side
            none[h, side] = stops[stop_start[place]]
            for j in range(modifier_start[place + 1] - modifier_start[place]):
                ends[h, modifiers[modifier_start[place] + j]] = stops[stop_start[place] + j + 1]
    scores = CoreScores(first, later, pairs, ends, none)
    return core_max_marginals(layout, scores, single_root, least, marginals)


@inner
def is_beyond(left, core, marginals, score):
    """Whether trees that score as much may have arcs outside the core. out: left, without arcs that none of them has."""
    found = False
    for h in range(left.shape[0]):
        for m in range(left.shape[0]):
            left[h, m] &= marginals[h, m] >= score
            found |= left[h, m] and not core[h, m]
    return found


class CoreSearch(NamedTuple):
    """Weights of arcs and of larger parts, each in a table that is smaller than one of both, and how the core begins and grows."""

    arcs: Table
    larger: Table
    single_root: int
    margin: float
    step: float


CORE_SEARCH = record(CoreSearch, TABLE, TABLE, int64, float64, float64)


@kernel(float64(ENCODED, PLAN, CORE_SEARCH, writable(int64, 1), writable(boolean, 2), writable(float64, 2)))
def best_under_penalties(encoded, plan, search, heads, left, marginals):
    """The score of the best tree.

    The core begins with a `margin`, and grows by arcs of trees whose bounds are at most a `step` below the highest one: there is always
    one, since what is in the core already is no more than the candidate. out: heads; left (n + 1, n + 1), arcs of all trees that score
    as much; marginals (n + 1, n + 1), bounds on trees with each arc, less if those are below the candidate's score.
    """
    single_root = search.single_root
    n = heads.size
    allowed, arcs = np.ones((n + 1, n + 1), dtype=np.bool_), np.empty((n + 1, n + 1))
    for h in range(n + 1):
        allowed[h, h] = allowed[h, 0] = False
    score_arcs(encoded, plan, search.arcs, allowed, arcs)
    best = inside_outside(arcs, single_root, push_max, larger, add, subtract, -np.inf, 0.0, marginals)
    core = np.empty((n + 1, n + 1), dtype=np.bool_)
    for h in range(n + 1):
        for m in range(n + 1):
            left[h, m] = marginals[h, m] > -np.inf
            core[h, m] = left[h, m] and marginals[h, m] >= -search.margin
            marginals[h, m] += best
    while True:
        c, scores, stops = score_core(encoded, plan, search.larger, arcs, core)
        score = grandsibling_kernel(
            c.contexts, c.modifier_start, c.modifiers, c.context, c.score_start, scores, c.stop_start, stops, single_root, heads
        )
        if not is_beyond(left, core, marginals, score):
            return score
        best = bound_arcs(arcs, left, core, c, scores, stops, single_root, score, marginals)
        if not is_beyond(left, core, marginals, score):
            return score
        for h in range(n + 1):
            for m in range(n + 1):
                core[h, m] = left[h, m] and (core[h, m] or marginals[h, m] >= best - search.step)


@kernel(
    int64(
        readonly(int64, 2), readonly(int64, 1), MODEL, CORE_SEARCH, writable(int64, 1), writable(float64, 1), writable(float64, 1)
    )
)  # fmt: skip
def parse_under_penalties(hashes, starts, model, search, heads, scores, bounds):
    """Many sentences at once: the hashes of their tokens stand one after the other (see `features.parts.keys`), and so do their heads.

    out: heads; by sentence, the scores of trees, by their definition, and bounds.
    """
    plan = model.plan
    at = 0
    for i in range(starts.size - 1):
        of_tokens = hashes[starts[i] : starts[i + 1]]
        encoded = encoded_by(model.reading, plan, of_tokens)
        n = encoded.partial.shape[1] - 2
        left, marginals = np.empty((n + 1, n + 1), dtype=np.bool_), np.empty((n + 1, n + 1))
        here = heads[at : at + n]
        bounds[i] = best_under_penalties(encoded, plan, search, here, left, marginals)
        for h in range(n + 1):
            for m in range(n + 1):
                left[h, m] = m > 0 and here[m - 1] == h  # the tree
        n_across = plan.kind_start[ACROSS + 1] - plan.kind_start[ACROSS]
        keys = np.empty(plan.low_bytes.size * (3 * n + 2) + n * n * n_across, dtype=np.int64)
        size = choice_keys(encoded, plan, left, here, keys)
        scores[i] = sum_weights(keys[:size], model.table)
        at += n
    return 0
