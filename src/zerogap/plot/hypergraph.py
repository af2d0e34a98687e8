"""A hypergraph from its terminals at the bottom to its root at the top: a hyperedge is a dot below its head, with a line to every tail."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from zerogap.errors import InputError
from zerogap.plot.svg import DONE_COLOUR, FAINT, INK, PAPER, Markup, Picture, element, picture, text_width
from zerogap.structures.hypergraph import Hypergraph

MARGIN, LEVEL, BETWEEN, HEIGHT, SMALL = 24, 92, 26, 24, 11
MOST_EDGES = 400


def plot_hypergraph(graph: Hypergraph, *, path: Collection[int] = (), scores: Sequence[float] | None = None) -> Picture:
    """All vertices and hyperedges. Those of `path`, as a solution's structure has them, are green; `scores` stand beside the hyperedges."""
    if graph.n_edges > MOST_EDGES:
        raise InputError(f"the hypergraph has {graph.n_edges:,} hyperedges: expected at most {MOST_EDGES} in a picture.")
    if scores is not None and len(scores) != graph.n_edges:
        raise InputError(f"scores has {len(scores)} entries: expected {graph.n_edges}, one for each hyperedge.")
    names = [str(name) for name in graph.vertex_names] if graph.vertex_names is not None else [str(v) for v in range(graph.n_vertices)]
    tails: list[list[int]] = [graph.tail(e).tolist() for e in range(graph.n_edges)]
    heads = [int(v) for v in graph.heads]
    heights = [0] * graph.n_vertices
    for e in range(graph.n_edges):  # hyperedges are in bottom-up order
        heights[heads[e]] = max(heights[heads[e]], 1 + max((heights[v] for v in tails[e]), default=0))
    chosen = set(path)
    used = {v for e in chosen for v in (heads[e], *tails[e])}
    places = places_of(heights, names, heads, tails)
    top = max(heights)

    def y(height: float) -> float:
        return MARGIN + HEIGHT / 2 + LEVEL * (top - height)

    lines: list[Markup] = []
    dots: list[Markup] = []
    fan: dict[int, int] = {}
    count = {v: heads.count(v) for v in set(heads)}
    for e, head in enumerate(heads):
        fan[head] = fan.get(head, 0) + 1
        x = places[head] + 22 * (fan[head] - (count[head] + 1) / 2)
        at = y(heights[head]) + 34
        colour: dict[str, Any] = {"stroke": DONE_COLOUR, "stroke_width": 2} if e in chosen else {"stroke": INK if not chosen else FAINT}
        lines.append(element("line", x1=places[head], y1=y(heights[head]) + HEIGHT / 2, x2=x, y2=at, **colour))
        lines += [element("line", x1=x, y1=at, x2=places[v], y2=y(heights[v]) - HEIGHT / 2, **colour) for v in tails[e]]
        dots.append(element("circle", cx=x, cy=at, r=4, fill=colour["stroke"]))
        if scores is not None:
            dots.append(element("text", f"{float(scores[e]):.3g}", x=x + 7, y=at + 4, font_size=SMALL))
    boxes: list[Markup] = []
    for v, name in enumerate(names):
        width, stroke = max(text_width(name) + 14, 28.0), DONE_COLOUR if v in used else INK
        frame = {"x": places[v] - width / 2, "y": y(heights[v]) - HEIGHT / 2, "width": width, "height": HEIGHT, "rx": 6}
        boxes.append(element("rect", fill=PAPER, stroke=stroke, **frame))
        boxes.append(element("text", name, x=places[v], y=y(heights[v]) + 4, text_anchor="middle"))
    width = max(places[v] + text_width(names[v]) / 2 for v in range(len(names))) + MARGIN
    title = f"Hypergraph of {graph.n_vertices} vertices and {graph.n_edges} hyperedges"
    return picture(width, y(0) + HEIGHT / 2 + MARGIN, title, *lines, *dots, *boxes)


def places_of(heights: Sequence[int], names: Sequence[str], heads: Sequence[int], tails: Sequence[Sequence[int]]) -> list[float]:
    """Terminals from left to right; a vertex above the middle of what it may be made of, as far as there is room."""
    below: dict[int, set[int]] = {}
    for head, tail in zip(heads, tails, strict=True):
        below.setdefault(head, set()).update(tail)
    places = [0.0] * len(heights)
    for height in range(max(heights) + 1):
        row = [v for v in range(len(heights)) if heights[v] == height]
        wanted = {v: sum(places[u] for u in below.get(v, ())) / max(len(below.get(v, ())), 1) for v in row}
        right = float(MARGIN)
        for v in sorted(row, key=lambda v: (wanted[v], v)):
            width = max(text_width(names[v]) + 14, 22.0 * heads.count(v))
            places[v] = max(wanted[v], right + width / 2)
            right = places[v] + width / 2 + BETWEEN
    return places
