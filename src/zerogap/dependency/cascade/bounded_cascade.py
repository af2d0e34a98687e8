"""A cascade that never loses the best tree: an arc is dropped only when no tree with it can score as much as one that was found.

The thesis prunes by thresholds, and may lose the best tree (Rush 2014, section 8.4). Here what prunes only proposes a core of likely arcs:
in long sentences the passes of a cascade, whose tree is the candidate, in shorter ones the scores of arcs. Then `core_rounds` bounds
all trees with each arc under the last model, and drops what cannot reach the best candidate. The best tree of what is left is the best of
all, ties included. (For parsers whose larger parts only cost there is `penalty_cascade`, which is faster.)
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from zerogap.dependency.candidate_arcs import candidates_of
from zerogap.dependency.cascade.approximate import Cascade, FastParse
from zerogap.dependency.cascade.core_rounds import drop_arcs
from zerogap.dependency.cascade.value_classes import readings_of
from zerogap.dependency.parser.parser import Parser
from zerogap.dependency.scoring.bounds import bounds_or_error
from zerogap.dependency.scoring.bounds_offline import missing_codes
from zerogap.dependency.scoring.sentence import Allowed, Integers, arcs_under, block_under, every_arc, score_of_tree
from zerogap.dependency.sentence import Sentence
from zerogap.errors import InputError
from zerogap.features.parts.bounds import WeightBounds
from zerogap.features.parts.keys import Encoded
from zerogap.features.parts.model import cells_of_kinds
from zerogap.features.parts.packed_table import Jumps
from zerogap.features.parts.weight_table import Keys
from zerogap.grid import Scores
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.certificate import DynamicProgram
from zerogap.proof.solution import Solution, Trace

FEW_WORDS = 15  # of a sentence for which all parts are scored at once
FEW_ARCS = 6  # for a word: if no more are left, all of their parts are scored
MANY_WORDS = 30  # of a sentence; if there are more, the passes propose arcs and a tree
LIKELY_HEADS = 3  # of a word, by the scores of arcs, if there are not
STEP = 2.0  # arcs of trees whose bound is at most this much below the highest one are added to the core
ROUNDS = 8


@dataclass(frozen=True, slots=True, eq=False)
class ExactCascade:
    """For a third-order parser behind a cascade, and with bounds on the weights of larger parts."""

    parser: Parser
    core: Cascade = field(init=False)
    bounds: WeightBounds = field(init=False, repr=False)
    missing: Keys = field(init=False, repr=False)
    tables: tuple[tuple[Keys, Jumps], ...] = field(init=False, repr=False)  # weights of two kinds of parts, bounds of three

    def __post_init__(self) -> None:
        parser = self.parser
        if parser.order != "grandsibling" or not parser.projective or not parser.passes:
            had = f"order {parser.order!r}" if parser.passes else "no cascade"
            kind = "" if parser.projective else "non-projective, with "
            raise InputError(
                f"the parser is {kind}one of {had}: expected a projective one of order 'grandsibling' with a cascade; zerogap train"
                " dependency ... --cascade --bounds trains one, and one with --penalties needs no cascade."
            )
        object.__setattr__(self, "bounds", bounds_or_error(parser))
        object.__setattr__(self, "core", Cascade(parser))
        tables = [cells_of_kinds(parser.model, [kind]) for kind in ("sibling", "grandparent")]
        tables += [cells_of_kinds(self.bounds.table, [kind]) for kind in ("sibling", "grandparent", "grandsibling")]
        object.__setattr__(self, "tables", tuple(tables))
        object.__setattr__(self, "missing", missing_codes(self.core.parser.model.features))

    @property
    def order(self) -> str:
        return self.parser.order

    @property
    def columns(self) -> tuple[str, ...]:
        """Those that a sentence needs."""
        return self.parser.columns

    def problem(self, sentence: Sentence) -> Problem:
        """All trees of the sentence."""
        return self.core.problem(sentence)

    def parse(self, sentence: Sentence) -> FastParse:
        """The best tree of all, with its proof."""
        begin = time.perf_counter()
        parser, n = self.core.parser, len(sentence)
        parser.check(sentence)
        features = parser.model.features
        hashes = features.tokens.of(sentence.columns, n)
        encoded = features.encode_hashes(hashes)
        arcs = arcs_under(features, parser.model, encoded, every_arc(n))
        left = every_arc(n) if n <= FEW_WORDS else self.left(sentence, hashes, encoded, arcs)
        is_one = n > FEW_WORDS and np.count_nonzero(left) == n  # one tree is left
        heads, bound = (left[:, 1:].argmax(axis=0), None) if is_one else self.best_of(encoded, arcs, left)
        score = score_of_tree(features, parser.model, encoded, heads)
        bound = score if bound is None else bound
        labels = parser.labeller.label(sentence.columns, heads, hashes) if parser.labeller else None
        trace = Trace((bound,), (score,), (time.perf_counter() - begin,))
        return FastParse(sentence, labels, Solution(tuple(heads.tolist()), score, bound, DynamicProgram(), trace), self.core)

    def left(self, sentence: Sentence, hashes: Keys, encoded: Encoded, arcs: Scores) -> Allowed:
        """(n + 1, n + 1): the arcs of trees that could score as much as the candidate."""
        n, model = len(sentence), self.core.parser.model
        core = np.empty((n + 1, n + 1), dtype=np.bool_)
        score, left = -np.inf, arcs > -np.inf
        if n > MANY_WORDS:
            heads, _ = self.core.parsed([sentence], [hashes], kept=core.reshape(-1))
            score = score_of_tree(model.features, model, encoded, heads)
        else:
            core = likely_arcs(arcs) & left
        self.bounded(hashes, encoded, arcs, core, left, score, FEW_ARCS * n, ROUNDS)
        return left

    def bounded(
        self, hashes: Keys, encoded: Encoded, arcs: Scores, core: Allowed, left: Allowed, least: float, few: int, rounds: int
    ) -> tuple[float, Scores]:
        """What no tree scores more than, and what none with each arc does, or less where that is below `least`. out: core, left."""
        parser = self.core.parser
        marginals = np.empty(arcs.shape)
        best = drop_arcs(
            hashes, encoded[0], *parser.model.features.plan, encoded[1], *parser.model.table, *self.tables,
            self.bounds.floors.astype(np.int64), self.missing, *readings_of(parser.model.features),
            arcs, 1 if parser.single_root else 0, least, few, STEP, rounds, core, left, marginals,
        )  # fmt: skip
        return float(best), marginals

    def best_of(self, encoded: Encoded, arcs: Scores, left: Allowed) -> tuple[Integers, float]:
        """The best tree of some arcs, all of whose parts are scored."""
        model = self.core.parser.model
        block = block_under(model.features, model, encoded, np.where(left, arcs, -np.inf), candidates_of(left, grand=True))
        return block.best(single_root=self.core.parser.single_root)


def likely_arcs(arcs: Scores) -> Allowed:
    """Those of the highest scores for each word."""
    found, n = np.zeros(arcs.shape, dtype=np.bool_), len(arcs) - 1
    found[np.argpartition(arcs[:, 1:], max(0, n - LIKELY_HEADS), axis=0)[-LIKELY_HEADS:], np.arange(1, n + 1)] = True
    return found
