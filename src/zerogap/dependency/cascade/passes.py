"""The passes of a cascade over dependency trees: which arcs a coarse model leaves to the next one (Rush 2014, sections 8.3.2 and 8.5.1).

    dictionary  arcs no longer than any that training saw between two such tags
    rows        a word chooses among all its arcs by what reads one word, or two tags: see `dependency.cascade.rows`
    vine        max-marginals of short arcs, and of outer ones, which stand for all long arcs into a word from one side
    first       max-marginals of arcs under a first-order model
    second      the same with adjacent siblings; a higher-order part is left if its arcs are
    short       vine scores without any tree: a word chooses among its short and outer arcs      (baselines of section 8.5.1)
    local       first-order scores without any tree
    last        no pass: what chooses among the trees that the passes leave, instead of the parser's own model

A pass may be stacked on the one before it: then the scores of its arcs are added to those of that one, so that it need not read again what
that one has read.

This is the definition, pass by pass. `cascade_kernel` does all of them for many sentences in one call.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zerogap.dependency.candidate_arcs import candidates_of
from zerogap.dependency.cascade.rows import RowModel, score_rows
from zerogap.dependency.scoring.sentence import Allowed, Weights, arcs_under, block_under
from zerogap.errors import InputError
from zerogap.features.parts.keys import Encoded, PartFeatures
from zerogap.features.parts.model import PartModel
from zerogap.features.parts.weight_table import Keys
from zerogap.grid import Scores
from zerogap.oracles.trees.eisner import eisner_kernel
from zerogap.oracles.trees.projective_marginals import projective_max_marginals
from zerogap.relax.pruning import ALL, MARGIN, Rule

DICTIONARY, ROWS, VINE, FIRST, SECOND, LAST = "dictionary", "rows", "vine", "first", "second", "last"
SHORT, LOCAL = "short", "local"
KINDS = (DICTIONARY, ROWS, VINE, FIRST, SECOND, LAST, SHORT, LOCAL)
BANDED = (VINE, SHORT)
OF_ARCS = (ROWS, FIRST, SECOND)  # passes that others may be stacked on


class Marginals(NamedTuple):
    """A best score, and what every index of a pass is worth: arcs as (n + 1, n + 1), or near and far ones in one row."""

    best: float
    values: Scores


@dataclass(frozen=True, slots=True, eq=False)
class Pass:
    """What is left is what reaches the threshold of the rule; a dictionary has none. `band` is that of vine and short, `stacked` how much
    the scores of the pass before it count for its own arcs: 0, or a power of two, so that all is exact."""

    kind: str
    model: PartModel | RowModel
    rule: Rule = ALL
    band: int = 0
    stacked: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind is {self.kind!r}: expected one of {', '.join(KINDS)}.")
        self.rule.checked()
        check_band(self.band)
        if isinstance(self.model, RowModel) != (self.kind == ROWS):
            raise InputError(f"a pass of kind {self.kind!r} has a {type(self.model).__name__}: expected rows of weights for rows alone.")
        if self.kind != ROWS:
            check_features(self.kind, self.model.features)
        elif self.rule.name != MARGIN:
            raise InputError(f"a pass of rows has the rule {self.rule.name!r}: expected {MARGIN!r}.")
        check_stacked(self.kind, self.stacked)

    @property
    def parts(self) -> PartModel:
        """The model of a pass that is not one of rows."""
        assert isinstance(self.model, PartModel)
        return self.model

    def arcs(self, hashes: Keys, allowed: Allowed, before: Scores | None = None) -> Scores:
        """The scores of arcs that are allowed, of a pass that others may be stacked on; `before` are those of the one that it is on."""
        features = self.model.features
        encoded = features.encode_hashes(hashes)
        if isinstance(self.model, RowModel):
            scores = np.empty(allowed.shape)
            score_rows(encoded, features.plan, self.model.tables, scores)
            return np.where(allowed, scores, -np.inf)
        return arcs_on(arcs_under(features, self.model, encoded, allowed), before, self.stacked)

    def narrowed(self, hashes: Keys, allowed: Allowed, *, single_root: bool = True, before: Scores | None = None) -> Allowed:
        """The arcs that are left of those that are allowed; some tree is among them, if that of every word under the one before it was."""
        if self.kind == DICTIONARY:
            return within_lengths(self.parts, self.model.features.encode_hashes(hashes), allowed)
        best, values = self.marginals(hashes, allowed, single_root=single_root, before=before)
        found = mapped(self.rule.kept(best, values), allowed, self.band if self.kind in BANDED else None)
        return found if has_tree(found, single_root=single_root) else found | (allowed & chain(len(allowed)))

    def marginals(self, hashes: Keys, allowed: Allowed, *, single_root: bool, before: Scores | None = None) -> Marginals:
        if self.kind == ROWS:
            return choices(self.arcs(hashes, allowed), allowed)
        encoded = self.model.features.encode_hashes(hashes)
        scaled = None if before is None or not self.stacked else arcs_on(np.zeros(allowed.shape), before, self.stacked)
        return marginals_of(
            self.kind, self.model.features, self.parts, encoded, allowed, self.band, single_root=single_root, before=scaled
        )  # fmt: skip


def arcs_on(scores: Scores, before: Scores | None, stacked: float) -> Scores:
    """Scores of arcs, -inf where there are none, on top of those of the pass before."""
    return (
        scores
        if before is None or not stacked
        else np.where(scores > -np.inf, scores + stacked * np.where(scores > -np.inf, before, 0.0), scores)
    )


def run_passes(passes: Sequence[Pass], hashes: Keys, allowed: Allowed, *, single_root: bool = True) -> tuple[Allowed, Scores | None]:
    """What passes leave, one after the other, and the arcs' scores that the next one may be stacked on."""
    before: Scores | None = None
    for one in passes:
        left = one.narrowed(hashes, allowed, single_root=single_root, before=before)
        before = one.arcs(hashes, allowed, before) if one.kind in OF_ARCS else before
        allowed = left
    return allowed, before


def has_tree(allowed: Allowed, *, single_root: bool) -> bool:
    """Whether some projective tree has allowed arcs alone."""
    heads = np.empty(len(allowed) - 1, dtype=np.int64)
    return bool(eisner_kernel(np.where(allowed, 0.0, -np.inf), 1 if single_root else 0, heads) > -np.inf)


def chain(size: int) -> Allowed:
    """The tree in which every word is under the one before it. A best vine need not leave any other: outer arcs say only a side."""
    return np.eye(size, k=1, dtype=np.bool_)


def check_band(band: int) -> None:
    if isinstance(band, bool) or not isinstance(band, int) or band < 0:
        raise InputError(f"band is {band!r}: expected a width of 0 or more.")


def check_stacked(kind: str, stacked: float) -> None:
    is_power = isinstance(stacked, float) and (stacked == 0.0 or (2.0**-20 <= stacked <= 2.0**20 and math.frexp(stacked)[0] == 0.5))
    if not is_power or (stacked and kind not in (FIRST, SECOND, LAST)):
        raise InputError(f"stacked is {stacked!r} for a pass of kind {kind!r}: expected 0, or a power of two for first, second and last.")


def check_features(kind: str, features: PartFeatures) -> None:
    """Raises InputError unless templates are of kinds that the pass scores."""
    accepted = {
        DICTIONARY: ("arc",), VINE: ("arc", "outer"), SHORT: ("arc", "outer"), FIRST: ("arc", "between"), LOCAL: ("arc", "between"),
        SECOND: ("arc", "between", "sibling"), LAST: ("arc", "between", "sibling", "stop", "grandparent", "grandsibling"),
    }[kind]  # fmt: skip
    wrong = next((template for template in features.templates if template.kind not in accepted), None)
    if wrong is not None:
        raise InputError(f"a pass of kind {kind!r} has the template '{wrong.kind}: {wrong.text}': expected {', '.join(accepted)}.")


def marginals_of(
    kind: str,
    features: PartFeatures,
    weights: Weights,
    encoded: Encoded,
    allowed: Allowed,
    band: int,
    *,
    single_root: bool,
    before: Scores | None = None,
) -> Marginals:
    """What the indices of a pass are worth under weights; arcs score `before` more."""
    one, n = 1 if single_root else 0, len(allowed) - 1
    if kind in BANDED:
        near, far = banded_scores(features, weights, encoded, allowed, band)
        if kind == SHORT:
            return best_of_words(near, far)
        from zerogap.oracles.vine.oracle import vine_max_marginals

        worth = np.empty_like(near), np.empty_like(far)
        best = vine_max_marginals(near, far, one, *worth)
        return Marginals(float(best), np.concatenate([values.ravel() for values in worth]))
    arcs = arcs_on(arcs_under(features, weights, encoded, allowed), before, 1.0)
    if kind == LOCAL:
        return choices(arcs, allowed)
    if kind == FIRST:
        values = np.empty_like(arcs)
        best = projective_max_marginals(arcs, one, values)
        values[~allowed] = -np.inf
        return Marginals(float(best), values)
    from zerogap.oracles.trees.grandsibling_marginals import max_marginals_of_candidates

    candidates = candidates_of(allowed, grand=False)
    block = block_under(features, weights, encoded, arcs, candidates)
    best, of_arcs = max_marginals_of_candidates(candidates, block.scores, block.stops, single_root=single_root)
    values = np.full((n + 1, n + 1), -np.inf)
    values[candidates.heads, candidates.modifiers] = of_arcs
    return Marginals(best, values)


def choices(arcs: Scores, allowed: Allowed) -> Marginals:
    """Without trees: how much less than the best one of its word every arc scores."""
    return Marginals(0.0, np.where(allowed, arcs - np.append(0.0, arcs[:, 1:].max(axis=0)), -np.inf))


def banded_scores(features: PartFeatures, weights: Weights, encoded: Encoded, allowed: Allowed, band: int) -> tuple[Scores, Scores]:
    """near and far as zerogap.oracles.vine.oracle reads them, -inf where no arc is allowed that they stand for."""
    from zerogap.dependency.cascade.vine_scoring import score_vine

    n = len(allowed) - 1
    near, far = np.empty((2, n + 1, band + 1)), np.empty((3, n + 1))
    score_vine(encoded, features.plan, weights.table, near, far)
    flat = np.concatenate([near.ravel(), far.ravel()])
    places = places_of(n, band)
    used = np.zeros(len(flat), dtype=np.bool_)
    used[places[allowed]] = True
    flat[~used] = -np.inf
    return flat[: near.size].reshape(near.shape), flat[near.size :].reshape(far.shape)


def places_of(n: int, band: int) -> Keys:
    """(n + 1, n + 1): where near (2, n + 1, b + 1) and far (3, n + 1), put in one row, have the index of every arc (section 8.3.3)."""
    heads, modifiers = np.indices((n + 1, n + 1))
    distance, size = np.abs(heads - modifiers), 2 * (n + 1) * (band + 1)
    is_left = modifiers < heads
    near = (is_left * (n + 1) + heads) * (band + 1) + np.minimum(distance, band)
    far = size + (1 + is_left) * (n + 1) + modifiers
    return np.where(heads == 0, size + modifiers, np.where(distance <= band, near, far))


def best_of_words(near: Scores, far: Scores) -> Marginals:
    """Without trees: how much less than its best one every index of a word scores."""
    n, band = near.shape[1] - 1, near.shape[2] - 1
    flat = np.concatenate([near.ravel(), far.ravel()])
    heads, modifiers = np.indices((n + 1, n + 1))
    proper = (heads != modifiers) & (modifiers > 0)
    places, words = places_of(n, band)[proper], modifiers[proper]
    most = np.full(n + 1, -np.inf)
    np.maximum.at(most, words, flat[places])
    values = np.full(len(flat), -np.inf)
    values[places] = flat[places] - most[words]
    return Marginals(0.0, values)


def mapped(keep: Allowed, allowed: Allowed, band: int | None) -> Allowed:
    """The allowed arcs whose indices are kept; those of a band stand for several."""
    if band is not None:
        keep = keep[places_of(len(allowed) - 1, band)]
    return allowed & keep


def within_lengths(model: PartModel, encoded: Encoded, allowed: Allowed) -> Allowed:
    """Arcs that are no longer than the weight of their features says: the largest length of training. A tree is left: arcs between
    neighbours are, and those of the root."""
    n = len(allowed) - 1
    heads, modifiers = np.indices((n + 1, n + 1))
    lengths = np.abs(heads - modifiers)
    longest = arcs_under(model.features, model, encoded, allowed)
    return allowed & ((lengths <= longest) | (lengths == 1) | (heads == 0))
