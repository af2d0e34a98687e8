"""Exact decoding of dependency trees by one oracle call, and its proof.

Non-projective trees under arc scores come with the duals of Edmonds' cuts. Projective ones come from dynamic programs that relax
nothing; the checker runs one of its own. The best label of every arc is part of the arc's score.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from zerogap.dependency.candidate_arcs import candidates_of, scores_of_candidates
from zerogap.errors import Infeasible, InputError, UnknownMethod, check_problem
from zerogap.grid import Scores
from zerogap.oracles.trees.arborescence import arborescence_duals
from zerogap.oracles.trees.arc_scores import infeasible
from zerogap.oracles.trees.eisner import eisner_kernel
from zerogap.oracles.trees.grandsiblings import grandsibling_kernel
from zerogap.oracles.trees.outermost import outermost_kernel
from zerogap.oracles.trees.siblings import sibling_kernel
from zerogap.problems.dependency.parts import LazyParts
from zerogap.problems.dependency.problem import Problem, Tree
from zerogap.proof.certificate import Certificate, CutDuals, DynamicProgram, HeadPrices
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.descent import check_limits
from zerogap.relax.parallel import decode_each

Heads = NDArray[np.int64]
FEW, MANY_WORDS = 0.1, 40  # a share of all arcs; a number of words
Ranked = Iterator[tuple[Heads, float]]  # trees and their scores with the best labels, the highest first


@dataclass(frozen=True, slots=True)
class Method:
    """A decoder, `decode(problem, time_limit=..., k=...)`, and what it takes: kinds of trees, and parts beside arcs and labels."""

    decode: Callable[..., Solution[Tree]]
    projective: frozenset[bool]
    parts: frozenset[str]
    exact: bool = True  # without a limit, it ends with a proof
    polynomial: bool = True  # a dynamic program, or Edmonds' algorithm

    def cannot_score(self, problem: Problem) -> list[str]:
        return [name for name in problem.larger if name not in self.parts]


def decode(problem: Problem, *, method: str = "auto", time_limit: float | None = None, k: int = 1) -> Solution[Tree]:
    """A best tree as the heads of words 1 to n (with labels, a `LabelledTree`), and a certificate. Infeasible if there is none.

    Methods: `auto`; `arborescence` (non-projective, arcs only, O(n^2)); projective: `eisner` (arcs only, O(n^3)), `siblings` (and
    stops, O(n^3)), `outermost` (and outermost grandchildren, O(n^4)), `grandsiblings` (and all grandparents; O(n^4), less if arcs are
    forbidden). They run to the end in polynomial time, whatever the limit. With `k` above 1 the next best structures are in
    `solution.alternatives`, None if the limit was reached before. `head-automata` scores the same parts of non-projective trees, by dual
    decomposition and branch and bound; `dual-decomposition` does not branch, and may leave a gap. `price-and-cut` takes arcs,
    siblings, stops and grandparents, by a linear program that scores few of them. `branch-and-bound` takes factors and everything else.

    >>> decode(Problem([[0, 1, 9], [0, 0, 2], [0, 5, 0]])).structure
    (2, 0)
    """
    check_problem(problem, Problem)
    if not isinstance(method, str) or method not in ("auto", *METHODS):
        raise UnknownMethod("method", method, ("auto", *METHODS))
    check_limits(time_limit, None)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InputError(f"k is {k!r}: expected how many trees, 1 or more.")
    return METHODS[chosen(problem, method)].decode(problem, time_limit=time_limit, k=k)


def decode_many(
    problems: Sequence[Problem], *, threads: int | None = None, method: str = "auto", time_limit: float | None = None, k: int = 1
) -> list[Solution[Tree]]:
    """Decodes problems on several threads, in order."""
    return decode_each(decode, problems, threads, method=method, time_limit=time_limit, k=k)


def chosen(problem: Problem, method: str, *, polynomial: bool = False) -> str:
    """The method itself if it can decode the problem, the first one that can for `auto`; InputError says why none does."""
    parts, projective = problem.larger, problem.projective
    if method == "auto":
        for name, m in METHODS.items():
            if projective in m.projective and m.parts.issuperset(parts) and (m.polynomial or not polynomial):
                return name
    known = {name: m for name, m in METHODS.items() if m.polynomial or not polynomial}
    able = [name for name, m in known.items() if projective in m.projective and m.parts.issuperset(parts)]
    kind = "projective" if problem.projective else "non-projective"
    if method == "auto":
        beside = f" with {', '.join(problem.larger)}"
        raise InputError(f"no method is exact for a {kind} problem{beside}: {what_there_is(known, problem.projective)}.")
    if method in able:
        return method
    others = f"methods that can: {', '.join(able)}" if able else what_there_is(known, problem.projective)
    if problem.projective not in METHODS[method].projective:
        wanted = f"projective={not problem.projective}"
        raise InputError(f"method {method!r} was given a {kind} problem: expected {wanted}, or another method ({others}).")
    cannot = ", ".join(METHODS[method].cannot_score(problem))
    raise InputError(f"method {method!r} cannot score {cannot}: expected arcs{beside_arcs(METHODS[method])}, or another method ({others}).")


def what_there_is(known: dict[str, Method], projective: bool) -> str:
    return "; ".join(f"{name!r} scores arcs{beside_arcs(m)}" for name, m in known.items() if projective in m.projective)


def beside_arcs(method: Method) -> str:
    return "".join(f", {name}" for name in sorted(method.parts))


def with_best_labels(problem: Problem) -> tuple[Scores, NDArray[np.int64] | None]:
    """The scores of arcs with their best labels, and those labels (n + 1, n + 1), the lowest on ties."""
    if problem.labels is None:
        return problem.arcs, None
    labels = problem.labels.argmax(axis=2)
    return problem.arcs + np.take_along_axis(problem.labels, labels[..., None], axis=2)[..., 0], labels


def exactly(
    best: Callable[[Problem, Scores], tuple[Heads, float, Certificate]],
    ranked: Callable[[Problem, Scores, Heads, Certificate, int], Ranked],
) -> Callable[..., Solution[Tree]]:
    """A decoder from what finds a best tree under arcs that hold the best labels, and what finds k of them, the best first."""

    def decoder(problem: Problem, *, time_limit: float | None = None, k: int = 1) -> Solution[Tree]:
        begin = time.perf_counter()
        arcs, labels = with_best_labels(problem)
        heads, bound, certificate = best(problem, arcs) if problem.n_words > 0 else no_words(problem)
        structure: Tree = problem.tree(heads, None if labels is None else labels[heads, np.arange(1, problem.n_words + 1)])
        score = problem.score(structure)
        solution: Solution[Tree] = Solution(structure, score, bound, certificate, Trace((bound,), (score,), (time.perf_counter() - begin,)))
        if k == 1:
            return solution
        from zerogap.dependency.decoding.kbest import labelled_trees  # most ask for one tree

        structures = labelled_trees(problem, ranked(problem, arcs, heads, certificate, k))
        found = []
        for other, _ in itertools.islice(structures, k):
            if time_limit is not None and time.perf_counter() - begin > time_limit:
                return replace(solution, alternatives=None)
            if other != structure:
                found.append((other, problem.score(other)))
        return replace(solution, alternatives=tuple(found[: k - 1]))

    return decoder


def no_words(problem: Problem) -> tuple[Heads, float, Certificate]:
    heads = np.empty(0, dtype=np.int64)
    score = problem.score(problem.tree(heads, heads))
    if score == -np.inf:
        raise Infeasible("the sentence has no words, and stops[0, 0] or an automaton of the root forbids that.")
    return heads, score, DynamicProgram() if problem.projective else CutDuals((), ())


def best_nonprojective(problem: Problem, arcs: Scores) -> tuple[Heads, float, Certificate]:
    heads, sets, values = arborescence_duals(arcs, single_root=problem.single_root)
    return heads, float(sum(values)), CutDuals(sets, values)


def ranked_nonprojective(problem: Problem, arcs: Scores, best: Heads, certificate: Certificate, k: int) -> Ranked:
    assert isinstance(certificate, CutDuals)
    from zerogap.dependency.decoding.kbest import nonprojective_trees

    return nonprojective_trees(arcs, best, certificate.sets, certificate.values, single_root=problem.single_root)


def best_by_arcs(problem: Problem, arcs: Scores) -> tuple[Heads, float, Certificate]:
    heads = np.empty(problem.n_words, dtype=np.int64)
    bound = eisner_kernel(arcs, 1 if problem.single_root else 0, heads)
    if bound == -np.inf:
        raise infeasible(arcs, single_root=problem.single_root, projective=True)
    return heads, float(bound), DynamicProgram()


def best_by_candidates(problem: Problem, arcs: Scores, *, grand: bool) -> tuple[Heads, float, Certificate]:
    """The pruned kernel: its time depends on the arcs that are left."""
    allowed = arcs > -np.inf
    if not allowed[:, 1:].any(axis=0).all():
        raise infeasible(arcs, single_root=problem.single_root, projective=True)
    heads = np.empty(problem.n_words, dtype=np.int64)
    c = candidates_of(allowed, grand=grand)
    scores, stops = scores_of_candidates(problem, arcs, c)
    single_root = 1 if problem.single_root else 0
    bound = grandsibling_kernel(
        c.contexts, c.modifier_start, c.modifiers, c.context, c.score_start, scores, c.stop_start, stops, single_root, heads
    )
    if bound == -np.inf:
        raise infeasible_parts(problem, arcs)
    return heads, float(bound), DynamicProgram()


def candidates_are_faster(problem: Problem, arcs: Scores) -> bool:
    """Whether few arcs are left, and arrays of all parts would be large or not all known yet."""
    n = problem.n_words
    costs = n > MANY_WORDS or any(isinstance(parts, LazyParts) for parts in problem.parts.values())
    return costs and int(np.count_nonzero(arcs > -np.inf)) < FEW * n * n


def best_by_siblings(problem: Problem, arcs: Scores) -> tuple[Heads, float, Certificate]:
    n = problem.n_words
    if candidates_are_faster(problem, arcs):
        return best_by_candidates(problem, arcs, grand=False)
    heads = np.empty(n, dtype=np.int64)
    siblings = np.zeros((n + 1, n + 1, n + 1)) if problem.siblings is None else problem.siblings.dense(n)
    stops = np.zeros((n + 1, n + 1)) if problem.stops is None else problem.stops.dense(n)
    bound = sibling_kernel(arcs, siblings, stops, 1 if problem.single_root else 0, heads)
    if bound == -np.inf:
        raise infeasible_parts(problem, arcs)
    return heads, float(bound), DynamicProgram()


def best_by_outermost(problem: Problem, arcs: Scores) -> tuple[Heads, float, Certificate]:
    n = problem.n_words
    if candidates_are_faster(problem, arcs):
        return best_by_candidates(problem, arcs, grand=True)
    heads = np.empty(n, dtype=np.int64)
    siblings, outermost = (
        np.zeros((n + 1, n + 1, n + 1)) if parts is None else parts.dense(n) for parts in (problem.siblings, problem.outermost)
    )
    stops = np.zeros((n + 1, n + 1)) if problem.stops is None else problem.stops.dense(n)
    bound = outermost_kernel(arcs, siblings, stops, outermost, 1 if problem.single_root else 0, heads)
    if bound == -np.inf:
        raise infeasible_parts(problem, arcs)
    return heads, float(bound), DynamicProgram()


def by_agreement(*, branch: bool) -> Callable[..., Solution[Tree]]:
    """A decoder by dual decomposition; with `branch` it goes on until there is a proof."""

    def decoder(problem: Problem, *, time_limit: float | None = None, k: int = 1) -> Solution[Tree]:
        from zerogap.dependency.decoding.agreement.decoder import dual_decomposition  # most do without

        if k > 1:
            raise InputError(f"k is {k}: expected 1, since the next best trees are not known for non-projective trees with larger parts.")
        arcs, labels = with_best_labels(problem)
        if problem.n_words == 0:
            heads, bound, _ = no_words(problem)
            return Solution(problem.tree(heads, heads), bound, bound, HeadPrices((), (), ()), Trace((bound,), (bound,), (0.0,)))
        return dual_decomposition(problem, arcs, labels, branch=branch, tighten=branch, time_limit=time_limit)

    return decoder


def by_price_and_cut(problem: Problem, *, time_limit: float | None = None, k: int = 1) -> Solution[Tree]:
    """A decoder by a linear program that grows, and branch and bound."""
    from zerogap.dependency.decoding.price_and_cut.decoder import decode_by_pricing  # most do without

    if k > 1:
        raise InputError(f"k is {k}: expected 1, since the next best trees are not known by this method.")
    arcs, labels = with_best_labels(problem)
    if problem.n_words == 0:
        heads, bound, _ = no_words(problem)
        return Solution(problem.tree(heads, heads), bound, bound, HeadPrices((), (), ()), Trace((bound,), (bound,), (0.0,)))
    return decode_by_pricing(problem, arcs, labels, time_limit=time_limit)


def by_branch_and_bound(problem: Problem, *, time_limit: float | None = None, k: int = 1) -> Solution[Tree]:
    """A decoder of problems with factors."""
    from zerogap.dependency.decoding.factors.decoder import decode_with_factors  # most do without

    arcs, labels = with_best_labels(problem)
    if problem.n_words == 0:
        heads, bound, _ = no_words(problem)
        return Solution(problem.tree(heads, heads), bound, bound, HeadPrices((), (), ()), Trace((bound,), (bound,), (0.0,)))
    return decode_with_factors(problem, arcs, labels, k=k, time_limit=time_limit)


def infeasible_parts(problem: Problem, arcs: Scores) -> Infeasible:
    best_by_arcs(problem, arcs)  # if it is the arcs, this says so
    return Infeasible(f"no projective tree avoids the parts of score -inf: {', '.join(problem.larger)}.")


def ranked_projective(problem: Problem, arcs: Scores, best: Heads, certificate: Certificate, k: int) -> Ranked:
    from zerogap.dependency.decoding.kbest import projective_trees

    return projective_trees(problem, arcs, k) if problem.n_words > 0 else iter([(best, 0.0)])


BOTH = frozenset({True, False})
ARCS: frozenset[str] = frozenset()
SIBLINGS = frozenset({"siblings", "stops"})
OUTERMOST = SIBLINGS | {"outermost"}
GRANDSIBLINGS = SIBLINGS | {"grandparents", "outermost", "grandsiblings"}
OF_HEADS = GRANDSIBLINGS | {"trisiblings", "automata"}

# the cheapest first: `auto` takes the first that can decode a problem
METHODS: dict[str, Method] = {
    "arborescence": Method(exactly(best_nonprojective, ranked_nonprojective), frozenset({False}), ARCS),
    "eisner": Method(exactly(best_by_arcs, ranked_projective), frozenset({True}), ARCS),
    "siblings": Method(exactly(best_by_siblings, ranked_projective), frozenset({True}), SIBLINGS),
    "outermost": Method(exactly(best_by_outermost, ranked_projective), frozenset({True}), OUTERMOST),
    "grandsiblings": Method(exactly(partial(best_by_candidates, grand=True), ranked_projective), frozenset({True}), GRANDSIBLINGS),
    "head-automata": Method(by_agreement(branch=True), BOTH, OF_HEADS, polynomial=False),
    "dual-decomposition": Method(by_agreement(branch=False), BOTH, OF_HEADS, exact=False, polynomial=False),
    "price-and-cut": Method(by_price_and_cut, BOTH, SIBLINGS | {"grandparents"}, polynomial=False),
    "branch-and-bound": Method(by_branch_and_bound, BOTH, OF_HEADS | {"factors"}, polynomial=False),
}
