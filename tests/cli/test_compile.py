"""`zerogap compile` knows every module with kernels, and what each of them needs first."""

from __future__ import annotations

from pathlib import Path

import pytest

import zerogap
from zerogap.cli.compile import compile_all, kernel_modules
from zerogap.cli.main import compile_command
from zerogap.errors import InputError


def test_every_module_with_kernels_is_known() -> None:
    root = Path(zerogap.__file__).parent
    decorated = [path for path in root.rglob("*.py") if "\n@kernel(" in path.read_text() or "\n@kernel(" in path.read_text()]
    names = {".".join(path.relative_to(root.parent).with_suffix("").parts) for path in decorated}
    assert "zerogap.oracles.eisner" in names
    assert names <= kernel_modules().keys()


def test_what_is_called_is_compiled_first() -> None:
    needs = kernel_modules()
    assert "zerogap.oracles.eisner" in needs["zerogap.oracles.factor_shares"]
    assert "zerogap.oracles.eisner" in needs["zerogap.dependency.lazy_agreement"]  # through modules without kernels
    assert all(name not in needs[other] for name, others in needs.items() for other in others)


def test_all_is_compiled_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    needs = {"zerogap.oracles.semiring": {"zerogap.oracles.push"}, "zerogap.oracles.push": set()}
    monkeypatch.setattr("zerogap.cli.compile.kernel_modules", lambda: needs)
    assert compile_all(1) == 2


def test_nothing_to_compile_without_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    with pytest.raises(InputError, match="NUMBA_DISABLE_JIT"):
        compile_command(None)
