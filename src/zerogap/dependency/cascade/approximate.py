"""A parser behind a cascade of coarser ones: fast and approximate, or exact (Rush 2014, chapter 8).

`heads` is for corpora: the best tree of what the passes leave, for many sentences in one call, and nothing else. `parse` gives a sentence
the shape that all decoders give it. Its tree is a candidate, and no tree at all scores more than the bound; that takes no look at the
sentence, only at the largest weight of every template, so that the gap is wide.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from zerogap.dependency.cascade.kernel import BY_MARGIN, BY_MEAN, NO_PASS, NOTHING, CascadeModels, PassRules, RowArrays, parse_by_cascade
from zerogap.dependency.cascade.passes import DICTIONARY, FIRST, LAST, OF_ARCS, ROWS, SECOND, VINE, Pass
from zerogap.dependency.cascade.rows import VALUES, RowModel
from zerogap.dependency.parser.parser import Parser, sharing_tokens
from zerogap.dependency.scoring.sentence import Allowed, score_of_tree
from zerogap.dependency.sentence import Sentence
from zerogap.errors import InputError
from zerogap.features.parts.keys import PartFeatures
from zerogap.features.parts.templates import parse_part_templates
from zerogap.features.parts.weight_table import Keys
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.certificate import DynamicProgram
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.pruning import MARGIN

AT_ONCE, HEADS_AT_ONCE = 64, 256  # sentences
KINDS = (DICTIONARY, ROWS, VINE, FIRST, SECOND, LAST)  # in the order in which cascade_kernel runs them
ORDERS = {"first": 0, "sibling": 1, "grandsibling": 2}  # as cascade_kernel knows them
Heads = tuple[int, ...]
NOT_KEPT: Allowed = np.zeros(0, dtype=np.bool_)
NO_TOKENS: Keys = np.zeros((0, 0), dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Cascade:
    """The passes of a parser, in the order dictionary, rows or vine, first, second, each at most once.

    For what they leave, they may end with a last model of their own; else the parser's chooses the tree. Scores and bounds are always those
    of the parser's model.
    """

    parser: Parser
    passes: tuple[Pass, ...] = field(init=False)
    largest: dict[str, float] = field(init=False, repr=False)  # by kind of part: no features of one part weigh more

    def __post_init__(self) -> None:
        parser = sharing_tokens(self.parser)  # passes of another parser may read other columns of tokens
        if parser.order not in ORDERS or not parser.projective:
            kind = "" if parser.projective else "non-projective "
            raise InputError(f"the parser is a {kind}one of order {parser.order!r}: expected a projective one of {', '.join(ORDERS)}.")
        kinds = [one.kind for one in parser.passes]
        expected = [kind for kind in KINDS if kind in kinds]
        if kinds != expected or not kinds or (ROWS in kinds and VINE in kinds):
            had = f"has the passes {', '.join(kinds)}" if kinds else "has no cascade"
            raise InputError(
                f"the parser {had}: expected some of dictionary, rows or vine, first, second and last, in this order; zerogap train"
                " dependency ... --cascade learns them."
            )
        check_stack(parser.passes)
        templates = parser.model.features.templates
        totals = dict.fromkeys((template.kind for template in templates), 0.0)
        for template, weight in zip(templates, parser.model.template_bounds().tolist(), strict=True):
            totals[template.kind] += weight
        object.__setattr__(self, "parser", parser)
        object.__setattr__(self, "passes", parser.passes)
        object.__setattr__(self, "largest", totals)

    @property
    def order(self) -> str:
        return self.parser.order

    @property
    def columns(self) -> tuple[str, ...]:
        """Those that a sentence needs."""
        return self.parser.columns

    def parse(self, sentence: Sentence) -> FastParse:
        """The best tree of what the passes leave, and a bound that is true for all trees."""
        return self.parse_together([sentence])[0]

    def parse_together(self, sentences: Sequence[Sentence]) -> list[FastParse]:
        """The same for some sentences at once."""
        begin = time.perf_counter()
        rows = self.hashes(sentences)
        flat, _ = self.parsed(sentences, rows)
        parser, features, found, at = self.parser, self.parser.model.features, list[FastParse](), 0
        for sentence, hashes in zip(sentences, rows, strict=True):
            n = len(sentence)
            heads, at = flat[at : at + n], at + n
            score = score_of_tree(features, parser.model, features.encode_hashes(hashes), heads)
            labels = parser.labeller.label(sentence.columns, heads, hashes) if parser.labeller else None
            bound = max(score, self.most(n))
            trace = Trace((bound,), (score,), ((time.perf_counter() - begin) / len(sentences),))
            found.append(FastParse(sentence, labels, Solution(tuple(heads.tolist()), score, bound, DynamicProgram(), trace), self))
        return found

    def hashes(self, sentences: Sequence[Sentence]) -> list[Keys]:
        """Of the tokens of every sentence, as all models read them."""
        for sentence in sentences:
            self.parser.check(sentence)
        tokens = self.parser.model.features.tokens
        return [tokens.of(sentence.columns, len(sentence)) for sentence in sentences]

    def most(self, n: int) -> float:
        """What no tree of n words scores more than: every feature that it can have has the largest weight of its template."""
        # of what lies between, there is one feature for each word at most; sides end at 2 n + 2 places
        often = {"between": n * (n - 1), "stop": 2 * n + 2}
        return sum(often.get(kind, n) * total for kind, total in self.largest.items())

    def problem(self, sentence: Sentence) -> Problem:
        """All trees of the sentence, not only those of arcs that are left."""
        return replace(self.parser, pruner=None, stored_bounds=None).problem(sentence)

    def heads(self, sentences: Sequence[Sentence]) -> list[Heads]:
        """The heads of the words of every sentence."""
        found: list[Heads] = []
        for at in range(0, len(sentences), HEADS_AT_ONCE):
            some = sentences[at : at + HEADS_AT_ONCE]
            flat, _ = self.parsed(some)
            stops = np.cumsum([len(sentence) for sentence in some])
            found += [tuple(part.tolist()) for part in np.split(flat, stops[:-1])]
        return found

    def parsed(
        self, sentences: Sequence[Sentence], hashes: list[Keys] | None = None, *, passes: int | None = None, kept: Allowed = NOT_KEPT
    ) -> tuple[Keys, Keys]:
        """The heads of all words, and how many arcs were left (sentences, passes) after each pass but the last model.

        With `passes`, there are as many, and nothing after them: heads mean nothing then. `kept` is filled with the arcs that
        are left, sentence after sentence, if it has room for them.
        """
        rows = self.hashes(sentences) if hashes is None else hashes
        starts = np.concatenate([[0], np.cumsum([len(part) for part in rows])]).astype(np.int64)
        by_kind = {one.kind: one for one in self.passes[:passes]}
        last = (by_kind[LAST].parts if LAST in by_kind else self.parser.model).arrays
        dictionary, vine, first, second = (
            by_kind[kind].parts.arrays if kind in by_kind else last for kind in (DICTIONARY, VINE, FIRST, SECOND)
        )
        chosen = [by_kind.get(kind) for kind in (ROWS, VINE, FIRST, SECOND, LAST)]
        rules = np.array([NO_PASS if one is None else BY_MARGIN if one.rule.name == MARGIN else BY_MEAN for one in chosen], dtype=np.int64)
        values = np.array([0.0 if one is None else one.rule.value for one in chosen])
        stacked = np.array([0.0 if one is None else one.stacked for one in chosen])
        heads = np.empty(sum(map(len, sentences)), dtype=np.int64)
        left = np.empty((len(sentences), len(KINDS) - 1), dtype=np.int64)
        order = ORDERS[self.parser.order] if passes is None or LAST in by_kind else NOTHING
        band = by_kind[VINE].band if VINE in by_kind else 0
        every = CascadeModels(dictionary, rows_of(by_kind.get(ROWS)), vine, first, second, last)
        how = PassRules(rules, values, stacked, int(DICTIONARY in by_kind), band, order, int(self.parser.single_root))
        parse_by_cascade(np.concatenate(rows or [NO_TOKENS]), starts, every, how, heads, left, kept)
        return heads, np.ascontiguousarray(left[:, [KINDS.index(kind) for kind in by_kind if kind != LAST]])


class HasProblem(Protocol):
    """A cascade, of whichever kind."""

    def problem(self, sentence: Sentence) -> Problem: ...


@dataclass(frozen=True, slots=True, eq=False)
class FastParse:
    """A tree, its labels if the parser has a labeller, and how much better one could be; `verify(parse.problem, parse.solution)`."""

    sentence: Sentence
    labels: tuple[str, ...] | None
    solution: Solution[Heads]
    cascade: HasProblem

    @property
    def heads(self) -> Heads:
        return self.solution.structure or ()

    @property
    def problem(self) -> Problem:
        return self.cascade.problem(self.sentence)


def check_stack(passes: Sequence[Pass]) -> None:
    """Raises InputError if a pass is stacked on one that is not there."""
    on = False
    for one in passes:
        if one.stacked and not on:
            raise InputError(
                f"the pass {one.kind} is stacked, but there is none before it that scores arcs: expected rows, first or second."
            )
        on |= one.kind in OF_ARCS


def rows_of(one: Pass | None) -> RowArrays:
    """Rows of weights as kernels read them, and of none."""
    model = no_rows() if one is None else one.model
    assert isinstance(model, RowModel)
    return RowArrays(model.features.reading, model.features.plan, model.tables)


@functools.cache
def no_rows() -> RowModel:
    """What stands for rows where there are none."""
    features, nothing = PartFeatures(parse_part_templates("arc: head.form+mod.form+distance")), np.zeros(0, dtype=np.int64)
    rows, pairs = np.zeros((0, VALUES), dtype=np.int16), np.zeros((1, 1, 1, VALUES), dtype=np.int16)
    return RowModel(features, nothing, rows, nothing, nothing, pairs, 1.0)
