"""`zerogap parse --constituency`: text in, the best constituency trees out, each with what is proven about it."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from zerogap.cli.decode import GAP_LEFT_OPEN
from zerogap.cli.options import counted
from zerogap.cli.progress import progress
from zerogap.errors import FormatError, Infeasible, InputError, UnknownMethod

if TYPE_CHECKING:
    from zerogap.pipeline.tree_parsers import ParsedTree, TreeParser
    from zerogap.pipeline.tree_sources import Words

FORMATS = ("brackets", "tree", "json", "svg")
INPUTS = ("auto", "text", "conllu", "conllx", "treebank", "brackets")


def parse_constituency(
    input: str, model: Path, *, is_text: bool, output: Path | None, format: str | None, lines: bool, certificates: Path | None,
    on_error: str, input_format: str, glue: bool, time_limit: float | None,
) -> None:  # fmt: skip
    """Parses everything and tells what is proven; exit code 3 if a gap was left open."""
    from zerogap.io.formats.lines import writing
    from zerogap.pipeline.tree_parsers import load_tree_parser

    to_terminal = output is None and sys.stdout.isatty()
    shown = format or ("tree" if is_text and to_terminal else "brackets")
    if shown not in FORMATS:
        raise UnknownMethod("--format", shown, FORMATS)
    if input_format not in INPUTS:
        raise UnknownMethod("--input-format", input_format, INPUTS)
    if not is_text and input != "-" and (os.path.isdir(input) or not os.path.exists(input)):
        raise FormatError(f"{input} cannot be read: {'it is a folder' if os.path.isdir(input) else 'no such file'}.")
    parser = load_tree_parser(model, glue=glue, time_limit=time_limit)
    begin, sentences, words, proven, glued = time.perf_counter(), 0, 0, 0, 0
    notes: list[str] = []
    with progress("parsing") as steps, writing(output) as out, writing(certificates) if certificates else nullcontext() as proofs:
        for found in sentences_of(input, is_text, parser, lines, input_format, on_error, notes):
            try:
                parsed = parser.parse(found.forms)
                proof = "" if proofs is None else proof_of(parsed, found)
            except (InputError, Infeasible) as error:
                message = f"{found.where}: {error}" if found.where else str(error)
                if on_error == "stop":
                    hint = " (--glue puts pieces beside each other)" if isinstance(error, Infeasible) and not glue else ""
                    raise FormatError(f"{message.rstrip('.')}{hint}.") from None
                notes.append(f"{message} Left out.")
                continue
            if shown == "svg" and sentences:
                raise FormatError(f"{input} has several sentences: expected one for a picture (--format svg).")
            sentences, words, proven = sentences + 1, words + len(found.forms), proven + (parsed.solution.status == "optimal")
            glued += parsed.glued
            steps.advance(f"parsing: {words:,} words")
            out.write("\n" * (shown == "tree" and sentences > 1) + written(parsed, shown, to_terminal))
            if proofs is not None:
                proofs.write(proof)
    for note in notes[:10]:
        print(note, file=sys.stderr)
    seconds, left = time.perf_counter() - begin, sentences - proven
    state = f"{proven:,} proven optimal, {left:,} with a gap left open" if left else "all proven optimal"
    pieces = f", {glued:,} of them glued together from pieces" if glued else ""
    what = f"{counted(sentences, 'sentence')}, {counted(words, 'word')}: {state}{pieces}" if sentences else "nothing to parse"
    print(f"{what} ({seconds:.1f} s)", file=sys.stderr)
    if left:
        raise typer.Exit(GAP_LEFT_OPEN)


def sentences_of(input: str, is_text: bool, parser: TreeParser, lines: bool, kind: str, on_error: str, notes: list[str]) -> Iterator[Words]:
    from zerogap.pipeline.sources import from_text
    from zerogap.pipeline.tree_sources import from_sentences, read_words

    known = parser.known_words()
    if is_text:
        return from_sentences(from_text(input, lines=lines), known)
    return read_words(input, known, kind=kind, lines=lines, on_error=on_error, report=notes.append)


def written(parsed: ParsedTree, format: str, to_terminal: bool) -> str:
    """A sentence without a tree is an empty pair of brackets, as treebank programs expect."""
    if format == "json":
        return json.dumps(parsed.to_json(), ensure_ascii=False) + "\n"
    if parsed.tree is None:
        return "(())\n"
    if format == "brackets":
        return f"{parsed.tree}\n"
    from zerogap.plot.constituents import draw_constituents, plot_constituents

    if format == "svg":
        return plot_constituents(parsed.tree).svg + "\n"
    width = (os.get_terminal_size(sys.stdout.fileno()).columns if to_terminal else 0) or None  # some terminals say 0
    colour = to_terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    proof = parsed.solution
    state = "proven optimal" if proof.status == "optimal" else f"a gap of {proof.gap:.4g} is left"
    return f"{draw_constituents(parsed.tree, width=width, colour=colour)}\n({state}, score {proof.score:.3f})\n"


def proof_of(parsed: ParsedTree, found: Words) -> str:
    from zerogap.io.problems.proofs import proof_line
    from zerogap.pipeline.tree_parsers import compact

    return proof_line(compact(parsed.problem), parsed.solution, {"line": found.line, "text": " ".join(found.forms)})
