"""`zerogap parse`: text or treebank files in, the best trees out, and a proof of each if asked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zerogap.cli import options


def parse_command(
    input: Annotated[
        str,
        typer.Argument(
            help="A text in quotation marks; or a file: .conllu, .conllx or .txt, .gz or not; - for standard input.", metavar="INPUT"
        ),
    ],
    model: options.Pipeline = "en",
    tagger: options.TaggerOption = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write here instead of to standard output.", metavar="FILE", rich_help_panel="Output"),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            help="conllu, json (a line for every sentence) or tree (a drawing). A text on a terminal is drawn.",
            metavar="FORMAT",
            rich_help_panel="Output",
        ),
    ] = None,
    tags: options.Tags = "keep",
    lines: Annotated[
        bool, typer.Option("--lines", help="In text, every line end is the end of a sentence.", rich_help_panel="Input")
    ] = False,
    certificates: Annotated[
        Path | None,
        typer.Option(
            help="Write a line of JSON for every sentence: problem, solution and certificate.",
            metavar="FILE.jsonl",
            rich_help_panel="Output",
        ),
    ] = None,
    on_error: options.OnError = "stop",
    input_format: Annotated[
        str,
        typer.Option(
            help="auto, text, conllu, conllx, or treebank for one of the two. auto goes by the suffix, then by what the file begins with.",
            metavar="FORMAT",
            rich_help_panel="Input",
        ),
    ] = "auto",
    fast: Annotated[
        bool, typer.Option("--fast", help="The same as --method cascade: trees without a proof.", rich_help_panel="Search")
    ] = False,
    method: Annotated[
        str,
        typer.Option(
            help="auto; cascade: without a proof, at most a third faster with the model en, and 0.15 points of UAS less; exact-cascade:"
            " the best of all trees, not only of those that the pruner leaves, for models trained with --penalties, or with --cascade"
            " and --bounds (en is not).",
            metavar="METHOD",
            rich_help_panel="Search",
        ),
    ] = "auto",
    constituency: options.Constituency = None,
    glue: options.Glue = False,
    engine: options.Engine = None,
    threads: options.Threads = None,
) -> None:
    """Parse text or a treebank, and prove that no tree scores higher.

    Text is cut into sentences and words, and tagged. Files are written as they were, with new heads and relations.

    Every sentence gets a comment that says whether its tree is proven to be the best.

    [bold]zerogap parse "Time flies like an arrow."[/bold]

    [bold]zerogap parse article.txt -o article.conllu[/bold]

    [bold]cat article.txt | zerogap parse - --format json[/bold]

    [bold]zerogap parse --constituency trees.npz article.txt[/bold] gives constituency trees (--format brackets, tree, json or svg)

    [bold]zerogap parse corpus.conllu --fast -o parsed.conllu[/bold] (by a cascade, without a proof)

    [bold]zerogap parse test.conllu --model mine.npz -o parsed.conllu --certificates proofs.jsonl[/bold]

    [bold]zerogap parse "corpus/*.txt.gz" --engine local -o parsed[/bold] (many files: see [bold]zerogap run[/bold])

    Then check: [bold]zerogap verify proofs.jsonl[/bold], [bold]zerogap evaluate dependency test.conllu parsed.conllu[/bold]
    """
    given = locals()
    from zerogap.cli.parse.dependency import ParseOptions, run

    run(ParseOptions(**given))
