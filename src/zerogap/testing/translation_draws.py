"""Small random translation problems, by phrases and by forests, and their best scores by enumeration."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from zerogap.baselines import brute
from zerogap.baselines.forest_brute import all_derivations
from zerogap.problems.translation.forest import from_rules
from zerogap.problems.translation.forest_problem import LOG_OF_10
from zerogap.problems.translation.language_model import LanguageModel
from zerogap.problems.translation.phrase_constraints import Constraints, Fixed, Wall, Zone
from zerogap.testing.drawing import MOST_PARSES, OF_HIGHS, Method, Random, palette
from zerogap.translation import PhraseProblem, SyntaxProblem
from zerogap.translation import decode as decode_translation
from zerogap.translation.forests.decoding import METHODS as FOREST_METHODS
from zerogap.translation.language_models import Ngrams, build_language_model
from zerogap.translation.phrases.decoding import METHODS as PHRASE_METHODS

GRID = 2.0**-10
WORDS = ("<s>", "</s>", "<unk>", "a", "b", "c")


def draw_language_model(rng: Random) -> LanguageModel:
    """Small integers; longer n-grams may score less than backing off would."""
    order = int(rng.integers(1, 6))
    levels = []
    grams = [(w,) for w in range(len(WORDS))]
    for n in range(1, order + 1):
        if not grams:
            break
        scores, back_offs = rng.integers(-4, 1, len(grams)).astype(np.float64), rng.integers(-2, 2, len(grams)).astype(np.float64)
        levels.append(Ngrams(np.array(grams, dtype=np.int64).reshape(len(grams), n), scores, back_offs))
        longer = [(*gram, w) for gram in grams if 1 not in gram for w in range(1, len(WORDS)) if w != 2]
        grams = [longer[k] for k in sorted(rng.permutation(len(longer))[: rng.integers(0, 9)])]
    last = levels[-1]
    levels[-1] = Ngrams(last.ids, last.scores, np.full(len(last.scores), np.nan))
    return build_language_model(WORDS, levels)


def draw_phrases(rng: Random) -> Any:
    n = int(rng.integers(0, 4))
    gaps, scores = rng.random() < 0.2, palette(rng)
    options: dict[tuple[int, int, tuple[str, ...]], float] = {}
    for start in range(n):
        for end in range(start + 1, min(n, start + 3) + 1):
            for _ in range(rng.integers(0 if gaps or end > start + 1 else 1, 3)):
                target = tuple(("a", "b", "c", "new")[k] for k in rng.integers(0, 4, rng.integers(1, 4)))
                options[start, end, target] = float(scores(1)[0])
    if any(abs(score) > 1e6 for score in options.values() if score > -np.inf):  # the grid of the language model cannot hold them
        options = {key: float(rng.integers(-3, 4)) for key in options}
    return PhraseProblem(
        [f"w{i}" for i in range(n)], [(*key, score) for key, score in options.items()],
        draw_language_model(rng).scaled(1.0, resolution=GRID), distortion=(0.0, 0.5, 1.0)[rng.integers(3)],
        distortion_limit=(None, 0, 1, 2, 3)[rng.integers(5)], reordering=("limit", "moses")[rng.integers(2)],
        constraints=draw_constraints(rng, n) if rng.random() < 0.4 else None,
    )  # fmt: skip


def draw_constraints(rng: Random, n: int) -> Constraints:
    """A few of each kind, often none; sometimes more than can hold together."""

    def phrases() -> tuple[tuple[str, ...], ...]:
        return tuple(
            tuple(rng.choice(["a", "b", "c", "new", "never"], rng.integers(1, 4), p=[0.3, 0.3, 0.2, 0.15, 0.05]).tolist())
            for _ in range(rng.integers(0, 3) if rng.random() < 0.5 else 0)
        )

    def span() -> tuple[int, int]:
        start = int(rng.integers(0, n))
        return start, int(rng.integers(start + 1, n + 1))

    fixed, zones, walls = list[Fixed](), list[Zone](), list[Wall]()
    if n and rng.random() < 0.3:
        fixed.append(Fixed(*span(), (("a", "c"), ("b",)), (1.0, 0.0), bool(rng.random() < 0.7)))
    if n and rng.random() < 0.4:
        zones.append(Zone(*span(), bool(rng.random() < 0.4)))
    if n and rng.random() < 0.3:
        walls.append(Wall(int(rng.integers(0, n + 1))))
    return Constraints(phrases(), phrases() if rng.random() < 0.7 else (), tuple(fixed), tuple(zones), tuple(walls))


def phrase_methods(problem: Any) -> dict[str, Method]:
    exact = ("auto", "optimal-beam")
    return {
        name: Method(lambda p, name=name: decode_translation(p, method=name), name in exact, name == "chang-collins")  # type: ignore[misc]
        for name in PHRASE_METHODS
        if name != "optimal-beam"  # what `auto` does
    }


def draw_forest(rng: Random) -> Any:
    n, scores = int(rng.integers(1, 4)), palette(rng)
    may_be_empty = rng.random() < 0.2
    rules = []
    for v in range(n):
        choices = ["a", "b", "c", "z", *range(v), *range(v)]
        for _ in range(rng.integers(1, 4)):
            side = [choices[k] for k in rng.integers(0, len(choices), rng.integers(0 if may_be_empty else 1, 4))]
            rules.append((v, side, float(scores(1)[0])))
    return SyntaxProblem(from_rules(rules, root=n - 1)[0], draw_language_model(rng), weight=1 / LOG_OF_10)


def best_derivation(problem: Any) -> float | None:
    found = list(itertools.islice(all_derivations(problem.forest), MOST_PARSES + 1))
    return brute.optimum(problem, found) if len(found) <= MOST_PARSES else None


def forest_methods(problem: Any) -> dict[str, Method]:
    exact, rare, within = ("auto", "intersection", "ilp"), ("ilp", "lagrangian"), {"ilp": OF_HIGHS}
    has_empty = bool((np.diff(problem.forest.symbol_start) == 0).any())
    return {
        name: Method(lambda p, name=name: decode_translation(p, method=name), name in exact, name in rare, within.get(name, 0.0))  # type: ignore[misc]
        for name in FOREST_METHODS
        if not (has_empty and name in ("relaxation", "lagrangian", "ilp"))
        if not (problem.language_model.order > 3 and name in ("lagrangian", "ilp"))  # as the thesis has them: trigrams
    }
