"""Upper bounds on the scores of the larger parts of a sentence, for a small share of what it takes to score them.

Riedel et al. 2012, section 4.3: what is known of two tokens of a part bounds the scores of all parts that have them,

    over_grandparents[p, c] >= max_g grandparents[g, p, c]        over_modifiers[g, p] >= max_c grandparents[g, p, c]

as the sum over templates of the largest weight that a feature can have if the third token may be anything (see `bounds_offline`). A bound
costs as much as one part, and there are fewer by a factor of the number of words. That a modifier is the first of its side is no unknown
token, so such parts are scored, not bounded.

Parts are those of `lazy_problem`: arcs score by themselves, and a first modifier takes back what its side would score without any.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from zerogap.dependency.parser.parser import GRAND, Parser
from zerogap.dependency.scoring.bounds_offline import NO_GRAND, NO_GRAND_SIB, NO_MOD, NO_SIB, NO_SIB_MOD, missing_codes
from zerogap.dependency.scoring.sentence import Allowed
from zerogap.dependency.scoring.single_parts import KIND_OF, SentenceParts, sentence_parts, side_of, turn_of
from zerogap.dependency.sentence import Sentence
from zerogap.errors import InputError, VerificationError
from zerogap.features.parts.bounds import Integers, PartTable, WeightBounds, part_sums, templates_of
from zerogap.features.parts.model import PartModel
from zerogap.features.parts.templates import DIRECTION
from zerogap.features.parts.templates import ROLES as ALL_ROLES
from zerogap.features.parts.weight_table import CLEAR, Keys
from zerogap.grid import Scores
from zerogap.problems.dependency.parts import Lazy, allowed_parts, meaning
from zerogap.problems.dependency.problem import Problem

ROLES = {"siblings": ("head", "sib", "mod"), "grandparents": ("grand", "head", "mod"), "grandsiblings": ("grand", "head", "sib", "mod")}
KNOWN: dict[str, dict[str, tuple[tuple[str, ...], int]]] = {  # by which tokens bounds are indexed, and what is missing
    "siblings": {"over_siblings": (("head", "mod"), NO_SIB), "over_modifiers": (("head", "sib"), NO_MOD)},
    "grandparents": {"over_grandparents": (("head", "mod"), NO_GRAND), "over_modifiers": (("grand", "head"), NO_MOD)},
    "grandsiblings": {
        "over_pairs": (("grand", "head"), NO_SIB_MOD),
        "over_contexts": (("head", "mod"), NO_GRAND_SIB),
        "over_grandparents": (("head", "sib", "mod"), NO_GRAND),
        "over_siblings": (("grand", "head", "mod"), NO_SIB),
    },
}
MOST_WORDS = 400  # of a sentence whose bounds are wanted for triples of tokens: more would take more than 1 GB


@dataclass(frozen=True, slots=True, eq=False)
class GrandparentBounds:
    """Squares, (n + 1, n + 1), -inf where an arc is not allowed or no part has it."""

    over_grandparents: Scores  # [p, c]
    over_modifiers: Scores  # [g, p]


@dataclass(frozen=True, slots=True, eq=False)
class SiblingBounds:
    over_siblings: Scores  # [h, m]: for every s, and for s = h, which is none
    over_modifiers: Scores  # [h, s]


@dataclass(frozen=True, slots=True, eq=False)
class GrandsiblingBounds:
    """Bounds for two tokens that are known; for three, (n + 1, n + 1, n + 1), if they were asked for."""

    over_pairs: Scores  # [g, h], over s and m
    over_contexts: Scores  # [h, m], over g and s
    over_grandparents: Scores | None  # [h, s, m]
    over_siblings: Scores | None  # [g, h, m]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreBounds:
    """Of each kind of parts, no score is larger than any of its bounds; None if the model has no such parts."""

    siblings: SiblingBounds | None
    grandparents: GrandparentBounds | None
    grandsiblings: GrandsiblingBounds | None

    @property
    def by_name(self) -> Mapping[str, SiblingBounds | GrandparentBounds]:
        """What `price_and_cut` takes."""
        found = {"siblings": self.siblings, "grandparents": self.grandparents}
        return {name: bounds for name, bounds in found.items() if bounds is not None}


def bounds_or_error(parser: Parser) -> WeightBounds:
    if parser.bounds is None:
        raise InputError(
            "the parser has no bounds: expected one that was trained with them (zerogap train dependency ... --bounds), or"
            " compute_bounds(parser, sentences), with the sentences that it was trained on."
        )
    return parser.bounds


def score_bounds(parser: Parser, sentence: Sentence, *, allowed: Allowed | None = None, triples: bool = False) -> ScoreBounds:
    """Bounds for the parts of allowed arcs, which are those that the pruner leaves unless they are given.

    With `triples`, grand-siblings are also bounded by three of their tokens. InputError if the parser has no bounds.
    """
    bounds_or_error(parser)
    return bounds_of_parts(parser, sentence_parts(parser, sentence, allowed), triples=triples)


def bounds_of_parts(parser: Parser, parts: SentenceParts, *, triples: bool = False) -> ScoreBounds:
    """The same for a sentence whose features were read."""
    if triples and parts.n_words > MOST_WORDS:
        raise InputError(f"the sentence has {parts.n_words} words: bounds for triples of tokens are computed for {MOST_WORDS} or less.")
    looks = Looks(parts, bounds_or_error(parser).part_table(), missing_codes(parser.model.features))
    grand = parser.order in GRAND
    return ScoreBounds(
        looks.siblings() if parts.has("siblings") else None,
        looks.grandparents() if grand and parts.has("grandparents") else None,
        looks.grandsiblings(triples) if grand and parts.has("grandsiblings") else None,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Looks:
    """Looks for all bounds of a sentence, array by array."""

    parts: SentenceParts
    table: PartTable
    missing: Keys  # (what is missing, templates)
    heads: Integers = field(init=False)  # of allowed arcs
    modifiers: Integers = field(init=False)
    is_first: Allowed = field(init=False)  # whether no allowed modifier is before the modifier of an arc

    def __post_init__(self) -> None:
        allowed = self.parts.allowed
        heads, modifiers = np.nonzero(allowed)
        upto = np.cumsum(allowed, axis=1)  # how many modifiers a head may have up to a word, that word among them
        first = upto[heads, modifiers] == upto[heads, heads] + side_of(heads, modifiers)
        for name, value in (("heads", heads), ("modifiers", modifiers), ("is_first", first)):
            object.__setattr__(self, name, value)

    def look(self, templates: Integers, missing: int, direction: Integers, **tokens: Integers) -> Scores:
        """Sums of the bounds of templates for parts of which these tokens are known."""
        parts = self.parts
        sums = part_sums(parts.features, parts.partial, self.table, templates, tokens, [direction], missing=self.missing[missing])
        return sums.astype(np.float64) * parts.unit

    def templates(self, name: str) -> Integers:
        return templates_of(self.parts.features, KIND_OF[name])

    def square(self) -> Scores:
        return np.full(self.parts.allowed.shape, -np.inf)

    def siblings(self) -> SiblingBounds:
        h, m, n = self.heads, self.modifiers, self.parts.n_words
        side, of_kind = side_of(h, m), self.templates("siblings")
        over_siblings, over_modifiers = self.square(), self.square()
        over_siblings[h, m] = self.parts.scores("siblings", h, h, m)
        later = np.flatnonzero(~self.is_first)
        bounds = self.look(of_kind, NO_SIB, side[later], head=h[later], mod=m[later])
        over_siblings[h[later], m[later]] = np.maximum(over_siblings[h[later], m[later]], bounds)
        over_modifiers[h, m] = self.look(of_kind, NO_MOD, side, head=h, sib=m)  # m as the one before
        first = np.flatnonzero(self.is_first)
        bounds = self.look(of_kind, NO_MOD, side[first], head=h[first], sib=np.full(len(first), n + 1))
        np.maximum.at(over_modifiers, (h[first], h[first]), bounds - self.parts.alone[h[first], side[first]])
        return SiblingBounds(over_siblings, over_modifiers)

    def grandparents(self) -> GrandparentBounds:
        h, m = self.heads, self.modifiers
        over_grandparents, over_modifiers = self.square(), self.square()
        of_kind = self.templates("grandparents")
        has_head = np.flatnonzero(h > 0)
        p, c = h[has_head], m[has_head]
        over_grandparents[p, c] = self.look(of_kind, NO_GRAND, side_of(p, c), head=p, mod=c)
        over_modifiers[h, m] = self.look(of_kind, NO_MOD, side_of(h, m), grand=h, head=m)
        return GrandparentBounds(over_grandparents, over_modifiers)

    def grandsiblings(self, triples: bool) -> GrandsiblingBounds:
        h, m, n = self.heads, self.modifiers, self.parts.n_words
        over_pairs, over_contexts = self.square(), self.square()
        of_kind = self.templates("grandsiblings")
        over_pairs[h, m] = self.look(of_kind, NO_SIB_MOD, side_of(h, m), grand=h, head=m)
        has_head = np.flatnonzero(h > 0)
        p, c = h[has_head], m[has_head]
        over_contexts[p, c] = self.look(of_kind, NO_GRAND_SIB, side_of(p, c), head=p, mod=c)
        if not triples:
            return GrandsiblingBounds(over_pairs, over_contexts, None, None)
        over_grandparents, over_siblings = np.full((n + 1,) * 3, -np.inf), np.full((n + 1,) * 3, -np.inf)
        allowed = self.parts.allowed
        h, s, m = np.nonzero(meaning("siblings", n) & allowed_parts("siblings", allowed) & (np.arange(n + 1) > 0)[:, None, None])
        before = np.where(s == h, n + 1, s)
        over_grandparents[h, s, m] = self.look(of_kind, NO_GRAND, side_of(h, m), head=h, sib=before, mod=m)
        g, h, m = np.nonzero(meaning("grandparents", n) & allowed_parts("grandparents", allowed))
        over_siblings[g, h, m] = self.parts.scores("grandsiblings", g, h, h, m)
        is_first = np.zeros(allowed.shape, dtype=np.bool_)
        is_first[self.heads, self.modifiers] = self.is_first
        later = np.flatnonzero(~is_first[h, m])
        g, h, m = g[later], h[later], m[later]
        bounds = self.look(of_kind, NO_SIB, turn_of(g, h, m), grand=g, head=h, mod=m)
        over_siblings[g, h, m] = np.maximum(over_siblings[g, h, m], bounds)
        return GrandsiblingBounds(over_pairs, over_contexts, over_grandparents, over_siblings)


def lazy_problem(parser: Parser, sentence: Sentence, *, allowed: Allowed | None = None) -> tuple[Problem, ScoreBounds]:
    """The sentence as a decoding problem whose larger parts are scored when a decoder asks for them, and bounds on their scores.

    It scores all trees as `parser.problem` does. InputError if the parser has no bounds.
    """
    bounds = bounds_or_error(parser)
    parts = sentence_parts(parser, sentence, allowed)
    given = bounds_of_parts(parser, parts)
    named: dict[str, object] = {}
    for name in ("siblings", "grandparents", "grandsiblings"):
        if getattr(given, name) is not None:
            most = bounds.largest[KIND_OF[name]] + (np.abs(parts.alone).max() if name == "siblings" else 0.0)
            named[name] = Lazy(partial(parts.scores, name), float(most))
    if parts.has("stops"):
        named["stops"] = parts.stops()
    return Problem(parts.arcs, projective=parser.projective, single_root=parser.single_root, **named), given  # type: ignore[arg-type]


def check_bounds(parser: Parser, sentence: Sentence, *, allowed: Allowed | None = None) -> int:
    """Scores all parts of allowed arcs and holds them against all bounds; returns how many parts there are.

    VerificationError names the first part that scores more than a bound, and the template. Weights and bounds of templates are looked up
    again, in the sorted keys and not in the tables of kernels. For sentences, not for books: all parts are in memory at once.
    """
    bounds = bounds_or_error(parser)
    parts = sentence_parts(parser, sentence, allowed)
    found = bounds_of_parts(parser, parts, triples=True)
    n_parts = 0
    for name, known in KNOWN.items():
        given = getattr(found, name)
        if given is None:
            continue
        index = np.nonzero(meaning(name, parts.n_words) & allowed_parts(name, parts.allowed))
        n_parts += len(index[0])
        scores = checked_scores(name, parts, bounds, index)
        for attribute, (roles, _) in known.items():
            array = getattr(given, attribute)
            at = tuple(index[ROLES[name].index(role)] for role in roles)
            over = np.flatnonzero(scores > array[at])
            if over.size:
                i = int(over[0])
                raise VerificationError(f"{part_text(name, index, i)} scores {scores[i]}, but {attribute} is {array[at][i]} there.")
    return n_parts


def checked_scores(name: str, parts: SentenceParts, bounds: WeightBounds, index: tuple[Integers, ...]) -> Scores:
    """The scores of parts; VerificationError if a template gives one of them more than a bound of the template."""
    model = bounds.model
    features = model.features
    tokens, values = parts.places(name, *index)
    is_later = tokens["sib"] <= parts.n_words if "sib" in tokens else np.ones(len(index[0]), dtype=np.bool_)
    total = np.zeros(len(index[0]), dtype=np.int64)
    codes = missing_codes(features)

    def sums(t: int, roles: Iterable[str]) -> Integers:
        known = [
            parts.partial[ALL_ROLES.index(role), tokens[role], t] for role in roles if ALL_ROLES.index(role) < features.reading.n_roles
        ]
        return np.sum([np.zeros(len(total), dtype=np.int64), *known], axis=0)

    def direction(roles: Collection[str]) -> Integers:
        """Of the arcs between tokens that are known; a sibling is on the side of the modifier."""
        if "grand" not in roles:
            return side_of(tokens["head"], tokens["mod"])
        return values[DIRECTION] if "mod" in roles else side_of(tokens["grand"], tokens["head"])

    for t in templates_of(features, KIND_OF[name]).tolist():
        relation = int(features.plan.relation[t])
        weights = looked_up(model, sums(t, tokens) + features.plan.codes[relation, values[relation]], features.plan.low_bytes[t])
        total += weights
        for attribute, (roles, missing) in KNOWN[name].items():
            code = features.plan.codes[DIRECTION, direction(roles)]
            most = looked_up(bounds.table, sums(t, roles) + code + codes[missing, t], features.plan.low_bytes[t])
            most = np.maximum(most, bounds.floors[features.plan.low_bytes[t] - 1])
            over = np.flatnonzero((weights > most) & (is_later | (missing != NO_SIB)))  # what comes first is scored
            if over.size:
                i, template = int(over[0]), features.templates[features.plan.low_bytes[t] - 1]
                raise VerificationError(
                    f"{part_text(name, index, i)}: the template '{template.kind}: {template.text}' gives it {weights[i] * model.unit},"
                    f" but at most {most[i] * model.unit} in {attribute}."
                )
    scores: Scores = total.astype(np.float64) * model.unit
    if name == "siblings":
        scores -= np.where(is_later, 0.0, parts.alone[index[0], side_of(index[0], index[2])])
    return scores


def looked_up(model: PartModel, totals: Integers, low_byte: int) -> Integers:
    """The weights of keys in units, by binary search."""
    keys = (totals & CLEAR) | low_byte
    if not len(model.keys):
        return np.zeros(len(keys), dtype=np.int64)
    place = np.minimum(np.searchsorted(model.keys, keys), len(model.keys) - 1)
    return np.where(model.keys[place] == keys, model.steps[place], 0).astype(np.int64)


def part_text(name: str, index: tuple[Integers, ...], i: int) -> str:
    return f"{name}[{', '.join(str(int(numbers[i])) for numbers in index)}]"
