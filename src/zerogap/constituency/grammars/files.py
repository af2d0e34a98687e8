"""A trained PCFG in one file: arrays and a JSON header, which cannot run code."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from zerogap.archive import read_archive, write_archive
from zerogap.constituency.grammars.pcfg import PcfgModel
from zerogap.constituency.treebank.lexicon import Counts, Lexicon
from zerogap.errors import FormatError, InputError
from zerogap.structures.grammar import Grammar

FORMAT, VERSION = "zerogap-pcfg", 1
OPTIONS = ("frequent", "weight", "class_weight", "lowest")
TABLES = ("words", "classes")


def save_pcfg(model: PcfgModel, path: str | os.PathLike[str]) -> None:
    """Writes a model whose words are scored by its lexicon; it is there completely or not at all."""
    grammar, lexicon = model.grammar, model.lexicon
    header: dict[str, Any] = {
        "format": FORMAT, "version": VERSION, "symbols": grammar.symbols, "root": grammar.root, "cycles": grammar.cycles,
        "tags": lexicon.tags, "options": {name: getattr(lexicon, name) for name in OPTIONS},
    }  # fmt: skip
    arrays: dict[str, Any] = {name: getattr(grammar, name) for name in ("binary", "binary_scores", "unary", "unary_scores")}
    arrays["totals"] = lexicon.totals
    for name in TABLES:
        counts: Counts = getattr(lexicon, name)
        header[name] = list(counts)
        rows = [(i, tag, count) for i, entries in enumerate(counts.values()) for tag, count in entries.items()]
        arrays[name] = np.array(rows, dtype=np.float64).reshape(-1, 3)
    write_archive(os.fspath(path), header, arrays)


def load_pcfg(path: str | os.PathLike[str]) -> PcfgModel:
    """A model from a file; FormatError if it is damaged or of another kind."""
    header, arrays = read_archive(os.fspath(path), FORMAT, VERSION)
    try:
        grammar = Grammar(
            tuple(map(str, header["symbols"])), header["root"],
            np.ascontiguousarray(arrays["binary"], dtype=np.int32), np.ascontiguousarray(arrays["binary_scores"], dtype=np.float64),
            np.ascontiguousarray(arrays["unary"], dtype=np.int32), np.ascontiguousarray(arrays["unary_scores"], dtype=np.float64),
            {}, bool(header["cycles"]),
        )  # fmt: skip
        tags = tuple(map(str, header["tags"]))
        totals = np.ascontiguousarray(arrays["totals"], dtype=np.float64)
        if totals.shape != (len(tags),) or not (totals > 0).all():
            raise FormatError(f"{os.fspath(path)}: totals are not a positive number for each of {len(tags)} tags.")
        tables = {name: table_of(header[name], arrays[name], len(tags)) for name in TABLES}
        frequent, *weights = (header["options"][name] for name in OPTIONS)
        lexicon = Lexicon(tags, totals, tables["words"], tables["classes"], int(frequent), *map(float, weights))
        return PcfgModel.of(grammar, lexicon)
    except FormatError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, InputError) as error:
        raise FormatError(f"{os.fspath(path)} is not a complete model: {error}") from None


def table_of(names: Sequence[str], rows: Any, n_tags: int) -> Counts:
    """Counts by name and tag from rows (place of the name, tag, count)."""
    counts: dict[str, dict[int, float]] = {str(name): {} for name in names}
    order = list(counts)
    if rows.ndim != 2 or rows.shape[1] != 3 or len(order) != len(names) or not np.isfinite(rows).all() or (rows < 0).any():
        raise ValueError("the counts of words are not rows of a place, a tag and a count of zero or more.")
    for place, tag, count in rows.tolist():
        if int(tag) >= n_tags:
            raise ValueError(f"a word has the tag {int(tag)}: expected 0 to {n_tags - 1}.")
        counts[order[int(place)]][int(tag)] = count
    return counts
