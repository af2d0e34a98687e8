"""Sequence labelling under global constraints: the best labelling that keeps them all, and the proof."""

from typing import TYPE_CHECKING

from zerogap._lazy import lazy
from zerogap.sequence.constraints import (
    Constraint,
    accepted_by,
    at,
    at_least,
    at_least_one,
    at_most,
    disallow,
    exactly,
    follows_only,
    no_duplicate,
    precedes,
    regex,
    same_label,
    soft,
    span,
    spans,
)
from zerogap.sequence.examples import Example
from zerogap.sequence.labels import scheme_transitions
from zerogap.sequence.problem import Problem

if TYPE_CHECKING:
    from zerogap.sequence.decoders import decode, decode_many

__all__ = [
    "Constraint", "Example", "Problem", "accepted_by", "at", "at_least", "at_least_one", "at_most", "decode", "decode_many", "disallow", "exactly",
    "follows_only", "no_duplicate", "precedes", "regex", "same_label", "scheme_transitions", "soft", "span", "spans",
]  # fmt: skip

__getattr__, _ = lazy(__name__, dict.fromkeys(("decode", "decode_many"), "zerogap.sequence.decoders"))
