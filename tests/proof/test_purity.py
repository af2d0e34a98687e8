"""The checkers share nothing with the solvers, and `import zerogap` is cheap: seen in a fresh interpreter."""

import subprocess
import sys

import pytest

HEAVY = ("numba", "llvmlite", "highspy", "zerogap.oracles", "zerogap.relax", "zerogap.baselines", "scipy", "rich", "typer")


@pytest.mark.parametrize(
    "module", ["zerogap", "zerogap.proof", "zerogap.proof.verify", "zerogap.proof.files", "zerogap.problems.files", "zerogap.proof.command"]
)
def test_no_compiler_and_no_solver_is_loaded(module):
    code = f"import sys, {module}; print([m for m in sys.modules if m.startswith({HEAVY!r})])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_unknown_attributes():
    import zerogap

    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = zerogap.nothing
    assert {"dependency", "verify"} <= set(dir(zerogap))
