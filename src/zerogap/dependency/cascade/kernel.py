"""All passes of a cascade over many sentences in one call: from the hashes of their tokens to their heads.

What a pass does is defined in `cascade.passes`; here nothing goes back to Python between passes and sentences, and first-order passes take
time in proportion to the arcs that are left.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zerogap.dependency.candidate_arcs import laid_out
from zerogap.dependency.cascade.rows import ROW_TABLES, RowTables, score_rows
from zerogap.dependency.cascade.vine_scoring import score_vine
from zerogap.dependency.scoring.arc_list import score_listed
from zerogap.dependency.scoring.parts import HEAD, LEFT, MOD, RIGHT, score_candidates
from zerogap.features.parts.keys import PAD, PLAN, READING, Plan, Reading, encoded_by
from zerogap.features.parts.model import MODEL, ModelArrays
from zerogap.features.parts.packed_table import step_of
from zerogap.features.parts.templates import DIRECTION
from zerogap.features.parts.weight_table import CLEAR, Keys, shift_of
from zerogap.grid import Scores
from zerogap.kernels import boolean, float64, inner, int64, kernel, readonly, record, writable
from zerogap.oracles.trees.grandsibling_marginals import grandsibling_max_marginals
from zerogap.oracles.trees.grandsiblings import grandsibling_kernel
from zerogap.oracles.trees.sparse_eisner import sparse_eisner, sparse_max_marginals
from zerogap.oracles.vine.oracle import vine_max_marginals

NO_PASS, BY_MARGIN, BY_MEAN = 0, 1, 2  # rules of passes
NOTHING, FIRST, SIBLING, GRANDSIBLING = -1, 0, 1, 2  # orders of the last model; nothing: there is none, and no heads
ROW_PASS, VINE_PASS, FIRST_PASS, SECOND_PASS, LAST_PASS = range(5)
LEAST = -np.finfo(np.float64).max


class RowArrays(NamedTuple):
    """Rows of weights as the kernel reads them, as `ModelArrays`."""

    reading: Reading
    plan: Plan
    table: RowTables


class CascadeModels(NamedTuple):
    """The models of all passes; where there is no such pass, any model stands for it."""

    dictionary: ModelArrays
    rows: RowArrays
    vine: ModelArrays
    first: ModelArrays
    second: ModelArrays
    last: ModelArrays  # the final one


class PassRules(NamedTuple):
    """How passes prune; rows prune by a margin."""

    rules: Keys  # (passes,): NO_PASS, BY_MARGIN, BY_MEAN
    values: Scores  # (passes,)
    stacked: Scores  # (passes,): how much the scores of the pass before count
    has_dictionary: int
    band: int  # of the vine
    order: int  # of the final model
    single_root: int


MODELS = record(CascadeModels, MODEL, record(RowArrays, READING, PLAN, ROW_TABLES), *[MODEL] * 4)
PASS_RULES = record(PassRules, readonly(int64, 1), *[readonly(float64, 1)] * 2, *[int64] * 4)


@inner
def count_arcs(allowed, left, place):  # out: left[place]
    size = 0
    for h in range(allowed.shape[0]):
        for m in range(1, allowed.shape[0]):
            size += allowed[h, m]
    left[place] = size
    return 0


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
    partial, _ = encoded_by(model.reading, model.plan, hashes)
    n, templates, codes = allowed.shape[0] - 1, model.plan.low_bytes, model.plan.codes
    cells, jumps = model.table.cells, model.table.jumps
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
    return score_rows(encoded_by(model.reading, model.plan, hashes), model.plan, model.table, arcs)


@inner
def prune_by_choice(arcs, value, allowed):  # out: allowed (n + 1, n + 1)
    """As `cascade.passes.choices` under a margin."""
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
    n = allowed.shape[0] - 1
    near, far = np.empty((2, n + 1, band + 1)), np.empty((3, n + 1))
    score_vine(encoded_by(model.reading, model.plan, hashes), model.plan, model.table, near, far)
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
def scored_arcs(model, encoded, candidates, is_relative, stacked, before):
    """Scores of listed arcs. If only differences between trees matter, arcs of words with one head left score 0: all trees have them."""
    heads, modifiers = candidates.heads, candidates.modifiers
    n = before.shape[0] - 1
    is_asked, scores = np.ones(n + 1, dtype=np.bool_), np.empty(modifiers.size)
    if is_relative:
        counts = np.zeros(n + 1, dtype=np.int64)
        for p in range(modifiers.size):
            counts[modifiers[p]] += 1
        for m in range(1, n + 1):
            is_asked[m] = counts[m] != 1
    score_listed(encoded, model.plan, model.table, heads, modifiers, is_asked, scores)
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
def scored_candidates(model, encoded, arcs, candidates, relative):
    scores, stops = np.empty(candidates.score_start[-1]), np.empty(candidates.stop_start[-1])
    score_candidates(encoded, model.plan, model.table, arcs, candidates, relative, scores, stops)
    return scores, stops


@inner
def prune_arcs(model, hashes, second, rule, value, single_root, stacked, allowed, arcs):  # out: allowed, arcs (n + 1, n + 1)
    """`arcs` are the scores that the pass is stacked on, and then its own."""
    encoded, c = encoded_by(model.reading, model.plan, hashes), laid_out(allowed, 0)
    heads, modifiers = c.heads, c.modifiers
    of_arcs = scored_arcs(model, encoded, c, rule == BY_MARGIN, stacked, arcs)
    marginals = np.empty(modifiers.size)
    put_arcs(heads, modifiers, of_arcs, second, arcs)
    if second:
        scores, stops = scored_candidates(model, encoded, arcs, c, rule == BY_MARGIN)
        margin = -value if rule == BY_MARGIN else np.inf  # a mean is one of all marginals
        best = grandsibling_max_marginals(
            c.contexts, c.modifier_start, modifiers, c.context, c.score_start, scores, c.stop_start, stops, single_root, -np.inf, margin,
            marginals,
        )  # fmt: skip
    else:
        best = sparse_max_marginals(c.modifier_start, modifiers, of_arcs, allowed.shape[0] - 1, single_root, marginals)
    if best > -np.inf:
        threshold = threshold_of(rule, value, best, marginals)
        for p in range(modifiers.size):
            allowed[heads[p], modifiers[p]] = marginals[p] >= threshold
    return best


@inner
def best_tree(model, hashes, order, single_root, stacked, allowed, arcs, heads_out):  # out: arcs (n + 1, n + 1), heads_out (n,)
    encoded, c = encoded_by(model.reading, model.plan, hashes), laid_out(allowed, 1 if order == GRANDSIBLING else 0)
    of_arcs = scored_arcs(model, encoded, c, True, stacked, arcs)
    if order == FIRST:
        return sparse_eisner(c.modifier_start, c.modifiers, of_arcs, single_root, heads_out)
    put_arcs(c.heads, c.modifiers, of_arcs, True, arcs)
    scores, stops = scored_candidates(model, encoded, arcs, c, 1)
    return grandsibling_kernel(
        c.contexts, c.modifier_start, c.modifiers, c.context, c.score_start, scores, c.stop_start, stops, single_root, heads_out
    )


@inner
def only_tree(allowed, heads):  # out: heads (n,)
    for m in range(1, heads.size + 1):
        for h in range(heads.size + 1):
            if allowed[h, m]:
                heads[m - 1] = h
    return 0


@kernel(
    int64(
        readonly(int64, 2), readonly(int64, 1), MODELS, PASS_RULES, writable(int64, 1), writable(int64, 2), writable(boolean, 1)
    )
)  # fmt: skip
def parse_by_cascade(hashes, starts, models, passes, heads, left, kept):
    """The heads of all words of all sentences, one after the other.

    Sentence s has the rows starts[s] to starts[s + 1] of hashes. out: heads (words,), left (sentences, 5): arcs after the dictionary and
    after each pass, kept: if it is not empty, the arcs of what is left, sentence after sentence.
    """
    rules, values, stacked, has_dictionary, band, order, single_root = passes
    at, square = 0, 0
    for s in range(starts.size - 1):
        own = hashes[starts[s] : starts[s + 1]]
        n = own.shape[0] - 2 - 4 * PAD
        allowed, arcs = np.empty((n + 1, n + 1), dtype=np.bool_), np.empty((n + 1, n + 1))
        for h in range(n + 1):
            for m in range(n + 1):
                allowed[h, m] = m > 0 and h != m
        if has_dictionary:
            look_up_lengths(models.dictionary, own, allowed)
        count_arcs(allowed, left[s], 0)
        if rules[ROW_PASS] != NO_PASS:
            score_by_rows(models.rows, own, arcs)
            prune_by_choice(arcs, values[ROW_PASS], allowed)
        count_arcs(allowed, left[s], 1 + ROW_PASS)
        if rules[VINE_PASS] != NO_PASS:
            prune_by_vine(models.vine, own, band, rules[VINE_PASS], values[VINE_PASS], single_root, allowed)
        count_arcs(allowed, left[s], 1 + VINE_PASS)
        is_one = False  # only one tree is left
        for p in range(FIRST_PASS, LAST_PASS + 1):
            best = 0.0
            for _ in range(2):
                if is_one:
                    only_tree(allowed, heads[at : at + n])
                elif p == LAST_PASS and order != NOTHING:
                    best = best_tree(models.last, own, order, single_root, stacked[p], allowed, arcs, heads[at : at + n])
                elif p < LAST_PASS and rules[p] != NO_PASS:
                    model = models.first if p == FIRST_PASS else models.second
                    best = prune_arcs(model, own, p == SECOND_PASS, rules[p], values[p], single_root, stacked[p], allowed, arcs)
                if best > -np.inf:
                    break
                for m in range(1, n + 1):  # no tree was left but the one in which every word is under the one before it
                    allowed[m - 1, m] = True
                count_arcs(allowed, left[s], 1 + VINE_PASS)
                if rules[ROW_PASS] != NO_PASS:
                    left[s, 1 + ROW_PASS] = left[s, 1 + VINE_PASS]
                    score_by_rows(models.rows, own, arcs)  # again: there are others now
            if p < LAST_PASS:
                count_arcs(allowed, left[s], 1 + p)
                is_one |= rules[p] != NO_PASS and left[s, 1 + p] == n
        if kept.size > 0:
            kept[square : square + allowed.size] = allowed.reshape(-1)
            square += allowed.size
        at += n
    return at
