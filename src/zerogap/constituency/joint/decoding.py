"""Joint parsing and tagging by dual decomposition (Rush 2014, section 4.2.1, algorithm 6).

The parser and the tagger are oracles of their own; the equations y(i, t) = z(i, t) tie them. `auto` goes on with branch
and bound on tags of words where multipliers leave a gap; `intersection` builds the product of section 2.2.5 instead.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.constituency.joint.parser_and_tagger import Halves
from zerogap.errors import Infeasible, InputError, UnknownMethod, check_problem
from zerogap.grid import Scores
from zerogap.problems.constituency.joint import JointProblem, Tree
from zerogap.proof.certificate import DynamicProgram
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.candidate import Candidate
from zerogap.relax.descent import Fixed, close_gap, limits_of
from zerogap.relax.lagrangian import Oracle, Relaxed, State, minimise_dual
from zerogap.relax.multipliers import PATIENCE, LagrangianRelaxation, Relax
from zerogap.relax.parallel import decode_each
from zerogap.structures.linear import agreement

PUSH = 0.4  # of the tagger's slack; on Penn Treebank sentences of up to 30 words it saves 0.2 of 1.9 iterations on average


def decode(
    problem: JointProblem,
    *,
    method: str = "auto",
    time_limit: float | None = None,
    max_iterations: int = 50,
    max_nodes: int | None = None,
    step: str = "polyak",
    scale: float | None = None,
    push: float | None = None,
) -> Solution[Tree]:
    """The best parse under both models, and a certificate.

    Methods: `auto`, `dual-decomposition` (algorithm 6; may leave a gap), `intersection` (exact and slow), `ilp`.
    Multipliers start at the share `push` of what the tagger can pay without a loss. With 0 they start at 0 as in the thesis, which is the
    default of its own step rules.
    """
    check_problem(problem, JointProblem)
    if not isinstance(method, str) or method not in METHODS:
        raise UnknownMethod("method", method, METHODS)
    if push is not None and not (isinstance(push, int | float) and 0.0 <= push <= 1.0):
        raise InputError(f"push is {push!r}: expected a share from 0 to 1, or None.")
    share = push if push is not None else PUSH if step == "polyak" else 0.0
    options = {"max_iterations": max_iterations, "max_nodes": max_nodes, "step": step, "scale": scale, "push": share}
    return METHODS[method](problem, time_limit=time_limit, **options)


def decode_many(
    problems: Sequence[JointProblem], *, threads: int | None = None, method: str = "auto", time_limit: float | None = None
) -> list[Solution[Tree]]:
    """Decodes problems on several threads, in order."""
    return decode_each(decode, problems, threads, method=method, time_limit=time_limit)


def relaxation(problem: JointProblem, halves: Halves, *, step: str = "polyak", scale: float | None = None, push: float = 0.0) -> Relax:
    """The dual of algorithm 6, with the tags forbidden that the decisions of a node exclude.

    It starts with the share `push` of the tagger's slack as prices, which tell the parser what the tagger thinks of every tag.
    """
    n_parts = problem.n_words * len(problem.tags)
    rows = agreement(2 * n_parts, np.stack([np.arange(n_parts), n_parts + np.arange(n_parts)], axis=1))
    floor = lowest_score(problem)

    def repair(state: State) -> Candidate | None:
        tree = state.structures[0]  # its own tags make it a structure of the joint problem (appendix A)
        score = problem.score(tree)
        return Candidate(tree, score) if score > -np.inf else None

    def relax(fixed: Fixed, *, multipliers: Scores | None, **search: Any) -> Relaxed:
        allowed = allowed_tags(problem, fixed).reshape(-1)
        emissions = np.where(allowed, problem.emissions.reshape(-1), -np.inf)
        if multipliers is None and push > 0.0:
            multipliers = halves.slack_prices(emissions, push)
        free = np.where(emissions > -np.inf, 0.0, -np.inf)  # the parser scores symbols, of which a tag may have several
        return minimise_dual(
            [Oracle(free, halves.parse), Oracle(emissions, halves.tag)], rows, multipliers=multipliers,
            resolution=problem.resolution, unit=problem.unit, terms=problem.terms, repair=repair, floor=floor,
            step=step, scale=scale, **search,
        )  # fmt: skip

    return relax


def lowest_score(problem: JointProblem) -> float:
    """A score that every parse reaches: the lowest of every kind of part, as often as there can be parts."""
    arrays = (problem.grammar.binary_scores, problem.grammar.unary_scores, problem.lexical, problem.emissions, problem.transitions)
    finite = [float(array[np.isfinite(array)].min(initial=0.0)) for array in arrays]
    return problem.terms * min(finite)


def allowed_tags(problem: JointProblem, fixed: Fixed = ()) -> NDArray[np.bool_]:
    """The tags (n, tags) that the decisions of a node leave."""
    allowed = np.ones((problem.n_words, len(problem.tags)), dtype=np.bool_)
    for part, inside in fixed:
        i, t = divmod(part, len(problem.tags))
        allowed[i] &= (np.arange(len(problem.tags)) == t) == inside
    return allowed


def decode_auto(
    problem: JointProblem, *, time_limit: float | None, max_iterations: int, max_nodes: int | None, step: str, scale: float | None,
    push: float, incumbent: Candidate | None = None,
) -> Solution[Tree]:  # fmt: skip
    halves = Halves.of(problem)
    multipliers = LagrangianRelaxation(
        relaxation(problem, halves, step=step, scale=scale, push=push), partial(choose_split, problem),
        max_iterations=max_iterations, patience=None if max_nodes == 1 else PATIENCE,
    )  # fmt: skip
    closed = close_gap(multipliers, limits_of(time_limit, max_nodes), incumbent=incumbent)
    if closed.is_infeasible:
        halves.require_parse()
        raise Infeasible("every parse of the sentence has tags that the tagger forbids (-inf).", ("grammar", "tagger"))
    return closed.solution()


def decode_dual(problem: JointProblem, **options: Any) -> Solution[Tree]:
    return decode_auto(problem, **{**options, "max_nodes": 1})


def decode_ilp(problem: JointProblem, **options: Any) -> Solution[Tree]:
    """HiGHS proposes a parse. Its own bound has a tolerance, so ours is proved by the search with that parse to beat."""
    from zerogap.baselines.constituency_lp import solve_ilp

    halves = Halves.of(problem)
    tree = solve_ilp(problem, halves.indexed, halves.chart(), time_limit=options["time_limit"])
    return decode_auto(problem, **options, incumbent=None if tree is None else Candidate(tree, problem.score(tree)))


def decode_intersection(problem: JointProblem, **_: Any) -> Solution[Tree]:
    """The dynamic program over items that remember the tagger's states on both sides (theorem 2.2.1)."""
    from zerogap.baselines.bar_hillel import best_joint_parse

    begin = time.perf_counter()
    tree = best_joint_parse(problem, Halves.of(problem).indexed)
    score = problem.score(tree)
    return Solution(tree, score, score, DynamicProgram(), Trace((score,), (score,), (time.perf_counter() - begin,)))


def choose_split(problem: JointProblem, fixed: Fixed, state: State) -> int | None:
    """The first word that parser and tagger tag differently, with the parser's tag."""
    tree, tags = state.structures
    for i, (ours, theirs) in enumerate(zip(problem.tag_numbers(tree), tags, strict=True)):
        if ours != theirs:
            return i * len(problem.tags) + ours
    return None


METHODS: dict[str, Callable[..., Solution[Tree]]] = {
    "auto": decode_auto,
    "dual-decomposition": decode_dual,
    "intersection": decode_intersection,
    "ilp": decode_ilp,
}
