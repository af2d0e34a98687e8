"""A branch-and-bound tree: what was decided on every branch, and which of them could hold nothing better.

From a certificate, whose leaves say what was decided; or from the steps that `relax.watching` tells, which know the bounds as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from zerogap.errors import InputError
from zerogap.plot.svg import BOUND_COLOUR, DONE_COLOUR, FAINT, INK, PAPER, Markup, Picture, element, picture, text_width
from zerogap.proof.certificate import Certificate, Leaves
from zerogap.relax.watching import Step

Fixed = tuple[tuple[int, bool], ...]
MARGIN, LEVEL, BETWEEN = 20, 62, 18
HEIGHT, SMALL = 24, 11


@dataclass(slots=True)
class Node:
    decisions: Fixed
    text: str = ""  # the bound, if it is known
    is_leaf: bool = True
    children: dict[bool, Node] = field(default_factory=dict)
    x: float = 0.0


def plot_search(found: Certificate | Iterable[Step], *, name: Callable[[int], str] = str) -> Picture:
    """The tree of a search. `name` says what a part is called; see `arc_name` for dependency trees."""
    nodes = leaves_in(found) if not isinstance(found, Iterable) else nodes_told(found)
    if nodes is None:
        raise InputError("nothing was branched on: expected a certificate with leaves, or steps with nodes.")
    root = Node(())
    for decisions, text in nodes:
        node = root
        for i, (_, inside) in enumerate(decisions):
            node.is_leaf = False
            node = node.children.setdefault(inside, Node(decisions[: i + 1]))
        node.text = text
    width = laid_out(root, MARGIN, name)
    depth = max(len(node.decisions) for node in walked(root))
    body = [line for node in walked(root) for line in branches(node, name)] + [shape for node in walked(root) for shape in box(node)]
    leaves = sum(node.is_leaf for node in walked(root))
    return picture(width + MARGIN, 2 * MARGIN + HEIGHT + depth * LEVEL, f"Branch and bound: {leaves} leaves, {depth} decisions deep", *body)


def arc_name(words: Iterable[str]) -> Callable[[int], str]:
    """For parts that are arcs: their numbers are h * (n + 1) + m."""
    names = ["root", *words]
    return lambda part: f"{names[part // len(names)]} → {names[part % len(names)]}"


def leaves_in(certificate: Certificate) -> list[tuple[Fixed, str]] | None:
    while not isinstance(certificate, Leaves):
        certificate = getattr(certificate, "rest", None)  # type: ignore[assignment]
        if certificate is None:
            return None
    return [(leaf.fixed, "") for leaf in certificate.leaves]


def nodes_told(steps: Iterable[Step]) -> list[tuple[Fixed, str]] | None:
    found = [(tuple(step.detail["decisions"]), f"{step.detail['bound']:.4g}") for step in steps if step.kind == "node"]
    return found or None


def laid_out(node: Node, left: float, name: Callable[[int], str]) -> float:
    """Places the node above the middle of what is below it; returns where the next one may begin."""
    if node.is_leaf:
        width = max(text_width(node.text, SMALL) + 16, 28.0)
        node.x = left + width / 2
        return left + width + BETWEEN
    end = left
    for inside in (True, False):
        if inside in node.children:
            end = laid_out(node.children[inside], end, name)
    part = next(iter(node.children.values())).decisions[-1][0]
    end = max(end, left + text_width(name(part), SMALL) + 2 * BETWEEN)
    places = [child.x for child in node.children.values()]
    node.x = (min(places) + max(places)) / 2
    return end


def walked(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children.values():
        yield from walked(child)


def height_of(node: Node) -> float:
    return MARGIN + HEIGHT / 2 + LEVEL * len(node.decisions)


def branches(node: Node, name: Callable[[int], str]) -> list[Markup]:
    """Lines to the children: solid where a part is required, dashed where it is forbidden. The part stands below the node."""
    body: list[Markup] = []
    y = height_of(node)
    for inside, child in node.children.items():
        dashes: dict[str, Any] = {} if inside else {"stroke_dasharray": "4 3"}
        body.append(element("line", x1=node.x, y1=y, x2=child.x, y2=height_of(child), stroke=INK, **dashes))
    if node.children:
        text = name(next(iter(node.children.values())).decisions[-1][0])
        width = text_width(text, SMALL) + 8
        body.append(element("rect", x=node.x - width / 2, y=y + HEIGHT / 2 + 3, width=width, height=15, fill=PAPER))
        body.append(element("text", text, x=node.x, y=y + HEIGHT / 2 + 14, text_anchor="middle", font_size=SMALL))
    return body


def box(node: Node) -> list[Markup]:
    width, y = max(text_width(node.text, SMALL) + 12, 16.0), height_of(node)
    colour = DONE_COLOUR if node.is_leaf else BOUND_COLOUR
    frame = element(
        "rect", x=node.x - width / 2, y=y - HEIGHT / 2, width=width, height=HEIGHT, rx=6, fill=PAPER if node.text else FAINT, stroke=colour
    )
    return [frame, element("text", node.text, x=node.x, y=y + 4, text_anchor="middle", font_size=SMALL)] if node.text else [frame]
