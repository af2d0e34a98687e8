"""Sequence labelling under global constraints: the best labelling that keeps them all, and the proof."""

from typing import TYPE_CHECKING

from zerogap._lazy import lazy
from zerogap.problems.sequence.constraints import (
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
from zerogap.problems.sequence.labels import scheme_transitions
from zerogap.problems.sequence.problem import Problem
from zerogap.sequence.examples import Example

if TYPE_CHECKING:
    from zerogap.papers.tromble2006.relaxation import learned_order
    from zerogap.sequence.adapters import constrain_doc, constrain_logits
    from zerogap.sequence.decoding.methods import decode, decode_many
    from zerogap.sequence.evaluation import evaluate, segments
    from zerogap.sequence.model import SequenceModel
    from zerogap.sequence.training import train

__all__ = [
    "Constraint", "Example", "Problem", "SequenceModel", "accepted_by", "at", "at_least", "at_least_one", "at_most", "constrain_doc",
    "constrain_logits", "decode", "decode_many", "disallow", "evaluate", "exactly", "follows_only", "learned_order", "no_duplicate",
    "precedes", "regex", "same_label", "scheme_transitions", "segments", "soft", "span", "spans", "train",
]  # fmt: skip

__getattr__, _ = lazy(
    __name__,
    {
        **dict.fromkeys(("decode", "decode_many"), "zerogap.sequence.decoding.methods"),
        **dict.fromkeys(("constrain_doc", "constrain_logits"), "zerogap.sequence.adapters"),
        **dict.fromkeys(("evaluate", "segments"), "zerogap.sequence.evaluation"),
        "SequenceModel": "zerogap.sequence.model",
        "learned_order": "zerogap.papers.tromble2006.relaxation",
        "train": "zerogap.sequence.training",
    },
)
