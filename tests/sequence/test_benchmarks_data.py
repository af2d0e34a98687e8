"""The benchmarks on real data stand on their reading of it: units, labels, and constraints learned from the training split."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from zerogap import sequence as seq
from zerogap import verify

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def benchmark(name: str) -> ModuleType:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.mark.data
def test_units_tile_the_sentence_and_keep_the_arguments():
    srl = benchmark("srl")
    propositions = srl.read("dev")
    for p in propositions:
        assert [u.start for u in p.units] == [0, *(u.end for u in p.units[:-1])]
        assert p.units[-1].end == len(p.row["tokens"])
        assert p.units[p.verb].head == p.row["verb"]
        assert p.labels[p.verb] == "O"
    assert srl.mapped(propositions) > 0.99


@pytest.mark.data
def test_role_constraints_give_the_same_score_by_every_method_and_by_the_program_written_by_hand():
    pytest.importorskip("highspy")
    srl, by_rows = benchmark("srl"), importlib.import_module("tables").by_rows
    propositions = srl.read("dev")
    glue, frames = srl.learn_glue(propositions), srl.learn_frames(propositions)
    random = np.random.default_rng(0)
    for p in propositions[::200]:
        size = len(srl.LABELS)
        constraints = srl.constraints_of(p, glue, frames)
        emissions, transitions = random.integers(-9, 9, (len(p.units), size)), random.integers(-3, 3, (size, size))
        problem = seq.Problem(emissions, transitions, labels=srl.LABELS, constraints=constraints)
        best = seq.decode(problem)
        verify(problem, best)
        assert seq.decode(problem, method="relaxation").score == seq.decode(problem, method="intersection").score == best.score
        assert problem.score_of(by_rows(problem)) == best.score


@pytest.mark.data
def test_learned_citation_constraints_count_what_the_training_labels_break():
    citations = benchmark("citations")
    examples = citations.read("cora", "train")
    rules = citations.learn_constraints(examples)
    assert sum(rule.is_hard for rule in rules) >= 12
    labels = sorted({label for example in examples for label in example.labels})
    broken = dict.fromkeys(range(len(rules)), 0)
    for example in examples:
        problem = seq.Problem(np.zeros((len(example), len(labels))), labels=labels, constraints=[rule.constraint for rule in rules])
        for c in problem.broken(problem.indices(example.labels)):
            broken[c] += 1
    assert [broken[c] for c in range(len(rules))] == [rule.broken for rule in rules]
