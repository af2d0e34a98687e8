"""Mutants of checkers: they are made, and the tests notice them."""

import ast
from pathlib import Path

import pytest
from numba.core import config

from zerogap.testing import mutants
from zerogap.testing.kill_tests import measured, written_tests
from zerogap.testing.mutating import code_of, mutants_of

HERE = Path(__file__).parent.parent / "proof"
SOURCE = '''
LIMIT = 3

def least(values, floor):
    """Documentation with 1 < 2 stays."""
    if not values or floor > LIMIT:
        raise KeyError(f"{floor} is above {LIMIT + 1}")
    return min(max(value, floor) for value in values if value >= 0)
'''


def outcomes(space):
    found = []
    for values, floor in (([1, 2], 0), ([1, 2], 2), ([-1, 3], -1), ([5], 3), ([5], 4), ([], 0), ([0, 7], -1)):
        try:
            found.append(space["least"](values, floor))
        except (ValueError, KeyError) as error:
            found.append(type(error).__name__)
    return found


def test_every_mutant_is_another_function():
    tree = ast.parse(SOURCE)
    space = {}
    exec(compile(tree, "<source>", "exec"), space)
    before, seen = outcomes(space), set()
    for mutant in mutants_of("sample", tree):
        undo = mutant.change()
        changed = {}
        exec(compile(tree, "<mutant>", "exec"), changed)
        if mutant.function:
            assert code_of(tree.body[mutant.top], mutant.function).co_name == "least"
        assert outcomes(changed) != before, mutant.key
        undo()
        assert mutant.key not in seen
        seen.add(mutant.key)
    assert outcomes(space) == before
    assert len(seen) == 14
    assert not any("Documentation" in key or "is above" in key.partition(" -> ")[2] for key in seen)


@pytest.mark.skipif(config.DISABLE_JIT, reason="what tests measure is imported with decoders")
@pytest.mark.parametrize(
    ("module", "file"), [("zerogap.proof.leaves", "test_leaves.py"), ("zerogap.proof.multipliers", "test_multipliers.py")]
)
def test_nothing_survives(module, file):
    tests = measured(written_tests([HERE / file]), mutants.places(), alike=10, longest=1.0)
    explained = mutants.explained_in(HERE / "explained_mutants.txt")
    found = mutants.run([module], tests, explained, report=False)[module]
    assert found.survivors == []
    assert found.killed > 30


def test_every_explained_mutant_has_a_reason():
    lines = (HERE / "explained_mutants.txt").read_text(encoding="utf-8").splitlines()
    explained = mutants.explained_in(HERE / "explained_mutants.txt")
    assert len(explained) == len([line for line in lines if line and not line.startswith("#")])
    for key, reason in explained.items():
        assert key.count(" | ") == 2
        assert " -> " in key
        assert len(reason) > 5
