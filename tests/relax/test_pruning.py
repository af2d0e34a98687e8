"""Rules of pruning: what they keep, and how they are chosen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import InputError, UnknownMethod
from zerogap.relax.pruning import ALL, MARGIN, MEAN, Rule, chosen_rule
from zerogap.testing.strategies import random_scores


@given(st.integers(1, 8), st.integers(0, 10_000), st.sampled_from([MARGIN, MEAN]), st.floats(-3.0, 1.0))
def test_the_best_is_always_kept(n, seed, name, value):
    marginals = random_scores((n,), seed)
    best = float(marginals.max())
    if best == -np.inf:
        return
    rule = Rule(name, min(value, 0.0) if name == MARGIN else value).checked()
    kept = rule.kept(best, marginals)
    assert kept[marginals == best].all()
    assert not kept[marginals == -np.inf].any()
    if name == MEAN:  # the threshold of section 8.4.1
        mean = marginals[marginals > -np.inf].mean()
        threshold = value * best + (1.0 - value) * mean
        clear = np.abs(marginals - threshold) > 1e-9
        assert (kept == (marginals >= threshold))[clear & (best > mean)].all()
    assert (ALL.kept(best, marginals) == (marginals > -np.inf)).all()
    assert (Rule(MEAN, -np.inf).kept(best, marginals) == (marginals > -np.inf)).all()


@pytest.mark.parametrize("name", [MARGIN, MEAN])
def test_the_largest_value_that_loses_no_more(name):
    rng = np.random.default_rng(0)
    cases = [(marginals.max(), marginals) for marginals in rng.normal(size=(50, 20))]
    right = [Rule(name).reached(best, marginals)[:4] for best, marginals in cases]
    for error in (0.0, 0.1, 0.5):
        rule = chosen_rule(name, right, error)
        lost = sum(int((~rule.kept(best, marginals)[:4]).sum()) for best, marginals in cases)
        assert lost <= error * 200
        stricter = Rule(name, min(rule.value + 3e-9, {MARGIN: 0.0, MEAN: 1.0}[name]))
        more = sum(int((~stricter.kept(best, marginals)[:4]).sum()) for best, marginals in cases)
        assert more > error * 200 or stricter == rule or more == lost + 1
    assert chosen_rule(name, [], 0.1).value == -np.inf


def test_what_is_no_rule():
    with pytest.raises(UnknownMethod, match="Did you mean 'margin'"):
        Rule("margins", 0.0).checked()
    with pytest.raises(InputError, match=r"value is 0.5: expected a number up to 0.0"):
        Rule(MARGIN, 0.5).checked()
    with pytest.raises(InputError, match="value is nan"):
        Rule(MEAN, np.nan).checked()
    with pytest.raises(InputError, match="error is 2"):
        chosen_rule(MEAN, [np.zeros(1)], 2)
