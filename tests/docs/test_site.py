"""The site builds without warnings, loads nothing from elsewhere, and has every command. Needs the extra `docs`."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs", reason="needs the extra docs")
pytestmark = pytest.mark.site

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_nothing_is_loaded_from_elsewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text()
        loads = re.findall(r"<(?:script|img|iframe|link)[^>]*?(?:src|href)=[\"']?(?:https?:)?//[^\"' >]+", text)
        assert not [tag for tag in loads if 'rel="canonical"' not in tag], page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", sheet.read_text()), sheet


def test_pictures_are_drawn(site):
    drawn = list((site / "pictures").glob("*.svg"))
    assert drawn
    assert all(picture.read_text().startswith("<svg") for picture in drawn)


def test_every_command_is_there(site):
    from zerogap.cli.main import COMMANDS

    text = (site / "reference" / "commands.html").read_text()
    assert [name for name in COMMANDS if f"zerogap {name}" not in text] == []


def test_examples_in_docstrings_are_code(site):
    text = (site / "reference" / "dependency.html").read_text()
    assert "language-pycon" in text
    assert "<blockquote>" not in text
