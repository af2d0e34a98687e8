"""From text to proven trees: tokens and sentences, tags, the best tree and its relations, and what came of it as a document."""

from typing import TYPE_CHECKING

from zerogap._lazy import lazy

if TYPE_CHECKING:
    from zerogap.pipeline.document import Document, ParsedSentence
    from zerogap.pipeline.loading import load
    from zerogap.pipeline.stages import Pipeline

__all__ = ["Document", "ParsedSentence", "Pipeline", "load"]

__getattr__, __dir__ = lazy(
    __name__,
    {"Document": ".document", "ParsedSentence": ".document", "Pipeline": ".stages", "load": ".loading"},
)
