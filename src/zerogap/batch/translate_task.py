"""Translation as a task of jobs: a sentence per line in, a line of JSON per sentence out.

{"line": 3, "translation": "the house", "status": "optimal", "score": -4.5, "bound": -4.5}
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zerogap.batch.lines import Line, lines_of
from zerogap.batch.worker import Answer, Refused, Solver
from zerogap.errors import Infeasible, InputError
from zerogap.io.formats.lines import Piece
from zerogap.io.translation.arpa import load_language_model
from zerogap.io.translation.phrase_tables import load_phrase_table
from zerogap.io.translation.scfg import load_syntax_weights, read_grammar
from zerogap.io.translation.weights import load_phrase_weights
from zerogap.proof.lines import proof_line
from zerogap.translation.decoding import decode
from zerogap.translation.translators import grammar_translator, phrase_translator

if TYPE_CHECKING:
    from zerogap.translation.translators import Translator


@dataclass(frozen=True, slots=True)
class TranslateTask:
    """By a phrase table or by a synchronous grammar; weights are those of `zerogap translate`."""

    language_model: str
    weights: str
    phrase_table: str | None = None
    grammar: str | None = None
    method: str = "auto"
    time_limit: float | None = None
    reordering: str = "limit"
    certificates: bool = False
    inputs = ("text", "lines")
    suffix = ".jsonl"

    def __post_init__(self) -> None:
        if (self.phrase_table is None) == (self.grammar is None):
            raise InputError("phrase_table and grammar: expected one of them.")

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(path for path in (self.language_model, self.weights, self.phrase_table, self.grammar) if path is not None)

    def load(self, format: str) -> Solver:
        return TranslateSolver(self, self.translator())

    def translator(self) -> Translator:
        language_model = load_language_model(self.language_model)
        if self.grammar is not None:
            return grammar_translator(read_grammar(self.grammar), load_syntax_weights(self.weights), language_model)

        assert self.phrase_table is not None
        table = load_phrase_table(self.phrase_table)
        return phrase_translator(table, load_phrase_weights(self.weights), language_model, reordering=self.reordering)


@dataclass(frozen=True, slots=True)
class TranslateSolver:
    task: TranslateTask
    translator: Translator

    def entries(self, piece: Piece) -> Iterator[Line | Refused]:
        return lines_of(piece)

    def answer(self, record: Line) -> Answer:
        problem = self.translator.problem(record.text.removeprefix("\ufeff").split())
        solution = decode(problem, method=self.task.method, time_limit=self.task.time_limit)
        if solution.structure is None:
            raise Infeasible("no translation was found in time.")
        value = {"line": record.line, "translation": self.translator.text(problem, solution.structure), "status": solution.status}  # type: ignore[arg-type]  # of its own problem
        value |= {"score": solution.score, "bound": solution.bound if solution.bound < float("inf") else None}
        proof = proof_line(problem, solution, {"line": record.line}) if self.task.certificates else ""
        return Answer(json.dumps(value, ensure_ascii=False) + "\n", solution.status == "optimal", proof)
