"""Checks bounds of trees with factors: the scores of factors are shared out among their arcs, and the rest is a problem without factors.

Factors of the same arcs are one factor, and one that no tree can have is none. What is left of a problem in a leaf are the arcs that
are allowed; a word with one head left has it for sure. Then no tree scores more than the best one under the arcs with their shares,
plus a constant, if

    words m, s    the heads k of s get any shares b(k), those of m get a(h) = max_k theta(h, k) - b(k), where theta(h, k) is
                  the score of the factor of h -> m and k -> s, 0 if there is none, -inf if no tree has both arcs
    phi > 0       the arcs get shares of at least 0 that sum to phi
    phi < 0       the arcs get w each, and the constant -(r - 1) w, for a w from phi to 0

(Qian & Liu 2013, section 3.2, for single factors). All scores are multiples of a power of two, so the bound is rounded down to one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InvalidStructure, VerificationError
from zerogap.grid import MANTISSA_BITS, Scores, floor_to_unit, unit_of
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.certificate import Certificate, DynamicProgram, FactorShares, Leaf, Leaves, Narrowed
from zerogap.proof.dependency_lists import added
from zerogap.proof.head_prices import best_tree_value
from zerogap.proof.leaves import check_cover

Allowed = NDArray[np.bool_]
Arc = tuple[int, int]
Prove = Callable[[Problem, Certificate], float]


@dataclass(frozen=True, slots=True, eq=False)
class Normal:
    """A problem whose factors have two arcs or more, all different; `arcs` have the best labels and the factors of one arc."""

    problem: Problem
    arcs: Scores
    factors: dict[tuple[Arc, ...], float]
    grain: float  # divides the score of every tree
    prove: Prove  # the bound of a problem without factors


def concerns_factors(certificate: Certificate) -> bool:
    """Whether a certificate is of the kind that this module checks."""
    if isinstance(certificate, Leaves) and certificate.leaves:
        return concerns_factors(certificate.leaves[0].certificate)
    return isinstance(certificate, FactorShares | Narrowed)


def factor_bound(problem: Problem, certificate: Certificate, arcs: Scores, prove: Prove) -> float:
    """The bound that shares prove, in leaves or not; `arcs` have their best labels, `prove` bounds problems without factors."""
    normal = normal_form(problem, arcs, prove)
    return bound_within(normal, certificate, normal.arcs > -np.inf)


def normal_form(problem: Problem, arcs: Scores, prove: Prove) -> Normal:
    arcs = arcs.copy()
    factors: dict[tuple[Arc, ...], float] = {}
    for factor in problem.factors:
        if len(factor.arcs) == 1:
            arcs[factor.arcs[0]] += factor.score
        else:
            key = tuple(sorted(factor.arcs, key=lambda arc: arc[1]))
            factors[key] = factors.get(key, 0.0) + factor.score
    possible = {key: score for key, score in factors.items() if score != 0.0 and can_hold(key, problem)}
    grain = problem.resolution
    if not problem.parts and not problem.automata:
        grain = unit_of(grain, problem.arcs, problem.labels, np.array([factor.score for factor in problem.factors]))
    return Normal(problem, arcs, possible, grain, prove)


def can_hold(arcs: tuple[Arc, ...], problem: Problem) -> bool:
    """Whether some tree of the kind that is wanted may have all these arcs."""
    head_of = {m: h for h, m in arcs}
    if problem.single_root and list(head_of.values()).count(0) > 1:
        return False
    for word in head_of:
        seen = {word}
        while word in head_of:
            word = head_of[word]
            if word in seen:
                return False
            seen.add(word)
    spans = [(min(arc), max(arc)) for arc in arcs]
    return not problem.projective or not any(a < c < b < d for (a, b), (c, d) in itertools.permutations(spans, 2))


def bound_within(normal: Normal, certificate: Certificate, allowed: Allowed) -> float:
    """Of the trees that have no other arcs than those that are allowed."""
    match certificate:
        case FactorShares():
            return bound_of_shares(normal, certificate, allowed)
        case Narrowed():
            return max(certificate.threshold, bound_within(normal, certificate.rest, narrowed(normal, certificate, allowed)))
        case Leaves(leaves):
            check_cover(leaves, len(allowed) ** 2)
            return max(bound_within(normal, leaf.certificate, allowed_in(leaf, allowed)) for leaf in leaves)
        case _:
            raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing about factors.")


def allowed_in(leaf: Leaf, allowed: Allowed) -> Allowed:
    left = allowed.copy()
    for part, inside in leaf.fixed:
        h, m = divmod(part, len(allowed))
        if inside:
            left[:, m] &= np.arange(len(allowed)) == h
        else:
            left[h, m] = False
    return left


def narrowed(normal: Normal, certificate: Narrowed, allowed: Allowed) -> Allowed:
    """What is left without the arcs that no tree above the threshold has: if a word must have one of them, the bound says so."""
    size = len(allowed)
    if math.isnan(certificate.threshold):
        raise VerificationError("the threshold is nan: expected a number.")
    if not all(type(arc) is int and 0 <= arc < size * size for arc in certificate.arcs):
        raise VerificationError(f"arcs has something else than numbers from 0 to {size * size - 1}.")
    gone = np.zeros_like(allowed)
    gone.reshape(-1)[list(certificate.arcs)] = True
    left = allowed & ~gone
    shared = weights_of(normal, certificate.shares, allowed)
    for m in range(1, size):
        if not (allowed & gone)[:, m].any():
            continue
        only = allowed.copy()
        only[:, m] = (allowed & gone)[:, m]
        bound = best_under(normal, certificate.shares, shared, only)
        if not bound <= certificate.threshold:
            raise VerificationError(
                f"a tree with one of the arcs into word {m} that are left out may score {bound!r}, above the threshold."
            )
    return left


def bound_of_shares(normal: Normal, certificate: FactorShares, allowed: Allowed) -> float:
    """Of the trees of allowed arcs."""
    return best_under(normal, certificate, weights_of(normal, certificate, allowed), allowed)


def best_under(normal: Normal, certificate: FactorShares, shared: tuple[Scores, float, float] | None, only: Allowed) -> float:
    """The bound of the trees that have no arcs but `only` these, under the arcs with their shares and the constant."""
    if shared is None:
        return -math.inf
    weights, constant, size = shared
    value = best_without_factors(normal, certificate.rest, np.where(only, weights, -np.inf), certificate.unit, size)
    return floor_to_unit(value + constant, normal.grain)


def weights_of(normal: Normal, certificate: FactorShares, allowed: Allowed) -> tuple[Scores, float, float] | None:
    """The arcs with their shares, the constant, and a number that no sum of magnitudes exceeds; None if no arcs are left."""
    problem = normal.problem
    left = forced(normal, allowed)
    if left is None:
        return None
    unit = checked_unit(certificate.unit, problem)
    weights, constant, size = np.where(left, normal.arcs, -np.inf), 0.0, problem.terms * problem.largest
    active = {arcs: score for arcs, score in normal.factors.items() if all(left[arc] for arc in arcs)}
    two: dict[tuple[int, int], dict[tuple[int, int], float]] = {}
    for arcs, score in active.items():
        if len(arcs) == 2:
            (h, m), (k, s) = arcs
            two.setdefault((m, s), {})[h, k] = score
    in_tables = {frozenset(words_of(words, problem.n_words)) for words in certificate.words}
    if len(in_tables) < len(certificate.words):  # (m, s) and (s, m) are the same pair: its factors would count twice
        raise VerificationError("two words are given twice: expected every pair of words once, in either order.")
    take, taken = read_shares(certificate), 0
    for words in certificate.words:
        m, s = words_of(words, problem.n_words)
        shares = take(int(left[:, s].sum()))
        taken += len(shares)
        theta = table_of(two, m, s, left, problem)
        rest = (theta - shares).max(axis=1, initial=-math.inf)
        weights[left[:, m], m] += rest
        weights[left[:, s], s] += shares
        size += 2.0 * float(np.abs(shares).max(initial=0.0)) + float(np.abs(theta[theta > -np.inf]).max(initial=0.0))
    for arcs, score in active.items():
        if len(arcs) == 2 and frozenset(m for _, m in arcs) in in_tables:
            continue
        shares = take(len(arcs) if score > 0.0 else 1)
        taken += len(shares)
        if score > 0.0:
            if shares.min() < 0.0 or shares.sum() != score:
                raise VerificationError(f"the arcs {arcs} have the shares {shares.tolist()}: expected at least 0, and {score!r} together.")
        else:
            if not score <= shares[0] <= 0.0:
                raise VerificationError(f"the arcs {arcs} have the share {shares[0]!r}: expected one from {score!r} to 0.")
            constant -= (len(arcs) - 1) * float(shares[0])
        for arc, share in zip(arcs, shares if score > 0.0 else itertools.repeat(shares[0]), strict=False):
            weights[arc] += share
        size += 2.0 * len(arcs) * float(np.abs(shares).max())
    if taken < len(certificate.shares):
        raise VerificationError(f"there are {len(certificate.shares)} shares: expected {taken}.")
    if not size < math.ldexp(unit, MANTISSA_BITS):
        raise VerificationError("the shares are so large that sums with them are not exact.")
    return weights, constant, size


def forced(normal: Normal, allowed: Allowed) -> Allowed | None:
    """What is allowed without the arcs that would complete a factor of score -inf, all others of which are sure; None if one is complete,
    or a word has no head."""
    left = allowed.copy()
    again = True
    while again:
        again = False
        counts = left.sum(axis=0)
        if (counts[1:] == 0).any():
            return None
        for arcs, score in normal.factors.items():
            if score == -math.inf and all(left[arc] for arc in arcs):
                unsure = [arc for arc in arcs if counts[arc[1]] > 1]
                if not unsure:
                    return None
                if len(unsure) == 1:
                    left[unsure[0]] = False
                    counts[unsure[0][1]] -= 1
                    again = True
    return left


def checked_unit(unit: float, problem: Problem) -> float:
    if not (isinstance(unit, float) and 0.0 < unit <= problem.resolution and math.frexp(unit)[0] == 0.5):
        raise VerificationError(f"the unit is {unit!r}: expected a power of two up to the problem's resolution {problem.resolution!r}.")
    return unit


def read_shares(certificate: FactorShares) -> Callable[[int], Scores]:
    """A function that takes the next few of them."""
    for share in certificate.shares:
        if type(share) is not int or abs(share) >= 2**MANTISSA_BITS:
            raise VerificationError(f"a share is {share!r}: expected an integer below 2^53, a number of units.")
    left = iter(certificate.shares)

    def take(count: int) -> Scores:
        some = list(itertools.islice(left, count))
        if len(some) < count:
            raise VerificationError(f"there are {len(certificate.shares)} shares, fewer than expected.")
        return np.array(some, dtype=np.float64) * certificate.unit

    return take


def words_of(number: int, n: int) -> tuple[int, int]:
    m, s = divmod(number, n + 1) if type(number) is int else (0, 0)
    if not (1 <= m <= n and 1 <= s <= n and m != s):
        raise VerificationError(f"words has {number!r}: expected m * (n + 1) + s for two words m and s.")
    return m, s


def table_of(two: dict[tuple[int, int], dict[tuple[int, int], float]], m: int, s: int, left: Allowed, problem: Problem) -> Scores:
    """theta: the score of every allowed head of m and of s together, -inf if no tree has both; `two` by words and by heads."""
    heads, others = np.flatnonzero(left[:, m]), np.flatnonzero(left[:, s])
    theta = np.zeros((len(left), len(left)))
    for pair, score in two.get((min(m, s), max(m, s)), {}).items():
        theta[pair if m < s else pair[::-1]] = score
    h, k = heads[:, None], others[None, :]
    never = (h == s) & (k == m)
    if problem.single_root:
        never |= (h == 0) & (k == 0)
    if problem.projective:
        for a, b, c, d in ((h, m, k, s), (k, s, h, m)):
            low, high = np.minimum(a, b), np.maximum(a, b)
            never |= (low < np.minimum(c, d)) & (np.minimum(c, d) < high) & (high < np.maximum(c, d))
    return np.where(never, -np.inf, theta[h, k])


def best_without_factors(normal: Normal, rest: Certificate, weights: Scores, unit: float, size: float) -> float:
    """The bound of the problem with these weights of arcs instead of its own, and without labels and factors."""
    problem = normal.problem
    plain: Problem = object.__new__(Problem)
    for name in Problem.__slots__:
        object.__setattr__(plain, name, getattr(problem, name))
    without = {"labels": None, "label_names": None, "factors": (), "terms": 1, "largest": size}
    for name, value in {"arcs": weights, "resolution": unit, **without}.items():
        object.__setattr__(plain, name, value)
    if isinstance(rest, DynamicProgram) and not problem.projective and not plain.larger:
        return best_tree_value(weights, plain)
    if concerns_factors(rest):
        raise VerificationError("shares of factors are given twice: what they leave is a problem without factors.")
    return normal.prove(plain, rest)


def trees_above(problem: Problem, certificate: Certificate, labelled: Scores, claimed: float, k: int, prove: Prove) -> Scores:
    """The scores above `claimed` of all structures, the k best of every tree, with `labelled` arcs (n + 1, n + 1, any).

    Every leaf must be bounded by the claim, or have one tree.
    """
    normal = normal_form(problem, labelled[..., 0], prove)
    found: list[Scores] = []
    waiting: list[tuple[Certificate, Allowed]] = [(certificate, normal.arcs > -np.inf)]
    while waiting:
        evidence, allowed = waiting.pop()
        match evidence:
            case Narrowed():
                if evidence.threshold > claimed:
                    raise VerificationError("arcs are left out that trees above the last alternative may have.")
                waiting.append((evidence.rest, narrowed(normal, evidence, allowed)))
            case Leaves(leaves):
                check_cover(leaves, len(allowed) ** 2)
                waiting += [(leaf.certificate, allowed_in(leaf, allowed)) for leaf in leaves]
            case _:
                left = forced(normal, allowed)
                if left is not None and (left.sum(axis=0)[1:] == 1).all():
                    found.append(scores_of_tree(problem, labelled, left[:, 1:].argmax(axis=0), k))
                elif not bound_within(normal, evidence, allowed) <= claimed:
                    raise VerificationError("trees that are not among the alternatives may score more than the last of them.")
    scores = np.sort(np.concatenate([np.empty(0), *found]))[::-1]
    return scores[scores > claimed]


def scores_of_tree(problem: Problem, labelled: Scores, heads: NDArray[np.int64], k: int) -> Scores:
    """The k best scores of one tree with labels, none if the problem does not allow it."""
    words = np.arange(1, problem.n_words + 1)
    labels = None if problem.labels is None else problem.labels[heads, words].argmax(axis=1)
    tree = problem.tree(heads, labels)
    try:
        problem.check(tree)
    except InvalidStructure:
        return np.empty(0)
    of_labels = np.zeros(1)
    for m, h in enumerate(heads.tolist(), start=1):
        of_labels = added(of_labels, labelled[h, m], k)
    scores = of_labels + (problem.score(tree) - of_labels[0])
    return scores[scores > -np.inf]
