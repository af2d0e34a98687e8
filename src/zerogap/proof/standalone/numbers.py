"""Scores as whole numbers, claims, and leaves that cover a space."""

from fractions import Fraction

NO = float("-inf")  # the score of what is forbidden
CERTIFICATES = (
    "cut-duals", "dynamic-program", "head-prices", "screened", "factor-shares", "narrowed", "leaves", "intersection", "agreement",
    "multipliers", "signatures", "unsatisfiable",
)  # fmt: skip


class Wrong(Exception):
    """A claim that does not hold."""


class Unknown(Exception):
    """Something that this file does not check."""


def demand(holds, claim):
    if not holds:
        raise Wrong(claim)


def whole(value, unit):
    """A score as a number of units."""
    if value in ("-inf", "inf"):
        return float(value)
    demand(isinstance(value, (int, float)) and not isinstance(value, bool), f"not a number: {value!r}")
    top, bottom = float(value).as_integer_ratio()
    unit_top, unit_bottom = float(unit).as_integer_ratio()
    count, rest = divmod(top * unit_bottom, bottom * unit_top)
    demand(rest == 0, f"{value!r} is not a multiple of the resolution {unit!r}")
    return count


def real(value, unit):
    """A number that need not be a multiple of the unit."""
    return float(value) if value in ("-inf", "inf") else Fraction(value) / Fraction(unit)


def check_finite(value):
    """Nothing in a certificate is infinite: inf // k is nan, and nothing is larger than nan."""
    waiting = [value]
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, (dict, list)):
            waiting.extend(entry.values() if isinstance(entry, dict) else entry)
        elif isinstance(entry, (str, float)) and entry not in CERTIFICATES:
            demand(isinstance(entry, float) and abs(entry) < -NO, f"{entry!r} in a certificate")


def wholes(value, unit):
    return [wholes(entry, unit) for entry in value] if isinstance(value, list) else whole(value, unit)


def cover(leaves, n_parts, depth=0):
    """At every node all leaves decide the same part next, and both ways are there."""
    demand(leaves, "the leaves do not cover the space")
    if len(leaves) == 1 and len(leaves[0]["fixed"]) == depth:
        return
    demand(all(len(leaf["fixed"]) > depth for leaf in leaves), "the leaves overlap")
    part = leaves[0]["fixed"][depth][0]
    demand(type(part) is int and 0 <= part < n_parts, "a leaf decides a part that does not exist")
    demand(all(leaf["fixed"][depth][0] == part for leaf in leaves), "the leaves do not cover the space")
    demand(all(type(leaf["fixed"][depth][1]) is bool for leaf in leaves), "a leaf decides neither way")
    for way in (True, False):
        cover([leaf for leaf in leaves if leaf["fixed"][depth][1] is way], n_parts, depth + 1)
