"""Evidence for a bound: enough to recompute it without the solver that found it.

A certificate says which relaxation to solve, not what its value is: the checkers in this package compute that again,
with code of their own. Any multipliers or leaves of the right form prove *some* bound, so nothing in here is trusted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from zerogap.errors import FormatError
from zerogap.problems.json_values import expect, field, integers_from_json, number_from_json, number_to_json, numbers_from_json, shorten


@dataclass(frozen=True, slots=True)
class DynamicProgram:
    """Nothing was relaxed: the checker runs a dynamic program of its own."""

    kind: ClassVar[str] = "dynamic-program"


@dataclass(frozen=True, slots=True)
class Multipliers:
    """Lagrange multipliers, one per relaxed constraint: the bound is the dual at this point (Rush 2014, theorem 3.3.1)."""

    kind: ClassVar[str] = "multipliers"
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Signatures:
    """Multipliers, and a search: of all hypotheses of a constrained hypergraph, a vertex and how much of every row it uses, the checker
    builds those that these multipliers do not show to be below the claimed bound (Rush 2014, section 7.4)."""

    kind: ClassVar[str] = "signatures"
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CutDuals:
    """Dual values of cuts of an arborescence (Edmonds 1967): every tree has an arc into each set of words.

    If every arc scores at most the sum of the values of the sets that it enters, no tree scores more than all values
    together. Values are at most 0 but for sets of one word and, where exactly one root is required, the set of all words.
    """

    kind: ClassVar[str] = "cut-duals"
    sets: tuple[tuple[int, ...], ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Intersection:
    """The constraints of a sequence that were intersected, and prices (constraint, multiplier) on what constraints count.

    The other constraints are relaxed. The checker searches all labellings that these allow and that might score more than
    the claimed bound; prices tell it early which ones cannot (Tromble & Eisner 2006, section 4).
    """

    kind: ClassVar[str] = "intersection"
    constraints: tuple[int, ...]
    prices: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Agreement:
    """Prices (constraint, token, label, price) at which a sequence and each of its constraints choose labels on their own.

    What the sequence pays for a label, the constraint receives: the bound is the best of all choices together (Rush 2014,
    section 3.5). Constraints without prices count as well.
    """

    kind: ClassVar[str] = "agreement"
    prices: tuple[tuple[int, int, int, float], ...]


@dataclass(frozen=True, slots=True)
class HeadPrices:
    """Prices of arcs at which a tree and every head choose arcs on their own; all others cost nothing.

    Arc h -> m has the number h * (n + 1) + m. The tree receives `down` and `up` of its arcs, a head pays `down` for each of its modifiers
    and `up` for the arc to itself: the bound is the best of all choices together (Rush 2014, sections 6.4 and 6.5).
    """

    kind: ClassVar[str] = "head-prices"
    arcs: tuple[int, ...]
    down: tuple[float, ...]
    up: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Screened:
    """Arcs that no tree above the threshold has, by what it costs at some prices to have them, are left out; `rest` is about the others.

    A tree with an arc scores at most the bound of the prices, less what the tree, the head and the modifier lose by it.
    """

    kind: ClassVar[str] = "screened"
    prices: HeadPrices
    threshold: float
    rest: Certificate


@dataclass(frozen=True, slots=True)
class FactorShares:
    """How the scores of factors are shared out among their arcs, in units; `rest` is about trees with such arcs (Qian & Liu 2013, 3.2).

    `words` are pairs m * (n + 1) + s of words whose factors of two arcs are shared out together: one share for every allowed head of s,
    and the heads of m get the rest. Then come the shares of the other factors that may hold, in the order of the problem: one for every
    arc of a positive factor, one for a negative one. See `proof.factor_shares`.
    """

    kind: ClassVar[str] = "factor-shares"
    unit: float
    words: tuple[int, ...]
    shares: tuple[int, ...]
    rest: Certificate


@dataclass(frozen=True, slots=True)
class Narrowed:
    """Arcs, numbers h * (n + 1) + m, that no tree above the threshold has by the bound of these shares; `rest` is about the others."""

    kind: ClassVar[str] = "narrowed"
    shares: FactorShares
    threshold: float
    arcs: tuple[int, ...]
    rest: Certificate


@dataclass(frozen=True, slots=True)
class Unsatisfiable:
    """Nothing that is left can satisfy one constraint: the least (or most) that its row can sum to is beyond its limit."""

    kind: ClassVar[str] = "unsatisfiable"
    row: int


@dataclass(frozen=True, slots=True)
class Leaf:
    """One part of a split search space: what is fixed in it (part, in or out), and the evidence for its bound."""

    fixed: tuple[tuple[int, bool], ...]
    certificate: Certificate


@dataclass(frozen=True, slots=True)
class Leaves:
    """The leaves of a branch-and-bound tree, which together cover the whole space: the bound is the largest of theirs."""

    kind: ClassVar[str] = "leaves"
    leaves: tuple[Leaf, ...]


Certificate = (
    DynamicProgram
    | Multipliers
    | Signatures
    | CutDuals
    | Intersection
    | Agreement
    | HeadPrices
    | Screened
    | FactorShares
    | Narrowed
    | Unsatisfiable
    | Leaves
)


def certificate_to_json(certificate: Certificate) -> dict[str, Any]:
    match certificate:
        case DynamicProgram():
            body: dict[str, Any] = {}
        case Multipliers(values) | Signatures(values):
            body = {"values": [number_to_json(v) for v in values]}
        case CutDuals(sets, values):
            body = {"sets": [list(s) for s in sets], "values": [number_to_json(v) for v in values]}
        case Intersection(constraints, prices):
            body = {"constraints": list(constraints), "prices": [[c, number_to_json(u)] for c, u in prices]}
        case Agreement(prices=where_and_how_much):
            body = {"prices": [[c, t, a, number_to_json(u)] for c, t, a, u in where_and_how_much]}
        case HeadPrices(arcs, down, up):
            body = {"arcs": list(arcs), "down": [number_to_json(v) for v in down], "up": [number_to_json(v) for v in up]}
        case Screened(prices=at, threshold=threshold, rest=rest):
            body = {"prices": certificate_to_json(at), "threshold": number_to_json(threshold), "rest": certificate_to_json(rest)}
        case FactorShares(unit, words, shares, rest):
            body = {"unit": number_to_json(unit), "words": list(words), "shares": list(shares), "rest": certificate_to_json(rest)}
        case Narrowed(shares=evidence, threshold=threshold, arcs=arcs, rest=rest):
            body = {"shares": certificate_to_json(evidence), "threshold": number_to_json(threshold), "arcs": list(arcs)}
            body["rest"] = certificate_to_json(rest)
        case Unsatisfiable(row):
            body = {"row": row}
        case Leaves(leaves):
            body = {
                "leaves": [
                    {"fixed": [[part, inside] for part, inside in leaf.fixed], "certificate": certificate_to_json(leaf.certificate)}
                    for leaf in leaves
                ]
            }
    return {"kind": certificate.kind, **body}


def certificate_from_json(value: Any, where: str = "certificate") -> Certificate:
    """The certificate in a JSON value; FormatError says what is not one."""
    kind = expect(value, dict, where).get("kind")
    if not isinstance(kind, str) or kind not in FROM_JSON:
        raise FormatError(f"{where}.kind is {kind!r}: expected one of {', '.join(FROM_JSON)}.")
    read, keys = FROM_JSON[kind]
    for key in value:
        if key != "kind" and key not in keys:
            raise FormatError(f"{where}.{key} is not known for {kind!r}: expected {', '.join(keys) or 'nothing else'}.")
    return read(value, where)


def multipliers_from_json(value: dict[str, Any], where: str) -> Multipliers:
    return Multipliers(numbers_from_json(field(value, "values", where), f"{where}.values"))


def signatures_from_json(value: dict[str, Any], where: str) -> Signatures:
    return Signatures(numbers_from_json(field(value, "values", where), f"{where}.values"))


def cut_duals_from_json(value: dict[str, Any], where: str) -> CutDuals:
    sets = tuple(
        tuple(expect(word, int, f"{where}.sets[{i}]") for word in expect(words, list, f"{where}.sets[{i}]"))
        for i, words in enumerate(expect(field(value, "sets", where), list, f"{where}.sets"))
    )
    return CutDuals(sets, numbers_from_json(field(value, "values", where), f"{where}.values"))


def intersection_from_json(value: dict[str, Any], where: str) -> Intersection:
    constraints = expect(field(value, "constraints", where), list, f"{where}.constraints")
    prices = []
    for i, pair in enumerate(expect(field(value, "prices", where), list, f"{where}.prices")):
        spot = f"{where}.prices[{i}]"
        if len(expect(pair, list, spot)) != 2:
            raise FormatError(f"{spot} is {pair!r}: expected [constraint, multiplier].")
        prices.append((expect(pair[0], int, spot), number_from_json(pair[1], spot)))
    return Intersection(tuple(expect(c, int, f"{where}.constraints[{i}]") for i, c in enumerate(constraints)), tuple(prices))


def agreement_from_json(value: dict[str, Any], where: str) -> Agreement:
    prices = []
    for i, entry in enumerate(expect(field(value, "prices", where), list, f"{where}.prices")):
        spot = f"{where}.prices[{i}]"
        if len(expect(entry, list, spot)) != 4:
            raise FormatError(f"{spot} is {shorten(entry)}: expected [constraint, token, label, price].")
        c, t, a = (expect(number, int, spot) for number in entry[:3])
        prices.append((c, t, a, number_from_json(entry[3], spot)))
    return Agreement(tuple(prices))


def head_prices_from_json(value: dict[str, Any], where: str) -> HeadPrices:
    arcs = expect(field(value, "arcs", where), list, f"{where}.arcs")
    down, up = (numbers_from_json(field(value, name, where), f"{where}.{name}") for name in ("down", "up"))
    return HeadPrices(tuple(expect(arc, int, f"{where}.arcs[{i}]") for i, arc in enumerate(arcs)), down, up)


def screened_from_json(value: dict[str, Any], where: str) -> Screened:
    prices = head_prices_from_json(expect(field(value, "prices", where), dict, f"{where}.prices"), f"{where}.prices")
    threshold = number_from_json(field(value, "threshold", where), f"{where}.threshold")
    return Screened(prices, threshold, certificate_from_json(field(value, "rest", where), f"{where}.rest"))


def factor_shares_from_json(value: dict[str, Any], where: str) -> FactorShares:
    words, shares = (integers_from_json(field(value, name, where), f"{where}.{name}") for name in ("words", "shares"))
    unit = number_from_json(field(value, "unit", where), f"{where}.unit")
    return FactorShares(unit, words, shares, certificate_from_json(field(value, "rest", where), f"{where}.rest"))


def narrowed_from_json(value: dict[str, Any], where: str) -> Narrowed:
    shares = factor_shares_from_json(expect(field(value, "shares", where), dict, f"{where}.shares"), f"{where}.shares")
    threshold = number_from_json(field(value, "threshold", where), f"{where}.threshold")
    arcs = integers_from_json(field(value, "arcs", where), f"{where}.arcs")
    return Narrowed(shares, threshold, arcs, certificate_from_json(field(value, "rest", where), f"{where}.rest"))


def leaves_from_json(value: dict[str, Any], where: str) -> Leaves:
    leaves = []
    for i, leaf in enumerate(expect(field(value, "leaves", where), list, f"{where}.leaves")):
        here = f"{where}.leaves[{i}]"
        fixed = []
        for j, pair in enumerate(expect(field(expect(leaf, dict, here), "fixed", here), list, f"{here}.fixed")):
            spot = f"{here}.fixed[{j}]"
            if len(expect(pair, list, spot)) != 2:
                raise FormatError(f"{spot} is {pair!r}: expected [part, true or false].")
            fixed.append((expect(pair[0], int, spot), expect(pair[1], bool, spot)))
        leaves.append(Leaf(tuple(fixed), certificate_from_json(field(leaf, "certificate", here), f"{here}.certificate")))
    return Leaves(tuple(leaves))


READERS: dict[type, Callable[[dict[str, Any], str], Certificate]] = {
    DynamicProgram: lambda value, where: DynamicProgram(),
    Multipliers: multipliers_from_json,
    Signatures: signatures_from_json,
    CutDuals: cut_duals_from_json,
    Intersection: intersection_from_json,
    Agreement: agreement_from_json,
    HeadPrices: head_prices_from_json,
    Screened: screened_from_json,
    FactorShares: factor_shares_from_json,
    Narrowed: narrowed_from_json,
    Unsatisfiable: lambda value, where: Unsatisfiable(expect(field(value, "row", where), int, f"{where}.row")),
    Leaves: leaves_from_json,
}
FROM_JSON = {kind.kind: (read, tuple(f.name for f in fields(kind))) for kind, read in READERS.items()}  # type: ignore[attr-defined]
