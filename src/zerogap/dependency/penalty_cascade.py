"""An exact cascade for parsers whose larger parts only cost: arcs, a core of them, and what could still be better (`penalty_search`)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from zerogap.dependency.cascade import FastParse
from zerogap.dependency.exact_cascade import ExactCascade
from zerogap.dependency.model import Parser, sharing_tokens
from zerogap.dependency.penalties import OF_ARCS, has_penalties_only
from zerogap.dependency.penalty_search import MARGIN, STEP, best_under_penalties
from zerogap.dependency.problem import Problem
from zerogap.dependency.scored import every_arc, score_of_tree
from zerogap.dependency.sentences import Sentence
from zerogap.errors import InputError
from zerogap.features.part_model import PartModel, cells_of_kinds
from zerogap.features.part_templates import EVERY_KIND
from zerogap.features.weights import Table
from zerogap.proof.certificate import DynamicProgram
from zerogap.proof.solution import Solution, Trace

LARGER = tuple(kind for kind in EVERY_KIND if kind not in OF_ARCS)


def exact_cascade(parser: Parser) -> PenaltyCascade | ExactCascade:
    """The faster one of those that the parser is made for; InputError if it is for neither."""
    is_third = parser.order == "grandsibling" and parser.projective
    return PenaltyCascade(parser) if is_third and has_penalties_only(parser.model) else ExactCascade(parser)


@dataclass(frozen=True, slots=True, eq=False)
class PenaltyCascade:
    """For a third-order parser that was trained with penalties; it needs no passes."""

    parser: Parser
    margin: float = MARGIN
    step: float = STEP
    tables: tuple[Table, Table] = field(init=False, repr=False)  # of arcs, and of larger parts: each is smaller than both

    def __post_init__(self) -> None:
        parser = sharing_tokens(self.parser)
        if parser.order != "grandsibling" or not parser.projective or not has_penalties_only(parser.model):
            raise InputError(
                f"the parser is {'a projective' if parser.projective else 'a non-projective'} one of order {parser.order!r} whose larger"
                f" parts {'only cost' if has_penalties_only(parser.model) else 'score more than 0'}: expected a projective one of order"
                " 'grandsibling' whose larger parts only cost; zerogap train dependency ... --penalties trains one."
            )
        object.__setattr__(self, "parser", parser)
        object.__setattr__(self, "tables", (table_of(parser.model, OF_ARCS), table_of(parser.model, LARGER)))

    @property
    def order(self) -> str:
        return self.parser.order

    @property
    def columns(self) -> tuple[str, ...]:
        """Those that a sentence needs."""
        return self.parser.columns

    def problem(self, sentence: Sentence) -> Problem:
        """All trees of the sentence."""
        return replace(self.parser, pruner=None, stored_bounds=None).problem(sentence)

    def parse(self, sentence: Sentence) -> FastParse:
        """The best tree of all, with its proof."""
        begin = time.perf_counter()
        parser, n = self.parser, len(sentence)
        parser.check(sentence)
        features = parser.model.features
        hashes = features.tokens.of(sentence.columns, n)
        partial, totals = encoded = features.encode_hashes(hashes)
        heads, left, marginals = np.empty(n, dtype=np.int64), np.empty((n + 1, n + 1), dtype=np.bool_), np.empty((n + 1, n + 1))
        bound = best_under_penalties(
            partial, *features.plan, totals, *self.tables[0], *self.tables[1], every_arc(n), 1 if parser.single_root else 0, self.margin,
            self.step, heads, left, marginals,
        )  # fmt: skip
        score = score_of_tree(features, parser.model, encoded, heads)
        labels = parser.labeller.label(sentence.columns, heads, hashes) if parser.labeller else None
        trace = Trace((bound,), (score,), (time.perf_counter() - begin,))
        return FastParse(sentence, labels, Solution(tuple(heads.tolist()), score, bound, DynamicProgram(), trace), self)


def table_of(model: PartModel, kinds: Sequence[str]) -> Table:
    cells, jumps = cells_of_kinds(model, kinds)
    return cells, np.array([model.unit]), jumps
