"""The models that a server was started with: any of a parser, a labeller, a tree parser and a translator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zerogap.errors import InputError

if TYPE_CHECKING:
    from zerogap.pipeline.stages import Pipeline
    from zerogap.pipeline.tree_parsers import TreeParser
    from zerogap.sequence.model import SequenceModel
    from zerogap.translation.translators import Translator

OPTIONS = {"parse": "--model", "label": "--labels", "trees": "--trees", "translate": "--config, or --phrase-table, --lm and --weights"}


class NoModel(InputError):
    """The server has no model for a task."""


@dataclass(frozen=True, slots=True, eq=False)
class Models:
    parse: Pipeline | None = None
    label: SequenceModel | None = None
    trees: TreeParser | None = None
    translate: Translator | None = None

    def of(self, task: str) -> Any:
        model = getattr(self, task)
        if model is None:
            raise NoModel(f"this server has no model for {task!r}: expected one when it was started ({OPTIONS[task]}).")
        return model

    @property
    def tasks(self) -> list[str]:
        """What can be asked for."""
        return [name for name in OPTIONS if getattr(self, name) is not None] + ["decode", "verify"]
