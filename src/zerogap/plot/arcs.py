"""A dependency tree as arcs above its sentence: each comes down on the modifier, with its label on it.

Short arcs are low, long ones pass above them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from zerogap.dependency.sentence import Sentence
from zerogap.errors import InputError
from zerogap.plot.svg import BOUND_COLOUR, INK, PAPER, SCORE_COLOUR, Markup, Picture, element, picture, text_width

Arc = tuple[int, int]  # head, modifier

MARGIN, GAP = 16, 22  # around everything; between words
LEVEL, LOWEST = 26, 22  # how much higher an arc is than those below it; the height of the lowest above the words
CORNER, BESIDE = 9, 7  # radius of corners; how far from the middle of a word arcs leave it
SMALL = 11  # the size of labels and tags
ROW = 18


def plot_arcs(
    sentence: Sentence, *, columns: Sequence[str] = ("upos",), disputed: Collection[Arc] = (), colour: str = SCORE_COLOUR
) -> Picture:
    """The tree of a sentence, with these of its columns below the words. Arcs (head, modifier) that are `disputed` are dashed.

    Disputed arcs need not be in the tree: those that are not are drawn as well.
    """
    if sentence.heads is None:
        raise InputError(f"{sentence.name or 'the sentence'} has no heads: expected a tree.")
    missing = [name for name in columns if name not in sentence.columns]
    if missing:
        raise InputError(f"the sentence has no column {missing[0]!r}: expected some of {', '.join(sentence.columns)}.")
    labels = dict(zip(range(1, len(sentence) + 1), sentence.labels or (), strict=False))
    in_tree = [(h, m) for m, h in enumerate(sentence.heads, start=1)]
    arcs = {arc: labels.get(arc[1], "") for arc in in_tree} | {arc: "" for arc in sorted(disputed) if arc not in in_tree}
    forms = sentence.columns["form"]
    rows = [sentence.columns[name] for name in columns]
    places = places_of(forms, rows, arcs)
    levels = levels_of([arc for arc in arcs if arc[0]])
    top = MARGIN + ROW
    base = top + LOWEST + LEVEL * (max(levels.values(), default=0) + 1)
    body: list[Markup] = []
    for (h, m), label in sorted(arcs.items(), key=lambda entry: -levels.get(entry[0], 0)):
        look = {"stroke": BOUND_COLOUR, "stroke_dasharray": "4 3"} if (h, m) in disputed else {"stroke": colour}
        y = base - LOWEST - LEVEL * levels.get((h, m), 0) if h else top
        body += arc_between(places[h] if h else None, places[m], y, base, label or ("root" if h == 0 else ""), look)
    for m, form in enumerate(forms, start=1):
        body.append(element("text", form, x=places[m], y=base + ROW, text_anchor="middle", font_weight="bold"))
        for i, row in enumerate(rows):
            if row[m - 1] != "_":
                body.append(element("text", row[m - 1], x=places[m], y=base + ROW * (i + 2), text_anchor="middle", font_size=SMALL))
    width = max(places, default=0.0) + max((text_width(form) for form in forms[-1:]), default=0.0) / 2 + 2 * MARGIN
    said = "; ".join(f"{forms[m - 1]} depends on {forms[h - 1] if h else 'nothing'}" for h, m in in_tree)
    return picture(width, base + ROW * (len(rows) + 1) + MARGIN, f"Dependency tree: {said}", *body)


def arc_between(head: float | None, modifier: float, y: float, base: float, label: str, look: dict[str, str]) -> list[Markup]:
    """A line from the head up to y, along, and down to the modifier, where it has a point; from above for the root."""
    tip = base + 2
    point = element("path", d=f"M{modifier:.1f},{tip:.1f} l-4,-7 h8 z", fill=look["stroke"])
    if head is None:
        line = element("path", d=f"M{modifier:.1f},{y:.1f} V{tip - 6:.1f}", fill="none", stroke_width=1.5, **look)
        return [line, point, *lettering(label, modifier, y)]
    side = 1 if modifier > head else -1
    start = head + BESIDE * side
    corner = min(CORNER, abs(modifier - start) / 2) * side
    sweep = 1 if side > 0 else 0
    radius = abs(corner)
    path = (
        f"M{start:.1f},{base:.1f} V{y + radius:.1f} a{radius:.1f},{radius:.1f} 0 0 {sweep} {corner:.1f},{-radius:.1f}"
        f" H{modifier - corner:.1f} a{radius:.1f},{radius:.1f} 0 0 {sweep} {corner:.1f},{radius:.1f} V{tip - 6:.1f}"
    )
    return [element("path", d=path, fill="none", stroke_width=1.5, **look), point, *lettering(label, (start + modifier) / 2, y)]


def lettering(label: str, x: float, y: float) -> list[Markup]:
    """A label in the middle of a line, which it interrupts."""
    if not label:
        return []
    width = text_width(label, SMALL) + 6
    paper = element("rect", x=x - width / 2, y=y - 7, width=width, height=14, fill=PAPER)
    return [paper, element("text", label, x=x, y=y + 4, text_anchor="middle", font_size=SMALL, fill=INK)]


def places_of(forms: Sequence[str], rows: Sequence[Sequence[str]], arcs: dict[Arc, str]) -> list[float]:
    """The middle of every word, 0 for the root: far enough from each other for words, tags, and the labels of arcs."""
    widths = [max([text_width(form), *(text_width(row[i], SMALL) for row in rows)]) for i, form in enumerate(forms)]
    places = [0.0]
    for i, width in enumerate(widths):
        before = places[-1] + widths[i - 1] / 2 + GAP if i else float(MARGIN)
        places.append(before + width / 2)
    for (h, m), label in sorted(arcs.items(), key=lambda entry: abs(entry[0][0] - entry[0][1])):
        if h and label:
            left, right = min(h, m), max(h, m)
            lacking = text_width(label, SMALL) + 2 * CORNER + BESIDE + 8 - (places[right] - places[left])
            if lacking > 0:
                places[right:] = [x + lacking for x in places[right:]]
    assert all(a < b for a, b in pairwise(places))
    return places


def levels_of(arcs: Sequence[Arc]) -> dict[Arc, int]:
    """How high every arc must be to pass above those that lie below it, or that it crosses; 0 is the lowest."""
    levels: dict[Arc, int] = {}
    for arc in sorted(arcs, key=lambda arc: (abs(arc[0] - arc[1]), min(arc))):
        left, right = min(arc), max(arc)
        below = [level for other, level in levels.items() if min(other) < right and left < max(other)]
        levels[arc] = max(below, default=-1) + 1
    return levels
