"""`zerogap translate`: sentences in, their best translations out, and what is proven of each."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from zerogap.cli.options import Engine, Threads
from zerogap.cli.terminal import Steps, Summary, check_choices, counted, progress
from zerogap.cli.translate import constraints as asking
from zerogap.cli.translate import models
from zerogap.cli.translate.models import ModelFiles, read_sentences
from zerogap.errors import FormatError, Infeasible, InputError

if TYPE_CHECKING:
    from zerogap.problems.translation.phrase_constraints import Constraints
    from zerogap.proof.solution import Solution, Trace
    from zerogap.translation.translators import Translator

POLICIES = ("stop", "empty")
REPORT = ("line", "words", "model", "status", "score", "bound", "gap", "seconds")
TRACE_ROWS = 12


def translate_command(
    input: Annotated[str, typer.Argument(help="A sentence on every line, its words parted by blanks; .gz or not; - for standard input.")],
    phrase_table: models.PhraseTableOption = None,
    grammar: models.GrammarOption = None,
    tree_rules: models.TreeRulesOption = None,
    lm: models.LanguageModelOption = None,
    weights: models.WeightsOption = None,
    config: models.ConfigOption = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write here instead of to standard output.", metavar="FILE", rich_help_panel="Output"),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Write status, score, bound and gap of every line into this table.", metavar="FILE.tsv", rich_help_panel="Output"
        ),
    ] = None,
    certificates: Annotated[
        Path | None,
        typer.Option(
            help="Write a line of JSON for every sentence: problem, solution and certificate.",
            metavar="FILE.jsonl",
            rich_help_panel="Output",
        ),
    ] = None,
    nbest: Annotated[
        int,
        typer.Option(
            "--nbest", help="Write the K best derivations of every sentence, as Moses does.", min=1, metavar="K", rich_help_panel="Output"
        ),
    ] = 1,
    nbest_file: Annotated[
        Path | None,
        typer.Option(
            "--nbest-file",
            help="Write n-best lists here, and best translations as usual. Without it, lists are the output.",
            rich_help_panel="Output",
        ),
    ] = None,
    segments: Annotated[
        bool,
        typer.Option(
            "--segments", "-t", help="After every phrase, show which source words it translates, as |0-1|.", rich_help_panel="Output"
        ),
    ] = False,
    alignment: Annotated[
        Path | None,
        typer.Option(
            help="Write which source word goes with which target word, as 0-0 1-2, from the phrase table.",
            metavar="FILE",
            rich_help_panel="Output",
        ),
    ] = None,
    markup: asking.MarkupOption = "text",
    require: asking.RequireOption = None,
    forbid: asking.ForbidOption = None,
    required: asking.RequiredFile = None,
    forbidden: asking.ForbiddenFile = None,
    distortion_limit: models.DistortionLimit = None,
    reordering: models.Reordering = "limit",
    max_span: models.MaxSpan = None,
    strict: models.Strict = False,
    method: Annotated[
        str,
        typer.Option(
            help="How to search; auto proves every sentence in its time. By phrases, also optimal-beam, staged-beam, lr-tight,"
            " chang-collins, a-star, ilp, lagrangian, beam; by rules, optimal-beam,"
            " relaxation, lagrangian, intersection, cube-pruning, ilp.",
            metavar="METHOD",
            rich_help_panel="Search",
        ),
    ] = "auto",
    stack: Annotated[
        int | None,
        typer.Option(help="Hypotheses in a stack of beam search, 100 unless given.", min=1, metavar="N", rich_help_panel="Search"),
    ] = None,
    pop_limit: Annotated[
        int | None,
        typer.Option(
            help="With a grammar: candidates at a vertex in cube pruning, 200 unless given.", min=1, metavar="N", rich_help_panel="Search"
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            help="Seconds for each sentence; then the best translation so far is taken, and its gap is told.",
            min=0.0,
            metavar="SECONDS",
            rich_help_panel="Search",
        ),
    ] = None,
    on_error: Annotated[
        str,
        typer.Option(
            help="What to do with a sentence that no derivation covers within the limits: stop, or empty (an empty line).",
            metavar="WHAT",
            rich_help_panel="Input",
        ),
    ] = "stop",
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show on standard error how the gap of every sentence closed.", rich_help_panel="Output")
    ] = False,
    engine: Engine = None,
    threads: Threads = None,
) -> None:
    """Translate by phrases or by a grammar, and prove that no translation scores higher under the model.

    A model is a phrase table, a synchronous grammar or rules over parse trees, a language model, and weights. Lines stay in order,
    empty ones stay empty. Input is tokenised as the model is; of a table or grammar, only what the input needs is kept.

    [bold]zerogap translate test.de --phrase-table table.gz --lm lm.arpa.gz --weights weights.txt -o test.en[/bold]

    [bold]cat test.de | zerogap translate - --config moses.ini --segments[/bold]

    [bold]zerogap translate test.zh --grammar rules.gz --lm lm.arpa.gz --weights weights.txt --time-limit 10 --report gaps.tsv[/bold]

    [bold]zerogap translate trees.de --tree-rules rules.gz --lm lm.arpa.gz --weights weights.txt[/bold]

    [bold]zerogap translate test.de --config moses.ini --nbest 100 --nbest-file test.nbest -o test.en[/bold]

    [bold]zerogap translate test.de --config moses.ini --method beam --stack 1000 --report beam.tsv[/bold]

    [bold]zerogap translate terms.de --config moses.ini --markup exclusive --forbid "house" --required terms.en[/bold]

    [bold]zerogap translate "corpus/*.de.gz" --phrase-table table.gz --lm lm.arpa.gz --weights weights.txt --engine local -o out[/bold]

    Weights are lines of a name and a number: in \\[phrase] p_f_given_e, lex_f_given_e, p_e_given_f, lex_e_given_f (of the logarithms of
    the four scores), lm, words, phrases, distortion, and distortion_limit; in \\[hiero] the features of the rules, lm, words, and max_span.

    Then check: [bold]zerogap verify proofs.jsonl[/bold] (with --certificates), [bold]zerogap evaluate translation test.ref test.en[/bold],
    and [bold]zerogap audit moses.nbest --report gaps.tsv[/bold] to see what another decoder missed.

    The exit code is 3 if a gap was left open.
    """
    from zerogap.io.formats.lines import writing

    files = ModelFiles(phrase_table, grammar, lm, weights, config, distortion_limit, reordering, max_span, strict, tree_rules)
    search = search_options(files, method, stack, pop_limit, time_limit, nbest, on_error)
    if files.kind != "phrases" and (segments or alignment is not None):
        raise typer.BadParameter("--segments and --alignment are for phrases: a rule has no single segment.")
    if nbest_file is not None and nbest == 1:
        raise typer.BadParameter("--nbest-file needs --nbest.")
    if engine is not None:
        from zerogap.cli.translate.jobs import translate_as_job

        translate_as_job(input, output, engine, files, search, certificates=certificates is not None, workers=threads, others={
            "--config or --tree-rules": config is not None or tree_rules is not None, "--report": report is not None,
            "--nbest": nbest > 1, "--segments": segments,
            "--alignment": alignment is not None, "--markup": markup != "text", "--strict": strict, "--verbose": verbose,
            "--require, --forbid, --required or --forbidden": any((require, forbid, required, forbidden)),
            "--distortion-limit or --max-span": distortion_limit is not None or max_span is not None,
            "--stack or --pop-limit": stack is not None or pop_limit is not None, "--on-error": on_error != "stop",
        })  # fmt: skip
        return
    asked = asking.Asked(markup, tuple(require or ()), tuple(forbid or ()), required, forbidden)
    asked.check(files.kind)
    marked = None if markup == "text" else asking.read_marked(input)
    sentences = read_sentences(input) if marked is None else [list(line.words) for line in marked]
    translator = files.load(sentences)
    wanted = Wanted(nbest > 1, segments, load_alignments(files, sentences) if alignment else None, certificates is not None, verbose)
    job = Job(translator, search, wanted, asking.constraints_of_lines(asked, sentences, marked, translator) if asked else None)
    summary, empty = Summary("sentence", "nothing to translate"), 0
    with ExitStack() as open_files:
        steps = open_files.enter_context(progress("translating", None if verbose else len(sentences)))
        out = open_files.enter_context(writing(output))
        others = {
            name: open_files.enter_context(writing(path))
            for name, path in (("report", report), ("proof", certificates), ("nbest", nbest_file), ("alignment", alignment))
            if path is not None
        }
        if "report" in others:
            others["report"].write("\t".join(REPORT) + "\n")
        for answer in answers(job, sentences, threads, on_error, input, summary, steps):
            empty += answer.status == "empty"
            write_answer(answer, out, others, lists=nbest > 1 and nbest_file is None)
            if verbose and answer.trace is not None:
                print(traced(answer), file=sys.stderr, flush=True)
    blank = f"; {counted(empty, 'empty line')}" if empty else ""
    summary.tell(more=blank, speed=f", {summary.inputs / summary.seconds:,.1f} sentences per second")


def search_options(
    files: ModelFiles, method: str, stack: int | None, pop_limit: int | None, time_limit: float | None, k: int, on_error: str
) -> dict[str, Any]:
    """The options of the decoder, checked before anything is loaded."""
    from zerogap.translation.forests import decoding as syntax_decoders
    from zerogap.translation.phrases import decoding as phrase_decoders

    files.check()
    known = syntax_decoders.METHODS if files.kind != "phrases" else phrase_decoders.METHODS
    check_choices(("--on-error", on_error, POLICIES), ("--method", method, known))
    if (stack if files.kind != "phrases" else pop_limit) is not None:
        raise typer.BadParameter("--stack is for phrases, --pop-limit is for grammars.")
    chosen: dict[str, Any] = {"method": method, "time_limit": time_limit, "k": k}
    if stack is None and files.config is not None:
        from zerogap.io.translation.moses_ini import load_moses_config

        stack = load_moses_config(files.config).stack
    return chosen | ({} if stack is None else {"stack": stack}) | ({} if pop_limit is None else {"limit": pop_limit})


def load_alignments(files: ModelFiles, sentences: Sequence[Sequence[str]]) -> dict[tuple[str, str], str]:
    from zerogap.io.translation.phrase_alignments import load_phrase_alignments

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
        from zerogap.io.problems.proofs import proof_line
        from zerogap.translation.nbest import segmented

        best, wanted = solution.structure, self.wanted
        text = ""
        if best is not None:
            text = segmented(best) if wanted.segments else self.translator.text(problem, best)
        return Answer(
            line, n, self.translator.kind, solution.status, text, solution.score, solution.bound, seconds,
            nbest=self.nbest_lines(line, problem, solution) if wanted.nbest else "",
            alignment=self.aligned(problem, best) if wanted.alignments is not None and best is not None else "",
            proof=proof_line(problem, solution, {"line": line}) if wanted.proof else "",
            trace=solution.trace if wanted.trace else None,
            short=wanted.nbest and solution.alternatives is None,
        )  # fmt: skip

    def nbest_lines(self, line: int, problem: Any, solution: Solution[Any]) -> str:
        from zerogap.translation.nbest import nbest_line, segmented

        if solution.structure is None:
            return ""
        found = [(solution.structure, solution.score), *(solution.alternatives or ())]
        texts = [segmented(best) if self.wanted.segments else self.translator.text(problem, best) for best, _ in found]
        features = [self.translator.features(problem, best) for best, _ in found]
        rows = zip(texts, features, found, strict=True)
        return "".join(nbest_line(line - 1, text, values, score) + "\n" for text, values, (_, score) in rows)

    def aligned(self, problem: Any, derivation: Any) -> str:
        from zerogap.translation.nbest import word_alignment

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
    from zerogap.io.formats.lines import shown
    from zerogap.relax.parallel import mapped

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
