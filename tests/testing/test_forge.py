"""False claims are refused, whatever certificate somebody made for them."""

import inspect

import pytest
from numba.core import config

from zerogap.proof.certificate import KINDS
from zerogap.testing import forge
from zerogap.testing.forge import ATTACKS, SPECIAL

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="decodes by every method: minutes without the compiler")
CLAIMS = 10_000


@pytest.mark.parametrize("task", sorted(SPECIAL))
def test_no_false_claim_is_accepted(task):
    found = forge.forge([task], claims=CLAIMS // len(SPECIAL), seed=1)
    assert not found.findings, found.findings[:3]
    assert len(found.attacks) >= 5, found.attacks  # some need numbers in the certificate


def test_every_kind_is_attacked():
    found = forge.forge(["tree"], claims=3000, seed=2)
    for kind in KINDS:
        assert any(entry.endswith(f": {kind}") for entry in found.claims), kind
    assert len(ATTACKS) >= 15


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
