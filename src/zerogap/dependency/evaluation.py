"""Trees compared with the right ones, word by word: attachment scores, with and without labels and punctuation.

UAS counts words with the right head, LAS those whose relation is right as well (Buchholz & Marsi 2006), CLAS only words that are no
function words (Nivre & Fang 2017). Both files must hold the same words; `zerogap.dependency.aligned_evaluation` compares others.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from itertools import zip_longest

from zerogap.dependency.sentence import Sentence
from zerogap.errors import InputError, UnknownMethod
from zerogap.structures.counts import Counts

PUNCTUATION = ("auto", "upos", "form")
CONTENT_RELATIONS = frozenset(
    (
        "nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl", "dislocated", "advcl", "advmod", "discourse", "nmod",
        "appos", "nummod", "acl", "amod", "conj", "fixed", "flat", "compound", "list", "parataxis", "orphan", "goeswith", "reparandum",
        "root", "dep",
    )
)  # fmt: skip
LENGTHS = ((1, 10), (11, 20), (21, 30), (31, 40), (41, 50), (51, None))
SHOWN_CONFUSIONS = 10


@dataclass(frozen=True, slots=True)
class Tally:
    """How many words there are, and of how many the head, the relation, and both are right."""

    words: int = 0
    heads: int = 0
    labels: int = 0
    both: int = 0
    universal: int = 0  # both, if subtypes such as :poss do not count

    @property
    def uas(self) -> float:
        return self.heads / self.words if self.words else 0.0

    @property
    def las(self) -> float:
        return self.both / self.words if self.words else 0.0

    @property
    def universal_las(self) -> float:
        return self.universal / self.words if self.words else 0.0

    @property
    def label_accuracy(self) -> float:
        return self.labels / self.words if self.words else 0.0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, item.name) + getattr(other, item.name) for item in fields(Tally)))


@dataclass(frozen=True, slots=True)
class Report:
    """What predicted trees are worth. `print` shows it as a table."""

    all: Tally
    no_punctuation: Tally
    content: Counts  # CLAS
    sentences: int
    whole_trees: int  # all heads right
    whole_labelled: int  # all heads and relations right
    labelled: bool  # both sides have relations; if not, what is said of them is nothing
    lengths: dict[tuple[int, int | None], Tally] = field(default_factory=dict)
    relations: dict[str, Counts] = field(default_factory=dict)  # by relation, right with its head
    confusions: dict[tuple[str, str], int] = field(default_factory=dict)  # (gold, predicted) of words whose head is right

    @property
    def uas(self) -> float:
        return self.all.uas

    @property
    def las(self) -> float:
        return self.all.las

    @property
    def clas(self) -> float:
        return self.content.f1

    def __str__(self) -> str:
        lines = [header(self.labelled), row("all words", self.all, self.labelled)]
        lines.append(row("no punctuation", self.no_punctuation, self.labelled))
        lines += [row(shown_length(length), tally, self.labelled) for length, tally in self.lengths.items()]
        whole = f"{share(self.whole_trees, self.sentences)} of {self.sentences:,} trees have every head right"
        lines.append(whole + (f", {share(self.whole_labelled, self.sentences)} every relation too" if self.labelled else ""))
        if self.labelled:
            lines.append(f"CLAS {100 * self.clas:.2f}%, LAS without subtypes {100 * self.all.universal_las:.2f}%")
        if self.confusions:
            pairs = list(self.confusions.items())[:SHOWN_CONFUSIONS]
            lines.append("most often wrong: " + ", ".join(f"{a} as {b} {n:,}" for (a, b), n in pairs))
        return "\n".join(lines)


def header(labelled: bool) -> str:
    return f"{'':16}{'words':>10}{'UAS':>9}" + (f"{'LAS':>9}{'relation':>10}" if labelled else "")


def row(name: str, tally: Tally, labelled: bool) -> str:
    line = f"{name:16}{tally.words:10,}{100 * tally.uas:8.2f}%"
    return line + (f"{100 * tally.las:8.2f}%{100 * tally.label_accuracy:9.2f}%" if labelled else "")


def shown_length(length: tuple[int, int | None]) -> str:
    return f"{length[0]} to {length[1]} words" if length[1] else f"{length[0]} and more"


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole if whole else 0.0:.2f}%"


def evaluate(gold: Iterable[Sentence], predicted: Iterable[Sentence], *, punctuation: str = "auto") -> Report:
    """Compares trees of the same sentences.

    Words are punctuation if their UPOS is PUNCT ('upos'), or all of their characters are punctuation ('form'); 'auto' goes by UPOS if there
    is one PUNCT in the gold standard.

    >>> columns = {"form": ("She", "sleeps"), "upos": ("PRON", "VERB")}
    >>> right = Sentence(columns, heads=(2, 0), labels=("nsubj", "root"))
    >>> report = evaluate([right], [Sentence(columns, heads=(2, 0), labels=("obj", "root"))])
    >>> report.uas, report.las, report.confusions
    (1.0, 0.5, {('nsubj', 'obj'): 1})
    """
    if punctuation not in PUNCTUATION:
        raise UnknownMethod("punctuation", punctuation, PUNCTUATION)
    pairs = list(checked_pairs(gold, predicted))
    labelled = bool(pairs) and all(a.labels is not None and b.labels is not None for a, b in pairs)
    by_upos = punctuation == "upos" or (punctuation == "auto" and any("PUNCT" in a.columns.get("upos", ()) for a, _ in pairs))
    total = no_punctuation = Tally()
    lengths = dict.fromkeys(LENGTHS, Tally())
    whole_trees = whole_labelled = 0
    relations = RelationCounter()
    for right, guess in pairs:
        words = compared(right, guess, labelled)
        tally = tally_of(words)
        total += tally
        no_punctuation += tally_of([word for m, word in enumerate(words) if not is_punctuation(right, m, by_upos)])
        lengths[length_of(len(right))] += tally
        whole_trees += tally.heads == tally.words
        whole_labelled += labelled and tally.both == tally.words
        if labelled:
            relations.count(right, guess, words)
    return Report(
        total,
        no_punctuation,
        relations.content(),
        len(pairs),
        whole_trees,
        whole_labelled,
        labelled,
        {length: tally for length, tally in lengths.items() if tally.words},
        relations.by_name(),
        dict(relations.confusions.most_common()),
    )


def checked_pairs(gold: Iterable[Sentence], predicted: Iterable[Sentence]) -> Iterator[tuple[Sentence, Sentence]]:
    for i, (right, guess) in enumerate(zip_longest(gold, predicted)):
        if right is None or guess is None:
            which, other = ("gold", "predicted") if right is None else ("predicted", "gold")
            raise InputError(f"{which} has {i} sentences, {other} has more: {named(right or guess, i)} is without a counterpart.")
        where = f"sentence {named(right, i)}" + (f" ({named(guess, i)} in predicted)" if guess.name not in ("", right.name) else "")
        a, b = right.columns["form"], guess.columns["form"]
        if a != b:
            m = next((m for m, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
            words = f"word {m + 1} is {shown_word(a, m)} in gold and {shown_word(b, m)} in predicted"
            raise InputError(f"{where}: {words}: expected the same words; evaluate_text compares different ones.")
        for side, sentence in (("gold", right), ("predicted", guess)):
            if sentence.heads is None:
                raise InputError(f"{where} has no heads in {side}: expected a tree.")
        yield right, guess


def named(sentence: Sentence, i: int) -> str:
    return repr(sentence.name) if sentence.name else f"{i + 1}"


def shown_word(words: Sequence[str], m: int) -> str:
    return repr(words[m]) if m < len(words) else "missing"


Compared = tuple[bool, bool, bool]  # the head is right, the relation is, the relation without its subtype is


def compared(right: Sentence, guess: Sentence, labelled: bool) -> list[Compared]:
    heads = [a == b for a, b in zip(right.heads or (), guess.heads or (), strict=True)]
    if not labelled:
        return [(head, False, False) for head in heads]
    labels = zip(right.labels or (), guess.labels or (), strict=True)
    return [(head, a == b, universal(a) == universal(b)) for head, (a, b) in zip(heads, labels, strict=True)]


def tally_of(words: Sequence[Compared]) -> Tally:
    return Tally(
        len(words),
        sum(head for head, _, _ in words),
        sum(label for _, label, _ in words),
        sum(head and label for head, label, _ in words),
        sum(head and same for head, _, same in words),
    )


def length_of(n: int) -> tuple[int, int | None]:
    return next((low, high) for low, high in LENGTHS if high is None or n <= high)


def universal(label: str) -> str:
    """The relation without its subtype."""
    return label.split(":", 1)[0]


def is_punctuation(sentence: Sentence, m: int, by_upos: bool) -> bool:
    if by_upos:
        return "upos" in sentence.columns and sentence.columns["upos"][m] == "PUNCT"
    return all(unicodedata.category(character).startswith("P") for character in sentence.columns["form"][m])


class RelationCounter:
    """Words by relation: in gold, found, found with the right head, and the same if subtypes do not count; and what is taken for what."""

    def __init__(self) -> None:
        self.gold, self.found, self.correct, self.universal = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
        self.confusions = Counter[tuple[str, str]]()

    def count(self, right: Sentence, guess: Sentence, words: Sequence[Compared]) -> None:
        self.gold.update(right.labels or ())
        self.found.update(guess.labels or ())
        for label, other, (head, same_label, same_universal) in zip(right.labels or (), guess.labels or (), words, strict=True):
            self.correct[label] += head and same_label
            self.universal[label] += head and same_universal
            if head and not same_label:
                self.confusions[label, other] += 1

    def by_name(self) -> dict[str, Counts]:
        names = sorted(self.gold.keys() | self.found.keys())
        return {name: Counts(self.gold[name], self.found[name], self.correct[name]) for name in names}

    def content(self) -> Counts:
        def total(counter: Counter[str]) -> int:
            return sum(n for label, n in counter.items() if universal(label) in CONTENT_RELATIONS)

        return Counts(total(self.gold), total(self.found), total(self.universal))
