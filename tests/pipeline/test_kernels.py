"""Every module with kernels is known, and what each of them needs first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import zerogap
from zerogap.pipeline.kernels import NEEDED, compile_all, kernel_modules, kernels_of, missing, needed_kernels


def test_every_module_with_kernels_is_known() -> None:
    root = Path(zerogap.__file__).parent
    decorated = [path for path in root.rglob("*.py") if "\n@kernel(" in path.read_text()]
    names = {".".join(path.relative_to(root.parent).with_suffix("").parts) for path in decorated}
    assert "zerogap.oracles.trees.eisner" in names
    assert names <= kernel_modules().keys()


def test_what_is_called_is_compiled_first() -> None:
    needs = kernel_modules()
    assert "zerogap.oracles.trees.eisner" in needs["zerogap.oracles.factors.shares"]
    assert "zerogap.oracles.trees.eisner" in needs["zerogap.dependency.decoding.agreement.lazy"]  # through modules without kernels
    assert all(name not in needs[other] for name, others in needs.items() for other in others)


def test_what_tasks_need_is_there() -> None:
    for task in NEEDED:
        for module, names in needed_kernels([task]).items():
            assert names <= kernels_of(module).keys(), task
            assert names
    assert missing(["parse"]) == [name for name in NEEDED["parse"] if name in missing(["parse"])]


def test_all_is_compiled_in_order() -> None:
    told: list[tuple[int, int]] = []
    needs = {"zerogap.oracles.hypergraphs.semiring": {"zerogap.oracles.push"}, "zerogap.oracles.push": set[str]()}
    compile_all(needs, lambda done, total: told.append((done, total)), processes=1)
    assert told == [(0, 2), (1, 2), (2, 2)]


def test_progress_as_lines() -> None:
    command = [sys.executable, "-m", "zerogap.pipeline.kernels", "label"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    n = len(needed_kernels(["label"]))
    assert lines == [f"{done} {n}" for done in range(n + 1)]
