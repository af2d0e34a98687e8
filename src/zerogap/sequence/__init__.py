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
    from zerogap.sequence.adapters import constrain_doc, constrain_logits
    from zerogap.sequence.decoders import decode, decode_many
    from zerogap.sequence.evaluation import evaluate, segments
    from zerogap.sequence.model import SequenceModel
    from zerogap.sequence.relaxation import learned_order
    from zerogap.sequence.training import train

__all__ = [
    "Constraint", "Example", "Problem", "SequenceModel", "accepted_by", "at", "at_least", "at_least_one", "at_most", "constrain_doc",
    "constrain_logits", "decode", "decode_many", "disallow", "evaluate", "exactly", "follows_only", "learned_order", "no_duplicate",
    "precedes", "regex", "same_label", "scheme_transitions", "segments", "soft", "span", "spans", "train",
]  # fmt: skip

__getattr__, _ = lazy(
    __name__,
    {
        **dict.fromkeys(("decode", "decode_many"), "zerogap.sequence.decoders"),
        **dict.fromkeys(("constrain_doc", "constrain_logits"), "zerogap.sequence.adapters"),
        **dict.fromkeys(("evaluate", "segments"), "zerogap.sequence.evaluation"),
        "SequenceModel": "zerogap.sequence.model",
        "learned_order": "zerogap.sequence.relaxation",
        "train": "zerogap.sequence.training",
    },
)
