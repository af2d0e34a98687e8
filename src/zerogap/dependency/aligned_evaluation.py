"""Parsed text compared with the right analysis where tokens and sentences may differ: precision, recall and F1.

Counts as the CoNLL 2018 shared task does (Zeman et al. 2018, section 5): tokens and sentences are right if their characters are. Words are
aligned if they have the same characters; where a side has a multiword token, by a longest common subsequence of the words in that stretch.
A head is right if it is aligned with the right head. Relations are compared without subtypes, and once more with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from zerogap.dependency.evaluation import CONTENT_RELATIONS, universal
from zerogap.dependency.sentence import Sentence
from zerogap.errors import InputError
from zerogap.structures.counts import Counts

CONTEXT = 20  # characters that an error shows


class Segmented(Protocol):
    """A sentence and its multiword tokens: (form, first word, last word), words counted from 1."""

    @property
    def sentence(self) -> Sentence: ...
    @property
    def multiwords(self) -> Sequence[tuple[str, int, int]]: ...


class Word(NamedTuple):
    """A word in a file: its characters, counted without white space, those of its token if that stands for several words."""

    start: int
    end: int
    in_multiword: bool
    form: str
    head: int  # a word of the file, -1 for the root
    label: str
    tags: tuple[str, ...]


class Analysis(NamedTuple):
    characters: str
    sentences: frozenset[tuple[int, int]]
    tokens: frozenset[tuple[int, int]]
    words: list[Word]
    starts: list[tuple[int, str]]  # the first character of every sentence, and its name


TAGS = ("upos", "xpos")


@dataclass(frozen=True, slots=True)
class TextReport:
    """Counts by metric, in the order of the shared task; those of trees only where both sides have them."""

    metrics: dict[str, Counts]
    aligned: int  # words

    def __getitem__(self, metric: str) -> Counts:
        return self.metrics[metric]

    def __str__(self) -> str:
        lines = [f"{'':14}{'gold':>10}{'found':>10}{'correct':>10}{'precision':>11}{'recall':>9}{'F1':>9}"]
        for name, counts in self.metrics.items():
            shares = f"{100 * counts.precision:10.2f}%{100 * counts.recall:8.2f}%{100 * counts.f1:8.2f}%"
            lines.append(f"{name:14}{counts.gold:10,}{counts.found:10,}{counts.correct:10,}{shares}")
        return "\n".join(lines)


def evaluate_text(gold: Iterable[Segmented], predicted: Iterable[Segmented]) -> TextReport:
    """Compares two analyses of one text: records of `zerogap.io.formats.conllu.read_conllu`, or anything with `sentence` and
    `multiwords`."""
    given = list(gold), list(predicted)
    right, guess = analysis_of(given[0]), analysis_of(given[1])
    check_characters(right, guess)
    pairs = aligned(right.words, guess.words)
    matches = {f: g for g, f in pairs}

    def count(key: Callable[[Word], object], chosen: Callable[[Word], bool] = lambda word: True) -> Counts:
        correct = sum(chosen(right.words[g]) and key(right.words[g]) == key(on_gold(guess.words[f], matches)) for g, f in pairs)
        return Counts(sum(map(chosen, right.words)), sum(map(chosen, guess.words)), correct)

    metrics = {
        "Tokens": spans_counted(right.tokens, guess.tokens),
        "Sentences": spans_counted(right.sentences, guess.sentences),
        "Words": Counts(len(right.words), len(guess.words), len(pairs)),
    }
    if all(has_tag(records, "upos") for records in given):
        metrics["UPOS"] = count(lambda word: word.tags[0])
    if all(has_tag(records, "xpos") for records in given):
        metrics["XPOS"] = count(lambda word: word.tags[1])
    sentences = [record.sentence for records in given for record in records]
    if all(sentence.heads is not None for sentence in sentences):
        metrics["UAS"] = count(lambda word: word.head)
        if all(sentence.labels is not None for sentence in sentences):
            metrics["LAS"] = count(lambda word: (word.head, universal(word.label)))
            metrics["LAS, subtypes"] = count(lambda word: (word.head, word.label))
            metrics["CLAS"] = count(
                lambda word: (word.head, universal(word.label)), lambda word: universal(word.label) in CONTENT_RELATIONS
            )
    return TextReport(metrics, len(pairs))


def has_tag(records: Sequence[Segmented], tag: str) -> bool:
    return any(set(record.sentence.columns.get(tag, ())) - {"_"} for record in records)


NOT_ALIGNED = -2


def on_gold(word: Word, matches: dict[int, int]) -> Word:
    """A predicted word with its head counted as in gold."""
    return word if word.head < 0 else word._replace(head=matches.get(word.head, NOT_ALIGNED))


def spans_counted(gold: frozenset[tuple[int, int]], found: frozenset[tuple[int, int]]) -> Counts:
    return Counts(len(gold), len(found), len(gold & found))


def analysis_of(records: Sequence[Segmented]) -> Analysis:
    characters: list[str] = []
    position = 0
    sentences, tokens, starts = [], [], []
    words: list[Word] = []
    for record in records:
        sentence, begin, first = record.sentence, position, len(words)
        starts.append((begin, sentence.name))
        multiwords = {a: (form, b) for form, a, b in record.multiwords}
        forms, m = sentence.columns["form"], 1
        while m <= len(sentence):
            form, last = multiwords.get(m, (forms[m - 1], m))
            piece = "".join(form.split())
            characters.append(piece)
            span = position, position + len(piece)
            position += len(piece)
            tokens.append(span)
            words += [word_of(sentence, k, span, last > m or m in multiwords, first) for k in range(m, last + 1)]
            m = last + 1
        sentences.append((begin, position))
    return Analysis("".join(characters), frozenset(sentences), frozenset(tokens), words, starts)


def word_of(sentence: Sentence, m: int, span: tuple[int, int], in_multiword: bool, first: int) -> Word:
    head = 0 if sentence.heads is None else sentence.heads[m - 1]
    label = "_" if sentence.labels is None else sentence.labels[m - 1]
    tags = tuple(sentence.columns[tag][m - 1] if tag in sentence.columns else "_" for tag in TAGS)
    return Word(*span, in_multiword, sentence.columns["form"][m - 1], first + head - 1 if head else -1, label, tags)


def check_characters(gold: Analysis, found: Analysis) -> None:
    a, b = gold.characters, found.characters
    if a == b:
        return
    at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    name = [name for start, name in gold.starts if start <= at][-1:] or [""]
    raise InputError(
        f"the texts differ after {at:,} characters without blanks, in gold sentence {name[0]!r}: {a[at : at + CONTEXT]!r} in gold,"
        f" {b[at : at + CONTEXT]!r} in predicted: expected two analyses of one text."
    )


def aligned(gold: Sequence[Word], found: Sequence[Word]) -> list[tuple[int, int]]:
    """Pairs of words that stand for one another, in their order."""
    pairs = []
    g = f = 0
    while g < len(gold) and f < len(found):
        a, b = gold[g], found[f]
        if a.in_multiword or b.in_multiword:
            # a word that begins before the token is in no stretch with it
            if a.in_multiword:
                f += not b.in_multiword and b.start < a.start
            else:
                g += a.start < b.start
            last_g, last_f = stretch(gold, found, g, f, end=a.end if a.in_multiword else b.end)
            pairs += [(g + i, f + j) for i, j in common([w.form for w in gold[g:last_g]], [w.form for w in found[f:last_f]])]
            g, f = last_g, last_f
        elif (a.start, a.end) == (b.start, b.end):
            pairs.append((g, f))
            g, f = g + 1, f + 1
        elif a.start <= b.start:
            g += 1
        else:
            f += 1
    return pairs


def stretch(gold: Sequence[Word], found: Sequence[Word], g: int, f: int, *, end: int) -> tuple[int, int]:
    """Where the words end that are in a multiword token up to the character `end`, or in one that overlaps with it, and so on."""

    def inside(words: Sequence[Word], i: int) -> bool:
        return i < len(words) and (words[i].start < end if words[i].in_multiword else words[i].end <= end)

    while inside(gold, g) or inside(found, f):
        if g < len(gold) and (f == len(found) or gold[g].start <= found[f].start):
            word, g = gold[g], g + 1
        else:
            word, f = found[f], f + 1
        if word.in_multiword:
            end = max(end, word.end)
    return g, f


def common(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """A longest common subsequence of forms, whatever their case, as pairs of positions."""
    left, right = [form.lower() for form in a], [form.lower() for form in b]
    length = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]  # of what is left from i and j on
    for i in reversed(range(len(left))):
        for j in reversed(range(len(right))):
            both = length[i + 1][j + 1] + 1 if left[i] == right[j] else 0
            length[i][j] = max(both, length[i + 1][j], length[i][j + 1])
    pairs, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] == right[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif length[i + 1][j] >= length[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs
