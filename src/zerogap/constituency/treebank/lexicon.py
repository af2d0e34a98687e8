"""Words below tags: log P(word | tag), for words that training saw and for those that it did not.

    P(tag | word) = (count(word, tag) + weight P(tag | classes of the word)) / (count(word) + weight)
    P(word | tag) = P(tag | word) P(word) / P(tag)

The tags of the classes of `unknown_words` are counted over the rare words of training, each class smoothed by the next coarser one in
the same way. A frequent word has only the tags that it was seen with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from zerogap.constituency.treebank.unknown_words import word_classes
from zerogap.errors import InputError
from zerogap.grid import Scores

Counts = Mapping[str, Mapping[int, float]]  # a word or class -> tag -> how often


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """Counts of words and classes with tags."""

    tags: tuple[str, ...]
    totals: Scores  # (tags,): how often training had each
    words: Counts
    classes: Counts  # of rare words
    frequent: int = 5  # a word seen more often has only its own tags
    weight: float = 1.0  # of the classes against a word's own counts
    class_weight: float = 2.0  # of a coarser class against a finer one
    lowest: float = 1e-4  # tags of a rare word that are less probable are left out

    def probabilities(self, word: str, first: bool) -> Scores:
        """P(tag | word), before anything is left out."""
        seen = self.counts(word, first)
        guess = self.guess(word, first) if seen.sum() <= self.frequent else np.zeros(len(self.tags))
        weight = self.weight if guess.any() else 0.0
        return (seen + weight * guess) / (seen.sum() + weight)

    def counts(self, word: str, first: bool) -> Scores:
        """How often the word had each tag; a capital at the beginning of a sentence says little, so that the word without it counts too."""
        seen = np.zeros(len(self.tags))
        forms = {word, word[:1].lower() + word[1:]} if first else {word}
        for form in forms:
            for tag, count in self.words.get(form, {}).items():
                seen[tag] += count
        return seen

    def guess(self, word: str, first: bool) -> Scores:
        """P(tag | classes of the word)."""
        found = self.totals / self.totals.sum()
        for name in ("", *word_classes(word, first)):
            counts = self.classes.get(name)
            if counts is not None:
                seen = np.zeros(len(self.tags))
                seen[list(counts)] = list(counts.values())
                # the class of all rare words says which tags are open: it takes the place of the totals
                weight = self.class_weight if name else 0.0
                found = (seen + weight * found) / (seen.sum() + weight)
        return found

    def scores(self, words: Sequence[str], *, tags: Sequence[Sequence[str] | None] | None = None) -> Scores:
        """log P(word | tag), (n, tags), -inf where the word cannot have the tag.

        `tags` allows only these tags of a word; of them, one that training never saw with the word has a low score, not -inf.
        """
        table = np.full((len(words), len(self.tags)), -np.inf)
        if tags is not None and len(tags) != len(words):
            raise InputError(f"tags has {len(tags)} entries for {len(words)} words: expected one for each.")
        size, place = self.totals.sum(), {tag: i for i, tag in enumerate(self.tags)}
        for i, word in enumerate(words):
            found = self.probabilities(word, i == 0)
            allowed = None if tags is None else tags[i]
            if allowed is not None:
                unknown = [tag for tag in allowed if tag not in place]
                if unknown or not allowed:
                    raise InputError(f"tags[{i}] has {unknown[0] if unknown else 'no tag'!r}: expected tags of the lexicon.")
                keep = np.array([place[tag] for tag in allowed])
                # a tag that the word never had is as good as its share of all words, far below any that it had
                found = np.where(found > 0, found, self.lowest * self.totals / size)
            else:
                keep = np.flatnonzero(found > (self.lowest * found.max() if self.counts(word, i == 0).sum() <= self.frequent else 0.0))
            share = max(sum(self.words.get(word, {}).values()), 0.5) / size  # P(word)
            table[i, keep] = np.log(found[keep] * share * size / self.totals[keep])
        return table


def train_lexicon(
    sentences: Iterable[Sequence[tuple[str, str]]], *, rare: int = 2, frequent: int = 5, weight: float = 1.0, class_weight: float = 2.0
) -> Lexicon:
    """A lexicon from sentences of (word, tag); words seen at most `rare` times stand for those that were never seen."""
    tagged = [(word, tag, i == 0) for sentence in sentences for i, (word, tag) in enumerate(sentence)]
    if not tagged:
        raise InputError("there are no sentences: expected some to train a lexicon.")
    tags = tuple(sorted({tag for _, tag, _ in tagged}))
    place = {tag: i for i, tag in enumerate(tags)}
    often = Counter(word for word, _, _ in tagged)
    totals = np.zeros(len(tags))
    words: dict[str, Counter[int]] = {}
    classes: dict[str, Counter[int]] = {}
    for word, tag, first in tagged:
        totals[place[tag]] += 1
        words.setdefault(word, Counter())[place[tag]] += 1
        if often[word] <= rare:
            for name in ("", *word_classes(word, first)):
                classes.setdefault(name, Counter())[place[tag]] += 1
    return Lexicon(tags, totals, words, classes, frequent, weight, class_weight)
