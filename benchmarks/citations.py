"""Fields of bibliography references under global constraints (Tromble & Eisner 2006, section 7: "about 13 fields to extract").

    python benchmarks/citations.py [--data cora anystyle] [--models FOLDER] [--every 4] [--test]

Reads ../shared/data/citations (or ZEROGAP_DATA). Labels are plain fields; a run of equal labels is a segment, so two neighbouring segments
of one field would count as one (the training data has none). The local model is a conditional random field with the library's default
templates.

No constraint is picked by hand, and none on development or test data. `learn_constraints` considers, for fields that SUPPORT training
references or more have,
  NO DUPLICATE a           at most one run of the field
  AT LEAST ONE a           of every field that 90% of the references have, and of author or editor
  a BEFORE b               where both occur, all of a comes before all of b
  NOT BOTH a AND b         where chance would put them together in SUPPORT references or more
and counts in how many of the cases in which a constraint says something the gold labels break it: references with the field, all
references, references with both fields, and those that would have both by chance. Below HARD of the cases it is hard, below SOFT it is
soft, else dropped.
Penalties are
  log odds          that gold labels keep the constraint (section 6.2)
  held-out odds     log odds that a labelling without constraints is wrong to break it, counted on training references that the local model
                    did not see (FOLDS folds): the naive odds ask how rare a violation is, these how trustworthy one is
  learned           by a perceptron, together with the model
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import tables

from zerogap import sequence as seq
from zerogap.sequence.evaluation import evaluate
from zerogap.sequence.model import SequenceModel
from zerogap.sequence.training import train

DATA = Path(os.environ.get("ZEROGAP_DATA", Path(__file__).parents[2] / "shared" / "data")) / "citations"
HARD, SOFT, SUPPORT = 0.005, 0.1, 20
L2, EPOCHS, FOLDS = 0.5, 15, 5
FEW, MANY = 12, 40  # constraints that brute force gets; with this many HiGHS takes minutes for each problem


def read(name: str, part: str) -> list[seq.Example]:
    rows = (json.loads(line) for line in (DATA / name / f"{part}.jsonl").read_text().splitlines())
    return [seq.Example({"form": tuple(row["tokens"])}, tuple(row["labels"])) for row in rows]


@dataclass(frozen=True, slots=True)
class Rule:
    """A constraint and how the training data treats it."""

    constraint: seq.Constraint
    cases: float
    broken: int
    references: int
    predicted: int = 0  # held-out labellings without constraints that break it
    rightly: int = 0  # those of them whose gold labels break it too

    @property
    def rate(self) -> float:
        return self.broken / self.cases

    @property
    def is_hard(self) -> bool:
        return self.rate < HARD

    @property
    def odds(self) -> float:
        """Log odds that a reference keeps it."""
        return max(math.log((self.references - self.broken + 0.5) / (self.broken + 0.5)), 0.0)

    @property
    def held_out_odds(self) -> float:
        """Log odds that a labelling without constraints is wrong where it breaks it."""
        return max(math.log((self.predicted - self.rightly + 0.5) / (self.rightly + 0.5)), 0.0)


def by_odds(rules: Sequence[Rule]) -> list[seq.Constraint]:
    return [seq.soft(rule.constraint, rule.odds) for rule in rules if rule.odds > 0.0]


def by_held_out_odds(rules: Sequence[Rule]) -> list[seq.Constraint]:
    """Those that no held-out labelling breaks, or that it is right to break, are worth nothing."""
    return [seq.soft(rule.constraint, rule.held_out_odds) for rule in rules if rule.held_out_odds > 0.0]


def held_out(folder: Path | None, name: str, examples: Sequence[seq.Example]) -> list[tuple[str, ...]]:
    """Labellings of the training references, without constraints, by models that have not seen them."""
    path = folder / f"{name}-held-out.json" if folder else None
    if path and path.exists():
        return [tuple(labels) for labels in json.loads(path.read_text())]
    found: dict[int, tuple[str, ...]] = {}
    for fold in range(FOLDS):
        model = train([example for i, example in enumerate(examples) if i % FOLDS != fold], l2=L2)
        for i in range(fold, len(examples), FOLDS):
            found[i] = seq.decode(model.problem(examples[i], constraints=())).structure
    labellings = [found[i] for i in range(len(examples))]
    if path:
        path.write_text(json.dumps(labellings))
    return labellings


def with_held_out(rules: Sequence[Rule], examples: Sequence[seq.Example], labellings: Sequence[tuple[str, ...]]) -> list[Rule]:
    labels = sorted({label for example in examples for label in example.labels or ()})
    predicted, rightly = Counter[int](), Counter[int]()
    for example, labelling in zip(examples, labellings, strict=True):
        problem = seq.Problem(np.zeros((len(example), len(labels))), labels=labels, constraints=[rule.constraint for rule in rules])
        broken = set(problem.broken(problem.indices(labelling)))
        predicted.update(broken)
        rightly.update(broken & set(problem.broken(problem.indices(example.labels or ()))))
    return [replace(rule, predicted=predicted[c], rightly=rightly[c]) for c, rule in enumerate(rules)]


def learn_constraints(examples: Sequence[seq.Example]) -> list[Rule]:
    runs = [[field for field, _ in itertools.groupby(example.labels or ())] for example in examples]
    total = len(runs)
    having = Counter(field for run in runs for field in set(run))
    fields = [field for field, count in having.most_common() if count >= SUPPORT]
    found = []

    def consider(constraint: seq.Constraint, cases: float, broken: int) -> None:
        if cases >= SUPPORT and broken < SOFT * cases:
            found.append(Rule(constraint, cases, broken, total))

    for a in fields:
        consider(seq.no_duplicate(a).called(f"NO DUPLICATE {a}"), having[a], sum(run.count(a) > 1 for run in runs))
    for group in [(a,) for a in fields] + ([("author", "editor")] if {"author", "editor"} <= set(fields) else []):
        missing = sum(not set(group) & set(run) for run in runs)
        consider(seq.at_least_one(*group).called(f"AT LEAST ONE {' or '.join(group)}"), total, missing)
    for a, b in itertools.permutations(fields, 2):
        both = [run for run in runs if a in run and b in run]
        late = sum(len(run) - 1 - run[::-1].index(a) > run.index(b) for run in both)
        consider(seq.precedes(a, b).called(f"{a} BEFORE {b}"), len(both), late)
    for a, b in itertools.combinations(fields, 2):
        together = sum(a in run and b in run for run in runs)
        constraint = ~(seq.at_least_one(a) & seq.at_least_one(b))
        consider(constraint.called(f"NOT BOTH {a} AND {b}"), having[a] * having[b] / total, together)
    return found


def models(folder: Path | None, name: str, examples: list[seq.Example], rules: list[Rule]) -> dict[str, SequenceModel]:
    priced = [rule.constraint if rule.is_hard else seq.soft(rule.constraint, 1.0) for rule in rules]
    all_priced = [seq.soft(rule.constraint, 1.0) for rule in rules]
    jobs = {
        "crf": lambda: train(examples, l2=L2),
        "perceptron": lambda: train(examples, algorithm="perceptron", epochs=EPOCHS),
        "joint": lambda: train(examples, algorithm="perceptron", epochs=EPOCHS, constraints=priced),
        "all soft": lambda: train(examples, algorithm="perceptron", epochs=EPOCHS, constraints=all_priced),
    }
    found = {}
    for which, job in jobs.items():
        path = folder / f"{name}-{which.replace(' ', '-')}.npz" if folder else None
        if path and path.exists():
            found[which] = SequenceModel.load(path)
            continue
        begin = time.perf_counter()
        found[which] = job()
        print(f"trained {which} on {name} in {time.perf_counter() - begin:.0f} s", flush=True)
        if path:
            found[which].save(path)
    return found


def quality(title: str, examples: Sequence[seq.Example], found: dict[str, SequenceModel], ways: dict[str, list[seq.Constraint]]) -> None:
    tables.headline(title)
    gold = [example.labels or () for example in examples]
    print(f"{'':12}{'constraints':40}{'precision':>10}{'recall':>8}{'F1':>8}{'tokens %':>10}{'exact %':>9}{'change of F1':>24}   verified")
    free: list[Any] = []
    for name, model in found.items():
        chosen: dict[str, Any] = {way: rules for way, rules in ways.items() if name == "crf" or "odds" not in way}
        if model.constraints:
            chosen = {"none": [], "as learned": list(model.constraints)}
        for way, rules in chosen.items():
            problems = [model.problem(example, constraints=rules) for example in examples]
            solutions = seq.decode_many(problems)
            count = sum(tables.verified(problem, solution) for problem, solution in zip(problems, solutions, strict=True))
            labellings = [solution.structure for solution in solutions]
            if way == "none" and not model.constraints:
                free = labellings
            report = evaluate(gold, labellings)
            c = report.overall
            change = "" if free is labellings else tables.gain(gold, free, labellings)
            scores = f"{100 * c.precision:10.2f}{100 * c.recall:8.2f}{100 * c.f1:8.2f}{100 * report.accuracy:10.2f}"
            print(f"{name:12}{way:40}{scores}{100 * report.exact:9.2f}{change:>24}   {count} of {len(problems)}", flush=True)
    print("change of F1: against the crf, or the perceptron, without constraints; 95% intervals by a paired bootstrap over references")


def tables_of(name: str, folder: Path | None, every: int, with_test: bool) -> None:
    training, development = read(name, "train"), read(name, "dev")
    rules = with_held_out(learn_constraints(training), training, held_out(folder, name, training))
    hard = [rule.constraint for rule in rules if rule.is_hard]
    flexible = [rule for rule in rules if not rule.is_hard]
    soft = by_odds(flexible)
    tables.headline(f"{name}: {len(hard)} hard and {len(soft)} soft constraints learned from {len(training)} training references")
    for rule in rules:
        kind = "hard" if rule.is_hard else f"soft, {rule.odds:.2f}"
        trust = f"by {rule.predicted:2} held-out labellings, {rule.rightly:2} rightly: {rule.held_out_odds:.2f}" if rule.predicted else ""
        print(f"  {rule.constraint.name:40}{kind:12} broken in {rule.broken:3} of {rule.cases:6.1f} cases   {trust}")
    found = models(folder, name, training, rules)
    model = found["crf"]
    frequent = [rule.constraint for rule in sorted(rules, key=lambda rule: -rule.cases) if rule.is_hard][:FEW]
    for what, chosen, brute in (
        (f"{name} dev, the {FEW} hard constraints with most cases", frequent, True),
        (f"{name} dev, {len(hard)} hard constraints", hard, False),
        (f"{name} dev, {len(hard)} hard and {len(soft)} soft constraints", [*hard, *soft], False),
    ):
        problems = [model.problem(example, constraints=chosen) for example in development]
        scores = [(p.emissions, p.transitions[0], p.start, p.end, p.labels) for p in problems]

        def rebuild(i: int, scores: list[Any] = scores, chosen: list[seq.Constraint] = chosen) -> seq.Problem:
            return seq.Problem(*scores[i], chosen, order=1)

        tables.table_2(
            problems, what, every_ilp=every if len(chosen) < MANY else 0, every_pynini=0 if chosen[-1].penalty else 1,
            every_intersection=every if brute else 0, by_hand=False, rebuild=rebuild,
        )  # fmt: skip
    everything = [rule.constraint for rule in rules]
    checked = [model.problem(example, constraints=everything) for example in development]
    free = [seq.decode(model.problem(example, constraints=())).structure for example in development]
    broken = [tables.broken_names(problem, labels) for problem, labels in zip(checked, free, strict=True)]
    tables.table_of_violations(f"Violations by y0*: {name} dev", broken)
    tables.table_4(f"Number of y0* with each violation count: {name} dev", broken)
    gold = [tables.broken_names(problem, example.labels or ()) for problem, example in zip(checked, development, strict=True)]
    tables.table_of_violations(f"Violations by gold labels: {name} dev", gold)
    hard_problems = [model.problem(example, constraints=hard) for example in development]
    tables.figure_6(f"Lattice sizes, hard constraints: {name} dev", hard_problems, brute=False)
    softened = by_odds([rule for rule in rules if rule.is_hard])
    soft_problems = [model.problem(example, constraints=softened) for example in development]
    tables.soft_against_hard(f"The hard constraints made soft by log odds: {name} dev", hard_problems, soft_problems)
    tables.orders(f"Orders of constraints: {name} dev", hard_problems, [model.problem(e, constraints=hard) for e in training[::3]])
    ways = {
        "none": [], "hard": hard, "hard + soft by log odds": [*hard, *soft], "all soft by log odds": by_odds(rules),
        "hard + soft by held-out odds": [*hard, *by_held_out_odds(flexible)], "all soft by held-out odds": by_held_out_odds(rules),
    }  # fmt: skip
    quality(f"F1 of segments: {name} dev", development, found, ways)
    if with_test:
        quality(f"F1 of segments: {name} test", read(name, "test"), found, ways)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["cora", "anystyle"])
    parser.add_argument("--models", type=Path, help="where trained models are kept for the next run")
    parser.add_argument("--every", type=int, default=4, help="HiGHS solves every k-th problem")
    parser.add_argument("--test", action="store_true", help="also decode the test split")
    arguments = parser.parse_args()
    if not DATA.exists():
        raise SystemExit(f"no data at {DATA}; set ZEROGAP_DATA")
    for name in arguments.data:
        tables_of(name, arguments.models, arguments.every, arguments.test)


if __name__ == "__main__":
    main()
