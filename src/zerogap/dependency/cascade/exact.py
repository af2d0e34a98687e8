"""The exact cascade, for models whose larger parts only cost: no sibling, stop, grandparent or grand-sibling has a weight above 0.

Then no tree scores more than its arcs, which makes the best tree easy to prove (`exact_search`). It is no loss: what speaks for a part
can speak for its arcs, and against all other parts with these.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from zerogap.dependency.cascade.approximate import NO_TOKENS, FastParse
from zerogap.dependency.cascade.exact_search import MARGIN, STEP, CoreSearch, parse_under_penalties
from zerogap.dependency.parser.parser import Parser, sharing_tokens
from zerogap.dependency.sentence import Sentence
from zerogap.errors import InputError
from zerogap.features.parts.keys import PartFeatures
from zerogap.features.parts.learning import NO_CEILINGS
from zerogap.features.parts.model import PartModel, cells_of_kinds
from zerogap.features.parts.templates import EVERY_KIND
from zerogap.features.parts.weights import Table
from zerogap.grid import Scores
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.certificate import DynamicProgram
from zerogap.proof.solution import Solution, Trace

OF_ARCS = ("arc", "between")
COST = 7e-4  # by which larger parts of right trees cost less after every sentence: chosen on development data
LARGER = tuple(kind for kind in EVERY_KIND if kind not in OF_ARCS)


def ceilings_of(features: PartFeatures) -> Scores:
    """By the low bytes of keys: 0 for larger parts."""
    ceilings = NO_CEILINGS.copy()
    ceilings[1 : len(features.templates) + 1] = [np.inf if template.kind in OF_ARCS else 0.0 for template in features.templates]
    return ceilings


def has_penalties_only(model: PartModel) -> bool:
    """Whether no weight of a larger part is above 0."""
    return bool((model.steps <= ceilings_of(model.features)[model.keys & 255]).all())


@dataclass(frozen=True, slots=True, eq=False)
class ExactCascade:
    """For a third-order parser that was trained with penalties; it needs no passes."""

    parser: Parser
    margin: float = MARGIN
    step: float = STEP
    search: CoreSearch = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, value in (("margin", self.margin), ("step", self.step)):
            if not value >= 0.0:  # the core would have no tree, or not grow
                raise InputError(f"{name} is {value!r}: expected a number, 0 or more.")
        parser = sharing_tokens(self.parser)
        if parser.order != "grandsibling" or not parser.projective or not has_penalties_only(parser.model):
            raise InputError(
                f"this is a {'projective' if parser.projective else 'non-projective'} parser of order {parser.order!r} whose larger parts"
                f" {'only cost' if has_penalties_only(parser.model) else 'may score more than 0'}: expected a projective one of order"
                " 'grandsibling' trained with --penalties, and the bundled model en is not. To train one:"
                " zerogap train dependency train.conllu --dev dev.conllu -o sure.npz --penalties."
            )
        object.__setattr__(self, "parser", parser)
        tables = table_of(parser.model, OF_ARCS), table_of(parser.model, LARGER)
        object.__setattr__(self, "search", CoreSearch(*tables, int(parser.single_root), float(self.margin), float(self.step)))

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
        return self.parse_together([sentence])[0]

    def parse_together(self, sentences: Sequence[Sentence]) -> list[FastParse]:
        """The same for some sentences at once."""
        begin = time.perf_counter()
        parser, tokens = self.parser, self.parser.model.features.tokens
        for sentence in sentences:
            parser.check(sentence)
        rows = [tokens.of(sentence.columns, len(sentence)) for sentence in sentences]
        starts = np.cumsum([0, *map(len, rows)])
        flat, (scores, bounds) = np.empty(sum(map(len, sentences)), dtype=np.int64), np.empty((2, len(sentences)))
        parse_under_penalties(np.concatenate(rows or [NO_TOKENS]), starts, parser.model.arrays, self.search, flat, scores, bounds)
        seconds = ((time.perf_counter() - begin) / max(len(sentences), 1),)
        found, at, heads_of_all = list[FastParse](), 0, flat.tolist()
        for sentence, hashes, score, bound in zip(sentences, rows, scores.tolist(), bounds.tolist(), strict=True):
            n = len(sentence)
            heads = tuple(heads_of_all[at : at + n])
            labels = parser.labeller.label(sentence.columns, flat[at : at + n], hashes) if parser.labeller else None
            solution = Solution(heads, score, bound, DynamicProgram(), Trace((bound,), (score,), seconds))
            found.append(FastParse(sentence, labels, solution, self))
            at += n
        return found


def table_of(model: PartModel, kinds: Sequence[str]) -> Table:
    cells, jumps = cells_of_kinds(model, kinds)
    return Table(cells, np.array([model.unit]), jumps)
