"""Decoding of phrase-based translation: exact, by multipliers alone, or by beam search with a bound."""

from __future__ import annotations

from typing import Protocol

from zerogap._lazy import on_call
from zerogap.errors import InputError, UnknownMethod
from zerogap.problems.translation.phrases import Derivation, PhraseProblem
from zerogap.proof.solution import Solution
from zerogap.relax.descent import check_limits
from zerogap.translation.phrases.beam import STACK
from zerogap.translation.phrases.bounded_beam import beam_with_bound, multipliers_only
from zerogap.translation.phrases.kbest import best_translations
from zerogap.translation.phrases.optimal_beam import alternating_beam_search, optimal_beam_search, staged_beam_search
from zerogap.translation.phrases.search_state import is_translation


class Method(Protocol):
    def __call__(self, problem: PhraseProblem, *, time_limit: float | None, stack: int) -> Solution[Derivation]: ...


def decode_phrases(
    problem: PhraseProblem, *, method: str = "auto", time_limit: float | None = None, k: int = 1, stack: int = STACK
) -> Solution[Derivation]:
    """The best translation of a sentence by phrases, and a certificate; with `k`, the next best ones as well.

    Methods: `auto` proves every problem that fits its time. `optimal-beam`, `staged-beam`, `lr-tight`, `chang-collins` and `a-star` do so
    too, more slowly: the searches of the thesis. `ilp` is for short sentences (HiGHS). `lagrangian` has the multipliers of the source words
    only, and may leave a gap; `beam` has stacks of some size, and the bound of the first multipliers. All but `chang-collins` begin with a
    beam search with stacks of `stack` hypotheses. Infeasible if no sequence of phrases translates every word.
    """
    if not isinstance(problem, PhraseProblem):
        raise InputError(f"problem is a {type(problem).__name__}: expected a zerogap.translation.PhraseProblem.")
    if not isinstance(method, str) or method not in METHODS:
        raise UnknownMethod("method", method, METHODS)
    if type(k) is not int or k < 1:
        raise InputError(f"k is {k!r}: expected a number of translations, at least 1.")
    if k > 1 and method != "auto":
        raise InputError(f"k is {k}: method {method!r} finds one translation, expected method 'auto'.")
    check_limits(time_limit, None)
    if k > 1:
        return best_translations(problem, k, time_limit=time_limit, stack=stack)
    return METHODS[method](problem, time_limit=time_limit, stack=stack)


def integer_program(problem: PhraseProblem, *, time_limit: float | None, stack: int) -> Solution[Derivation]:
    """HiGHS proposes a translation. Its own bound has a tolerance, so ours is proved by `auto`."""
    from zerogap.baselines.phrase_ilp import solve_phrases

    phrases = solve_phrases(problem, time_limit=time_limit)
    proven = optimal_beam_search(problem, time_limit=time_limit, stack=stack)
    if phrases is None:
        return proven
    proposed = problem.derivation(phrases)
    if not is_translation(problem, proposed) or problem.score(proposed) < proven.score:
        return proven
    return Solution(proposed, problem.score(proposed), proven.bound, proven.certificate, proven.trace)


METHODS: dict[str, Method] = {
    "auto": optimal_beam_search,
    "optimal-beam": alternating_beam_search,
    "staged-beam": staged_beam_search,
    "lr-tight": on_call("zerogap.papers.rush2014.phrase_rivals.tight:tight_relaxation"),
    "chang-collins": on_call("zerogap.papers.rush2014.phrase_rivals.tight:printed_relaxation"),
    "a-star": on_call("zerogap.papers.rush2014.phrase_rivals.astar:best_first_search"),
    "ilp": integer_program,
    "lagrangian": multipliers_only,
    "beam": beam_with_bound,
}
