"""Every notebook runs, and prints what is kept in its file. Needs the extra `notebooks`."""

import importlib.util
import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="needs the extra notebooks")
pytest.importorskip("nbclient", reason="needs the extra notebooks")
pytest.importorskip("ipykernel", reason="needs the extra notebooks")
pytestmark = pytest.mark.notebooks

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
spec = importlib.util.spec_from_file_location("execute", Path(__file__).with_name("execute.py"))
execute = importlib.util.module_from_spec(spec)
spec.loader.exec_module(execute)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_prints_what_it_shows(path):
    kept = nbformat.read(path, as_version=4)
    for (source, new), (_, old) in zip(execute.texts(execute.executed(path)), execute.texts(kept), strict=True):
        assert new == old, source


def test_they_are_all_listed_and_small():
    listed = re.findall(r"`(\w+\.ipynb)`", (ROOT / "docs" / "notebooks.md").read_text())
    assert sorted(listed) == [path.name for path in NOTEBOOKS]
    assert all(path.stat().st_size < 120_000 for path in NOTEBOOKS)
