"""Training of taggers: the candidates of words from counts, the weights of features by `tagger_learning`; and tags for training data.

A parser that is to be used with predicted tags should be trained with tags of the same quality: `jackknife` gives them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError
from zerogap.problems.json_values import shorten
from zerogap.sequence.tagger.features import (
    CLOSED,
    FORM,
    KEY_SHIFT,
    KIND,
    LONGEST_LOOK,
    LOOK,
    LOWER,
    N_ATTRIBUTES,
    NONE,
    OPEN,
    PLAIN,
    SUFFIX,
    characters,
    hashed,
    list_candidates,
    read_words,
)
from zerogap.sequence.tagger.learning import Corpus, Weights
from zerogap.sequence.tagger.tagger import MOST_TAGS, Integers, Tagger, Tags, kinds_of, plan_of, table_of, text_of

Words = tuple[Sequence[str], Sequence[str], Sequence[str]]  # forms, UPOS, XPOS

TEMPLATES = (  # chosen on the English Web Treebank, trained on 80% of the training data, tested on the others and on development data
    "bias", "form[0]", "lower[0]", "plain[0]", "suffix1[0]", "suffix2[0]", "suffix3[0]", "suffix4[0]", "suffix5[0]",
    "prefix1[0]", "prefix2[0]", "prefix3[0]", "prefix4[0]", "shape[0]", "kind[0]", "kind[0]+suffix2[0]", "kind[0]+suffix3[0]",
    "kind[0]+suffix4[0]", "kind[0]+prefix3[0]", "lower[-2]", "lower[-1]", "lower[1]", "lower[2]", "lower[-1]+lower[0]",
    "lower[0]+lower[1]", "suffix3[-1]", "suffix3[1]", "kind[-1]+kind[0]", "kind[0]+kind[1]",
    "case[0]+kind[0]", "case[0]+kind[-1]+kind[0]",
)  # fmt: skip
EDGE_TEMPLATES = ("bias", "lower[-1]", "lower[0]", "lower[1]")
CLOSED_FROM = 15  # occurrences from which a form has no other tags than those that it was seen with
RARE = 10  # occurrences up to which a form speaks for unknown words that look like it
SLIP = 0.001  # a tag that has a smaller share of the occurrences of a word is no candidate
LOOK_FROM, LOOK_SHARE, MOST_LOOKS = 20, 0.004, 24  # words of a look; the share and the number of its tags that are candidates

PENALTY = 0.05  # of a pass over all sentences
HIDDEN = 0.3  # of a word that occurs n times, HIDDEN / (HIDDEN + n) of the occurrences are hidden in every pass


@dataclass(frozen=True, slots=True)
class Progress:
    """How far training is: the loss per word, and accuracies on development data, if there are some."""

    epoch: int
    loss: float
    upos: float | None = None
    xpos: float | None = None


def train_tagger(
    sentences: Sequence[Words],
    *,
    development: Sequence[Words] = (),
    epochs: int = 8,
    seed: int = 0,
    penalty: float = PENALTY,
    templates: Sequence[str] = TEMPLATES,
    edge_templates: Sequence[str] = EDGE_TEMPLATES,
    report: Callable[[Progress], None] | None = None,
) -> Tagger:
    """A tagger of sentences like these, each forms, universal and language-specific tags.

    Higher penalties give smaller models. Development sentences are only reported on. The same input gives the same model.
    """
    check_options(epochs, seed, penalty)
    sentences = checked(sentences, "sentences")
    development = checked(development, "development") if development else []
    tags = tuple(sorted({tag for _, upos, xpos in sentences for tag in zip(upos, xpos, strict=True)}))
    if not 0 < len(tags) < MOST_TAGS:
        raise InputError(f"sentences have {len(tags)} different tags: expected 1 to {MOST_TAGS - 1}.")
    number = {tag: i for i, tag in enumerate(tags)}
    gold = np.array([number[tag] for _, upos, xpos in sentences for tag in zip(upos, xpos, strict=True)], dtype=np.int64)
    codes = text_of([form for forms, _, _ in sentences for form in forms])
    first = np.array(list(itertools.accumulate((len(forms) for forms, _, _ in sentences), initial=0)), dtype=np.int64)
    attributes = np.empty((len(gold), N_ATTRIBUTES), dtype=np.int64)
    read_words(codes, first, characters(), attributes)
    rows = dictionary(attributes, gold, len(tags))
    start, candidates = candidates_of(attributes, rows, gold, len(tags))
    kinds, universal = kinds_of(tags), np.unique([upos for upos, _ in tags], return_inverse=True)[1].astype(np.int64)
    plans = plan_of(templates), plan_of(edge_templates)
    corpus = Corpus(first, attributes, start, candidates, gold, kinds, universal, *plans)
    weights, rng = Weights(int(kinds.max()) + 2, penalty / len(sentences)), np.random.default_rng(seed)
    for epoch in range(1, epochs + 1):
        loss = weights.learn(hidden(corpus, rng), rng.permutation(len(sentences)))
        weights.count(anew=2 * (epoch - 1) <= epochs)  # the mean of the later half
        if report is not None:
            tagger = assembled(tags, templates, edge_templates, rows, weights, corpus) if development else None
            report(Progress(epoch, loss / len(gold), *(accuracy(tagger, development) if tagger else ())))
    return assembled(tags, templates, edge_templates, rows, weights, corpus)


def hidden(corpus: Corpus, rng: np.random.Generator) -> Corpus:
    """The corpus without the identity of some words, of rare ones more often, so that their looks and neighbours are learned."""
    _, form_of, count = np.unique(corpus.attributes[:, FORM], return_inverse=True, return_counts=True)
    chosen = rng.random(len(form_of)) < HIDDEN / (HIDDEN + count[form_of])
    attributes = corpus.attributes.copy()
    for attribute in (FORM, LOWER, PLAIN):
        attributes[chosen, attribute] = 0
    return corpus._replace(attributes=attributes)


def accuracy(tagger: Tagger, sentences: Sequence[Words]) -> tuple[float, float]:
    """Shares of words with the right universal and language-specific tag."""
    found = tagger.tag_many([forms for forms, _, _ in sentences])
    total = max(sum(len(forms) for forms, _, _ in sentences), 1)
    right = (
        sum(a == b for tags, sentence in zip(found, sentences, strict=True) for a, b in zip(tags[k], sentence[k + 1], strict=True)) / total
        for k in (0, 1)
    )
    return next(right), next(right)


def jackknife(sentences: Sequence[Words], folds: int = 10, *, epochs: int = 4, seed: int = 0, threads: int | None = None) -> list[Tags]:
    """Tags of training sentences as a tagger gives them that was trained on the others, in `folds` parts of successive sentences.

    Neighbouring sentences are of one document, so that parts of successive ones are as strange as new text is. Fewer passes than a tagger
    gets by itself are nearly as good.
    """
    sentences = checked(sentences, "sentences")
    if isinstance(folds, bool) or not isinstance(folds, int) or not 2 <= folds <= len(sentences):
        raise InputError(f"folds is {folds!r}: expected an integer from 2 to {len(sentences)}, the number of sentences.")
    bounds = [len(sentences) * fold // folds for fold in range(folds + 1)]

    def tagged(part: tuple[int, int]) -> list[Tags]:
        i, j = part
        tagger = train_tagger([*sentences[:i], *sentences[j:]], epochs=epochs, seed=seed)
        return tagger.tag_many([forms for forms, _, _ in sentences[i:j]], threads=1)

    with ThreadPoolExecutor(threads) as pool:
        return [tags for found in pool.map(tagged, itertools.pairwise(bounds)) for tags in found]


def check_options(epochs: int, seed: int, penalty: float) -> None:
    for name, value in (("epochs", epochs), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InputError(f"{name} is {value!r}: expected an integer, 0 or more.")
    if isinstance(penalty, bool) or not isinstance(penalty, int | float) or not 0.0 <= penalty < math.inf:
        raise InputError(f"penalty is {penalty!r}: expected a number, 0 or more.")


def checked(sentences: Sequence[Words], name: str) -> list[Words]:
    found = list(sentences)
    if not found:
        raise InputError(f"{name} is empty: expected one or more sentences with tags.")
    for i, sentence in enumerate(found):
        if len(sentence) != 3 or len({len(column) for column in sentence}) != 1:
            raise InputError(
                f"{name}[{i}] has columns of {[len(column) for column in sentence]} entries: expected forms, UPOS and XPOS alike."
            )
        wrong = [value for column in sentence for value in column if not isinstance(value, str)]
        if wrong:
            raise InputError(f"{name}[{i}] has {shorten(wrong[0])} as a form or tag: expected strings.")
    return found


Rows = tuple[Integers, Integers]  # keys, of 62 bits, and labels: one entry per pair


def dictionary(attributes: NDArray[np.int64], gold: Integers, n_labels: int) -> Rows:
    """The candidates of words: see `fill_candidates`."""
    forms, form_of, form_count = np.unique(attributes[:, FORM], return_inverse=True, return_counts=True)
    _, an_occurrence = np.unique(form_of, return_index=True)
    lower_of = attributes[an_occurrence, LOWER]
    lowers, lower_labels, count, total = counted(attributes[:, LOWER], gold, n_labels)
    likely = count >= SLIP * total
    lowers, lower_labels = lowers[likely], lower_labels[likely]
    keys, labels = [hashed(OPEN, lowers)], [lower_labels]
    begin, end = np.searchsorted(lowers, lower_of), np.searchsorted(lowers, lower_of, side="right")
    closed = np.flatnonzero(form_count >= CLOSED_FROM)
    for f in closed.tolist():
        keys.append(hashed(CLOSED, np.full(end[f] - begin[f], forms[f])))
        labels.append(lower_labels[begin[f] : end[f]])
    rare = form_count[form_of] <= RARE
    for length in range(LONGEST_LOOK, -2, -1):
        chosen = attributes[rare] if rare.any() else attributes
        kind = chosen[:, KIND] if length >= 0 else np.zeros(len(chosen), dtype=np.int64)
        suffix = chosen[:, SUFFIX + length - 1] if length > 0 else np.zeros(len(chosen), dtype=np.int64)
        looks, look_labels, count, total = counted(hashed(LOOK, kind, max(length, 0), suffix), gold[rare] if rare.any() else gold, n_labels)
        most = ranks(looks, count) < MOST_LOOKS
        common = most & (total >= LOOK_FROM) & (count >= 2) & (count >= LOOK_SHARE * total)
        if length < 0 and not common.any():
            common = most
        keys.append(looks[common])
        labels.append(look_labels[common])
    return np.concatenate(keys), np.concatenate(labels)


def counted(values: Integers, gold: Integers, n_labels: int) -> tuple[Integers, Integers, Integers, Integers]:
    """All pairs of a value and a label that occur together, ascending; how often they do, and how often the value does."""
    unique, number = np.unique(values, return_inverse=True)
    pairs, count = np.unique(number * n_labels + gold, return_counts=True)
    return unique[pairs // n_labels], pairs % n_labels, count, np.bincount(number)[pairs // n_labels]


def ranks(groups: Integers, count: Integers) -> Integers:
    """0 for the most frequent of every group of successive entries, 1 for the next, ..."""
    order = np.lexsort((-count, groups))
    begins = np.flatnonzero(np.diff(groups[order], prepend=NONE))
    found = np.empty(len(groups), dtype=np.int64)
    found[order] = np.arange(len(groups)) - np.repeat(begins, np.diff(begins, append=len(groups)))
    return found


def candidates_of(attributes: NDArray[np.int64], rows: Rows, gold: Integers, n_labels: int) -> tuple[Integers, Integers]:
    """The candidates of all words, the right tag among them."""
    slots, entries = table_of(*rows_of(*rows, np.zeros(len(rows[0]), dtype=np.int64)), n_labels)
    start, seen = np.empty(len(attributes) + 1, dtype=np.int64), np.zeros(n_labels, dtype=np.int64)
    candidates = np.empty(list_candidates(attributes, slots, entries, seen, start, np.empty(0, dtype=np.int64)), dtype=np.int64)
    list_candidates(attributes, slots, entries, seen, start, candidates)
    words = np.repeat(np.arange(len(gold)), np.diff(start))
    pairs = np.unique(np.concatenate([words * n_labels + candidates, np.arange(len(gold)) * n_labels + gold]))
    return np.searchsorted(pairs, np.arange(len(gold) + 1) * n_labels).astype(np.int64), pairs % n_labels


def rows_of(keys: Integers, labels: Integers, weights: Integers) -> tuple[Integers, Integers, Integers, Integers]:
    """Keys of 62 bits, each with a label and a weight, as a tagger has them: keys of 40 bits, lengths, labels and weights of rows."""
    pairs, places = np.unique((keys >> KEY_SHIFT) * 65536 + labels, return_index=True)
    short, lengths = np.unique(pairs // 65536, return_counts=True)
    return short, lengths, pairs % 65536, weights[places]


def assembled(
    tags: tuple[tuple[str, str], ...], templates: Sequence[str], edge_templates: Sequence[str], rows: Rows, weights: Weights, corpus: Corpus
) -> Tagger:
    keys, labels, values = weights.collected(corpus)
    together = (np.concatenate(pair) for pair in zip((keys, labels, values), (*rows, np.zeros(len(rows[0]), dtype=np.int64)), strict=True))
    return Tagger(tags, tuple(templates), tuple(edge_templates), *rows_of(*together), weights.trigrams())
