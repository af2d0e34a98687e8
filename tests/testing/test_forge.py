"""False claims are refused, whatever certificate somebody made for them."""

import inspect
from collections import defaultdict

import pytest
from numba.core import config

from zerogap.proof.certificate import KINDS
from zerogap.testing import forge
from zerogap.testing.forge import ATTACKS, SPECIAL
from zerogap.testing.forged_claims import CLAIMS as AROUND

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="decodes by every method: minutes without the compiler")
CLAIMS = 10_000


@pytest.mark.parametrize("task", sorted(SPECIAL))
def test_no_false_claim_is_accepted(task):
    found = forge.forge([task], claims=CLAIMS // len(SPECIAL), seed=1)
    assert not found.findings, found.findings[:3]


LEAST = 15  # a new kind of certificate is not complete without its attacks


def test_every_kind_is_attacked():
    """By as many attacks that were thought out, each of which made a false claim with a certificate of this kind."""
    by_kind = defaultdict(set)
    for task, claims in (("tree", 30_000), ("hypergraph", 20_000), ("sequence", 2000), ("lexical", 300)):
        for entry, attacks in forge.forge([task], claims=claims, seed=2).attacks.items():
            by_kind[entry.partition(": ")[2]] |= attacks
    assert {kind: len(by_kind[kind]) for kind in KINDS if len(by_kind[kind]) < LEAST} == {}


@pytest.mark.parametrize("task", sorted(SPECIAL))
def test_every_task_is_attacked(task):
    """Whatever certificate its solutions have: none may rely on the attacks on another task's."""
    found = forge.forge([task], claims=600, seed=4)
    assert len(set().union(*found.attacks.values())) >= LEAST
    assert len(ATTACKS) >= LEAST
    assert len(AROUND) >= LEAST


def test_a_hole_is_found(monkeypatch):
    """A checker that forgets to look at the signs of values is found out."""
    from zerogap.proof.dependency import trees

    source = inspect.getsource(trees.checked_cuts).replace("if value > 0 and not entered_once:", "if False:")
    space = dict(vars(trees))
    exec(source, space)
    monkeypatch.setattr(trees, "checked_cuts", space["checked_cuts"])
    found = forge.forge(["tree"], claims=40_000, seed=3)
    assert any("ACCEPTED" in finding for finding in found.findings)


def test_the_command(capsys):
    assert forge.main(["--claims", "200", "--tasks", "hypergraph"]) == 0
    assert "0 findings" in capsys.readouterr().out
