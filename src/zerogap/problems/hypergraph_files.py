"""Problems of hypergraphs as JSON. Structures and certificates name hyperedges by their place in the file, so they stand bottom-up."""

from __future__ import annotations

from typing import Any

import numpy as np

from zerogap.errors import FormatError
from zerogap.problems.forms import Dictionary, Many, Optional, Record
from zerogap.problems.hypergraph import Problem
from zerogap.structures.hypergraph import Hypergraph, from_edges
from zerogap.structures.linear import constraint_rows

FIELDS = {
    "vertices": int,
    "root": int,
    "edges": Many(Record({"head": int, "tail": Many(int), "score": Optional(float, 0.0)})),
    "constraints": Optional(Many(Record({"name": Optional(str), "parts": Dictionary(float), "sense": object, "limit": float})), ()),
}


def hypergraph_fields(problem: Problem) -> dict[str, Any]:
    graph, rows = problem.hypergraph, problem.constraints
    return {
        "vertices": graph.n_vertices,
        "root": graph.root,
        "edges": [
            {"head": head, "tail": graph.tail(e).tolist(), "score": score}
            for e, (head, score) in enumerate(zip(graph.heads.tolist(), problem.scores.tolist(), strict=True))
        ],
        "constraints": [
            {
                "name": rows.names[r],
                "parts": {str(rows.columns[i]): rows.coefficients[i] for i in range(rows.row_start[r], rows.row_start[r + 1])},
                "sense": "=" if rows.is_equation[r] else "<=",
                "limit": rows.limits[r],
            }
            for r in range(len(rows))
        ],
    }


def hypergraph_problem(given: dict[str, Any], where: str, resolution: float | None) -> Problem:
    edges = given["edges"]
    graph = graph_of(given, where)
    rows, names = [], []
    for r, row in enumerate(given["constraints"]):
        for part in row["parts"]:
            if not (part.isdecimal() and len(part) < 12 and str(int(part)) == part and int(part) < len(edges)):
                raise FormatError(f"{where}.constraints[{r}].parts has the key {part!r}: expected a hyperedge from 0 to {len(edges) - 1}.")
        rows.append(({int(part): coefficient for part, coefficient in row["parts"].items()}, row["sense"], row["limit"]))
        names.append(f"row {r}" if row["name"] is None else row["name"])
    scores = np.array([edge["score"] for edge in edges])
    return Problem(graph, scores, constraint_rows(graph.n_edges, rows, names=names), resolution=resolution)


def graph_of(given: dict[str, Any], where: str) -> Hypergraph:
    edges, n_vertices = given["edges"], given["vertices"]
    mentioned = len(edges) + sum(len(edge["tail"]) for edge in edges)
    if not 1 <= n_vertices <= mentioned + 1:
        raise FormatError(f"{where}.vertices is {n_vertices}: the hyperedges mention at most {mentioned}.")
    heads, tails = [edge["head"] for edge in edges], [edge["tail"] for edge in edges]
    graph, _, order = from_edges(heads, tails, n_vertices=n_vertices, root=given["root"])
    wrong = np.flatnonzero(order != np.arange(len(edges)))
    if wrong.size:
        raise FormatError(
            f"{where}.edges[{wrong[0]}] is out of order: expected hyperedges bottom-up, those into one vertex together,"
            f" so edges[{order[wrong[0]]}] here."
        )
    return graph
