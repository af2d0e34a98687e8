"""Checks a solution from the problem's definition and its certificate alone.

`verify` says what it checked, and raises VerificationError with the first claim that does not hold. It shares no code
with the solvers: only the problems' definitions and the checkers of this package are used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from zerogap.errors import InputError, InvalidStructure, VerificationError, public_name
from zerogap.problems.constituency.joint import JointProblem
from zerogap.problems.constituency.lexical import LexicalProblem
from zerogap.problems.constituency.lexical_agreement import LexicalAgreement
from zerogap.problems.dependency.problem import Problem as DependencyProblem
from zerogap.problems.files import digest_of
from zerogap.problems.hypergraph import Problem as HypergraphProblem
from zerogap.problems.json_values import shorten
from zerogap.problems.sequence.problem import Problem as SequenceProblem
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.problems.translation.phrases import PhraseProblem
from zerogap.proof.certificate import check_form
from zerogap.proof.constituency.joint import joint_bound
from zerogap.proof.constituency.lexical import lexical_bound
from zerogap.proof.constituency.lexical_agreement import agreement_bound
from zerogap.proof.dependency.claims import dependency_alternatives, dependency_bound
from zerogap.proof.form import check_trace, plain_number, plain_structure
from zerogap.proof.hypergraph import hypergraph_bound
from zerogap.proof.integers import Units, as_float, bound_units, units_of
from zerogap.proof.sequence.labellings import sequence_alternatives, sequence_bound
from zerogap.proof.solution import Solution
from zerogap.proof.translation.forests import syntax_alternatives, syntax_bound
from zerogap.proof.translation.phrases import phrase_alternatives, phrase_bound


def of_floats(bound: Callable[[Any, Any, float], float]) -> Callable[[Any, Any, Units], Units]:
    """A checker whose floats hold integers exactly."""

    def checked(problem: Any, certificate: Any, claimed: Units) -> Units:
        return bound_units(bound(problem, certificate, claimed * problem.resolution), problem.resolution)

    return checked


# the bound that a certificate proves, in units; a search may use the claimed one to leave out what cannot beat it
CHECKERS: dict[type, Callable[[Any, Any, Units], Units]] = {
    HypergraphProblem: hypergraph_bound,
    DependencyProblem: dependency_bound,
    LexicalProblem: lexical_bound,
    LexicalAgreement: agreement_bound,
    JointProblem: joint_bound,
    SequenceProblem: sequence_bound,
    PhraseProblem: phrase_bound,
    SyntaxProblem: of_floats(syntax_bound),
}
# the scores above a claimed one of the k best structures
ALTERNATIVES: dict[type, Callable[[Any, Any, float, int], Any]] = {
    DependencyProblem: lambda problem, certificate, claimed, k: dependency_alternatives(
        problem, certificate, units_of(claimed, problem.resolution, "score"), k
    ),
    SequenceProblem: lambda problem, certificate, claimed, k: sequence_alternatives(
        problem, certificate, units_of(claimed, problem.resolution, "score"), k
    ),
    PhraseProblem: lambda problem, certificate, claimed, k: phrase_alternatives(
        problem, certificate, units_of(claimed, problem.resolution, "score"), k
    ),
    SyntaxProblem: syntax_alternatives,
}


@dataclass(frozen=True, slots=True)
class Verified:
    """What was checked, in words, and the numbers that were derived again."""

    score: float
    bound: float
    checked: tuple[str, ...]

    def __str__(self) -> str:
        return "; ".join(self.checked)


def verify(problem: Any, solution: Solution[Any]) -> Verified:
    """Derives feasibility, score and bound again; VerificationError names the first claim that fails.

    The claimed bound may be weaker than what the certificate proves, never stronger.
    """
    if type(problem) not in CHECKERS:
        known = ", ".join(map(public_name, CHECKERS))
        raise InputError(f"problem is a {type(problem).__name__}: expected one of {known}.")
    if type(solution) is not Solution:
        raise InputError(f"solution is a {type(solution).__name__}: expected a Solution.")
    try:
        return checked_solution(problem, solution)
    except RecursionError:
        raise VerificationError("the solution is nested too deeply to check.") from None


def checked_solution(problem: Any, solution: Solution[Any]) -> Verified:
    check_digest(problem, solution.digest)
    check_form(solution.certificate)
    solution = replace(
        solution,
        structure=plain_structure(solution.structure),
        score=plain_number(solution.score, "score"),
        bound=plain_number(solution.bound, "bound"),
    )
    checked = []
    if solution.structure is None:
        score = -math.inf
        checked.append("no structure is claimed")
    else:
        try:
            problem.check(solution.structure)
        except InvalidStructure as error:
            raise VerificationError(f"the structure is not valid: {error}") from error
        score = problem.score(solution.structure)
        checked += ["the structure is valid", f"it scores {score!r}"]
    if not score == solution.score:
        raise VerificationError(f"the score is {score!r}, not {solution.score!r} as claimed.")
    claimed = bound_units(solution.bound, problem.resolution)
    found = CHECKERS[type(problem)](problem, solution.certificate, claimed)
    if not found <= claimed:  # written so that nan fails
        proven = f"{as_float(found, problem.resolution)!r}" if abs(found) <= 2**53 else f"{found} times {problem.resolution!r}"
        raise VerificationError(f"the certificate proves the bound {proven}, not {solution.bound!r} as claimed.")
    bound = as_float(found, problem.resolution)
    if not bound >= score:
        raise VerificationError(f"the bound {bound!r} of the certificate is below the score {score!r} of a valid structure: a defect.")
    check_trace(solution, score)
    checked.append(f"no structure scores more than {solution.bound!r} (certificate: {solution.certificate.kind})")
    if score == solution.bound > -math.inf:
        checked.append("so it is optimal")
    if solution.alternatives is not None and solution.alternatives != ():
        check_alternatives(problem, solution)
        checked.append(f"so are its {len(solution.alternatives)} alternatives, the next best")
    return Verified(score, bound, tuple(checked))


def check_digest(problem: Any, claimed: Any) -> None:
    """A solution from a file names its problem; one in memory need not."""
    if claimed is None:
        return
    found = digest_of(problem)
    if type(claimed) is not str or claimed != found:
        raise VerificationError(f"the solution is of another problem: it names {shorten(claimed)}, and this one is {found!r}.")


def check_alternatives(problem: Any, solution: Solution[Any]) -> None:
    """All different and valid, scored as claimed, best first, and nothing else scores more than the last."""
    if type(problem) not in ALTERNATIVES:
        raise VerificationError("alternatives cannot be checked for this kind of problem.")
    if type(solution.alternatives) is not tuple or any(type(row) is not tuple or len(row) != 2 for row in solution.alternatives):
        raise VerificationError(f"the alternatives are {shorten(solution.alternatives)}: expected a tuple of structures with their scores.")
    claimed = [(solution.structure, solution.score)]
    for structure, score in solution.alternatives:
        claimed.append((plain_structure(structure), plain_number(score, "score of an alternative")))
    if len({structure for structure, _ in claimed}) < len(claimed):
        raise VerificationError("an alternative is given twice.")
    for structure, score in claimed[1:]:
        try:
            problem.check(structure)
        except InvalidStructure as error:
            raise VerificationError(f"an alternative is not valid: {error}") from error
        if not problem.score(structure) == score:
            raise VerificationError(f"an alternative scores {problem.score(structure)!r}, not {score!r} as claimed.")
    scores = [score for _, score in claimed]
    if scores != sorted(scores, reverse=True):
        raise VerificationError("the alternatives are not in the order of their scores.")
    above = ALTERNATIVES[type(problem)](problem, solution.certificate, scores[-1], len(scores))
    if len(above) > sum(score > scores[-1] for score in scores):
        raise VerificationError(f"another structure scores more than the last alternative: {scores[-1]!r}.")
