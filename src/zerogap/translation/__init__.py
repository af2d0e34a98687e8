"""Machine translation: the best derivation of a sentence under phrases or grammar rules and a language model."""

from typing import TYPE_CHECKING

from zerogap._lazy import lazy
from zerogap.translation.language_model import LanguageModel
from zerogap.translation.phrase_model import PhraseModel
from zerogap.translation.phrase_problem import PhraseProblem, translation
from zerogap.translation.phrase_table import Phrase, PhraseTable, PhraseWeights

if TYPE_CHECKING:
    from zerogap.translation.chart_parsing import translation_forest
    from zerogap.translation.cube_pruning import cube_prune
    from zerogap.translation.decoders import decode, decode_many
    from zerogap.translation.forest import Forest
    from zerogap.translation.phrase_beam import beam_search
    from zerogap.translation.phrase_decoders import decode_phrases
    from zerogap.translation.scfg import SynchronousGrammar
    from zerogap.translation.syntax_decoders import decode_forest
    from zerogap.translation.syntax_problem import SyntaxProblem

__all__ = [
    "Forest", "LanguageModel", "Phrase", "PhraseModel", "PhraseProblem", "PhraseTable", "PhraseWeights", "SynchronousGrammar",
    "SyntaxProblem", "beam_search", "cube_prune", "decode", "decode_forest", "decode_many", "decode_phrases", "translation",
    "translation_forest",
]  # fmt: skip

__getattr__, _ = lazy(
    __name__,
    {
        "Forest": ".forest",
        "SynchronousGrammar": ".scfg",
        "SyntaxProblem": ".syntax_problem",
        "beam_search": ".phrase_beam",
        "cube_prune": ".cube_pruning",
        "decode": ".decoders",
        "decode_forest": ".syntax_decoders",
        "decode_many": ".decoders",
        "decode_phrases": ".phrase_decoders",
        "translation_forest": ".chart_parsing",
    },
)
