"""Learning of one pass of a cascade, and of its threshold on development data (Rush 2014, sections 8.4 and 8.5.1).

A pass is learned by likelihood, as a random field, by stochastic gradient descent (crf), or by filter loss (filter). Both take counts of
the hyperedges of all structures: posterior probabilities, or those of the threshold.

Every pass is learned on the arcs that the ones before leave, and the gold ones; then its threshold is the highest under which the share of
gold arcs that it loses in the development data is at most `error`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zerogap.dependency.cascade.passes import (
    BANDED,
    DICTIONARY,
    FIRST,
    LOCAL,
    ROWS,
    SECOND,
    SHORT,
    VINE,
    Pass,
    arcs_on,
    banded_scores,
    places_of,
)
from zerogap.dependency.cascade.templates import BASIC_SIBLINGS, DICTIONARY_TEMPLATES, PAIRS
from zerogap.dependency.cascade.templates import ROWS as ROW_TEMPLATES
from zerogap.dependency.cascade.templates import VINE as VINE_TEMPLATES
from zerogap.dependency.cascade.vine_scoring import vine_keys
from zerogap.dependency.parser.templates import PRUNER, fill_in
from zerogap.dependency.scoring.sentence import Allowed, arcs_under, keys_of_tree
from zerogap.dependency.sentence import Sentence
from zerogap.dependency.training.filter_loss import MARGIN, filter_counts
from zerogap.dependency.training.gradients import arc_keys, score_siblings, sibling_keys
from zerogap.dependency.training.options import TrainingOptions, fingerprint_of, start_with
from zerogap.dependency.training.random_field import FIRST_RATE, SLOWING
from zerogap.dependency.training.rows import learn_rows
from zerogap.features.parts.keys import Encoded, PartFeatures
from zerogap.features.parts.learning import WeightTable
from zerogap.features.parts.model import PartModel, part_model
from zerogap.features.parts.templates import parse_part_templates
from zerogap.features.parts.weight_table import Keys
from zerogap.grid import Integers, Scores
from zerogap.learning.online import run_epochs
from zerogap.oracles.hypergraphs.marginals import log_inside, posterior_marginals
from zerogap.oracles.trees.hypergraphs import projective_hypergraph
from zerogap.oracles.trees.projective_marginals import projective_marginals
from zerogap.oracles.vine.hypergraph import vine_hypergraph
from zerogap.oracles.vine.max_marginal_counts import BestPaths
from zerogap.relax.pruning import Rule, chosen_rule
from zerogap.structures.hypergraph import Hypergraph

TEMPLATES = {
    DICTIONARY: DICTIONARY_TEMPLATES, ROWS: ROW_TEMPLATES, VINE: VINE_TEMPLATES, SHORT: VINE_TEMPLATES, FIRST: PRUNER, LOCAL: PRUNER,
    SECOND: PRUNER + BASIC_SIBLINGS,
}  # fmt: skip
STACKED = {FIRST: PAIRS, SECOND: BASIC_SIBLINGS}  # of passes on top of another one
CRF, FILTER = "crf", "filter"
LEARNERS = (CRF, FILTER)
LEAST_AMOUNT = 1e-3  # arcs that count less are left out of a step

Change = tuple[Keys, Scores]  # keys of features, and by how much their weights change


def features_of(kind: str, columns: frozenset[str], *, stacked: bool = False) -> PartFeatures:
    """The default templates of a pass."""
    text = (STACKED if stacked else TEMPLATES)[kind]
    return PartFeatures(parse_part_templates(fill_in(text, columns)))


def learn_dictionary(sentences: Sequence[Sentence], gold: Sequence[Integers], columns: frozenset[str]) -> Pass:
    """The largest length of an arc between two tags, as its weight: lengths of training sentences, so no thresholds."""
    features = features_of(DICTIONARY, columns)
    longest: dict[int, int] = {}
    for sentence, heads in zip(sentences, gold, strict=True):
        keys = keys_of_tree(features, features.encode(sentence.columns, len(sentence)), heads).reshape(len(sentence), -1)
        arcs = sorted(zip(heads.tolist(), range(1, len(heads) + 1), strict=True), key=lambda a: (a[0], a[1] > a[0], abs(a[1] - a[0])))
        for row, (h, m) in zip(keys.tolist(), arcs, strict=True):  # head by head, modifiers outward
            for key in row:
                longest[key] = max(longest.get(key, 0), abs(h - m))
    ordered = sorted(longest)
    lengths = np.array([longest[key] for key in ordered], dtype=np.int16)
    return Pass(DICTIONARY, PartModel(features, np.array(ordered, dtype=np.int64), lengths, 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class PassLearner:
    """A pass that is being learned: the loss of a sentence under weights, and the step that it asks for."""

    kind: str
    features: PartFeatures
    band: int
    learner: str
    eta: float  # of filter loss
    options: TrainingOptions

    def step(
        self, table: WeightTable, encoded: Encoded, allowed: Allowed, heads: Integers, progress: float, before: Scores | None = None
    ) -> float:
        """`allowed` has the gold arcs; `before` are the scores of the pass that it is stacked on. There, what corrects them counts, so
        that features of wrong arcs have weights too."""
        if self.kind in (FIRST, SECOND):
            keys, signs, loss = self.tree_change(table, encoded, allowed, heads, before)
        else:
            change = self.vine_change if self.kind == VINE else self.local_change
            keys, signs, loss = change(table, encoded, allowed, heads)
        if self.learner == CRF:
            table.step(keys, signs, most=FIRST_RATE / (1.0 + SLOWING * progress), grow=before is not None)
        elif loss > 0.0:
            table.step(keys, signs, loss=MARGIN, most=self.options.step)
        return loss

    def counted(self, hypergraph: Hypergraph, scores: Scores, makes: Integers) -> tuple[Scores, float]:
        """What is taken away from every hyperedge, and what the gold structure should score at least."""
        if self.learner == CRF:
            posteriors, _ = posterior_marginals(hypergraph, scores)
            return posteriors, float(log_inside(hypergraph, scores)[hypergraph.root])
        counts = filter_counts(BestPaths(hypergraph, scores), makes, self.eta)
        return counts, MARGIN + float(counts @ np.where(counts != 0.0, scores, 0.0))

    def vine_change(self, table: WeightTable, encoded: Encoded, allowed: Allowed, heads: Integers) -> tuple[Keys, Scores, float]:
        n = len(heads)
        near, far = banded_scores(self.features, table, encoded, allowed, self.band)
        flat = np.concatenate([near.ravel(), far.ravel()])
        vines = vine_hypergraph(n, self.band, single_root=self.options.single_root)
        makes = vines.makes
        counts, least = self.counted(vines.hypergraph, np.where(makes >= 0, flat[makes], 0.0), makes)
        amounts: Scores = -np.bincount(makes[makes >= 0], weights=counts[makes >= 0], minlength=len(flat)).astype(np.float64)
        right = places_of(n, self.band)[heads, np.arange(1, n + 1)]
        np.add.at(amounts, right, 1.0)
        return *self.banded_keys(encoded, amounts, near.shape, far.shape), max(0.0, least - float(flat[right].sum()))

    def banded_keys(self, encoded: Encoded, amounts: Scores, near: tuple[int, ...], far: tuple[int, ...]) -> Change:
        size = int(np.prod(near))
        room = len(self.features.templates) * int(np.count_nonzero(amounts))
        keys, signs = np.empty(room, dtype=np.int64), np.empty(room)
        parts = amounts[:size].reshape(near), amounts[size:].reshape(far)
        found = vine_keys(encoded, self.features.plan, *parts, LEAST_AMOUNT, keys, signs)
        return keys[:found], signs[:found]

    def local_change(self, table: WeightTable, encoded: Encoded, allowed: Allowed, heads: Integers) -> tuple[Keys, Scores, float]:
        """Without trees, the threshold of a word is between the best and the mean of its own indices."""
        n, words = len(heads), np.arange(1, len(heads) + 1)
        if self.kind == SHORT:
            near, far = banded_scores(self.features, table, encoded, allowed, self.band)
            flat, places = np.concatenate([near.ravel(), far.ravel()]), places_of(n, self.band)
        else:
            flat, places = arcs_under(self.features, table, encoded, allowed).ravel(), np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
        amounts, loss = np.zeros(len(flat)), 0.0
        for m in words:
            own = np.unique(places[allowed[:, m], m])
            scores, right = flat[own], int(places[heads[m - 1], m])
            if self.learner == CRF:
                worth = np.exp(scores - scores.max())
                counts, least = worth / worth.sum(), float(scores.max() + np.log(worth.sum()))
            else:
                counts = np.full(len(own), (1.0 - self.eta) / len(own))
                counts[np.argmax(scores)] += self.eta
                least = MARGIN + float(counts @ scores)
            if least > flat[right]:
                amounts[own] -= counts
                amounts[right] += 1.0
                loss += least - float(flat[right])
        if self.kind == SHORT:
            return *self.banded_keys(encoded, amounts, near.shape, far.shape), loss
        return *self.keys_of_arcs(encoded, amounts.reshape(n + 1, n + 1)), loss

    def gold_keys(self, encoded: Encoded, heads: Integers) -> Keys:
        """The keys of all features of a gold tree."""
        if self.kind not in BANDED:
            return keys_of_tree(self.features, encoded, heads)
        n = len(heads)
        near, far = (2, n + 1, self.band + 1), (3, n + 1)
        amounts = np.zeros(int(np.prod(near)) + int(np.prod(far)))
        amounts[places_of(n, self.band)[heads, np.arange(1, n + 1)]] = 1.0
        return self.banded_keys(encoded, amounts, near, far)[0]

    def keys_of_arcs(self, encoded: Encoded, amounts: Scores) -> Change:
        n = len(amounts) - 1
        room = (len(self.features.templates) + n * self.features.n_across) * int(np.count_nonzero(amounts))
        keys, signs = np.empty(room, dtype=np.int64), np.empty(room)
        found = arc_keys(encoded, self.features.plan, amounts, LEAST_AMOUNT, keys, signs)
        return keys[:found], signs[:found]

    def tree_change(
        self, table: WeightTable, encoded: Encoded, allowed: Allowed, heads: Integers, before: Scores | None
    ) -> tuple[Keys, Scores, float]:
        n, plan, words = len(heads), self.features.plan, np.arange(1, len(heads) + 1)
        arcs = arcs_on(arcs_under(self.features, table, encoded, allowed), before, 1.0)
        if self.kind == FIRST and self.learner == CRF:
            amounts = np.empty_like(arcs)
            least = float(projective_marginals(arcs, 1 if self.options.single_root else 0, amounts))
            amounts = np.where(allowed, -amounts, 0.0)
            amounts[heads, words] += 1.0
            return *self.keys_of_arcs(encoded, amounts), max(0.0, least - float(arcs[heads, words].sum()))

        def siblings(h: Integers, s: Integers, m: Integers) -> Scores:
            scores = np.empty(len(h))
            score_siblings(encoded, plan, table.table, np.stack([h, s, m], axis=1), scores)
            return scores

        second = self.kind == SECOND
        trees = projective_hypergraph(arcs, siblings=siblings if second else None, single_root=self.options.single_root)
        makes_arc = trees.parts[:, 3] >= 0
        makes = np.where(makes_arc, trees.parts[:, 1] * (n + 1) + trees.parts[:, 3], -1)
        counts, least = self.counted(trees.hypergraph, trees.scores, makes)
        totals = np.bincount(makes[makes_arc], weights=counts[makes_arc], minlength=(n + 1) ** 2).astype(np.float64)
        amounts = -totals.reshape(n + 1, n + 1)
        amounts[heads, words] += 1.0
        keys, signs = self.keys_of_arcs(encoded, amounts)
        reached = float(arcs[heads, words].sum())
        if second:
            nearer = np.array(adjacent(heads), dtype=np.int64)
            gold = np.stack([heads, nearer, words], axis=1)
            reached += float(siblings(heads, nearer, words).sum())
            used = makes_arc & (counts > LEAST_AMOUNT)
            parts = np.concatenate([gold, trees.parts[used, 1:]])
            amounts = np.concatenate([np.ones(n), -counts[used]])
            room = len(parts) * len(self.features.templates)
            more_keys, more_signs = np.empty(room, dtype=np.int64), np.empty(room)
            found = sibling_keys(encoded, plan, np.ascontiguousarray(parts), amounts, more_keys, more_signs)
            keys, signs = np.concatenate([keys, more_keys[:found]]), np.concatenate([signs, more_signs[:found]])
        return keys, signs, max(0.0, least - reached)


def adjacent(heads: Integers) -> list[int]:
    """For every word the modifier before it on its side of its head, counted outward, or the head."""
    last: dict[tuple[int, bool], int] = {}
    found = [0] * len(heads)
    words = range(1, len(heads) + 1)
    for m in sorted(words, key=lambda word: abs(int(heads[word - 1]) - word)):
        h = int(heads[m - 1])
        found[m - 1] = last.get((h, m > h), h)
        last[h, m > h] = m
    return found


def learn_pass(
    kind: str,
    sentences: Sequence[Sentence],
    gold: Sequence[Integers],
    candidates: Sequence[Allowed],
    columns: frozenset[str],
    options: TrainingOptions,
    *,
    band: int = 0,
    learner: str = CRF,
    eta: float = 0.3,
    before: Sequence[Scores] | None = None,
) -> Pass:
    """A pass that is learned on sentences with these candidate arcs; its threshold is still to be chosen.

    With `before`, scores of arcs of every sentence, it is stacked on the pass that they are of.
    """
    features = features_of(kind, columns, stacked=before is not None)
    if kind == ROWS:
        return Pass(ROWS, learn_rows(features, sentences, gold, epochs=options.epochs, seed=options.seed))
    one = PassLearner(kind, features, band, learner, eta, options)

    def step(table: WeightTable, i: int, progress: float) -> float:
        allowed, heads = candidates[i], gold[i]
        below = None if before is None else before[i]
        return one.step(table, features.encode(sentences[i].columns, len(heads)), allowed, heads, progress, below)

    for allowed, heads in zip(candidates, gold, strict=True):
        allowed[heads, np.arange(1, len(heads) + 1)] = True
    more = kind, band, learner, eta, options.step, options.seed, options.single_root, before is not None
    stage: dict[str, Any] = options.stage(f"{kind} pass", options.epochs, fingerprint_of(sentences, features.templates, *more))
    start = None
    if learner == CRF:  # features of gold arcs alone
        gold_keys = (one.gold_keys(features.encode(s.columns, len(s)), heads) for s, heads in zip(sentences, gold, strict=True))
        start = start_with(gold_keys, max(options.min_count, 1))
    model = part_model(features, *run_epochs(step, len(sentences), start=start, **stage), most=options.most_features)
    return Pass(kind, model, Rule(), band, 0.0 if before is None else 1.0)


def with_threshold(
    found: Pass, sentences: Sequence[Sentence], candidates: Sequence[Allowed], error: float, *, rule: str, single_root: bool,
    before: Sequence[Scores] | None = None,
) -> Pass:  # fmt: skip
    """The pass with the highest threshold that loses at most this share of the gold arcs that are candidates."""
    tokens, shares = found.model.features.tokens, []
    for i, (sentence, allowed) in enumerate(zip(sentences, candidates, strict=True)):
        n = len(sentence)
        if n == 0:
            continue
        below = None if before is None else before[i]
        best, values = found.marginals(tokens.of(sentence.columns, n), allowed, single_root=single_root, before=below)
        heads, words = np.array(sentence.heads), np.arange(1, n + 1)
        there = allowed[heads, words]
        heads, words = heads[there], words[there]
        right = np.zeros(values.shape, dtype=np.bool_)
        if found.kind in BANDED:
            right[places_of(n, found.band)[heads, words]] = True
        else:
            right[heads, words] = True
        shares.append(Rule(rule).reached(best, values)[right])
    return replace(found, rule=chosen_rule(rule, shares, error))
