"""The site builds without warnings, loads nothing from elsewhere, and has every command. Needs the extra `docs`."""

import html
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


def test_sessions_are_copied_without_prompts_and_output(site):
    text = (site / "tutorial.html").read_text()
    copied = [html.unescape(found) for found in re.findall(r'<code data-copy="([^"]*)"', text)]
    assert 'zerogap parse "She saw the man with the telescope." --format tree' in copied
    assert any(found.startswith("from zerogap import hypergraph\nbuilder = ") for found in copied)
    for page in site.rglob("*.html"):
        codes = re.findall(r"<code>(.*?)</code></pre>", page.read_text(), flags=re.DOTALL)
        assert not [code for code in codes if re.match(r"&gt;&gt;&gt; |\$ ", re.sub(r"<[^>]+>", "", code))], page


def test_pages_are_listed_once():
    pages = re.findall(r"[\w/-]+\.md$", (ROOT / "mkdocs.yml").read_text(), flags=re.MULTILINE)
    assert len(pages) == len(set(pages))


def test_search_works_from_a_folder(site):
    assert (site / "search" / "search_index.js").read_text().startswith("var __index = ")
    assert 'src="../assets/iframe-worker.js"' in (site / "reference" / "errors.html").read_text()


def test_the_reference_begins_with_the_problem(site):
    for page in ("dependency", "sequence", "hypergraph"):
        found = re.findall(rf'<h2 id="zerogap\.{page}\.(\w+)"', (site / "reference" / f"{page}.html").read_text())
        assert found[:2] == ["Problem", "decode"], page


def test_signatures_are_broken_into_lines(site):
    text = (site / "reference" / "dependency.html").read_text()
    signatures = [re.sub(r"<[^>]+>", "", found) for found in re.findall(r"doc-signature.*?<code>(.*?)</code>", text, flags=re.DOTALL)]
    assert len(signatures) > 10
    assert all(len(html.unescape(line)) <= 88 for signature in signatures for line in signature.splitlines())
