"""Learning of the passes of a cascade, and of their thresholds on development data (Rush 2014, sections 8.4 and 8.5.1).

A pass is learned by likelihood, as a random field, by stochastic gradient descent (crf), or by filter loss (filter). Both take counts of
the hyperedges of all structures: posterior probabilities, or those of the threshold.

Every pass is learned on the arcs that the ones before leave, and the gold ones; then its threshold is the highest under which the share of
gold arcs that it loses in the development data is at most `error`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from zerogap.dependency.cascade_passes import (
    BANDED,
    DICTIONARY,
    FIRST,
    LOCAL,
    SECOND,
    SHORT,
    VINE,
    Pass,
    banded_scores,
    check_band,
    marginals_of,
    places_of,
)
from zerogap.dependency.field import FIRST_RATE, SLOWING
from zerogap.dependency.gradients import arc_keys
from zerogap.dependency.model import Parser, sharing_tokens
from zerogap.dependency.scored import Allowed, arcs_under, every_arc, keys_of_tree
from zerogap.dependency.sentences import Sentence
from zerogap.dependency.sibling_gradients import score_siblings, sibling_keys
from zerogap.dependency.templates import BASIC_SIBLINGS, DICTIONARY_TEMPLATES, PRUNER, fill_in, known_columns
from zerogap.dependency.templates import VINE as VINE_TEMPLATES
from zerogap.dependency.training import checked
from zerogap.dependency.training_options import Integers, Options, Progress, fingerprint_of, gold_heads, start_with
from zerogap.dependency.vine_scoring import vine_keys
from zerogap.errors import UnknownMethod
from zerogap.features.part_keys import Encoded, PartFeatures
from zerogap.features.part_model import PartModel, part_model
from zerogap.features.part_templates import parse_part_templates
from zerogap.features.weight_learning import WeightTable
from zerogap.features.weight_table import Keys
from zerogap.grid import Scores
from zerogap.learning.filter_loss import MARGIN, filter_counts
from zerogap.learning.online import run_epochs
from zerogap.oracles.marginals import log_inside, posterior_marginals
from zerogap.oracles.max_marginal_counts import BestPaths
from zerogap.oracles.projective_hypergraphs import projective_hypergraph
from zerogap.oracles.tree_marginals import projective_marginals
from zerogap.oracles.vine_hypergraph import vine_hypergraph
from zerogap.relax.cascade import LARGEST, Rule, chosen_rule
from zerogap.relax.cascade import MARGIN as MARGIN_RULE
from zerogap.structures.hypergraph import Hypergraph

TEMPLATES = {VINE: VINE_TEMPLATES, SHORT: VINE_TEMPLATES, FIRST: PRUNER, LOCAL: PRUNER, SECOND: PRUNER + BASIC_SIBLINGS}
CRF, FILTER = "crf", "filter"
LEARNERS = (CRF, FILTER)
ERROR = 0.023
SHARES = {VINE: 4, SHORT: 4, FIRST: 8, LOCAL: 8, SECOND: 11}  # of the error, if a pass is there
LEAST_AMOUNT = 1e-3  # arcs that count less are left out of a step

Change = tuple[Keys, Scores]  # keys of features, and by how much their weights change


def features_of(kind: str, columns: frozenset[str]) -> PartFeatures:
    """The default templates of a pass."""
    text = DICTIONARY_TEMPLATES if kind == DICTIONARY else TEMPLATES[kind]
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
    options: Options

    def step(self, table: WeightTable, encoded: Encoded, allowed: Allowed, heads: Integers, progress: float) -> float:
        """`allowed` has the gold arcs."""
        change = {VINE: self.vine_change, SHORT: self.local_change, LOCAL: self.local_change}.get(self.kind, self.tree_change)
        keys, signs, loss = change(table, encoded, allowed, heads)
        if self.learner == CRF:
            table.step(keys, signs, most=FIRST_RATE / (1.0 + SLOWING * progress), grow=False)
        elif loss > 0.0:
            table.step(keys, signs, loss=MARGIN, most=self.options.most)
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
        found = vine_keys(encoded[0], *self.features.plan, encoded[1], *parts, LEAST_AMOUNT, keys, signs)
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
        found = arc_keys(encoded[0], *self.features.plan, encoded[1], amounts, LEAST_AMOUNT, keys, signs)
        return keys[:found], signs[:found]

    def tree_change(self, table: WeightTable, encoded: Encoded, allowed: Allowed, heads: Integers) -> tuple[Keys, Scores, float]:
        n, plan, words = len(heads), self.features.plan, np.arange(1, len(heads) + 1)
        arcs = arcs_under(self.features, table, encoded, allowed)
        if self.kind == FIRST and self.learner == CRF:
            amounts = np.empty_like(arcs)
            least = float(projective_marginals(arcs, 1 if self.options.single_root else 0, amounts))
            amounts = np.where(allowed, -amounts, 0.0)
            amounts[heads, words] += 1.0
            return *self.keys_of_arcs(encoded, amounts), max(0.0, least - float(arcs[heads, words].sum()))

        def siblings(h: Integers, s: Integers, m: Integers) -> Scores:
            scores = np.empty(len(h))
            score_siblings(encoded[0], *plan, *table.table, np.stack([h, s, m], axis=1), scores)
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
            before = np.array(adjacent(heads), dtype=np.int64)
            gold = np.stack([heads, before, words], axis=1)
            reached += float(siblings(heads, before, words).sum())
            used = makes_arc & (counts > LEAST_AMOUNT)
            parts = np.concatenate([gold, trees.parts[used, 1:]])
            amounts = np.concatenate([np.ones(n), -counts[used]])
            room = len(parts) * len(self.features.templates)
            more_keys, more_signs = np.empty(room, dtype=np.int64), np.empty(room)
            found = sibling_keys(encoded[0], *plan, np.ascontiguousarray(parts), amounts, more_keys, more_signs)
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
    options: Options,
    *,
    band: int = 0,
    learner: str = CRF,
    eta: float = 0.3,
    most_features: int | None = None,
) -> Pass:
    """A pass that is learned on sentences with these candidate arcs; its threshold is still to be chosen."""
    one = PassLearner(kind, features_of(kind, columns), band, learner, eta, options)
    features = one.features

    def step(table: WeightTable, i: int, progress: float) -> float:
        allowed, heads = candidates[i], gold[i]
        allowed[heads, np.arange(1, len(heads) + 1)] = True
        return one.step(table, features.encode(sentences[i].columns, len(heads)), allowed, heads, progress)

    more = kind, band, learner, eta, options.most, options.seed, options.single_root
    stage: dict[str, Any] = options.stage(f"{kind} pass", options.epochs, fingerprint_of(sentences, features.templates, *more))
    start = None
    if learner == CRF:  # features of gold arcs alone
        gold_keys = (one.gold_keys(features.encode(s.columns, len(s)), heads) for s, heads in zip(sentences, gold, strict=True))
        start = start_with(gold_keys, max(options.min_count, 1))
    return Pass(kind, part_model(features, *run_epochs(step, len(sentences), start=start, **stage), most=most_features), Rule(), band)


def with_threshold(
    found: Pass, sentences: Sequence[Sentence], candidates: Sequence[Allowed], error: float, *, rule: str, single_root: bool
) -> Pass:
    """The pass with the highest threshold that loses at most this share of the gold arcs that are candidates."""
    features, shares = found.model.features, []
    for sentence, allowed in zip(sentences, candidates, strict=True):
        n = len(sentence)
        if n == 0:
            continue
        encoded = features.encode(sentence.columns, n)
        best, values = marginals_of(found.kind, features, found.model, encoded, allowed, found.band, single_root=single_root)
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


def with_cascade(
    parser: Parser,
    sentences: Sequence[Sentence],
    development: Sequence[Sentence],
    *,
    kinds: Sequence[str] = (DICTIONARY, VINE, FIRST, SECOND),
    band: int = 3,
    error: float = ERROR,
    learner: str = CRF,
    rule: str = MARGIN_RULE,
    eta: float = 0.3,
    epochs: int = 3,
    seed: int = 0,
    most_features: int | None = None,
    checkpoints: str | Path | None = None,
    report: Callable[[Progress], None] | None = None,
) -> Parser:
    """The parser with passes before it, learned from sentences, with thresholds from the development data.

    `error` is the share of gold arcs of the development data that all passes together may lose; later passes, which know more, may lose
    more of it.
    """
    for name, given, known in (("learner", learner, LEARNERS), ("rule", rule, LARGEST)):
        if given not in known:
            raise UnknownMethod(name, given, list(known))
    check_band(band)
    single_root = parser.single_root
    train_set = checked(sentences, single_root, "sentences")
    held_out = checked(development, single_root, "development")
    columns = known_columns(train_set)
    folder = None if checkpoints is None else Path(checkpoints)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    options = Options(epochs, seed, 1.0, True, single_root, 0.0, 0, None, folder, report)
    gold = [gold_heads(sentence, options) for sentence in train_set]
    candidates, held_out_candidates = ([every_arc(len(sentence)) for sentence in some] for some in (train_set, held_out))
    passes: list[Pass] = []
    parts = [SHARES[kind] for kind in kinds if kind != DICTIONARY]
    for kind in kinds:
        if kind == DICTIONARY:
            found = learn_dictionary(train_set, gold, columns)
        else:
            found = learn_pass(
                kind, train_set, gold, candidates, columns, options,
                band=band if kind in BANDED else 0, learner=learner, eta=eta, most_features=most_features,
            )  # fmt: skip
            found = with_threshold(
                found, held_out, held_out_candidates, error * SHARES[kind] / sum(parts), rule=rule, single_root=single_root
            )
        passes.append(found)
        candidates = narrowed(found, train_set, candidates, single_root=single_root)
        held_out_candidates = narrowed(found, held_out, held_out_candidates, single_root=single_root)
    return sharing_tokens(replace(parser, passes=tuple(passes)))


def narrowed(one: Pass, sentences: Sequence[Sentence], candidates: Sequence[Allowed], *, single_root: bool) -> list[Allowed]:
    """The arcs that a pass leaves of every sentence."""
    tokens = one.model.features.tokens
    return [
        one.narrowed(tokens.of(sentence.columns, len(sentence)), allowed, single_root=single_root)
        for sentence, allowed in zip(sentences, candidates, strict=True)
    ]
