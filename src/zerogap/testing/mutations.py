"""Files that are almost right: bytes cut, doubled, joined and spoilt, and JSON values with something odd in them."""

from __future__ import annotations

import json
import random
import re
from contextlib import suppress
from typing import Any

from zerogap.testing.readers import LONGEST, Reader

NUMBERS = (b"0", b"-1", b"1e300", b"1e-320", b"-inf", b"nan", b"9" * 30, b"1" * 5000, b"2147483648", b"0x1", b"\xd9\xa3", b"1_0")
BITS = (
    b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r\n", b"\n", b"\t", b" ", b"\xe2\x80\xa8", b'"', b"\\", b"'", b"{", b"}", b"[",
    b"]", b",", b":",
)  # fmt: skip


def mutated(data: bytes, other: bytes, reader: Reader, rng: random.Random) -> bytes:
    if reader.is_json and rng.random() < 0.8:
        with suppress(ValueError, RecursionError, OverflowError):
            value = json.loads(data)
            for _ in range(rng.randint(1, 2)):
                value = mutated_value(value, rng)
            return json.dumps(value).encode("utf-8", "surrogatepass")[:LONGEST]
    found = bytearray(data)
    for _ in range(1 if rng.random() < 0.6 else rng.randint(2, 5)):
        at = rng.randint(0, len(found))
        end = min(len(found), at + int(rng.expovariate(0.1)) + 1)
        which = rng.random()
        if which < 0.15:
            del found[at:end]
        elif which < 0.3:
            found[at:at] = found[at:end] * rng.choice((1, 1, 2, 5))
        elif which < 0.55:
            found[at:at] = rng.choice(reader.tokens or BITS)
        elif which < 0.7:
            found[at:at] = rng.choice(BITS)
        elif which < 0.8:
            start = rng.randint(0, len(other))
            found[at:end] = other[start : start + rng.randint(0, 40)]
        elif which < 0.9:
            numbers = [match.span() for match in re.finditer(rb"[0-9.]+", found)]
            if numbers:
                a, b = rng.choice(numbers)
                found[a:b] = rng.choice(NUMBERS)
        elif which < 0.95 and found:
            found[min(at, len(found) - 1)] ^= 1 << rng.randrange(8)
        else:
            del found[at:]
    return bytes(found[:LONGEST])


ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 10**400, 0.5, -0.0, 1e308, 5e-324, "", "-inf", "inf", "nan", "\ud800", [], {}, [[]], [{}],
    {"kind": 1},
)  # fmt: skip


def mutated_value(value: Any, rng: random.Random) -> Any:
    """A JSON value with something in it replaced, left out or given twice."""
    if isinstance(value, dict) and value and rng.random() < 0.92:
        key = rng.choice(list(value))
        which = rng.random()
        if which < 0.08:
            return {other: entry for other, entry in value.items() if other != key}
        if which < 0.12:
            return {**value, rng.choice(("x", key + "s", "kind")): rng.choice(ODD)}
        return {**value, key: mutated_value(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.92:
        i = rng.randrange(len(value))
        which = rng.random()
        if which < 0.1:
            return value[:i] + value[i + 1 :]
        if which < 0.2:
            return [*value[:i], value[i], *value[i:]]
        return [*value[:i], mutated_value(value[i], rng), *value[i + 1 :]]
    if isinstance(value, int | float) and not isinstance(value, bool) and rng.random() < 0.5:
        return value + rng.choice((-1, 1, 0.5, 1e9))
    return rng.choice(ODD)
