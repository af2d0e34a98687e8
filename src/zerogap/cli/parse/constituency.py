"""`zerogap parse --constituency`: text in, the best constituency trees out, each with what is proven about it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from zerogap.cli.terminal import Summary, check_choices, progress
from zerogap.errors import FormatError, Infeasible, InputError
from zerogap.io.formats.lines import writing
from zerogap.pipeline.sources import from_text
from zerogap.pipeline.tree_parsers import compact, load_tree_parser
from zerogap.pipeline.tree_sources import from_sentences, read_words
from zerogap.plot.constituents import draw_constituents, plot_constituents
from zerogap.proof.lines import proof_line

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

    to_terminal = output is None and sys.stdout.isatty()
    shown = format or ("tree" if is_text and to_terminal else "brackets")
    check_choices(("--format", shown, FORMATS), ("--input-format", input_format, INPUTS))
    if not is_text and input != "-" and (os.path.isdir(input) or not os.path.exists(input)):
        raise FormatError(f"{input} cannot be read: {'it is a folder' if os.path.isdir(input) else 'no such file'}.")
    parser = load_tree_parser(model, glue=glue, time_limit=time_limit)
    summary, glued = Summary("sentence", "nothing to parse"), 0
    with progress("parsing") as steps, writing(output) as out, writing(certificates) if certificates else nullcontext() as proofs:
        for found in sentences_of(input, is_text, parser, lines, input_format, on_error, summary.note):
            try:
                parsed = parser.parse(found.forms)
                proof = "" if proofs is None else proof_of(parsed, found)
            except (InputError, Infeasible) as error:
                message = f"{found.where}: {error}" if found.where else str(error)
                if on_error == "stop":
                    hint = " (--glue puts pieces beside each other)" if isinstance(error, Infeasible) and not glue else ""
                    raise FormatError(f"{message.rstrip('.')}{hint}.") from None
                summary.note(f"{message} Left out.")
                continue
            if shown == "svg" and summary.inputs:
                raise FormatError(f"{input} has several sentences: expected one for a picture (--format svg).")
            summary.count(words=len(found.forms), proven=parsed.solution.status == "optimal")
            glued += parsed.glued
            steps.advance(f"parsing: {summary.words:,} words")
            out.write("\n" * (shown == "tree" and summary.inputs > 1) + written(parsed, shown, to_terminal))
            if proofs is not None:
                proofs.write(proof)
    summary.tell(more=f", {glued:,} of them glued together from pieces" if glued else "")


def sentences_of(
    input: str, is_text: bool, parser: TreeParser, lines: bool, kind: str, on_error: str, report: Callable[[str], None]
) -> Iterator[Words]:
    known = parser.known_words()
    if is_text:
        return from_sentences(from_text(input, lines=lines), known)
    return read_words(input, known, kind=kind, lines=lines, on_error=on_error, report=report)


def written(parsed: ParsedTree, format: str, to_terminal: bool) -> str:
    """A sentence without a tree is an empty pair of brackets, as treebank programs expect."""
    if format == "json":
        return json.dumps(parsed.to_json(), ensure_ascii=False) + "\n"
    if parsed.tree is None:
        return "(())\n"
    if format == "brackets":
        return f"{parsed.tree}\n"

    if format == "svg":
        return plot_constituents(parsed.tree).svg + "\n"
    width = (os.get_terminal_size(sys.stdout.fileno()).columns if to_terminal else 0) or None  # some terminals say 0
    colour = to_terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    proof = parsed.solution
    state = "proven optimal" if proof.status == "optimal" else f"a gap of {proof.gap:.4g} is left"
    return f"{draw_constituents(parsed.tree, width=width, colour=colour)}\n({state}, score {proof.score:.3f})\n"


def proof_of(parsed: ParsedTree, found: Words) -> str:
    return proof_line(compact(parsed.problem), parsed.solution, {"line": found.line, "text": " ".join(found.forms)})
