"""Checks that the leaves of a branch-and-bound tree cover everything.

The decisions of every leaf are listed from the root down. At every inner node all leaves below it must decide the same
part next, and both ways must be there.
"""

from __future__ import annotations

from collections.abc import Sequence

from zerogap.errors import VerificationError
from zerogap.proof.certificate import Leaf


def check_cover(leaves: Sequence[Leaf], n_parts: int) -> None:
    """Raises VerificationError unless the leaves cover the whole space. Their form is known, see `certificate.check_form`."""
    waiting: list[tuple[Sequence[Leaf], int]] = [(leaves, 0)]
    while waiting:
        group, depth = waiting.pop()
        if not group:
            raise VerificationError("the leaves do not cover the space: a branch has none.")
        if len(group) == 1 and len(group[0].fixed) == depth:
            continue
        if any(len(leaf.fixed) <= depth for leaf in group):
            raise VerificationError(f"the leaves overlap: one ends at depth {depth} where others go on.")
        parts = sorted({leaf.fixed[depth][0] for leaf in group})
        if len(parts) > 1:
            raise VerificationError(f"the leaves do not cover the space: at depth {depth} some decide part {parts[0]}, others {parts[1]}.")
        if not 0 <= parts[0] < n_parts:
            raise VerificationError(f"a leaf decides part {parts[0]}: expected 0 to {n_parts - 1}.")
        waiting.append(([leaf for leaf in group if leaf.fixed[depth][1]], depth + 1))
        waiting.append(([leaf for leaf in group if not leaf.fixed[depth][1]], depth + 1))
