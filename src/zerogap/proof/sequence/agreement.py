"""Checks bounds of sequence problems by dual decomposition: the chain and every constraint choose labels on their own.

    bound = max_y (score(y) - sum_c u_c . y) + sum_c max_z (u_c . z - penalty if c does not accept z)

over the labels that a leaf leaves: part t * kinds + k says that token t has a label of kind k (its field in a BIO scheme, else
itself), part n * kinds + t * labels + a that it has label a. Any prices prove some bound.
"""

from __future__ import annotations

import math

import numpy as np

from zerogap.errors import VerificationError
from zerogap.grid import Flags, Integers
from zerogap.problems.sequence.machine import Machine
from zerogap.proof.certificate import Agreement, Certificate, Leaves
from zerogap.proof.integers import ABSENT, Units, number, plus, settled, units_of
from zerogap.proof.leaves import check_cover
from zerogap.proof.sequence.chain import Chain, rest_of
from zerogap.structures.automaton import DEAD


def agreement_bound(chain: Chain, certificate: Certificate) -> Units:
    """The bound that prices prove, or the largest of those that the leaves prove."""
    n, n_labels = chain.emissions.shape
    if n == 0:
        raise VerificationError("a sequence without tokens has nothing to agree on.")
    if not isinstance(certificate, Leaves):
        return bound_within(chain, certificate, np.ones((n, n_labels), dtype=np.bool_))
    kinds = chain.problem.kinds
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
        bounds.append(bound_within(chain, leaf.certificate, allowed))
    return max(bounds)


def bound_within(chain: Chain, certificate: Certificate, allowed: Flags) -> Units:
    """Of the labellings that have allowed (n, L) labels only."""
    if not isinstance(certificate, Agreement):
        raise VerificationError(f"a certificate of kind {certificate.kind!r} in a leaf proves nothing about label sequences.")
    n, n_labels = allowed.shape
    prices = checked_prices(chain, certificate)
    emissions = np.where(allowed, chain.emissions, ABSENT)
    for table in prices.values():
        emissions = plus(emissions, -table)
    rest = chain.completions(emissions, np.zeros((n_labels + 1, n_labels), dtype=np.int64))
    history = np.full((n_labels, chain.order), -1, dtype=np.int64)
    history[:, -1] = np.arange(n_labels)
    first = plus(chain.start, emissions[0])
    if n == 1:
        first = plus(first, chain.end)
    total = number(plus(first, rest_of(rest[0], history)).max(initial=ABSENT))
    if total == -math.inf:
        return total
    nothing = np.zeros((n, n_labels), dtype=np.int64)
    for c, machine in enumerate(chain.problem.machines):
        total += best_reading(machine, prices.get(c, nothing), allowed, chain.penalties[c])
    return total


def checked_prices(chain: Chain, certificate: Agreement) -> dict[int, Integers]:
    """The prices of every constraint that has some, (n, L)."""
    n, n_labels = chain.emissions.shape
    tables: dict[int, Integers] = {}
    seen: set[tuple[int, int, int]] = set()
    for c, t, a, u in certificate.prices:
        if not (0 <= c < len(chain.problem.machines) and 0 <= t < n and 0 <= a < n_labels):
            raise VerificationError(f"a price is for constraint {c}, token {t}, label {a}: the problem has no such.")
        if (c, t, a) in seen:
            raise VerificationError(f"the price of constraint {c}, token {t}, label {a} is given twice.")
        seen.add((c, t, a))
        table = tables.setdefault(c, np.zeros((n, n_labels), dtype=np.int64))
        table[t, a] = units_of(u, chain.problem.resolution, f"the price of constraint {c}")
        # a labelling pays, and a constraint gets, one price of every token: no sum exceeds the largest of each together
    paid = sum(int(np.abs(table).max(axis=1).sum()) for table in tables.values())
    chain.check_prices(2 * paid)
    return tables


def best_reading(machine: Machine, prices: Integers, allowed: Flags, penalty: int | None) -> Units:
    """The most that the labels of a machine's choice are worth. The last entry of `value` is for what is lost and paid for."""
    states = np.arange(machine.n_states)
    idle = (machine.following == states[:, None]).all(axis=(1, 2))
    cost = ABSENT if penalty is None else -penalty
    value = np.append(np.where(machine.final, 0, cost), 0)
    for t in range(len(prices) - 1, -1, -1):
        table = 0 if machine.table_of is None else int(machine.table_of[t])
        worth = np.where(allowed[t], prices[t], ABSENT)
        most = worth.max(initial=ABSENT)
        if idle[table]:
            value = plus(value, most)
            continue
        after = machine.following[table]
        # a state that is lost here pays here, and goes on as the last entry
        reached = np.where(after == DEAD, plus(value[-1], cost), value[np.where(after == DEAD, 0, after)])
        value = np.append(settled(reached + worth).max(axis=1, initial=ABSENT), plus(value[-1], most))
    return number(value[0])
