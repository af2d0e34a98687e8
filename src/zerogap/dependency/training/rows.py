"""Learning of rows of weights: every word chooses its head among all tokens, by likelihood, with stochastic gradient descent.

Nothing is a tree here, and all weights stand in arrays, so that an epoch over a treebank takes seconds. All values of tokens that the
training data has `FEWEST` times or more have rows; averages over all moments are taken (see `learning.averaging`).
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from zerogap.dependency.cascade.rows import MOST_CLASSES, VALUES, RowModel, n_pairs_of, row_model
from zerogap.dependency.scoring.parts import ALONE_HEAD, ALONE_MOD, ARC, HEAD, MOD, bucket_of
from zerogap.dependency.sentence import Sentence
from zerogap.features.parts.keys import COUNTS, PartFeatures
from zerogap.features.parts.weight_table import CLEAR, Keys
from zerogap.grid import Integers, Scores
from zerogap.kernels import float64, int64, kernel, readonly, record, writable

FEWEST = 2  # occurrences in the training data
FIRST_RATE, SLOWING = 0.1, 0.5  # rate = FIRST_RATE / (1 + SLOWING * epochs done)
LEAST_AMOUNT = 1e-3  # arcs that count less are left out of a step


class Corpus(NamedTuple):
    """Tokens of all sentences, one after the other, with one that is no token at the end of each."""

    starts: Integers  # (sentences + 1,): sentence s has the tokens starts[s] to starts[s + 1]
    of_heads: Integers  # (tokens, templates): rows of a token as head
    of_mods: Integers  # (tokens, templates): and as modifier
    totals: Integers  # (counts, tokens)
    head_class: Integers
    mod_class: Integers
    gold: Integers  # heads


class Learned(NamedTuple):
    """Weights that change, with their drifts (see `learning.averaging`)."""

    rows: Scores
    row_drift: Scores
    pairs: Scores
    pair_drift: Scores


CORPUS = record(Corpus, readonly(int64, 1), *[readonly(int64, 2)] * 3, *[readonly(int64, 1)] * 3)
LEARNED = record(Learned, *[writable(float64, 2)] * 2, *[writable(float64, 4)] * 2)


@kernel(float64(readonly(int64, 1), CORPUS, float64, float64, LEARNED))
def learn_epoch(order, corpus, rate, moment, learned):  # out: learned
    """One epoch of steps towards gold heads and away from likely ones; returns the loss of all words."""
    starts, of_heads, of_mods, totals, head_class, mod_class, gold = corpus
    rows, row_drift, pairs, pair_drift = learned
    loss = 0.0
    for i in range(order.shape[0]):
        first, n = starts[order[i]], starts[order[i] + 1] - starts[order[i]] - 2
        moment += 1.0
        scores, values, worth = np.empty(n + 1), np.empty(n + 1, dtype=np.int64), np.empty(n + 1)
        for m in range(1, n + 1):
            cm, best = mod_class[first + m], -np.inf
            for h in range(n + 1):
                if h == m:
                    continue
                side, low, high = 1 if m > h else 0, min(h, m), max(h, m)
                value = values[h] = 2 * bucket_of(high - low) + side
                ch = head_class[first + h]
                score = pairs[ch, cm, 0, value]
                for t in range(of_heads.shape[1]):
                    score += rows[of_heads[first + h, t], value]
                for t in range(of_mods.shape[1]):
                    score += rows[of_mods[first + m, t], value]
                for c in range(totals.shape[0]):
                    count = totals[c, first + high] - totals[c, first + low + 1]
                    score += pairs[ch, cm, 1 + c, 2 * min(count, COUNTS - 1) + side]
                scores[h] = score
                best = max(best, score)
            total, right = 0.0, gold[first + m]
            for h in range(n + 1):
                worth[h] = 0.0 if h == m else np.exp(scores[h] - best)
                total += worth[h]
            loss += best + np.log(total) - scores[right]
            for h in range(n + 1):
                amount = (1.0 if h == right else 0.0) - worth[h] / total
                if h == m or abs(amount) < LEAST_AMOUNT:
                    continue
                step, value, ch = rate * amount, values[h], head_class[first + h]
                side, low, high = 1 if m > h else 0, min(h, m), max(h, m)
                pairs[ch, cm, 0, value] += step
                pair_drift[ch, cm, 0, value] += moment * step
                for c in range(totals.shape[0]):
                    count = totals[c, first + high] - totals[c, first + low + 1]
                    place = 2 * min(count, COUNTS - 1) + side
                    pairs[ch, cm, 1 + c, place] += step
                    pair_drift[ch, cm, 1 + c, place] += moment * step
                for t in range(of_heads.shape[1]):
                    rows[of_heads[first + h, t], value] += step
                    row_drift[of_heads[first + h, t], value] += moment * step
                for t in range(of_mods.shape[1]):
                    rows[of_mods[first + m, t], value] += step
                    row_drift[of_mods[first + m, t], value] += moment * step
    return loss


def learn_rows(
    features: PartFeatures, sentences: Sequence[Sentence], gold: Sequence[Integers], *, epochs: int = 3, seed: int = 0
) -> RowModel:
    """The model of rows with these templates."""
    encoded = [features.encode(sentence.columns, len(sentence)) for sentence in sentences]
    starts = np.concatenate([[0], np.cumsum([partial.shape[1] for partial, _ in encoded])]).astype(np.int64)
    partial = np.concatenate([one for one, _ in encoded], axis=1)
    totals = np.ascontiguousarray(np.concatenate([one for _, one in encoded], axis=1))
    is_none = np.zeros(partial.shape[1], dtype=np.bool_)
    is_none[starts[1:] - 1] = True
    alone_head, alone_mod, stop = (int(features.plan.kind_start[place]) for place in (ALONE_HEAD, ALONE_MOD, ARC + 1))
    of_heads = (partial[HEAD, :, alone_head:alone_mod] & CLEAR) | features.plan.low_bytes[alone_head:alone_mod]
    of_mods = (partial[MOD, :, alone_mod:stop] & CLEAR) | features.plan.low_bytes[alone_mod:stop]
    found, counts = np.unique(np.concatenate([of_heads[~is_none].ravel(), of_mods[~is_none].ravel()]), return_counts=True)
    keys = found[counts >= FEWEST]
    heads, modifiers = (frequent(partial[role, ~is_none, 0]) for role in (HEAD, MOD))
    head_class, mod_class = places_in(heads, partial[HEAD, :, 0]), places_in(modifiers, partial[MOD, :, 0])
    right = np.zeros(partial.shape[1], dtype=np.int64)
    for start, some in zip(starts.tolist(), gold, strict=False):
        right[start + 1 : start + 1 + len(some)] = some
    rows, pairs = np.zeros((len(keys) + 1, VALUES)), np.zeros((len(heads) + 1, len(modifiers) + 1, n_pairs_of(features), VALUES))
    row_drift, pair_drift, moment, rng = np.zeros_like(rows), np.zeros_like(pairs), 0.0, np.random.default_rng(seed)
    corpus = Corpus(starts, places_in(keys, of_heads), places_in(keys, of_mods), totals, head_class, mod_class, right)
    for epoch in range(epochs):
        rows[-1] = row_drift[-1] = 0.0  # of rare values
        order, rate = rng.permutation(len(sentences)), FIRST_RATE / (1.0 + SLOWING * epoch)
        learn_epoch(order, corpus, rate, moment, Learned(rows, row_drift, pairs, pair_drift))
        moment += len(sentences)
    mean = 1.0 / max(moment, 1.0)
    return row_model(features, keys, (rows - row_drift * mean)[:-1], heads, modifiers, pairs - pair_drift * mean)


def frequent(values: Keys) -> Keys:
    """The most frequent of them, ascending."""
    found, counts = np.unique(values, return_counts=True)
    return np.sort(found[np.argsort(-counts, kind="stable")[:MOST_CLASSES]])


def places_in(keys: Keys, wanted: Keys) -> Keys:
    """Where keys are among ascending ones; one place after them for those that are not there."""
    places = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    return np.ascontiguousarray(np.where(keys[places] == wanted, places, len(keys)) if len(keys) else np.zeros_like(wanted))
