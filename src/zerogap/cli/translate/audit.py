"""Audits another decoder for `zerogap audit`: compares its scores with proven optima of the same model."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from zerogap.cli.terminal import GAP_LEFT_OPEN, counted, progress
from zerogap.cli.translate.lines import REPORT, Job, Wanted
from zerogap.cli.translate.models import ModelFiles, read_sentences
from zerogap.errors import FormatError, InputError, InvalidStructure
from zerogap.io.formats.lines import read_lines, shown, writing
from zerogap.relax.parallel import mapped
from zerogap.translation.audit import Audit, Compared
from zerogap.translation.nbest import BAR, parse_nbest, parse_score

if TYPE_CHECKING:
    from zerogap.translation.audit import Audit
    from zerogap.translation.nbest import Candidate

COLUMNS = ("line", "words", "status", "score", "bound", "other", "loss")


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """The options of the command, as they were given."""

    other: str
    report: Path | None
    input: str | None
    phrase_table: Path | None
    grammar: Path | None
    lm: Path | None
    weights: Path | None
    config: Path | None
    distortion_limit: int | None
    reordering: str
    max_span: int | None
    column: str | None
    output: Path | None
    tolerance: float
    time_limit: float | None
    threads: int | None


def run(options: AuditOptions) -> None:
    files = ModelFiles(
        options.phrase_table,
        options.grammar,
        options.lm,
        options.weights,
        options.config,
        options.distortion_limit,
        options.reordering,
        options.max_span,
    )
    if (options.report is None) == (options.input is None):
        raise typer.BadParameter("expected either --report, or --input and a model.")
    if options.report is not None:
        if files.given:
            raise typer.BadParameter("--report has the proven scores: expected no model with it.")
        audit = compared(read_report(options.report), read_scores(options.other, options.column), options.tolerance)
    else:
        files.check()
        assert options.input is not None
        audit = decoded(files, options.input, options.other, options.column, options.tolerance, options.time_limit, options.threads)
    print(audit)
    above, undecided = audit.of("above"), audit.of("open")
    if above:
        worst = max(above, key=lambda one: one.other - one.bound)
        print(
            f"{counted(len(above), 'score')} above what is possible, by {worst.other - worst.bound:.4f} on line {worst.line}: the two do"
            " not score alike. Compare weights, features and limits.",
            file=sys.stderr,
        )
    if options.output is not None:
        with writing(options.output) as out:
            out.write("\t".join(COLUMNS) + "\n")
            for one in audit.sentences:
                numbers = [repr(value) for value in (one.score, one.bound, one.other, one.score - one.other)]
                out.write("\t".join([str(one.line), str(one.words), one.status(options.tolerance), *numbers]) + "\n")
    if undecided:
        print(f"{counted(len(undecided), 'sentence')} could not be decided: no optimum is proven for them.", file=sys.stderr)
        raise typer.Exit(GAP_LEFT_OPEN)


@dataclass(frozen=True, slots=True)
class Known:
    words: int
    score: float
    bound: float


def read_report(path: Path) -> dict[int, Known]:
    """Scores and bounds by line, of a table that `zerogap translate --report` wrote."""
    known: dict[int, Known] = {}
    places: list[int] = []
    for number, line in read_lines(path):
        cells = line.rstrip("\r\n").split("\t")
        if number == 1:
            if not {"line", "words", "score", "bound"} <= set(cells):
                raise FormatError(f"{path}, line 1: expected the columns {', '.join(REPORT)}, as zerogap translate --report writes them.")
            places = [cells.index(name) for name in ("line", "words", "score", "bound")]
        elif line.strip():
            try:
                values = [cells[place] for place in places]
                if values[2]:  # an empty line, or one without a translation, has no score
                    known[int(values[0])] = Known(int(values[1]), float(values[2]), float(values[3]))
            except (ValueError, IndexError):
                raise FormatError(f"{path}, line {number}: expected a line, words, a score and a bound.") from None
    return known


def read_scores(path: str, column: str | None) -> dict[int, float]:
    """The other decoder's scores by line from 1: of an n-best list the best, else one a line, or a column of a table."""
    scores: dict[int, float] = {}
    place = 0
    for number, line in read_lines(path):
        where = f"{shown(path)}, line {number}"
        if BAR in line:
            return {line: max(one.score for one in candidates) for line, candidates in read_candidates(path).items()}
        cells = line.rstrip("\r\n").split("\t")
        if column is not None and number == 1:
            if column not in cells:
                raise FormatError(f"{where}: no column {column!r}, expected one of {', '.join(cells)}.")
            place = cells.index(column)
        elif line.strip():
            if len(cells) <= place or (column is None and len(cells) > 1):
                raise FormatError(f"{where}: {len(cells)} columns, expected one score, or --column with the name of one.")
            scores[len(scores) + 1] = parse_score(cells[place], where)
    return scores


def read_candidates(path: str) -> dict[int, list[Candidate]]:
    """Candidates of an n-best list by line from 1."""
    found: dict[int, list[Candidate]] = {}
    for number, line in read_lines(path):
        if line.strip():
            candidate = parse_nbest(line, f"{shown(path)}, line {number}")
            found.setdefault(candidate.number + 1, []).append(candidate)
    return found


def compared(known: dict[int, Known], other: dict[int, float], tolerance: float) -> Audit:
    """Both for every line that both have; FormatError if that is none."""
    both = sorted(known.keys() & other.keys())
    if not both:
        raise FormatError(f"there are {len(known)} proven scores and {len(other)} others, and no line that has both.")
    sentences = [Compared(i, known[i].words, known[i].score, known[i].bound, other[i]) for i in both]
    left_out = (known.keys() | other.keys()) - set(both)
    if left_out:
        lines = ", ".join(map(str, sorted(left_out)[:5]))
        print(f"{counted(len(left_out), 'line')} with only one of the two scores left out: {lines}...", file=sys.stderr)
    return Audit(tuple(sentences), tolerance)


def decoded(
    files: ModelFiles, path: str, other: str, column: str | None, tolerance: float, time_limit: float | None, threads: int | None
) -> Audit:
    """Decodes the sentences, and scores the other decoder's derivations again where it shows them."""
    sentences = read_sentences(path)
    scores = read_scores(other, column)
    translator = files.load(sentences)
    rescored = rescore(translator, sentences, other) if files.kind == "phrases" else {}
    job = Job(translator, {"method": "auto", "time_limit": time_limit}, Wanted())
    known: dict[int, Known] = {}
    wanted = [(i, words) for i, words in enumerate(sentences, start=1) if words and i in scores]
    with progress("decoding", len(wanted)) as steps:
        for answer in mapped(job, wanted, threads):
            steps.advance()
            if answer.error is not None:
                raise FormatError(f"{path}, line {answer.line}: {answer.error}")
            assert answer.score is not None
            assert answer.bound is not None
            known[answer.line] = Known(answer.words, answer.score, answer.bound)
    return compared(known, scores | rescored, tolerance)


def rescore(translator: Any, sentences: Sequence[Sequence[str]], path: str) -> dict[int, float]:
    """The best score by this model of the derivations that an n-best list shows; InputError if one is not of this model."""
    first = next((line for _, line in read_lines(path)), "")
    if BAR not in first:
        return {}
    found: dict[int, float] = {}
    for line, candidates in read_candidates(path).items():
        shown = [one.derivation for one in candidates if one.derivation is not None]
        if not shown or line > len(sentences):
            continue
        problem = translator.problem(sentences[line - 1])
        for derivation in shown:
            try:
                problem.check(derivation)
            except InvalidStructure as error:
                raise InputError(f"{path}, sentence {line - 1}: a derivation is not one of this model: {error}") from None
            found[line] = max(found.get(line, -float("inf")), problem.score(derivation))
    return found
