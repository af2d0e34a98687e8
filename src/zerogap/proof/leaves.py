"""Checks that the leaves of a branch-and-bound tree cover everything.

The decisions of every leaf are listed from the root down. At every inner node all leaves below it must decide the same
part next, and both ways must be there.
"""

from __future__ import annotations

from collections.abc import Sequence

from zerogap.errors import VerificationError
from zerogap.proof.certificate import Leaf


def check_cover(leaves: Sequence[Leaf], n_parts: int) -> None:
    """Raises VerificationError unless the leaves cover the whole space."""
    for leaf in leaves:
        if not isinstance(leaf, Leaf) or any(type(part) is not int or type(inside) is not bool for part, inside in leaf.fixed):
            raise VerificationError(f"{leaf!r} is not a leaf: expected decisions (integer, True or False) and a certificate.")
    waiting: list[tuple[list[Leaf], int]] = [(list(leaves), 0)]
    while waiting:
        group, depth = waiting.pop()
        if not group:
            raise VerificationError("the leaves do not cover the space: a branch has none.")
        if len(group) == 1 and len(group[0].fixed) == depth:
            continue
        if any(len(leaf.fixed) <= depth for leaf in group):
            raise VerificationError(f"the leaves overlap: one ends at depth {depth} where others go on.")
        parts = {leaf.fixed[depth][0] for leaf in group}
        part = parts.pop()
        if parts:
            other = parts.pop()
            raise VerificationError(f"the leaves do not cover the space: at depth {depth} some decide part {part}, others {other}.")
        if not 0 <= part < n_parts:
            raise VerificationError(f"a leaf decides part {part}: expected 0 to {n_parts - 1}.")
        for inside in (True, False):
            waiting.append(([leaf for leaf in group if leaf.fixed[depth][1] is inside], depth + 1))
