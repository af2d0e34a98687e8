"""Phrase problems to draw: small integers as scores, so that there are many ties."""

import numpy as np
from hypothesis import strategies as st

from zerogap.problems.translation.phrases import PhraseProblem
from zerogap.testing.translation_draws import draw_constraints
from zerogap.translation.language_models import Ngrams, build_language_model

WORDS = ["<s>", "</s>", "<unk>", "a", "b", "c"]
GRID = 2.0**-10


def language_model(scores, back_offs, order):
    levels = []
    for n in range(1, order + 1):
        grams = sorted(gram for gram in scores if len(gram) == n)
        levels.append(
            Ngrams(
                np.array(grams, dtype=np.int64).reshape(len(grams), n),
                np.array([scores[gram] for gram in grams]),
                np.array([back_offs.get(gram, np.nan) for gram in grams]),
            )
        )
    return build_language_model(WORDS, levels).scaled(1.0, resolution=GRID)


def random_model(rng, max_order=4):
    """Small integers: many ties, and longer n-grams that score less than backing off would."""
    order = int(rng.integers(1, max_order + 1))
    scores = {(w,): float(rng.integers(-4, 1)) for w in range(len(WORDS))}
    back_offs, contexts = {}, [(w,) for w in range(len(WORDS))]
    for n in range(2, order + 1):
        for context in contexts:
            back_offs[context] = float(rng.integers(-2, 2))
        possible = [(*c, w) for c in contexts for w in range(1, len(WORDS))]
        grams = [possible[k] for k in rng.permutation(len(possible))[: rng.integers(0, 11)]]
        for gram in grams:
            scores[gram] = float(rng.integers(-4, 1))
        contexts = [gram for gram in grams if n < order]
        if not contexts:
            order = n
            break
    return language_model(scores, back_offs, order)


@st.composite
def problems(draw, min_words=0, max_words=4, holes=True, limits=(None, 0, 1, 2, 3), constrained=True):
    """Drawn by a seed, as number by number would take longer than all that is tested."""
    n, rng = draw(st.integers(min_words, max_words)), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    gaps = rng.random() < 0.2  # words without a phrase of their own
    options = {}
    for start in range(n):
        for end in range(start + 1, min(n, start + 3) + 1):
            for _ in range(rng.integers(0 if gaps or end > start + 1 else 1, 3)):
                target = tuple(rng.choice(["a", "b", "c", "new"], rng.integers(1, 4)).tolist())
                options[start, end, target] = -np.inf if holes and rng.random() < 0.15 else float(rng.integers(-3, 4))
    return PhraseProblem(
        [f"w{i}" for i in range(n)],
        [(*key, score) for key, score in options.items()],
        random_model(rng),
        distortion=draw(st.sampled_from([0.0, 0.5, 1.0])),
        distortion_limit=draw(st.sampled_from(limits)),
        reordering=draw(st.sampled_from(["limit", "moses"])),
        constraints=draw_constraints(rng, n) if constrained and rng.random() < 0.7 else None,
    )


FLAT = language_model({(w,): -1.0 for w in range(len(WORDS))}, {}, 1)
