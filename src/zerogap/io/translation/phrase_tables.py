"""Phrase tables in the text format of Moses, plain or packed by gzip.

    source words ||| target words ||| score score ... [||| alignment ||| counts ...]

Scores are probabilities; what follows them is not read. A table is usually much larger than what some sentences need of it: given the
sentences, only phrases that occur in them are kept.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence

from zerogap.errors import FormatError
from zerogap.io.formats.lines import read_lines, shown
from zerogap.translation.phrases.table import LOWEST, Phrase, PhraseTable, spans

BAR = " ||| "
LONGEST = 7  # words of a source phrase, where a table is read for sentences


def load_phrase_table(
    path: str | os.PathLike[str], *, sentences: Iterable[Sequence[str]] | None = None, longest: int = LONGEST
) -> PhraseTable:
    """The phrases in a file, or those of at most `longest` words that occur in the sentences; FormatError names a line that is not one."""
    wanted = None if sentences is None else {text for words in sentences for _, _, text in spans(words, longest)}
    found: dict[str, dict[tuple[str, ...], Phrase]] = {}
    n_scores, source = 0, shown(path)
    logarithms: dict[str, float] = {}
    for number, line in read_lines(path):
        fields = line.rstrip("\n").split(BAR)
        if len(fields) < 3:
            raise FormatError(f"{source}, line {number}: {len(fields)} fields, expected source ||| target ||| scores.")
        left = fields[0].strip(" ")
        if wanted is not None and left not in wanted:
            continue
        words, target, numbers = " ".join(left.split(" ")), tuple(fields[1].strip(" ").split(" ")), fields[2].strip(" ").split(" ")
        if not left or not target[0]:
            raise FormatError(f"{source}, line {number}: no {'target' if left else 'source'} words, expected at least one.")
        try:
            scores = tuple(logarithms[text] if text in logarithms else logarithms.setdefault(text, logarithm(text)) for text in numbers)
        except ValueError as error:
            raise FormatError(f"{source}, line {number}: {error}.") from None
        if n_scores and len(scores) != n_scores:
            raise FormatError(f"{source}, line {number}: {len(scores)} scores, expected {n_scores} as before.")
        n_scores = len(scores)
        targets = found.setdefault(words, {})
        if target in targets:
            raise FormatError(f"{source}, line {number}: {left!r} has the target {fields[1].strip()!r} twice, expected once.")
        targets[target] = Phrase(target, scores)
    return PhraseTable({words: tuple(targets.values()) for words, targets in found.items()}, n_scores)


def logarithm(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a score: expected a probability") from None
    if not 0.0 <= value < math.inf:
        raise ValueError(f"{text!r} is not a score: expected a probability, 0 or more")
    return max(math.log(value), LOWEST) if value > 0.0 else LOWEST
