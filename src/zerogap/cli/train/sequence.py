"""`zerogap train`: a model from labelled examples."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zerogap.cli import options
from zerogap.cli.options import names_of
from zerogap.cli.terminal import counted, placed, progress
from zerogap.errors import FormatError

if TYPE_CHECKING:
    from zerogap.problems.sequence.constraints import Constraint
    from zerogap.sequence.examples import Example
    from zerogap.sequence.model import SequenceModel
    from zerogap.sequence.training import Progress

train_app = typer.Typer(no_args_is_help=True, help="Train a model from examples.", rich_markup_mode="rich")


@train_app.command("sequence")
def train_sequence_command(
    examples: Annotated[str, typer.Argument(help="Sequences with labels: columns or JSON lines, .gz or not.", metavar="TRAIN")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Write the model here; one .npz file.", metavar="MODEL")],
    development: Annotated[str | None, typer.Option(help="More sequences with labels, to report on.", metavar="FILE")] = None,
    constraints: Annotated[
        Path | None,
        typer.Option(
            help="A .yaml or .toml file of constraints that belong to the model; soft ones learn their penalties.", metavar="FILE"
        ),
    ] = None,
    keep_penalties: Annotated[bool, typer.Option("--keep-penalties", help="Leave the penalties of the file as they are.")] = False,
    algorithm: Annotated[str, typer.Option(help="crf, crf-sgd or perceptron.", metavar="NAME")] = "crf",
    templates: Annotated[Path | None, typer.Option(help="A file with a feature template per line.", metavar="FILE")] = None,
    scheme: Annotated[
        str | None, typer.Option(help="BIO or BIOES: forbid labels that are ill-formed. By default it is found out.", metavar="NAME")
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the examples, at most.", min=0, metavar="N")] = None,
    l2: Annotated[float, typer.Option(help="Strength of regularisation.", min=0.0)] = 1.0,
    min_count: Annotated[int, typer.Option(help="Leave out features that are seen less often.", min=0, metavar="N")] = 1,
    seed: Annotated[int, typer.Option(help="For the order of examples; the same seed gives the same model.", min=0)] = 0,
    columns: options.Columns = None,
    comments: options.Comments = False,
    format: options.Format = "auto",
) -> None:
    """Train a model that labels sequences.

    [bold]zerogap train sequence train.txt -o names.npz --development dev.txt[/bold]

    [bold]zerogap train sequence refs.jsonl -o cite.npz --constraints rules.yaml --algorithm perceptron[/bold]

    Then use it: [bold]zerogap label cite.npz new.jsonl[/bold]
    """
    from zerogap.features.labels.templates import parse_templates
    from zerogap.io.formats.examples import read_examples
    from zerogap.io.rules.files import load_constraints
    from zerogap.sequence.training import train

    check_target(output)
    begin = time.perf_counter()
    rules = () if constraints is None else load_constraints(constraints)
    reading: dict[str, Any] = {"columns": names_of(columns), "comments": comments, "format": format}
    with progress("reading"):
        given = read_examples(examples, **reading)
        held_out = [] if development is None else read_examples(development, **reading)
    if not given:
        raise FormatError(f"{examples} holds no sequences: expected some with labels.")
    labels = sorted({label for example in given for label in example.labels or ()})
    if constraints is not None:
        rules = load_constraints(constraints, labels=labels)
        for note in broken_by_examples(given, rules, tuple(labels)):
            print(f"{constraints}: {note}", file=sys.stderr)
    chosen = None if templates is None else read_templates(templates, parse_templates)
    with progress("training") as steps, placed(examples):
        model = train(
            given,
            algorithm=algorithm,
            templates=chosen,
            constraints=rules,
            learn_penalties=not keep_penalties,
            scheme=scheme,
            epochs=epochs,
            l2=l2,
            min_count=min_count,
            seed=seed,
            development=held_out,
            report=lambda step: steps.advance(shown_progress(step)),
        )
        model.save(output)
    tokens = sum(len(example) for example in given)
    print(
        f"{output}: {counted(len(model.labels), 'label')}, {counted(len(model.weights), 'weight')}, from"
        f" {counted(len(given), 'sequence')} of {tokens:,} tokens ({time.perf_counter() - begin:.1f} s)",
        file=sys.stderr,
    )
    if held_out:
        print(report_on(model, held_out), file=sys.stderr)


def check_target(output: Path) -> None:
    """Before the work, not after it."""
    folder = output.parent
    if output.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        reason = "it is a folder" if output.is_dir() else f"{folder} is not a folder that can be written to"
        raise FormatError(f"{output} cannot be written: {reason}.")


def read_templates(path: Path, parse: Callable[[list[str]], object], example: str = "form[0] or pos[-1]+pos[0]") -> list[str]:
    """The templates in a file, one per line; `parse` refuses those that are none."""
    from zerogap.io.formats.lines import read_lines

    found = []
    for number, text in read_lines(path):
        line = text.strip()
        with placed(f"{path}, line {number}"):
            if line and not line.startswith("#"):
                parse([line])
                found.append(line)
    if not found:
        raise FormatError(f"{path} holds no templates: expected one per line, such as {example}.")
    return found


def shown_progress(step: Progress) -> str:
    accuracy = "" if step.development_accuracy is None else f", dev {100 * step.development_accuracy:.2f}%"
    return f"epoch {step.epoch}, objective {step.objective:,.1f}{accuracy}"


def broken_by_examples(examples: list[Example], constraints: tuple[Constraint, ...], labels: tuple[str, ...]) -> list[str]:
    """Hard constraints that the examples themselves break: what was written may not be what was meant."""
    from zerogap.problems.sequence.compiling import bind
    from zerogap.problems.sequence.constraints import knows_positions

    notes = []
    for constraint in constraints:
        if constraint.penalty is None and not knows_positions(constraint):
            (machine,) = bind([constraint], labels, 0)
            numbers = {label: i for i, label in enumerate(labels)}
            broken = sum(not machine.accepts([numbers[label] for label in example.labels or ()]) for example in examples)
            if broken:
                notes.append(f"{constraint.name} is broken by {broken:,} of {len(examples):,} examples; a penalty would make it soft.")
    return notes


def report_on(model: SequenceModel, examples: list[Example]) -> str:
    """The table of conlleval for these examples; where constraints cannot hold, without them."""
    from zerogap.errors import Infeasible
    from zerogap.sequence.decoding.methods import decode
    from zerogap.sequence.evaluation import evaluate

    found: list[Any] = []
    with progress("development", total=len(examples)) as steps:
        for example in examples:
            try:
                found.append(decode(model.problem(example)).structure)
            except Infeasible:
                found.append(decode(model.problem(example, constraints=())).structure)
            steps.advance()
    return str(evaluate([example.labels or () for example in examples], found))
