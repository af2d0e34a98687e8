"""Certificates that somebody changed: flipped heads, multipliers, leaves and duals, for every task and kind of certificate.

A changed certificate may still prove what is true. It must never prove what is not: so every change is tried together with a bound
that is too low by the smallest step there is. And what is said of the structure must be true.
"""

import json
from collections import defaultdict
from functools import cache

import numpy as np
import pytest
from numba.core import config

from zerogap.errors import FormatError, Infeasible, ScoreError, VerificationError
from zerogap.proof.files import solution_from_json, solution_to_json
from zerogap.proof.verify import verify
from zerogap.testing.draws import KINDS

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="decodes by every method: minutes without the compiler")

WANTED = {
    "tree": {"cut-duals", "dynamic-program", "head-prices", "screened", "factor-shares"},
    "hypergraph": {"dynamic-program", "multipliers", "leaves"},
    "sequence": {"intersection", "agreement"},
    "joint": {"multipliers"},
    "lexical": {"dynamic-program"},
    "agreement": {"multipliers"},
    "phrases": {"multipliers"},
    "forest": {"dynamic-program", "multipliers"},
}
EACH = 2  # solutions of every kind


@cache
def collected(name, most=150):
    """Some optimal solutions for every kind of certificate, as (problem, JSON of the solution)."""
    found = defaultdict(list)
    for i in range(most):
        rng = np.random.default_rng([11, i])
        try:
            problem = KINDS[name].draw(rng)
        except ScoreError:
            continue
        for method in KINDS[name].methods(problem).values():
            if method.rare:
                continue
            try:
                solution = method.decode(problem)
            except Infeasible:
                continue
            value = json.loads(json.dumps(solution_to_json(solution)))
            kind = value["certificate"]["kind"]
            if solution.status == "optimal" and len(found[kind]) < EACH:
                found[kind].append((problem, value))
        if WANTED[name] <= {kind for kind, some in found.items() if len(some) == EACH}:
            break
    return dict(found)


def holds(problem, value):
    try:
        verify(problem, solution_from_json(value))
    except (VerificationError, FormatError):
        return False
    return True


def changes(value, step):
    """The JSON value with one number, name, flag or entry changed; kinds stay, as another kind is another proof."""
    if isinstance(value, dict):
        for key, entry in value.items():
            if key != "kind":
                for changed in changes(entry, step):
                    yield {**value, key: changed}
    elif isinstance(value, list):
        for i, entry in enumerate(value):
            yield value[:i] + value[i + 1 :]
            for changed in changes(entry, step):
                yield [*value[:i], changed, *value[i + 1 :]]
        if len(value) > 1:
            yield value[::-1]
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
        yield value - 1
        yield value + 1000
    elif isinstance(value, float):
        yield value + step
        yield value - step
        yield -value or 1.0
        yield value * 2.0**60 + step
    elif isinstance(value, str):
        yield "-inf" if value == "inf" else "inf"


@pytest.mark.parametrize("name", sorted(WANTED))
def test_all_kinds_are_there(name):
    assert WANTED[name] <= set(collected(name))


@pytest.mark.parametrize("name", sorted(WANTED))
def test_no_certificate_proves_what_is_not_true(name):
    rng = np.random.default_rng(1)
    for some in collected(name).values():
        for problem, value in some:
            step = problem.resolution
            assert holds(problem, value)
            low = {**value, "bound": value["bound"] - step}
            lower = {**low, "score": value["score"] - step}
            assert not holds(problem, low)
            assert not holds(problem, lower)
            changed = list(changes(value["certificate"], step))
            for k in rng.permutation(len(changed))[:25]:
                assert not holds(problem, {**low, "certificate": changed[k]})


@pytest.mark.parametrize("name", sorted(WANTED))
def test_changes_are_noticed(name):
    """Of the changes to a certificate that is not just a dynamic program, some must spoil the proof of a tight bound."""
    for kind, some in collected(name).items():
        if kind == "dynamic-program":
            continue
        spoiled = total = 0
        for problem, value in some:
            for changed in list(changes(value["certificate"], 1.0))[:30]:
                total += 1
                spoiled += not holds(problem, {**value, "certificate": changed})
        assert total == 0 or spoiled > 0, kind


@pytest.mark.parametrize("name", sorted(WANTED))
def test_structures_are_what_they_say(name):
    for some in collected(name).values():
        for problem, value in some:
            for changed in list(changes(value["structure"], 1.0))[:30]:
                if changed == value["structure"]:
                    continue
                lie = {**value, "structure": changed}
                if holds(problem, lie):  # as good a structure
                    assert problem.score(solution_from_json(lie).structure) == value["score"]


@pytest.mark.parametrize("name", sorted(WANTED))
def test_scores_are_what_they_say(name):
    for some in collected(name).values():
        for problem, value in some:
            for score in (value["score"] + problem.resolution, value["score"] - problem.resolution, "inf", "-inf"):
                assert not holds(problem, {**value, "score": score})
            assert not holds(problem, {**value, "structure": None})


def test_leaves():
    """A leaf that is dropped, given twice or turned round, for every task that branches."""
    seen = set()
    for name in ("hypergraph", "sequence", "tree"):
        for problem, value in collected(name).get("leaves", []):
            leaves = value["certificate"]["leaves"]
            if len(leaves) < 2:
                continue
            seen.add(name)
            for k in range(len(leaves)):
                turned = {**leaves[k], "fixed": [[part, not inside] for part, inside in leaves[k]["fixed"]]}
                for changed in (leaves[:k] + leaves[k + 1 :], [*leaves, leaves[k]], [*leaves[:k], turned, *leaves[k + 1 :]]):
                    assert not holds(problem, {**value, "certificate": {"kind": "leaves", "leaves": changed}})
    assert "hypergraph" in seen
