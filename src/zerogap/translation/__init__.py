"""Machine translation: the best derivation of a sentence under phrases or grammar rules and a language model."""

from typing import TYPE_CHECKING

from zerogap._lazy import lazy
from zerogap.problems.translation.language_model import LanguageModel
from zerogap.problems.translation.phrases import PhraseProblem, translation
from zerogap.translation.phrases.model import PhraseModel
from zerogap.translation.phrases.table import Phrase, PhraseTable, PhraseWeights

if TYPE_CHECKING:
    from zerogap.problems.translation.forest import Forest
    from zerogap.problems.translation.forest_problem import SyntaxProblem
    from zerogap.translation.decoding import decode, decode_many
    from zerogap.translation.forests.cube_pruning import cube_prune
    from zerogap.translation.forests.decoding import decode_forest
    from zerogap.translation.forests.from_grammar import translation_forest
    from zerogap.translation.forests.grammar import SynchronousGrammar
    from zerogap.translation.language_models import Ngrams, build_language_model
    from zerogap.translation.phrases.beam import beam_search
    from zerogap.translation.phrases.decoding import decode_phrases

__all__ = [
    "Forest", "LanguageModel", "Ngrams", "Phrase", "PhraseModel", "PhraseProblem", "PhraseTable", "PhraseWeights", "SynchronousGrammar",
    "SyntaxProblem", "beam_search", "build_language_model", "cube_prune", "decode", "decode_forest", "decode_many", "decode_phrases",
    "translation", "translation_forest",
]  # fmt: skip

__getattr__, _ = lazy(
    __name__,
    {
        "Forest": "zerogap.problems.translation.forest",
        "Ngrams": "zerogap.translation.language_models",
        "SynchronousGrammar": "zerogap.translation.forests.grammar",
        "SyntaxProblem": "zerogap.problems.translation.forest_problem",
        "beam_search": "zerogap.translation.phrases.beam",
        "build_language_model": "zerogap.translation.language_models",
        "cube_prune": "zerogap.translation.forests.cube_pruning",
        "decode": "zerogap.translation.decoding",
        "decode_forest": "zerogap.translation.forests.decoding",
        "decode_many": "zerogap.translation.decoding",
        "decode_phrases": "zerogap.translation.phrases.decoding",
        "translation_forest": "zerogap.translation.forests.from_grammar",
    },
)
