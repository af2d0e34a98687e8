"""Parsers in files: a header in JSON with templates, labels and what is told about the parser; weights as arrays.

Nothing that is read is believed, as kernels read what is made of it without looking at bounds; nothing that is read can run code.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zerogap.archive import read_archive, write_archive
from zerogap.dependency.cascade.rows import RowModel, rows_from_arrays, rows_to_arrays
from zerogap.dependency.parser.labeller import Labeller, LabelSets
from zerogap.dependency.parser.parser import ORDERS, Parser
from zerogap.errors import FormatError, InputError
from zerogap.features.parts.keys import PartFeatures, TokenHashes, attributes_of
from zerogap.features.parts.model import PartModel, from_arrays, to_arrays
from zerogap.features.parts.templates import parse_part_templates

if TYPE_CHECKING:
    from zerogap.dependency.cascade.passes import Pass

FORMAT, VERSION = "zerogap-dependency-model", 1
ROWS = "rows"  # the kind of passes whose weights stand in rows
BOUNDS, PASS = "bounds", "pass"  # arrays of files that have some are named so


def write_parser(parser: Parser, path: str | Path) -> None:
    """One file, which is there completely or not at all."""
    parts: dict[str, PartModel | RowModel | None] = {"model": parser.model, "pruner": parser.pruner}
    parts["labeller"] = parser.labeller.model if parser.labeller else None
    parts |= {f"{PASS}{i}": one.model for i, one in enumerate(parser.passes)}
    header: dict[str, Any] = {
        "format": FORMAT, "version": VERSION, "order": parser.order, "threshold": parser.threshold, "single_root": parser.single_root,
        "projective": parser.projective, "about": parser.about,
        "templates": {name: [line_of(t.kind, t.text) for t in part.features.templates] for name, part in parts.items() if part},
    }  # fmt: skip
    if parser.passes:
        header["passes"] = [[one.kind, *one.rule, one.band, *([one.stacked] if one.stacked else [])] for one in parser.passes]
    if parser.labeller:
        sets = parser.labeller.sets
        header["labels"] = {
            "names": sets.names,
            "column": sets.column,
            "seen": [[*key, found.tolist()] for key, found in sets.seen.items()],
        }
    arrays: dict[str, Any] = {}
    for name, part in parts.items():
        if part:
            arrays |= rows_to_arrays(part, name) if isinstance(part, RowModel) else to_arrays(part, name)
    if parser.bounds is not None:
        from zerogap.features.parts.bounds import bounds_to_arrays

        arrays |= bounds_to_arrays(parser.bounds, BOUNDS)
    write_archive(path, header, arrays)


def line_of(kind: str, text: str) -> str:
    return f"{'arc' if kind == 'between' else kind}: {text}"


def read_parser(path: str | Path) -> Parser:
    """FormatError says what is wrong with the file."""
    header, arrays = read_archive(path, FORMAT, VERSION)
    return parser_of(header, arrays, str(path))


def parser_of(header: dict[str, Any], arrays: dict[str, Any], where: str) -> Parser:
    """Believes nothing: kernels read these arrays without looking at their bounds."""
    try:
        order, threshold, single_root = header["order"], float(header["threshold"]), header["single_root"]
        projective = header["projective"]
        parsed = {name: parse_part_templates(lines) for name, lines in header["templates"].items()}
        tokens = TokenHashes(attributes_of(template for templates in parsed.values() for template in templates))
        templates = {name: PartFeatures(found, tokens) for name, found in parsed.items()}
        if (
            order not in ORDERS
            or not 0.0 <= threshold <= 1.0
            or not isinstance(single_root, bool)
            or not isinstance(projective, bool)
            or "model" not in templates
        ):
            raise FormatError(
                f"{where}: the order is {order!r}, the threshold {threshold!r}: expected one of {', '.join(ORDERS)}, and 0 to 1."
            )
        rows = {f"{PASS}{i}" for i, row in enumerate(header.get("passes", ())) if row[0] == ROWS}
        parts = {name: from_arrays(arrays, name, features, where) for name, features in templates.items() if name not in rows}
        labeller = Labeller(sets_of(header["labels"], where), parts["labeller"]) if "labels" in header else None
        about = header.get("about", {})
        in_rows = {name: rows_from_arrays(arrays, name, templates[name], where) for name in rows}
        passes = passes_of(header["passes"], {**parts, **in_rows}) if "passes" in header else ()
    except FormatError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, InputError) as error:
        raise FormatError(f"{where}: the header is damaged: {error!r}.") from None
    stored = None
    if bounds := {name: array for name, array in arrays.items() if name.startswith(f"{BOUNDS}_")}:
        from zerogap.features.parts.bounds import StoredBounds  # most parsers do without

        stored = StoredBounds(parts["model"], bounds, BOUNDS, where)
    return Parser(
        order, parts["model"], parts.get("pruner"), threshold, labeller, single_root, projective,
        about if isinstance(about, dict) else {}, stored, passes,
    )  # fmt: skip


def passes_of(rows: list[list[Any]], parts: Mapping[str, PartModel | RowModel]) -> tuple[Pass, ...]:
    from zerogap.dependency.cascade.passes import Pass  # most parsers do without
    from zerogap.relax.pruning import Rule

    return tuple(Pass(kind, parts[f"{PASS}{i}"], Rule(rule, value), band, *on) for i, (kind, rule, value, band, *on) in enumerate(rows))


def sets_of(value: dict[str, Any], where: str) -> LabelSets:
    names = tuple(str(name) for name in value["names"])
    seen = {}
    for head, modifier, right, labels in value["seen"]:
        found = np.array(labels, dtype=np.int64)
        if found.ndim != 1 or len(found) == 0 or int(found.min()) < 0 or int(found.max()) >= len(names):
            raise FormatError(f"{where}: labels of {head}, {modifier} are {labels}: expected numbers from 0 to {len(names) - 1}.")
        seen[str(head), str(modifier), bool(right)] = found
    return LabelSets(names, str(value["column"]), seen)
