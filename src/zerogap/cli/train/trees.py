"""Trains for `zerogap train constituency`: reads bracketed trees, trains a grammar and its partners, saves them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from zerogap.cli.terminal import check_choices, counted, progress
from zerogap.cli.train.constituency import KINDS
from zerogap.cli.train.files import check_target
from zerogap.constituency.evaluation import evaluate
from zerogap.constituency.files import save_model
from zerogap.constituency.grammars.pcfg import train
from zerogap.constituency.joint import model as joint_model
from zerogap.constituency.lexical import model as lexical_model
from zerogap.constituency.lexical import pair as lexical_pair
from zerogap.constituency.treebank.cleaning import cleaned
from zerogap.errors import FormatError, Infeasible, InputError
from zerogap.io.formats.brackets import read_trees
from zerogap.pipeline.tree_parsers import TreeParser
from zerogap.sequence.tagger.joint import JOINT_WEIGHT, train_feature_tagger

if TYPE_CHECKING:
    from zerogap.constituency.treebank.trees import Tree

TAGGERS = ("features", "hmm")


@dataclass(frozen=True, slots=True)
class TreeTrainingOptions:
    """The options of the command, as they were given."""

    trees: str
    output: Path
    kind: str
    dev: str | None
    weight: float | None
    tag_weight: float | None
    tagger: str
    epochs: int


def run(options: TreeTrainingOptions) -> None:
    check_choices(("--kind", options.kind, KINDS), ("--tagger", options.tagger, TAGGERS))
    for name, value, kinds in (
        ("--weight", options.weight, ("joint", "pair", "three-way")),
        ("--tag-weight", options.tag_weight, ("three-way",)),
    ):
        if value is not None and options.kind not in kinds:
            raise typer.BadParameter(f"{name} goes with --kind {' or '.join(kinds)}.")
    check_target(options.output)

    begin = time.perf_counter()
    examples = read(options.trees)
    held_out = [] if options.dev is None else read(options.dev)
    with progress("training"):
        try:
            model = TRAINERS[options.kind](
                examples, weight=options.weight, tag_weight=options.tag_weight, tagger=options.tagger, epochs=options.epochs
            )
        except InputError as error:
            raise FormatError(f"{options.trees}: {error}") from None
    about = {"trees": options.trees, "sentences": len(examples), "kind": options.kind}
    save_model(model, options.output, about=about)
    print(f"{counted(len(examples), 'tree')}: {options.output} ({time.perf_counter() - begin:.0f} s)", file=sys.stderr)
    if held_out:
        report(model, held_out)


def read(path: str) -> list[Tree]:
    """The cleaned trees of a file; FormatError if there are none."""
    found = [kept for tree in read_trees(path) if (kept := cleaned(tree)) is not None]
    if not found:
        raise FormatError(f"{path} holds no trees: expected some such as (S (NP (NNS dogs)) (VP (VBP bark))).")
    return found


def report(model: Any, trees: Sequence[Tree]) -> None:
    parser, found, proven = TreeParser(model), [], 0
    with progress("parsing", total=len(trees)) as steps:
        for tree in trees:
            try:
                parsed = parser.parse(tree.words())
                found.append(parsed.tree)
                proven += parsed.solution.status == "optimal"
            except Infeasible:
                found.append(None)
            steps.advance()
    print(f"development: {evaluate(trees, found)}; {100 * proven / len(trees):.1f}% proven optimal", file=sys.stderr)


def train_pcfg(trees: Sequence[Tree], **_: Any) -> Any:
    return train(trees)


def train_joint(trees: Sequence[Tree], *, weight: float | None, tagger: str, **_: Any) -> Any:
    if tagger == "hmm":
        return joint_model.train_joint(trees, weight=joint_model.WEIGHT if weight is None else weight)
    partner = train_feature_tagger((tree.words(), tree.tags()) for tree in trees)
    return joint_model.train_joint(trees, weight=JOINT_WEIGHT if weight is None else weight, tagger=partner)


def train_lexical(trees: Sequence[Tree], **_: Any) -> Any:
    return lexical_model.train_lexical(trees)


def train_pair(trees: Sequence[Tree], *, weight: float | None, epochs: int, **_: Any) -> Any:
    return lexical_pair.train_pair(trees, weight=lexical_pair.WEIGHT if weight is None else weight, epochs=epochs)


def train_three(trees: Sequence[Tree], *, weight: float | None, tag_weight: float | None, epochs: int, **_: Any) -> Any:
    weights = {"weight": lexical_pair.WEIGHT if weight is None else weight}
    weights["tag_weight"] = lexical_pair.TAG_WEIGHT if tag_weight is None else tag_weight
    return lexical_pair.train_pair(trees, epochs=epochs, **weights)


TRAINERS: dict[str, Callable[..., Any]] = {
    "pcfg": train_pcfg,
    "joint": train_joint,
    "lexical": train_lexical,
    "pair": train_pair,
    "three-way": train_three,
}
