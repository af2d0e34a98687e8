"""A cascade that never loses the best tree: an arc is dropped only when no tree with it can score as much as one that was found.

The thesis prunes by thresholds, and may lose the best tree (Rush 2014, section 8.4). Here the first-order pass of the cascade, with a wide
margin, only proposes: a core of likely arcs, whose best tree is a candidate. `core_bounds` then bounds all trees with each arc under the
last model, and what cannot reach the candidate is dropped. While many arcs are left, those of the trees with the highest bounds are added
to the core, and so are scored, and all bounds are found again. The best tree of what is left is the best of all, ties included.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from zerogap.dependency.bound_notes import missing_codes
from zerogap.dependency.candidates import candidates_of
from zerogap.dependency.cascade import Cascade, FastParse
from zerogap.dependency.cascade_passes import FIRST
from zerogap.dependency.core_bounds import BOUNDS, bounds_of_arcs
from zerogap.dependency.model import Parser
from zerogap.dependency.problem import Problem
from zerogap.dependency.score_bounds import bounds_or_error
from zerogap.dependency.scored import Allowed, Integers, arcs_under, block_under, every_arc, score_of_tree
from zerogap.dependency.sentences import Sentence
from zerogap.errors import InputError
from zerogap.features.part_bounds import WeightBounds
from zerogap.features.part_keys import Encoded
from zerogap.features.weight_table import Keys
from zerogap.grid import Scores
from zerogap.proof.certificate import DynamicProgram
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.cascade import MARGIN, Rule

Known = tuple[Scores, Scores, Scores]

CORE = Rule(MARGIN, -6.0)  # of the first-order pass: what is in the core at first; any core is right, this one is fast
FEW_WORDS = 12  # of a sentence for which all parts are scored at once
FEW_ARCS = 8  # for a word: if no more are left, all of their parts are scored
STEP = 4.0  # arcs of trees whose bound is at most this much below the highest one are added to the core
ROUNDS = 8


@dataclass(frozen=True, slots=True, eq=False)
class ExactCascade:
    """For a third-order parser with a first-order pass, and with bounds on the weights of larger parts."""

    parser: Parser
    core: Cascade = field(init=False)
    bounds: WeightBounds = field(init=False, repr=False)
    missing: Keys = field(init=False, repr=False)

    def __post_init__(self) -> None:
        parser = self.parser
        first = next((one for one in parser.passes if one.kind == FIRST), None)
        if parser.order != "grandsibling" or not parser.projective or first is None:
            had = "a cascade without a first-order pass" if first is None else f"order {parser.order!r}"
            kind = "" if parser.projective else "non-projective, with "
            raise InputError(
                f"the parser is {kind}{had}: expected a projective one of order 'grandsibling' with a cascade; zerogap train"
                " dependency ... --cascade --bounds trains one."
            )
        object.__setattr__(self, "bounds", bounds_or_error(parser))
        object.__setattr__(self, "core", Cascade(replace(parser, passes=(replace(first, rule=CORE),))))
        object.__setattr__(self, "missing", missing_codes(parser.model.features))

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
        parser, n = self.parser, len(sentence)
        parser.check(sentence)
        features = parser.model.features
        hashes = features.tokens.of(sentence.columns, n)
        encoded = features.encode_hashes(hashes)
        arcs = arcs_under(features, parser.model, encoded, every_arc(n))
        left = every_arc(n) if n <= FEW_WORDS else self.left(sentence, encoded, arcs)
        heads, bound = self.best_of(encoded, arcs, left)
        score = score_of_tree(features, parser.model, encoded, heads)
        labels = parser.labeller.label(sentence.columns, heads, hashes) if parser.labeller else None
        trace = Trace((bound,), (score,), (time.perf_counter() - begin,))
        return FastParse(sentence, labels, Solution(tuple(heads.tolist()), score, bound, DynamicProgram(), trace), self.core)

    def left(self, sentence: Sentence, encoded: Encoded, arcs: Scores) -> Allowed:
        """(n + 1, n + 1): the arcs of trees that could score as much as the best of the core."""
        n, model = len(sentence), self.parser.model
        core = np.empty((n + 1, n + 1), dtype=np.bool_)
        heads, _ = self.core.parsed([sentence], kept=core.reshape(-1))
        score = score_of_tree(model.features, model, encoded, heads)
        left, known = arcs > -np.inf, nothing_known(n)
        for _ in range(ROUNDS):
            (heads, modifiers), best, marginals = self.marginals(encoded, np.where(left, arcs, -np.inf), core & left, known, score)
            reached, likely = marginals >= score, marginals >= best - STEP
            left = np.zeros(arcs.shape, dtype=np.bool_)
            left[heads[reached], modifiers[reached]] = True
            few = np.count_nonzero(left) <= FEW_ARCS * n
            if few or best <= score or core[heads[likely], modifiers[likely]].all():
                break
            core[heads[likely], modifiers[likely]] = True
        return left

    def best_of(self, encoded: Encoded, arcs: Scores, left: Allowed) -> tuple[Integers, float]:
        """The best tree of some arcs, all of whose parts are scored."""
        model = self.parser.model
        block = block_under(model.features, model, encoded, np.where(left, arcs, -np.inf), candidates_of(left, grand=True))
        return block.best(single_root=self.parser.single_root)

    def marginals(
        self, encoded: Encoded, arcs: Scores, core: Allowed, known: Known, least: float = -np.inf
    ) -> tuple[tuple[Integers, Integers], float, Scores]:
        """Heads and modifiers of all arcs, what no tree scores more than, and what none with each arc does. out: known.

        Where that is below `least`, it may be lower than it should.
        """
        parser = self.parser
        c = candidates_of(arcs > -np.inf, grand=False)
        bound_cells, _, bound_jumps = self.bounds.table.table
        marginals = np.empty(len(c.modifiers))
        best = bounds_of_arcs(
            encoded[0], *parser.model.features.plan, *parser.model.table, bound_cells, bound_jumps, self.bounds.floors.astype(np.int64),
            self.missing, arcs, core, c.modifier_start, c.modifiers, 1 if parser.single_root else 0, least, *known, marginals,
        )  # fmt: skip
        return (c.heads, c.modifiers), float(best), marginals


def nothing_known(n: int) -> Known:
    """Bounds of pairs, scores of siblings and of grandparents, as `bounds_of_arcs` fills them."""
    return np.full((BOUNDS, n + 1, n + 1), np.nan), np.full((n + 1, n + 1, n + 1), np.nan), np.full((n + 1, n + 1, n + 1), np.nan)
