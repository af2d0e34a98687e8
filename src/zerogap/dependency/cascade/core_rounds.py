"""Rounds of bounds around a growing core, until few arcs are left of which a tree could be made that scores as much as a candidate.

In every round all trees are bounded (see `core_bounds`), and arcs whose trees cannot reach the candidate are dropped for good. While many
are left, those of the trees with the highest bounds are added to the core: where bounds mislead, parts are scored next time.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.dependency.cascade.core import BOUNDS, add_grandsiblings, bound_modifiers, bound_pairs, lay_out_core, score_stops
from zerogap.dependency.cascade.triple_scores import fill_triples
from zerogap.dependency.cascade.value_classes import find_classes
from zerogap.dependency.scoring.parts import ACROSS, GRANDPARENT, SENTENCE, SIBLING, TABLE, sum_weights
from zerogap.dependency.scoring.tree_features import choice_keys
from zerogap.kernels import boolean, float64, inner, int64, kernel, readonly, types, uint32, writable
from zerogap.oracles.trees.core_bounds import core_max_marginals

OF_KIND = types.Tuple((readonly(int64, 1), readonly(uint32, 1)))  # type: ignore[no-untyped-call]  # cells and jumps of a packed table


@inner
def bound_arcs(
    partial, kind_start, templates, codes, cells, numbers, jumps, arcs, left, core, siblings, grandparents, over, ends, none,
    single_root, least, marginals,
):  # fmt: skip
    """What no tree of the arcs that are left scores more than. out: marginals (n + 1, n + 1), of every arc, less if below `least`."""
    n = arcs.shape[0] - 1
    contexts, start, context, in_core, core_start, core_modifiers, pair_start, score_start, n_core, likely = lay_out_core(left, core)
    first, later = np.empty((start[n + 1], n + 1)), np.empty((start[n + 1], n + 1))
    pairs = np.empty(score_start[2 * n + 2])
    bound_modifiers(
        arcs, left, core, siblings, grandparents, over, contexts, start, n_core, likely, core_start, core_modifiers,
        score_start, first, later, pairs,
    )  # fmt: skip
    add_grandsiblings(
        partial, kind_start, templates, codes, cells, numbers, jumps, contexts, start, n_core, likely, core_start, core_modifiers,
        score_start, first, pairs,
    )  # fmt: skip
    return core_max_marginals(
        contexts, start, context, in_core, core_start, core_modifiers, pair_start, score_start, first, later, pairs, ends, none,
        single_root, least, marginals,
    )  # fmt: skip


@inner
def is_projective_tree(heads, single_root):
    """Whether all words come down from the root, and no arcs cross."""
    n, roots = heads.size, 0
    for m in range(1, n + 1):
        h, steps = heads[m - 1], 0
        roots += h == 0
        for between in range(min(h, m) + 1, max(h, m)):
            if not min(h, m) <= heads[between - 1] <= max(h, m):
                return False
        while h > 0 and steps <= n:
            h, steps = heads[h - 1], steps + 1
        if steps > n:
            return False
    return roots == 1 or not single_root


@inner
def score_of_bounds(
    partial, kind_start, relation, run_end, templates, codes, totals, cells, numbers, jumps, marginals, single_root, heads, chosen, keys
):
    """The score of the tree with the highest bound, -inf if it cannot be told. out: heads, chosen, keys (all scratch)."""
    n = heads.size
    chosen[:, :] = False
    for m in range(1, n + 1):
        best = 0
        for h in range(1, n + 1):
            if marginals[h, m] > marginals[best, m]:
                best = h
        heads[m - 1] = best
        chosen[best, m] = True
    if not is_projective_tree(heads, single_root):
        return -np.inf
    size = choice_keys(partial, kind_start, relation, run_end, templates, codes, totals, chosen, heads, keys)
    return sum_weights(keys[:size], cells, numbers, jumps)


@kernel(
    float64(
        readonly(int64, 2), *SENTENCE, readonly(int64, 2), *TABLE, *[OF_KIND] * 5, readonly(int64, 1), readonly(int64, 2),
        readonly(int64, 2), readonly(int64, 1), readonly(int64, 2), readonly(float64, 2), int64, float64, int64, float64, int64,
        writable(boolean, 2), writable(boolean, 2), writable(float64, 2),
    )
)  # fmt: skip
def drop_arcs(
    hashes, partial, kind_start, relation, run_end, templates, codes, totals, cells, numbers, jumps, of_siblings, of_grand,
    over_siblings, over_grand, over_both, floors, missing, of_role, reading_start, reading_terms,
    arcs, single_root, score, few, step, rounds, core, left, marginals,
):  # fmt: skip
    """What no tree scores more than.

    Of siblings and grandparents there are tables of their own, and of bounds of siblings, grandparents and grand-siblings: what one kind of
    parts needs is small enough for the processor's cache. `score` is that of a tree, or -inf; the trees with the highest bounds are
    candidates too. There are no more than so many `rounds`; they end when no more than `few` arcs are left, or when the bound
    is reached. out: core, with arcs of trees whose bounds are at most `step` below the highest one; left, given as the arcs that there are:
    all arcs of trees that score as much as the best of these; marginals of the last round.
    """
    n = arcs.shape[0] - 1
    n_readings = reading_start.size - 1
    classes, members = np.empty((n_readings, n + 2), dtype=np.int64), np.empty((n_readings, n + 2), dtype=np.int64)
    counts = np.empty((n_readings, 2), dtype=np.int64)
    find_classes(hashes, reading_start, reading_terms, classes, members, counts)
    siblings, grandparents = np.empty((n + 1, n + 1, n + 1)), np.empty((n + 1, n + 1, n + 1))
    fill_triples(
        SIBLING, numbers[0], partial, kind_start, relation, templates, codes, *of_siblings, *over_siblings, floors, missing,
        of_role, classes, members, counts, siblings,
    )  # fmt: skip
    fill_triples(
        GRANDPARENT, numbers[0], partial, kind_start, relation, templates, codes, *of_grand, *over_grand, floors, missing,
        of_role, classes, members, counts, grandparents,
    )  # fmt: skip
    over = np.empty((BOUNDS, n + 1, n + 1))
    bound_pairs(numbers[0], partial, kind_start, templates, codes, *over_both, floors, missing, arcs, over)
    ends, none = np.empty((n + 1, n + 1)), np.empty((n + 1, 2))
    score_stops(partial, kind_start, templates, codes, cells, numbers, jumps, arcs, ends, none)
    best = np.inf
    heads, chosen = np.empty(n, dtype=np.int64), np.empty((n + 1, n + 1), dtype=np.bool_)
    keys = np.empty(templates.size * (3 * n + 2) + n * n * max(1, kind_start[ACROSS + 1] - kind_start[ACROSS]), dtype=np.int64)
    for _ in range(rounds):
        best = bound_arcs(
            partial, kind_start, templates, codes, cells, numbers, jumps, arcs, left, core, siblings, grandparents, over, ends, none,
            single_root, score, marginals,
        )  # fmt: skip
        found = score_of_bounds(
            partial, kind_start, relation, run_end, templates, codes, totals, cells, numbers, jumps, marginals, single_root,
            heads, chosen, keys,
        )  # fmt: skip
        score = max(score, found)
        size, added = 0, 0
        for h in range(n + 1):
            for m in range(1, n + 1):
                left[h, m] = marginals[h, m] >= score and marginals[h, m] > -np.inf
                size += left[h, m]
                core[h, m] &= left[h, m]
                if left[h, m] and not core[h, m] and marginals[h, m] >= best - step:
                    core[h, m] = True
                    added += 1
        if size <= few or best <= score or added == 0:
            break
    return best
