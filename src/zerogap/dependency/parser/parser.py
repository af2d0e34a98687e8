"""A trained dependency parser: a pruner, a model of parts, and a labeller, in one file.

The pruner is a first-order random field: arcs whose posterior probability is below `threshold` times that of the word's likeliest head are
left out (Rush 2014, section 6.6). Among the trees that are left, the best one under the model of parts is found exactly, and that it is the
best is what the certificate says. The labeller then chooses the best label of every arc.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zerogap.dependency.candidate_arcs import candidates_of
from zerogap.dependency.parser.labeller import Labeller
from zerogap.dependency.parser.pruner import likely_arcs
from zerogap.dependency.scoring.sentence import Allowed, Block, Integers, arcs_under, block_under, every_arc, score_of_tree
from zerogap.dependency.sentence import Sentence
from zerogap.errors import InputError
from zerogap.features.parts.keys import PAD, Encoded, PartFeatures, TokenHashes, attributes_of
from zerogap.features.parts.model import PartModel, part_model
from zerogap.features.parts.weight_table import Keys
from zerogap.grid import Scores
from zerogap.oracles.trees.eisner import eisner_kernel
from zerogap.problems.dependency.parts import Sparse
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.certificate import Certificate, CutDuals, DynamicProgram, HeadPrices
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.candidate import Candidate
from zerogap.relax.descent import close_gap, limits_of
from zerogap.relax.parallel import decode_each

if TYPE_CHECKING:
    from zerogap.dependency.cascade.passes import Pass
    from zerogap.dependency.decoding.agreement.head_scores import HeadScores
    from zerogap.dependency.decoding.agreement.lazy import LazyHeads
    from zerogap.features.parts.bounds import StoredBounds, WeightBounds

ORDERS = ("first", "sibling", "grandparent", "grandsibling")
GRAND = ("grandparent", "grandsibling")  # those that score the head of the head
TIME_LIMIT = 10.0  # seconds for a sentence of a non-projective parser with larger parts
PRICE_UNIT = 2.0**-12  # of prices, in units of weights
MANY_PARTS = 30_000  # of three, from which on a parser with bounds does not score them all
MOST_WORDS = {"first": 5000, "sibling": 2500, "grandparent": 2500, "grandsibling": 2500}  # more would take more than 2 GB

Heads = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Parse:
    """The best tree of a sentence, its labels if the parser has a labeller, and the proof."""

    sentence: Sentence
    heads: Heads
    labels: tuple[str, ...] | None
    solution: Solution[Heads]
    scores: Scores | Block | HeadScores | LazyHeads = field(repr=False)
    single_root: bool = True
    projective: bool = True

    @property
    def problem(self) -> Problem:
        """The decoding problem that was solved, for `zerogap.verify(parse.problem, parse.solution)`; made when it is asked for."""
        if isinstance(self.scores, Block):
            return problem_of(self.scores, single_root=self.single_root)
        if not isinstance(self.scores, np.ndarray):
            from zerogap.dependency.decoding.agreement.head_scores import HeadScores, problem_of_heads

            return problem_of_heads(self.scores if isinstance(self.scores, HeadScores) else self.scores.complete())
        return Problem(self.scores, projective=self.projective, single_root=self.single_root)


@dataclass(frozen=True, slots=True, eq=False)
class Parser:
    """`order` says what is scored: arcs (first); also siblings with stops (sibling), grandparents, or all of them (grandsibling)."""

    order: str
    model: PartModel
    pruner: PartModel | None = None
    threshold: float = 1e-3
    labeller: Labeller | None = None
    single_root: bool = True
    projective: bool = True
    about: dict[str, Any] = field(default_factory=dict)  # name, licence and language of the data, scores: for people
    stored_bounds: StoredBounds | None = field(default=None, repr=False)  # on weights of larger parts; see `bounds_offline.compute_bounds`
    passes: tuple[Pass, ...] = ()  # of its cascade: see `cascade.Cascade`
    columns: tuple[str, ...] = field(init=False)  # those that a sentence needs

    def __post_init__(self) -> None:
        if self.stored_bounds is not None and self.stored_bounds.model is not self.model:
            raise InputError("the parser is given bounds of another model: expected its own, or none.")
        models = [self.model, self.pruner, self.labeller.model if self.labeller else None, *[one.model for one in self.passes]]
        names = dict.fromkeys(name for model in models if model for name in model.features.tokens.columns)
        object.__setattr__(
            self,
            "columns",
            (*names, *(() if self.labeller is None or self.labeller.sets.column in names else (self.labeller.sets.column,))),
        )

    @property
    def bounds(self) -> WeightBounds | None:
        """Bounds on the weights of larger parts, if they were computed; read when they are asked for."""
        return None if self.stored_bounds is None else self.stored_bounds.read()

    def parse(self, sentence: Sentence, *, time_limit: float | None = TIME_LIMIT) -> Parse:
        """The best tree that the pruner leaves, exactly.

        Non-projective trees with larger parts may take long: after `time_limit` seconds the best tree so far is the answer, with its gap.
        """
        begin = time.perf_counter()
        n = len(sentence)
        self.check(sentence)
        hashes = self.model.features.tokens.of(sentence.columns, n)
        encoded = self.model.features.encode_hashes(hashes)
        found = self.first_tree(encoded, begin) if self.order == "first" else self.larger_tree(encoded, hashes, begin, time_limit)
        heads, scores, solution = found
        labels = self.labeller.label(sentence.columns, heads, hashes) if self.labeller else None
        return Parse(sentence, solution.structure or (), labels, solution, scores, self.single_root, self.projective)

    def first_tree(self, encoded: Encoded, begin: float) -> tuple[Integers, Scores, Solution[Heads]]:
        n = encoded[0].shape[1] - 2
        scores = arcs_under(self.model.features, self.model, encoded, every_arc(n))
        if self.projective:
            heads = np.empty(n, dtype=np.int64)
            bound = float(eisner_kernel(scores, 1 if self.single_root else 0, heads))
            return heads, scores, self.solution(encoded, heads, bound, DynamicProgram(), begin)
        from zerogap.oracles.trees.arborescence import arborescence_duals  # most parsers do without

        heads, sets, values = arborescence_duals(scores, single_root=self.single_root)
        return heads, scores, self.solution(encoded, heads, float(sum(values)), CutDuals(sets, values), begin)

    def larger_tree(
        self, encoded: Encoded, hashes: Keys, begin: float, time_limit: float | None
    ) -> tuple[Integers, Block | HeadScores | LazyHeads, Solution[Heads]]:
        allowed = self.allowed(hashes)
        if self.projective:
            block = self.block(encoded, allowed)
            heads, bound = block.best(single_root=self.single_root)
            return heads, block, self.solution(encoded, heads, bound, DynamicProgram(), begin)
        from zerogap.dependency.decoding.agreement.decoder import HeadRelaxation
        from zerogap.dependency.decoding.agreement.relaxation import Agreement

        def candidate(heads: Integers) -> Candidate:
            return Candidate(tuple(heads.tolist()), score_of_tree(self.model.features, self.model, encoded, heads))

        unit = self.model.unit * PRICE_UNIT
        if self.bounds is not None and self.order == "grandsibling" and parts_of_three(allowed) >= MANY_PARTS:
            from zerogap.dependency.decoding.agreement.lazy import agreed_lazily, lazy_heads  # most parsers do without

            arcs = arcs_under(self.model.features, self.model, encoded, allowed)
            lazy = lazy_heads(self.model, self.bounds, encoded, arcs, allowed, single_root=self.single_root)
            closed = agreed_lazily(lazy, unit, candidate, begin=begin, time_limit=time_limit)
            return np.array(closed.best.structure if closed.best else (), dtype=np.int64), lazy, closed.solution()
        arcs, scores = self.head_scores(encoded, allowed)
        if len(arcs) == 1:
            return np.zeros(0, dtype=np.int64), scores, Solution((), 0.0, 0.0, HeadPrices((), (), ()), Trace((0.0,), (0.0,), (0.0,)))
        agreement = Agreement(scores, unit)
        relaxation = HeadRelaxation(agreement, candidate, agreement.most_prices(arcs), begin)
        closed = close_gap(relaxation, limits_of(time_limit, begin=begin))
        heads = np.array(closed.best.structure if closed.best else (), dtype=np.int64)
        return heads, scores, closed.solution()

    def solution(self, encoded: Encoded, heads: Integers, bound: float, certificate: Certificate, begin: float) -> Solution[Heads]:
        score = score_of_tree(self.model.features, self.model, encoded, heads)
        return Solution(tuple(heads.tolist()), score, bound, certificate, Trace((bound,), (score,), (time.perf_counter() - begin,)))

    def parse_many(self, sentences: Sequence[Sentence], *, threads: int | None = None) -> list[Parse]:
        """Parses sentences on several threads, in order."""
        return decode_each(self.parse, sentences, threads)  # type: ignore[arg-type, return-value]

    def allowed(self, hashes: Keys) -> Allowed:
        """Which arcs the pruner leaves, from the hashes of tokens; a tree is among them."""
        if self.pruner is None:
            return every_arc(len(hashes) - 2 - 4 * PAD)
        encoded = self.pruner.features.encode_hashes(hashes)
        scores = arcs_under(self.pruner.features, self.pruner, encoded, every_arc(len(hashes) - 2 - 4 * PAD))
        return likely_arcs(scores, self.threshold, single_root=self.single_root, projective=self.projective)

    def block(self, encoded: Encoded, allowed: Allowed) -> Block:
        arcs = arcs_under(self.model.features, self.model, encoded, allowed)
        return block_under(self.model.features, self.model, encoded, arcs, candidates_of(allowed, grand=self.order in GRAND))

    def head_scores(self, encoded: Encoded, allowed: Allowed) -> tuple[Scores, HeadScores]:
        from zerogap.dependency.scoring.heads import heads_under

        arcs = arcs_under(self.model.features, self.model, encoded, allowed)
        grand = self.order in GRAND
        return arcs, heads_under(self.model.features, self.model, encoded, arcs, allowed, grand=grand, single_root=self.single_root)

    def problem(self, sentence: Sentence) -> Problem:
        """The sentence as a decoding problem, without solving it."""
        self.check(sentence)
        hashes = self.model.features.tokens.of(sentence.columns, len(sentence))
        encoded = self.model.features.encode_hashes(hashes)
        if self.order == "first":
            arcs = arcs_under(self.model.features, self.model, encoded, every_arc(len(sentence)))
            return Problem(arcs, projective=self.projective, single_root=self.single_root)
        allowed = self.allowed(hashes)
        if not self.projective:
            from zerogap.dependency.decoding.agreement.head_scores import problem_of_heads  # most parsers do without

            return problem_of_heads(self.head_scores(encoded, allowed)[1])
        return problem_of(self.block(encoded, allowed), single_root=self.single_root)

    def check(self, sentence: Sentence) -> None:
        missing = [name for name in self.columns if name not in sentence.columns]
        if missing:
            raise InputError(
                f"{sentence.name or 'the sentence'} has the columns {', '.join(sentence.columns)}: the model reads"
                f" {', '.join(self.columns)}."
            )
        if len(sentence) > MOST_WORDS[self.order]:
            raise InputError(
                f"{sentence.name or 'the sentence'} has {len(sentence):,} words: a model of order {self.order!r} takes at most"
                f" {MOST_WORDS[self.order]:,}."
            )

    def save(self, path: str | Path) -> None:
        """Writes the parser into one file, which is there completely or not at all."""
        from zerogap.dependency.parser.files import write_parser

        write_parser(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Parser:
        """The parser in a file; FormatError says what is wrong with it."""
        from zerogap.dependency.parser.files import read_parser

        return read_parser(path)

    def compact(self, *, trees: int, labels: int, pruner: int, bits: int = 10) -> Parser:
        """The parser with fewer weights, the largest of each model, rounded to `bits` bits."""

        def cut(model: PartModel, most: int) -> PartModel:
            return part_model(model.features, model.keys, model.steps.astype(np.float64) * model.unit, most=most, bits=bits)

        labeller = None if self.labeller is None else Labeller(self.labeller.sets, cut(self.labeller.model, labels))
        smaller = None if self.pruner is None else cut(self.pruner, pruner)
        return replace(self, model=cut(self.model, trees), pruner=smaller, labeller=labeller, stored_bounds=None)

    def described(self, **about: Any) -> Parser:
        """The parser with more to tell about it."""
        return replace(self, about={**self.about, **about})


def sharing_tokens(parser: Parser) -> Parser:
    """The parser whose models read the same hashes of tokens, as one that is loaded; itself, if they do."""
    models = [parser.model, parser.pruner, parser.labeller.model if parser.labeller else None, *[one.model for one in parser.passes]]
    if all(model.features.tokens is parser.model.features.tokens for model in models if model):
        return parser
    tokens = TokenHashes(attributes_of(template for model in models if model for template in model.features.templates))

    def shared(model: PartModel) -> PartModel:
        return replace(model, features=PartFeatures(model.features.templates, tokens))

    model, labeller, bounds = shared(parser.model), parser.labeller, parser.stored_bounds
    passes = [replace(one, model=replace(one.model, features=PartFeatures(one.model.features.templates, tokens))) for one in parser.passes]
    return replace(
        parser,
        model=model,
        pruner=None if parser.pruner is None else shared(parser.pruner),
        labeller=None if labeller is None else Labeller(labeller.sets, shared(labeller.model)),
        stored_bounds=None if bounds is None else replace(bounds, model=model, found=[replace(one, model=model) for one in bounds.found]),
        passes=tuple(passes),
    )


def parts_of_three(allowed: Allowed) -> int:
    """About how many grand-siblings there are."""
    return int(candidates_of(allowed, grand=True).score_start[-1]) // 2


def problem_of(block: Block, *, single_root: bool) -> Problem:
    """All that a block scores, as parts: stops, siblings of the root, and grand-siblings; or siblings, if there is one context each.

    A model scores a side without modifiers by which side it is, a problem does not. So that score is given to every arc into the word,
    and taken back where the side has a first modifier.
    """
    c = block.candidates
    n = c.n_words
    places = np.repeat(np.arange(2 * n + 2), np.diff(c.modifier_start))
    allowed = np.zeros((n + 1, n + 1), dtype=np.bool_)
    allowed[places >> 1, c.modifiers] = True
    arcs = np.where(allowed, 0.0, -np.inf)
    rows: dict[str, list[Any]] = {"siblings": [], "grandsiblings": [], "stops": []}
    for place in range(1, 2 * n + 2):
        h = place >> 1
        modifiers = c.modifiers[c.modifier_start[place] : c.modifier_start[place + 1]]
        q = len(modifiers)
        before = np.concatenate([[h], modifiers])
        stops = block.stops[c.stop_start[place] : c.stop_start[place] + q + 1].copy()
        empty = 0.0
        if h > 0:
            empty, stops[0] = stops[0], 0.0
            arcs[:, h] += empty
        rows["stops"].append((np.stack([np.full(q + 1, h), before]), stops))
        if q == 0:
            continue
        scores = block.scores[c.score_start[place] : c.score_start[place + 1]].reshape(-1, q + 1, q).copy()
        scores[:, 0] -= empty
        p, j = np.nonzero(np.arange(q + 1)[:, None] <= np.arange(q)[None, :])
        if h == 0 or not c.grand:
            rows["siblings"].append((np.stack([np.full(len(p), h), before[p], modifiers[j]]), scores[0, p, j]))
            continue
        for k, g in enumerate(np.flatnonzero(allowed[:, h])):
            possible = np.flatnonzero(scores[k, p, j] > -np.inf)  # -inf: the head's head lies between head and modifier
            s, m = before[p[possible]], modifiers[j[possible]]
            rows["grandsiblings"].append((np.stack([np.full(len(s), g), np.full(len(s), h), s, m]), scores[k, p, j][possible]))
    parts: dict[str, Any] = {}
    for name, found in rows.items():
        if found:
            index = np.concatenate([i for i, _ in found], axis=1).T
            values = np.concatenate([v for _, v in found])
            first = np.unique(index, axis=0, return_index=True)[1]  # both sides of a word have a stop without modifiers, of 0
            parts[name] = Sparse(index[first], values[first])
    return Problem(arcs, projective=True, single_root=single_root, **parts)
