"""A constituency tree as a picture and as text.

    S
    ├─ NP ── NNS dogs
    ├─ VP ── VBP bark
    ╰─ . .

In the picture the words stand in a row at the bottom, and every label above the middle of what it covers. Nothing here recurses.
"""

from __future__ import annotations

from rich.cells import cell_len

from zerogap.constituency.treebank.trees import Tree, preorder
from zerogap.plot.svg import INK, SCORE_COLOUR, Markup, Picture, element, picture, text_width
from zerogap.plot.terminal_tree import BOLD, CYAN, DIM, GREEN, RESET, printable

MARGIN, GAP = 16, 18  # around everything; between words
LEVEL, ROW = 40, 20  # from a label to the one above it; from a tag to its word
SMALL, PALE = 11, "#9ca3af"  # the size of tags; the colour of lines to them


def plot_constituents(tree: Tree) -> Picture:
    """The tree with its words at the bottom. Labels of constituents are blue, tags small above their words."""
    nodes, parents = preorder(tree)
    height = heights_of(nodes, parents)
    middle, width = middles_of(nodes, parents)
    base = MARGIN + ROW + LEVEL * (max(height) if nodes else 0)
    body: list[Markup] = []
    for i, parent in enumerate(parents):
        if parent >= 0:
            top, bottom = base - LEVEL * height[parent], base - LEVEL * height[i]
            line = {"x1": middle[parent], "y1": top + 5.0, "x2": middle[i], "y2": bottom - 14.0}
            body.append(element("line", stroke=PALE if nodes[i].is_preterminal else INK, stroke_width=1.2, **line))
    for i, node in enumerate(nodes):
        y, tag = base - LEVEL * height[i], node.is_preterminal
        look: dict[str, object] = {"font_size": SMALL} if tag else {"fill": SCORE_COLOUR, "font_weight": "bold"}
        body.append(element("text", node.label, x=middle[i], y=y, text_anchor="middle", **look))
        words = [child for child in node.children if isinstance(child, str)]
        if words:
            body.append(element("text", " ".join(words), x=middle[i], y=y + ROW, text_anchor="middle"))
    return picture(width, base + ROW + MARGIN, f"Constituency tree: {tree}", *body)


def heights_of(nodes: list[Tree], parents: list[int]) -> list[int]:
    """How many levels every node is above the words."""
    height = [0] * len(nodes)
    for i in range(len(nodes) - 1, 0, -1):
        height[parents[i]] = max(height[parents[i]], height[i] + 1)
    return height


def middles_of(nodes: list[Tree], parents: list[int]) -> tuple[list[float], float]:
    """The middle of every node, and how wide the picture is. A word has as much room as it needs, or the widest label over it alone."""
    below: list[list[int]] = [[] for _ in nodes]
    for i, parent in enumerate(parents[1:], start=1):
        below[parent].append(i)
    middle, right = [0.0] * len(nodes), float(MARGIN)
    for i, node in enumerate(nodes):
        if not below[i]:
            widest = max(text_width(" ".join(map(str, node.children))), text_width(node.label))
            above = parents[i]
            while above >= 0 and len(below[above]) == 1:
                widest = max(widest, text_width(nodes[above].label))
                above = parents[above]
            middle[i] = right + widest / 2
            right += widest + GAP
    for i in range(len(nodes) - 1, -1, -1):
        if below[i]:
            middle[i] = (middle[below[i][0]] + middle[below[i][-1]]) / 2
    return middle, right - GAP + MARGIN


def draw_constituents(tree: Tree, *, width: int | None = None, colour: bool = False) -> str:
    """The tree as lines of text, a word on each; what has one child goes on in the same line. Lines are cut at `width`.

    >>> from zerogap.io.formats.brackets import tree_from_text
    >>> print(draw_constituents(tree_from_text("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))")))
    S
    ├─ NP
    │  ├─ DT the
    │  ╰─ NN dog
    ╰─ VP ── VBZ barks
    """
    lines: list[str] = []
    waiting: list[tuple[Tree, str, str]] = [(tree, "", "")]  # node, what stands before it, and before what is below it
    while waiting:
        node, before, indent = waiting.pop()
        parts, colours = [before], [DIM]
        while True:
            words = [printable(child) for child in node.children if isinstance(child, str)]
            parts.append(printable(node.label))
            colours.append(CYAN if words else GREEN)
            if words:
                parts.append(" " + " ".join(words))
                colours.append(BOLD)
            below = node.subtrees
            if len(below) != 1 or words:
                break
            parts.append(" ── ")
            colours.append(DIM)
            node = below[0]
        lines.append(painted(parts, colours, width, colour))
        for i in range(len(below) - 1, -1, -1):
            last = i == len(below) - 1
            waiting.append((below[i], indent + ("╰─ " if last else "├─ "), indent + ("   " if last else "│  ")))
    return "\n".join(lines)


def painted(parts: list[str], colours: list[str], width: int | None, colour: bool) -> str:
    """The parts of a line one after the other, cut at the width."""
    left, found = width, []
    for part, paint in zip(parts, colours, strict=True):
        text = part
        if left is not None:
            text = text[: left + 1]  # no character is narrower than 0, and few are
            if cell_len(text) > left:
                while text and cell_len(text) > left - 1:
                    text = text[:-1]
                text += "…" if left > 0 else ""
            left = max(left - cell_len(text), 0)
        found.append(f"{paint}{text}{RESET}" if colour and text else text)
    return "".join(found).rstrip()
