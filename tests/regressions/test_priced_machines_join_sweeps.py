"""A sweep compares prefixes by their scores. Were a machine priced in the bound and not among the states of the search, prefixes that
differ in what they have paid would be taken for equals, and the best labelling could be lost with a false proof."""

import numpy as np
import pytest

from zerogap import sequence as seq
from zerogap import verify
from zerogap.sequence.decoding import auto


@pytest.mark.parametrize(("margin", "seed"), [(2.0, 90), (2.0, 154), (2.0, 351), (2.5, 154), (2.5, 277), (2.5, 351)])
def test_priced_machines_join_sweeps(monkeypatch, margin, seed):
    monkeypatch.setattr(auto, "FIRST_LIMIT", 0)
    monkeypatch.setattr(auto, "WORD_BITS", -1)
    rng = np.random.default_rng(seed)
    fields = [f"F{i}" for i in range(4)]
    labels = [f"{tag}-{field}" for field in fields for tag in "BI"]
    rules = [seq.no_duplicate(field) for field in fields] + [seq.at_least_one(field) for field in fields[:3]]
    rules += [seq.precedes("F0", "F1"), seq.precedes("F2", "F3")]
    allowed, start, _ = seq.scheme_transitions(labels)
    emissions = rng.normal(size=(8, 8))
    emissions[np.arange(8), rng.integers(0, 8, 8)] += margin
    problem = seq.Problem(emissions, 0.5 * rng.normal(size=(8, 8)) + allowed, start=start, labels=labels, constraints=rules)
    solution = seq.decode(problem)
    assert solution.score == seq.decode(problem, method="relaxation").score
    verify(problem, solution)
