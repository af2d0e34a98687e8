"""The commands in the documentation do what they show. (Python examples run as doctests.)"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import zerogap

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def sessions(page):
    """(command, expected output) pairs of the ```console blocks of a page."""
    for block in re.findall(r"```console\n(.*?)```", page.read_text(), flags=re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_console_sessions(page, tmp_path):
    for word in ("problem.json", "solution.json"):
        if word in page.read_text():
            zerogap.save_problem(tutorial_problem(), tmp_path / "problem.json")
    for command, output in sessions(page):
        arguments = command.split()
        assert arguments[0] == "zerogap"
        done = subprocess.run(
            [sys.executable, "-m", "zerogap.cli.main", *arguments[1:]], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == output


def tutorial_problem():
    graph = zerogap.hypergraph.Builder()
    for word, gain in enumerate([5.0, 4.0, 3.0]):
        graph.edge(word + 1, [word], score=0.0)
        graph.edge(word + 1, [word], score=gain)
    built, scores = graph.build(3)
    rows = zerogap.hypergraph.constraint_rows(built.n_edges, [({1: 2, 3: 2, 5: 2}, "<=", 3)])
    return zerogap.hypergraph.Problem(built, scores, rows)


def test_the_readme_opens_with_two_single_line_commands():
    lines = [line.strip() for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("    ")]
    assert lines[0].endswith('zerogap parse "She saw the man with the telescope."')
    assert lines[1].endswith("python -m pytest")


def test_links_lead_somewhere():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
