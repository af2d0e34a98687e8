"""Translations as Moses writes them: n-best lists with the values of features, segments of phrases, alignments of words.

0 ||| the house is small ||| distortion= 0 lm= -12.3 ... ||| -3.25        number from 0 ||| text ||| features ||| score
the house |0-1| is small |2-3|                                            after each phrase the source words that it translates
0-0 1-1 2-2 3-3                                                           source word - target word
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from zerogap.errors import FormatError
from zerogap.problems.translation.phrases import Derivation

BAR = "|||"
SEGMENT = re.compile(r"\|(\d+)-(\d+)\|")
LINK = re.compile(r"(\d+)(?:-(\d+))?=(\d+)(?:-(\d+))?")

Features = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A line of an n-best list. `derivation` is there if the line says which source words its phrases translate."""

    number: int  # of the sentence, from 0
    text: str
    score: float
    derivation: Derivation | None = None


def nbest_line(number: int, text: str, features: Features, score: float) -> str:
    """
    >>> nbest_line(0, "the house", {"lm": [-2.5], "TranslationModel0": [-1, -0.25]}, -3.5)
    '0 ||| the house ||| lm= -2.5 TranslationModel0= -1 -0.25 ||| -3.5'
    """
    shown = " ".join(f"{name}= {' '.join(map(number_text, values))}" for name, values in features.items())
    return f"{number} {BAR} {text} {BAR} {shown} {BAR} {number_text(score)}"


def number_text(value: float) -> str:
    return f"{value:.10g}"


def segmented(derivation: Derivation) -> str:
    """
    >>> segmented(((0, 2, ("the", "house")), (2, 3, ("is",))))
    'the house |0-1| is |2-2|'
    """
    return " ".join(f"{' '.join(target)} |{start}-{end - 1}|" for start, end, target in derivation)


def parse_segmented(text: str, where: str) -> Derivation:
    """The derivation that a line with segments shows; FormatError says what is not one.

    >>> parse_segmented("the house |0-1| is |2-2|", "line 1")
    ((0, 2, ('the', 'house')), (2, 3, ('is',)))
    """
    phrases: list[tuple[int, int, tuple[str, ...]]] = []
    target: list[str] = []
    for token in text.split():
        match = SEGMENT.fullmatch(token)
        if match is None:
            target.append(token)
            continue
        if not target or int(match[2]) < int(match[1]):
            raise FormatError(f"{where}: {token} after {' '.join(target) or 'no words'!r}, expected words, then their segment, as |0-1|.")
        phrases.append((int(match[1]), int(match[2]) + 1, tuple(target)))
        target = []
    if target:
        raise FormatError(f"{where} ends with {' '.join(target)!r}: expected a segment after it, as |0-1|.")
    return tuple(phrases)


def parse_nbest(line: str, where: str) -> Candidate:
    """A line of an n-best list. Segments may stand in its text, or in a further field as 0-1=0-2 (source words = target words).

    >>> parse_nbest("3 ||| the house ||| lm= -2 ||| -3.5", "line 1")
    Candidate(number=3, text='the house', score=-3.5, derivation=None)
    >>> parse_nbest("0 ||| the house ||| ||| -3.5 ||| 0-1=0 2=1", "line 1").derivation
    ((0, 2, ('the',)), (2, 3, ('house',)))
    """
    fields = [part.strip() for part in line.rstrip("\r\n").split(BAR)]
    if len(fields) < 4 or not fields[0].isdecimal():
        raise FormatError(f"{where}: {shorten(line)} has {len(fields)} fields, expected number ||| text ||| features ||| score.")
    number, text = int(fields[0]), " ".join(fields[1].split())
    score = parse_score(fields[3], where)
    derivation = parse_segmented(text, where) if SEGMENT.search(text) else None
    if derivation is not None:
        text = " ".join(word for _, _, target in derivation for word in target)
    elif len(fields) > 4 and fields[4] and all(map(LINK.fullmatch, fields[4].split())):
        derivation = linked(fields[4].split(), text.split(), where)
    return Candidate(number, text, score, derivation)


def linked(links: Sequence[str], words: Sequence[str], where: str) -> Derivation:
    """Phrases in the order of the target from links of source words to target words."""
    phrases = []
    for link in links:
        match = LINK.fullmatch(link)
        assert match is not None
        start, last, first, end = match[1], match[2] or match[1], match[3], match[4] or match[3]
        phrases.append((int(first), int(end) + 1, int(start), int(last) + 1))
    phrases.sort()
    at = 0
    for begin, end_, _, _ in phrases:
        if begin != at or end_ <= begin:
            raise FormatError(f"{where}: the segments {' '.join(links)!r} do not follow each other from target word 0 to {len(words) - 1}.")
        at = end_
    if at != len(words):
        raise FormatError(f"{where}: the segments {' '.join(links)!r} cover {at} target words, expected all {len(words)}.")
    return tuple((start, end, tuple(words[a:b])) for a, b, start, end in phrases)


def parse_score(text: str, where: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if math.isnan(score):
        raise FormatError(f"{where}: the score is {shorten(text)}, expected a number.")
    return score


def word_alignment(derivation: Derivation, within: Iterable[str]) -> str:
    """Links of source and target words, sorted; `within` are those of each phrase, counted from its own beginning.

    >>> word_alignment(((2, 3, ("we",)), (0, 2, ("the", "house"))), ["0-0", "0-0 1-1"])
    '0-1 1-2 2-0'
    """
    links, at = [], 0
    for (start, _, target), inner in zip(derivation, within, strict=True):
        for link in inner.split():
            source, _, word = link.partition("-")
            links.append((start + int(source), at + int(word)))
        at += len(target)
    return " ".join(f"{i}-{j}" for i, j in sorted(links))


def shorten(text: str) -> str:
    text = text.strip()
    return repr(text if len(text) <= 60 else text[:57] + "...")
