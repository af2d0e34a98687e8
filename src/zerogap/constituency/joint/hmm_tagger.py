"""A trigram tagger with hidden Markov states: interpolated trigrams, and tags of unknown words by their suffixes (Brants 2000).

    score(tags) = sum_t  log P(tag_t | tag_t-2, tag_t-1)  +  log P(tag_t | word_t) - log P(tag_t)

P(word | tag) is P(tag | word) P(word) / P(tag) by Bayes, and P(word) is the same for all tags. Trigrams are mixed with bigrams and
unigrams by deleted interpolation. A word that training had has its counts, mixed with a guess by its form if it is rare. The guess goes
from all rare words to those of the same shape (capitals, digits, hyphens) and on to longer and longer suffixes, each smoothed by the one
before. Departure: a rare word may have tags that training never gave it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from zerogap.errors import Infeasible, InputError
from zerogap.grid import Scores
from zerogap.oracles.labels.trigram_prices import Candidates, best_tags

LONGEST_SUFFIX = 7


@dataclass(frozen=True, slots=True, eq=False)
class HmmTagger:
    """Tags, the logarithms of trigram probabilities, and counts of words and suffixes with tags."""

    tags: tuple[str, ...]
    transitions: Scores  # (tags + 1,) * 3, oldest first, the last index the boundary
    totals: Scores  # (tags,): how often training had each
    words: dict[str, dict[int, float]]
    suffixes: dict[tuple[str, str], dict[int, float]]  # (shape, suffix) of rare words
    rare_weight: float  # of the guess by form, as if the form had been seen so often
    suffix_weight: float  # of a shorter suffix against a longer one
    frequent: int  # a word seen more often has only its own tags
    lowest: float = 1e-4  # tags of other words that are less probable than this share of the best are left out

    def probabilities(self, word: str, first: bool) -> Scores:
        """P(tag | word) for the first word of a sentence or another one."""
        seen = np.zeros(len(self.tags))
        forms = {word, word[:1].lower() + word[1:]} if first else {word}
        for form in forms:
            for tag, count in self.words.get(form, {}).items():
                seen[tag] += count
        if seen.sum() > self.frequent:
            return seen / seen.sum()
        mixed = (seen + self.rare_weight * self.guess(word, first)) / (seen.sum() + self.rare_weight)
        return np.where(mixed >= self.lowest * mixed.max(), mixed, 0.0)

    def guess(self, word: str, first: bool) -> Scores:
        """P(tag | form), from no suffix to the longest one that training had."""
        found = self.totals / self.totals.sum()
        for i, form in enumerate(forms_of(word, first)):
            counts = self.suffixes.get(form)
            if counts is None:
                break
            seen = np.zeros(len(self.tags))
            seen[list(counts)] = list(counts.values())
            # all rare words together say which tags are open, their shape much about which of them it is
            weight = self.suffix_weight if i > 1 else 0.5
            found = (seen + weight * found) / (seen.sum() + weight)
        return found

    def emissions(self, words: Sequence[str]) -> Scores:
        """log P(tag | word) - log P(tag), (n, tags), -inf where the word cannot have the tag."""
        table = np.array([self.probabilities(word, i == 0) for i, word in enumerate(words)]).reshape(len(words), len(self.tags))
        with np.errstate(divide="ignore"):
            return np.log(table) - np.log(self.totals / self.totals.sum())

    def tag(self, words: Sequence[str]) -> list[str]:
        """The best tags; Infeasible if there are none."""
        if len(words) == 0:
            return []
        nodes = self.emissions(words)
        some = Candidates.of(nodes > -np.inf)
        path = np.empty(len(words), dtype=np.int64)
        total = best_tags(some.first, some.pair, some.tags, nodes.reshape(-1)[some.places], self.transitions, np.empty(some.pair[-1]), path)
        if total == -np.inf:
            raise Infeasible("every sequence of tags is forbidden (-inf).")
        return [self.tags[tag] for tag in some.tags[path]]


def shape(word: str, first: bool) -> str:
    """What kind of characters a word has: it says more about an unknown word than any one of them."""
    digits = any(c.isdigit() for c in word)
    if digits and not any(c.isalpha() for c in word):
        return "number"
    if not any(c.isalnum() for c in word):
        return "mark"
    capital = "first" if first and word[:1].isupper() else "all" if word.isupper() else "capital" if word[:1].isupper() else "lower"
    return capital + ("-digit" if digits else "") + ("-hyphen" if "-" in word[1:] else "")


def forms_of(word: str, first: bool) -> list[tuple[str, str]]:
    """What a word has in common with others, from all words to those of its shape and its longest suffix."""
    kind = shape(word, first)
    return [("", ""), *((kind, word[len(word) - length :].lower()) for length in range(min(len(word), LONGEST_SUFFIX) + 1))]


def train_tagger(
    sentences: Iterable[Iterable[tuple[str, str]]],
    *,
    rare: int = 3,
    rare_weight: float = 1.0,
    suffix_weight: float = 4.0,
    frequent: int = 5,
) -> HmmTagger:
    """A tagger from sentences of (word, tag); the forms of words seen at most `rare` times stand for those of words never seen."""
    given = [list(sentence) for sentence in sentences]
    tags = tuple(sorted({tag for sentence in given for _, tag in sentence}))
    if not tags:
        raise InputError("there are no tagged words: expected some to train a tagger.")
    place = {tag: i for i, tag in enumerate(tags)}
    often = Counter(word for sentence in given for word, _ in sentence)
    edge = len(tags)
    grams = np.zeros((edge + 1,) * 3)
    totals = np.zeros(edge)
    words: dict[str, dict[int, float]] = {}
    suffixes: dict[tuple[str, str], dict[int, float]] = {}
    for sentence in given:
        numbers = [edge, edge, *(place[tag] for _, tag in sentence), edge]
        for i in range(2, len(numbers) if len(sentence) else 0):
            grams[numbers[i - 2], numbers[i - 1], numbers[i]] += 1
        for i, (word, tag) in enumerate(sentence):
            totals[place[tag]] += 1
            counts = words.setdefault(word, {})
            counts[place[tag]] = counts.get(place[tag], 0.0) + 1
            if often[word] <= rare:
                for form in forms_of(word, i == 0):
                    counts = suffixes.setdefault(form, {})
                    counts[place[tag]] = counts.get(place[tag], 0.0) + 1
    return HmmTagger(tags, interpolated(grams), totals, words, suffixes, rare_weight, suffix_weight, frequent)


def interpolated(grams: Scores) -> Scores:
    """log (l1 P(c) + l2 P(c | b) + l3 P(c | a, b)) from counts of (a, b, c); each l is the share of trigrams that its model, with
    that one occurrence left out, explains best (deleted interpolation)."""
    pairs, singles = grams.sum(axis=0), grams.sum(axis=(0, 1))  # of (b, c) and of c, as what comes next
    contexts, before = grams.sum(axis=2), pairs.sum(axis=1)  # of (a, b) and of b, as what came before
    total = singles.sum()
    a, b, c = np.nonzero(grams)
    counts = grams[a, b, c]

    def without_one(part: Scores, whole: Scores) -> Scores:
        return np.where(whole > 1, (part - 1) / np.maximum(whole - 1, 1), 0.0)

    explained = np.stack([
        np.full(len(counts), 1.0) * without_one(singles[c], np.full(len(counts), total)),
        without_one(pairs[b, c], before[b]),
        without_one(counts, contexts[a, b]),
    ])  # fmt: skip
    winner = 2 - explained[::-1].argmax(axis=0)  # ties to the longest
    shares = np.array([counts[winner == k].sum() for k in range(3)]) + 1e-3
    shares /= shares.sum()
    unigram = (singles + 0.5) / (singles + 0.5).sum()
    bigram = np.where(before[:, None] > 0, pairs / np.maximum(before, 1)[:, None], unigram)
    trigram = np.where(contexts[:, :, None] > 0, grams / np.maximum(contexts, 1)[:, :, None], bigram[None])
    return np.log(shares[0] * unigram + shares[1] * bigram[None] + shares[2] * trigram)
