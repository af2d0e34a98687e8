"""The commands in the documentation do what they show, and links lead somewhere. (Python examples run as doctests.)"""

import importlib.util
import re
import shutil
from pathlib import Path

import pytest


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
follow = loaded(Path(__file__).with_name("follow.py"))
pictures = loaded(DOCS / "hooks" / "pictures.py")
notebooks = loaded(DOCS / "hooks" / "notebooks.py")


def test_the_tutorial_from_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    steps = [first for first, _ in follow.follow(DOCS / "tutorial.md")]
    assert any("--certificates proofs.jsonl" in step for step in steps)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if "```console" in page.read_text() and page.name != "tutorial.md"], ids=lambda page: page.name
)
def test_consoles(page, tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    for _ in follow.follow(page):
        pass


def test_a_page_that_shows_something_else_is_noticed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    for wrong in (
        "```python\n>>> 1 + 1\n3\n\n```\n",
        "```console\n$ echo yes\nno\n```\n",
        "```console\n$ echo yes; exit 1\nyes\n```\n",
        "```sh\nfalse\n```\n",
    ):
        page.write_text(wrong)
        with pytest.raises(follow.Differs):
            list(follow.follow(page))
    page.write_text(
        "```python\n>>> n = 1\n\n```\n```console\n$ echo yes\nyes\n$ echo no >&2; exit 3\nno\n```\n```python\n>>> n\n1\n\n```\n"
    )
    assert len(list(follow.follow(page))) == 3


def test_the_readme_opens_with_two_single_line_commands():
    lines = [line.strip() for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("    ")]
    assert lines[0].endswith('zerogap parse "She saw the man with the telescope."')
    assert lines[1].endswith("python -m pytest -n 2")


def test_links_lead_somewhere():
    made = {f"pictures/{name}.svg" for name in pictures.PICTURES} | {
        f"notebooks/{path.stem}.md" for path in notebooks.NOTEBOOKS.glob("*.ipynb")
    }
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text()):
            found = (page.parent / target).resolve()
            assert found.exists() or found.relative_to(DOCS).as_posix() in made, f"{page.name} links to {target}"


def test_every_picture_is_shown():
    shown = {Path(target).stem for page in PAGES for target in re.findall(r"\]\((\S*pictures/\S+\.svg)\)", page.read_text())}
    assert shown == set(pictures.PICTURES)


def test_the_picture_of_the_readme_is_what_the_library_draws():
    """`docs/assets/overview.svg` is kept for pages that are shown without being built."""
    assert (DOCS / "assets" / "overview.svg").read_text() == pictures.PICTURES["overview"]().svg
