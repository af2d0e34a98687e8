"""Constituency parsing: a weighted grammar, alone or together with a tagger."""

from typing import TYPE_CHECKING

from zerogap._lazy import lazy
from zerogap.constituency.problem import JointProblem
from zerogap.structures.grammar import Grammar, grammar

if TYPE_CHECKING:
    from zerogap.constituency.decoders import decode, decode_many

__all__ = ["Grammar", "JointProblem", "decode", "decode_many", "grammar"]

__getattr__, _ = lazy(__name__, dict.fromkeys(("decode", "decode_many"), "zerogap.constituency.decoders"))
