"""The tasks of jobs: parse, label or translate sentences, decode problems, verify solutions.

A task is a frozen record of options that can be sent to another machine; `load` gives its solver there. A new task is a class here
and a line in `TASKS`.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from zerogap.batch.chunks import by_block, row_test
from zerogap.batch.lines import Line, lines_of
from zerogap.batch.translate_task import TranslateTask
from zerogap.batch.worker import Answer, Refused, Solver
from zerogap.dependency.sentence import Sentence
from zerogap.errors import FormatError, Infeasible, InputError, UnknownMethod
from zerogap.io.formats.columns import read_columns
from zerogap.io.formats.jsonl import record_of, strings
from zerogap.io.formats.lines import Piece
from zerogap.io.rules.files import load_constraints
from zerogap.pipeline.any_problem import decode_any
from zerogap.pipeline.loading import load, located
from zerogap.pipeline.sources import Unparsed, from_text, read_text, read_treebank
from zerogap.problems.files import problem_from_json
from zerogap.proof.lines import object_in, proof_in, proof_line
from zerogap.proof.solution import Trace
from zerogap.proof.verify import verify
from zerogap.sequence.decoding.methods import METHODS, decode
from zerogap.sequence.model import SequenceModel

if TYPE_CHECKING:
    from zerogap.io.formats.examples import Record
    from zerogap.pipeline.sources import Unparsed
    from zerogap.pipeline.stages import Pipeline
    from zerogap.problems.sequence.constraints import Constraint
    from zerogap.sequence.model import SequenceModel


class Task(Protocol):
    """Options that can be sent to another machine."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The formats that it reads."""

    @property
    def suffix(self) -> str:
        """Of the files that it writes."""

    @property
    def files(self) -> tuple[str, ...]:
        """What it loads: a job whose files changed is another job."""

    def load(self, format: str) -> Solver: ...


@dataclass(frozen=True, slots=True)
class ParseTask:
    """Sentences in, trees out. JSON lines and rows of Parquet have `tokens`, a list, or `text`."""

    model: str = "en"
    tagger: str | None = None
    tags: str = "keep"
    format: str = "conllu"
    method: str = "auto"
    certificates: bool = False
    inputs = ("conllu", "conllx", "text", "lines", "jsonl", "parquet")

    def __post_init__(self) -> None:
        for name, given, known in (("tags", self.tags, ("keep", "predict")), ("format", self.format, ("conllu", "json", "parquet"))):
            if given not in known:
                raise UnknownMethod(name, given, known)

    @property
    def suffix(self) -> str:
        return {"conllu": ".conllu", "json": ".jsonl", "parquet": ".parquet"}[self.format]

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(str(located(name)) for name in (self.model, self.tagger) if name is not None)

    def load(self, format: str) -> Solver:
        pipeline = load(self.model, tagger=self.tagger).by(self.method)
        given = ("form", "lemma", "upos", "xpos", "feats") if format.startswith("conll") else ("form",)
        pipeline.check_columns(given, keep_tags=self.tags == "keep")
        return ParseSolver(self, pipeline, format)


@dataclass(frozen=True, slots=True)
class ParseSolver:
    task: ParseTask
    pipeline: Pipeline
    format: str

    def entries(self, piece: Piece) -> Iterator[Unparsed | Refused]:
        if self.format in ("jsonl", "parquet"):
            yield from self.from_lines(piece)
            return
        refused: list[str] = []
        for found in self.sentences(piece, refused.append):
            yield from taken(refused, piece)
            yield found
        yield from taken(refused, piece)

    def sentences(self, piece: Piece, report: Callable[[str], object]) -> Iterator[Unparsed]:
        if self.format in ("conllu", "conllx"):
            yield from read_treebank(piece, format=self.format, on_error="skip", report=report)
            return
        line, count = 0, 0
        for found in read_text(piece, lines=self.format == "lines", on_error="skip", report=report):
            at = piece.line + found.line - 1
            line, count = at, count + 1 if at == line else 1
            yield named(found, f"{at}.{count}", at)  # a name that does not depend on the lines before

    def from_lines(self, piece: Piece) -> Iterator[Unparsed | Refused]:
        for line in lines_of(piece):
            if isinstance(line, Refused):
                yield line
                continue
            try:
                value = object_in(line.text, line.where)
                name = str(value["id"]) if value.get("id") is not None else str(line.line)
                if isinstance(value.get("text"), str):
                    for k, found in enumerate(from_text(value["text"]), start=1):
                        yield named(found, f"{name}.{k}", line.line, line.path)
                    continue
                if "tokens" not in value:
                    raise FormatError(f"{line.where} has the fields {', '.join(map(repr, value)) or 'none'}: expected 'tokens' or 'text'.")
                columns = {"form": strings(value["tokens"], f"{line.where}: tokens")}
                for tag in ("upos", "xpos"):
                    if isinstance(value.get(tag), list) and len(value[tag]) == len(columns["form"]):
                        columns[tag] = strings(value[tag], f"{line.where}: {tag}")
                yield Unparsed(Sentence(columns, name=name), line.path, line.line)
            except FormatError as error:
                yield Refused(line.line, str(error))

    def answer(self, record: Unparsed) -> Answer:
        parsed = self.pipeline.parse_one(record, keep_tags=self.task.tags == "keep")
        proof = ""
        if self.task.certificates:
            proof = proof_line(parsed.problem, parsed.solution, {"line": record.line, "id": parsed.sentence.name})
        text = parsed.to_conllu() if self.task.format == "conllu" else json.dumps(parsed.to_json(), ensure_ascii=False) + "\n"
        return Answer(text, parsed.status == "optimal", proof)


def named(found: Unparsed, name: str, line: int, path: str | None = None) -> Unparsed:
    sentence = found.sentence
    renamed = type(sentence)(sentence.columns, sentence.heads, sentence.labels, name)
    return replace(found, sentence=renamed, line=line, path=found.path if path is None else path)


def taken(messages: list[str], piece: Piece) -> Iterator[Refused]:
    """Messages of readers, which say the line themselves."""
    while messages:
        message = messages.pop(0)
        place = message.removeprefix(f"{piece.path}, line ").split(":")[0].split(" ")[0]
        yield Refused(int(place) if place.isdecimal() else piece.line, message)


@dataclass(frozen=True, slots=True)
class LabelTask:
    """Sequences in, labelled sequences out. What cannot be labelled under its constraints goes to the side file."""

    model: str
    constraints: str | None = None
    no_constraints: bool = False
    keep_labels: bool = False
    method: str = "auto"
    time_limit: float | None = None
    columns: tuple[str, ...] | None = None
    comments: bool = False
    certificates: bool = False
    inputs = ("columns", "jsonl", "parquet")

    def __post_init__(self) -> None:
        if self.columns is not None and not isinstance(self.columns, tuple):
            given: Any = self.columns
            object.__setattr__(self, "columns", tuple(given.split(",") if isinstance(given, str) else given))
        if self.constraints is not None and self.no_constraints:
            raise InputError("constraints and no_constraints were both given: expected one of them.")

    @property
    def suffix(self) -> str:
        return ""  # that of the input

    @property
    def files(self) -> tuple[str, ...]:
        return (self.model, *([] if self.constraints is None else [self.constraints]))

    def load(self, format: str) -> Solver:
        if self.method not in METHODS:
            raise UnknownMethod("method", self.method, METHODS)
        if format == "columns" and self.columns is None:
            raise InputError("the columns are not named: expected columns such as form,pos,label, since workers do not see whole files.")
        model = SequenceModel.load(self.model)
        chosen = (
            () if self.no_constraints else None if self.constraints is None else load_constraints(self.constraints, labels=model.labels)
        )
        return LabelSolver(self, model, chosen, format)


@dataclass(frozen=True, slots=True)
class LabelSolver:
    task: LabelTask
    model: SequenceModel
    constraints: tuple[Constraint, ...] | None
    format: str

    def entries(self, piece: Piece) -> Iterator[Record | Refused]:
        task = self.task
        if self.format != "columns":
            for line in lines_of(piece):
                try:
                    yield line if isinstance(line, Refused) else record_of(line.text.lstrip("\ufeff"), line.line, line.where, task.columns)
                except InputError as error:
                    yield Refused(line.line, str(error))
            return
        labelled = frozenset(self.model.labels)
        at = piece.line
        for content, n_lines, *_ in by_block(io.BytesIO(piece.content), row_test("columns", task.comments)):
            block = Piece(piece.path, content, at)
            try:
                yield from read_columns(block, columns=task.columns, labelled=labelled, comments=task.comments)
            except InputError as error:
                yield Refused(at, str(error))
            at += n_lines

    def answer(self, record: Record) -> Answer:
        task = self.task
        if self.constraints is None:
            problem = self.model.problem(record.example)
        else:
            own = () if task.no_constraints else self.model.constraints_of(record.example)
            problem = self.model.problem(record.example, constraints=self.constraints + own)
        solution = decode(problem, method=task.method, time_limit=task.time_limit)
        if solution.structure is None:
            raise Infeasible("no labels that keep the constraints were found in time.")
        proof = proof_line(problem, solution, {"line": record.line}) if task.certificates else ""
        labels = tuple(map(str, solution.structure))
        return Answer(record.written(labels, keep=task.keep_labels), solution.status == "optimal", proof)


@dataclass(frozen=True, slots=True)
class DecodeTask:
    """Lines with problems of any kind in; lines with problems and solutions out, as `zerogap verify` reads them."""

    method: str = "auto"
    time_limit: float | None = None
    inputs = ("jsonl",)
    suffix = ".jsonl"
    files = ()

    def load(self, format: str) -> Solver:
        return DecodeSolver(self)


@dataclass(frozen=True, slots=True)
class DecodeSolver:
    task: DecodeTask

    def entries(self, piece: Piece) -> Iterator[Line | Refused]:
        return lines_of(piece)

    def answer(self, record: Line) -> Answer:
        value = object_in(record.text, record.where)
        problem = problem_from_json(value.get("problem", value), record.where)
        solution = decode_any(problem, method=self.task.method, time_limit=self.task.time_limit)
        untimed = replace(solution, trace=Trace())  # seconds differ from run to run
        return Answer(proof_line(problem, untimed, {"line": record.line}), solution.status == "optimal")


@dataclass(frozen=True, slots=True)
class VerifyTask:
    """Lines with problems and solutions in; what holds out, what does not in the side file."""

    inputs = ("jsonl",)
    suffix = ".jsonl"
    files = ()

    def load(self, format: str) -> Solver:
        return VerifySolver()


@dataclass(frozen=True, slots=True)
class VerifySolver:
    def entries(self, piece: Piece) -> Iterator[Line | Refused]:
        return lines_of(piece)

    def answer(self, record: Line) -> Answer:
        problem, solution = proof_in(record.text, record.where)
        found = verify(problem, solution)
        value = {"line": record.line, "status": solution.status, "score": found.score, "checked": list(found.checked)}
        return Answer(json.dumps(value) + "\n", solution.status == "optimal")


TASKS: dict[str, Callable[..., Task]] = {
    "parse": ParseTask,
    "label": LabelTask,
    "translate": TranslateTask,
    "decode": DecodeTask,
    "verify": VerifyTask,
}


def task_of(name: str, options: dict[str, Any]) -> Task:
    """The task of this name with these options; what is not known is refused, with what is."""
    if name not in TASKS:
        raise UnknownMethod("task", name, TASKS)
    known = [field.name for field in fields(TASKS[name])]  # type: ignore[arg-type]
    for option in options:
        if option not in known:
            raise UnknownMethod(f"option of task {name!r}", option, known)
    try:
        return TASKS[name](**options)
    except TypeError as error:
        raise InputError(f"task {name!r}: {error}.") from None


def digest_of(path: str) -> str:
    """Of a file, or of the files in a folder."""
    digest = hashlib.blake2b(digest_size=16)
    place = Path(path)
    for file in sorted(p for p in place.rglob("*") if p.is_file()) if place.is_dir() else [place]:
        try:
            with open(file, "rb") as stream:
                digest.update(file.name.encode() + hashlib.file_digest(stream, "blake2b").digest())
        except OSError as error:
            raise FormatError(f"{file} cannot be read: {error.strerror}.") from None
    return digest.hexdigest()
