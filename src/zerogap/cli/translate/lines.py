"""Translates for `zerogap translate`: reads lines, translates them on several threads, writes translations and reports."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from zerogap.cli.terminal import Steps, Summary, check_choices, counted, progress
from zerogap.cli.translate import constraints as asking
from zerogap.cli.translate.jobs import translate_as_job
from zerogap.cli.translate.models import ModelFiles, read_sentences
from zerogap.errors import FormatError, Infeasible, InputError
from zerogap.io.formats.lines import shown, writing
from zerogap.io.translation.moses_ini import load_moses_config
from zerogap.io.translation.phrase_alignments import load_phrase_alignments
from zerogap.proof.lines import proof_line
from zerogap.relax.parallel import mapped
from zerogap.translation.forests import decoding as syntax_decoders
from zerogap.translation.nbest import nbest_line, segmented, word_alignment
from zerogap.translation.phrases import decoding as phrase_decoders

if TYPE_CHECKING:
    from zerogap.problems.translation.phrase_constraints import Constraints
    from zerogap.proof.solution import Solution, Trace
    from zerogap.translation.translators import Translator

POLICIES = ("stop", "empty")
REPORT = ("line", "words", "model", "status", "score", "bound", "gap", "seconds")
TRACE_ROWS = 12


@dataclass(frozen=True, slots=True)
class TranslateOptions:
    """The options of the command, as they were given."""

    input: str
    phrase_table: Path | None
    grammar: Path | None
    tree_rules: Path | None
    lm: Path | None
    weights: Path | None
    config: Path | None
    output: Path | None
    report: Path | None
    certificates: Path | None
    nbest: int
    nbest_file: Path | None
    segments: bool
    alignment: Path | None
    markup: str
    require: list[str] | None
    forbid: list[str] | None
    required: Path | None
    forbidden: Path | None
    distortion_limit: int | None
    reordering: str
    max_span: int | None
    strict: bool
    method: str
    stack: int | None
    pop_limit: int | None
    time_limit: float | None
    on_error: str
    verbose: bool
    engine: str | None
    threads: int | None


def run(options: TranslateOptions) -> None:
    files = ModelFiles(
        options.phrase_table,
        options.grammar,
        options.lm,
        options.weights,
        options.config,
        options.distortion_limit,
        options.reordering,
        options.max_span,
        options.strict,
        options.tree_rules,
    )
    search = search_options(files, options.method, options.stack, options.pop_limit, options.time_limit, options.nbest, options.on_error)
    if files.kind != "phrases" and (options.segments or options.alignment is not None):
        raise typer.BadParameter("--segments and --alignment are for phrases: a rule has no single segment.")
    if options.nbest_file is not None and options.nbest == 1:
        raise typer.BadParameter("--nbest-file needs --nbest.")
    if options.engine is not None:
        translate_as_job(
            options.input,
            options.output,
            options.engine,
            files,
            search,
            certificates=options.certificates is not None,
            workers=options.threads,
            others={
                "--config or --tree-rules": options.config is not None or options.tree_rules is not None,
                "--report": options.report is not None,
                "--nbest": options.nbest > 1,
                "--segments": options.segments,
                "--alignment": options.alignment is not None,
                "--markup": options.markup != "text",
                "--strict": options.strict,
                "--verbose": options.verbose,
                "--require, --forbid, --required or --forbidden": any(
                    (options.require, options.forbid, options.required, options.forbidden)
                ),
                "--distortion-limit or --max-span": options.distortion_limit is not None or options.max_span is not None,
                "--stack or --pop-limit": options.stack is not None or options.pop_limit is not None,
                "--on-error": options.on_error != "stop",
            },
        )
        return
    asked = asking.Asked(options.markup, tuple(options.require or ()), tuple(options.forbid or ()), options.required, options.forbidden)
    asked.check(files.kind)
    marked = None if options.markup == "text" else asking.read_marked(options.input)
    sentences = read_sentences(options.input) if marked is None else [list(line.words) for line in marked]
    translator = files.load(sentences)
    wanted = Wanted(
        options.nbest > 1,
        options.segments,
        load_alignments(files, sentences) if options.alignment else None,
        options.certificates is not None,
        options.verbose,
    )
    job = Job(translator, search, wanted, asking.constraints_of_lines(asked, sentences, marked, translator) if asked else None)
    summary, empty = Summary("sentence", "nothing to translate"), 0
    with ExitStack() as open_files:
        steps = open_files.enter_context(progress("translating", None if options.verbose else len(sentences)))
        out = open_files.enter_context(writing(options.output))
        others = {
            name: open_files.enter_context(writing(path))
            for name, path in (
                ("report", options.report),
                ("proof", options.certificates),
                ("nbest", options.nbest_file),
                ("alignment", options.alignment),
            )
            if path is not None
        }
        if "report" in others:
            others["report"].write("\t".join(REPORT) + "\n")
        for answer in answers(job, sentences, options.threads, options.on_error, options.input, summary, steps):
            empty += answer.status == "empty"
            write_answer(answer, out, others, lists=options.nbest > 1 and options.nbest_file is None)
            if options.verbose and answer.trace is not None:
                print(traced(answer), file=sys.stderr, flush=True)
    blank = f"; {counted(empty, 'empty line')}" if empty else ""
    summary.tell(more=blank, speed=f", {summary.inputs / summary.seconds:,.1f} sentences per second")


def search_options(
    files: ModelFiles, method: str, stack: int | None, pop_limit: int | None, time_limit: float | None, k: int, on_error: str
) -> dict[str, Any]:
    """The options of the decoder, checked before anything is loaded."""
    files.check()
    known = syntax_decoders.METHODS if files.kind != "phrases" else phrase_decoders.METHODS
    check_choices(("--on-error", on_error, POLICIES), ("--method", method, known))
    if (stack if files.kind != "phrases" else pop_limit) is not None:
        raise typer.BadParameter("--stack is for phrases, --pop-limit is for grammars.")
    chosen: dict[str, Any] = {"method": method, "time_limit": time_limit, "k": k}
    if stack is None and files.config is not None:
        stack = load_moses_config(files.config).stack
    return chosen | ({} if stack is None else {"stack": stack}) | ({} if pop_limit is None else {"limit": pop_limit})


def load_alignments(files: ModelFiles, sentences: Sequence[Sequence[str]]) -> dict[tuple[str, str], str]:
    path = files.table_path()
    assert path is not None
    return load_phrase_alignments(path, sentences)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is written of every sentence besides its translation."""

    nbest: bool = False
    segments: bool = False
    alignments: dict[tuple[str, str], str] | None = None
    proof: bool = False
    trace: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What is written of one line; `status` is that of the solution, or empty, infeasible, failed."""

    line: int
    words: int
    model: str
    status: str
    text: str = ""
    score: float | None = None
    bound: float | None = None
    seconds: float = 0.0
    nbest: str = ""
    alignment: str = ""
    proof: str = ""
    trace: Trace | None = None
    error: InputError | Infeasible | None = None
    short: bool = False  # fewer derivations than were asked for are proven to be the best

    def report(self) -> str:
        gap = None if self.score is None or self.bound is None else self.bound - self.score
        numbers = ["" if value is None else repr(value) for value in (self.score, self.bound, gap)]
        return "\t".join([str(self.line), str(self.words), self.model, self.status, *numbers, f"{self.seconds:.4f}"])


@dataclass(frozen=True, slots=True)
class Job:
    """What is done with every line, on some thread."""

    translator: Translator
    search: dict[str, Any]
    wanted: Wanted
    constraints: Sequence[Constraints] | None = None  # of every line

    def __call__(self, item: tuple[int, list[str]]) -> Answer:
        line, words = item
        kind = self.translator.kind
        if not words:
            return Answer(line, 0, kind, "empty")
        begin = time.perf_counter()
        try:
            limits = {} if self.constraints is None else {"constraints": self.constraints[line - 1]}
            problem: Any = self.translator.problem(words, **limits)
            solution: Solution[Any] = self.translator.decode(problem, **self.search)
        except Infeasible as error:
            return Answer(line, len(words), kind, "infeasible", error=error)
        except InputError as error:  # too long a sentence, or scores beyond exact numbers
            return Answer(line, len(words), kind, "failed", error=error)
        return self.answer(line, problem, solution, time.perf_counter() - begin, len(words))

    def answer(self, line: int, problem: Any, solution: Solution[Any], seconds: float, n: int) -> Answer:
        best, wanted = solution.structure, self.wanted
        text = ""
        if best is not None:
            text = segmented(best) if wanted.segments else self.translator.text(problem, best)
        return Answer(
            line,
            n,
            self.translator.kind,
            solution.status,
            text,
            solution.score,
            solution.bound,
            seconds,
            nbest=self.nbest_lines(line, problem, solution) if wanted.nbest else "",
            alignment=self.aligned(problem, best) if wanted.alignments is not None and best is not None else "",
            proof=proof_line(problem, solution, {"line": line}) if wanted.proof else "",
            trace=solution.trace if wanted.trace else None,
            short=wanted.nbest and solution.alternatives is None,
        )

    def nbest_lines(self, line: int, problem: Any, solution: Solution[Any]) -> str:
        if solution.structure is None:
            return ""
        found = [(solution.structure, solution.score), *(solution.alternatives or ())]
        texts = [segmented(best) if self.wanted.segments else self.translator.text(problem, best) for best, _ in found]
        features = [self.translator.features(problem, best) for best, _ in found]
        rows = zip(texts, features, found, strict=True)
        return "".join(nbest_line(line - 1, text, values, score) + "\n" for text, values, (_, score) in rows)

    def aligned(self, problem: Any, derivation: Any) -> str:
        assert self.wanted.alignments is not None
        inner = []
        for start, end, target in derivation:
            pair = " ".join(problem.source[start:end]), " ".join(target)
            # of what is not in the table, passed through or given by the line, no more is known
            every = " ".join(f"{i}-{j}" for i in range(end - start) for j in range(len(target)))
            inner.append(self.wanted.alignments.get(pair, every))
        return word_alignment(derivation, inner)


def answers(
    job: Job, sentences: Sequence[list[str]], threads: int | None, on_error: str, path: str, summary: Summary, steps: Steps
) -> Iterator[Answer]:
    """In the order of the lines. A sentence that cannot be translated becomes an empty line, or stops everything."""
    for answer in mapped(job, enumerate(sentences, start=1), threads):
        if answer.status != "empty":
            count(answer, f"{shown(path)}, line {answer.line}", summary)
        if answer.error is not None and on_error == "stop":
            hint = " (--on-error empty goes on.)"
            kind = Infeasible if isinstance(answer.error, Infeasible) else FormatError
            raise kind(f"{shown(path)}, line {answer.line}: {answer.error}{hint}")
        steps.advance(f"translating: {summary.proven:,} proven, {summary.open_gaps:,} open")
        yield answer


def write_answer(answer: Answer, out: TextIO, others: dict[str, TextIO], *, lists: bool) -> None:
    out.write(answer.nbest if lists else answer.text + "\n")
    if "report" in others:
        others["report"].write(answer.report() + "\n")
    if "proof" in others:
        others["proof"].write(answer.proof)
    if "nbest" in others:
        others["nbest"].write(answer.nbest)
    if "alignment" in others:
        others["alignment"].write(answer.alignment + "\n")


def traced(answer: Answer) -> str:
    """How the gap closed: a row where the bound or the score changed, and not more than some."""
    trace = answer.trace
    assert trace is not None
    assert answer.score is not None
    lines = [f"line {answer.line}, {counted(answer.words, 'word')}: {answer.status}, score {answer.score:.4f}, {answer.seconds:.3f} s"]
    steps = list(zip(trace.bounds, trace.scores, trace.seconds, strict=True))
    changed = [step for i, step in enumerate(steps) if i == 0 or step[:2] != steps[i - 1][:2]]
    if len(changed) > TRACE_ROWS:
        picked = [round(i * (len(changed) - 1) / (TRACE_ROWS - 1)) for i in range(TRACE_ROWS)]
        changed = [changed[i] for i in picked]
    lines += [f"  {seconds:8.3f} s  lower {score:10.4f}  upper {bound:10.4f}  gap {bound - score:.4f}" for bound, score, seconds in changed]
    return "\n".join(lines)


def count(answer: Answer, where: str, summary: Summary) -> None:
    """Counts an answer, with a note if it has a gap or there is none."""
    proven = answer.status == "optimal" and not answer.short
    summary.count(words=answer.words, proven=proven, other="without a translation" if answer.error is not None else "")
    if answer.error is not None:
        summary.note(f"{where}: {answer.error} Its line is left empty.")
    elif answer.score == float("-inf"):
        summary.note(f"{where}: no translation was found in time. Its line is left empty.")
    elif answer.short:
        summary.note(f"{where}: the next best derivations were not all found in time.")
    elif answer.status != "optimal":
        assert answer.score is not None
        assert answer.bound is not None
        summary.note(f"{where}: a gap of {answer.bound - answer.score:.4g} is left open (score {answer.score:.4f}).")
