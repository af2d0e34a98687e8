"""Label sets: names, and the fields of BIO and BIOES schemes.

A constraint names labels, or fields: `AUTHOR` stands for `B-AUTHOR`, `I-AUTHOR`, `E-AUTHOR` and `S-AUTHOR`, as far as they
exist. Where it counts, it counts segments: an entity in such a scheme, a run of equal labels otherwise.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from zerogap.errors import AlphabetMismatch, InputError
from zerogap.grid import Scores

Label = str | int
BEGINS, CONTINUES, ENDS = "BS", "IE", "ES"  # by prefix: which tags begin, continue and end an entity


@dataclass(frozen=True, slots=True)
class Segmenter:
    """How labels make up the segments of one field: which labels are in it, begin one even inside, and end one at once."""

    inside: tuple[bool, ...]
    begins: tuple[bool, ...]
    ends: tuple[bool, ...]


@lru_cache(maxsize=4096)
def segmenter(labels: tuple[Label, ...], name: Label) -> Segmenter:
    """The segments that a label or field name stands for."""
    if name in labels:
        same = tuple(label == name for label in labels)
        return Segmenter(same, (False,) * len(labels), (False,) * len(labels))
    prefixes = [label[0] if isinstance(label, str) and label[1:] == f"-{name}" and label[0] in "BIES" else "" for label in labels]
    if not any(prefixes):
        raise AlphabetMismatch(unknown_label(labels, name))
    return Segmenter(
        inside=tuple(prefix != "" for prefix in prefixes),
        begins=tuple(prefix != "" and prefix in BEGINS for prefix in prefixes),
        ends=tuple(prefix != "" and prefix in ENDS for prefix in prefixes),
    )


@lru_cache(maxsize=4096)
def members(labels: tuple[Label, ...], names: tuple[Label, ...]) -> tuple[bool, ...]:
    """Which labels belong to any of the named labels and fields."""
    found = [segmenter(labels, name).inside for name in names]
    return tuple(any(column) for column in zip(*found, strict=True)) if found else (False,) * len(labels)


def unknown_label(labels: tuple[Label, ...], name: Label) -> str:
    fields = {label[2:] for label in labels if isinstance(label, str) and label[:2] in ("B-", "I-", "E-", "S-")}
    known = [str(label) for label in labels] + sorted(fields)
    close = difflib.get_close_matches(str(name), known, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    shown = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
    return f"{name!r} is neither a label nor a field.{hint} Known: {shown}."


def scheme_transitions(labels: Sequence[str], scheme: str = "BIO") -> tuple[Scores, Scores, Scores]:
    """Transitions, start and end (0 or -inf) under which only well-formed BIO or BIOES sequences are left.

    Add them to the model's scores: `Problem(emissions, transitions + allowed, start=first, end=last)`.
    """
    if scheme not in ("BIO", "BIOES"):
        raise InputError(f"scheme is {scheme!r}: expected 'BIO' or 'BIOES'.")
    kinds = [label[0] if label[1:2] == "-" and label[0] in "BIES" else "O" for label in labels]
    fields = [label[2:] if kind != "O" else "" for label, kind in zip(labels, kinds, strict=True)]
    if scheme == "BIO" and not set(kinds) <= set("BIO"):
        odd = labels[next(i for i, kind in enumerate(kinds) if kind not in "BIO")]
        raise InputError(f"label {odd!r} does not belong to a BIO scheme: expected B-, I- and others, or scheme='BIOES'.")
    size = len(labels)
    allowed = np.zeros((size, size))
    for i in range(size):
        for j in range(size):
            continues = kinds[j] in CONTINUES
            open_before = kinds[i] in "BI"
            same = fields[i] == fields[j]
            if (continues and not (open_before and same)) or (scheme == "BIOES" and open_before and not (continues and same)):
                allowed[i, j] = -np.inf
    start = np.array([-np.inf if kind in CONTINUES else 0.0 for kind in kinds])
    end = np.array([-np.inf if scheme == "BIOES" and kind in "BI" else 0.0 for kind in kinds])
    return allowed, start, end
