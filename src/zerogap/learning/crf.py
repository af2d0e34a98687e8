"""The objective of a linear-chain conditional random field (Lafferty, McCallum & Pereira 2001), over all sequences at once.

    minimise  sum_s (log Z_s - score of gold_s) + l2/2 |x|^2,     gradient = expected counts - gold counts + l2 x

The parameters are one vector: the weights of pairs of feature and label, then transitions (L, L), start and end (L,).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from zerogap.features.labels.attributes import Integers
from zerogap.features.labels.index import Corpus, Features, Rows
from zerogap.grid import Scores
from zerogap.oracles.labels.marginals import chain_expectations, marginals

Masks = tuple[Scores, Scores, Scores]  # 0 or -inf: which transitions, starts and ends are allowed


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the parameters are in their vector."""

    n_weights: int
    n_labels: int

    @property
    def size(self) -> int:
        return self.n_weights + self.n_labels * (self.n_labels + 2)

    def split(self, x: Scores) -> tuple[Scores, Scores, Scores, Scores]:
        """Views: weights, transitions, start, end."""
        a, size = self.n_weights, self.n_labels
        b = a + size * size
        return x[:a], x[a:b].reshape(size, size), x[b : b + size], x[b + size :]


@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """Sequences with the labels that they should get."""

    features: Features
    corpus: Corpus
    gold: Integers  # (tokens,)
    allowed: Masks
    layout: Layout = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "layout", Layout(self.features.n_weights, self.features.n_labels))

    def __len__(self) -> int:
        return len(self.corpus.first) - 1

    def tokens(self, s: int) -> slice:
        return slice(self.corpus.first[s], self.corpus.first[s + 1])

    def one(self, s: int) -> tuple[Rows, Integers]:
        """The features of the tokens of a sequence, and its labels."""
        at = self.tokens(s)
        return self.corpus.rows[at], self.gold[at]


def counts_of(labels: Integers, first: Integers, layout: Layout, features: Features, rows: Rows) -> Scores:
    """How often every feature, transition, start and end occurs in these labellings."""
    counts = np.zeros(layout.size)
    weights, transitions, start, end = layout.split(counts)
    once = np.zeros((len(labels), layout.n_labels))
    once[np.arange(len(labels)), labels] = 1.0
    features.add(rows, once, 1.0, weights)
    begin, last = ends_of(first)
    np.add.at(start, labels[begin], 1.0)
    np.add.at(end, labels[last], 1.0)
    inner = np.setdiff1d(np.arange(len(labels)), begin, assume_unique=True)
    np.add.at(transitions, (labels[inner - 1], labels[inner]), 1.0)
    return counts


def ends_of(first: Integers) -> tuple[Integers, Integers]:
    """The first and the last token of every sequence that has any."""
    there = first[1:] > first[:-1]
    return first[:-1][there], first[1:][there] - 1


def log_likelihood_terms(
    emissions: Scores, first: Integers, transitions: Scores, start: Scores, end: Scores
) -> tuple[float, Scores, Scores]:
    """The sum of log partition functions, node marginals (tokens, L), and the sum (L, L) of edge marginals."""
    node, edge, totals = np.empty_like(emissions), np.empty_like(transitions), np.empty(len(first) - 1)
    if chain_expectations(emissions, first, transitions, start, end, node, edge, totals):
        for s in np.flatnonzero(np.isnan(totals)).tolist():  # too far apart for products of probabilities
            at = slice(first[s], first[s + 1])
            one = marginals(emissions[at], transitions, start, end)
            node[at] = one.node
            edge += one.edge.sum(axis=0)
            totals[s] = one.log_partition
    return float(np.sum(totals)), node, edge


class Objective:
    """Value and gradient of the regularised negative log-likelihood of all chains."""

    def __init__(self, chains: Chains, l2: float) -> None:
        self.chains, self.l2 = chains, l2
        self.gold_counts = counts_of(chains.gold, chains.corpus.first, chains.layout, chains.features, chains.corpus.rows)

    def __call__(self, x: Scores) -> tuple[float, Scores]:
        chains, first = self.chains, self.chains.corpus.first
        weights, *tables = chains.layout.split(x)
        emissions = chains.features.scores(chains.corpus.rows, weights)
        masked = [table + mask for table, mask in zip(tables, chains.allowed, strict=True)]
        total, node, edge = log_likelihood_terms(emissions, first, *masked)
        gradient = self.l2 * x - self.gold_counts
        of_weights, of_transitions, of_start, of_end = chains.layout.split(gradient)
        chains.features.add(chains.corpus.rows, node, 1.0, of_weights)
        of_transitions += edge
        begin, last = ends_of(first)
        of_start += node[begin].sum(axis=0)
        of_end += node[last].sum(axis=0)
        return total - float(np.sum(self.gold_counts * x)) + 0.5 * self.l2 * float(np.sum(x * x)), gradient
