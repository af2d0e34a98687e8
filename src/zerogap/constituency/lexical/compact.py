"""Problems with heads without what no parse of the sentence can have: the same parses with the same scores, for files."""

from __future__ import annotations

import numpy as np

from zerogap.constituency.lexical.decoding import coarse_bounds, head_scores, rule_bounds
from zerogap.oracles.parses.lexical_bounds import LOWEST, outside_bounds
from zerogap.problems.constituency.lexical import LexicalGrammar, LexicalProblem
from zerogap.problems.constituency.lexical_agreement import LexicalAgreement


def compact_lexical(problem: LexicalProblem) -> LexicalProblem:
    """A rule is left out if its parent covers no span in any parse, or its children none that meet; then symbols and classes."""
    grammar, given = problem.grammar, head_scores(problem)
    there = outside_bounds(coarse_bounds(grammar, given, rule_bounds(grammar, given)), LOWEST) > LOWEST  # (n, n + 1, symbols)
    starts, ends = np.asarray(there.any(axis=1)), np.asarray(there.any(axis=0))[1:]
    somewhere = np.asarray(starts.any(axis=0))
    parent, left, right = grammar.binary.T
    binary = somewhere[parent] & (ends[:-1, left] & starts[1:, right]).any(axis=0)
    unary = somewhere[grammar.unary].all(axis=1)
    used = np.zeros(len(grammar.symbols), dtype=np.bool_)
    used[[grammar.root, *problem.tags.tolist()]] = True
    used[grammar.binary[binary]] = used[grammar.unary[unary]] = True
    kept, number = np.flatnonzero(used), np.cumsum(used) - 1
    sisters = grammar.binary[binary][np.arange(int(binary.sum())), 2 - grammar.head_side[binary]]
    kinds = np.unique(grammar.classes[sisters])
    classes = np.full(len(grammar.symbols), -1, dtype=np.int64)
    classes[sisters] = np.searchsorted(kinds, grammar.classes[sisters])
    small = LexicalGrammar(
        tuple(grammar.symbols[s] for s in kept.tolist()), int(number[grammar.root]), number[grammar.binary[binary]],
        grammar.head_side[binary], number[grammar.unary[unary]], grammar.unary_edge[unary], classes[kept],
    )  # fmt: skip
    return LexicalProblem(
        small, positions=problem.positions, tags=number[problem.tags], verbs=problem.verbs, binary=problem.binary[binary],
        unary=problem.unary[unary], words=problem.words[kinds], roots=problem.roots, resolution=problem.resolution,
    )  # fmt: skip


def compact_agreement(problem: LexicalAgreement) -> LexicalAgreement:
    """The lexical part as `compact_lexical` has it, and the tagger without the tags that no word can have."""
    tagging = problem.tagging
    if tagging is not None:
        used = np.unique(tagging.tag_of)
        with_edge = np.append(used, tagging.transitions.shape[-1] - 1)
        transitions = tagging.transitions[np.ix_(*[with_edge] * tagging.transitions.ndim)]
        tagging = type(tagging)(np.searchsorted(used, tagging.tag_of), tagging.emissions, transitions)
    lexical = compact_lexical(problem.lexical)
    return LexicalAgreement(lexical, problem.arcs, siblings=problem.siblings, stops=problem.stops, tagging=tagging)
