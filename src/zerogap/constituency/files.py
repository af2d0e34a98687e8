"""Trained parsers in files, each with its kind and version: a grammar, a grammar with a tagger, a lexicalised grammar, one with a partner.

A file that holds several models has each as the bytes of its own file, so that whatever can be said about a damaged one is said.

save_model(model, "trees.npz")
load_model("trees.npz").parse(["Dogs", "bark", "."])
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from zerogap.archive import format_of, read_archive, write_archive
from zerogap.constituency.grammars import files as pcfg_files
from zerogap.constituency.grammars.pcfg import PcfgModel
from zerogap.constituency.joint.hmm_tagger import HmmTagger
from zerogap.constituency.joint.model import JointModel
from zerogap.constituency.lexical.files import FORMAT as LEXICAL_FORMAT
from zerogap.constituency.lexical.files import load_lexical, places, save_lexical
from zerogap.constituency.lexical.model import LexicalModel
from zerogap.constituency.lexical.pair import LexicalPair
from zerogap.dependency.parser.parser import Parser
from zerogap.errors import FormatError, InputError
from zerogap.sequence.tagger.joint import FeatureTagger
from zerogap.sequence.tagger.tagger import Tagger

TAGGER_FORMAT, TAGGER_VERSION = "zerogap-trigram-tagger", 1
JOINT_FORMAT, JOINT_VERSION = "zerogap-joint-model", 1
PAIR_FORMAT, PAIR_VERSION = "zerogap-lexical-pair", 1
TAGGER_OPTIONS = ("rare_weight", "suffix_weight", "frequent", "lowest")

Model = PcfgModel | JointModel | LexicalModel | LexicalPair
PathLike = str | os.PathLike[str]
Part = TypeVar("Part")


def save_tagger(tagger: HmmTagger, path: PathLike) -> None:
    """Writes a trigram tagger; the file is there completely or not at all."""
    words, suffixes = list(tagger.words), list(tagger.suffixes)
    header: dict[str, Any] = {
        "format": TAGGER_FORMAT, "version": TAGGER_VERSION, "tags": tagger.tags, "words": words, "suffixes": suffixes,
        "options": {name: getattr(tagger, name) for name in TAGGER_OPTIONS},
    }  # fmt: skip
    arrays: dict[str, Any] = {"transitions": tagger.transitions, "totals": tagger.totals}
    for name, table in (("word_counts", tagger.words.values()), ("suffix_counts", tagger.suffixes.values())):
        rows = [(i, tag, count) for i, counts in enumerate(table) for tag, count in counts.items()]
        arrays[name] = np.array(rows, dtype=np.float64).reshape(-1, 3)
    write_archive(os.fspath(path), header, arrays)


def load_tagger(path: PathLike) -> HmmTagger:
    """A trigram tagger from a file; FormatError if it is damaged or of another kind."""
    header, arrays = read_archive(os.fspath(path), TAGGER_FORMAT, TAGGER_VERSION)
    try:
        tags = tuple(map(str, header["tags"]))
        totals = np.ascontiguousarray(arrays["totals"], dtype=np.float64)
        transitions = np.ascontiguousarray(arrays["transitions"], dtype=np.float64)
        if not tags or totals.shape != (len(tags),) or not (totals > 0).all() or transitions.shape != (len(tags) + 1,) * 3:
            raise ValueError(f"totals have shape {totals.shape}, transitions {transitions.shape}, which do not belong to {len(tags)} tags")
        if np.isnan(transitions).any() or (transitions == np.inf).any():
            raise ValueError("transitions have nan or inf")
        words = counts_of(arrays["word_counts"], len(header["words"]), len(tags))
        suffixes = counts_of(arrays["suffix_counts"], len(header["suffixes"]), len(tags))
        rare_weight, suffix_weight, frequent, lowest = (header["options"][name] for name in TAGGER_OPTIONS)
        return HmmTagger(
            tags, transitions, totals, {str(word): counts for word, counts in zip(header["words"], words, strict=True)},
            {(str(shape), str(suffix)): counts for (shape, suffix), counts in zip(header["suffixes"], suffixes, strict=True)},
            float(rare_weight), float(suffix_weight), int(frequent), float(lowest),
        )  # fmt: skip
    except FormatError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, InputError) as error:
        raise FormatError(f"{os.fspath(path)} is not a complete tagger: {str(error).rstrip('.')}.") from None


def counts_of(rows: NDArray[Any], size: int, n_tags: int) -> list[dict[int, float]]:
    """Counts by tag, for each of `size` names, from rows (place of the name, tag, count)."""
    if rows.ndim != 2 or rows.shape[1] != 3 or not np.isfinite(rows).all() or (rows < 0).any():
        raise ValueError("counts are not rows of a place, a tag and a count of zero or more")
    for column, limit in ((0, size), (1, n_tags)):
        places(rows[:, column].astype(np.int64), (len(rows),), limit, "a column of counts")
    found: list[dict[int, float]] = [{} for _ in range(size)]
    for place, tag, count in rows.tolist():
        found[int(place)][int(tag)] = count
    return found


def save_joint(model: JointModel, path: PathLike, *, about: Mapping[str, Any] | None = None) -> None:
    """Writes a parser, a tagger and the weight of the tagger into one file; it is there completely or not at all."""
    kind = next((kind for kind, (made, _, _) in TAGGERS.items() if isinstance(model.tagger, made)), None)
    if kind is None:
        raise InputError(f"the tagger is a {type(model.tagger).__name__}: expected one that can be saved, {', '.join(TAGGERS)}.")
    header = {"format": JOINT_FORMAT, "version": JOINT_VERSION, "weight": float(model.weight), "tagger": kind, "about": dict(about or {})}
    parts = {"pcfg": packed(model.pcfg, pcfg_files.save_pcfg), "tagger": packed(model.tagger, TAGGERS[kind][1])}
    write_archive(os.fspath(path), header, parts, compressed=False)


def load_joint(path: PathLike) -> JointModel:
    """A parser with its tagger from a file; FormatError if it is damaged or of another kind."""
    header, arrays = read_archive(os.fspath(path), JOINT_FORMAT, JOINT_VERSION)
    kind = header.get("tagger")
    if kind not in TAGGERS:
        raise FormatError(f"{os.fspath(path)} has a tagger of the kind {kind!r}: expected {', '.join(TAGGERS)}.")
    pcfg = unpacked(arrays, "pcfg", pcfg_files.load_pcfg, path)
    tagger = unpacked(arrays, "tagger", TAGGERS[kind][2], path)
    try:
        return JointModel(pcfg, tagger, header.get("weight"))  # type: ignore[arg-type]
    except InputError as error:
        raise FormatError(f"{os.fspath(path)}: parser and tagger do not belong together: {error}") from None


def save_pair(model: LexicalPair, path: PathLike, *, about: Mapping[str, Any] | None = None) -> None:
    """Writes all parts into one file; it is there completely or not at all."""
    weights = {"weight": float(model.weight), "tag_weight": float(model.tag_weight)}
    header = {"format": PAIR_FORMAT, "version": PAIR_VERSION, **weights, "about": dict(about or {})}
    parts = {
        "lexical": packed(model.lexical, save_lexical),
        "dependency": packed(model.dependency, Parser.save),
        "tagger": packed(model.tagger, save_features),
    }
    write_archive(os.fspath(path), header, parts, compressed=False)


def load_pair(path: PathLike) -> LexicalPair:
    """A pair from a file; FormatError if it is damaged or of another kind."""
    header, arrays = read_archive(os.fspath(path), PAIR_FORMAT, PAIR_VERSION)
    lexical = unpacked(arrays, "lexical", load_lexical, path)
    dependency = unpacked(arrays, "dependency", Parser.load, path)
    tagger = unpacked(arrays, "tagger", load_features, path)
    try:
        return LexicalPair(lexical, dependency, tagger, header.get("weight"), header.get("tag_weight"))  # type: ignore[arg-type]
    except InputError as error:
        raise FormatError(f"{os.fspath(path)}: the parts do not belong together: {error}") from None


def save_features(tagger: FeatureTagger, path: PathLike) -> None:
    tagger.model.save(os.fspath(path))


def load_features(path: PathLike) -> FeatureTagger:
    """FormatError if the tagger is damaged, or one that joint models cannot have."""
    try:
        return FeatureTagger(Tagger.load(os.fspath(path)))
    except InputError as error:
        raise FormatError(f"{os.fspath(path)}: {error}") from None


TAGGERS: dict[str, tuple[type, Callable[[Any, PathLike], None], Callable[[PathLike], Any]]] = {
    "hmm": (HmmTagger, save_tagger, load_tagger),
    "features": (FeatureTagger, save_features, load_features),
}


def packed(model: Part, save: Callable[[Part, Path], None]) -> NDArray[np.uint8]:
    """The bytes of a model's own file, as an array. They are inverted: else a file that is cut off could pass for the file inside it."""
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder) / "model.npz")
        return ~np.frombuffer((Path(folder) / "model.npz").read_bytes(), dtype=np.uint8)


def unpacked(arrays: Mapping[str, Any], name: str, load: Callable[[Path], Part], path: PathLike) -> Part:
    """The model whose file is in an array; errors name the file and the part of it."""
    found = arrays.get(name)
    if found is None or found.dtype != np.uint8:
        raise FormatError(f"{os.fspath(path)} is not a complete model: the part {name!r} is missing.")
    with tempfile.TemporaryDirectory() as folder:
        inner = Path(folder) / "model.npz"
        inner.write_bytes((~found).tobytes())
        try:
            return load(inner)
        except FormatError as error:
            raise FormatError(str(error).replace(str(inner), f"{os.fspath(path)}, part {name!r}")) from None


def save_model(model: Model, path: PathLike, *, about: Mapping[str, Any] | None = None) -> None:
    """Writes any parser. `about` is for people, where the kind has a place for it: where the trees came from, scores."""
    if isinstance(model, JointModel):
        save_joint(model, path, about=about)
    elif isinstance(model, LexicalPair):
        save_pair(model, path, about=about)
    elif isinstance(model, LexicalModel):
        save_lexical(model, path, about=about)
    elif isinstance(model, PcfgModel):
        pcfg_files.save_pcfg(model, path)
    else:
        raise InputError(f"model is a {type(model).__name__}: expected a PcfgModel, JointModel, LexicalModel or LexicalPair.")


LOADERS: dict[str, Callable[[PathLike], Model]] = {
    pcfg_files.FORMAT: pcfg_files.load_pcfg,
    JOINT_FORMAT: load_joint,
    LEXICAL_FORMAT: load_lexical,
    PAIR_FORMAT: load_pair,
}


def load_model(path: PathLike) -> Model:
    """The parser in a file, of any kind; FormatError says what is wrong with the file."""
    kind = format_of(os.fspath(path))
    if kind is not None and kind not in LOADERS:
        raise FormatError(f"{os.fspath(path)} is of the kind {kind!r}: expected a constituency parser, {', '.join(LOADERS)}.")
    return LOADERS[kind or JOINT_FORMAT](path)  # what has no kind is refused, with the reason
