"""Sentences with tags, as Moses reads them: translations of spans, zones that are translated in one go, and walls.

    das ist <n translation="a small house||a cottage" prob="0.8||0.2">ein kleines haus</n>
    <zone> er sagt , </zone> <wall/> dass es regnet           a zone's words in one go; a wall holds back what is after it
    <zone> ja , <wall/> nein </zone>                          a wall within a zone is a wall for its words only
    <monotone> 17 . märz 2010 </monotone>                     a zone whose words stay in order

A tag of any other name with translation= is about its words. Spans with translations may stand within zones, not within each other.
Text has &lt; and &gt; for < and >, as the tokeniser of Moses writes them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

from zerogap.errors import FormatError
from zerogap.problems.translation.phrase_constraints import Wall, Words, Zone
from zerogap.translation.phrases.markup import MarkedSentence, MarkedSpan

TAG = re.compile(r"<[^<>]*>")
OPENING = re.compile(r'<\s*([^\s"=/<>]+)((?:\s+[\w-]+\s*=\s*"[^"]*")*)\s*(/?)\s*>')
CLOSING = re.compile(r'<\s*/\s*([^\s"=/<>]+)\s*>')
ATTRIBUTE = re.compile(r'([\w-]+)\s*=\s*"([^"]*)"')
ZONES = ("zone", "monotone")
TRANSLATIONS = ("translation", "english")
SEVERAL = "||"


def parse_marked(line: str, where: str) -> MarkedSentence:
    """The words of a line and what its tags ask for; FormatError says what is wrong with a tag.

    >>> parse_marked('das <n translation="house">haus</n>', "line 1").spans
    (MarkedSpan(start=1, end=2, targets=(('house',),), probabilities=(1.0,)),)
    """
    words: list[str] = []
    spans: list[MarkedSpan] = []
    zones: list[Zone] = []
    walls: list[tuple[Wall, int | None]] = []  # a wall, and which of the open tags is the zone that it is in
    opened: list[tuple[str, dict[str, str], int]] = []
    at = 0
    for tag in (*TAG.finditer(line), None):
        text = line[at : tag.start() if tag else len(line)]
        if "<" in text or ">" in text:
            raise FormatError(f"{where}: a {'<' if '<' in text else '>'} that is not part of a tag, expected &lt; or &gt; in text.")
        words += text.split()
        if tag is None:
            break
        at = tag.end()
        closing, opening = CLOSING.fullmatch(tag[0]), OPENING.fullmatch(tag[0])
        if closing:
            if not opened or opened[-1][0] != closing[1]:
                expected = f"</{opened[-1][0]}>" if opened else "a tag that opens it before"
                raise FormatError(f"{where}: {tag[0]} closes what is not open, expected {expected}.")
            name, given, start = opened.pop()
            if start == len(words):
                raise FormatError(f"{where}: no words between <{name}> and {tag[0]}, expected at least one.")
            if name in ZONES:
                zones.append(Zone(start, len(words), name == "monotone"))
                within = partial(replace, start=start, end=len(words))
                walls = [(within(wall), None) if zone == len(opened) else (wall, zone) for wall, zone in walls]
            else:
                spans.append(marked_span(start, len(words), given, f"{where}: <{name}>"))
        elif opening:
            name, given = opening[1], dict(ATTRIBUTE.findall(opening[2]))
            if name == "wall":
                inside = [i for i, (kind, _, _) in enumerate(opened) if kind in ZONES]
                walls.append((Wall(len(words)), inside[-1] if inside else None))
                continue
            if opening[3]:
                raise FormatError(f"{where}: {tag[0]} has no words, expected <wall/>, or a tag around words.")
            if name not in ZONES:
                if not any(key in given for key in TRANSLATIONS):
                    raise FormatError(f'{where}: {tag[0]} says nothing, expected translation="...", zone, monotone or wall.')
                if any(kind not in ZONES for kind, _, _ in opened):
                    raise FormatError(f"{where}: {tag[0]} within another span with translations, expected one after the other.")
            opened.append((name, given, len(words)))
        else:
            raise FormatError(f'{where}: {tag[0]} is not a tag, expected <name key="value">, </name> or <wall/>.')
    if opened:
        raise FormatError(f"{where}: <{opened[-1][0]}> is not closed, expected </{opened[-1][0]}>.")
    return MarkedSentence(tuple(words), tuple(spans), tuple(zones), tuple(wall for wall, _ in walls))


def marked_span(start: int, end: int, given: dict[str, str], where: str) -> MarkedSpan:
    text = next(given[key] for key in TRANSLATIONS if key in given)
    targets: list[Words] = [tuple(part.split()) for part in text.split(SEVERAL)]
    if not all(targets):
        raise FormatError(f"{where} has an empty translation, expected at least one word in each.")
    if len(set(targets)) < len(targets):
        raise FormatError(f"{where} has a translation twice, expected each once.")
    if "prob" not in given:
        return MarkedSpan(start, end, tuple(targets), (1.0,) * len(targets))
    numbers = given["prob"].split(SEVERAL)
    try:
        values = [float(number) for number in numbers]
    except ValueError:
        values = []
    if len(values) != len(targets) or not all(0.0 <= value <= 1.0 for value in values):
        raise FormatError(f"{where} has prob={given['prob']!r}, expected {len(targets)} probabilities, parted by {SEVERAL}.")
    return MarkedSpan(start, end, tuple(targets), tuple(values))
