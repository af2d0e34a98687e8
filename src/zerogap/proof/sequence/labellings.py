"""Checks bounds of sequence problems: a search of its own, layer by layer, over all labellings that might beat the bound.

A constraint is intersected, relaxed at a price, or just dropped. What a labelling is worth is its score less the prices of the
relaxed constraints and all that these may refund: at least its score, if it keeps them. A layer holds the prefixes of one
length that differ in their last labels or in the states of the intersected machines, the best one each. A prefix is dropped
when what it is worth and the most that can follow do not exceed the claimed bound. What can follow is bounded by a backward
pass over the labels alone, under the certificate's prices. How far a price may be refunded is derived here from the machine
itself, not believed.
"""

from __future__ import annotations

import numpy as np

from zerogap.errors import VerificationError
from zerogap.grid import Integers
from zerogap.problems.sequence.machine import Machine
from zerogap.problems.sequence.problem import Problem
from zerogap.proof.certificate import Agreement, Certificate, Intersection, Leaves
from zerogap.proof.integers import ABSENT, Units, plus, units_of
from zerogap.proof.sequence.agreement import agreement_bound
from zerogap.proof.sequence.chain import Chain, rest_of
from zerogap.structures.automaton import DEAD

MOST_CELLS = 20_000_000  # of the tables of prefixes, 8 bytes each: several of them stay below a gigabyte


def sequence_bound(problem: Problem, certificate: Certificate, claimed: Units) -> Units:
    """`claimed` if the certificate proves it, else a score above it that it does not exclude."""
    chain = Chain.of(problem)
    if isinstance(certificate, Agreement | Leaves):
        return agreement_bound(chain, certificate)
    above = scores_above(chain, certificate, claimed, 1)
    return above[0] if above else claimed


def sequence_alternatives(problem: Problem, certificate: Certificate, claimed: int, k: int) -> list[int]:
    """The scores above `claimed` of the k best labellings. Only if all constraints are intersected is every one a labelling's own."""
    if not isinstance(certificate, Intersection) or len(certificate.constraints) != len(problem.machines):
        raise VerificationError("alternatives need a certificate that intersects all constraints.")
    return scores_above(Chain.of(problem), certificate, claimed, k)


def scores_above(chain: Chain, certificate: Certificate, claimed: Units, k: int) -> list[int]:
    """The k best scores above `claimed` that the certificate does not exclude, best first."""
    if not isinstance(certificate, Intersection):
        raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing about label sequences.")
    problem = chain.problem
    prices = checked_prices(chain, certificate)
    n, size = chain.emissions.shape
    if n == 0:
        broken = [chain.penalties[c] for c in range(len(problem.machines)) if not problem.machines[c].accepts([])]
        if any(penalty is None for penalty in broken):
            return []
        nothing = -sum(penalty for penalty in broken if penalty is not None)
        return [nothing] if nothing > claimed else []
    steps, refunds = priced_steps(chain, prices)
    # a constraint that is priced and not intersected is relaxed: its price is part of what a labelling is worth here
    relaxed, relaxed_refunds = priced_steps(chain, {c: u for c, u in prices.items() if c not in certificate.constraints})
    if refunds == ABSENT or relaxed_refunds == ABSENT:
        return []  # a hard constraint accepts no labelling at all
    rest = chain.completions(chain.emissions, steps)
    machines = [problem.machines[c] for c in certificate.constraints]
    penalties = [chain.penalties[c] for c in certificate.constraints]
    least = max(claimed, ABSENT)

    # columns of a prefix: its last labels (-1 before the sentence), then the state of every machine (DEAD if a soft one is lost)
    order = chain.order
    prefixes = np.full((1, order + len(machines)), -1, dtype=np.int64)
    prefixes[0, order:] = 0
    score, priced = np.full(1, relaxed_refunds), np.full(1, refunds)
    for t in range(n):
        if prefixes.size * size > MOST_CELLS:
            raise VerificationError(f"more than {MOST_CELLS // prefixes.shape[1]:,} prefixes may beat the bound: expected fewer.")
        history = prefixes[:, :order]
        added = plus(chain.edges(t, history), chain.emissions[t])
        if t == n - 1:
            added = plus(added, chain.end)
        before = np.where(history[:, -1] < 0, size, history[:, -1])
        added_priced, added = plus(added, -steps[before]), plus(added, -relaxed[before])
        rows, labels = (index.reshape(-1) for index in np.indices(added.shape))
        new = np.concatenate([np.concatenate([history[rows, 1:], labels[:, None]], axis=1), prefixes[rows, order:]], axis=1)
        new_score, new_priced = plus(score[rows], added.reshape(-1)), plus(priced[rows], added_priced.reshape(-1))
        alive = new_score > ABSENT
        for c, machine in enumerate(machines):
            state = new[:, order + c]
            table = machine.following[0 if machine.table_of is None else machine.table_of[t]]
            after = np.where(state == DEAD, DEAD, table[np.maximum(state, 0), labels])
            if t == n - 1:
                after = np.where((after != DEAD) & machine.final[np.maximum(after, 0)], after, DEAD)
            lost = (after == DEAD) & (state != DEAD)
            penalty = penalties[c]
            if penalty is None:
                alive &= ~lost
            else:
                new_score, new_priced = plus(new_score, -penalty * lost), plus(new_priced, -penalty * lost)
            new[:, order + c] = after
        bound = new_score if t == n - 1 else plus(new_priced, rest_of(rest[t], new[:, :order]))
        alive &= bound > least
        prefixes, score, priced = best_of_each(new[alive], new_score[alive], new_priced[alive], k)
    return sorted(map(int, score), reverse=True)[:k]


def checked_prices(chain: Chain, certificate: Intersection) -> dict[int, int]:
    """The price of every constraint that has one, in units."""
    problem = chain.problem
    named = [*certificate.constraints, *(c for c, _ in certificate.prices)]
    wrong = any(not 0 <= c < len(problem.machines) for c in named) or len(set(certificate.constraints)) < len(certificate.constraints)
    if wrong or len({c for c, _ in certificate.prices}) < len(certificate.prices):
        raise VerificationError(
            f"the certificate names constraints {named}: expected different ones from 0 to {len(problem.machines) - 1}."
        )
    prices = {c: units_of(u, problem.resolution, f"the price of constraint {c}") for c, u in certificate.prices}
    largest = 0
    for c, u in prices.items():
        count = problem.machines[c].count
        if chain.penalties[c] is not None or count is None:
            raise VerificationError(f"constraint {c} has a price, but it is soft or counts nothing.")
        largest += abs(u) * int(np.abs(count.step).max(initial=0.0))
    chain.check_prices(largest * (2 * chain.n_tokens + 2))
    return prices


def priced_steps(chain: Chain, prices: dict[int, int]) -> tuple[Integers, int]:
    """The price of every step (L + 1, L), and the most that prices can give back to a labelling that keeps the constraints."""
    size = chain.n_labels
    steps, refunds = np.zeros((size + 1, size), dtype=np.int64), 0
    for c, u in prices.items():
        machine = chain.problem.machines[c]
        assert machine.count is not None  # `checked_prices` has seen to it
        weights = machine.count.step.astype(np.int64)
        if not (weights == machine.count.step).all():
            raise VerificationError(f"constraint {c} counts by weights that are not integers.")
        steps += u * weights
        most = largest_count(machine, u * weights, chain.n_tokens)
        if most == ABSENT:
            return steps, ABSENT
        refunds += most
    return steps, refunds


def largest_count(machine: Machine, step: Integers, n: int) -> int:
    """The largest sum of steps over the labellings of n tokens that a machine accepts; ABSENT if it accepts none."""
    size = step.shape[1]
    best = np.full((machine.n_states, size + 1), ABSENT)
    best[0, size] = 0
    for t in range(n):
        table = machine.following[0 if machine.table_of is None else machine.table_of[t]]
        reached = plus(best[:, :, None], step).max(axis=1)  # (state before, label)
        best = np.full((machine.n_states, size + 1), ABSENT)
        for q, a in np.argwhere((table != DEAD) & (reached > ABSENT)):
            best[table[q, a], a] = max(best[table[q, a], a], reached[q, a])
    return int(best[machine.final].max(initial=ABSENT))


def best_of_each(prefixes: Integers, score: Integers, priced: Integers, k: int) -> tuple[Integers, Integers, Integers]:
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
