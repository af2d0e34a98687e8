"""The one form of a certificate, in Python and in JSON."""

import json
import math

import numpy as np
import pytest

from zerogap.errors import FormatError, VerificationError
from zerogap.proof.certificate import (
    FORMS,
    KINDS,
    MOST_LEVELS,
    Agreement,
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
    certificate_from_json,
    certificate_to_json,
    check_form,
)

PRICES = HeadPrices((1, 2), (0.5, -0.0), (1.0, -2.5))
SHARES = FactorShares(0.5, (7,), (1, -2, 3), DynamicProgram())
LEAVES = Leaves((Leaf(((1, True), (0, False)), Multipliers((1.0,))), Leaf((), DynamicProgram())))
GOOD = [
    DynamicProgram(), Multipliers(()), Multipliers((1.5, -2.0)), Signatures((0.0,)), CutDuals(((1,), (1, 2), ()), (1.0, -1.0, 0.0)),
    Unsatisfiable((1 << 63) - 1),
    Intersection((0, 2), ((1, 0.5),)), Agreement(((0, 1, 2, -0.25),)), PRICES, Screened(PRICES, -1.0, DynamicProgram()), SHARES,
    Narrowed(SHARES, 2.0, (3, 4), PRICES), Unsatisfiable(3), LEAVES,
]  # fmt: skip


@pytest.mark.parametrize("certificate", GOOD, ids=lambda c: c.kind)
def test_there_and_back(certificate):
    check_form(certificate)
    value = json.loads(json.dumps(certificate_to_json(certificate)))
    assert value["kind"] == certificate.kind
    assert certificate_from_json(value) == certificate


def test_every_kind_is_here():
    assert {type(certificate) for certificate in GOOD} == set(KINDS.values()) == set(FORMS) - {Leaf}


class Float(float):
    pass


class Tuple(tuple):
    __slots__ = ()


BAD = [
    Unsatisfiable(10**400), Unsatisfiable(1 << 63), Intersection((-(10**400),)), Intersection((0,), ((1 << 63, 0.5),)),
    Leaves((Leaf(((10**400, True),), DynamicProgram()),)), Agreement(((0, 1, -(1 << 63), 0.5),)),
    None, 1, (), {}, Leaf((), DynamicProgram()), Multipliers, Multipliers([1.0]), Multipliers((1,)), Multipliers((True,)),
    Multipliers(None), Multipliers((math.nan,)), Multipliers((0.0, math.inf)), Multipliers((-math.inf,)), Multipliers((Float(1.0),)),
    Multipliers(Tuple((1.0,))), Multipliers((np.float64(1.0),)), Multipliers(("1",)), CutDuals(((1.0,),), (1.0,)), CutDuals((1,),
    (1.0,)), CutDuals([(1,)], (1.0,)), CutDuals(([1],), (1.0,)), CutDuals(((True,),), (1.0,)), Intersection((0,), ((1,),)),
    Intersection((0,), ((1, 2),)), Intersection((0,), ([1, 0.5],)), Intersection((0,), ((1, 0.5, 0.5),)), Intersection((0,), ((1,
    math.nan),)), Intersection((0,), ((1.0, 0.5),)), Intersection((0,), ((True, 0.5),)), Agreement(((0, 1, 2, math.inf),)),
    Agreement(((0, 1, 0.5),)), Unsatisfiable(1.0), Unsatisfiable(True), Unsatisfiable(None), Screened(DynamicProgram(), 0.0,
    DynamicProgram()), Screened(PRICES, 0, DynamicProgram()), Screened(PRICES, math.nan, DynamicProgram()), Screened(PRICES, -math.inf,
    DynamicProgram()), Screened(PRICES, 0.0, None), Screened(PRICES, 0.0, Leaf((), DynamicProgram())), Narrowed(PRICES, 0.0, (),
    PRICES), FactorShares(1, (), (), DynamicProgram()), FactorShares(math.inf, (), (), DynamicProgram()), FactorShares(1.0, (), (0.5,),
    DynamicProgram()), Leaves((DynamicProgram(),)), Leaves([]), Leaves((Leaf(((1, 1),), DynamicProgram()),)), Leaves((Leaf(((True,
    True),), DynamicProgram()),)), Leaves((Leaf((1, True), DynamicProgram()),)), Leaves((Leaf((), None),)), Leaves((Leaf([],
    DynamicProgram()),)), Leaves((Leaf(((1, True, True),), DynamicProgram()),)), Leaves((Leaf(((1,),), DynamicProgram()),)),
]  # fmt: skip


@pytest.mark.parametrize("certificate", BAD, ids=repr)
def test_other_forms(certificate):
    with pytest.raises(VerificationError, match="certificate"):
        check_form(certificate)


def test_levels():
    nested = DynamicProgram()
    for _ in range(MOST_LEVELS // 2):
        nested = Leaves((Leaf((), nested),))
    check_form(nested)
    with pytest.raises(VerificationError, match="levels"):
        check_form(Leaves((Leaf((), nested),)))


@pytest.mark.parametrize(
    "value",
    [
        None, [], "multipliers", {}, {"kind": None}, {"kind": ["leaves"]}, {"kind": "Leaves"}, {"kind": "leaf", "fixed": [],
        "certificate": {}}, {"kind": "dynamic-program", "values": []}, {"kind": "multipliers"}, {"kind": "multipliers", "values": [1.0],
        "row": 1}, {"kind": "multipliers", "values": 1.0}, {"kind": "multipliers", "values": [True]}, {"kind": "multipliers", "values":
        [None]}, {"kind": "multipliers", "values": ["x"]}, {"kind": "multipliers", "values": {"0": 1.0}}, {"kind": "unsatisfiable",
        "row": 1.0}, {"kind": "unsatisfiable", "row": True}, {"kind": "intersection", "constraints": [0], "prices": [[0]]}, {"kind":
        "intersection", "constraints": [0], "prices": [[0, 0.5, 1]]}, {"kind": "intersection", "constraints": [0], "prices": [0]},
        {"kind": "screened", "prices": {"kind": "dynamic-program"}, "threshold": 1.0, "rest": {"kind": "dynamic-program"}}, {"kind":
        "leaves", "leaves": [{"kind": "dynamic-program"}]}, {"kind": "leaves", "leaves": [{"fixed": []}]}, {"kind": "leaves", "leaves":
        [{"fixed": [[1, 1]], "certificate": {"kind": "dynamic-program"}}]}, {"kind": "leaves", "leaves": [{"fixed": [], "certificate":
        {"kind": "dynamic-program"}, "kind": "leaf"}]},
    ],
    ids=repr,
)  # fmt: skip
def test_other_json(value):
    with pytest.raises(FormatError, match="certificate"):
        certificate_from_json(value)
