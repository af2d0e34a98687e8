"""`zerogap train dependency` and `zerogap train tagger`: a parser and its tagger from a treebank."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zerogap.cli import options

Train = Annotated[str, typer.Argument(help="A treebank: CoNLL-U or CoNLL-X, .gz or not.", metavar="TRAIN")]
Output = Annotated[Path, typer.Option("--output", "-o", help="Write the model here; one .npz file.", metavar="MODEL")]
Development = Annotated[
    str | None,
    typer.Option(
        "--dev", "--development", help="Another treebank, to report on after every epoch.", metavar="FILE", rich_help_panel="Input"
    ),
]
Seed = Annotated[
    int,
    typer.Option(help="For the order of sentences; the same seed gives the same model.", min=0, metavar="N", rich_help_panel="Learning"),
]


def train_dependency_command(
    treebank: Train,
    output: Output,
    development: Development = None,
    order: Annotated[
        str,
        typer.Option(
            "--model",
            help="What is scored: first (arcs); sibling (pairs of modifiers too); grandparent (arcs and the head's head); grandsibling"
            " (all of them).",
            metavar="ORDER",
            rich_help_panel="Model",
        ),
    ] = "grandsibling",
    algorithm: Annotated[
        str,
        typer.Option(
            "--algorithm",
            "--learner",
            help="mira and perceptron correct the trees that are wrong. crf and bp make right trees likely: crf exactly, for --model first,"
            " bp by loopy belief propagation, for the others.",
            metavar="NAME",
            rich_help_panel="Learning",
        ),
    ] = "mira",
    columns: Annotated[
        str,
        typer.Option(
            help="What to learn from. lemma and feats help, but then they must be there in what is to be parsed.",
            metavar="NAMES",
            rich_help_panel="Input",
        ),
    ] = "form,upos,xpos",
    jackknife: Annotated[
        int | None,
        typer.Option(
            help="Learn from tags as a tagger finds them that was trained on the other parts, of N: for a parser of text.",
            min=2,
            metavar="N",
            rich_help_panel="Input",
        ),
    ] = None,
    epochs: Annotated[int, typer.Option(help="Passes over the treebank.", min=0, metavar="N", rich_help_panel="Learning")] = 10,
    seed: Seed = 0,
    threshold: Annotated[
        float,
        typer.Option(
            help="Arcs that are less likely, compared with the word's likeliest one, are pruned; 0 prunes none.",
            min=0.0,
            max=1.0,
            metavar="SHARE",
            rich_help_panel="Model",
        ),
    ] = 1e-3,
    step: Annotated[float, typer.Option(help="The largest step of mira.", min=0.0, metavar="SIZE", rich_help_panel="Learning")] = 1.0,
    patience: Annotated[
        int | None,
        typer.Option(
            help="With --dev, stop after so many epochs that are not better than the best.", min=1, metavar="N", rich_help_panel="Learning"
        ),
    ] = None,
    max_features: Annotated[
        int | None, typer.Option(help="Keep no more weights than this, the largest.", min=1, metavar="N", rich_help_panel="Model")
    ] = None,
    min_count: Annotated[
        int,
        typer.Option(
            help="Features that the right trees have less often get no weight; 0 also learns from wrong trees.",
            min=0,
            metavar="N",
            rich_help_panel="Model",
        ),
    ] = 0,
    non_projective: Annotated[
        bool, typer.Option("--non-projective", "--nonprojective", help="Arcs may cross.", rich_help_panel="Model")
    ] = False,
    relaxed: Annotated[
        bool,
        typer.Option(
            "--relaxed", help="With --non-projective: heads learn to choose modifiers without any tree. Faster.", rich_help_panel="Learning"
        ),
    ] = False,
    multi_root: Annotated[bool, typer.Option("--multi-root", help="Trees may have several roots.", rich_help_panel="Model")] = False,
    no_labels: Annotated[bool, typer.Option("--no-labels", help="Learn heads only, no relations.", rich_help_panel="Model")] = False,
    factors: Annotated[
        str | None,
        typer.Option(
            help="Score sets of arcs too, and decode exactly by branch and bound: families (grandchildren, great-grandchildren, siblings,"
            " tri-siblings, comb) and files of patterns, with commas.",
            metavar="NAMES",
            rich_help_panel="Model",
        ),
    ] = None,
    factor_epochs: Annotated[
        int, typer.Option(help="With --factors: passes in which they are learned.", min=0, metavar="N", rich_help_panel="Learning")
    ] = 3,
    heads: Annotated[
        int,
        typer.Option(help="With --factors: how many candidate heads a word has; 0 for all.", min=0, metavar="N", rich_help_panel="Model"),
    ] = 10,
    bounds: Annotated[
        bool,
        typer.Option(
            "--bounds",
            help="Keep bounds of the weights of larger parts too: then few of many parts have to be scored.",
            rich_help_panel="Model",
        ),
    ] = False,
    penalties: Annotated[
        bool,
        typer.Option(
            "--penalties",
            help="Learn larger parts that only cost, and fewer features of arcs: nearly as accurate, and zerogap parse"
            " --method exact-cascade proves the best of all trees many times faster.",
            rich_help_panel="Model",
        ),
    ] = False,
    cascade: Annotated[
        bool,
        typer.Option(
            "--cascade",
            help="With --dev: learn models too that are faster, each on what the one before leaves, for zerogap parse --fast.",
            rich_help_panel="Model",
        ),
    ] = False,
    pruning_error: Annotated[
        float,
        typer.Option(
            help="With --cascade: of the right arcs of --dev, how many may be pruned.",
            min=0.0,
            max=1.0,
            metavar="SHARE",
            rich_help_panel="Model",
        ),
    ] = 0.0215,
    checkpoints: Annotated[
        Path | None,
        typer.Option(
            help="Keep the state here after every epoch; training that was interrupted goes on from it.",
            metavar="FOLDER",
            rich_help_panel="Running",
        ),
    ] = None,
    shards: Annotated[
        int,
        typer.Option(
            help="With mira or perceptron: learn trees on so many parts of the treebank at once, and mix the weights after every epoch.",
            min=1,
            metavar="N",
            rich_help_panel="Running",
        ),
    ] = 1,
    engine: Annotated[
        str, typer.Option(help="With --shards: local (processes) or ray.", metavar="ENGINE", rich_help_panel="Running")
    ] = "local",
    templates: Annotated[
        Path | None,
        typer.Option(
            help="A file with a feature template per line, such as arc: head.form+mod.upos.", metavar="FILE", rich_help_panel="Model"
        ),
    ] = None,
    on_error: options.OnError = "stop",
) -> None:
    """Train a dependency parser from a treebank.

    [bold]zerogap train dependency train.conllu --dev dev.conllu -o parser.npz[/bold]

    [bold]zerogap train dependency train.conllu -o fast.npz --model first --epochs 5[/bold]

    [bold]zerogap train dependency train.conllu -o crossing.npz --model sibling --non-projective[/bold] for arcs that cross.

    [bold]zerogap train dependency train.conllu -o likely.npz --model grandparent --learner bp --non-projective[/bold] for likelihood.

    [bold]zerogap train dependency train.conllu -o rich.npz --model sibling --factors siblings,grandchildren,comb[/bold] for sets of arcs.

    [bold]zerogap train dependency train.conllu --dev dev.conllu -o quick.npz --cascade[/bold] for zerogap parse --fast.

    [bold]zerogap train dependency train.conllu --dev dev.conllu -o sure.npz --penalties[/bold] for zerogap parse --method exact-cascade.

    [bold]zerogap train dependency train.conllu --dev dev.conllu -o big.npz --checkpoints state[/bold] can be interrupted and run again.

    For a parser of text, put it into a folder with a tagger:

    [bold]zerogap train dependency train.conllu -o mine/parser.npz --jackknife 10[/bold]

    [bold]zerogap train tagger train.conllu -o mine/tagger.npz[/bold]

    Then use them: [bold]zerogap parse article.txt --model mine[/bold]
    """
    given = locals()
    from zerogap.cli.train.parser import TrainOptions, run

    run(TrainOptions(**given))
