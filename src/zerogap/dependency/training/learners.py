"""Training of dependency parsers: a random field that prunes, one of several learners for the tree, MIRA for the labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from zerogap.dependency.parser.parser import ORDERS, Parser, sharing_tokens
from zerogap.dependency.parser.templates import ARCS, FEW_ARCS, fill_in, known_columns
from zerogap.dependency.parser.templates import ORDERS as TEMPLATES
from zerogap.dependency.sentence import Sentence
from zerogap.dependency.training.labels import train_labels
from zerogap.dependency.training.options import Options, Progress
from zerogap.dependency.training.random_field import train_pruner
from zerogap.dependency.training.trees import train_trees
from zerogap.errors import InputError, InvalidStructure, UnknownMethod
from zerogap.features.parts.keys import attributes_of
from zerogap.features.parts.templates import PartTemplate, parse_part_templates
from zerogap.learning.mixing import Spread, one_by_one
from zerogap.problems.dependency.problem import check_acyclic

__all__ = ["Progress", "train"]

ALGORITHMS = ("mira", "perceptron", "crf", "bp")


def train(
    sentences: Sequence[Sentence],
    *,
    order: str = "grandsibling",
    algorithm: str = "mira",
    development: Sequence[Sentence] = (),
    epochs: int = 10,
    step: float = 1.0,
    seed: int = 0,
    projective: bool = True,
    single_root: bool = True,
    relaxed: bool = False,
    threshold: float = 1e-3,
    patience: int | None = None,
    templates: str | Sequence[str] | None = None,
    labels: bool = True,
    min_count: int = 0,
    most_features: int | None = None,
    checkpoints: str | Path | None = None,
    shards: int = 1,
    spread: Spread = one_by_one,
    penalties: float | None = None,
    report: Callable[[Progress], None] | None = None,
) -> Parser:
    """A parser from sentences with trees; with `labels`, those of the sentences are learned too.

    `algorithm` is mira, perceptron, or what maximises the likelihood of the trees: crf for order first, bp, which does it approximately,
    for the others (Smith & Eisner 2008). `step` is the largest step of MIRA, `threshold` what the pruner keeps (see `Parser`; 0: all),
    `templates` replaces the default features of the tree. Features that occur less than `min_count` times in gold trees get no weight (0:
    features of wrong trees get weights too, but from crf), and the `most_features` largest weights are kept. With `development`, the best
    epoch is taken, and training stops after `patience` epochs without a better one. `checkpoints` is a folder: a run that was interrupted
    goes on from there. With `projective=False` arcs may cross; with `relaxed` heads then learn to choose their modifiers without any tree,
    which is faster (Rush 2014, section 6.6). With several `shards`, trees are learned on all of them at once, and weights are mixed after
    every epoch (McDonald et al. 2010); `spread` says who does them, as `zerogap.batch.spreading.spread_over` gives it.

    With `penalties`, larger parts only cost (see `penalties`, which has a number for it), so that `ExactCascade` is fast; there are fewer
    templates of arcs then, unless `templates` are given.
    """
    for name, given, known in (("order", order, ORDERS), ("algorithm", algorithm, ALGORITHMS)):
        if given not in known:
            raise UnknownMethod(name, given, known)
    if algorithm == "crf" and order != "first":
        raise InputError(f"algorithm 'crf' was given with order {order!r}: expected order 'first'; bp does the same for larger orders.")
    if algorithm == "bp" and order == "first":
        raise InputError("algorithm 'bp' was given with order 'first': expected a larger order; crf does the same for 'first', exactly.")
    if relaxed and (projective or order == "first" or algorithm not in ("mira", "perceptron")):
        raise InputError(
            f"relaxed=True was given with order {order!r}, algorithm {algorithm!r} and projective={projective}: expected an order above"
            " 'first', 'mira' or 'perceptron', and projective=False."
        )
    if isinstance(shards, bool) or not isinstance(shards, int) or shards < 1 or (shards > 1 and algorithm not in ("mira", "perceptron")):
        raise InputError(f"shards is {shards!r} with algorithm {algorithm!r}: expected 1, or more with 'mira' or 'perceptron'.")
    if penalties is not None:
        check_penalties(penalties, order, algorithm, projective=projective)
    for name, number in (("epochs", epochs), ("seed", seed), ("min_count", min_count)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise InputError(f"{name} is {number!r}: expected an integer, 0 or more.")
    if not isinstance(step, int | float) or not step > 0.0:
        raise InputError(f"step is {step!r}: expected a number above 0.")
    if not isinstance(threshold, int | float) or not 0.0 <= threshold <= 1.0:
        raise InputError(f"threshold is {threshold!r}: expected a number from 0, which prunes nothing, to 1.")
    train_set = checked(sentences, single_root, "sentences")
    held_out = checked(development, single_root, "development") if development else []
    columns = known_columns(train_set)
    text = TEMPLATES[order] if penalties is None else TEMPLATES[order].replace(ARCS, FEW_ARCS)
    lines = fill_in(text, columns) if templates is None else templates
    parsed = parse_part_templates(lines)
    check_columns(parsed, [*train_set, *held_out])
    labelled = [sentence for sentence in train_set if sentence.labels is not None]
    if labels and 0 < len(labelled) < len(train_set):
        bare = next(sentence for sentence in train_set if sentence.labels is None)
        raise InputError(
            f"{bare.name or 'a sentence'} has no labels, others have: expected labels everywhere, or labels=False (--no-labels)."
        )
    folder = None if checkpoints is None else Path(checkpoints)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    options = Options(
        epochs, seed, step, projective, single_root, threshold, min_count, patience, folder, report, relaxed, shards, spread, penalties
    )
    pruner, candidates, held_out_candidates = None, None, None
    if order != "first" and threshold > 0.0:
        pruner, candidates, held_out_candidates = train_pruner(train_set, held_out, columns, options)
    model = train_trees(train_set, held_out, parsed, order, algorithm, candidates, held_out_candidates, options, most_features)
    judged = [sentence for sentence in held_out if sentence.labels is not None]
    labeller = train_labels(train_set, judged, columns, options, most_features) if labels and labelled else None
    return sharing_tokens(Parser(order, model, pruner, threshold, labeller, single_root, projective))


def check_penalties(penalties: float, order: str, algorithm: str, *, projective: bool) -> None:
    if isinstance(penalties, bool) or not isinstance(penalties, int | float) or not 0.0 <= penalties < np.inf:
        raise InputError(f"penalties is {penalties!r}: expected a number, 0 or more.")
    if order == "first" or algorithm not in ("mira", "perceptron") or not projective:
        raise InputError(
            f"penalties={penalties} was given with order {order!r}, algorithm {algorithm!r} and projective={projective}: expected an order"
            " above 'first', 'mira' or 'perceptron', and projective=True."
        )


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
