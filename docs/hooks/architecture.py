"""Draws the two pictures of docs/design.md: the rooms, from the faces down, and the way that a problem takes through them."""

from __future__ import annotations

from typing import Any

ROOMS = (
    ("faces and jobs", "cli  serve  plot  batch  testing", "#ede9fe"),
    ("from text to answers", "pipeline  io  text", "#ede9fe"),
    ("as printed in papers", "papers", "#f3f4f6"),
    ("tasks", "constituency  dependency  sequence  translation  hypergraph", "#dbeafe"),
    ("models", "learning  features", "#dbeafe"),
    ("one contract", "relax: solve, screen, close_gap", "#fef3c7"),
    ("exact algorithms", "oracles: trees heads factors labels parses hypergraphs phrases forests ...", "#fef3c7"),
    ("the trusted base", "proof: certificates, checkers, in integers", "#dcfce7"),
    ("", "problems: Problem, score, check", "#dcfce7"),
    ("", "structures  grid  errors", "#dcfce7"),
)
WAY = (
    ("scores, rules, models", "arrays, tensors, files"),
    ("Problem", "rounded once to a grid of exact numbers"),
    ("Relaxation", "an easier problem: prices, cuts, fewer constraints"),
    ("oracle", "its best structure, in a kernel"),
    ("bound and candidate", "equal: done. Else price, screen, branch"),
    ("Solution", "structure, score, bound, certificate"),
    ("verify", "checkers that share nothing with the search"),
)


def rooms() -> Any:
    from zerogap.plot.svg import element, picture

    height, gap, body = 40, 8, []
    for i, (title, inside, colour) in enumerate(ROOMS):
        y = 10 + i * (height + gap)
        body.append(element("rect", x=150, y=y, width=540, height=height, rx=6, fill=colour))
        body.append(element("text", title, x=140, y=y + 25, text_anchor="end"))
        body.append(element("text", inside, x=166, y=y + 25))
    return picture(700, 10 + len(ROOMS) * (height + gap), "The folders of zerogap in layers: an import goes down, never up", *body)


def way() -> Any:
    from zerogap.plot.svg import INK, element, picture

    height, gap, body = 44, 22, []
    for i, (title, inside) in enumerate(WAY):
        y = 10 + i * (height + gap)
        body.append(
            element("rect", x=150, y=y, width=400, height=height, rx=6, fill="#dcfce7" if title in ("Problem", "verify") else "#fef3c7")
        )
        body.append(element("text", title, x=350, y=y + 18, text_anchor="middle", font_weight="bold"))
        body.append(element("text", inside, x=350, y=y + 36, text_anchor="middle"))
        if i + 1 < len(WAY):
            body.append(element("path", d=f"M350 {y + height} v{gap - 6} m-5 -5 l5 6 l5 -6", stroke=INK, fill="none"))
    # tighten: from bound and candidate back to the relaxation
    low, high = 10 + 4 * (height + gap) + height / 2, 10 + 2 * (height + gap) + height / 2
    body.append(element("path", d=f"M550 {low} h50 v{high - low} h-44 m6 -5 l-7 5 l7 5", stroke=INK, fill="none"))
    body.append(element("text", "a gap is left", x=608, y=(low + high) / 2 + 4))
    return picture(700, len(WAY) * (height + gap), "The way of a problem: from scores to a verified solution", *body)
