"""Reads the phrase-based model that a moses.ini describes: the files of its phrase table and language model, and its weights.

    [feature]
    KENLM name=LM0 factor=0 path=news.arpa.gz order=3
    PhraseDictionaryMemory name=TranslationModel0 num-features=4 path=phrase-table.gz input-factor=0 output-factor=0
    Distortion
    WordPenalty
    PhrasePenalty
    UnknownWordPenalty

One phrase table, one language model, distance-based reordering, one factor. Anything else (lexicalised reordering, sparse features, ...)
would make another model of it, so it is an error. Paths are those of the file's reader, or beside the file. A table-limit is not
applied: all targets of the table count.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from zerogap.errors import FormatError
from zerogap.io.formats.lines import read_lines, shown
from zerogap.io.translation.weights import SECTION, load_phrase_weights, weights_of_file
from zerogap.translation.phrases.table import PhraseWeights

TABLES = ("PhraseDictionaryMemory", "PhraseDictionaryMultiModel", "PhraseDictionaryOnDisk", "PhraseDictionaryCompact", "ProbingPT")
MODELS = ("KENLM", "SRILM", "IRSTLM", "LM")
PLAIN = ("Distortion", "WordPenalty", "PhrasePenalty", "UnknownWordPenalty")
READ_AS_TEXT = TABLES[0]


@dataclass(frozen=True, slots=True)
class MosesConfig:
    phrase_table: Path
    language_model: Path
    weights: PhraseWeights
    stack: int | None  # as the file has it


def load_moses_config(path: str | os.PathLike[str]) -> MosesConfig:
    """The model of a moses.ini; FormatError names what zerogap does not have."""
    places: dict[str, Path] = {}
    for number, line in feature_lines(path):
        where = f"{shown(path)}, line {number}"
        kind, *settings = line.split()
        given = dict(setting.partition("=")[::2] for setting in settings)
        what = "table" if kind in TABLES else "model" if kind in MODELS else ""
        if not what:
            if kind in PLAIN:
                continue
            raise FormatError(f"{where}: the feature {kind!r}, expected {', '.join((READ_AS_TEXT, MODELS[0], *PLAIN))}.")
        if what in places:
            raise FormatError(f"{where}: another {'phrase table' if what == 'table' else 'language model'}, expected one.")
        if what == "table" and kind != READ_AS_TEXT:
            raise FormatError(f"{where}: {kind} is a binary phrase table, expected a {READ_AS_TEXT}, which is text.")
        if not given.get("path"):
            raise FormatError(f"{where}: {kind} has no path=, expected the file.")
        beside = Path(path).parent / given["path"]
        places[what] = beside if os.path.exists(beside) else Path(given["path"])  # of what no file can be called it says no
    for what, names in (("table", (READ_AS_TEXT,)), ("model", MODELS)):
        if what not in places:
            raise FormatError(f"{shown(path)} has no {' or '.join(names)} in [feature]: expected one.")
    stack = weights_of_file(path).get("stack", {}).get("", ())
    return MosesConfig(places["table"], places["model"], load_phrase_weights(path), int(stack[0]) if stack else None)


def feature_lines(path: str | os.PathLike[str]) -> list[tuple[int, str]]:
    """The lines of [feature], with their numbers."""
    found, current = [], ""
    for number, line in read_lines(path):
        text = line.split("#", 1)[0].strip()
        match = SECTION.fullmatch(text)
        if match:
            current = match[1]
        elif text and current == "feature":
            found.append((number, text))
    return found
