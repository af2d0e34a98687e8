"""Draws the pictures of the documentation when it is built, with the library itself: a page that shows `pictures/NAME.svg` has one here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(Path(__file__).parent))
import architecture  # noqa: E402  # beside this file, which is loaded by its path


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    for name, draw in PICTURES.items():
        files.append(File.generated(config, f"pictures/{name}.svg", content=draw().svg))
    return files


def telescope() -> Any:
    """The tree of the tutorial; the other reading is dashed."""
    import zerogap
    from zerogap.plot import plot_arcs

    sentence = zerogap.load("en")("She saw the man with the telescope.")[0].sentence
    return plot_arcs(sentence, disputed=[(4, 7)])


def joint_gap() -> Any:
    """The run of Rush 2014, example 4.2.1."""
    import zerogap

    problem = zerogap.load_problem(ROOT / "examples" / "united.json")
    return zerogap.constituency.decode(problem, method="dual-decomposition", step="constant", scale=1.0).plot()


def lattice(*, constrained: bool) -> Any:
    """The labelling of docs/sequences.md, with and without its constraints."""
    from zerogap import sequence
    from zerogap.plot import plot_lattice

    rules = [sequence.no_duplicate("author"), sequence.at_least_one("title"), sequence.precedes("author", "title")]
    scores = [[3, 1, 0], [1, 2, 0], [2, 1, 0], [0, 1, 4]]
    problem = sequence.Problem(scores, labels=["author", "title", "date"], constraints=rules if constrained else [])
    return plot_lattice(problem, sequence.decode(problem), tokens=["Brandt", "Sums", "Almeida", "1998"])


def room() -> Any:
    """The search of the tutorial's second constraint."""
    from zerogap import hypergraph
    from zerogap.plot import plot_search
    from zerogap.relax.watching import Step, watching

    builder = hypergraph.Builder()
    for word, gain in enumerate([5.0, 4.0, 3.0]):
        builder.edge(word + 1, [word], score=0.0, name=f"no {word}")
        builder.edge(word + 1, [word], score=gain, name=f"yes {word}")
    graph, scores = builder.build(3)
    rows = hypergraph.constraint_rows(graph.n_edges, [({1: 2, 3: 2, 5: 2}, "<=", 3)], names=["room"])
    steps: list[Step] = []
    with watching(steps.append):
        hypergraph.decode(hypergraph.Problem(graph, scores, rows))
    return plot_search(steps, name=lambda edge: str(graph.edge_names[edge]))


def crossing_gap() -> Any:
    """Random siblings over crossing trees, where prices alone leave a gap and branching closes it."""
    import numpy as np

    from zerogap.dependency import Problem, decode

    rng = np.random.default_rng(3)
    return decode(Problem(rng.normal(size=(13, 13)), siblings=rng.normal(size=(13, 13, 13)))).plot()


def overview() -> Any:
    """The picture of the README: the best label of every token, the best labels under rules, and a gap that closes."""
    import re

    from zerogap.plot.svg import Markup, element, picture

    panels = [
        ("Greedy: two author fields", lattice(constrained=False)),
        ("zerogap: the best under the rules", lattice(constrained=True)),
        ("The proof: bound and score meet", joint_gap()),
    ]
    body, x, tallest, margin, title_height = [], 12.0, 0.0, 12.0, 34.0
    for caption, panel in panels:
        found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', panel.svg)
        assert found is not None
        scale = min(1.0, 380.0 / float(found[1]))
        width, height = float(found[1]) * scale, float(found[2]) * scale
        resized = re.sub(
            r' width="[\d.]+" height="[\d.]+"', f' x="{x}" y="{title_height}" width="{width:.1f}" height="{height:.1f}"', panel.svg, count=1
        )
        body += [element("text", caption, x=x, y=22, font_weight="bold"), Markup(resized)]
        x, tallest = x + width + margin, max(tallest, height)
    return picture(x, title_height + tallest + margin, "A greedy answer, the best answer, and how a proof closes", *body)


PICTURES: dict[str, Callable[[], Any]] = {
    "telescope": telescope,
    "joint-gap": joint_gap,
    "lattice-free": lambda: lattice(constrained=False),
    "lattice-constrained": lambda: lattice(constrained=True),
    "room": room,
    "crossing-gap": crossing_gap,
    "design-rooms": architecture.rooms,
    "design-way": architecture.way,
    "overview": overview,
}
