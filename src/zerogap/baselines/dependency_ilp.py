"""Parsing with larger parts as a linear program in HiGHS, relaxed or with integer arcs.

The programs of Martins, Smith & Xing 2009 that Rush 2014, table 6.2, compares with, on the variables of `dependency_flow`:

    siblings, stops       every side of a head is a path from the head through its modifiers outward to a stop: a unit of flow
                          through an automaton, where what enters m is the variable of the arc h -> m
    grandparents          "2009": t(g, h, m) is the product of two arcs, by three inequalities (ArcGP, GPArc)
                          "tight": sum_g t(g, h, m) = arc(h, m) and t(g, h, m) <= arc(g, h) (OneGP, GPArc of Riedel, Smith &
                          McCallum 2012, section 3.2, for h > 0), which imply all of "2009" and NoGP
    outermost             the same for stops in place of arcs: sum_g t(g, h, m) = stop(h, m), and sum_m t(g, h, m) <= arc(g, h) per side
    grandsiblings         the same for steps: sum_g t(g, h, s, m) = step(h, s, m), and sum_s t(g, h, s, m) <= arc(g, h). Their variables
                          carry the scores of grandparents too
    factors               a variable for each, at most every one of its arcs, and at least what they leave of 1 (Martins et al. 2009)

    projective            of two arcs that cross, at most one: as many rows as there are such pairs

What is forbidden has no variable. If arcs are integers, so are all the others.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.baselines.dependency_flow import FLOWS, Arcs, add_arcs, projected
from zerogap.baselines.highs import Blocks, Ids, solve_program
from zerogap.errors import Infeasible, InputError, UnknownMethod
from zerogap.grid import Scores

if TYPE_CHECKING:
    from zerogap.problems.dependency.parts import Parts
    from zerogap.problems.dependency.problem import Problem

INTEGRAL = 1e-6  # how far from an integer an arc may be
GRANDPARENTS = ("tight", "2009")


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """What HiGHS found: a bound on the score of every tree, up to floating-point arithmetic, or a tree.

    The tree of a fractional relaxation is the one whose arcs have most value in it; larger parts may forbid that.
    """

    value: float  # of the relaxation; with integer arcs, the score of the tree. If unfinished: inf; the best so far, or -inf
    arcs: Scores  # (n + 1, n + 1), the values of the arcs, 0 where forbidden
    integral: bool  # all arcs are 0 or 1: if finished, the tree is a best one
    heads: tuple[int, ...] | None  # of words 1 to n
    finished: bool  # False if the time limit came first
    seconds: float


def solve_dependency(
    problem: Problem, *, flow: str = "single", integer: bool = False, grandparents: str = "tight", time_limit: float | None = None
) -> Relaxed:
    """The linear relaxation of the problem, or its optimum if arcs are to be integers.

    Labels are chosen arc by arc beforehand. Raises Infeasible if no tree is allowed; a relaxation may fail to notice that larger parts
    leave none.
    """
    began = time.perf_counter()
    check_options(problem, flow, grandparents)
    n = problem.n_words
    scores = problem.arcs if problem.labels is None else problem.arcs + problem.labels.max(axis=2)
    program = Blocks()
    arcs = add_arcs(program, scores, single_root=problem.single_root)
    FLOWS[flow](program, arcs, n)
    add_parts(program, arcs, problem, grandparents)
    if problem.projective:
        add_crossings(program, arcs)
    objective = np.concatenate(program.scores)
    whole = np.arange(len(objective)) < (len(arcs.columns) if integer else 0)
    left = None if time_limit is None else max(time_limit - (time.perf_counter() - began), 0.0)
    values, finished = solve_program(objective, np.concatenate(program.upper), program.matrix(), integer=whole, time_limit=left)
    if finished and values is None:
        raise Infeasible("no tree: the linear program of the problem has no solution.")
    table = np.zeros(scores.shape)
    if values is None or not (finished or integer):
        return Relaxed(-np.inf if integer else np.inf, table, False, None, False, time.perf_counter() - began)
    table[arcs.heads, arcs.words] = values[arcs.columns]
    integral = integer or bool((np.abs(table - np.round(table)) <= INTEGRAL).all())
    if integral:
        heads = tuple(map(int, table[:, 1:].argmax(axis=0)))
    else:
        heads = projected(table, arcs.allowed, single_root=problem.single_root)
    value = score_of(problem, heads) if integer else float(objective @ values)
    return Relaxed(value, table, integral, heads, finished, time.perf_counter() - began)


def check_options(problem: Problem, flow: str, grandparents: str) -> None:
    if flow not in FLOWS:
        raise UnknownMethod("flow", flow, FLOWS)
    if grandparents not in GRANDPARENTS:
        raise UnknownMethod("grandparents", grandparents, GRANDPARENTS)
    for name in ("trisiblings", "automata"):
        if name in problem.larger:
            raise InputError(f"the problem scores {name}: expected none, as the linear programs have no variables for them.")


def score_of(problem: Problem, heads: tuple[int, ...]) -> float:
    """The score of a tree with the best label on every arc."""
    labels = None if problem.labels is None else problem.labels[list(heads), np.arange(1, len(heads) + 1)].argmax(axis=1)
    structure = problem.tree(heads, labels)
    problem.check(structure)
    return problem.score(structure)


def add_parts(program: Blocks, arcs: Arcs, problem: Problem, grandparents: str) -> None:
    """All the larger parts that the problem scores."""
    if any(parts is not None for parts in (problem.siblings, problem.stops, problem.outermost, problem.grandsiblings)):
        sides = add_sides(program, arcs, problem)
        if problem.outermost is not None:
            add_outermost(program, arcs, sides, problem.outermost)
        if problem.grandsiblings is not None:
            add_grandsiblings(program, arcs, sides, problem.grandsiblings, problem.grandparents)
    if problem.grandparents is not None and problem.grandsiblings is None:
        (add_grandparents if grandparents == "tight" else add_products)(program, arcs, problem.grandparents)
    if problem.factors:
        add_factors(program, arcs, problem)


def add_crossings(program: Blocks, arcs: Arcs) -> None:
    """Of two arcs that cross, at most one."""
    low, high = np.minimum(arcs.heads, arcs.words), np.maximum(arcs.heads, arcs.words)
    first, second = np.nonzero((low[:, None] < low) & (low < high[:, None]) & (high[:, None] < high))
    rows = program.add_rows(len(first), -np.inf, 1.0)
    program.fill(rows, arcs.columns[first])
    program.fill(rows, arcs.columns[second])


class Sides(NamedTuple):
    """The steps from s to m on a side of h, s = h for the first modifier; and of arcs h -> m, the stop after m, -1 if there is none."""

    heads: Ids
    nearer: Ids
    words: Ids
    steps: Ids
    stops: Ids


def add_sides(program: Blocks, arcs: Arcs, problem: Problem) -> Sides:
    """A unit of flow on every side of every token, but for the left of the root, through the modifiers outward."""
    n = problem.n_words
    h, s, m = np.ogrid[: n + 1, : n + 1, : n + 1]
    reached = arcs.allowed | np.eye(n + 1, dtype=np.bool_)
    means = ((s == h) | ((s - h) * (m - s) > 0)) & reached[:, :, None] & arcs.allowed[:, None, :]
    heads, nearer, words = np.nonzero(means)
    scores = np.zeros(len(heads)) if problem.siblings is None else problem.siblings.at(heads, nearer, words)
    heads, nearer, words = (index[scores > -np.inf] for index in (heads, nearer, words))
    steps = program.add_columns(scores[scores > -np.inf])

    # what enters a modifier is its arc; what leaves it, by a step or a stop, as well
    enter = program.add_rows(len(arcs.columns), 0.0, 0.0)
    program.fill(enter, arcs.columns, -1.0)
    program.fill(enter[arcs.number[heads, words]], steps)
    with_stops = problem.stops is not None or problem.outermost is not None
    leave = program.add_rows(len(arcs.columns), 0.0 if with_stops else -np.inf, 0.0)
    start = program.add_rows(2 * n + 1, 1.0 if with_stops else -np.inf, 1.0)  # the right of h is row 2h, its left the one before
    program.fill(leave, arcs.columns, -1.0)
    is_first = nearer == heads
    program.fill(leave[arcs.number[heads, nearer][~is_first]], steps[~is_first])
    program.fill(start[(2 * heads - (words < heads))[is_first]], steps[is_first])
    stops = np.full(len(arcs.columns), -1)
    if with_stops:
        of_side = (np.arange(2 * n + 1) + 1) // 2
        stopping = np.concatenate([of_side, arcs.heads]), np.concatenate([of_side, arcs.words])
        scores = np.zeros(len(stopping[0])) if problem.stops is None else problem.stops.at(*stopping)
        kept = np.flatnonzero(scores > -np.inf)
        columns = program.add_columns(scores[kept])
        program.fill(np.concatenate([start, leave])[kept], columns)
        of_arc = kept > 2 * n
        stops[kept[of_arc] - (2 * n + 1)] = columns[of_arc]
    return Sides(heads, nearer, words, steps, stops)


def chains(arcs: Arcs) -> tuple[Ids, Ids, Ids]:
    """All g -> h -> m of allowed arcs."""
    means = arcs.allowed[:, :, None] & arcs.allowed[None]
    means[np.arange(len(means)), :, np.arange(len(means))] = False
    g, h, m = np.nonzero(means)
    return g, h, m


def allowed_parts(parts: Parts, *index: Ids) -> tuple[tuple[Ids, ...], Scores]:
    """The indices of parts that are not forbidden, and their scores."""
    scores = parts.at(*index)
    kept = scores > -np.inf
    return tuple(one[kept] for one in index), scores[kept]


def add_grandparents(program: Blocks, arcs: Arcs, parts: Parts) -> None:
    """OneGP and GPArc: every arc that does not leave the root has one grandparent, and that has an arc to its head."""
    (g, h, m), scores = allowed_parts(parts, *chains(arcs))
    columns = program.add_columns(scores)
    add_shares(program, columns, arcs.number[h, m], arcs.columns, arcs.heads > 0)
    below = program.add_rows(len(columns), -np.inf, 0.0)
    program.fill(below, columns)
    program.fill(below, arcs.columns[arcs.number[g, h]], -1.0)


def add_shares(program: Blocks, columns: Ids, of: Ids, wholes: Ids, needed: NDArray[np.bool_]) -> None:
    """The columns that are shares of wholes[i], those with of == i, add up to it; for all i that need shares."""
    row_of = np.full(len(wholes), -1)
    row_of[needed] = program.add_rows(int(np.count_nonzero(needed)), 0.0, 0.0)
    program.fill(row_of[of], columns)
    program.fill(row_of[needed], wholes[needed], -1.0)


def add_products(program: Blocks, arcs: Arcs, parts: Parts) -> None:
    """ArcGP and GPArc: t(g, h, m) is the product of two arcs. One that scores 0 needs no variable, nor does a forbidden one."""
    g, h, m = chains(arcs)
    scores = parts.at(g, h, m)
    scored = scores != 0.0
    upper, lower, scores = arcs.columns[arcs.number[g, h]][scored], arcs.columns[arcs.number[h, m]][scored], scores[scored]
    both = program.add_rows(len(scores), -np.inf, 1.0)
    program.fill(both, upper)
    program.fill(both, lower)
    kept = scores > -np.inf
    columns = program.add_columns(scores[kept])
    program.fill(both[kept], columns, -1.0)
    for arc in (upper, lower):
        below = program.add_rows(len(columns), -np.inf, 0.0)
        program.fill(below, columns)
        program.fill(below, arc[kept], -1.0)


def add_factors(program: Blocks, arcs: Arcs, problem: Problem) -> None:
    """Products of arcs: t <= z_e for every arc e, t >= sum_e z_e - (r - 1); a forbidden product has no variable."""
    for factor in problem.factors:
        if factor.score == 0.0 or not all(arcs.allowed[arc] for arc in factor.arcs):
            continue
        own = np.array([arcs.columns[arcs.number[arc]] for arc in factor.arcs])
        both = program.add_rows(1, -np.inf, len(own) - 1.0)
        program.fill(np.repeat(both, len(own)), own)
        if factor.score > -np.inf:
            column = program.add_columns(np.array([factor.score]))
            program.fill(both, column, -1.0)
            below = program.add_rows(len(own), -np.inf, 0.0)
            program.fill(below, np.repeat(column, len(own)))
            program.fill(below, own, -1.0)


def add_outermost(program: Blocks, arcs: Arcs, sides: Sides, parts: Parts) -> None:
    """Every stop of a word after a modifier has one grandparent, and that has an arc to the word; a side stops once."""
    g, h, m = chains(arcs)
    stops = sides.stops >= 0
    g, h, m = (index[stops[arcs.number[h, m]]] for index in (g, h, m))
    (g, h, m), scores = allowed_parts(parts, g, h, m)
    columns = program.add_columns(scores)
    add_shares(program, columns, arcs.number[h, m], sides.stops, stops & (arcs.heads > 0))
    add_limits(program, arcs, columns, arcs.number[g, h], (m < h).astype(np.int64))


def add_grandsiblings(program: Blocks, arcs: Arcs, sides: Sides, parts: Parts, grandparents: Parts | None) -> None:
    """Every step of a word has one grandparent, and that has an arc to the word; one step enters a modifier."""
    tokens = np.arange(len(arcs.allowed))
    step, g = np.nonzero(arcs.allowed.T[sides.heads] & (tokens != sides.nearer[:, None]) & (tokens != sides.words[:, None]))
    h, s, m = sides.heads[step], sides.nearer[step], sides.words[step]
    scores = parts.at(g, h, s, m)
    if grandparents is not None:
        scores = scores + grandparents.at(g, h, m)
    kept = scores > -np.inf
    g, h, m, step = g[kept], h[kept], m[kept], step[kept]
    columns = program.add_columns(scores[kept])
    add_shares(program, columns, step, sides.steps, sides.heads > 0)
    add_limits(program, arcs, columns, arcs.number[g, h], m)


def add_limits(program: Blocks, arcs: Arcs, columns: Ids, of: Ids, which: Ids) -> None:
    """The columns with the same `of` and `which` add up to no more than arc `of`."""
    size = len(arcs.allowed) + 1
    groups, group = np.unique(of * size + which, return_inverse=True)
    rows = program.add_rows(len(groups), -np.inf, 0.0)
    program.fill(rows[group], columns)
    program.fill(rows, arcs.columns[groups // size], -1.0)
