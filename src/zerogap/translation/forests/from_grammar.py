"""From a sentence to its translation forest: rules that match its words, with their target sides (Rush 2014, example 5.1.2).

Vertices are (symbol, start, end) over the source words, half-open. Departures: hyperedges carry target sides, so words are not vertices;
the symbol at the top is that of the glue rules, which is not limited to a span.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from zerogap.errors import GrammarError, Infeasible, InputError
from zerogap.oracles.forests.rule_matching import match_sentence
from zerogap.problems.translation.forest import Forest
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.problems.translation.language_model import LanguageModel
from zerogap.translation.forests.grammar import (
    GOAL,
    LANGUAGE_MODEL,
    MAX_SPAN,
    PASS_THROUGH,
    PHRASE,
    WORDS,
    SynchronousGrammar,
    check_weights,
)


def translation_forest(
    grammar: SynchronousGrammar,
    sentence: Sequence[str],
    weights: Mapping[str, float],
    *,
    goal: str = GOAL,
    phrase: str = PHRASE,
    strict: bool = False,
) -> Forest:
    """All derivations of the sentence from the goal, scored by the weights of features and words.

    No symbol but the goal covers more than `max_span` words, if the weights have it. A word without a rule of its own is passed through
    as a phrase, which has the feature `oov`; with `strict` it is not. Infeasible if nothing derives the sentence.
    """
    check_weights(grammar, weights)
    if isinstance(sentence, str) or not all(isinstance(word, str) and word for word in sentence):
        raise InputError(f"sentence is {sentence!r}: expected a sequence of words.")
    if len(sentence) == 0:
        raise Infeasible("the sentence has no words, and rules have at least one.")
    span = weights.get(MAX_SPAN, len(sentence))
    if not (span >= 1 and span == int(span)):
        raise InputError(f"weights[{MAX_SPAN!r}] is {span!r}: expected a whole number of words, at least 1.")
    top = grammar.symbol(goal)
    limits = np.full(len(grammar.nonterminals), int(span), dtype=np.int32)
    limits[top] = len(sentence)
    words = np.array([grammar.source_words.get(word, -1) for word in sentence], dtype=np.int32)
    lonely = [i for i in range(len(words)) if not has_own_rule(grammar, int(words[i]))]
    passed = np.full(len(words), -1, dtype=np.int32)
    if lonely and not strict:
        if phrase not in grammar.nonterminals:
            raise GrammarError(f"nonterminal {phrase!r}, for words to pass through, is not in the grammar.")
        passed[lonely] = grammar.symbol(phrase)
    trie = grammar.child_start, grammar.child_symbols, grammar.child_nodes
    found = match_sentence(words, passed, trie, grammar.rule_start, grammar.heads, limits, top)
    if found is None:
        without = ", ".join(repr(sentence[i]) for i in lonely) if strict and lonely else ""
        raise Infeasible(f"no derivation covers the sentence{f'; no rule translates {without} alone' if without else ''}.")
    return target_sides(grammar, sentence, weights, found.edge_start, found.rules, found.tail_start, found.tails, found.vertices)


def sentence_problem(
    grammar: SynchronousGrammar,
    language_model: LanguageModel,
    weights: Mapping[str, float],
    sentence: Sequence[str],
    *,
    strict: bool = False,
    resolution: float | None = None,
) -> SyntaxProblem:
    """The forest of a sentence with a language model, whose weight is `lm`."""
    if LANGUAGE_MODEL not in weights:
        raise InputError(
            f"weights have no {LANGUAGE_MODEL!r}, only {', '.join(map(repr, weights)) or 'nothing'}: expected one for the language model."
        )
    forest = translation_forest(grammar, sentence, weights, strict=strict)
    return SyntaxProblem(forest, language_model, weight=float(weights[LANGUAGE_MODEL]), resolution=resolution)


def has_own_rule(grammar: SynchronousGrammar, word: int) -> bool:
    """Whether the word alone is a source side."""
    first, last = int(grammar.child_start[0]), int(grammar.child_start[1])
    at = first + int(np.searchsorted(grammar.child_symbols[first:last], word))
    if word < 0 or at == last or grammar.child_symbols[at] != word:
        return False
    node = int(grammar.child_nodes[at])
    return bool(grammar.rule_start[node] < grammar.rule_start[node + 1])


def target_sides(
    grammar: SynchronousGrammar,
    sentence: Sequence[str],
    weights: Mapping[str, float],
    edge_start: np.ndarray,
    rules: np.ndarray,
    tail_start: np.ndarray,
    tails: np.ndarray,
    vertices: np.ndarray,
) -> Forest:
    """The forest with the target side of every match: nonterminals of rules become the vertices that they cover."""
    is_passed = rules < 0
    sizes = np.where(is_passed, 1, np.diff(grammar.target_start)[rules])
    symbol_start = np.concatenate([[0], np.cumsum(sizes)])
    gather = np.repeat(np.where(is_passed, 0, grammar.target_start[:-1][rules]) - symbol_start[:-1], sizes) + np.arange(symbol_start[-1])
    codes = np.append(grammar.target_symbols, 0)[gather].astype(np.int64)
    heads = np.repeat(np.arange(len(edge_start) - 1), np.diff(edge_start))
    is_foreign = np.repeat(is_passed, sizes)
    codes[is_foreign] = len(grammar.target_words) + vertices[heads[is_passed], 1]  # the source word itself
    is_word = codes >= 0
    used, local = np.unique(codes[is_word], return_inverse=True)
    symbols = np.empty(len(codes), dtype=np.int32)
    symbols[is_word] = local
    edges = np.repeat(np.arange(len(rules)), sizes)
    symbols[~is_word] = -1 - tails[tail_start[:-1][edges[~is_word]] - 1 - codes[~is_word]]
    n_words = np.concatenate([[0], np.cumsum(is_word)])
    scores = (n_words[symbol_start[1:]] - n_words[symbol_start[:-1]]) * float(weights.get(WORDS, 0.0))
    for column, name in enumerate(grammar.feature_names):
        values = np.where(is_passed, float(name == PASS_THROUGH), grammar.features[rules, column])
        scores = scores + values * float(weights.get(name, 0.0))
    if PASS_THROUGH not in grammar.feature_names:
        scores = scores + is_passed * float(weights.get(PASS_THROUGH, 0.0))
    names = [(grammar.nonterminals[a], i, j) for a, i, j in vertices.tolist()]
    shown = [grammar.target_words[w] if w < len(grammar.target_words) else sentence[w - len(grammar.target_words)] for w in used.tolist()]
    return Forest(edge_start, symbol_start.astype(np.int32), symbols, np.ascontiguousarray(scores), tuple(shown), tuple(names), rules)
