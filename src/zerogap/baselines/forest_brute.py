"""All derivations of a tiny translation forest, one by one: slow and obviously right."""

from __future__ import annotations

from collections.abc import Iterator

from zerogap.problems.translation.forest import Derivation, Forest
from zerogap.problems.translation.forest_problem import SyntaxProblem


def all_derivations(forest: Forest) -> Iterator[Derivation]:
    """Every derivation of the root, one by one: for tiny forests."""

    def below(vertices: list[int]) -> Iterator[Derivation]:
        if not vertices:
            yield ()
            return
        first, rest = vertices[0], vertices[1:]
        for edge in range(int(forest.edge_start[first]), int(forest.edge_start[first + 1])):
            for inner in below(forest.tail(edge)):
                for others in below(rest):
                    yield (edge, *inner, *others)

    return below([forest.root])


def brute_force(problem: SyntaxProblem) -> tuple[Derivation, float]:
    """The best derivation of a tiny forest and its score, by looking at all of them; ties to the first."""
    best = max(all_derivations(problem.forest), key=problem.score)
    return best, problem.score(best)
