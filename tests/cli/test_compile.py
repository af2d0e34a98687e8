"""`zerogap compile` compiles what it should, and tells how far it is also where nobody sees a bar."""

from __future__ import annotations

import pytest

from zerogap.cli import compile as command
from zerogap.cli.main import compile_command
from zerogap.errors import InputError


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("zerogap.pipeline.kernels.kernel_modules", lambda: {"zerogap.oracles.push": set()})
    monkeypatch.setattr(command, "SECONDS_BETWEEN_NOTES", 0.0)
    compile_command(1)
    said = capsys.readouterr()
    assert "zerogap: compiling kernels, 1 of 1 modules (" in said.err
    assert said.out.startswith("The kernels of 1 modules are compiled")


def test_nothing_to_compile_without_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    with pytest.raises(InputError, match="NUMBA_DISABLE_JIT"):
        compile_command(None)
