"""Evidence for a bound: enough to recompute it without the solver that found it.

A certificate says which relaxation to solve, not what its value is: the checkers in this package compute that again,
with code of their own. Any multipliers or leaves of the right form prove *some* bound, so nothing in here is trusted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from zerogap.errors import FormatError, VerificationError
from zerogap.problems.forms import Many, Record, written
from zerogap.problems.json_values import NAMES, expect, shorten


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
    arc of a positive factor, one for a negative one. See `proof.dependency.factor_shares`.
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


# the fields of every record: what each holds, so that a certificate has one form, in Python and in JSON
FLOAT, INTEGER, FLAG = float, int, bool


@dataclass(frozen=True, slots=True)
class Nested:
    """A record of one of these kinds; of any kind of certificate if there are none."""

    kinds: tuple[type, ...] = ()

    def read(self, value: Any, where: str) -> Any:
        return read_record(value, self.kinds, where)

    def written(self, value: Any, packed: bool) -> dict[str, Any]:
        return certificate_to_json(value)


ANY = Nested()
FORMS: dict[type, dict[str, Any]] = {
    DynamicProgram: {},
    Multipliers: {"values": Many(FLOAT)},
    Signatures: {"values": Many(FLOAT)},
    CutDuals: {"sets": Many(Many(INTEGER)), "values": Many(FLOAT)},
    Intersection: {"constraints": Many(INTEGER), "prices": Many((INTEGER, FLOAT))},
    Agreement: {"prices": Many((INTEGER, INTEGER, INTEGER, FLOAT))},
    HeadPrices: {"arcs": Many(INTEGER), "down": Many(FLOAT), "up": Many(FLOAT)},
    Screened: {"prices": Nested((HeadPrices,)), "threshold": FLOAT, "rest": ANY},
    FactorShares: {"unit": FLOAT, "words": Many(INTEGER), "shares": Many(INTEGER), "rest": ANY},
    Narrowed: {"shares": Nested((FactorShares,)), "threshold": FLOAT, "arcs": Many(INTEGER), "rest": ANY},
    Unsatisfiable: {"row": INTEGER},
    Leaves: {"leaves": Many(Nested((Leaf,)))},
    Leaf: {"fixed": Many((INTEGER, FLAG)), "certificate": ANY},
}
KINDS: dict[str, type] = {kind.kind: kind for kind in FORMS if kind is not Leaf}  # type: ignore[attr-defined]
MOST_LEVELS = 60  # of records within records


def certificate_to_json(certificate: Certificate | Leaf) -> dict[str, Any]:
    kind = {} if type(certificate) is Leaf else {"kind": certificate.kind}  # type: ignore[union-attr]
    fields = FORMS[type(certificate)]
    return kind | {name: written(getattr(certificate, name), form) for name, form in fields.items()}


def certificate_from_json(value: Any, where: str = "certificate") -> Certificate:
    """The certificate in a JSON value; FormatError says what is not one."""
    found: Certificate = ANY.read(value, where)
    return found


def read_record(value: Any, kinds: tuple[type, ...], where: str) -> Any:
    expect(value, dict, where)
    if kinds == (Leaf,):
        return Leaf(**Record(FORMS[Leaf]).read(value, where))
    name = value.get("kind")
    known = [kind.kind for kind in kinds] or list(KINDS)  # type: ignore[attr-defined]
    if not isinstance(name, str) or name not in known:
        raise FormatError(f"{where}.kind is {name!r}: expected one of {', '.join(known)}.")
    return KINDS[name](**Record(FORMS[KINDS[name]]).read({key: part for key, part in value.items() if key != "kind"}, where))


def check_form(certificate: Any) -> None:
    """Raises VerificationError unless a certificate is of the form that its kind has, to the last number.

    A checker that reads a value twice must see the same value twice, so nothing but Python's own types is let in: an instance of a
    subclass of `float` or `tuple` may answer every question differently. Numbers are finite, and records not nested too deeply.
    """
    waiting: list[tuple[Any, Any, int]] = [(certificate, ANY, 0)]
    while waiting:
        value, form, level = waiting.pop()
        match form:
            case Nested(kinds=kinds):
                if type(value) not in (kinds or KINDS.values()):
                    wanted = " or ".join(kind.__name__ for kind in kinds) or "one of the kinds that zerogap knows"
                    raise VerificationError(f"the certificate is or holds {shorten(value)}: expected {wanted}.")
                if level > MOST_LEVELS:
                    raise VerificationError(f"the certificate has more than {MOST_LEVELS} levels: expected fewer.")
                waiting += [(getattr(value, name), inner, level + 1) for name, inner in FORMS[type(value)].items()]
            case Many(entry=entry):
                if type(value) is not tuple:
                    raise VerificationError(f"the certificate holds {shorten(value)}: expected a tuple.")
                if isinstance(entry, type):
                    if not all_plain(value, entry):
                        raise VerificationError(
                            f"the certificate holds {shorten(value)}: expected {NAMES[entry]} in each place, and finite."
                        )
                else:
                    waiting += [(part, entry, level) for part in value]
            case tuple():
                if type(value) is not tuple or len(value) != len(form) or not all(map(all_plain, zip(value), form)):
                    raise VerificationError(
                        f"the certificate holds {shorten(value)}: expected ({', '.join(NAMES[kind] for kind in form)})."
                    )
            case _:
                if not all_plain((value,), form):
                    raise VerificationError(f"the certificate holds {shorten(value)}: expected {NAMES[form]}, and finite.")


def all_plain(values: tuple[Any, ...], kind: type) -> bool:
    """Whether all values are of this very type, and finite; integers fit in int64."""
    if not set(map(type, values)) <= {kind}:
        return False
    return all(map(math.isfinite, values)) if kind is FLOAT else all(abs(value) < 1 << 63 for value in values)
