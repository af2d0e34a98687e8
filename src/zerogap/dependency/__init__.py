"""Dependency parsing: the best tree over the words of a sentence, projective or not."""

from typing import TYPE_CHECKING

from zerogap._lazy import lazy
from zerogap.problems.dependency.factor import Factor, FactorArrays
from zerogap.problems.dependency.head_automaton import HeadAutomaton
from zerogap.problems.dependency.parts import Lazy, Parts, Sparse
from zerogap.problems.dependency.problem import LabelledTree, Problem

if TYPE_CHECKING:
    from zerogap.dependency.cascade.approximate import Cascade
    from zerogap.dependency.decoding.methods import decode, decode_many
    from zerogap.dependency.decoding.posteriors import Marginals, marginals, max_marginals
    from zerogap.dependency.evaluation import evaluate
    from zerogap.dependency.factors.matching import PatternSet
    from zerogap.dependency.factors.patterns import parse_patterns
    from zerogap.dependency.parser.parser import Parser
    from zerogap.dependency.sentence import Sentence
    from zerogap.dependency.sums_of_factors import any_of, valency, valid_factors
    from zerogap.dependency.training.options import TrainingOptions
    from zerogap.dependency.training.parser import train
    from zerogap.dependency.trigrams import trigram_automaton

__all__ = [
    "Cascade", "Factor", "FactorArrays", "HeadAutomaton", "LabelledTree", "Lazy", "Marginals", "Parser", "Parts", "PatternSet", "Problem",
    "Sentence", "Sparse", "TrainingOptions", "any_of", "decode", "decode_many", "evaluate", "marginals", "max_marginals",
    "parse_patterns", "train", "trigram_automaton", "valency", "valid_factors",
]  # fmt: skip

__getattr__, _ = lazy(
    __name__,
    dict.fromkeys(("decode", "decode_many"), "zerogap.dependency.decoding.methods")
    | dict.fromkeys(("any_of", "valency", "valid_factors"), "zerogap.dependency.sums_of_factors")
    | {
        "Cascade": "zerogap.dependency.cascade.approximate",
        "Parser": "zerogap.dependency.parser.parser",
        "PatternSet": "zerogap.dependency.factors.matching",
        "Sentence": "zerogap.dependency.sentence",
        "TrainingOptions": "zerogap.dependency.training.options",
        "evaluate": "zerogap.dependency.evaluation",
        "parse_patterns": "zerogap.dependency.factors.patterns",
        "train": "zerogap.dependency.training.parser",
        "trigram_automaton": "zerogap.dependency.trigrams",
    }
    | dict.fromkeys(("Marginals", "marginals", "max_marginals"), "zerogap.dependency.decoding.posteriors"),
)
