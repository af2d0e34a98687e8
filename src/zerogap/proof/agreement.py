"""Checks bounds of sequence problems by dual decomposition: the chain and every constraint choose labels on their own.

    bound = max_y (score(y) - sum_c u_c . y) + sum_c max_z (u_c . z - penalty if c does not accept z)

over the labels that a leaf leaves: part t * kinds + k says that token t has a label of kind k (its field in a BIO scheme, else
itself), part n * kinds + t * labels + a that it has label a. Any prices prove some bound.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import VerificationError
from zerogap.grid import MANTISSA_BITS, Scores
from zerogap.problems.sequence.machine import Machine
from zerogap.problems.sequence.problem import Problem
from zerogap.proof.certificate import Agreement, Certificate, Leaves
from zerogap.proof.chain import completions, priced_transitions, rest_of
from zerogap.proof.leaves import check_cover
from zerogap.structures.automaton import DEAD

Allowed = NDArray[np.bool_]  # (n, L)


def agreement_bound(problem: Problem, certificate: Certificate) -> float:
    """The bound that prices prove, or the largest of those that the leaves prove."""
    n, n_labels = problem.emissions.shape
    if n == 0:
        raise VerificationError("a sequence without tokens has nothing to agree on.")
    if not isinstance(certificate, Leaves):
        return bound_within(problem, certificate, np.ones((n, n_labels), dtype=np.bool_))
    kinds = problem.kinds
    n_kinds = int(kinds.max()) + 1
    check_cover(certificate.leaves, n * n_kinds + n * n_labels)
    bounds = []
    for leaf in certificate.leaves:
        allowed = np.ones((n, n_labels), dtype=np.bool_)
        for part, inside in leaf.fixed:
            if part < n * n_kinds:
                t, chosen = part // n_kinds, kinds == part % n_kinds
            else:
                t, chosen = (part - n * n_kinds) // n_labels, np.arange(n_labels) == (part - n * n_kinds) % n_labels
            allowed[t] &= chosen == inside
        bounds.append(bound_within(problem, leaf.certificate, allowed))
    return max(bounds)


def bound_within(problem: Problem, certificate: Certificate, allowed: Allowed) -> float:
    if not isinstance(certificate, Agreement):
        raise VerificationError(f"a certificate of kind {certificate.kind!r} in a leaf proves nothing about label sequences.")
    n, n_labels = allowed.shape
    prices = checked_prices(problem, certificate)
    emissions = np.where(allowed, problem.emissions, -np.inf)
    for table in prices.values():
        emissions = emissions - table
    rest = completions(problem, emissions, priced_transitions(problem, np.zeros((n_labels + 1, n_labels))))
    history = np.full((n_labels, problem.order), -1, dtype=np.int64)
    history[:, -1] = np.arange(n_labels)
    last = problem.end if n == 1 else 0.0
    total = float((problem.start + emissions[0] + last + rest_of(rest[0], history)).max())
    if total == -np.inf:
        return total
    nothing = np.zeros((n, n_labels))
    for c, machine in enumerate(problem.machines):
        penalty = math.inf if problem.constraints[c].penalty is None else float(problem.penalties[c])
        total += best_reading(machine, prices.get(c, nothing), allowed, penalty)
    return total


def checked_prices(problem: Problem, certificate: Agreement) -> dict[int, Scores]:
    """The prices of every constraint that has some, (n, L)."""
    n, n_labels = problem.emissions.shape
    tables: dict[int, Scores] = {}
    for c, t, a, u in certificate.prices:
        if not (0 <= c < len(problem.machines) and 0 <= t < n and 0 <= a < n_labels):
            raise VerificationError(f"a price is for constraint {c}, token {t}, label {a}: the problem has no such.")
        if not math.isfinite(u) or math.fmod(u, problem.resolution) != 0:
            raise VerificationError(f"the price {u!r} of constraint {c} is not a finite multiple of the resolution {problem.resolution!r}.")
        tables.setdefault(c, np.zeros((n, n_labels)))[t, a] += u
    paid = sum((float(np.abs(table).max(axis=1).sum()) for table in tables.values()), 0.0)
    arrays = (problem.emissions, problem.transitions, problem.start, problem.end, problem.penalties)
    largest = max((float(np.abs(a[np.isfinite(a)]).max(initial=0.0)) for a in arrays), default=0.0)
    if 2.0 * paid + problem.terms * largest > math.ldexp(problem.resolution, MANTISSA_BITS):
        raise VerificationError("the prices are so large that sums with them are not exact.")
    return tables


def best_reading(machine: Machine, prices: Scores, allowed: Allowed, penalty: float) -> float:
    """The most that the labels of a machine's choice are worth. The last entry of `value` is for what is lost and paid for."""
    states = np.arange(machine.n_states)
    idle = (machine.following == states[:, None]).all(axis=(1, 2))
    value = np.append(np.where(machine.final, 0.0, -penalty), 0.0)
    for t in range(len(prices) - 1, -1, -1):
        table = 0 if machine.table_of is None else int(machine.table_of[t])
        worth = np.where(allowed[t], prices[t], -np.inf)
        if idle[table]:
            value = value + worth.max()
            continue
        after = machine.following[table]
        # a state that is lost here pays here, and goes on as the last entry
        reached = np.where(after == DEAD, value[-1] - penalty, value[np.where(after == DEAD, 0, after)])
        value = np.append((reached + worth).max(axis=1), value[-1] + worth.max())
    return float(value[0])
