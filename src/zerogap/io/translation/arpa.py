"""Language models in the ARPA format, as SRILM, KenLM and most others write it: logarithms to base 10, plain or packed by gzip.

    \\data\\
    ngram 1=4                      how many n-grams of each order follow
    \\1-grams:
    -1.5  word  -0.3               score, words, and a back-off weight if longer n-grams begin with it
    \\end\\

Fields are separated by tabs or spaces. What stands before \\data\\ and after \\end\\ is not read.
"""

from __future__ import annotations

import math
import os
import re
from array import array
from collections.abc import Iterable, Iterator

import numpy as np

from zerogap.errors import FormatError, InputError
from zerogap.io.formats.lines import read_lines, shown
from zerogap.problems.translation.language_model import LanguageModel
from zerogap.translation.language_models import Ngrams, build_language_model

DATA_LINE, END_LINE = "\\data\\", "\\end\\"
COUNT = re.compile(rb"ngram\s+(\d+)\s*=\s*(\d+)\Z")

Lines = Iterator[tuple[int, bytes]]


def load_language_model(path: str | os.PathLike[str]) -> LanguageModel:
    """The model in a file; FormatError names the line that is not as it should be.

    Wanted: as many n-grams as announced, each once, with a back-off weight where longer ones begin with it, and <s> and </s> among them.
    """
    return read_language_model(read_lines(path), shown(path))


def read_language_model(lines: Iterable[tuple[int, str]], source: str = "the model") -> LanguageModel:
    """The same from numbered lines."""
    numbered = ((number, text.encode().strip()) for number, text in lines)  # only ASCII's spaces part fields, as words may have others
    counts = read_counts(numbered, source)
    words: dict[bytes, int] = {}
    levels, places = [], []
    for n, count in enumerate(counts, start=1):
        level, at = read_section(numbered, source, n, count, n == len(counts), words)
        levels.append(level)
        places.append(at)
    number, text = next_line(numbered, source, END_LINE)
    if text != END_LINE.encode():
        raise FormatError(
            f"{source}, line {number}: {shorten(text)}, expected {END_LINE}, as {counts[-1]} {len(counts)}-grams are announced."
        )
    names = tuple(word.decode() for word in words)
    try:
        return build_language_model(names, levels, name=lambda n, i: name_line(names, levels[n - 1], n, i, places[n - 1]))
    except InputError as error:
        raise FormatError(f"{source}: {error}") from None


def read_counts(lines: Lines, source: str) -> list[int]:
    """How many n-grams of each order are announced, up to and including the line that begins the 1-grams."""
    for _, text in lines:
        if text == DATA_LINE.encode():
            break
    else:
        raise FormatError(f"{source} has no line {DATA_LINE}: expected a language model in the ARPA format.")
    counts: list[int] = []
    number = 0
    for number, text in lines:
        match = COUNT.match(text)
        if match:
            if int(match[1]) != len(counts) + 1:
                raise FormatError(f"{source}, line {number}: {shorten(text)}, expected the number of {len(counts) + 1}-grams.")
            counts.append(int(match[2]))
        elif text == rb"\1-grams:" and counts:
            return counts
        elif text:
            raise FormatError(rf"{source}, line {number}: {shorten(text)}, expected 'ngram {len(counts) + 1}=COUNT' or '\1-grams:'.")
    raise FormatError(rf"{source} ends after line {number}: expected '\1-grams:'.")


def read_section(lines: Lines, source: str, n: int, count: int, last: bool, words: dict[bytes, int]) -> tuple[Ngrams, int]:
    """The n-grams of one order, and the number of the line of the first. Adds the words of 1-grams to `words`."""
    if n > 1:
        number, text = next_line(lines, source, rf"\{n}-grams:")
        if text != b"\\%d-grams:" % n:
            kept = f"as {count} {n}-grams are announced" if text.startswith(b"\\") else f"as fewer {n - 1}-grams are announced"
            raise FormatError(rf"{source}, line {number}: {shorten(text)}, expected '\{n}-grams:', {kept}.")
    ids: list[int] = []
    scores, back_offs = array("d"), array("d")  # they grow: the count is only announced
    first = 0
    for i in range(count):
        number, text = next(lines, (0, b""))
        fields = text.split()
        first = first or number
        try:
            score = float(fields[0])
            if not score <= 0.0:
                raise ValueError(f"score is {fields[0].decode()}: expected a logarithm, at most 0")
            weight = math.nan
            if len(fields) == n + 2 and not last:
                weight = float(fields[n + 1])
                if not math.isfinite(weight):
                    raise ValueError(f"back-off weight is {fields[n + 1].decode()}: expected a number")
            elif len(fields) != n + 1:
                raise IndexError
            if n == 1:
                words[fields[1]] = i
                if len(words) != i + 1:
                    raise ValueError(f"{shorten(fields[1])} is listed twice: expected once")
                ids.append(i)
            else:
                ids.extend([words[word] for word in fields[1 : n + 1]])
            scores.append(score)
            back_offs.append(weight)
        except (ValueError, IndexError, KeyError) as error:
            raise broken_line(source, number, text, n, i, count, last, error) from None
    return Ngrams(np.array(ids, dtype=np.int64).reshape(count, n), np.array(scores), np.array(back_offs)), first


def broken_line(source: str, number: int, text: bytes, n: int, i: int, count: int, last: bool, error: Exception) -> FormatError:
    """Says what is wrong with the line of the i-th n-gram."""
    if not number:
        return FormatError(f"{source} ends after {i} {n}-grams: expected {count}, as announced.")
    where = f"{source}, line {number}"
    if not text or text.startswith(b"\\"):
        return FormatError(f"{where}: {shorten(text) if text else 'an empty line'} after {i} {n}-grams, expected {count}, as announced.")
    if isinstance(error, KeyError):
        return FormatError(f"{where}: {shorten(error.args[0])} is not among the 1-grams: expected only words that are.")
    if isinstance(error, ValueError) and "could not convert" not in str(error):
        return FormatError(f"{where}: the {error}." if str(error).startswith(("score", "back")) else f"{where}: {error}.")
    weight = "" if last else " and perhaps a back-off weight"
    return FormatError(f"{where}: {shorten(text)}, expected a score, {n} word{'s' * (n > 1)}{weight}.")


def next_line(lines: Lines, source: str, expected: str) -> tuple[int, bytes]:
    """The next line that is not empty."""
    number = 0
    for number, text in lines:
        if text:
            return number, text
    raise FormatError(f"{source} ends: expected '{expected}'.")


def name_line(words: tuple[str, ...], level: Ngrams, n: int, i: int, first: int) -> str:
    text = " ".join(words[word] for word in level.ids[i].tolist())
    return f"line {first + i}, {text!r}"


def shorten(text: bytes) -> str:
    shown_text = text.decode(errors="replace")
    return repr(shown_text if len(shown_text) <= 60 else shown_text[:57] + "...")
