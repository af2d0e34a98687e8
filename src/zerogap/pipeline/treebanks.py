"""Treebanks as training and evaluation read them: every sentence with its tree, and errors that say where and which."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zerogap.errors import FormatError, InputError, UnknownMethod

if TYPE_CHECKING:
    from zerogap.dependency.sentence import Sentence
    from zerogap.io.formats.conllu import ConlluRecord
    from zerogap.sequence.tagger.training import Words

POLICIES = ("stop", "skip")
COLUMNS = ("form", "lemma", "upos", "xpos", "feats")

MOST_NOTES = 10


@dataclass(slots=True)
class Skipped:
    """What was left out, and why, for the first few."""

    count: int = 0
    notes: list[str] = field(default_factory=list)

    def add(self, note: str) -> None:
        self.count += 1
        if len(self.notes) < MOST_NOTES:
            self.notes.append(f"{note} Left out.")

    def tell(self) -> None:
        for note in self.notes:
            print(note, file=sys.stderr)
        if self.count > MOST_NOTES:
            print(f"... {self.count:,} were left out in all.", file=sys.stderr)


def read_records(path: str, on_error: str, skipped: Skipped) -> Iterator[ConlluRecord]:
    from zerogap.pipeline.sources import read_treebank

    if on_error not in POLICIES:
        raise UnknownMethod("--on-error", on_error, POLICIES)
    return (one.record for one in read_treebank(path, on_error=on_error, report=skipped.add) if one.record is not None)


def read_trees(path: str, *, on_error: str, single_root: bool, columns: Sequence[str], skipped: Skipped) -> list[Sentence]:
    """The sentences of a treebank with these of their columns. One that is not a tree, or has several roots, is malformed."""
    from zerogap.dependency.sentence import Sentence
    from zerogap.dependency.training.parser import checked

    found = []
    for record in read_records(path, on_error, skipped):
        given = record.sentence
        sentence = Sentence({name: given.columns[name] for name in columns}, given.heads, given.labels, given.name)
        try:
            checked([sentence], single_root, path)
        except InputError as error:
            message = str(error) if given.name.startswith(f"{path}, line") else f"{path}, line {record.line}: {error}"
            if on_error == "stop":
                raise FormatError(message) from None
            skipped.add(message)
        else:
            found.append(sentence)
    if not found:
        raise FormatError(f"{path} holds no trees: expected a CoNLL-U file with some.")
    return found


def read_tagged(path: str, *, on_error: str, skipped: Skipped) -> list[Words]:
    """Forms, UPOS and XPOS of every sentence of a treebank."""
    found = [words_and_tags(record.sentence) for record in read_records(path, on_error, skipped)]
    if not any(set(upos) - {"_"} for _, upos, _ in found):
        raise FormatError(f"{path} holds no tags: expected a CoNLL-U file with UPOS.")
    return found


def words_and_tags(sentence: Sentence) -> Words:
    return sentence.columns["form"], sentence.columns["upos"], sentence.columns["xpos"]


def chosen_columns(given: str) -> tuple[str, ...]:
    """Names parted by commas; the form is always among them."""
    names = [name.strip() for name in given.split(",")]
    for name in names:
        if name not in COLUMNS:
            raise UnknownMethod("column", name, COLUMNS)
    return tuple(name for name in COLUMNS if name in (*names, "form"))
