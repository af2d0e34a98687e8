"""The passes of a cascade over dependency trees: which arcs a coarse model leaves to the next one (Rush 2014, sections 8.3.2 and 8.5.1).

    dictionary  arcs no longer than any that training saw between two such tags
    vine        max-marginals of short arcs, and of outer ones, which stand for all long arcs into a word from one side
    first       max-marginals of arcs under a first-order model
    second      the same with adjacent siblings; a higher-order part is left if its arcs are
    short       vine scores without any tree: a word chooses among its short and outer arcs      (baselines of section 8.5.1)
    local       first-order scores without any tree

This is the definition, pass by pass. `cascade_kernel` does all of them for many sentences in one call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zerogap.dependency.candidates import candidates_of
from zerogap.dependency.scored import Allowed, Weights, arcs_under, block_under
from zerogap.dependency.vine_scoring import score_vine
from zerogap.errors import InputError
from zerogap.features.part_keys import Encoded, PartFeatures
from zerogap.features.part_model import PartModel
from zerogap.features.weight_table import Keys
from zerogap.grid import Scores
from zerogap.oracles.eisner import eisner_kernel
from zerogap.oracles.grandsibling_marginals import max_marginals_of_candidates
from zerogap.oracles.tree_marginals import projective_max_marginals
from zerogap.oracles.vine import vine_max_marginals
from zerogap.relax.cascade import ALL, Rule

DICTIONARY, VINE, FIRST, SECOND, SHORT, LOCAL = "dictionary", "vine", "first", "second", "short", "local"
KINDS = (DICTIONARY, VINE, FIRST, SECOND, SHORT, LOCAL)
BANDED = (VINE, SHORT)


class Marginals(NamedTuple):
    """A best score, and what every index of a pass is worth: arcs as (n + 1, n + 1), or near and far ones in one row."""

    best: float
    values: Scores


@dataclass(frozen=True, slots=True, eq=False)
class Pass:
    """What is left is what reaches the threshold of the rule; a dictionary has none. `band` is that of vine and short."""

    kind: str
    model: PartModel
    rule: Rule = ALL
    band: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind is {self.kind!r}: expected one of {', '.join(KINDS)}.")
        self.rule.checked()
        check_band(self.band)
        check_features(self.kind, self.model.features)

    def narrowed(self, hashes: Keys, allowed: Allowed, *, single_root: bool = True) -> Allowed:
        """The arcs that are left of those that are allowed; some tree is among them, if that of every word under the one before it was."""
        features, encoded = self.model.features, self.model.features.encode_hashes(hashes)
        if self.kind == DICTIONARY:
            return within_lengths(self.model, encoded, allowed)
        best, values = marginals_of(self.kind, features, self.model, encoded, allowed, self.band, single_root=single_root)
        found = mapped(self.rule.kept(best, values), allowed, self.band if self.kind in BANDED else None)
        return found if has_tree(found, single_root=single_root) else found | (allowed & chain(len(allowed)))


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


def check_features(kind: str, features: PartFeatures) -> None:
    """Raises InputError unless templates are of kinds that the pass scores."""
    accepted = {
        DICTIONARY: ("arc",), VINE: ("arc", "outer"), SHORT: ("arc", "outer"), FIRST: ("arc", "between"), LOCAL: ("arc", "between"),
        SECOND: ("arc", "between", "sibling"),
    }[kind]  # fmt: skip
    wrong = next((template for template in features.templates if template.kind not in accepted), None)
    if wrong is not None:
        raise InputError(f"a pass of kind {kind!r} has the template '{wrong.kind}: {wrong.text}': expected {', '.join(accepted)}.")


def marginals_of(
    kind: str, features: PartFeatures, weights: Weights, encoded: Encoded, allowed: Allowed, band: int, *, single_root: bool
) -> Marginals:
    """What the indices of a pass are worth under weights."""
    one, n = 1 if single_root else 0, len(allowed) - 1
    if kind in BANDED:
        near, far = banded_scores(features, weights, encoded, allowed, band)
        if kind == SHORT:
            return best_of_words(near, far)
        worth = np.empty_like(near), np.empty_like(far)
        best = vine_max_marginals(near, far, one, *worth)
        return Marginals(float(best), np.concatenate([values.ravel() for values in worth]))
    arcs = arcs_under(features, weights, encoded, allowed)
    if kind == LOCAL:
        return Marginals(0.0, np.where(allowed, arcs - np.append(0.0, arcs[:, 1:].max(axis=0)), -np.inf))
    if kind == FIRST:
        values = np.empty_like(arcs)
        best = projective_max_marginals(arcs, one, values)
        values[~allowed] = -np.inf
        return Marginals(float(best), values)
    candidates = candidates_of(allowed, grand=False)
    block = block_under(features, weights, encoded, arcs, candidates)
    best, of_arcs = max_marginals_of_candidates(candidates, block.scores, block.stops, single_root=single_root)
    values = np.full((n + 1, n + 1), -np.inf)
    values[candidates.heads, candidates.modifiers] = of_arcs
    return Marginals(best, values)


def banded_scores(features: PartFeatures, weights: Weights, encoded: Encoded, allowed: Allowed, band: int) -> tuple[Scores, Scores]:
    """near and far as zerogap.oracles.vine reads them, -inf where no arc is allowed that they stand for."""
    n = len(allowed) - 1
    near, far = np.empty((2, n + 1, band + 1)), np.empty((3, n + 1))
    score_vine(encoded[0], *features.plan, encoded[1], *weights.table, near, far)
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
