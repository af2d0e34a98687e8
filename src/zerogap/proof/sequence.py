"""Checks bounds of sequence problems: a search of its own, layer by layer, over all labellings that might beat the bound.

A constraint is intersected, relaxed at a price, or just dropped. What a labelling is worth is its score less the prices of the
relaxed constraints and all that these may refund: at least its score, if it keeps them. A layer holds the prefixes of one
length that differ in their last labels or in the states of the intersected machines, the best one each. A prefix is dropped
when what it is worth and the most that can follow do not exceed the claimed bound. What can follow is bounded by a backward
pass over the labels alone, under the certificate's prices. How far a price may be refunded is derived here from the machine
itself, not believed.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import VerificationError
from zerogap.grid import MANTISSA_BITS, Scores
from zerogap.problems.sequence.machine import Machine
from zerogap.problems.sequence.problem import Problem
from zerogap.proof.agreement import agreement_bound
from zerogap.proof.certificate import Agreement, Certificate, Intersection, Leaves
from zerogap.proof.chain import completions, priced_transitions, rest_of, true_edges
from zerogap.structures.automaton import DEAD

MOST_CELLS = 20_000_000  # of the tables of prefixes, 8 bytes each: several of them stay below a gigabyte


def sequence_bound(problem: Problem, certificate: Certificate, claimed: float) -> float:
    """`claimed` if the certificate proves it, else a score above it that it does not exclude."""
    if isinstance(certificate, Agreement | Leaves):
        return agreement_bound(problem, certificate)
    above = scores_above(problem, certificate, claimed, 1)
    return float(above[0]) if len(above) else claimed


def sequence_alternatives(problem: Problem, certificate: Certificate, claimed: float, k: int) -> Scores:
    """The scores above `claimed` of the k best labellings. Only if all constraints are intersected is every one a labelling's own."""
    if not isinstance(certificate, Intersection) or len(certificate.constraints) != len(problem.machines):
        raise VerificationError("alternatives need a certificate that intersects all constraints.")
    return scores_above(problem, certificate, claimed, k)


def scores_above(problem: Problem, certificate: Certificate, claimed: float, k: int) -> Scores:
    """The k best scores above `claimed` that the certificate does not exclude, best first."""
    if not isinstance(certificate, Intersection):
        raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing about label sequences.")
    check_numbers(problem, certificate)
    n, size = problem.emissions.shape
    if n == 0:
        nothing = np.array([problem.local_score([]) - sum(float(problem.penalties[c]) for c in problem.broken([]))])
        return nothing[nothing > claimed]
    steps, refunds = prices_of(problem, certificate.prices)
    # a constraint that is priced and not intersected is relaxed: its price is part of what a labelling is worth here
    relaxed, relaxed_refunds = prices_of(problem, tuple((c, u) for c, u in certificate.prices if c not in certificate.constraints))
    rest = completions(problem, problem.emissions, priced_transitions(problem, steps))
    machines = [problem.machines[c] for c in certificate.constraints]
    hard = [problem.constraints[c].penalty is None for c in certificate.constraints]
    penalties = [float(problem.penalties[c]) for c in certificate.constraints]

    # columns of a prefix: its last labels (-1 before the sentence), then the state of every machine (DEAD if a soft one is lost)
    order = problem.order
    prefixes = np.full((1, order + len(machines)), -1, dtype=np.int64)
    prefixes[0, order:] = 0
    score, priced = np.full(1, relaxed_refunds), np.full(1, refunds)
    for t in range(n):
        if prefixes.size * size > MOST_CELLS:
            raise VerificationError(
                f"more than {MOST_CELLS // prefixes.shape[1]:,} prefixes may beat the bound: the certificate is too weak."
            )
        history = prefixes[:, :order]
        added = true_edges(problem, t, history) + problem.emissions[t] + (problem.end if t == n - 1 else 0.0)
        before = np.where(history[:, -1] < 0, size, history[:, -1])
        added_priced, added = added - steps[before], added - relaxed[before]
        rows, labels = (index.reshape(-1) for index in np.indices(added.shape))
        new = np.concatenate([np.concatenate([history[rows, 1:], labels[:, None]], axis=1), prefixes[rows, order:]], axis=1)
        new_score, new_priced = score[rows] + added.reshape(-1), priced[rows] + added_priced.reshape(-1)
        alive = new_score > -np.inf
        for c, machine in enumerate(machines):
            state = new[:, order + c]
            table = machine.following[0 if machine.table_of is None else machine.table_of[t]]
            after = np.where(state == DEAD, DEAD, table[np.maximum(state, 0), labels])
            if t == n - 1:
                after = np.where((after != DEAD) & machine.final[np.maximum(after, 0)], after, DEAD)
            lost = (after == DEAD) & (state != DEAD)
            if hard[c]:
                alive &= ~lost
            else:
                new_score, new_priced = new_score - penalties[c] * lost, new_priced - penalties[c] * lost
            new[:, order + c] = after
        bound = new_score if t == n - 1 else new_priced + rest_of(rest[t], new[:, :order])
        alive &= bound > claimed
        prefixes, score, priced = best_of_each(new[alive], new_score[alive], new_priced[alive], k)
    return np.sort(score)[::-1][:k]


def check_numbers(problem: Problem, certificate: Intersection) -> None:
    named = [*certificate.constraints, *(c for c, _ in certificate.prices)]
    if any(not 0 <= c < len(problem.machines) for c in named) or len(set(certificate.constraints)) < len(certificate.constraints):
        raise VerificationError(
            f"the certificate names constraints {named}: expected different ones from 0 to {len(problem.machines) - 1}."
        )
    for c, u in certificate.prices:
        if not math.isfinite(u) or math.fmod(u, problem.resolution) != 0:
            raise VerificationError(f"the price {u!r} of constraint {c} is not a finite multiple of the resolution {problem.resolution!r}.")
        if problem.constraints[c].penalty is not None or problem.machines[c].count is None:
            raise VerificationError(f"constraint {c} has a price, but it is soft or counts nothing.")
    total = sum(abs(u) for _, u in certificate.prices) * (2 * problem.n_tokens + 2)
    arrays = (problem.emissions, problem.transitions, problem.start, problem.end, problem.penalties)
    largest = max((float(np.abs(a[np.isfinite(a)]).max(initial=0.0)) for a in arrays), default=0.0)
    if total + problem.terms * largest > math.ldexp(problem.resolution, MANTISSA_BITS):
        raise VerificationError("the prices are so large that sums with them are not exact.")


def prices_of(problem: Problem, prices: tuple[tuple[int, float], ...]) -> tuple[Scores, float]:
    """The price of every step (L + 1, L), and the most that prices can give back to a labelling that keeps the constraints."""
    size = len(problem.labels)
    steps, refunds = np.zeros((size + 1, size)), 0.0
    for c, u in prices:
        count = problem.machines[c].count
        if count is None:
            raise VerificationError(f"constraint {c} has a price, but it counts nothing.")
        steps += u * count.step
        refunds += largest_count(problem.machines[c], u * count.step, problem.n_tokens)
    return steps, refunds


def largest_count(machine: Machine, step: Scores, n: int) -> float:
    """The largest sum of steps over the labellings of n tokens that a machine accepts; -inf if it accepts none."""
    size = step.shape[1]
    best = np.full((machine.n_states, size + 1), -np.inf)
    best[0, size] = 0.0
    for t in range(n):
        table = machine.following[0 if machine.table_of is None else machine.table_of[t]]
        reached = (best[:, :, None] + step).max(axis=1)  # (state before, label)
        best = np.full((machine.n_states, size + 1), -np.inf)
        for q, a in np.argwhere((table != DEAD) & (reached > -np.inf)):
            best[table[q, a], a] = max(best[table[q, a], a], reached[q, a])
    return float(best[machine.final].max(initial=-np.inf))


def best_of_each(prefixes: NDArray[np.int64], score: Scores, priced: Scores, k: int) -> tuple[NDArray[np.int64], Scores, Scores]:
    """Of equal rows the k with the highest scores."""
    if len(prefixes) == 0:
        return prefixes, score, priced
    order = np.argsort(-score, kind="stable")
    if k == 1:
        _, first = np.unique(prefixes[order], axis=0, return_index=True)
        kept = order[first]
    else:
        _, group = np.unique(prefixes[order], axis=0, return_inverse=True)
        by_group = np.argsort(group.reshape(-1), kind="stable")
        sorted_group = group.reshape(-1)[by_group]
        rank = np.arange(len(order)) - np.searchsorted(sorted_group, sorted_group)  # among equal rows, best first
        kept = order[by_group[rank < k]]
    return prefixes[kept], score[kept], priced[kept]
