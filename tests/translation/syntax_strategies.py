"""Tiny language models and forests with many ties, holes, lists that lack suffixes, and back-offs of either sign."""

import itertools

import numpy as np
from hypothesis import strategies as st

from zerogap.baselines.forest_brute import all_derivations
from zerogap.problems.translation.forest import from_rules
from zerogap.problems.translation.forest_problem import LOG_OF_10, SyntaxProblem
from zerogap.testing.strategies import small_integers
from zerogap.translation.language_models import Ngrams, build_language_model

WORDS = ("a", "b", "c")


def few(problem, most=200):
    """Whether there are so few derivations that a test can look at all of them."""
    return len(list(itertools.islice(all_derivations(problem.forest), most + 1))) <= most


@st.composite
def language_models(draw, *, max_order=3, holes=False):
    words = ["<s>", "</s>", "<unk>", *WORDS]
    order = draw(st.integers(1, max_order))
    numbers = small_integers(holes=holes)
    back_offs = st.integers(-2, 1).map(float)
    levels = []
    grams = [(i,) for i in range(len(words))]
    for n in range(1, order + 1):
        last = n == order
        levels.append(
            Ngrams(
                np.array(grams, dtype=np.int64).reshape(len(grams), n),
                np.array([draw(numbers) for _ in grams]),
                np.array([np.nan if last else draw(back_offs) for _ in grams]),
            )
        )
        contexts = [gram for gram in grams if 1 not in gram]
        longer = [(*gram, w) for gram in contexts for w in range(1, len(words)) if w != 2]
        grams = draw(st.lists(st.sampled_from(longer), unique=True, max_size=8)) if longer else []
        if not grams:
            break
    highest = levels[-1]  # n-grams of the highest order are no contexts
    levels[-1] = Ngrams(highest.ids, highest.scores, np.full(len(highest.scores), np.nan))
    return build_language_model(words, levels)


@st.composite
def forests(draw, *, max_vertices=4, empty_sides=False, holes=False):
    n = draw(st.integers(1, max_vertices))
    scores = small_integers(holes=holes)
    rules = []
    for v in range(n):
        below = list(range(v))
        for _ in range(draw(st.integers(1, 3))):
            symbols = st.sampled_from([*WORDS, "z", *below, *below])
            rules.append((v, draw(st.lists(symbols, min_size=0 if empty_sides else 1, max_size=4 if v < 3 else 3)), draw(scores)))
    return from_rules(rules, root=n - 1)[0]


@st.composite
def span_forests(draw, *, max_words=3):
    """Forests over the spans of a source sentence, so that no derivation uses a vertex twice: rules with either order of two parts."""
    n = draw(st.integers(1, max_words))
    spans = sorted(((i, j) for i in range(n) for j in range(i + 1, n + 1)), key=lambda span: span[1] - span[0])
    number = {span: v for v, span in enumerate(spans)}
    rules = []
    for i, j in spans:
        splits = [[number[i, k], number[k, j]] for k in range(i + 1, j)]
        for _ in range(draw(st.integers(1, 3))):
            parts = draw(st.sampled_from([[], *splits, *splits]))
            words = draw(st.lists(st.sampled_from(WORDS), min_size=0 if parts else 1, max_size=2))
            rules.append((number[i, j], draw(st.permutations([*parts, *words])), float(draw(st.integers(-3, 3)))))
    return from_rules(rules, root=number[0, n])[0]


@st.composite
def syntax_problems(draw, *, max_order=3, empty_sides=False, holes=False, spans=False):
    forest = span_forests() if spans else forests(empty_sides=empty_sides, holes=holes)
    return SyntaxProblem(draw(forest), draw(language_models(max_order=max_order, holes=holes)), weight=1 / LOG_OF_10)
