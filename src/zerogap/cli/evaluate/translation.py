"""`zerogap evaluate translation`: BLEU and chrF, and whether one system is better than another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zerogap.cli.terminal import placed


def evaluate_translation_command(
    reference: Annotated[Path, typer.Argument(help="The right translations, one a line.", metavar="REFERENCE")],
    translations: Annotated[list[Path], typer.Argument(help="One or two files of translations, one a line.", metavar="TRANSLATIONS")],
    tokenize: Annotated[
        str, typer.Option(help="A tokeniser of sacrebleu, such as 13a or zh; none for text that is tokenised.", metavar="NAME")
    ] = "none",
) -> None:
    """Compute BLEU and chrF with sacrebleu (pip install sacrebleu).

    [bold]zerogap evaluate translation test.ref test.en[/bold]

    [bold]zerogap evaluate translation test.ref exact.en beam.en[/bold] also tells whether the first is better, by paired bootstrap.
    """
    from zerogap.translation.evaluation import compare, evaluate

    if len(translations) > 2:
        raise typer.BadParameter("expected one or two files of translations.")
    references = [read_text(reference)]
    found = [read_text(path) for path in translations]
    for path, lines in zip(translations, found, strict=True):
        with placed(f"{reference} and {path}"):
            scored = evaluate(references, lines, tokenize=tokenize)
        print(f"{path}\n{scored}" if len(found) > 1 else scored)
    if len(found) == 2:
        difference = compare(references, found[0], found[1], tokenize=tokenize)
        interval = f"95% {difference.low:+.2f} to {difference.high:+.2f}, p = {difference.p:.3f}"
        print(f"the first is {difference.difference:+.2f} BLEU better ({interval}, paired bootstrap)")


def read_text(path: Path) -> list[str]:
    from zerogap.io.formats.lines import read_lines

    return [line.rstrip("\r\n") for _, line in read_lines(path)]
