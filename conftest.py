"""Documentation runs from a scratch folder with the examples in it; tests that need data are skipped where it is absent."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parent
collect_ignore = ["docs/hooks"]  # they need what builds the site
DATA = Path(os.environ.get("ZEROGAP_DATA", ROOT.parent / "shared" / "data"))

# no deadlines: the first call of a kernel may compile it. The same examples every time, so that a failure is one's own;
# HYPOTHESIS_PROFILE=explore draws others.
settings.register_profile("zerogap", deadline=None, derandomize=True)
settings.register_profile("few", deadline=None, derandomize=True, max_examples=15)  # without the compiler everything takes longer
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "zerogap"))


@pytest.fixture(autouse=True)
def scratch_folder_for_documentation(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.path.suffix == ".md":
        shutil.copytree(ROOT / "examples", tmp_path / "examples")
        monkeypatch.chdir(tmp_path)


@pytest.fixture
def data() -> Path:
    """The folder with treebanks and the like."""
    return DATA


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    asked = config.getoption("-m")
    for item in items:
        if item.get_closest_marker("data") and not DATA.is_dir():
            item.add_marker(pytest.mark.skip(reason=f"no data in {DATA}; set ZEROGAP_DATA"))
        if item.get_closest_marker("compiled") and os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
            item.add_marker(pytest.mark.skip(reason="takes minutes without the compiler"))
        if item.get_closest_marker("slow") and "slow" not in asked:
            item.add_marker(pytest.mark.skip(reason="slow; run with -m slow"))
