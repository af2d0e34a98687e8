"""The options of `zerogap translate` that say what translations must and must not be, and what they ask of every line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from zerogap.cli.terminal import check_choices
from zerogap.cli.translate.options import BAR
from zerogap.errors import FormatError
from zerogap.io.formats.lines import read_lines, shown
from zerogap.io.translation.markup import parse_marked
from zerogap.translation.phrases.markup import MarkedSentence, constraints_of
from zerogap.translation.translators import PhraseTranslator

if TYPE_CHECKING:
    from zerogap.problems.translation.phrase_constraints import Constraints, Words
    from zerogap.translation.phrases.markup import MarkedSentence
    from zerogap.translation.translators import Translator

MARKUPS = ("text", "exclusive", "inclusive")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the options ask, of every line and of each."""

    markup: str = "text"
    require: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()
    required: Path | None = None
    forbidden: Path | None = None

    def __bool__(self) -> bool:
        return self.markup != "text" or bool(self.require or self.forbid or self.required or self.forbidden)

    def check(self, kind: str) -> None:
        check_choices(("--markup", self.markup, MARKUPS))
        if kind != "phrases" and self:
            raise typer.BadParameter("--markup, --require, --forbid, --required and --forbidden are for phrases.")
        for name, phrases in (("--require", self.require), ("--forbid", self.forbid)):
            if not all(phrase.split() for phrase in phrases):
                raise typer.BadParameter(f"{name} has no words: expected at least one.")


def read_marked(path: str) -> list[MarkedSentence]:
    """The lines of a file, with what their tags ask for."""
    return [parse_marked(line.removeprefix("\ufeff") if n == 1 else line, f"{shown(path)}, line {n}") for n, line in read_lines(path)]


def constraints_of_lines(
    asked: Asked, sentences: Sequence[Sequence[str]], marked: Sequence[MarkedSentence] | None, translator: Translator
) -> list[Constraints]:
    """What is asked of the translation of every line."""
    assert isinstance(translator, PhraseTranslator)
    weights = translator.model.weights
    lines = marked if marked is not None else [MarkedSentence(tuple(words)) for words in sentences]
    required, forbidden = (
        read_phrases(path, len(lines)) if path is not None else [()] * len(lines) for path in (asked.required, asked.forbidden)
    )
    always, never = ([tuple(phrase.split()) for phrase in phrases] for phrases in (asked.require, asked.forbid))
    return [
        constraints_of(
            line, weights, required=[*dict.fromkeys([*always, *required[i]])], forbidden=[*dict.fromkeys([*never, *forbidden[i]])],
            exclusive=asked.markup != "inclusive",
        )
        for i, line in enumerate(lines)
    ]  # fmt: skip


def read_phrases(path: Path, n_lines: int) -> list[tuple[Words, ...]]:
    """The phrases of every line; as many lines as there are sentences."""
    rows = [tuple(tuple(part.split()) for part in line.split(BAR) if part.split()) for _, line in read_lines(path)]
    if len(rows) != n_lines:
        raise FormatError(f"{shown(path)} has {len(rows):,} lines: expected {n_lines:,}, one for every line of the input.")
    return rows
