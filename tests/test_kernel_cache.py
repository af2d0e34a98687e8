"""Compiled kernels are found again as long as nothing that they depend on has changed, wherever they lie."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from numba.core import config

from zerogap import kernel_cache
from zerogap.kernels import cache_path, is_cached

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="about the compiler")

CALLEE = '''
from typing import NamedTuple
from zerogap.kernels import inlined, inner, int64, kernel, record, uint32

STEP = 1

class Pair(NamedTuple):
    left: int
    right: int

PAIR = record(Pair, int64, int64)

@kernel(int64(int64))
def added(x):
    """The next number."""
    return x + STEP

@inner
def turned(x):
    return -x

@inlined
def doubled(x):
    return 2 * x

@inner
def unused(x):
    return x
'''
CALLER = """
from kernels_of_test import callee
from kernels_of_test.callee import PAIR, Pair, added, doubled
from zerogap.kernels import int64, kernel

@kernel(int64(PAIR))
def result(pair):
    return callee.turned(added(doubled(pair.left)))
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a package of two modules, the caches of this test below it."""
    folder = tmp_path / "checkout" / "kernels_of_test"
    folder.mkdir(parents=True)
    for name, text in (("__init__", ""), ("callee", CALLEE), ("caller", CALLER)):
        (folder / f"{name}.py").write_text(text)
    monkeypatch.delenv("ZEROGAP_CACHE", raising=False)
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return folder


def loaded(package: Path) -> Any:
    """The caller, as a process that has just begun imports it."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "kernels_of_test"]:
        del sys.modules[name]
    importlib.invalidate_caches()
    sys.path.insert(0, str(package.parent))
    try:
        return importlib.import_module("kernels_of_test.caller")
    finally:
        sys.path.remove(str(package.parent))


def value(module: Any) -> int:
    return module.result(module.Pair(3, 0))


def edited(package: Path, old: str, new: str) -> Any:
    path = package / "callee.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    return loaded(package)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("x + STEP", "x + STEP + STEP", -8),  # a kernel
        ("STEP = 1", "STEP = 5", -11),  # a constant
        ("-x", "-x - 1", -8),  # an inner function, by the name of its module
        ("2 * x", "3 * x", -10),  # an inlined one
        ("@inlined", "@inner", -7),  # how it is compiled
        ("left: int\n    right: int", "right: int\n    left: int", -1),  # the order of a record's fields
        ("@kernel(int64(int64))", "@kernel(uint32(int64))", 2**32 - 7),  # the type that it returns
    ],
)
def test_an_edit_of_what_is_called_compiles_the_caller_again(package: Path, old: str, new: str, expected: int) -> None:
    module = loaded(package)
    assert not is_cached(module.result)
    assert value(module) == -7
    assert is_cached(loaded(package).result)
    module = edited(package, old, new)
    assert not is_cached(module.result)
    assert value(module) == expected
    assert is_cached(loaded(package).result)


def touch(package: Path) -> None:
    os.utime(package / "callee.py", (1, 1))


def move_lines(package: Path) -> None:
    edited(package, "STEP = 1", "# A comment.\n\nSTEP = 1  # another")


def explain(package: Path) -> None:
    edited(package, '"""The next number."""', '"""The number after it."""')


def change_others(package: Path) -> None:
    edited(package, "def unused(x):\n    return x", "def unused(x):\n    return 2 * x")


@pytest.mark.parametrize("change", [touch, move_lines, explain, change_others])
def test_what_is_the_same_code_is_not_compiled_again(package: Path, change: Callable[[Path], None]) -> None:
    value(loaded(package))
    change(package)
    module = loaded(package)
    assert is_cached(module.result)
    assert value(module) == -7
    assert module.result.stats.cache_hits
    assert not module.result.stats.cache_misses


def test_checkouts_share_a_folder(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZEROGAP_CACHE", str(tmp_path / "shared"))
    value(loaded(package))
    other = tmp_path / "other" / package.name
    shutil.copytree(package, other)
    module = loaded(other)
    assert is_cached(module.result)
    assert cache_path(module.result) == str(tmp_path / "shared")
    assert not (package / "__pycache__").exists()
    monkeypatch.delenv("ZEROGAP_CACHE")
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "shared"))
    assert is_cached(loaded(other).result)


def test_the_users_folder_takes_what_the_package_cannot(package: Path, tmp_path: Path) -> None:
    (package / "__pycache__").write_text("not a folder")
    module = loaded(package)
    assert value(module) == -7
    assert cache_path(module.result) == str(tmp_path / "user" / "zerogap")
    assert list((tmp_path / "user" / "zerogap").glob("kernels_of_test.caller.result-*.nbc"))
    assert is_cached(loaded(package).result)


def test_a_broken_file_is_compiled_again(package: Path) -> None:
    value(loaded(package))
    for path in (package / "__pycache__").glob("*.nbc"):
        path.write_bytes(path.read_bytes()[:100])
    module = loaded(package)
    assert value(module) == -7
    assert value(loaded(package)) == -7


def test_few_versions_are_kept(package: Path) -> None:
    for step in range(kernel_cache.KEPT + 2):
        value(edited(package, "x + STEP", "x + STEP + 1") if step else loaded(package))
    assert len(list((package / "__pycache__").glob("kernels_of_test.callee.added-*.nbc"))) == kernel_cache.KEPT
    assert is_cached(loaded(package).result)


def test_every_process_finds_the_same_files() -> None:
    program = (
        "from zerogap.kernels import kernels_of; from zerogap.oracles.trees import projective_marginals, grandsiblings;"
        "print([kernel._cache.file_name(kernel.signature, kernel.targetctx)"
        " for module in (projective_marginals, grandsiblings) for kernel in kernels_of(module.__name__).values()])"
    )
    found = {
        subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in "12"
    }
    assert len(found) == 1
