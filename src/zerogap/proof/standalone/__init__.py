"""A verifier for people who do not have zerogap, and do not want to trust it: `one_file()` is a program of its own.

Nothing here imports anything of zerogap but this package. Everything is whole numbers and plain Python, slow and short; where a checker of
`zerogap.proof` is a table in NumPy, this is a dictionary, so that the two do not share mistakes.
"""

from __future__ import annotations

import ast
from pathlib import Path

MODULES = ("numbers", "factors", "trees", "patterns", "rules", "labels", "hypergraphs", "parses", "program")
HEADER = '''"""Checks exported solutions without zerogap: this file needs Python 3.9 and nothing else. Copy it, read it, run it.

    python check.py proofs.jsonl                   lines with "problem" and "solution", .gz or not
    python check.py problem.json solution.json

It was written apart from zerogap, for those who do not want to trust it. All scores are multiples of the problem's resolution, so they are
read as whole numbers of any size, and no sum is ever rounded. Of every solution it derives again, from the problem's definition, that the
structure is valid, what it scores, and that nothing scores more than the claimed bound by the evidence of the certificate:

    dependency    cut-duals, dynamic-program, head-prices, screened, factor-shares, narrowed, leaves
    sequence      intersection, agreement, leaves
    hypergraph    dynamic-program, multipliers, signatures, unsatisfiable, leaves
    joint         dynamic-program, multipliers, leaves      (a grammar and a tagger)

What it does not know it says so of, and does not count as checked. Exit codes: 0 all hold, 1 some do not hold, 3 some were not checked.
"""
'''


def one_file() -> str:
    """The modules as one program, with what they import of Python on top."""
    imports: set[str] = set()
    sections = []
    for name in MODULES:
        text = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
        lines, tree = text.splitlines(), ast.parse(text)
        for node in tree.body:
            is_docstring = node is tree.body[0] and isinstance(node, ast.Expr)
            if is_docstring or isinstance(node, ast.Import | ast.ImportFrom):
                if not is_docstring and "zerogap" not in ast.unparse(node):
                    imports.add(ast.unparse(node))
                lines[node.lineno - 1 : node.end_lineno] = [None] * ((node.end_lineno or 0) - node.lineno + 1)  # type: ignore[list-item]
        about = (ast.get_docstring(tree) or "").splitlines()
        title = "\n".join(["#" + "-" * 130, *(f"# {line}".rstrip() for line in about)])
        sections.append(title + "\n\n" + "\n".join(line for line in lines if line is not None).strip("\n"))
    ordered = sorted(imports, key=lambda line: (line.startswith("from"), line))
    return HEADER + "\n" + "\n".join(ordered) + "\n\n" + "\n\n\n".join(sections) + "\n"
