"""Pipelines from files: those that come with the library by their names, others by their paths.

A pipeline is a folder with `parser.npz` and, if the parser reads tags that text does not have, `tagger.npz`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from zerogap.archive import format_of
from zerogap.dependency.parser.parser import Parser
from zerogap.errors import FormatError, UnknownMethod
from zerogap.pipeline.stages import Pipeline
from zerogap.sequence.tagger.tagger import Tagger

if TYPE_CHECKING:
    from zerogap.dependency.factors.parser import FactorParser

MODELS = Path(__file__).parents[1] / "models"
PARSER, TAGGER = "parser.npz", "tagger.npz"
FACTORS = "zerogap-factor-model"  # as a file says


def known_models() -> list[str]:
    """Names of the pipelines that come with the library."""
    return sorted(path.parent.name for path in MODELS.glob(f"*/{PARSER}"))


def load(model: str | os.PathLike[str] = "en", *, tagger: str | os.PathLike[str] | None = None) -> Pipeline:
    """The pipeline of this name, or in this folder; or the parser in this file (.npz), for sentences that have tags.

    `tagger` is another one: a file, or the name or folder of a pipeline whose tagger is taken.
    """
    place = located(model)
    if place.is_dir():
        parser = parser_in(place / PARSER)
        beside = place / TAGGER
        own = Tagger.load(beside) if tagger is None and beside.exists() else None
    else:
        parser, own = parser_in(place), None
    if tagger is not None:
        found = located(tagger)
        own = Tagger.load(found / TAGGER if found.is_dir() else found)
    return Pipeline(parser, own)


def parser_in(path: Path) -> Parser | FactorParser:
    """The parser in a file, with factors or without."""
    if format_of(path) == FACTORS:
        from zerogap.dependency.factors.parser import FactorParser  # most do without

        return FactorParser.load(path)
    return Parser.load(path)


def located(model: str | os.PathLike[str]) -> Path:
    """The folder or file of a model. What is neither a known name nor there is refused, with the names that are known."""
    known = known_models()
    if model in known:
        return MODELS / str(model)
    path = Path(model)
    if path.exists():
        return path
    if isinstance(model, str) and path.name == model and not path.suffix:
        raise UnknownMethod("model", model, [*known, "a folder", "a file (.npz)"])
    raise FormatError(f"{path} cannot be read: no such file or folder.")
