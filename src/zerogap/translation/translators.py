"""All that translates sentences, in one object: a problem for every sentence, and the text and features of its derivations.

Phrases or rules differ in what a derivation is; whoever translates, writes n-best lists or audits another decoder need not know.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from zerogap.errors import InputError
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.problems.translation.language_model import LanguageModel
from zerogap.problems.translation.phrase_constraints import Constraints
from zerogap.problems.translation.phrases import Derivation, PhraseProblem, translation
from zerogap.proof.solution import Solution
from zerogap.translation.forests.decoding import decode_forest
from zerogap.translation.forests.from_grammar import sentence_problem, translation_forest
from zerogap.translation.forests.from_tree import GLUE, Node, TreeRule, check_features, tree_forest
from zerogap.translation.forests.grammar import LANGUAGE_MODEL, PASS_THROUGH, WORDS, SynchronousGrammar, check_weights
from zerogap.translation.phrases.decoding import decode_phrases
from zerogap.translation.phrases.model import PhraseModel
from zerogap.translation.phrases.table import LOWEST, PhraseTable, PhraseWeights

LOG_OF_10 = math.log(10.0)
MOSES_TABLE = "TranslationModel0"


@dataclass(frozen=True, slots=True, eq=False)
class PhraseTranslator:
    """`names` are those of the scores of phrases in lists of features; without them, all features have the names and signs of Moses."""

    model: PhraseModel
    language_model: LanguageModel  # as it was read
    names: tuple[str, ...] = ()
    reordering: str = "limit"
    kind = "phrases"

    def problem(self, words: Sequence[str], *, constraints: Constraints | None = None) -> PhraseProblem:
        return self.model.problem(words, reordering=self.reordering, constraints=constraints)

    def decode(self, problem: PhraseProblem, *, k: int = 1, **options: Any) -> Solution[Derivation]:
        """`decode_phrases`, with its options."""
        return decode_phrases(problem, k=k, **options)

    def text(self, problem: PhraseProblem, derivation: Derivation) -> str:
        return translation(derivation)

    def features(self, problem: PhraseProblem, derivation: Derivation) -> dict[str, tuple[float, ...]]:
        """What the weights multiply. With `names` the sum of all products is the score; so it is in Moses."""
        words = [word for _, _, target in derivation for word in target]
        sums, unknown, jumps, at = [0.0] * len(self.model.weights.scores), 0, 0, 0
        for start, end, target in derivation:
            values = self.phrase_scores(problem, start, end, target)
            unknown += values is None
            sums = sums if values is None else [total + value for total, value in zip(sums, values, strict=True)]
            jumps += abs(start - at)
            at = end
        lm = self.language_model.score(words) * LOG_OF_10
        if self.names:
            named: dict[str, tuple[float, ...]] = {name: (value,) for name, value in zip(self.names, sums, strict=True)}
            counts = {"lm": lm, "words": len(words), "phrases": len(derivation), "distortion": -jumps, "unknown": unknown}
            return named | {name: (float(value),) for name, value in counts.items()}
        return {
            "UnknownWordPenalty0": (LOWEST * unknown,), "WordPenalty0": (-float(len(words)),), "PhrasePenalty0": (float(len(derivation)),),
            MOSES_TABLE: tuple(sums), "Distortion0": (-float(jumps),), "LM0": (lm,),
        }  # fmt: skip

    def phrase_scores(self, problem: PhraseProblem, start: int, end: int, target: Sequence[str]) -> Sequence[float] | None:
        """Those of the table; of a translation that the line gives, its logarithm, shared out; None for a word that is passed through."""
        weights, fixed = self.model.weights, problem.constraints.fixed
        given = [
            score
            for part in fixed if (part.start, part.end) == (start, end)
            for words, score in zip(part.targets, part.scores, strict=True) if tuple(words) == tuple(target)
        ]  # fmt: skip
        listed = self.model.table.targets.get(" ".join(problem.source[start:end]), ())
        phrase = next((phrase for phrase in listed if phrase.target == target), None)
        if phrase is not None and any(part.exclusive and start < part.end and part.start < end for part in fixed):
            phrase = None
        if given and (phrase is None or max(given) > weights.score(phrase)):
            total = sum(weights.scores)
            share = (max(given) - weights.words * len(target) - weights.phrases) / total if total else 0.0
            return [share] * len(weights.scores)
        return None if phrase is None else phrase.scores


class Asked(Protocol):
    """A language model that lists nothing, but has as much of itself as some words need."""

    def language_model(self, vocabulary: Iterable[str]) -> LanguageModel: ...


class ForestTranslator:
    """What translators by forests share."""

    __slots__ = ()

    def decode(self, problem: SyntaxProblem, *, k: int = 1, **options: Any) -> Solution[tuple[int, ...]]:
        """`decode_forest`, with its options."""
        return decode_forest(problem, k=k, **options)

    def text(self, problem: SyntaxProblem, derivation: Sequence[int]) -> str:
        return problem.translation(derivation)


@dataclass(frozen=True, slots=True, eq=False)
class GrammarTranslator(ForestTranslator):
    grammar: SynchronousGrammar
    language_model: LanguageModel | Asked
    weights: Mapping[str, float]
    strict: bool = False  # words without a rule are not passed through
    kind = "grammar"

    def problem(self, words: Sequence[str]) -> SyntaxProblem:
        if isinstance(self.language_model, LanguageModel):
            return sentence_problem(self.grammar, self.language_model, self.weights, words, strict=self.strict)
        forest = translation_forest(self.grammar, words, self.weights, strict=self.strict)
        return SyntaxProblem(forest, model_of(self.language_model, forest.words), weight=float(self.weights[LANGUAGE_MODEL]))

    def features(self, problem: SyntaxProblem, derivation: Sequence[int]) -> dict[str, tuple[float, ...]]:
        """What the weights multiply: the sum of all products is the score."""
        rules = problem.forest.rules
        if rules is None:
            raise InputError("the forest does not say which rules its hyperedges are: expected one made by translation_forest.")
        used = [int(rules[e]) for e in derivation]
        sums = self.grammar.features[[rule for rule in used if rule >= 0]].sum(axis=0).tolist()
        values = dict(zip(self.grammar.feature_names, sums, strict=True))
        passed = used.count(-1)
        if passed:
            values[PASS_THROUGH] = values.get(PASS_THROUGH, 0.0) + passed
        words = self.text(problem, derivation).split()
        values[LANGUAGE_MODEL] = model_of(self.language_model, words).score(words) * LOG_OF_10
        values[WORDS] = float(len(words))
        return {name: (value,) for name, value in values.items()}


@dataclass(frozen=True, slots=True, eq=False)
class TreeTranslator(ForestTranslator):
    """Translates parse trees: the words of a line are those of a tree in brackets, which `read` reads."""

    rules: Sequence[TreeRule]
    language_model: LanguageModel | Asked
    weights: Mapping[str, float]
    read: Callable[[str], Node]
    strict: bool = False  # nodes without a rule are not translated child by child
    kind = "trees"

    def problem(self, words: Sequence[str]) -> SyntaxProblem:
        forest = tree_forest(self.rules, self.read(" ".join(words)), self.weights, strict=self.strict)
        return SyntaxProblem(forest, model_of(self.language_model, forest.words), weight=float(self.weights[LANGUAGE_MODEL]))

    def features(self, problem: SyntaxProblem, derivation: Sequence[int]) -> dict[str, tuple[float, ...]]:
        """What the weights multiply: the sum of all products is the score."""
        forest = problem.forest
        assert forest.rules is not None
        values: dict[str, float] = dict.fromkeys(sorted({name for rule in self.rules for name in rule.features}), 0.0)
        for e in derivation:
            rule = int(forest.rules[e])
            passed = {GLUE: 1.0, PASS_THROUGH: float((forest.target(e) >= 0).sum())}
            for name, value in (self.rules[rule].features if rule >= 0 else passed).items():
                values[name] = values.get(name, 0.0) + value
        words = self.text(problem, derivation).split()
        values[LANGUAGE_MODEL] = model_of(self.language_model, words).score(words) * LOG_OF_10
        values[WORDS] = float(len(words))
        return {name: (value,) for name, value in values.items()}


def model_of(model: LanguageModel | Asked, words: Iterable[str]) -> LanguageModel:
    return model if isinstance(model, LanguageModel) else model.language_model(words)


Translator = PhraseTranslator | GrammarTranslator | TreeTranslator


def phrase_translator(
    table: PhraseTable, weights: PhraseWeights, language_model: LanguageModel, *, names: Sequence[str] = (), reordering: str = "limit"
) -> PhraseTranslator:
    if names and len(names) != len(weights.scores):
        raise InputError(f"names has {len(names)} entries: expected {len(weights.scores)}, one for every score of a phrase.")
    return PhraseTranslator(PhraseModel(table, weights, language_model), language_model, tuple(names), reordering)


def grammar_translator(
    grammar: SynchronousGrammar, weights: Mapping[str, float], language_model: LanguageModel | Asked, *, strict: bool = False
) -> GrammarTranslator:
    """Every feature of the grammar must have a weight: one that is forgotten would count nothing."""
    check_weights(grammar, weights)
    for name in (*grammar.feature_names, LANGUAGE_MODEL):
        if name not in weights:
            what = "for the language model" if name == LANGUAGE_MODEL else "which rules of the grammar have; 0 leaves it out"
            raise InputError(f"weights have none for {name!r}, {what}: they have {', '.join(weights)}.")
    return GrammarTranslator(grammar, language_model, dict(weights), strict)


def tree_translator(
    rules: Sequence[TreeRule], weights: Mapping[str, float], language_model: LanguageModel | Asked, read: Callable[[str], Node],
    *, strict: bool = False,
) -> TreeTranslator:  # fmt: skip
    """Every feature of the rules must have a weight: one that is forgotten would count nothing."""
    check_features(rules, weights)
    for name in (*sorted({name for rule in rules for name in rule.features}), LANGUAGE_MODEL):
        if name not in weights:
            what = "for the language model" if name == LANGUAGE_MODEL else "which rules have; 0 leaves it out"
            raise InputError(f"weights have none for {name!r}, {what}: they have {', '.join(weights)}.")
    return TreeTranslator(tuple(rules), language_model, dict(weights), read, strict)
