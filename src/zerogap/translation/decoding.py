"""The best translation of a sentence, whichever way it is put: by phrases, or by the rules of a grammar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zerogap.errors import InputError
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.problems.translation.phrases import PhraseProblem
from zerogap.proof.solution import Solution
from zerogap.relax.parallel import decode_each
from zerogap.translation.forests.decoding import decode_forest
from zerogap.translation.phrases.decoding import decode_phrases


def decode(problem: PhraseProblem | SyntaxProblem, *, method: str = "auto", time_limit: float | None = None, k: int = 1) -> Solution[Any]:
    """A best derivation and its certificate, with `k` the next best as well. Methods are those of `decode_phrases` and `decode_forest`."""
    if isinstance(problem, PhraseProblem):
        return decode_phrases(problem, method=method, time_limit=time_limit, k=k)
    if isinstance(problem, SyntaxProblem):
        return decode_forest(problem, method=method, time_limit=time_limit, k=k)
    raise InputError(f"problem is a {type(problem).__name__}: expected a PhraseProblem or a SyntaxProblem.")


def decode_many(
    problems: Sequence[PhraseProblem | SyntaxProblem],
    *,
    threads: int | None = None,
    method: str = "auto",
    time_limit: float | None = None,
    k: int = 1,
) -> list[Solution[Any]]:
    """Decodes problems on several threads, in order."""
    return decode_each(decode, problems, threads, method=method, time_limit=time_limit, k=k)
