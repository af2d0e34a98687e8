"""`zerogap serve`: every task over HTTP, with a page that shows how gaps close."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerogap.cli import options
from zerogap.cli.translate import options as translation
from zerogap.errors import FormatError

if TYPE_CHECKING:
    from zerogap.cli.translate.models import ModelFiles
    from zerogap.serve.models import Models

TOKEN = "ZEROGAP_TOKEN"
NONE = "none"


def serve_command(
    host: Annotated[
        str,
        typer.Option(
            help="The address to listen at; any but this machine's own needs a token.", metavar="ADDRESS", rich_help_panel="Address"
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 takes any that is free.", min=0, max=65535, rich_help_panel="Address")] = 8000,
    model: options.Pipeline = "en",
    tagger: options.TaggerOption = None,
    labels: Annotated[
        Path | None, typer.Option(help="A model of labels, as zerogap train sequence writes it.", metavar="FILE", rich_help_panel="Model")
    ] = None,
    trees: Annotated[
        Path | None, typer.Option(help="A constituency model or grammar, for trees of phrases.", metavar="FILE", rich_help_panel="Model")
    ] = None,
    phrase_table: translation.PhraseTableOption = None,
    grammar: translation.GrammarOption = None,
    lm: translation.LanguageModelOption = None,
    weights: translation.WeightsOption = None,
    config: translation.ConfigOption = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            help=f"Requests must have the token in this file ('Authorization: Bearer ...'), or in {TOKEN}.",
            rich_help_panel="Address",
        ),
    ] = None,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Everybody who reaches the address may ask.", rich_help_panel="Address")
    ] = False,
    max_words: Annotated[int, typer.Option(help="Words of a sentence.", min=1, rich_help_panel="Limits")] = 200,
    max_body: Annotated[
        int, typer.Option(help="Kilobytes of a request, and of a line of a batch.", min=1, rich_help_panel="Limits")
    ] = 1024,
    max_batch: Annotated[int, typer.Option(help="Kilobytes of a batch.", min=1, rich_help_panel="Limits")] = 16384,
    max_seconds: Annotated[float, typer.Option(help="Seconds of work on a request.", min=0.1, rich_help_panel="Limits")] = 10.0,
    max_requests: Annotated[int, typer.Option(help="Requests at once.", min=1, rich_help_panel="Limits")] = 64,
    max_memory: Annotated[
        int, typer.Option(help="Megabytes that a worker may take beside the models.", min=64, rich_help_panel="Limits")
    ] = 2048,
    workers: Annotated[
        int | None,
        typer.Option(help="Processes that decode, as many as there are processors unless given.", min=1, rich_help_panel="Running"),
    ] = None,
    log: Annotated[
        bool, typer.Option("--log", help="Write a line for every request to standard error.", rich_help_panel="Running")
    ] = False,
) -> None:
    """Serve parsing, labelling, translation, decoding and verifying over HTTP, with a page to look at.

    The page is at the address itself, the description of the interface at /docs. Nothing is fetched from elsewhere.

    A request that is beyond a limit gets a 4xx that says which. Ctrl-C answers what is in progress, and stops.

    [bold]zerogap serve[/bold]

    [bold]curl localhost:8000/parse -H 'content-type: application/json' -d '{"text": "Time flies like an arrow."}'[/bold]

    [bold]zerogap serve --model none --labels names.npz --port 9000[/bold]

    [bold]ZEROGAP_TOKEN=... zerogap serve --host 0.0.0.0 --max-requests 200[/bold]
    """
    from zerogap.cli.translate.models import ModelFiles
    from zerogap.serve.limits import Limits
    from zerogap.serve.server import Address, serve

    address = Address(host, port, token_in(token_file), no_token)
    limits = Limits(max_body * 1024, max_batch * 1024, max_words, max_seconds, max_requests, max_memory << 20)
    files = ModelFiles(phrase_table, grammar, lm, weights, config)
    if files.given:
        files.check()
    begin = time.perf_counter()
    given = {"parse": model != NONE, "label": labels is not None, "trees": trees is not None, "translate": files.given}
    tasks = [name for name, is_given in given.items() if is_given]

    def ready(at: int) -> None:
        where = Address(host, at, address.token, no_token).url
        seconds = time.perf_counter() - begin
        print(
            f"zerogap serves {', '.join([*tasks, 'decode', 'verify'])} at {where} (after {seconds:.1f} s; Ctrl-C stops)",
            file=sys.stderr,
            flush=True,
        )

    serve(lambda: loaded(model, tagger, labels, trees, files), tasks, limits, address, workers=workers, log=log, ready=ready)


def token_in(path: Path | None) -> str | None:
    """The token in a file, or in the environment; None if there is none."""
    if path is None:
        return os.environ.get(TOKEN) or None
    try:
        found = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is not text'}.") from None
    if not found:
        raise FormatError(f"{path} is empty: expected a token.")
    return found


def loaded(model: str, tagger: str | None, labels: Path | None, trees: Path | None, files: ModelFiles) -> Models:
    """All models that were named; `--model none` leaves the parser out."""
    from zerogap.serve.models import Models

    pipeline = sequence = tree_parser = translator = None
    if model != NONE:
        from zerogap.pipeline.loading import load

        pipeline = load(model, tagger=tagger)
        pipeline.check_columns(["form"])
    if labels is not None:
        from zerogap.sequence.model import SequenceModel

        sequence = SequenceModel.load(labels)
    if trees is not None:
        from zerogap.pipeline.tree_parsers import load_tree_parser

        tree_parser = load_tree_parser(trees)
    if files.given:
        translator = files.load(None)
    return Models(pipeline, sequence, tree_parser, translator)
