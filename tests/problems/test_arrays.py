"""Packed arrays come back as they were, and have one spelling."""

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from zerogap.errors import FormatError, InputError
from zerogap.problems.arrays import integers_to_json, pack, unpack

steps = st.one_of(st.integers(-200, 200), st.integers(-(2**53), 2**53), st.just(None))


@given(arrays(object, array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4), elements=steps), st.integers(-900, 900))
def test_arrays_come_back(table, exponent):
    array = np.array([-np.inf if x is None else np.ldexp(float(x), exponent) for x in table.reshape(-1)]).reshape(table.shape)
    again = unpack(pack(array), "array")
    assert again.shape == array.shape
    assert np.array_equal(again, array)
    assert not np.signbit(again[again == 0]).any()


def test_the_spelling():
    spelled = base64.b64encode(b"\x01\x80\xfe\x7f").decode()
    assert pack(np.array([[0.5, -np.inf], [-1.0, 63.5]])) == {"shape": [2, 2], "unit": 0.5, "base64": spelled}
    assert pack(np.zeros((0, 3))) == {"shape": [0, 3], "unit": 1.0, "base64": ""}
    assert len(base64.b64decode(integers_to_json(np.array([127]))["base64"])) == 1
    assert len(base64.b64decode(integers_to_json(np.array([129]))["base64"])) == 2


GOOD = pack(np.array([0.5, 1.0, -np.inf]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"unit": None}, "unit is None"),
        ({"unit": 0.3}, "not spelled"),
        ({"unit": -0.5}, "not spelled"),
        ({"unit": float("nan")}, "unit is nan"),
        ({"unit": 1e308}, "not spelled"),
        ({"base64": "AQKA\n"}, "no base64"),
        ({"base64": "AQKAé"}, "no base64"),
        ({"base64": "AQI="}, "has 2 bytes: expected 1, 2, 4 or 8 for each of 3"),
        ({"base64": "AQACAACA"}, "not spelled"),  # two bytes each, where one does
        ({"base64": None}, "base64 is None"),
        ({"shape": [3, 1, True]}, "shape is True"),
        ({"shape": [-3, -1]}, "shape is"),
        ({"shape": [2**31, 2**31, 0]}, "shape is"),
        ({"shape": [1] * 17}, "shape is"),
        ({"shape": [0], "base64": "AA=="}, "has 1 bytes"),
        ({"more": 1}, "not spelled"),
    ],
)
def test_other_spellings(change, message):
    with pytest.raises(FormatError, match=message):
        unpack({**GOOD, **change}, "array")


@pytest.mark.parametrize("text", ["AQJ=", "AQ=="])
def test_bits_beyond_the_end(text):
    """The last letter of a group that is not full has bits that no byte needs: they are 0."""
    value = {"shape": [2], "unit": 1.0, "base64": text}
    with pytest.raises(FormatError):
        unpack(value, "array")


def test_no_common_unit():
    for numbers in ([1.0, 2.0**-60], [np.nan], [np.inf]):
        with pytest.raises(InputError):
            pack(np.array(numbers))
