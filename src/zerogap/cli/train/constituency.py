"""`zerogap train constituency`: a parser from bracketed trees, alone or with partners that it must agree with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

KINDS = {
    "pcfg": "a markovised grammar with a lexicon: fast",
    "joint": "the grammar and a tagger that must agree on tags",
    "lexical": "a grammar with head words",
    "pair": "the grammar with head words and a dependency parser that must agree on heads",
    "three-way": "the grammar with head words, the dependency parser and the tagger at once",
}


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
    given = locals()
    from zerogap.cli.train.trees import TreeTrainingOptions, run

    run(TreeTrainingOptions(**given))
