"""Training of dependency parsers: a random field that prunes, one of several learners for the tree, MIRA for the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from zerogap.dependency.parser.parser import Parser, sharing_tokens
from zerogap.dependency.parser.templates import ARCS, FEW_ARCS, fill_in, known_columns
from zerogap.dependency.parser.templates import ORDERS as TEMPLATES
from zerogap.dependency.sentence import Sentence
from zerogap.dependency.training.labels import train_labels
from zerogap.dependency.training.options import TrainingOptions
from zerogap.dependency.training.random_field import train_pruner
from zerogap.dependency.training.trees import train_trees
from zerogap.errors import InputError, InvalidStructure
from zerogap.features.parts.keys import attributes_of
from zerogap.features.parts.templates import PartTemplate, parse_part_templates
from zerogap.problems.dependency.problem import check_acyclic


def train(
    sentences: Sequence[Sentence], options: TrainingOptions | None = None, *, development: Sequence[Sentence] = (), **changes: Any
) -> Parser:
    """A parser from sentences with trees.

    With `development`, the best epoch on it is taken. Options are those of `TrainingOptions`, in a record or by their names:
    train(sentences, epochs=5) is train(sentences, TrainingOptions(epochs=5)).
    """
    options = replace(options or TrainingOptions(), **changes)
    order, single_root = options.order, options.single_root
    train_set = checked(sentences, single_root, "sentences")
    held_out = checked(development, single_root, "development") if development else []
    columns = known_columns(train_set)
    text = TEMPLATES[order] if options.penalties is None else TEMPLATES[order].replace(ARCS, FEW_ARCS)
    parsed = parse_part_templates(fill_in(text, columns) if options.templates is None else options.templates)
    check_columns(parsed, [*train_set, *held_out])
    labelled = [sentence for sentence in train_set if sentence.labels is not None]
    if options.labels and 0 < len(labelled) < len(train_set):
        bare = next(sentence for sentence in train_set if sentence.labels is None)
        raise InputError(
            f"{bare.name or 'a sentence'} has no labels, others have: expected labels everywhere, or labels=False (--no-labels)."
        )
    options.make_folder()
    pruner, candidates, held_out_candidates = None, None, None
    if order != "first" and options.threshold > 0.0:
        pruner, candidates, held_out_candidates = train_pruner(train_set, held_out, columns, options)
    model = train_trees(train_set, held_out, parsed, candidates, held_out_candidates, options)
    judged = [sentence for sentence in held_out if sentence.labels is not None]
    labeller = train_labels(train_set, judged, columns, options) if options.labels and labelled else None
    return sharing_tokens(Parser(order, model, pruner, options.threshold, labeller, single_root, options.projective))


def check_columns(templates: Sequence[PartTemplate], sentences: Sequence[Sentence]) -> None:
    """Raises InputError unless every sentence has the columns that the templates read."""
    wanted = dict.fromkeys(attribute.column for attribute in attributes_of(templates))
    for i, sentence in enumerate(sentences):
        if not wanted.keys() <= sentence.columns.keys():
            where = sentence.name or f"sentences[{i}]"
            raise InputError(f"{where} has the columns {', '.join(sentence.columns)}: the templates read {', '.join(wanted)}.")


def checked(sentences: Sequence[Sentence], single_root: bool, name: str) -> list[Sentence]:
    """Sentences with words, whose heads are trees; InputError names the first that is not."""
    found = []
    for i, sentence in enumerate(sentences):
        if not isinstance(sentence, Sentence):
            raise InputError(f"{name}[{i}] is a {type(sentence).__name__}: expected a Sentence.")
        where = sentence.name or f"{name}[{i}]"
        if sentence.heads is None:
            raise InputError(f"{where} has no heads: training needs a tree for every sentence.")
        heads = np.array(sentence.heads, dtype=np.int64)
        if len(heads) == 0:
            continue
        if heads.min() < 0 or heads.max() > len(heads):
            raise InputError(f"{where}: a head is {int(heads.max())}: expected 0 to {len(heads)}.")
        try:
            check_acyclic(heads)
        except InvalidStructure as error:
            raise InputError(f"{where} is not a tree: {error}") from None
        roots = np.flatnonzero(heads == 0) + 1
        if single_root and len(roots) > 1:
            raise InputError(
                f"{where} has {len(roots)} roots (words {', '.join(map(str, roots[:5]))}): expected one; single_root=False (--multi-root)"
                " allows more."
            )
        found.append(sentence)
    if not found:
        raise InputError(f"{name} has no words: expected at least one sentence with a tree.")
    return found
