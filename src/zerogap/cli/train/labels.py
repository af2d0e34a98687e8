"""Trains for `zerogap train sequence`: reads examples, trains a model of label sequences, saves it."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zerogap.cli.options import names_of
from zerogap.cli.terminal import counted, placed, progress
from zerogap.cli.train.files import check_target, read_templates
from zerogap.errors import FormatError, Infeasible
from zerogap.features.labels.templates import parse_templates
from zerogap.io.formats.examples import read_examples
from zerogap.io.rules.files import load_constraints
from zerogap.problems.sequence.compiling import bind
from zerogap.problems.sequence.constraints import knows_positions
from zerogap.sequence.decoding.methods import decode
from zerogap.sequence.evaluation import evaluate
from zerogap.sequence.training import train

if TYPE_CHECKING:
    from zerogap.problems.sequence.constraints import Constraint
    from zerogap.sequence.examples import Example
    from zerogap.sequence.model import SequenceModel
    from zerogap.sequence.training import Progress


@dataclass(frozen=True, slots=True)
class LabelTrainingOptions:
    """The options of the command, as they were given."""

    examples: str
    output: Path
    development: str | None
    constraints: Path | None
    keep_penalties: bool
    algorithm: str
    templates: Path | None
    scheme: str | None
    epochs: int | None
    l2: float
    min_count: int
    seed: int
    columns: str | None
    comments: bool
    format: str


def run(options: LabelTrainingOptions) -> None:
    check_target(options.output)
    begin = time.perf_counter()
    rules = () if options.constraints is None else load_constraints(options.constraints)
    reading: dict[str, Any] = {"columns": names_of(options.columns), "comments": options.comments, "format": options.format}
    with progress("reading"):
        given = read_examples(options.examples, **reading)
        held_out = [] if options.development is None else read_examples(options.development, **reading)
    if not given:
        raise FormatError(f"{options.examples} holds no sequences: expected some with labels.")
    labels = sorted({label for example in given for label in example.labels or ()})
    if options.constraints is not None:
        rules = load_constraints(options.constraints, labels=labels)
        for note in broken_by_examples(given, rules, tuple(labels)):
            print(f"{options.constraints}: {note}", file=sys.stderr)
    chosen = None if options.templates is None else read_templates(options.templates, parse_templates)
    with progress("training") as steps, placed(options.examples):
        model = train(
            given,
            algorithm=options.algorithm,
            templates=chosen,
            constraints=rules,
            learn_penalties=not options.keep_penalties,
            scheme=options.scheme,
            epochs=options.epochs,
            l2=options.l2,
            min_count=options.min_count,
            seed=options.seed,
            development=held_out,
            report=lambda step: steps.advance(shown_progress(step)),
        )
        model.save(options.output)
    tokens = sum(len(example) for example in given)
    print(
        f"{options.output}: {counted(len(model.labels), 'label')}, {counted(len(model.weights), 'weight')}, from"
        f" {counted(len(given), 'sequence')} of {tokens:,} tokens ({time.perf_counter() - begin:.1f} s)",
        file=sys.stderr,
    )
    if held_out:
        print(report_on(model, held_out), file=sys.stderr)


def shown_progress(step: Progress) -> str:
    accuracy = "" if step.development_accuracy is None else f", dev {100 * step.development_accuracy:.2f}%"
    return f"epoch {step.epoch}, objective {step.objective:,.1f}{accuracy}"


def broken_by_examples(examples: list[Example], constraints: tuple[Constraint, ...], labels: tuple[str, ...]) -> list[str]:
    """Hard constraints that the examples themselves break: what was written may not be what was meant."""
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
    found: list[Any] = []
    with progress("development", total=len(examples)) as steps:
        for example in examples:
            try:
                found.append(decode(model.problem(example)).structure)
            except Infeasible:
                found.append(decode(model.problem(example, constraints=())).structure)
            steps.advance()
    return str(evaluate([example.labels or () for example in examples], found))
