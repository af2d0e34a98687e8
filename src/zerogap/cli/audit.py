"""`zerogap audit`: how often and by how much another decoder missed the optimum."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zerogap.cli.options import Threads
from zerogap.cli.translate import options as translation


def audit_command(
    other: Annotated[
        str,
        typer.Argument(help="What the other decoder found: an n-best list, or scores, one a line or a column of a table.", metavar="OTHER"),
    ],
    report: Annotated[
        Path | None,
        typer.Option(help="Proven scores, as zerogap translate --report wrote them.", metavar="FILE.tsv", rich_help_panel="Input"),
    ] = None,
    input: Annotated[
        str | None, typer.Option("--input", help="Without --report: the sentences, to decode them now.", metavar="FILE")
    ] = None,
    phrase_table: translation.PhraseTableOption = None,
    grammar: translation.GrammarOption = None,
    lm: translation.LanguageModelOption = None,
    weights: translation.WeightsOption = None,
    config: translation.ConfigOption = None,
    distortion_limit: translation.DistortionLimit = None,
    reordering: translation.Reordering = "limit",
    max_span: translation.MaxSpan = None,
    column: Annotated[str | None, typer.Option(help="The column of a table that has the scores, by its name.", metavar="NAME")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write every sentence into this table.", metavar="FILE.tsv", rich_help_panel="Output"),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(help="Smaller differences do not count: other programs round scores.", min=0.0, metavar="SCORE")
    ] = 1e-3,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds for each sentence.", min=0.0, metavar="SECONDS", rich_help_panel="Search")
    ] = None,
    threads: Threads = None,
) -> None:
    """Audit the search of another decoder: compare its scores with proven optima of the same model.

    [bold]zerogap translate test.de --config moses.ini --report proven.tsv -o test.en[/bold]

    [bold]zerogap audit moses.nbest --report proven.tsv[/bold]

    [bold]zerogap audit scores.tsv --column pop1000 --input test.zh --grammar rules.gz --lm lm.arpa.gz --weights weights.txt[/bold]

    Of an n-best list, the best candidate of every sentence counts. With a phrase table, candidates that show their segments (|0-1|) are
    scored again by the model, so that nothing is left to rounding or constants.

    The exit code is 3 if a sentence could not be decided, as its optimum is not proven.
    """
    given = locals()
    from zerogap.cli.translate.audit import AuditOptions, run

    run(AuditOptions(**given))
