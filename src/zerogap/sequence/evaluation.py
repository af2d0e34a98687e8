"""Segments of labellings, and how many of them are right, counted as conlleval counts.

In BIO (IOB1 and IOB2) and BIOES labellings a segment ends before B- and S-, after E- and S-, and where the field changes; an I- or E- that
nothing precedes begins one. Labels without such a prefix make up a segment for every run of equal labels. O is outside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from zerogap.errors import InputError
from zerogap.problems.sequence.labels import BEGINS, ENDS
from zerogap.structures.counts import Counts

OUTSIDE = "O"
Segment = tuple[int, int, str]


def segments(labels: Sequence[str]) -> list[Segment]:
    """(start, end, field) of every segment, tokens counted from 0, `end` not included.

    >>> segments(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"])
    [(0, 2, 'PER'), (3, 4, 'LOC'), (4, 5, 'LOC')]
    >>> segments(["author", "author", "title", "O"])
    [(0, 2, 'author'), (2, 3, 'title')]
    """
    found: list[Segment] = []
    start, open_prefix, open_field = 0, "", OUTSIDE  # of the segment that is open; outside there is none
    for t, label in enumerate((*labels, OUTSIDE)):
        if not isinstance(label, str):
            raise InputError(f"labels[{t}] is {label!r}: expected a string.")
        prefix, name = split_label(label)
        is_outside = prefix == "" and name == OUTSIDE
        was_open = (open_prefix, open_field) != ("", OUTSIDE)
        continues = was_open and (prefix == "") == (open_prefix == "") and name == open_field
        continues = continues and (prefix == "" or (prefix not in BEGINS and open_prefix not in ENDS))
        if was_open and not continues:
            found.append((start, t, open_field))
        if not continues:
            start = t
        open_prefix, open_field = ("", OUTSIDE) if is_outside else (prefix, name)
    return found


def split_label(label: str) -> tuple[str, str]:
    """B, I, E or S and the field; no prefix and the whole label where there is none."""
    return (label[0], label[2:]) if label[1:2] == "-" and label[0] in "BIES" else ("", label)


@dataclass(frozen=True, slots=True)
class Report:
    """What a predicted labelling is worth. `overall` counts segments of all fields together (micro-average)."""

    tokens: int
    correct_tokens: int
    sequences: int
    exact_sequences: int
    overall: Counts
    fields: dict[str, Counts] = field(default_factory=dict)

    @property
    def accuracy(self) -> float:
        """Of tokens."""
        return self.correct_tokens / self.tokens if self.tokens else 0.0

    @property
    def exact(self) -> float:
        """Of whole sequences."""
        return self.exact_sequences / self.sequences if self.sequences else 0.0

    def __str__(self) -> str:
        lines = [
            f"processed {self.tokens} tokens with {self.overall.gold} phrases; found: {self.overall.found} phrases;"
            f" correct: {self.overall.correct}.",
            f"accuracy: {100 * self.accuracy:6.2f}%; {table_row(self.overall)}",
            f"exact:    {100 * self.exact:6.2f}% of {self.sequences} sequences",
        ]
        width = max((len(name) for name in self.fields), default=0)
        lines += [f"{name:>{max(width, 17)}}: {table_row(counts)}  {counts.found}" for name, counts in self.fields.items()]
        return "\n".join(lines)


def table_row(counts: Counts) -> str:
    return f"precision: {100 * counts.precision:6.2f}%; recall: {100 * counts.recall:6.2f}%; FB1: {100 * counts.f1:6.2f}"


def evaluate(gold: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]]) -> Report:
    """Compares labellings of the same sequences. A segment is right if its start, its end and its field are.

    >>> report = evaluate([["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "I-PER", "O", "O"]])
    >>> report.overall.precision, report.overall.recall, report.accuracy
    (1.0, 0.5, 0.75)
    """
    tallies: dict[str, Counter[str]] = {kind: Counter() for kind in ("gold", "found", "correct")}
    tokens = correct_tokens = sequences = exact_sequences = 0
    right, guessed = list(gold), list(predicted)
    if len(right) != len(guessed):
        raise InputError(f"gold has {len(right)} sequences, predicted has {len(guessed)}: expected as many.")
    for i, (expected, given) in enumerate(zip(right, guessed, strict=True)):
        if len(expected) != len(given):
            raise InputError(f"gold[{i}] has {len(expected)} labels, predicted[{i}] has {len(given)}: expected as many.")
        matches = sum(a == b for a, b in zip(expected, given, strict=True))
        tokens, correct_tokens = tokens + len(expected), correct_tokens + matches
        sequences, exact_sequences = sequences + 1, exact_sequences + (matches == len(expected))
        wanted, found = set(segments(expected)), set(segments(given))
        for kind, spans in (("gold", wanted), ("found", found), ("correct", wanted & found)):
            tallies[kind].update(name for _, _, name in spans)
    names = sorted(tallies["gold"].keys() | tallies["found"].keys())
    fields = {name: Counts(*(tallies[kind][name] for kind in ("gold", "found", "correct"))) for name in names}
    overall = Counts(*(sum(tallies[kind].values()) for kind in ("gold", "found", "correct")))
    return Report(tokens, correct_tokens, sequences, exact_sequences, overall, fields)
