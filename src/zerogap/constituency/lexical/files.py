"""A trained lexicalised model in one file: arrays and a JSON header, which cannot run code.

Words, tags and classes are named once, in a list; tables are rows of places in it, with a count each.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.archive import read_archive, write_archive
from zerogap.constituency.grammars.files import OPTIONS, TABLES, table_of
from zerogap.constituency.lexical.model import LexicalModel, Mixture, Seen, Sisters
from zerogap.constituency.treebank.lexicon import Counts, Lexicon
from zerogap.errors import FormatError, InputError
from zerogap.problems.constituency.lexical import LexicalGrammar

FORMAT, VERSION = "zerogap-lexical-model", 1
RULES = ("binary", "head_side", "unary", "unary_edge", "classes")
EVENTS = ("binary_event", "unary_event")
ABSENT = -1  # in a key that is shorter than others
SIDE = 2  # in keys of words: a side, not a name

Path = str | os.PathLike[str]
Contexts = dict[tuple[str, ...], Seen]
Table = dict[tuple[object, ...], dict[str, float]]


class Names(dict[str, int]):
    """Names numbered as they come."""

    def number(self, name: str) -> int:
        return self.setdefault(name, len(self))


def save_lexical(model: LexicalModel, path: Path, *, about: Mapping[str, Any] | None = None) -> None:
    """Writes a model; the file is there completely or not at all. `about` is for people: where the trees came from, scores."""
    grammar, names = model.grammar, Names()
    arrays: dict[str, Any] = {f"grammar_{name}": getattr(grammar, name) for name in RULES}
    arrays |= {name: getattr(model, name) for name in EVENTS} | {"base": model.mixture.base, "roots": model.roots}
    by_tag: Contexts = {(tag,): seen for tag, seen in model.mixture.by_tag.items()}
    by_word: Contexts = {(tag, word): seen for (tag, word), seen in model.mixture.by_word.items()}
    for name, table in (("by_tag", by_tag), ("by_word", by_word)):
        arrays |= {f"{name}_{part}": array for part, array in mixture_rows(table, names).items()}
    arrays["sister_tags"] = sister_rows(model.sisters.tags, names, 3)
    arrays["sister_words"] = sister_rows(model.sisters.words, names, 5)
    header: dict[str, Any] = {
        "format": FORMAT, "version": VERSION, "about": dict(about or {}), "symbols": grammar.symbols, "root": grammar.root,
        "sister_classes": list(model.sisters.classes),
    }  # fmt: skip
    write_archive(path, header | lexicon_header(model.lexicon) | {"names": list(names)}, arrays | lexicon_arrays(model.lexicon))  # type: ignore[arg-type]


def load_lexical(path: Path) -> LexicalModel:
    """A model from a file; FormatError if it is damaged or of another kind."""
    header, arrays = read_archive(path, FORMAT, VERSION)  # type: ignore[arg-type]
    try:
        rules = [np.ascontiguousarray(arrays[f"grammar_{name}"], dtype=np.int64) for name in RULES]
        grammar = LexicalGrammar(tuple(map(str, header["symbols"])), header["root"], *rules)
        events = [np.ascontiguousarray(arrays[name], dtype=np.int64) for name in EVENTS]
        lexicon = lexicon_of(header, arrays)
        names = list(map(str, header["names"]))
        base = np.ascontiguousarray(arrays["base"], dtype=np.float64)
        roots = np.ascontiguousarray(arrays["roots"], dtype=np.float64)
        if base.ndim != 2 or base.shape[1] != 2 or not ((base >= 0) & (base <= 1 + 1e-6)).all() or roots.shape != (len(lexicon.tags),):
            raise ValueError(f"base has shape {base.shape}, roots {roots.shape}: expected probabilities, and a number for each tag")
        for name, event, scored in zip(EVENTS, events, (grammar.binary, grammar.unary), strict=True):
            places(event, (len(scored),), len(base), name)
        by_tag, by_word = (mixture_of(arrays, name, names, len(base)) for name in ("by_tag", "by_word"))
        mixture = Mixture(base, {tag: seen for (tag,), seen in by_tag.items()}, {(t, w): seen for (t, w), seen in by_word.items()})
        sisters = Sisters(
            {str(name): k for k, name in enumerate(header["sister_classes"])},
            sisters_of(arrays["sister_tags"], names, 3), sisters_of(arrays["sister_words"], names, 5),
        )  # fmt: skip
        if int(grammar.classes.max(initial=-1)) >= len(sisters.classes):
            raise ValueError(f"there are {len(sisters.classes)} classes of sisters: the grammar has more")
        number = {symbol: i for i, symbol in enumerate(grammar.symbols)}
        tag_symbols = np.array([number[tag] for tag in lexicon.tags], dtype=np.int64)
        return LexicalModel(grammar, mixture, events[0], events[1], sisters, roots, lexicon, tag_symbols)
    except FormatError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, InputError) as error:
        raise FormatError(f"{os.fspath(path)} is not a complete model: {str(error).rstrip('.')}.") from None


def mixture_rows(table: Mapping[tuple[str, ...], Seen], names: Names) -> dict[str, NDArray[Any]]:
    """Contexts as rows (key, begin, end, verb, how many), and the places and counts of all of them one after the other."""
    width = len(next(iter(table), ()))
    rows = [
        (*(names.number(part) for part in key), begin, end, verb, len(where))
        for key, seen in table.items()
        for begin, end, verb, where, _ in seen
    ]
    every = [entry for seen in table.values() for entry in seen]
    return {
        "contexts": np.array(rows, dtype=np.int32).reshape(-1, width + 4),
        "places": np.concatenate([entry[3] for entry in every] or [np.zeros(0, dtype=np.int64)]).astype(np.int32),
        "counts": np.concatenate([entry[4] for entry in every] or [np.zeros(0)]).astype(np.float64),
    }


def mixture_of(arrays: dict[str, Any], name: str, names: Sequence[str], size: int) -> dict[tuple[str, ...], Seen]:
    contexts, where, counts = (arrays[f"{name}_{part}"] for part in ("contexts", "places", "counts"))
    width = {"by_tag": 1, "by_word": 2}[name]
    if contexts.ndim != 2 or contexts.shape[1] != width + 4 or where.shape != counts.shape or contexts[:, -1].sum() != len(where):
        raise ValueError(f"{name} has tables of shapes {contexts.shape}, {where.shape}, {counts.shape}, which do not belong together")
    places(contexts[:, :width], (len(contexts), width), len(names), name)
    begins, ends, verbs, lengths = contexts[:, width:].T
    if len(contexts) and not ((begins >= 0) & (ends <= size) & (verbs >= 0) & (verbs <= 1) & (lengths > 0)).all():
        raise ValueError(f"{name} has a context outside of the {size} events")
    if (where < 0).any() or (where >= np.repeat(ends - begins, lengths)).any() or not (np.isfinite(counts) & (counts > 0)).all():
        raise ValueError(f"{name} has an event outside of its context, or a count that is not above 0")
    found: dict[tuple[str, ...], Seen] = {}
    position, wide = 0, where.astype(np.int64)
    for row in contexts.tolist():
        key = tuple(names[part] for part in row[:width])
        begin, end, verb, length = row[width:]
        found.setdefault(key, []).append((begin, end, verb, wide[position : position + length], counts[position : position + length]))
        position += length
    return found


def sister_rows(table: Table, names: Names, width: int) -> NDArray[np.float64]:
    """Rows of a key, what was seen with it, and how often."""
    rows: list[list[float]] = []
    for key, seen in table.items():
        numbers = [part if isinstance(part, int) else names.number(str(part)) for part in key]
        numbers += [ABSENT] * (width - len(key))
        rows.extend([*numbers, names.number(what), count] for what, count in seen.items())
    return np.array(rows, dtype=np.float64).reshape(-1, width + 2)


def sisters_of(rows: NDArray[Any], names: Sequence[str], width: int) -> Table:
    if rows.ndim != 2 or rows.shape[1] != width + 2 or not np.isfinite(rows).all() or (rows[:, -1] <= 0).any():
        raise ValueError(f"sisters have a table of shape {rows.shape}: expected {width + 2} columns, and counts above 0")
    found: Table = {}
    places(rows[:, :-1].astype(np.int64), (len(rows), width + 1), len(names), "sisters", lowest=ABSENT)
    for row in rows.tolist():
        numbers = [int(number) for number in row[:-1]]
        key: tuple[object, ...] = tuple(
            number if width > 3 and i == SIDE else names[number] for i, number in enumerate(numbers[:-1]) if number != ABSENT
        )
        found.setdefault(key, {})[names[numbers[-1]]] = row[-1]
    return found


def places(array: NDArray[Any], shape: tuple[int, ...], size: int, what: str, *, lowest: int = 0) -> None:
    """Raises ValueError unless an array has this shape and its entries are below the size."""
    if array.shape != shape or (array.size and not lowest <= int(array.min()) <= int(array.max()) < size):
        raise ValueError(f"{what} has shape {array.shape}: expected {shape}, with entries from {lowest} to {size - 1}")


def lexicon_header(lexicon: Lexicon) -> dict[str, Any]:
    tables: dict[str, Iterable[str]] = {name: list(getattr(lexicon, name)) for name in TABLES}
    return {"tags": lexicon.tags, "options": {name: getattr(lexicon, name) for name in OPTIONS}, **tables}


def lexicon_arrays(lexicon: Lexicon) -> dict[str, Any]:
    arrays: dict[str, Any] = {"totals": lexicon.totals}
    for name in TABLES:
        counts: Counts = getattr(lexicon, name)
        rows = [(i, tag, count) for i, entries in enumerate(counts.values()) for tag, count in entries.items()]
        arrays[name] = np.array(rows, dtype=np.float64).reshape(-1, 3)
    return arrays


def lexicon_of(header: dict[str, Any], arrays: dict[str, Any]) -> Lexicon:
    tags = tuple(map(str, header["tags"]))
    totals = np.ascontiguousarray(arrays["totals"], dtype=np.float64)
    if totals.shape != (len(tags),) or not (totals > 0).all():
        raise ValueError(f"totals are not a positive number for each of {len(tags)} tags")
    tables = {name: table_of(header[name], arrays[name], len(tags)) for name in TABLES}
    frequent, *weights = (header["options"][name] for name in OPTIONS)
    return Lexicon(tags, totals, tables["words"], tables["classes"], int(frequent), *map(float, weights))
