"""Decoding of phrase-based translation: exact, by multipliers alone, or by beam search with a bound."""

from __future__ import annotations

from typing import Protocol

from zerogap.errors import InputError, UnknownMethod
from zerogap.proof.solution import Solution
from zerogap.relax.closing import check_limits
from zerogap.translation.optimal_beam import alternating_beam_search, optimal_beam_search, staged_beam_search
from zerogap.translation.phrase_astar import best_first_search
from zerogap.translation.phrase_beam import STACK
from zerogap.translation.phrase_problem import Derivation, PhraseProblem
from zerogap.translation.phrase_tight import beam_with_bound, multipliers_only, tight_relaxation


class Method(Protocol):
    def __call__(self, problem: PhraseProblem, *, time_limit: float | None, stack: int) -> Solution[Derivation]: ...


def decode_phrases(
    problem: PhraseProblem, *, method: str = "auto", time_limit: float | None = None, stack: int = STACK
) -> Solution[Derivation]:
    """The best translation of a sentence by phrases, and a certificate.

    Methods: `auto` and `optimal-beam` (proves every problem within the time), `lagrangian` (multipliers of the source words only; may
    leave a gap), `beam` (stacks of some size, with the bound of the first multipliers). All begin with a beam search with stacks of `stack`
    hypotheses. Infeasible if no sequence of phrases translates every word.
    """
    if not isinstance(problem, PhraseProblem):
        raise InputError(f"problem is a {type(problem).__name__}: expected a zerogap.translation.PhraseProblem.")
    if not isinstance(method, str) or method not in METHODS:
        raise UnknownMethod("method", method, METHODS)
    check_limits(time_limit, None)
    return METHODS[method](problem, time_limit=time_limit, stack=stack)


METHODS: dict[str, Method] = {
    "auto": optimal_beam_search,
    "optimal-beam": alternating_beam_search,
    "staged-beam": staged_beam_search,
    "lr-tight": tight_relaxation,
    "a-star": best_first_search,
    "lagrangian": multipliers_only,
    "beam": beam_with_bound,
}
