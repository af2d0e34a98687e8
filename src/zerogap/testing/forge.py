"""An adversary of the checkers: false claims with certificates that somebody made who has read their code.

    python -m zerogap.testing.forge --claims 1000000

Every claim is false by construction: its bound is below the best score, which enumeration knows. So a certificate that is accepted is a
hole in a checker, whatever it holds. Certificates begin as true ones, and are spoilt by attacks that are thought out: counting twice, a
wrong sign, numbers at the edge of a range, missing cases, covers that do not cover, swapped roles, infinities, types that are taken for
others, names that exist twice, thresholds and units that move, evidence of another problem. `ATTACKS` apply to certificates of all kinds;
`SPECIAL` ones are about one task. `forged_claims` are about what stands around a certificate. Anything else than an error of zerogap is
a finding, too.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from zerogap import dependency, sequence, translation
from zerogap.errors import Infeasible, InputError, OverlappingTails, ScoreError, ZerogapError
from zerogap.proof.certificate import (
    Agreement,
    Certificate,
    CutDuals,
    DynamicProgram,
    FactorShares,
    HeadPrices,
    Intersection,
    Leaf,
    Leaves,
    Multipliers,
    Narrowed,
    Screened,
    Signatures,
    Unsatisfiable,
)  # fmt: skip
from zerogap.proof.solution import Solution, Trace
from zerogap.proof.verify import verify
from zerogap.testing.draws import KINDS
from zerogap.testing.forged_claims import CLAIMS, Filed, LyingFloat, LyingTuple

Random = np.random.Generator
Attack = Callable[[Any, Certificate, Random], Iterator[Any]]
EDGES = (2**52, 2**53 - 1, 2**53, 2**54, 2**56, 2**57 - 1, 2**57, 2**60, 2**62, 2**63 - 1, 2**63, 2**64)
TREES = (CutDuals, DynamicProgram, HeadPrices, Screened, FactorShares, Narrowed, Leaves)


# ---------------------------------------------------------------- certificates as values that can be taken apart


def spots(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every value inside a certificate with the way to it: names of fields and places in tuples."""
    yield path, value
    if dataclasses.is_dataclass(value):
        for entry in dataclasses.fields(value):
            yield from spots(getattr(value, entry.name), (*path, entry.name))
    elif isinstance(value, tuple):
        for i, part in enumerate(value):
            yield from spots(part, (*path, i))


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The certificate with another value at a spot."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(step, str):
        return replace(value, **{step: put(getattr(value, step), rest, new)})
    return (*value[:step], put(value[step], rest, new), *value[step + 1 :])


def some(rng: Random, found: Sequence[Any], most: int = 4) -> list[Any]:
    return [found[i] for i in rng.permutation(len(found))[:most]]


def numbers(certificate: Certificate) -> list[tuple[tuple[Any, ...], Any]]:
    return [(path, value) for path, value in spots(certificate) if type(value) is float]


def integers(certificate: Certificate) -> list[tuple[tuple[Any, ...], Any]]:
    return [(path, value) for path, value in spots(certificate) if type(value) is int]


def tuples(certificate: Certificate) -> list[tuple[tuple[Any, ...], Any]]:
    return [(path, value) for path, value in spots(certificate) if type(value) is tuple and value]


# ---------------------------------------------------------------- attacks on all kinds


def as_it_is(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """A true certificate, for a bound that is too low."""
    yield certificate


def counting_twice(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """An entry is there twice: next to itself, or at the end."""
    for path, value in some(rng, tuples(certificate)):
        i = int(rng.integers(len(value)))
        yield put(certificate, path, (*value[:i], value[i], *value[i:]))
        yield put(certificate, path, (*value, value[i]))
        yield put(certificate, path, value + value)


def leaving_out(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """A case is missing, or all of them."""
    for path, value in some(rng, tuples(certificate)):
        i = int(rng.integers(len(value)))
        yield put(certificate, path, value[:i] + value[i + 1 :])
        yield put(certificate, path, ())


def wrong_sign(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    for path, value in some(rng, numbers(certificate) + integers(certificate)):
        yield put(certificate, path, -value)
        yield put(certificate, path, -abs(value) - 1)


def all_signs(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """Every number is turned around, so that bounds become the opposite of what they were."""
    turned: Any = certificate
    for path, value in numbers(certificate):
        turned = put(turned, path, -value)
    yield turned


def one_step(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """The smallest change there is, down or up."""
    step = problem.resolution
    for path, value in some(rng, numbers(certificate)):
        yield put(certificate, path, value - step)
        yield put(certificate, path, value + step)
    for path, number in some(rng, integers(certificate)):
        yield put(certificate, path, number - 1)
        yield put(certificate, path, number + 1)


def between_steps(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """Numbers that are no multiples of the resolution: half a step, the next float."""
    for path, value in some(rng, numbers(certificate)):
        yield put(certificate, path, value + 0.5 * problem.resolution)
        yield put(certificate, path, math.nextafter(value, -math.inf))


def edges_of_the_range(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """Numbers so large that sums with them would be rounded, or would leave int64."""
    for path, value in some(rng, numbers(certificate)):
        for edge in some(rng, EDGES, 3):
            sign = int(rng.choice((-1, 1)))
            yield put(certificate, path, sign * edge * problem.resolution + value)
    for path, _ in some(rng, integers(certificate)):
        yield put(certificate, path, int(rng.choice((-1, 1))) * EDGES[int(rng.integers(len(EDGES)))])


def opposite_edges(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """Two large numbers that cancel each other, so that what is added between them is lost by rounding."""
    found = numbers(certificate)
    if len(found) > 1:
        for edge in some(rng, EDGES, 4):
            (one, a), (other, b) = some(rng, found, 2)
            large = edge * problem.resolution
            yield put(put(certificate, one, a + large), other, b - large)


def infinities(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    for path, _ in some(rng, numbers(certificate) + integers(certificate)):
        for odd in (math.inf, -math.inf, math.nan, -0.0, 5e-324, -5e-324, 1.7e308):
            yield put(certificate, path, odd)


class LyingInt(int):
    """An integer that is another one when it is an index."""

    def __index__(self) -> int:
        return 0


def type_confusion(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """Values that pass for others: booleans, NumPy's numbers, strings, subclasses that lie."""
    for path, value in some(rng, numbers(certificate)):
        oddities: list[Any] = [True, np.float64(value), LyingFloat(value), str(value), None, complex(value), np.array(value)]
        for odd in oddities:
            yield put(certificate, path, odd)
    for path, number in some(rng, integers(certificate)):
        oddities = [bool(number), float(number), LyingInt(number), str(number), None, [number]]
        for odd in oddities:
            yield put(certificate, path, odd)
        if abs(number) < 2**62:
            yield put(certificate, path, np.int64(number))
    for path, entries in some(rng, tuples(certificate)):
        yield put(certificate, path, list(entries))
        yield put(certificate, path, LyingTuple(entries))
        yield put(certificate, path, iter(entries))
        yield put(certificate, path, dict(enumerate(entries)))


def swapped_fields(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """Two fields, or two entries, have each other's values."""
    names = [entry.name for entry in dataclasses.fields(certificate)]
    for a in names:
        for b in names:
            if a < b:
                yield replace(certificate, **{a: getattr(certificate, b), b: getattr(certificate, a)})
    for path, value in some(rng, tuples(certificate)):
        if len(value) > 1:
            i, j = rng.permutation(len(value))[:2].tolist()
            moved = list(value)
            moved[i], moved[j] = moved[j], moved[i]
            yield put(certificate, path, tuple(moved))
        yield put(certificate, path, value[::-1])


def out_of_range(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """Names of parts, words, rows and constraints that do not exist; negative ones would count from the end."""
    for path, value in some(rng, integers(certificate)):
        for odd in (-1, -value - 1, value + 10, 10**6, 2**31, 2**63, -(2**63), 10**400):
            yield put(certificate, path, odd)


def other_kinds(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """Evidence of another kind, empty or with the same numbers."""
    values = tuple(value for _, value in numbers(certificate))
    names = tuple(value for _, value in integers(certificate))
    zeros = (0.0,) * len(names)
    yield DynamicProgram()
    yield Multipliers(values)
    yield Multipliers(())
    yield Signatures(values)
    yield CutDuals((), ())
    yield CutDuals(tuple((name,) for name in names), zeros)
    yield Intersection((), ())
    yield Intersection(names, ())
    yield Agreement(())
    yield HeadPrices((), (), ())
    yield HeadPrices(names, zeros, zeros)
    yield Unsatisfiable(0)
    yield FactorShares(problem.resolution, (), (), DynamicProgram())
    yield Leaves(())


def leaves_that_lack_one(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """Leaves that do not cover the space, overlap, decide a part twice, or decide parts that do not exist."""
    inner = certificate.leaves[0].certificate if isinstance(certificate, Leaves) and certificate.leaves else certificate
    part = int(rng.integers(0, 6))
    yield Leaves((Leaf(((part, True),), inner),))
    yield Leaves((Leaf(((part, False),), inner),))
    yield Leaves((Leaf(((part, True),), inner), Leaf(((part, True),), inner)))
    yield Leaves((Leaf(((part, True),), inner), Leaf(((part + 1, False),), inner)))
    yield Leaves((Leaf(((part, True), (part, False)), inner), Leaf(((part, False), (part, True)), inner)))
    yield Leaves((Leaf(((part, True), (part, False)), inner), Leaf(((part, True), (part, True)), inner), Leaf(((part, False),), inner)))
    yield Leaves((Leaf(((-1, True),), inner), Leaf(((-1, False),), inner)))
    yield Leaves((Leaf(((10**9, True),), inner), Leaf(((10**9, False),), inner)))
    yield Leaves((Leaf((), inner), Leaf((), inner)))
    if isinstance(certificate, Leaves):
        for i in range(len(certificate.leaves)):
            yield Leaves(certificate.leaves[:i] + certificate.leaves[i + 1 :])


def split_anywhere(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """True leaves, with the same evidence in both: the bound must not become better than it is."""
    part = int(rng.integers(0, 12))
    yield Leaves((Leaf(((part, True),), certificate), Leaf(((part, False),), certificate)))
    inner = Leaves((Leaf(((part, True),), certificate), Leaf(((part, False),), certificate)))
    yield Leaves((Leaf(((part + 1, True),), inner), Leaf(((part + 1, False),), inner)))


def many_levels(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    nested: Any = certificate
    for _ in range(int(rng.choice((2, 70, 400)))):
        nested = Leaves((Leaf((), nested),))
    yield nested


def thresholds(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """Screening with a threshold below, at or above the claim, of all that there is."""
    optimum = 1000.0 * problem.resolution
    empty = HeadPrices((), (), ())
    for threshold in (-1e300, -optimum, 0.0, -0.0, optimum, math.inf, -math.inf):
        yield Screened(empty, threshold, certificate)
        if isinstance(certificate, Screened | Narrowed):
            yield replace(certificate, threshold=threshold)


def evidence_of_another(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """A certificate of a problem with other scores: numbers of a larger or smaller scale."""
    for scale in (0.0, 0.5, 2.0, -1.0):
        changed: Any = certificate
        for path, value in numbers(certificate):
            changed = put(changed, path, float(np.rint(value * scale / problem.resolution)) * problem.resolution)
        yield changed


ATTACKS: dict[str, Attack] = {
    attack.__name__: attack
    for attack in (
        as_it_is, counting_twice, leaving_out, wrong_sign, all_signs, one_step, between_steps, edges_of_the_range, opposite_edges,
        infinities, type_confusion, swapped_fields, out_of_range, other_kinds, leaves_that_lack_one, split_anywhere, many_levels,
        thresholds, evidence_of_another,
    )
}  # fmt: skip


# ---------------------------------------------------------------- attacks on one kind


def pairs_both_ways(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """Tables of two words under both their names, so that the factors of the pair count twice."""
    n = problem.n_words
    if n < 2:
        return
    allowed = (problem.arcs > -np.inf).sum(axis=0)
    for m in range(1, n + 1):
        for s in range(1, n + 1):
            if m != s:
                shares = (0,) * int(allowed[s] + allowed[m])
                yield FactorShares(problem.resolution, (m * (n + 1) + s, s * (n + 1) + m), shares, DynamicProgram())


def units_that_move(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """Shares in units that are finer, coarser, or no power of two."""
    if isinstance(certificate, FactorShares):
        for factor in (2.0, 0.5, 2.0**-60, 3.0, -1.0, 0.0, 2.0**-1060, math.inf, math.nan):
            yield replace(certificate, unit=certificate.unit * factor)
            yield replace(certificate, unit=certificate.unit * factor, shares=tuple(2 * share for share in certificate.shares))


def everything_screened(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """All arcs are left out, so that nothing remains to be bounded."""
    n = problem.n_words
    arcs = tuple(range((n + 1) ** 2))
    below = float(problem.score(tuple([0] * n))) if problem.labels is None and not problem.larger else 0.0
    shares = certificate if isinstance(certificate, FactorShares) else FactorShares(problem.resolution, (), (), DynamicProgram())
    for threshold in (-1e9, 0.0, below if math.isfinite(below) else 0.0):
        yield Narrowed(shares, threshold, arcs, shares)
        yield Narrowed(shares, threshold, arcs[:: int(rng.integers(1, 4))], shares)
        yield Screened(HeadPrices((), (), ()), threshold, HeadPrices((), (), ()))


def cuts_of_everything(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """Sets with values of the wrong sign: several arcs may enter them, so a positive value is paid more than once."""
    n, large = problem.n_words, 64.0
    if n < 2:
        return
    words = tuple(range(1, n + 1))
    for value in (large, -large):
        yield CutDuals((*((word,) for word in words), words), (*(large,) * n, value))
        yield CutDuals((*((word,) for word in words), words[:2]), (*(large,) * n, value))
        yield CutDuals((*((word,) for word in words), (1, 1)), (*(large,) * n, value))
        yield CutDuals((*((word,) for word in words), (0, *words)), (*(large,) * n, value))
        yield CutDuals((*((word,) for word in words), ()), (*(large,) * n, -n * large))


def overpaid_sets(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """The best heads of all words, and a set of two that gets what both of them give: two arcs may enter it, and both would be paid."""
    n, step = problem.n_words, problem.resolution
    if n < 2 or problem.labels is not None:
        return
    best = problem.arcs[:, 1:].max(axis=0)
    if not np.isfinite(best).all():
        return
    singles = tuple((word,) for word in range(1, n + 1))
    for a in range(1, n + 1):
        for b in range(a + 1, n + 1):
            for paid in (step, 1024 * step):
                values = [float(value) - paid * (word in (a, b)) for word, value in enumerate(best, start=1)]
                yield CutDuals((*singles, (a, b)), (*values, paid))


def rewards_for_constraints(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """Prices on constraints that count nothing, on soft ones, and on some that are intersected as well."""
    for c in range(len(problem.machines)):
        for price in (-4.0, 4.0, 2.0**40):
            yield Intersection((), ((c, price),))
            yield Intersection((c,), ((c, price),))
            yield Intersection((c, c), ((c, price), (c, price)))
            yield Agreement(((c, 0, 0, price), (c, 0, 0, -price)))


def rows_that_pay(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """Negative multipliers of upper limits, and too few or too many of them."""
    for size in (0, 1, 2, 7, len(getattr(certificate, "values", ()))):
        for value in (-1.0, 1.0, -(2.0**40)):
            yield Multipliers((value,) * size)
            yield Signatures((value,) * size)
    for row in (-1, 0, 1, 5):
        yield Unsatisfiable(row)


def turned_rows(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """What one row pays another one gets: sums of all multipliers stay, and only a checker that counts rows one by one sees it."""
    for kind, values in multipliers_in(certificate):
        if len(values) > 1:
            i, j = rng.permutation(len(values))[:2].tolist()
            for much in (problem.resolution, 1.0, 64 * problem.resolution, 2.0**20 * problem.resolution):
                moved = list(values)
                moved[i] += much
                moved[j] -= much
                yield kind(tuple(moved))


def one_row_takes_all(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """A single row has a multiplier: the others are relaxed for nothing."""
    for kind, values in multipliers_in(certificate):
        for r in some(rng, range(len(values))):
            for value in (values[r], sum(values), -sum(values), problem.resolution, 2.0**30 * problem.resolution):
                yield kind(tuple(value if q == r else 0.0 for q in range(len(values))))


def all_rows_alike(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """A constant is paid by every row: of words that are all translated once, of symbols that are all used, it is given back."""
    for kind, values in multipliers_in(certificate):
        for constant in (problem.resolution, -problem.resolution, 2.0**40 * problem.resolution, -(2.0**40) * problem.resolution):
            yield kind(tuple(value + constant for value in values))
            yield kind((constant,) * len(values))
            yield kind(tuple(constant * (-1) ** r for r in range(len(values))))


def sums_at_the_edge(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """Every multiplier is within its range, and all together they leave it: sums would be rounded, or wrap around."""
    for kind, values in multipliers_in(certificate):
        for bits in (44, 47, 50, 52):
            large = 2.0**bits * problem.resolution
            signs = rng.choice((-1.0, 1.0), len(values)).tolist()
            yield kind(tuple(value + large for value in values))
            yield kind(tuple(value + sign * large for value, sign in zip(values, signs, strict=True)))


def multipliers_in(certificate: Certificate) -> list[tuple[type, tuple[float, ...]]]:
    """Multipliers, wherever they are."""
    found = [(type(value), value.values) for _, value in spots(certificate) if isinstance(value, Multipliers | Signatures)]
    return found[:2]


def prices_of_words_that_are_not(problem: Any, certificate: Certificate, rng: Random) -> Iterator[Any]:
    """Multipliers of a row more: of the word before the sentence, of the one after it."""
    for kind, values in multipliers_in(certificate):
        for value in (0.0, problem.resolution, -(2.0**20) * problem.resolution):
            yield kind((value, *values))
            yield kind((*values, value))
            yield kind((*values, *values))


ROWS = (rows_that_pay, turned_rows, one_row_takes_all, all_rows_alike, sums_at_the_edge, prices_of_words_that_are_not)
SPECIAL: dict[str, tuple[Attack, ...]] = {
    "tree": (pairs_both_ways, units_that_move, everything_screened, cuts_of_everything, overpaid_sets),
    "sequence": (rewards_for_constraints,),
    "hypergraph": ROWS,
    "joint": ROWS,
    "agreement": ROWS,
    "phrases": ROWS,
    "forest": ROWS,
    "lexical": (rows_that_pay,),
}


# ---------------------------------------------------------------- claims


@dataclass(slots=True)
class Forged:
    """How many false claims were made of every kind of certificate and by every attack, and what was found."""

    claims: Counter[str] = field(default_factory=Counter)
    attacks: dict[str, set[str]] = field(default_factory=dict)  # by task and kind of certificate
    findings: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        total = sum(self.claims.values())
        return f"{total:,} false claims, {len(self.findings)} findings"


def false_claims(problem: Any, best: float, solution: Solution[Any], certificate: Any) -> Iterator[Solution[Any]]:
    """Bounds below the best score: for no structure, for the best one, and with a trace or a score that says otherwise."""
    step = problem.resolution
    for bound in (best - step, best - 1024 * step, -math.inf):
        yield Solution(None, -math.inf, bound, certificate)
    yield Solution(solution.structure, solution.score, best - step, certificate)
    yield Solution(solution.structure, best - step, best - step, certificate)
    yield Solution(None, -math.inf, best - step, certificate, Trace((best - step,), (-math.inf,), (0.0,)))


def forge(tasks: Sequence[str], *, claims: int, seed: int = 0, report: Callable[[Forged], object] | None = None) -> Forged:
    """Makes as many false claims about drawn problems; a finding is one that is accepted, or that ends in an error of Python."""
    found, i, noted = Forged(), 0, time.perf_counter()
    foreign: dict[str, Certificate] = {}
    while sum(found.claims.values()) < claims:
        name = tasks[i % len(tasks)]
        rng = np.random.default_rng([seed, i])
        i += 1
        for problem, best, solution in proven(name, rng):
            for attack, certificate, claim in forged(name, problem, best, solution, foreign.get(name), rng):
                kind = f"{name}: {getattr(type(certificate), 'kind', type(certificate).__name__)}"
                found.claims[kind] += 1
                found.attacks.setdefault(kind, set()).add(attack)
                complaint = outcome(problem, claim)
                if complaint is not None:
                    found.findings.append(f"{name}, seed [{seed}, {i - 1}], {attack}: {complaint}: {claim!r}"[:1000])
            foreign[name] = solution.certificate
        if report is not None and time.perf_counter() - noted > 10.0:
            noted = time.perf_counter()
            report(found)
    return found


def forged(
    name: str, problem: Any, best: float, solution: Solution[Any], foreign: Certificate | None, rng: Random
) -> Iterator[tuple[str, Any, Any]]:
    """Every attack on a true solution: its name, the certificate and the claim."""
    others = some(rng, list(dressed(name, problem, best, solution.certificate)), 1)
    for true in (solution.certificate, *others):
        for attack in (*ATTACKS.values(), *SPECIAL[name]):
            for certificate in attack(problem, true, rng):
                for claim in some(rng, list(false_claims(problem, best, solution, certificate)), 2):
                    yield attack.__name__, certificate, claim
        solution = replace(solution, certificate=true)  # the claims below are about the last of them
    if foreign is not None:
        for claim in false_claims(problem, best, solution, foreign):
            yield "foreign_problem", foreign, claim
    if rng.random() < 0.3:
        for claim in lists_with_gaps(best, list_of_best(name, problem)):
            yield "lists_with_gaps", claim.certificate, claim
    for text, claims in CLAIMS.items():
        for claim in some(rng, list(claims(problem, best, solution, rng)), 3):
            yield text, solution.certificate, claim


LISTS: dict[str, Callable[..., Solution[Any]]] = {
    "tree": dependency.decode, "sequence": sequence.decode, "phrases": translation.decode, "forest": translation.decode,
}  # fmt: skip


def list_of_best(name: str, problem: Any) -> Solution[Any] | None:
    """The three best structures, if the task has lists of them and they were all found."""
    if name not in LISTS:
        return None
    try:
        solution = LISTS[name](problem, k=3)
    except (Infeasible, OverlappingTails, InputError):
        return None
    return solution if solution.alternatives else None


def lists_with_gaps(best: float, solution: Solution[Any] | None) -> Iterator[Solution[Any]]:
    """One of the best is not in the list, or is there twice, or is not where it belongs."""
    if solution is None or not solution.alternatives:
        return
    others = solution.alternatives
    last = others[-1][1]
    for i, (structure, score) in enumerate(others):
        if score > last:
            yield replace(solution, alternatives=others[:i] + others[i + 1 :])
        yield replace(solution, alternatives=(*others, (structure, score)))
        for wrong in (score + 1.0, score - 1.0, last - 1.0):
            if wrong != score:
                yield replace(solution, alternatives=(*others[:i], (structure, wrong), *others[i + 1 :]))
        if score < best:
            yield replace(solution, structure=structure, score=score, bound=score, alternatives=())
            yield (
                replace(solution, structure=structure, score=score, alternatives=others[i + 1 :])
                if others[i + 1 :]
                else replace(solution, structure=structure, score=score, bound=score, alternatives=((solution.structure, solution.score),))
            )
    if last < others[0][1]:
        yield replace(solution, alternatives=others[::-1])
    yield replace(solution, alternatives=((solution.structure, solution.score), *others))


def dressed(name: str, problem: Any, best: float, certificate: Any) -> Iterator[Any]:
    """The same proof in certificates of other kinds, which decoders write seldom."""
    if name in ("tree", "hypergraph", "sequence", "joint", "agreement") and not isinstance(certificate, Intersection | Signatures):
        yield Leaves((Leaf(((1, True),), certificate), Leaf(((1, False),), certificate)))
    if name == "tree":
        prices = certificate if isinstance(certificate, HeadPrices) else HeadPrices((), (), ())
        yield Screened(prices, best, certificate)
        shares = certificate if isinstance(certificate, FactorShares) else FactorShares(problem.resolution, (), (), DynamicProgram())
        yield Narrowed(shares, best, (1,), shares)
    if name == "hypergraph" and isinstance(certificate, Multipliers):
        yield Signatures(certificate.values)
    if name == "hypergraph" and len(problem.constraints):
        yield Signatures((0.0,) * len(problem.constraints))
        yield Leaves((Leaf(((1, True),), Unsatisfiable(0)), Leaf(((1, False),), certificate)))
        yield Unsatisfiable(0)


def proven(name: str, rng: Random) -> Iterator[tuple[Any, float, Solution[Any]]]:
    """A drawn problem with its best score, and a proven solution by each of some methods."""
    try:
        problem = KINDS[name].draw(rng)
    except ScoreError:
        return
    best = KINDS[name].optimum(problem)
    if best is None or best == -math.inf or abs(best) > 1e290:
        return
    methods = [method for method in KINDS[name].methods(problem).values() if not method.rare]
    seen = set()
    for method in some(rng, methods, 3):
        try:
            solution = method.decode(problem)
        except (Infeasible, OverlappingTails):
            continue
        if solution.certificate.kind not in seen:
            seen.add(solution.certificate.kind)
            yield problem, best, solution


def outcome(problem: Any, claim: Any) -> str | None:
    """None if the claim is refused in zerogap's own words."""
    try:
        verify(problem, claim.read() if isinstance(claim, Filed) else claim)
    except ZerogapError:
        return None
    except Exception as error:
        return f"{type(error).__name__} ({error})"
    return "ACCEPTED"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m zerogap.testing.forge", description="False claims with forged certificates.")
    parser.add_argument("--claims", type=int, default=10_000, help="how many (10,000)")
    parser.add_argument("--tasks", default=",".join(SPECIAL), help=f"some of {', '.join(SPECIAL)}, with commas between (all)")
    parser.add_argument("--seed", type=int, default=0, help="another one draws other problems (0)")
    given = parser.parse_args(arguments)
    found = forge(given.tasks.split(","), claims=given.claims, seed=given.seed, report=lambda so_far: print(so_far, file=sys.stderr))
    for kind, count in sorted(found.claims.items()):
        print(f"{count:>10,}  {kind}, by {len(found.attacks[kind])} attacks")
    for finding in found.findings[:50]:
        print(finding)
    print(found)
    return 1 if found.findings else 0


if __name__ == "__main__":
    sys.exit(main())
