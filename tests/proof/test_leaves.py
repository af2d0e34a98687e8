"""Leaves cover everything, or are refused."""

import pytest

from zerogap.errors import VerificationError
from zerogap.proof.certificate import DynamicProgram, Leaf
from zerogap.proof.leaves import check_cover


def leaves(*decisions):
    return tuple(Leaf(fixed, DynamicProgram()) for fixed in decisions)


def test_covers():
    check_cover(leaves(()), 1)
    check_cover(leaves(((0, True),), ((0, False),)), 1)
    check_cover(leaves(((1, True),), ((1, False), (0, True)), ((1, False), (0, False))), 2)


@pytest.mark.parametrize(
    "decisions",
    [
        (),
        ((), ()),
        (((0, True),),),
        (((0, False),),),
        (((0, True),), ((0, True),)),
        (((0, True),), ((1, False),)),
        (((0, True),), ((0, False), (1, True))),
        (((0, True),), ((0, True), (1, True)), ((0, True), (1, False)), ((0, False),)),
        (((2, True),), ((2, False),)),
        (((-1, True),), ((-1, False),)),
        (((0, True), (1, True)), ((0, True), (2, False)), ((0, False),)),
    ],
)
def test_gaps_and_overlaps(decisions):
    with pytest.raises(VerificationError):
        check_cover(leaves(*decisions), 2)
