"""zerogap finds the best structure under a rich model, and proves that it is the best.

>>> import zerogap
>>> problem = zerogap.dependency.Problem([[0, 5, 1], [0, 0, 8], [0, 9, 0]])
>>> solution = zerogap.dependency.decode(problem)
>>> solution.structure, solution.score, solution.bound
((0, 1), 13.0, 13.0)
>>> print(zerogap.verify(problem, solution))
the structure is valid; it scores 13.0; no structure scores more than 13.0 (certificate: cut-duals); so it is optimal

Tasks: `zerogap.dependency`, `zerogap.constituency`, `zerogap.sequence`, `zerogap.translation`,
`zerogap.hypergraph`. Each has problems, `decode` and `decode_many`. `zerogap.load("en")` gives a parser of text.
"""

from typing import TYPE_CHECKING

from zerogap import errors
from zerogap._lazy import lazy

if TYPE_CHECKING:
    from zerogap import automata, constituency, dependency, hypergraph, pipeline, sequence, translation
    from zerogap.pipeline.loading import load
    from zerogap.problems.files import load_problem, save_problem
    from zerogap.proof.files import load_solution, save_solution
    from zerogap.proof.solution import Solution, Trace
    from zerogap.proof.verify import Verified, verify

__version__ = "0.1.0"

__all__ = [
    "Solution", "Trace", "Verified", "automata", "constituency", "dependency", "errors", "hypergraph", "load",
    "load_problem", "load_solution", "pipeline", "save_problem", "save_solution", "sequence", "translation", "verify",
]  # fmt: skip

__getattr__, __dir__ = lazy(
    __name__,
    {task: f".{task}" for task in ("automata", "constituency", "dependency", "hypergraph", "pipeline", "sequence", "translation")}
    | {
        "Solution": ".proof.solution",
        "Trace": ".proof.solution",
        "Verified": ".proof.verify",
        "load": ".pipeline.loading",
        "load_problem": ".problems.files",
        "load_solution": ".proof.files",
        "save_problem": ".problems.files",
        "save_solution": ".proof.files",
        "verify": ".proof.verify",
    },
)
