"""Dependency parsing: the best tree over the words of a sentence, projective or not."""

from typing import TYPE_CHECKING

from zerogap._lazy import lazy
from zerogap.dependency.problem import Problem

if TYPE_CHECKING:
    from zerogap.dependency.decoders import decode, decode_many

__all__ = ["Problem", "decode", "decode_many"]

__getattr__, _ = lazy(__name__, dict.fromkeys(("decode", "decode_many"), "zerogap.dependency.decoders"))
