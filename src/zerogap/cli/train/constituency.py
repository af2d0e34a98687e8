"""`zerogap train constituency`: a parser from bracketed trees, alone or with partners that it must agree with."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zerogap.cli.terminal import check_choices, counted, progress
from zerogap.cli.train.sequence import check_target
from zerogap.errors import FormatError, InputError

if TYPE_CHECKING:
    from zerogap.constituency.treebank.trees import Tree

KINDS = {
    "pcfg": "a markovised grammar with a lexicon: fast",
    "joint": "the grammar and a tagger that must agree on tags",
    "lexical": "a grammar with head words",
    "pair": "the grammar with head words and a dependency parser that must agree on heads",
    "three-way": "the grammar with head words, the dependency parser and the tagger at once",
}
TAGGERS = ("features", "hmm")


def train_constituency_command(
    trees: Annotated[str, typer.Argument(help="Bracketed trees, as the Penn Treebank has them, .gz or not.", metavar="TREES")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Write the model here; one .npz file.", metavar="MODEL")],
    kind: Annotated[str, typer.Option(help=f"{'; '.join(f'{name}: {what}' for name, what in KINDS.items())}.", metavar="KIND")] = "joint",
    dev: Annotated[str | None, typer.Option("--dev", "--development", help="More trees, to report on.", metavar="FILE")] = None,
    weight: Annotated[
        float | None, typer.Option(help="Of the tagger (joint), or of the dependency parser (pair, three-way).", min=0.0, metavar="NUMBER")
    ] = None,
    tag_weight: Annotated[float | None, typer.Option(help="Of the tagger (three-way).", min=0.0, metavar="NUMBER")] = None,
    tagger: Annotated[str, typer.Option(help="Of a joint model: features (log-linear) or hmm.", metavar="NAME")] = "features",
    epochs: Annotated[int, typer.Option(help="Passes of the dependency parser over the trees.", min=1, metavar="N")] = 5,
) -> None:
    """Train a constituency parser.

    Function tags and traces are left out of the trees.

    [bold]zerogap train constituency train.mrg -o trees.npz --dev dev.mrg[/bold]

    [bold]zerogap train constituency train.mrg -o exact.npz --kind pair[/bold] takes minutes, and parses better.

    Then use it: [bold]zerogap parse --constituency trees.npz "Time flies like an arrow."[/bold]
    """
    check_choices(("--kind", kind, KINDS), ("--tagger", tagger, TAGGERS))
    for name, value, kinds in (("--weight", weight, ("joint", "pair", "three-way")), ("--tag-weight", tag_weight, ("three-way",))):
        if value is not None and kind not in kinds:
            raise typer.BadParameter(f"{name} goes with --kind {' or '.join(kinds)}.")
    check_target(output)
    from zerogap.constituency.files import save_model

    begin = time.perf_counter()
    examples = read(trees)
    held_out = [] if dev is None else read(dev)
    with progress("training"):
        try:
            model = TRAINERS[kind](examples, weight=weight, tag_weight=tag_weight, tagger=tagger, epochs=epochs)
        except InputError as error:
            raise FormatError(f"{trees}: {error}") from None
    about = {"trees": trees, "sentences": len(examples), "kind": kind}
    save_model(model, output, about=about)
    print(f"{counted(len(examples), 'tree')}: {output} ({time.perf_counter() - begin:.0f} s)", file=sys.stderr)
    if held_out:
        report(model, held_out)


def read(path: str) -> list[Tree]:
    """The cleaned trees of a file; FormatError if there are none."""
    from zerogap.constituency.treebank.cleaning import cleaned
    from zerogap.io.formats.brackets import read_trees

    found = [kept for tree in read_trees(path) if (kept := cleaned(tree)) is not None]
    if not found:
        raise FormatError(f"{path} holds no trees: expected some such as (S (NP (NNS dogs)) (VP (VBP bark))).")
    return found


def report(model: Any, trees: Sequence[Tree]) -> None:
    from zerogap.constituency.evaluation import evaluate
    from zerogap.errors import Infeasible
    from zerogap.pipeline.tree_parsers import TreeParser

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
    from zerogap.constituency.grammars.pcfg import train

    return train(trees)


def train_joint(trees: Sequence[Tree], *, weight: float | None, tagger: str, **_: Any) -> Any:
    from zerogap.constituency.joint import model as joint_model
    from zerogap.sequence.tagger.joint import JOINT_WEIGHT, train_feature_tagger

    if tagger == "hmm":
        return joint_model.train_joint(trees, weight=joint_model.WEIGHT if weight is None else weight)
    partner = train_feature_tagger((tree.words(), tree.tags()) for tree in trees)
    return joint_model.train_joint(trees, weight=JOINT_WEIGHT if weight is None else weight, tagger=partner)


def train_lexical(trees: Sequence[Tree], **_: Any) -> Any:
    from zerogap.constituency.lexical import model as lexical_model

    return lexical_model.train_lexical(trees)


def train_pair(trees: Sequence[Tree], *, weight: float | None, epochs: int, **_: Any) -> Any:
    from zerogap.constituency.lexical import pair as lexical_pair

    return lexical_pair.train_pair(trees, weight=lexical_pair.WEIGHT if weight is None else weight, epochs=epochs)


def train_three(trees: Sequence[Tree], *, weight: float | None, tag_weight: float | None, epochs: int, **_: Any) -> Any:
    from zerogap.constituency.lexical import pair as lexical_pair

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
