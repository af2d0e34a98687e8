"""Learns a tagger: weights of features and tags of a conditional random field over trigrams, by dual averaging.

The loss of a sentence is minus the logarithm of the probability of its tags (Lafferty et al. 2001). Weights follow Xiao 2010, section 1.3,
with the step sizes of Duchi et al. 2011, section 5: with the sum u of all gradients of a weight so far, the sum s of their squares, and
after m sentences

    weight = rate * shrunk(u, penalty * m) / (sqrt(s) + 0.1),    shrunk(u, c) = sign(u) * max(|u| - c, 0)

so that a weight needs no visit while its feature does not occur, and most weights are exactly 0. The weight of a feature and a tag is there
from its first gradient on, in a hash table that grows. A feature also has weights for universal tags, which tags that share one share.
What is learned in the end is the mean of the weights after each of several passes.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Integers, Scores
from zerogap.kernels import float64, inner, int64, kernel, readonly, record, types, writable
from zerogap.oracles.labels.trigram_sums import sum_sequences
from zerogap.sequence.tagger.features import EDGE, NODE, NONE, key_of, mixed

RATE = 0.05
NEGLIGIBLE = 1e-3  # gradients that count as 0
SMALLEST = 1e-10  # probability, in the loss that is reported
STEP, LARGEST = 1 / 32, 127  # weights of a tagger are multiples of STEP, up to LARGEST of them
UNIVERSAL = 1 << 20  # where the numbers of universal tags begin, behind those of tags, which begin at 1
GRADIENTS, SQUARES, MEAN = 0, 1, 2  # columns of `sums`
MOMENT, LOSS, FILLED = 0, 1, 2  # entries of `state`


class Corpus(NamedTuple):
    """All sentences: words first[s] to first[s + 1], with candidates start[t] to start[t + 1]."""

    first: Integers
    attributes: Integers  # (words, attributes)
    start: Integers
    candidates: Integers
    gold: Integers
    kind_of: Integers  # of labels
    universal: Integers  # of labels
    node_plan: Integers
    edge_plan: Integers


class Learned(NamedTuple):
    """A table of pairs of feature and tag, half full at most, and trigrams of kinds; sums have the columns GRADIENTS, SQUARES and MEAN."""

    keys: Integers
    sums: NDArray[np.float32]
    trigram: NDArray[np.float32]  # (kinds, kinds, kinds): the weights as they are
    trigram_sums: NDArray[np.float32]
    state: Scores  # MOMENT, how many sentences; LOSS; FILLED, how many pairs


class Candidates(NamedTuple):
    """What a sentence of n words may be tagged with, and its features."""

    labels: Integers  # those of word t from at[t] on
    kinds: Integers  # of labels
    gold: Integers  # (n,)
    at: Integers  # (n + 1,)
    pair: Integers  # (n + 1,): where pairs of candidates of word t - 1 and t begin
    node_keys: Integers  # (n, templates)
    edge_keys: Integers


class Weights:
    """What is learned: a table of pairs of feature and tag, and trigrams of kinds."""

    __slots__ = ("keys", "means", "penalty", "state", "sums", "trigram", "trigram_sums")

    def __init__(self, n_kinds: int, penalty: float) -> None:
        self.penalty = penalty  # per sentence
        self.keys, self.sums = empty_table(1 << 16)
        self.trigram = np.zeros((n_kinds, n_kinds, n_kinds), dtype=np.float32)
        self.trigram_sums = np.zeros((n_kinds, n_kinds, n_kinds, 3), dtype=np.float32)
        self.state = np.zeros(3)
        self.means = 0  # how many passes the means are of

    def learn(self, corpus: Corpus, order: Integers) -> float:
        """A pass over the sentences; returns the sum of their losses, those of words given the other words' tags unknown."""
        self.state[LOSS] = 0.0
        done = 0
        while done < len(order):
            done += learn(order[done:], corpus, self.penalty, Learned(self.keys, self.sums, self.trigram, self.trigram_sums, self.state))
            if done < len(order):
                self.keys, self.sums = self.moved(2 * len(self.keys))
        return float(self.state[LOSS])

    def count(self, *, anew: bool) -> None:
        """Lets the weights as they are now count for the mean, or be all that counts."""
        self.means = 1 if anew else self.means + 1
        for sums in (self.sums, self.trigram_sums.reshape(-1, 3)):
            sums[:, MEAN] *= not anew
            add_weights(sums, self.state[MOMENT] * self.penalty)  # out: sums

    def moved(self, size: int) -> tuple[Integers, NDArray[np.float32]]:
        keys, sums = empty_table(size)
        move(self.keys, self.sums, keys, sums)  # out: keys, sums
        return keys, sums

    def collected(self, corpus: Corpus) -> tuple[Integers, Integers, Integers]:
        """Keys of features, labels and weights, of all that is not 0 as a small integer."""
        keys, sums = self.moved(2 * len(self.keys))  # `collect` adds tags that have a weight only through their universal tag
        values = sums[:, MEAN] / max(self.means, 1)
        labels, weights, features = (np.empty(len(keys), dtype=np.int64) for _ in range(3))
        found = collect(corpus, keys, values, np.zeros(len(keys), dtype=np.int64), features, labels, weights)
        return features[:found], labels[:found], weights[:found]

    def trigrams(self) -> Integers:
        return np.clip(np.rint(self.trigram_sums[..., MEAN] / (max(self.means, 1) * STEP)), -LARGEST, LARGEST).astype(np.int64)


def empty_table(size: int) -> tuple[Integers, NDArray[np.float32]]:
    """Keys of pairs, and the sums of their gradients, of the squares of these, and of the weights that count for the mean."""
    return np.full(size, NONE, dtype=np.int64), np.zeros((size, 3), dtype=np.float32)


@inner
def shrunk(gradients, squares, level):
    """The weight, with `level` = penalty * sentences so far."""
    if gradients > level:
        return RATE * (gradients - level) / (math.sqrt(squares) + 0.1)
    if gradients < -level:
        return RATE * (gradients + level) / (math.sqrt(squares) + 0.1)
    return 0.0


@inner
def slot_of(keys, key):
    """Where a pair is, or would be."""
    mask = keys.shape[0] - 1
    slot = (key >> 20) & mask
    while keys[slot] != key and keys[slot] != NONE:
        slot = (slot + 1) & mask
    return slot


@inner
def weight_of(keys, sums, key, level):
    slot = slot_of(keys, key)
    return shrunk(sums[slot, GRADIENTS], sums[slot, SQUARES], level)


@inner
def add(keys, sums, key, gradient):
    """Returns 1 if the pair is new."""
    slot = slot_of(keys, key)
    new = 1 if keys[slot] == NONE else 0
    keys[slot] = key
    sums[slot, GRADIENTS] += gradient
    sums[slot, SQUARES] += gradient * gradient
    return new


@inner
def probability(score, total):
    return math.exp(min(score - total, 0.0))


@inner
def width_of(at, t):
    """How many candidates word t has; one outside of the sentence."""
    return at[t + 1] - at[t] if 0 <= t < at.shape[0] - 1 else 1


@kernel(int64(writable(types.float32, 2), float64))
def add_weights(sums, level):  # out: sums
    for i in range(sums.shape[0]):
        sums[i, MEAN] += shrunk(sums[i, GRADIENTS], sums[i, SQUARES], level)
    return 0


@kernel(int64(readonly(int64, 1), readonly(types.float32, 2), writable(int64, 1), writable(types.float32, 2)))
def move(keys, sums, to_keys, to_sums):  # out: to_keys, given as NONE, to_sums
    for i in range(keys.shape[0]):
        if keys[i] != NONE:
            slot = slot_of(to_keys, keys[i])
            to_keys[slot] = keys[i]
            for c in range(sums.shape[1]):
                to_sums[slot, c] = sums[i, c]
    return 0


@inner
def fill_pairs(sentence, universal, learned, level, pairs):  # out: pairs
    """Scores of pairs of neighbouring candidates. What has no choice is not scored."""
    labels, at, pair, node_keys, edge_keys = sentence.labels, sentence.at, sentence.pair, sentence.node_keys, sentence.edge_keys
    keys, sums = learned.keys, learned.sums
    for t in range(at.shape[0] - 1):
        width, before = width_of(at, t), width_of(at, t - 1)
        for j in range(width):
            label = labels[at[t] + j]
            score = 0.0
            if width > 1:
                for k in range(node_keys.shape[1]):
                    if node_keys[t, k] != NONE:
                        score += weight_of(keys, sums, mixed(node_keys[t, k], label + 1), level)
                        score += weight_of(keys, sums, mixed(node_keys[t, k], UNIVERSAL + universal[label]), level)
            for i in range(before):
                pairs[pair[t] + i * width + j] = score
        if width * before > 1:
            for i in range(before):
                previous = labels[at[t - 1] + i] + 1 if t > 0 else 0
                for k in range(edge_keys.shape[1]):
                    if edge_keys[t, k] != NONE:
                        key = mixed(edge_keys[t, k], previous)
                        for j in range(width):
                            pairs[pair[t] + i * width + j] += weight_of(keys, sums, mixed(key, labels[at[t] + j] + 1), level)


@inner
def add_gradients(sentence, universal, pairs, inside, outside, total, learned):  # out: learned
    """What is there minus what is expected, of words and of two and three neighbours; behind the last word stands a boundary."""
    labels, kinds, gold, at, pair, node_keys, edge_keys = sentence
    keys, sums, trigram, trigram_sums, state = learned
    n, edge = at.shape[0] - 1, trigram.shape[0] - 1
    for t in range(n + 1):
        width, before, further = width_of(at, t), width_of(at, t - 1), width_of(at, t - 2)
        for j in range(width):
            kind = kinds[at[t] + j] if t < n else edge
            right = t == n or labels[at[t] + j] == gold[t]
            expected = 0.0
            for i in range(before):
                previous = kinds[at[t - 1] + i] if t > 0 else edge
                both = right and (t == 0 or labels[at[t - 1] + i] == gold[t - 1])
                here = pair[t] + i * width + j if t < n else 0
                share = probability(inside[here] + outside[here], total) if t < n else 1.0
                expected += share
                if share < NEGLIGIBLE and not both:
                    continue
                for h in range(further):
                    earlier = kinds[at[t - 2] + h] if t > 1 else edge
                    there = pair[t - 1] + h * before + i if t > 0 else 0
                    if t == 0:
                        three = share
                    elif t < n:
                        three = probability(inside[there] + trigram[earlier, previous, kind] + pairs[here] + outside[here], total)
                    else:
                        three = probability(inside[there] + outside[there], total)
                    all_three = both and (t < 2 or labels[at[t - 2] + h] == gold[t - 2])
                    gradient = (1.0 if all_three else 0.0) - three
                    if abs(gradient) > NEGLIGIBLE:
                        trigram_sums[earlier, previous, kind, GRADIENTS] += gradient
                        trigram_sums[earlier, previous, kind, SQUARES] += gradient * gradient
                gradient = (1.0 if both else 0.0) - share
                if t < n and width * before > 1 and abs(gradient) > NEGLIGIBLE:
                    tag_before = labels[at[t - 1] + i] + 1 if t > 0 else 0
                    for k in range(edge_keys.shape[1]):
                        if edge_keys[t, k] != NONE:
                            key = mixed(mixed(edge_keys[t, k], tag_before), labels[at[t] + j] + 1)
                            state[FILLED] += add(keys, sums, key, gradient)
            if t < n and width > 1:
                if right:
                    state[LOSS] -= math.log(max(expected, SMALLEST))
                gradient = (1.0 if right else 0.0) - expected
                if abs(gradient) > NEGLIGIBLE:
                    label = labels[at[t] + j]
                    for k in range(node_keys.shape[1]):
                        if node_keys[t, k] != NONE:
                            state[FILLED] += add(keys, sums, mixed(node_keys[t, k], label + 1), gradient)
                            state[FILLED] += add(keys, sums, mixed(node_keys[t, k], UNIVERSAL + universal[label]), gradient)


@inner
def refresh_trigrams(kinds, at, trigram_sums, level, trigram):  # out: trigram, as far as the sentence concerns it
    n, edge = at.shape[0] - 1, trigram.shape[0] - 1
    for t in range(n + 1):
        for h in range(width_of(at, t - 2)):
            earlier = kinds[at[t - 2] + h] if t > 1 else edge
            for i in range(width_of(at, t - 1)):
                previous = kinds[at[t - 1] + i] if t > 0 else edge
                for j in range(width_of(at, t)):
                    kind = kinds[at[t] + j] if t < n else edge
                    of_three = trigram_sums[earlier, previous, kind]
                    trigram[earlier, previous, kind] = shrunk(of_three[GRADIENTS], of_three[SQUARES], level)


CORPUS = record(Corpus, *(readonly(int64, ndim) for ndim in (1, 2, 1, 1, 1, 1, 1, 2, 2)))
LEARNED = record(
    Learned, writable(int64, 1), writable(types.float32, 2), writable(types.float32, 3), writable(types.float32, 4), writable(float64, 1)
)


@kernel(int64(readonly(int64, 1), CORPUS, float64, LEARNED))
def learn(order, corpus, penalty, learned):  # out: learned
    """Learns from the sentences in order, until the table is half full; returns from how many."""
    first, attributes, start, candidates, gold, kind_of, universal, node_plan, edge_plan = corpus
    keys, _, trigram, trigram_sums, state = learned
    room = 1024
    pairs, inside, outside = np.empty(room), np.empty(room), np.empty(room)
    for o in range(order.shape[0]):
        begin, end = first[order[o]], first[order[o] + 1]
        n = end - begin
        if n == 0:
            continue
        labels = candidates[start[begin] : start[end]]
        at, pair = np.zeros(n + 1, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
        node_keys = np.empty((n, node_plan.shape[0]), dtype=np.int64)
        edge_keys = np.empty((n, edge_plan.shape[0]), dtype=np.int64)
        most = 0
        for t in range(n):
            at[t + 1] = start[begin + t + 1] - start[begin]
            width, before = width_of(at, t), width_of(at, t - 1)
            pair[t + 1] = pair[t] + width * before
            most += 2 * width * node_plan.shape[0] + width * before * edge_plan.shape[0]
            for k in range(node_plan.shape[0]):
                node_keys[t, k] = key_of(NODE, node_plan, k, attributes, begin, end, begin + t)
            for k in range(edge_plan.shape[0]):
                edge_keys[t, k] = key_of(EDGE, edge_plan, k, attributes, begin, end, begin + t)
        if 2 * (state[FILLED] + most) > keys.shape[0]:
            return o
        if pair[n] > room:
            room = 2 * pair[n]
            pairs, inside, outside = np.empty(room), np.empty(room), np.empty(room)
        kinds = np.empty(labels.shape[0], dtype=np.int64)
        for j in range(labels.shape[0]):
            kinds[j] = kind_of[labels[j]]
        state[MOMENT] += 1.0
        level = penalty * state[MOMENT]
        sentence = Candidates(labels, kinds, gold[begin:end], at, pair, node_keys, edge_keys)
        fill_pairs(sentence, universal, learned, level, pairs)
        total = sum_sequences(at, pair, kinds, pairs, trigram, inside, outside)
        add_gradients(sentence, universal, pairs, inside, outside, total, learned)
        refresh_trigrams(kinds, at, trigram_sums, level, trigram)
    return order.shape[0]


@kernel(
    int64(
        CORPUS,
        writable(int64, 1),
        readonly(types.float32, 1),
        writable(int64, 1),
        writable(int64, 1),
        writable(int64, 1),
        writable(int64, 1),
    )
)
def collect(corpus, keys, values, taken, features, labels, weights):  # out: keys, taken, features, labels, weights
    """Lists every pair of feature and tag that has a weight once; returns how many there are."""
    first, attributes, start, candidates, _, _, universal, node_plan, edge_plan = corpus
    found, n_nodes, n_edges = 0, node_plan.shape[0], edge_plan.shape[0]
    for s in range(first.shape[0] - 1):
        for t in range(first[s], first[s + 1]):
            before = start[t] - start[t - 1] if t > first[s] else 1
            for k in range(n_nodes + n_edges * before):
                if k < n_nodes:
                    key = key_of(NODE, node_plan, k, attributes, first[s], first[s + 1], t)
                else:
                    key = key_of(EDGE, edge_plan, (k - n_nodes) % n_edges, attributes, first[s], first[s + 1], t)
                    if key != NONE:
                        key = mixed(key, candidates[start[t - 1] + (k - n_nodes) // n_edges] + 1 if t > first[s] else 0)
                if key == NONE:
                    continue
                for p in range(start[t], start[t + 1]):
                    pair = mixed(key, candidates[p] + 1)
                    slot = slot_of(keys, pair)
                    if taken[slot] == 0:
                        value = values[slot] if keys[slot] == pair else 0.0
                        if k < n_nodes:
                            shared = slot_of(keys, mixed(key, UNIVERSAL + universal[candidates[p]]))
                            value += values[shared] if keys[shared] != NONE else 0.0
                        weight = round(value / STEP)
                        if weight != 0:
                            features[found], labels[found] = key, candidates[p]
                            weights[found] = max(min(weight, LARGEST), -LARGEST)
                            keys[slot], taken[slot] = pair, 1
                            found += 1
    return found
