"""Checks bounds of trees with factors: the scores of factors are shared out among their arcs, and the rest is a problem without factors.

Factors of the same arcs are one factor, and one that no tree can have is none. What is left of a problem in a leaf are the arcs that
are allowed; a word with one head left has it for sure. Then no tree scores more than the best one under the arcs with their shares,
plus a constant, if

    words m, s    the heads k of s get any shares b(k), those of m get a(h) = max_k theta(h, k) - b(k), where theta(h, k) is
                  the score of the factor of h -> m and k -> s, 0 if there is none, -inf if no tree has both arcs
    phi > 0       the arcs get shares of at least 0 that sum to phi
    phi < 0       the arcs get w each, and the constant -(r - 1) w, for a w from phi to 0

(Qian & Liu 2013, section 3.2, for single factors). Every pair of words has one table, or its factors would count twice. Shares are
integers, in a unit that divides the problem's resolution; scores are multiples of a grain, so the bound is rounded down to one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from zerogap.errors import InvalidStructure, VerificationError
from zerogap.grid import Flags, Integers
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.certificate import Certificate, DynamicProgram, FactorShares, Leaf, Leaves, Narrowed
from zerogap.proof.dependency.arborescence import best_arborescence
from zerogap.proof.dependency.trees import Trees, bound_of_trees
from zerogap.proof.integers import ABSENT, RANGE, Units, added, plus, settled, units, units_of
from zerogap.proof.leaves import check_cover

Arc = tuple[int, int]
Heads = Integers


@dataclass(frozen=True, slots=True, eq=False)
class Normal:
    """A problem whose factors have two arcs or more, all different; `arcs` have the best labels and the factors of one arc.

    All in units of the problem's resolution; a factor that is forbidden scores ABSENT.
    """

    trees: Trees
    arcs: Integers
    factors: dict[tuple[Arc, ...], int]
    grain: int  # divides the score of every tree

    @property
    def problem(self) -> Problem:
        return self.trees.problem


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """Arcs with their shares, and the constant, in units of the certificate; no sum of magnitudes exceeds `size`."""

    weights: Integers
    constant: int
    size: int
    ratio: int  # units of the certificate in one of the problem


def concerns_factors(certificate: Certificate) -> bool:
    """Whether a certificate is of the kind that this module checks."""
    if isinstance(certificate, Leaves) and certificate.leaves:
        return concerns_factors(certificate.leaves[0].certificate)
    return isinstance(certificate, FactorShares | Narrowed)


def factor_bound(trees: Trees, certificate: Certificate) -> Units:
    """The bound that shares prove, in leaves or not."""
    normal = normal_form(trees)
    return bound_within(normal, certificate, normal.arcs > ABSENT)


def normal_form(trees: Trees) -> Normal:
    problem = trees.problem
    arcs = trees.arcs[..., 0].copy()
    scores = units(np.array([factor.score for factor in problem.factors], dtype=np.float64), problem.resolution).tolist()
    factors: dict[tuple[Arc, ...], int] = {}
    for factor, score in zip(problem.factors, scores, strict=True):
        if len(factor.arcs) == 1:
            arcs[factor.arcs[0]] = plus(arcs[factor.arcs[0]], score)
        else:
            key = tuple(sorted(factor.arcs, key=lambda arc: arc[1]))
            factors[key] = int(settled(np.int64(factors.get(key, 0)) + score))
    possible = {key: score for key, score in factors.items() if score != 0 and can_hold(key, problem)}
    grain = 1
    if not problem.parts and not problem.automata:
        tables = [problem.arcs, *([] if problem.labels is None else [problem.labels])]
        numbers = np.concatenate([units(table, problem.resolution).reshape(-1) for table in tables] + [np.array(scores, dtype=np.int64)])
        bits = int(np.bitwise_or.reduce(numbers[numbers > ABSENT], initial=0))
        grain = bits & -bits or 1
    return Normal(trees, arcs, possible, grain)


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


def bound_within(normal: Normal, certificate: Certificate, allowed: Flags) -> Units:
    """Of the trees that have no other arcs than those that are allowed."""
    match certificate:
        case FactorShares():
            return best_under(normal, certificate, shared_out(normal, certificate, allowed), allowed)
        case Narrowed():
            threshold = units_of(certificate.threshold, normal.trees.unit, "threshold")
            return max(threshold, bound_within(normal, certificate.rest, narrowed(normal, certificate, allowed)))
        case Leaves(leaves):
            check_cover(leaves, len(allowed) ** 2)
            return max(bound_within(normal, leaf.certificate, allowed_in(leaf, allowed)) for leaf in leaves)
        case _:
            raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing about factors.")


def allowed_in(leaf: Leaf, allowed: Flags) -> Flags:
    left = allowed.copy()
    for part, inside in leaf.fixed:
        h, m = divmod(part, len(allowed))
        if inside:
            left[:, m] &= np.arange(len(allowed)) == h
        else:
            left[h, m] = False
    return left


def narrowed(normal: Normal, certificate: Narrowed, allowed: Flags) -> Flags:
    """What is left without the arcs that no tree above the threshold has: if a word must have one of them, the bound says so."""
    size = len(allowed)
    threshold = units_of(certificate.threshold, normal.trees.unit, "threshold")
    if not all(type(arc) is int and 0 <= arc < size * size for arc in certificate.arcs):
        raise VerificationError(f"arcs has something else than numbers from 0 to {size * size - 1}.")
    gone = np.zeros_like(allowed)
    gone.reshape(-1)[list(certificate.arcs)] = True
    shared = shared_out(normal, certificate.shares, allowed)
    for m in range(1, size):
        if not (allowed & gone)[:, m].any():
            continue
        only = allowed.copy()
        only[:, m] = (allowed & gone)[:, m]
        bound = best_under(normal, certificate.shares, shared, only)
        if not bound <= threshold:
            raise VerificationError(
                f"a tree with an arc into word {m} that is left out may score {bound * normal.trees.unit!r}, above the threshold."
            )
    return allowed & ~gone


def best_under(normal: Normal, certificate: FactorShares, shared: Shared | None, only: Flags) -> Units:
    """The bound of the trees that have no arcs but `only` these, under the arcs with their shares and the constant."""
    if shared is None:
        return -math.inf
    weights = np.where(only, shared.weights, ABSENT)
    problem, larger = normal.problem, tuple(name for name in normal.trees.larger if name != "factors")
    rest = replace(normal.trees, arcs=weights[..., None], unit=certificate.unit, largest=shared.size, larger=larger)
    if concerns_factors(certificate.rest):
        raise VerificationError("shares of factors are given twice: what they leave is a problem without factors.")
    if isinstance(certificate.rest, DynamicProgram) and not problem.projective and not larger:
        value = best_arborescence(weights, problem.single_root).value
    else:
        value = bound_of_trees(rest, certificate.rest)
    if value == -math.inf:
        return value
    return (int(value) + shared.constant) // (shared.ratio * normal.grain) * normal.grain


def shared_out(normal: Normal, certificate: FactorShares, allowed: Flags) -> Shared | None:
    """The arcs with their shares; None if no tree is left of the arcs that are allowed."""
    problem = normal.problem
    left = forced(normal, allowed)
    if left is None:
        return None
    ratio = ratio_of(certificate.unit, problem)
    weights = np.where(left & (normal.arcs > ABSENT), normal.arcs * ratio, ABSENT)
    constant, size = 0, normal.trees.largest * ratio
    active = {arcs: score for arcs, score in normal.factors.items() if all(left[arc] for arc in arcs)}
    two: dict[tuple[int, int], dict[tuple[int, int], int]] = {}
    for arcs, score in active.items():
        if len(arcs) == 2:
            (h, m), (k, s) = arcs
            two.setdefault((m, s), {})[h, k] = score if score == ABSENT else score * ratio
    in_tables = {frozenset(words_of(words, problem.n_words)) for words in certificate.words}
    if len(in_tables) < len(certificate.words):  # (m, s) and (s, m) are the same pair
        raise VerificationError("two words are given twice: expected every pair of words once, in either order.")
    take, taken = read_shares(certificate), 0
    for words in certificate.words:
        m, s = words_of(words, problem.n_words)
        shares = np.array(take(int(left[:, s].sum())), dtype=np.int64)
        taken += len(shares)
        theta = table_of(two, m, s, left, problem)
        weights[left[:, m], m] = plus(weights[left[:, m], m], settled(theta - shares).max(axis=1, initial=ABSENT))
        weights[left[:, s], s] = plus(weights[left[:, s], s], shares)
        size += 2 * int(np.abs(shares).max(initial=0)) + int(np.abs(theta[theta > ABSENT]).max(initial=0))
        check_size(size)
    for arcs, phi in active.items():
        if len(arcs) == 2 and frozenset(m for _, m in arcs) in in_tables:
            continue
        score = phi if phi == ABSENT else phi * ratio
        some = take(len(arcs) if score > 0 else 1)
        taken += len(some)
        if score > 0:
            if min(some) < 0 or sum(some) != score:
                raise VerificationError(f"the arcs {arcs} have the shares {some}: expected at least 0, and {score} together.")
        else:
            if not score <= some[0] <= 0:
                raise VerificationError(f"the arcs {arcs} have the share {some[0]}: expected one from {score} to 0.")
            constant -= (len(arcs) - 1) * some[0]
        size += 2 * len(arcs) * max(map(abs, some))
        check_size(size)
        for arc, share in zip(arcs, some if score > 0 else itertools.repeat(some[0]), strict=False):
            weights[arc] = plus(weights[arc], share)
    if taken < len(certificate.shares):
        raise VerificationError(f"there are {len(certificate.shares)} shares: expected {taken}.")
    return Shared(weights, constant, size, ratio)


def check_size(size: int) -> None:
    if size >= RANGE:
        raise VerificationError("the shares are so large that sums with them are not exact.")


def forced(normal: Normal, allowed: Flags) -> Flags | None:
    """What is allowed without the arcs that would complete a forbidden factor, all others of which are sure; None if one is complete,
    or a word has no head."""
    left = allowed.copy()
    again = True
    while again:
        again = False
        counts = left.sum(axis=0)
        if (counts[1:] == 0).any():
            return None
        for arcs, score in normal.factors.items():
            if score == ABSENT and all(left[arc] for arc in arcs):
                unsure = [arc for arc in arcs if counts[arc[1]] > 1]
                if not unsure:
                    return None
                if len(unsure) == 1:
                    left[unsure[0]] = False
                    counts[unsure[0][1]] -= 1
                    again = True
    return left


def ratio_of(unit: float, problem: Problem) -> int:
    """How many units of a certificate are one of the problem's resolution."""
    resolution = problem.resolution
    if not (type(unit) is float and 0.0 < unit <= resolution and math.frexp(unit)[0] == 0.5 and resolution / unit < 2.0**53):
        raise VerificationError(f"the unit is {unit!r}: expected a power of two up to the problem's resolution {problem.resolution!r}.")
    ratio = int(problem.resolution / unit)
    check_size(math.ceil(problem.terms * (problem.largest / problem.resolution)) * ratio)
    return ratio


def read_shares(certificate: FactorShares) -> Callable[[int], list[int]]:
    """A function that takes the next few of them."""
    for share in certificate.shares:
        if type(share) is not int or abs(share) >= RANGE:
            raise VerificationError(f"a share is {share!r}: expected an integer below 2^57, a number of units.")
    left = iter(certificate.shares)

    def take(count: int) -> list[int]:
        some = list(itertools.islice(left, count))
        if len(some) < count:
            raise VerificationError(f"there are {len(certificate.shares)} shares, fewer than expected.")
        return some

    return take


def words_of(number: int, n: int) -> tuple[int, int]:
    m, s = divmod(number, n + 1) if type(number) is int else (0, 0)
    if not (1 <= m <= n and 1 <= s <= n and m != s):
        raise VerificationError(f"words has {number!r}: expected m * (n + 1) + s for two words m and s.")
    return m, s


def table_of(two: dict[tuple[int, int], dict[tuple[int, int], int]], m: int, s: int, left: Flags, problem: Problem) -> Integers:
    """theta: the score of every allowed head of m and of s together, absent if no tree has both; `two` by words and by heads."""
    heads, others = np.flatnonzero(left[:, m]), np.flatnonzero(left[:, s])
    theta = np.zeros((len(left), len(left)), dtype=np.int64)
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
    return np.where(never, ABSENT, theta[h, k])


def scores_above(trees: Trees, certificate: Certificate, claimed: int, k: int) -> list[int]:
    """The scores above `claimed` of all structures, the k best of every tree: every leaf must be bounded by the claim, or have one tree."""
    normal = normal_form(trees)
    found: list[int] = []
    waiting: list[tuple[Certificate, Flags]] = [(certificate, normal.arcs > ABSENT)]
    while waiting:
        evidence, allowed = waiting.pop()
        match evidence:
            case Narrowed():
                if units_of(evidence.threshold, trees.unit, "threshold") > claimed:
                    raise VerificationError("arcs are left out that trees above the last alternative may have.")
                waiting.append((evidence.rest, narrowed(normal, evidence, allowed)))
            case Leaves(leaves):
                check_cover(leaves, len(allowed) ** 2)
                waiting += [(leaf.certificate, allowed_in(leaf, allowed)) for leaf in leaves]
            case _:
                left = forced(normal, allowed)
                if left is not None and (left.sum(axis=0)[1:] == 1).all():
                    found += scores_of_tree(trees, left[:, 1:].argmax(axis=0), k)
                elif not bound_within(normal, evidence, allowed) <= claimed:
                    raise VerificationError("trees that are not among the alternatives may score more than the last of them.")
    return sorted((score for score in found if score > claimed), reverse=True)


def scores_of_tree(trees: Trees, heads: Heads, k: int) -> list[int]:
    """The k best scores of one tree with labels, none if the problem does not allow it."""
    problem = trees.problem
    words = np.arange(1, problem.n_words + 1)
    labels = None if problem.labels is None else problem.labels[heads, words].argmax(axis=1)
    tree = problem.tree(heads, labels)
    try:
        problem.check(tree)
    except InvalidStructure:
        return []
    of_labels = np.zeros(1, dtype=np.int64)
    for m, h in enumerate(heads.tolist(), start=1):
        of_labels = added(of_labels, trees.arcs[h, m], k)
    best = units_of(problem.score(tree), trees.unit, "score")
    return [best + int(score) - int(of_labels[0]) for score in of_labels if score > ABSENT]
