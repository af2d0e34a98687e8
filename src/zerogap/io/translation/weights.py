"""Weights of translation models: named numbers in sections, and what zerogap needs of a moses.ini.

    [phrase]
    p_f_given_e  0.2       # a comment
    lm           0.5

`weights_of_file` gives all sections as they are; `load_phrase_weights` makes a phrase-based model of the section [phrase], or of the
sections [weight] and [distortion-limit] of a moses.ini (PhrasePenalty0, WordPenalty0, Distortion0, LM0, UnknownWordPenalty0, and
TranslationModel0 or PhraseDictionary...0). Moses counts words with a minus: a weight of -0.4 of WordPenalty0 is +0.4 per word.
"""

from __future__ import annotations

import math
import os
import re

from zerogap.errors import FormatError
from zerogap.io.formats.lines import read_lines, shown
from zerogap.translation.phrases.table import LOWEST, PhraseWeights

SCORES = ("p_f_given_e", "lex_f_given_e", "p_e_given_f", "lex_e_given_f")
OTHERS = ("lm", "words", "phrases", "distortion", "distortion_limit")
MOSES_TABLE = re.compile(r"(TranslationModel|PhraseDictionary\w*)0")
MOSES_WEIGHTS = ("LM0", "WordPenalty0", "PhrasePenalty0", "Distortion0", "UnknownWordPenalty0")
SECTION = re.compile(r"\[([^\]]+)\]")

Sections = dict[str, dict[str, tuple[float, ...]]]


def weights_of_file(path: str | os.PathLike[str]) -> Sections:
    """{section: {name: numbers}}. A line without a name, as in a moses.ini, has the name ""; sections that do not begin with a number
    or a name and numbers ([feature], [input-factors], ...) keep no line that is not one."""
    return read_sections(path)[0]


def read_sections(path: str | os.PathLike[str]) -> tuple[Sections, dict[tuple[str, str], int]]:
    """The sections, and the line of every name."""
    sections: Sections = {}
    places: dict[tuple[str, str], int] = {}
    current = ""
    for number, line in read_lines(path):
        text = line.split("#", 1)[0].strip()
        match = SECTION.fullmatch(text)
        if match:
            current = match[1]
            sections.setdefault(current, {})
        elif text and current != "feature":  # of Moses: how features are made, not what they weigh
            name, numbers = read_numbers(text, f"{shown(path)}, line {number}")
            if not current:
                raise FormatError(f"{shown(path)}, line {number}: {text!r} before any section, expected a line like [phrase] first.")
            if name in sections[current] and current != "mapping":
                raise FormatError(f"{shown(path)}, line {number}: {name!r} stands twice in [{current}], expected once.")
            sections[current][name] = numbers
            places[current, name] = number
    return sections, places


def read_numbers(text: str, where: str) -> tuple[str, tuple[float, ...]]:
    fields = text.replace("= ", " ").replace("=", " ").split()
    name = "" if not fields or is_number(fields[0]) else fields.pop(0)
    if not all(map(is_number, fields)):
        return text, ()  # not about weights
    if name and not fields:
        return name, ()
    numbers = tuple(map(float, fields))
    if not all(map(math.isfinite, numbers)):
        raise FormatError(f"{where}: {text!r}, expected finite weights.")
    return name, numbers


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def load_phrase_weights(path: str | os.PathLike[str]) -> PhraseWeights:
    """The weights of a phrase-based model; FormatError names what is missing."""
    sections, places = read_sections(path)
    if "phrase" in sections:
        return from_phrase_section(
            sections["phrase"], {name: line for (section, name), line in places.items() if section == "phrase"}, shown(path)
        )
    if "weight" in sections:
        return from_moses(sections, shown(path))
    raise FormatError(f"{shown(path)} has sections {', '.join(sections) or 'none'}: expected [phrase], or [weight] as in a moses.ini.")


def from_phrase_section(given: dict[str, tuple[float, ...]], places: dict[str, int], source: str) -> PhraseWeights:
    known = (*SCORES, *OTHERS, "unknown")
    for name, numbers in given.items():
        if name not in known or len(numbers) != 1:
            raise FormatError(
                f"{source}, line {places[name]}: {name!r} with {len(numbers)} numbers, expected one of each of {', '.join(known)}."
            )
    for name in (*SCORES, *OTHERS[:-1]):
        if name not in given:
            raise FormatError(f"{source} has no {name!r} in [phrase]: expected {', '.join((*SCORES, *OTHERS))}.")
    limit = given.get("distortion_limit", (-1.0,))[0]
    if limit != int(limit):
        raise FormatError(f"{source}, line {places['distortion_limit']}: distortion_limit is {limit}, expected a number of words.")
    return PhraseWeights(
        tuple(given[name][0] for name in SCORES), given["lm"][0], given["words"][0], given["phrases"][0], given["distortion"][0],
        None if limit < 0 else int(limit), given.get("unknown", (LOWEST,))[0],
    )  # fmt: skip


def from_moses(sections: Sections, source: str) -> PhraseWeights:
    weights = sections["weight"]
    tables = [name for name in weights if MOSES_TABLE.fullmatch(name)]
    if len(tables) != 1:
        raise FormatError(f"{source} has {len(tables)} phrase tables in [weight]: expected one, TranslationModel0 or PhraseDictionary...0.")
    for name, numbers in weights.items():
        if name not in (*tables, *MOSES_WEIGHTS):
            raise FormatError(f"{source} weighs {name!r}: zerogap knows {', '.join(MOSES_WEIGHTS)} and one phrase table.")
        if name != tables[0] and len(numbers) != 1:
            raise FormatError(f"{source} gives {name!r} {len(numbers)} numbers: expected one.")
    if "LM0" not in weights:
        raise FormatError(f"{source} has no LM0 in [weight]: expected the weight of the language model.")
    single = {name: numbers[0] for name, numbers in weights.items() if name != tables[0]}
    limit = sections.get("distortion-limit", {}).get("", (-1.0,))[0]  # Moses: 6 if it is not given, none if negative
    if "distortion-limit" not in sections:
        limit = 6.0
    return PhraseWeights(
        weights[tables[0]], single["LM0"], -single.get("WordPenalty0", 0.0), single.get("PhrasePenalty0", 0.0),
        single.get("Distortion0", 0.0),
        None if limit < 0 else int(limit), LOWEST * single.get("UnknownWordPenalty0", 1.0),
    )  # fmt: skip
