"""Best parses at many prices: the same as a new search at each of them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.parses.test_lexical import lexical_problems
from zerogap.constituency.lexical.decoding import head_scores, search
from zerogap.constituency.lexical.priced_search import PricedSearch
from zerogap.errors import Infeasible
from zerogap.problems.constituency.lexical import LexicalGrammar, LexicalProblem


@given(lexical_problems(), st.sampled_from([0.0, 1.0, 4.0, 20.0]), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.2]))
@settings(max_examples=200)
def test_prices_that_change(problem, margin, seed, holes):
    """A walk of prices of arcs and tags, some of them -inf for a while."""
    rng = np.random.default_rng(seed)
    searching, size, c = PricedSearch(problem, margin=margin), problem.n_words + 1, len(problem.positions)
    prices, tags = np.zeros((size, size)), np.zeros(c)
    known = None
    for _ in range(6):
        given_prices = np.where(rng.random((size, size)) < holes, -np.inf, prices)
        given_tags = np.where(rng.random(c) < holes / 2, -np.inf, tags)
        try:
            expected = search(problem.grammar, head_scores(problem, given_prices, given_tags), pruning=False).parse.score
        except Infeasible:
            expected = None
        found = searching.best(
            given_prices, given_tags, known if known is not None and expected is not None and known <= expected else -np.inf
        )
        assert (found.score if found is not None else None) == expected
        known = None if expected is None else expected - rng.integers(0, 3)
        prices = prices + rng.integers(-1, 2, (size, size))
        tags = tags + rng.integers(-1, 2, c)


def test_one_search_is_enough_for_near_prices():
    """With a wide margin the first search serves all prices; without one, what lay below comes up."""
    rng = np.random.default_rng(5)
    grammar = LexicalGrammar(
        ("A",), 0, np.array([[0, 0, 0]]), np.array([0]), np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64), np.array([0])
    )
    problem = LexicalProblem(
        grammar, positions=range(5), tags=[0] * 5, verbs=[False] * 5, binary=np.zeros((1, 5, 2)), unary=np.zeros((0, 5, 2)),
        words=rng.integers(-3, 4, (1, 5, 5)).astype(float), roots=np.zeros(5),
    )  # fmt: skip
    made = []
    for margin in (50.0, 0.0):
        searching = PricedSearch(problem, margin=margin)
        for step in range(4):
            searching.best(3.0 * step * np.random.default_rng(step).integers(0, 2, (6, 6)))
        made.append(searching.searches)
    assert made[0] == 1 < made[1]
