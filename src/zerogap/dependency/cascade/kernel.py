"""All passes of a cascade over many sentences in one call: from the hashes of their tokens to their heads.

What a pass does is defined in `cascade_passes`; here nothing goes back to Python between passes and sentences, and first-order passes take
time in proportion to the arcs that are left.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.dependency.candidate_arcs import lay_out
from zerogap.dependency.cascade.row_scoring import TABLES, score_rows
from zerogap.dependency.cascade.vine_scoring import score_vine
from zerogap.dependency.scoring.arc_list import score_listed
from zerogap.dependency.scoring.parts import HEAD, LEFT, MOD, RIGHT, score_candidates
from zerogap.features.parts.keys import PAD, fill_partial
from zerogap.features.parts.packed_table import step_of
from zerogap.features.parts.templates import DIRECTION
from zerogap.features.parts.weight_table import CLEAR, shift_of
from zerogap.kernels import boolean, float64, inner, int64, kernel, readonly, types, uint32, writable
from zerogap.oracles.trees.grandsibling_marginals import grandsibling_max_marginals
from zerogap.oracles.trees.grandsiblings import grandsibling_kernel
from zerogap.oracles.trees.sparse_eisner import sparse_eisner, sparse_max_marginals
from zerogap.oracles.vine.oracle import vine_max_marginals

NO_PASS, BY_MARGIN, BY_MEAN = 0, 1, 2  # rules of passes
NOTHING, FIRST, SIBLING, GRANDSIBLING = -1, 0, 1, 2  # orders of the last model; nothing: there is none, and no heads
ROW_PASS, VINE_PASS, FIRST_PASS, SECOND_PASS, LAST_PASS = range(5)
LEAST = -np.finfo(np.float64).max

# A model as kernels read it: roles, terms and counts of `PartFeatures`, its plan, and its table.
MODEL = types.Tuple(  # type: ignore[no-untyped-call]  # of numba
    (
        int64, readonly(int64, 2), readonly(int64, 2), readonly(int64, 2),
        readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(int64, 2),
        readonly(int64, 1), readonly(float64, 1), readonly(uint32, 1),
    )
)  # fmt: skip
# The same of rows of weights: first and fourth of the plan alone; tables, and the unit.
ROW_MODEL = types.Tuple(  # type: ignore[no-untyped-call]  # of numba
    (int64, readonly(int64, 2), readonly(int64, 2), readonly(int64, 2), readonly(int64, 1), readonly(int64, 1), *TABLES, float64)
)


@inner
def count_arcs(allowed, left, place):  # out: left[place]
    size = 0
    for h in range(allowed.shape[0]):
        for m in range(1, allowed.shape[0]):
            size += allowed[h, m]
    left[place] = size
    return 0


@inner
def encoded(model, hashes):
    roles, readings, terms, counts = model[0], model[1], model[2], model[3]
    n, n_templates = hashes.shape[0] - 2 - 4 * PAD, model[5].shape[0]  # of the plan, an entry for every template
    partial = np.empty((roles, n + 2, n_templates), dtype=np.int64)
    totals = np.empty((counts.shape[0], n + 2), dtype=np.int64)
    fill_partial(hashes, readings, terms, counts, partial, totals)
    return partial, totals


@inner
def threshold_of(rule, value, best, marginals):
    """As `relax.pruning.Rule.threshold`; above -inf, so that what no structure has is never kept."""
    if rule == BY_MARGIN or value == -np.inf:
        return max(best + value, LEAST)
    total, size = 0.0, 0
    for p in range(marginals.size):
        if marginals[p] > -np.inf:
            total += marginals[p]
            size += 1
    return max(min(best, value * best + (1.0 - value) * (total / size if size > 0 else best)), LEAST)


@inner
def look_up_lengths(model, hashes, allowed):  # out: allowed (n + 1, n + 1)
    partial, _ = encoded(model, hashes)
    n, templates, codes = allowed.shape[0] - 1, model[7], model[8]
    cells, jumps = model[9], model[11]
    shift = shift_of(cells.shape[0])
    for h in range(1, n + 1):
        for m in range(1, n + 1):
            length = abs(h - m)
            if length > 1:
                key = partial[HEAD, h, 0] + partial[MOD, m, 0] + codes[DIRECTION, RIGHT if m > h else LEFT]
                allowed[h, m] = step_of((key & CLEAR) | templates[0], cells, jumps, shift) >= length
    return 0


@inner
def score_by_rows(model, hashes, arcs):  # out: arcs (n + 1, n + 1)
    partial, totals = encoded(model, hashes)
    return score_rows(
        partial, model[4], model[5], totals, model[6], model[7], model[8], model[9], model[10], model[11], model[12], arcs
    )  # fmt: skip


@inner
def prune_by_choice(arcs, value, allowed):  # out: allowed (n + 1, n + 1)
    """As `cascade_passes.choices` under a margin."""
    n, least = allowed.shape[0] - 1, max(value, LEAST)
    best = np.empty(n + 1)
    for m in range(1, n + 1):
        best[m] = -np.inf
    for h in range(n + 1):
        for m in range(1, n + 1):
            if allowed[h, m] and arcs[h, m] > best[m]:
                best[m] = arcs[h, m]
    for h in range(n + 1):
        for m in range(1, n + 1):
            allowed[h, m] &= arcs[h, m] - best[m] >= least
    return 0


@inner
def prune_by_vine(model, hashes, band, rule, value, single_root, allowed):  # out: allowed (n + 1, n + 1)
    partial, totals = encoded(model, hashes)
    n = allowed.shape[0] - 1
    near, far = np.empty((2, n + 1, band + 1)), np.empty((3, n + 1))
    score_vine(partial, model[4], model[5], model[6], model[7], model[8], totals, model[9], model[10], model[11], near, far)
    for h in range(1, n + 1):
        for d in range(1, band + 1):
            if h + d <= n and not allowed[h, h + d]:
                near[0, h, d] = -np.inf
            if h - d >= 1 and not allowed[h, h - d]:
                near[1, h, d] = -np.inf
    for m in range(1, n + 1):
        for side in range(1, 3):
            if far[side, m] > -np.inf:
                found = False
                for h in range(1, m - band) if side == 1 else range(m + band + 1, n + 1):
                    found |= allowed[h, m]
                if not found:
                    far[side, m] = -np.inf
    near_worth, far_worth = np.empty((2, n + 1, band + 1)), np.empty((3, n + 1))
    best = vine_max_marginals(near, far, single_root, near_worth, far_worth)
    both = np.empty(near_worth.size + far_worth.size)
    both[: near_worth.size] = near_worth.reshape(-1)
    both[near_worth.size :] = far_worth.reshape(-1)
    threshold = threshold_of(rule, value, best, both)
    for m in range(1, n + 1):
        allowed[0, m] = far_worth[0, m] >= threshold
        before, after = far_worth[1, m] >= threshold, far_worth[2, m] >= threshold
        for h in range(1, n + 1):
            if h < m:
                allowed[h, m] &= near_worth[0, h, m - h] >= threshold if m - h <= band else before
            elif h > m:
                allowed[h, m] &= near_worth[1, h, h - m] >= threshold if h - m <= band else after
    return 0


@inner
def laid_out(allowed, grand):
    """The arrays of `Candidates`: contexts, modifier_start, heads, modifiers, context, and four starts."""
    n = allowed.shape[0] - 1
    size = 0
    for h in range(n + 1):
        for m in range(1, n + 1):
            size += allowed[h, m]
    contexts, modifier_start = np.empty(n + 1, dtype=np.int64), np.empty(2 * n + 3, dtype=np.int64)
    heads, modifiers = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    context, starts = np.empty(size, dtype=np.int64), np.empty((4, 2 * n + 3), dtype=np.int64)
    lay_out(allowed, grand, contexts, modifier_start, heads, modifiers, context, starts)
    return contexts, modifier_start, heads, modifiers, context, starts


@inner
def scored_arcs(model, partial, totals, heads, modifiers, is_relative, stacked, before):
    """Scores of listed arcs. If only differences between trees matter, arcs of words with one head left score 0: all trees have them."""
    n = before.shape[0] - 1
    is_asked, scores = np.ones(n + 1, dtype=np.bool_), np.empty(modifiers.size)
    if is_relative:
        counts = np.zeros(n + 1, dtype=np.int64)
        for p in range(modifiers.size):
            counts[modifiers[p]] += 1
        for m in range(1, n + 1):
            is_asked[m] = counts[m] != 1
    score_listed(
        partial, model[4], model[5], model[6], model[7], model[8], totals, heads, modifiers, is_asked, model[9], model[10], model[11],
        scores,
    )  # fmt: skip
    if stacked != 0.0:
        for p in range(modifiers.size):
            if is_asked[modifiers[p]]:
                scores[p] += stacked * before[heads[p], modifiers[p]]
    return scores


@inner
def put_arcs(heads, modifiers, scores, all_others, arcs):  # out: arcs (n + 1, n + 1): all others, if they are asked for, are -inf
    for h in range(arcs.shape[0] if all_others else 0):
        for m in range(arcs.shape[0]):
            arcs[h, m] = -np.inf
    for p in range(modifiers.size):
        arcs[heads[p], modifiers[p]] = scores[p]
    return 0


@inner
def scored_candidates(model, partial, arcs, grand, relative, contexts, modifier_start, modifiers, context, starts):
    end = starts.shape[1] - 1
    scores, stops = np.empty(starts[0, end]), np.empty(starts[1, end])
    score_candidates(
        partial, model[4], model[5], model[6], model[7], model[8], model[9], model[10], model[11], arcs, grand, relative,
        contexts, modifier_start, modifiers, context, starts[0], starts[1], scores, stops,
    )  # fmt: skip
    return scores, stops


@inner
def prune_arcs(model, hashes, second, rule, value, single_root, stacked, allowed, arcs):  # out: allowed, arcs (n + 1, n + 1)
    """`arcs` are the scores that the pass is stacked on, and then its own."""
    partial, totals = encoded(model, hashes)
    contexts, modifier_start, heads, modifiers, context, starts = laid_out(allowed, 0)
    of_arcs = scored_arcs(model, partial, totals, heads, modifiers, rule == BY_MARGIN, stacked, arcs)
    marginals = np.empty(modifiers.size)
    put_arcs(heads, modifiers, of_arcs, second, arcs)
    if second:
        scores, stops = scored_candidates(model, partial, arcs, 0, rule == BY_MARGIN, contexts, modifier_start, modifiers, context, starts)
        margin = -value if rule == BY_MARGIN else np.inf  # a mean is one of all marginals
        best = grandsibling_max_marginals(
            contexts, modifier_start, modifiers, context, starts[0], scores, starts[1], stops, single_root, -np.inf, margin, marginals
        )
    else:
        best = sparse_max_marginals(modifier_start, modifiers, of_arcs, allowed.shape[0] - 1, single_root, marginals)
    if best > -np.inf:
        threshold = threshold_of(rule, value, best, marginals)
        for p in range(modifiers.size):
            allowed[heads[p], modifiers[p]] = marginals[p] >= threshold
    return best


@inner
def best_tree(model, hashes, order, single_root, stacked, allowed, arcs, heads_out):  # out: arcs (n + 1, n + 1), heads_out (n,)
    partial, totals = encoded(model, hashes)
    grand = 1 if order == GRANDSIBLING else 0
    contexts, modifier_start, heads, modifiers, context, starts = laid_out(allowed, grand)
    of_arcs = scored_arcs(model, partial, totals, heads, modifiers, True, stacked, arcs)
    if order == FIRST:
        return sparse_eisner(modifier_start, modifiers, of_arcs, single_root, heads_out)
    put_arcs(heads, modifiers, of_arcs, True, arcs)
    scores, stops = scored_candidates(model, partial, arcs, grand, 1, contexts, modifier_start, modifiers, context, starts)
    return grandsibling_kernel(contexts, modifier_start, modifiers, context, starts[0], scores, starts[1], stops, single_root, heads_out)


@inner
def only_tree(allowed, heads):  # out: heads (n,)
    for m in range(1, heads.size + 1):
        for h in range(heads.size + 1):
            if allowed[h, m]:
                heads[m - 1] = h
    return 0


@kernel(
    int64(
        readonly(int64, 2), readonly(int64, 1), MODEL, ROW_MODEL, MODEL, MODEL, MODEL, MODEL,
        readonly(int64, 1), readonly(float64, 1), readonly(float64, 1), int64, int64, int64, int64,
        writable(int64, 1), writable(int64, 2), writable(boolean, 1),
    )
)  # fmt: skip
def parse_by_cascade(
    hashes, starts, dictionary, rows, vine, first, second, last, rules, values, stacked, has_dictionary, band, order, single_root,
    heads, left, kept,
):  # fmt: skip
    """The heads of all words of all sentences, one after the other.

    Sentence s has the rows starts[s] to starts[s + 1] of hashes; rules[p], values[p] and stacked[p] are those of pass p. The final model,
    `last`, is of `order`; rows prune by a margin. out: heads (words,), left (sentences, 5): arcs after the dictionary and after each
    pass, kept: if it is not empty, the arcs of what is left, sentence after sentence.
    """
    at, square = 0, 0
    for s in range(starts.size - 1):
        own = hashes[starts[s] : starts[s + 1]]
        n = own.shape[0] - 2 - 4 * PAD
        allowed, arcs = np.empty((n + 1, n + 1), dtype=np.bool_), np.empty((n + 1, n + 1))
        for h in range(n + 1):
            for m in range(n + 1):
                allowed[h, m] = m > 0 and h != m
        if has_dictionary:
            look_up_lengths(dictionary, own, allowed)
        count_arcs(allowed, left[s], 0)
        if rules[ROW_PASS] != NO_PASS:
            score_by_rows(rows, own, arcs)
            prune_by_choice(arcs, values[ROW_PASS], allowed)
        count_arcs(allowed, left[s], 1 + ROW_PASS)
        if rules[VINE_PASS] != NO_PASS:
            prune_by_vine(vine, own, band, rules[VINE_PASS], values[VINE_PASS], single_root, allowed)
        count_arcs(allowed, left[s], 1 + VINE_PASS)
        is_one = False  # only one tree is left
        for p in range(FIRST_PASS, LAST_PASS + 1):
            best = 0.0
            for _ in range(2):
                if is_one:
                    only_tree(allowed, heads[at : at + n])
                elif p == LAST_PASS and order != NOTHING:
                    best = best_tree(last, own, order, single_root, stacked[p], allowed, arcs, heads[at : at + n])
                elif p < LAST_PASS and rules[p] != NO_PASS:
                    model = first if p == FIRST_PASS else second
                    best = prune_arcs(model, own, p == SECOND_PASS, rules[p], values[p], single_root, stacked[p], allowed, arcs)
                if best > -np.inf:
                    break
                for m in range(1, n + 1):  # no tree was left but the one in which every word is under the one before it
                    allowed[m - 1, m] = True
                count_arcs(allowed, left[s], 1 + VINE_PASS)
                if rules[ROW_PASS] != NO_PASS:
                    left[s, 1 + ROW_PASS] = left[s, 1 + VINE_PASS]
                    score_by_rows(rows, own, arcs)  # again: there are others now
            if p < LAST_PASS:
                count_arcs(allowed, left[s], 1 + p)
                is_one |= rules[p] != NO_PASS and left[s, 1 + p] == n
        if kept.size > 0:
            kept[square : square + allowed.size] = allowed.reshape(-1)
            square += allowed.size
        at += n
    return at
