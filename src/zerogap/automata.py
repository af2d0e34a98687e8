"""Automata over label names, in one place: make them, combine them, read and write them, run them over a forest.

>>> from zerogap import automata
>>> once = automata.compile_regex("~(.* A .* A .*)", ["A", "B"])  # no two As
>>> starts = automata.compile_regex("A .*", ["A", "B"])
>>> both = automata.minimise(automata.intersection(once, starts))
>>> both.accepts(["A", "B"]), both.accepts(["A", "A"]), both.accepts(["B"])
(True, False, False)
>>> automata.best_string(both, length=3)
('A', 'B', 'B')
"""

from zerogap.io.formats.openfst import read_openfst, write_openfst, write_symbols
from zerogap.oracles.automata.algebra import (
    best_string,
    complement,
    concatenation,
    equivalent,
    intersection,
    is_empty,
    minimise,
    star,
    union,
)
from zerogap.oracles.hypergraphs.product import Product, intersect
from zerogap.problems.sequence.regex import compile_regex
from zerogap.structures.automaton import Automaton, automaton, ngram_automaton

__all__ = [
    "Automaton", "Product", "automaton", "best_string", "compile_regex", "complement", "concatenation", "equivalent", "intersect",
    "intersection", "is_empty", "minimise", "ngram_automaton", "read_openfst", "star", "union", "write_openfst", "write_symbols",
]  # fmt: skip
