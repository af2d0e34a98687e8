"""Dependency parsing: the best tree over the words of a sentence, projective or not."""

from typing import TYPE_CHECKING

from zerogap._lazy import lazy
from zerogap.problems.dependency.factor import Factor, FactorArrays
from zerogap.problems.dependency.head_automaton import HeadAutomaton
from zerogap.problems.dependency.parts import Lazy, Parts, Sparse
from zerogap.problems.dependency.problem import LabelledTree, Problem

if TYPE_CHECKING:
    from zerogap.dependency.decoding.methods import decode, decode_many
    from zerogap.dependency.decoding.posteriors import Marginals, marginals, max_marginals
    from zerogap.dependency.sums_of_factors import any_of, valency, valid_factors
    from zerogap.dependency.trigrams import trigram_automaton

__all__ = [
    "Factor", "FactorArrays", "HeadAutomaton", "LabelledTree", "Lazy", "Marginals", "Parts", "Problem", "Sparse", "any_of", "decode",
    "decode_many", "marginals", "max_marginals", "trigram_automaton", "valency", "valid_factors",
]  # fmt: skip

__getattr__, _ = lazy(
    __name__,
    dict.fromkeys(("decode", "decode_many"), "zerogap.dependency.decoding.methods")
    | dict.fromkeys(("any_of", "valency", "valid_factors"), "zerogap.dependency.sums_of_factors")
    | {"trigram_automaton": "zerogap.dependency.trigrams"}
    | dict.fromkeys(("Marginals", "marginals", "max_marginals"), "zerogap.dependency.decoding.posteriors"),
)
