"""Dependency parsing: the best tree over the words of a sentence, projective or not."""

from typing import TYPE_CHECKING

from zerogap._lazy import lazy
from zerogap.dependency.factor_arrays import Factor, FactorArrays
from zerogap.dependency.head_automaton import HeadAutomaton, trigram_automaton
from zerogap.dependency.parts import Lazy, Parts, Sparse
from zerogap.dependency.problem import LabelledTree, Problem

if TYPE_CHECKING:
    from zerogap.dependency.decoders import decode, decode_many
    from zerogap.dependency.factors import any_of, valency, valid_factors
    from zerogap.dependency.posteriors import Marginals, marginals, max_marginals

__all__ = [
    "Factor", "FactorArrays", "HeadAutomaton", "LabelledTree", "Lazy", "Marginals", "Parts", "Problem", "Sparse", "any_of", "decode",
    "decode_many", "marginals", "max_marginals", "trigram_automaton", "valency", "valid_factors",
]  # fmt: skip

__getattr__, _ = lazy(
    __name__,
    dict.fromkeys(("decode", "decode_many"), "zerogap.dependency.decoders")
    | dict.fromkeys(("any_of", "valency", "valid_factors"), "zerogap.dependency.factors")
    | dict.fromkeys(("Marginals", "marginals", "max_marginals"), "zerogap.dependency.posteriors"),
)
