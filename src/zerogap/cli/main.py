"""The command `zerogap`. A new command is a function in a module beside this one and a line in `COMMANDS`, in the order of the help."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from zerogap import __version__
from zerogap.cli.audit import audit_command
from zerogap.cli.compile import compile_command
from zerogap.cli.constraints import constraints_command
from zerogap.cli.decode import decode_command
from zerogap.cli.doctor import doctor_command
from zerogap.cli.evaluate.constituency import evaluate_constituency_command
from zerogap.cli.evaluate.dependency import evaluate_dependency_command
from zerogap.cli.evaluate.sequence import evaluate_sequence_command
from zerogap.cli.evaluate.translation import evaluate_translation_command
from zerogap.cli.label.command import label_command
from zerogap.cli.parse.command import parse_command
from zerogap.cli.run import run_command
from zerogap.cli.serve import serve_command
from zerogap.cli.terminal import BAD_INPUT, WRONG_USAGE
from zerogap.cli.train.constituency import train_constituency_command
from zerogap.cli.train.dependency import train_dependency_command
from zerogap.cli.train.sequence import train_sequence_command
from zerogap.cli.train.tagger import train_tagger_command
from zerogap.cli.translate.command import translate_command
from zerogap.cli.verify import verify_command
from zerogap.errors import UnknownMethod, ZerogapError

evaluate_app = typer.Typer(no_args_is_help=True, help="Compare predictions with what is right.", rich_markup_mode="rich")
train_app = typer.Typer(no_args_is_help=True, help="Train a model from examples.", rich_markup_mode="rich")
COMMANDS: dict[str, Callable[..., None] | typer.Typer] = {
    "parse": parse_command,
    "translate": translate_command,
    "audit": audit_command,
    "decode": decode_command,
    "verify": verify_command,
    "run": run_command,
    "train": train_app,
    "label": label_command,
    "evaluate": evaluate_app,
    "constraints": constraints_command,
    "serve": serve_command,
    "doctor": doctor_command,
    "compile": compile_command,
}
train_app.command("sequence")(train_sequence_command)
train_app.command("dependency")(train_dependency_command)
train_app.command("tagger")(train_tagger_command)
train_app.command("constituency")(train_constituency_command)
evaluate_app.command("sequence")(evaluate_sequence_command)
evaluate_app.command("dependency")(evaluate_dependency_command)
evaluate_app.command("constituency")(evaluate_constituency_command)
evaluate_app.command("translation")(evaluate_translation_command)


class InOrder(TyperGroup):
    """Commands and groups of commands as they stand in `COMMANDS`."""

    def list_commands(self, context: Any) -> list[str]:
        return list(COMMANDS)


app = typer.Typer(
    cls=InOrder,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog="Exit codes: 0 done, 1 the input was bad, 2 wrong usage, 3 finished with a gap left open.",
)


def show_version(asked: bool) -> None:
    if asked:
        print(f"zerogap {__version__}")
        raise typer.Exit


@app.callback()
def zerogap(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Finds the best structure under a rich model, and proves that it is the best."""


for name, command in COMMANDS.items():
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name)
    else:
        app.command(name)(command)


def main() -> None:
    """Runs the command; errors that zerogap raises on purpose become one message and an exit code, its warnings one line."""
    with_place = warnings.formatwarning
    warnings.formatwarning = lambda message, category, *place, **more: (
        f"zerogap: {message}\n" if category is UserWarning else with_place(message, category, *place, **more)
    )
    try:
        app()
    except ZerogapError as error:
        print(f"zerogap: {type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(WRONG_USAGE if isinstance(error, UnknownMethod) else BAD_INPUT)
    except BrokenPipeError:  # the reader of a pipe left, as head does
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:  # the disk is full, standard output is closed
        print(f"zerogap: {error.strerror or error}{'' if error.filename is None else f': {error.filename}'}", file=sys.stderr)
        sys.exit(BAD_INPUT)


if __name__ == "__main__":
    main()
