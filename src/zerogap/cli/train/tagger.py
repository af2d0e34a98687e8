"""`zerogap train tagger`: a tagger of parts of speech from a treebank."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from zerogap.cli import options
from zerogap.cli.terminal import counted, placed, progress, size_of
from zerogap.cli.train.dependency import Development, Output, Seed, Train
from zerogap.pipeline.treebanks import Skipped, read_tagged

if TYPE_CHECKING:
    from zerogap.sequence.tagger.training import Progress as TaggerProgress


def train_tagger_command(
    treebank: Train,
    output: Output,
    development: Development = None,
    epochs: Annotated[int, typer.Option(help="Passes over the treebank.", min=0, metavar="N")] = 4,
    seed: Seed = 0,
    on_error: options.OnError = "stop",
) -> None:
    """Train a tagger of parts of speech, UPOS and XPOS, from a treebank.

    [bold]zerogap train tagger train.conllu --dev dev.conllu -o mine/tagger.npz[/bold]

    Beside a parser it makes a pipeline: [bold]zerogap parse article.txt --model mine[/bold]
    """
    from zerogap.cli.train.files import check_target
    from zerogap.sequence.tagger.training import train_tagger

    check_target(output)
    begin = time.perf_counter()
    skipped = Skipped()
    with progress("reading"):
        given = read_tagged(treebank, on_error=on_error, skipped=skipped)
        held_out = [] if development is None else read_tagged(development, on_error=on_error, skipped=skipped)
    skipped.tell()

    def said(done: TaggerProgress) -> str:
        accuracy = "" if done.upos is None or done.xpos is None else f", dev UPOS {100 * done.upos:.2f}%, XPOS {100 * done.xpos:.2f}%"
        print(f"epoch {done.epoch} of {epochs}: loss {done.loss:.3f} per word{accuracy}", file=sys.stderr)
        return f"training: {done.epoch} of {counted(epochs, 'epoch')} done"

    with progress("training") as steps, placed(treebank):
        tagger = train_tagger(given, development=held_out, epochs=epochs, seed=seed, report=lambda done: steps.advance(said(done)))
        tagger.save(output)
    words = sum(len(forms) for forms, _, _ in given)
    print(
        f"{output}: {counted(len(tagger.tags), 'tag')}, from {counted(len(given), 'sentence')} of {words:,} words in"
        f" {counted(epochs, 'epoch')}; {size_of(output)} ({time.perf_counter() - begin:.1f} s)",
        file=sys.stderr,
    )
