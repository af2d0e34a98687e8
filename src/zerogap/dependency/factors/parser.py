"""A trained projective parser with factors: a backbone that dynamic programming decodes, and sets of arcs beside it (Qian & Liu 2013).

The backbone is a `Parser` of order first, sibling or grandsibling; the templates of factors stand in its model, after its own. For
every word, the `most_heads` likeliest heads under the pruner are candidates (section 4.4), and those of a best tree; None prunes
nothing. Weights are multiples of a power of two, and so are the scores of all trees: a bound is rounded down to such a multiple.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from zerogap.archive import HEADER, read_archive, write_archive
from zerogap.dependency.candidate_arcs import candidates_of
from zerogap.dependency.decoding.methods import decode
from zerogap.dependency.factors.families import FAMILIES, arcs_of, family_in
from zerogap.dependency.factors.matching import PatternSet
from zerogap.dependency.factors.patterns import parse_patterns
from zerogap.dependency.factors.scoring import factor_keys, factor_scores, family_scores
from zerogap.dependency.parser.files import parser_of
from zerogap.dependency.parser.parser import GRAND, Parser, problem_of
from zerogap.dependency.parser.pruner import MOST_SUMMED
from zerogap.dependency.scoring.sentence import Allowed, Block, Integers, Weights, arcs_under, block_under, every_arc
from zerogap.dependency.sentence import Sentence
from zerogap.errors import FormatError, InputError, UnknownMethod
from zerogap.features.parts.keys import PAD, Columns, Encoded, PartFeatures
from zerogap.features.parts.model import PartModel
from zerogap.features.parts.weight_table import Keys
from zerogap.grid import Scores, round_to_grid
from zerogap.kernels import boolean, float64, int64, kernel, readonly, writable
from zerogap.oracles.trees.best_heads import keep_best
from zerogap.oracles.trees.eisner import eisner_kernel
from zerogap.oracles.trees.projective_marginals import projective_marginals, projective_max_marginals
from zerogap.problems.dependency.factor import FactorArrays
from zerogap.problems.dependency.parts import parts_as_given
from zerogap.problems.dependency.problem import Heads, Problem, sibling_problem
from zerogap.proof.solution import Solution
from zerogap.relax.parallel import decode_each

FORMAT, VERSION = "zerogap-factor-model", 1
ORDERS = ("first", "sibling", "grandsibling")
TIME_LIMIT = 10.0  # seconds for a sentence
MOST_HEADS = 10


@dataclass(frozen=True, slots=True, eq=False)
class FactorParse:
    """A best tree of a sentence, its labels if the parser has a labeller, and the proof; `verify(parse.problem, parse.solution)`."""

    sentence: Sentence
    heads: Heads
    labels: tuple[str, ...] | None
    problem: Problem
    solution: Solution[Heads]

    @property
    def calls(self) -> int:
        """How often the dynamic program was run."""
        return len(self.solution.trace)


@dataclass(frozen=True, slots=True, eq=False)
class Factored:
    """What factors a model scores: families by name, and patterns."""

    families: tuple[str, ...] = ()
    patterns: PatternSet | None = None

    def __post_init__(self) -> None:
        for family in self.families:
            if family not in FAMILIES:
                raise UnknownMethod("family of factors", family, FAMILIES)

    def under(
        self, features: PartFeatures, weights: Weights, encoded: Encoded, columns: Columns, allowed: Allowed, unit: float, *,
        single_root: bool,
    ) -> FactorArrays:  # fmt: skip
        """The factors of a sentence that do not score 0."""
        found = [family_scores(features, weights, encoded, family, allowed, single_root=single_root) for family in self.families]
        if self.patterns is not None:
            listed, which = self.patterns.factors(columns, allowed)
            if len(listed):
                scores = factor_scores(features, weights, encoded, listed) + round_to_grid(self.patterns.weights(which), unit)
                used = np.flatnonzero(scores)
                found.append((*listed.arcs_where(used), scores[used]))
        nothing = np.zeros(1, dtype=np.int64)
        start = np.concatenate([nothing, *(sizes for sizes, _, _ in found)]).cumsum()
        arcs = np.concatenate([nothing[1:], *(arcs for _, arcs, _ in found)])
        return FactorArrays(len(allowed) - 1, start, arcs, np.concatenate([np.zeros(0), *(scores for _, _, scores in found)]))

    def keys(self, features: PartFeatures, encoded: Encoded, columns: Columns, heads: Integers, *, single_root: bool) -> Keys:
        """The keys of the features of all factors that hold in a tree."""
        chosen = arcs_of(heads)
        lists = [family_in(family, chosen, single_root=single_root) for family in self.families]
        if self.patterns is not None:
            lists.append(self.patterns.factors(columns, chosen)[0])
        return np.concatenate([np.zeros(0, dtype=np.int64), *(factor_keys(features, encoded, listed) for listed in lists)])


@dataclass(frozen=True, slots=True, eq=False)
class FactorParser:
    """`parser.model` has the templates of the factors too."""

    parser: Parser
    factored: Factored
    most_heads: int | None = MOST_HEADS
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_backbone(self.parser)
        check_most_heads(self.most_heads)

    @property
    def order(self) -> str:
        """What is scored, for people."""
        return f"{self.parser.order} with factors"

    @property
    def model(self) -> PartModel:
        return self.parser.model

    @property
    def columns(self) -> tuple[str, ...]:
        """Those that a sentence needs."""
        of_patterns = () if self.factored.patterns is None else self.factored.patterns.columns
        return tuple(dict.fromkeys((*self.parser.columns, *of_patterns)))

    def parse(self, sentence: Sentence, *, time_limit: float | None = TIME_LIMIT) -> FactorParse:
        """The best tree among the candidates, exactly; after `time_limit` seconds, the best one so far, with its gap."""
        problem = self.problem(sentence)
        solution = cast(Solution[Heads], decode(problem, time_limit=time_limit))  # there are no labels in the problem
        heads = () if solution.structure is None else tuple(solution.structure)
        labels = None
        if self.parser.labeller is not None:
            labels = self.parser.labeller.label(sentence.columns, np.array(heads, dtype=np.int64))
        return FactorParse(sentence, heads, labels, problem, solution)

    def parse_many(self, sentences: Sequence[Sentence], *, threads: int | None = None) -> list[FactorParse]:
        """Parses sentences on several threads, in order."""
        return decode_each(self.parse, sentences, threads)  # type: ignore[arg-type, return-value]

    def problem(self, sentence: Sentence) -> Problem:
        """The sentence as a decoding problem, without solving it."""
        self.check(sentence)
        model, n = self.parser.model, len(sentence)
        hashes = model.features.tokens.of(sentence.columns, n)
        encoded = model.features.encode_hashes(hashes)
        allowed = likeliest_heads(self.parser, hashes, self.most_heads)
        factors = self.factored.under(
            model.features, model, encoded, sentence.columns, allowed, model.unit, single_root=self.parser.single_root
        )
        arcs = arcs_under(model.features, model, encoded, allowed)
        return backbone_problem(
            self.parser.order, model.features, model, encoded, arcs, allowed, factors, single_root=self.parser.single_root,
            resolution=model.unit,
        )  # fmt: skip

    def check(self, sentence: Sentence) -> None:
        self.parser.check(sentence)
        patterns = self.factored.patterns
        if patterns is not None and not set(patterns.columns) <= sentence.columns.keys():
            raise InputError(
                f"{sentence.name or 'the sentence'} has the columns {', '.join(sentence.columns)}: the patterns read"
                f" {', '.join(patterns.columns)}."
            )

    def described(self, **about: Any) -> FactorParser:
        """The parser with more to tell about it."""
        return replace(self, about={**self.about, **about})

    def with_heads(self, most_heads: int | None) -> FactorParser:
        """The parser with another number of candidates for every word."""
        return replace(self, most_heads=most_heads)

    def save(self, path: str | Path) -> None:
        """Writes the parser into one file, which is there completely or not at all."""
        with tempfile.TemporaryDirectory() as folder:
            backbone = os.path.join(folder, "backbone.npz")
            self.parser.save(backbone)
            with np.load(backbone, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays.pop(HEADER).tobytes().decode())
        texts = None if self.factored.patterns is None else [pattern.text for pattern in self.factored.patterns.patterns]
        header |= {
            "format": FORMAT, "version": VERSION, "families": list(self.factored.families), "patterns": texts,
            "most_heads": self.most_heads, "about": self.about,
        }  # fmt: skip
        write_archive(path, header, arrays)

    @classmethod
    def load(cls, path: str | Path) -> FactorParser:
        """The parser in a file; FormatError says what is wrong with it."""
        header, arrays = read_archive(path, FORMAT, VERSION)
        parser = parser_of(header, arrays, str(path))
        try:
            texts = header["patterns"]
            patterns = None if texts is None else PatternSet(parse_patterns("\n".join(texts), f"{path}: patterns"))
            about = header.get("about", {})
            return cls(
                parser, Factored(tuple(header["families"]), patterns), header["most_heads"], about if isinstance(about, dict) else {}
            )
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"{path}: the header is damaged: {error}") from None


def check_backbone(parser: Parser) -> None:
    if not isinstance(parser, Parser) or not parser.projective or parser.order not in ORDERS:
        given = f"a parser of order {parser.order!r}, projective={parser.projective}" if isinstance(parser, Parser) else repr(parser)
        raise InputError(f"the backbone is {given}: expected a projective Parser of order {', '.join(ORDERS)}.")


def check_most_heads(most_heads: object) -> None:
    if most_heads is not None and (isinstance(most_heads, bool) or not isinstance(most_heads, int) or most_heads < 1):
        raise InputError(f"most_heads is {most_heads!r}: expected how many candidates a word has, 1 or more, or None for all.")


def likeliest_heads(parser: Parser, hashes: Keys, most_heads: int | None) -> Allowed:
    """The k likeliest heads of every word under the pruner, and those of its best tree; all without a pruner or a k."""
    n = len(hashes) - 2 - 4 * PAD
    allowed = every_arc(n)
    if most_heads is None or parser.pruner is None or n <= most_heads:
        return allowed
    features = parser.pruner.features
    scores = arcs_under(features, parser.pruner, features.encode_hashes(hashes), allowed)
    worth, heads, one = np.empty_like(scores), np.empty(n, dtype=np.int64), 1 if parser.single_root else 0
    (projective_marginals if n <= MOST_SUMMED else projective_max_marginals)(scores, one, worth)
    eisner_kernel(scores, one, heads)
    kept = np.empty_like(allowed)
    keep_best(worth, allowed, most_heads, kept)
    kept[heads, np.arange(1, n + 1)] = True
    return kept


def backbone_problem(
    order: str, features: PartFeatures, weights: Weights, encoded: Encoded, arcs: Scores, allowed: Allowed, factors: FactorArrays, *,
    single_root: bool, resolution: float | None,
) -> Problem:  # fmt: skip
    """The parts of the backbone under these weights, and factors. `arcs` are the scores of allowed arcs, -inf elsewhere."""
    if order == "first":
        return Problem(arcs, factors=factors, projective=True, single_root=single_root, resolution=resolution)
    block = block_under(features, weights, encoded, arcs, candidates_of(allowed, grand=order in GRAND))
    if order in GRAND:
        plain = problem_of(block, single_root=single_root)
        parts: dict[str, Any] = {name: parts_as_given(name, some, plain.arcs) for name, some in plain.parts.items()}
        return Problem(plain.arcs, factors=factors, projective=True, single_root=single_root, resolution=resolution, **parts)
    return sibling_problem(*dense_siblings(block, allowed), factors, single_root=single_root, resolution=resolution)


@kernel(
    int64(
        readonly(boolean, 2), *[readonly(int64, 1)] * 4, readonly(float64, 1), readonly(float64, 1),
        writable(float64, 2), writable(float64, 3), writable(float64, 2),
    )
)  # fmt: skip
def spread_out(allowed, modifier_start, modifiers, score_start, stop_start, scores, ends, arcs, siblings, stops):
    """out: arcs, siblings and stops, the last two given as 0. The candidates have one context; what the arc scores is with the sibling."""
    size = allowed.shape[0]
    for h in range(size):
        for m in range(size):
            # a word without modifiers on a side: the arc to it scores that, and the first modifier there takes it away
            empty = ends[stop_start[2 * m]] + ends[stop_start[2 * m + 1]] if m > 0 else 0.0
            arcs[h, m] = empty if allowed[h, m] else -np.inf
        for side in range(2):
            place = 2 * h + side
            first, block, last = modifier_start[place], score_start[place], stop_start[place]
            count = modifier_start[place + 1] - first
            empty = ends[last] if h > 0 else 0.0
            for j in range(count):
                m = modifiers[first + j]
                siblings[h, h, m] = scores[block + j] - empty
                for p in range(1, j + 1):
                    siblings[h, modifiers[first + p - 1], m] = scores[block + p * count + j]
                stops[h, m] = ends[last + 1 + j]
    stops[0, 0] = ends[stop_start[1]]  # without words
    return 0


def dense_siblings(block: Block, allowed: Allowed) -> tuple[Scores, Scores, Scores]:
    """Arcs, siblings and stops; see `model.problem_of` for the scores of sides without modifiers."""
    c, size = block.candidates, len(allowed)
    arcs, siblings, stops = np.empty((size, size)), np.zeros((size, size, size)), np.zeros((size, size))
    spread_out(allowed, c.modifier_start, c.modifiers, c.score_start, c.stop_start, block.scores, block.stops, arcs, siblings, stops)
    return arcs, siblings, stops
