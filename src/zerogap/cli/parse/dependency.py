"""Parses for `zerogap parse`: reads sentences, parses them on threads or processes, writes them with their trees."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from zerogap.cli.run import do, job_of_command
from zerogap.cli.terminal import Steps, Summary, check_choices, progress
from zerogap.errors import FormatError, InputError
from zerogap.io.formats.lines import writing
from zerogap.pipeline.loading import load
from zerogap.pipeline.sources import KINDS, from_text, kind_of, read_any
from zerogap.pipeline.stages import METHODS
from zerogap.pipeline.treebanks import COLUMNS
from zerogap.relax.parallel import mapped, mapped_together

if TYPE_CHECKING:
    from zerogap.pipeline.document import ParsedSentence
    from zerogap.pipeline.sources import Unparsed
    from zerogap.pipeline.stages import Pipeline

FORMATS = ("conllu", "json", "tree")
TAGS = ("keep", "predict")
POLICIES = ("stop", "skip")
BRACKETED = (".mrg", ".ptb", ".trees", ".brackets")
TREEBANKS, TEXTS = (".conllu", ".conllx", ".conll"), (".txt",)


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """The options of the command, as they were given."""

    input: str
    model: str
    tagger: str | None
    output: Path | None
    format: str | None
    tags: str
    lines: bool
    certificates: Path | None
    on_error: str
    input_format: str
    fast: bool
    method: str
    constituency: Path | None
    glue: bool
    engine: str | None
    threads: int | None


def run(options: ParseOptions) -> None:
    method = options.method

    if options.fast and method not in ("auto", "cascade"):
        raise typer.BadParameter(f"--fast was given with --method {method}: expected one of them.")
    method = "cascade" if options.fast else method
    if options.engine is not None:
        given = "lines" if options.lines and options.input_format in ("auto", "text") else options.input_format
        chosen: dict[str, object] = {
            "model": options.model,
            "tagger": options.tagger,
            "tags": options.tags,
            "format": options.format or "conllu",
            "method": method,
        }
        chosen["certificates"] = options.certificates is not None
        do(job_of_command("parse", options.input, options.output, options.engine, chosen, workers=options.threads, format=given))
        return
    is_text = is_a_text(options.input) and not (options.constituency is not None and options.input.endswith(BRACKETED))
    if options.constituency is not None:
        from zerogap.cli.parse.constituency import parse_constituency  # other parsers, which take 0.1 s to import

        parse_constituency(
            options.input,
            options.constituency,
            is_text=is_text,
            output=options.output,
            format=options.format,
            lines=options.lines,
            certificates=options.certificates,
            on_error=options.on_error,
            input_format=options.input_format,
            glue=options.glue,
            time_limit=None,
        )
        return
    check_choices(
        ("--format", options.format or "conllu", FORMATS), ("--tags", options.tags, TAGS), ("--on-error", options.on_error, POLICIES)
    )
    to_terminal = options.output is None and sys.stdout.isatty()
    shown = options.format or ("tree" if is_text and to_terminal else "conllu")
    summary = Summary("sentence", "nothing to parse", "" if method != "cascade" else "--fast" if options.fast else "--method cascade")
    kind = "text" if is_text else kind_of_file(options.input, options.input_format)
    pipeline = load_pipeline(options.model, options.tagger, method)
    pipeline.check_columns(["form"] if kind == "text" else COLUMNS, keep_tags=options.tags == "keep")
    sentences = (
        text_sentences(options.input, options.lines)
        if is_text
        else file_sentences(options.input, kind, options.lines, options.on_error, summary)
    )
    job = Job(pipeline, writer_of(shown, to_terminal), options.tags == "keep", options.certificates is not None)
    summary.begin = time.perf_counter()
    with (
        progress("parsing") as steps,
        writing(options.output) as out,
        writing(options.certificates) if options.certificates else nullcontext() as proofs,
    ):
        for answer in answers(job, sentences, options.threads, options.on_error, summary, steps):
            out.write("\n" * (shown == "tree" and summary.inputs > 1) + answer.text)
            if proofs is not None:
                proofs.write(answer.proof)
    tell(summary, job)


def is_a_text(given: str) -> bool:
    """Whether an argument is text and not a file: there is no such file, and it does not look like the name of one."""
    if given == "-":
        return False
    try:
        if os.path.exists(given):
            return False
    except ValueError:  # what no file can be called
        return True
    name = given.removesuffix(".gz").lower()
    return not (name.endswith(TREEBANKS) or ((name.endswith(TEXTS) or given.endswith(".gz")) and not any(map(str.isspace, given))))


def text_sentences(text: str, lines: bool) -> Iterator[Unparsed]:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("the text is not UTF-8: expected UTF-8, as the terminal should send.") from None
    return from_text(text, lines=lines)


def kind_of_file(path: str, given: str) -> str:
    """Text, or a kind of treebank; what is wrong is said before a model is loaded."""
    check_choices(("--input-format", given, KINDS))
    if os.path.isdir(path) or (path != "-" and not os.path.exists(path)):
        raise FormatError(f"{path} cannot be read: {'it is a folder' if os.path.isdir(path) else 'no such file'}.")
    return kind_of(path) if given == "auto" else given


def file_sentences(path: str, kind: str, lines: bool, on_error: str, summary: Summary) -> Iterator[Unparsed]:
    return read_any(path, kind=kind, lines=lines, on_error=on_error, report=lambda note: summary.note(f"{note} Left out."))


def load_pipeline(model: str, tagger: str | None, method: str = "auto") -> Pipeline:
    check_choices(("--method", method, METHODS))  # before a model is loaded
    return load(model, tagger=tagger).by(method)


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    proof: str
    words: int
    proven: bool
    filled: tuple[str, ...]  # columns in which some word has something, as far as they were not known to
    parsed: ParsedSentence | None  # if it is to be kept


@dataclass(frozen=True, slots=True)
class Job:
    """What is done with every sentence, by threads or processes."""

    pipeline: Pipeline
    write: Callable[[ParsedSentence], str]
    keep_tags: bool
    with_proof: bool = False
    keep: bool = False
    filled: set[str] = field(default_factory=set)

    def __call__(self, unparsed: Unparsed) -> Answer | InputError:
        try:
            return self.answer(unparsed, self.pipeline.parse_one(unparsed, keep_tags=self.keep_tags))
        except InputError as error:
            return FormatError(f"{unparsed.where}: {error}" if unparsed.where else str(error))

    def together(self, unparsed: list[Unparsed]) -> list[Answer | InputError]:
        try:
            found = self.pipeline.parse_together(unparsed, keep_tags=self.keep_tags)
            return [self.answer(*both) for both in zip(unparsed, found, strict=True)]
        except InputError:  # of one of them: it is found when each is alone
            return [self(one) for one in unparsed]

    def answer(self, unparsed: Unparsed, parsed: ParsedSentence) -> Answer:
        proof = proof_of(parsed, unparsed) if self.with_proof else ""
        columns = [name for name in self.pipeline.parser.columns if name not in self.filled]
        new = tuple(name for name in columns if any(value != "_" for value in parsed.column(name)))
        self.filled.update(new)
        return Answer(self.write(parsed), proof, len(parsed), parsed.status == "optimal", new, parsed if self.keep else None)


def answers(
    job: Job, sentences: Iterable[Unparsed], threads: int | None, on_error: str, summary: Summary, steps: Steps
) -> Iterator[Answer]:
    """In the order of the sentences. One that cannot be parsed is left out, or stops everything."""
    size, processes = job.pipeline.at_once, not job.keep
    all_found = (
        mapped_together(job.together, sentences, size, threads, processes=processes)
        if size > 1
        else mapped(job, sentences, threads, processes=processes)
    )
    for found in all_found:
        if isinstance(found, Answer):
            summary.count(words=found.words, proven=found.proven)
            job.filled.update(found.filled)  # by another process, perhaps
            steps.advance(f"parsing: {summary.words:,} words, {summary.words / summary.seconds:,.0f} per second")
            yield found
        elif on_error == "stop":
            raise found
        else:
            summary.note(f"{found} Left out.")


def writer_of(format: str, to_terminal: bool) -> Callable[[ParsedSentence], str]:
    if format == "conllu":
        return lambda parsed: parsed.to_conllu()
    if format == "json":
        return lambda parsed: json.dumps(parsed.to_json(), ensure_ascii=False) + "\n"
    width = (os.get_terminal_size(sys.stdout.fileno()).columns if to_terminal else 0) or None  # some terminals say 0
    colour = to_terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return lambda parsed: parsed.draw(width=width, colour=colour) + "\n"


def proof_of(parsed: ParsedSentence, unparsed: Unparsed) -> str:
    from zerogap.proof.lines import proof_line  # problems of all kinds, for those who ask for certificates

    return proof_line(parsed.problem, parsed.solution, {"line": unparsed.line, "id": parsed.sentence.name})


def tell(summary: Summary, job: Job) -> None:
    """The summary, and which columns the parser reads in vain."""
    pipeline = job.pipeline
    empty = [name for name in pipeline.parser.columns if name not in job.filled]
    if summary.inputs and empty:
        hint = "" if pipeline.tagger else " (--tagger en finds upos and xpos)" * bool({"upos", "xpos"} & set(empty))
        summary.notes.append(f"The parser reads {', '.join(empty)}, and no word has any: the trees are worse than they could be{hint}.")
    summary.tell(speed=f", {summary.words / summary.seconds:,.0f} words per second")
