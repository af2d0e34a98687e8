"""Training: conditional random fields, or an averaged perceptron that decodes under constraints and learns their penalties.

`crf` minimises the regularised negative log-likelihood by L-BFGS, `crf-sgd` the same by stochastic gradient descent. `perceptron` is
Collins 2002 with the exact decoder: Tromble & Eisner 2006, section 6.2, suggest to train the weights of constraints jointly with the
local model, by "a perceptron algorithm, which repeatedly extracts the best global path (using our algorithm), compares it to the gold
standard, and adjusts the constraint weights".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from zerogap.errors import InputError, UnknownMethod
from zerogap.features.labels.attributes import Integers
from zerogap.features.labels.index import Corpus, collect_features, corpus_of
from zerogap.features.labels.templates import parse_templates
from zerogap.grid import Scores
from zerogap.learning.averaging import Averaged
from zerogap.learning.crf import Chains, Masks, Objective, log_likelihood_terms
from zerogap.learning.lbfgs import minimise
from zerogap.learning.sgd import Scaled, descend
from zerogap.oracles.labels.viterbi import ngram_viterbi
from zerogap.problems.sequence.compiling import bind
from zerogap.problems.sequence.constraints import Constraint
from zerogap.problems.sequence.labels import scheme_transitions
from zerogap.problems.sequence.machine import Machine
from zerogap.problems.sequence.problem import Problem
from zerogap.sequence.decoding.methods import decode
from zerogap.sequence.examples import Example
from zerogap.sequence.model import SequenceModel, group_of, priced

DEFAULT_TEMPLATES = (  # chosen on development data of references (Cora, AnyStyle) and names (CoNLL-2002 Spanish)
    "bias",
    "form[0]", "lower[-2]", "lower[-1]", "lower[0]", "lower[1]", "lower[2]", "lower[-1]+lower[0]", "lower[0]+lower[1]",
    "plain[-1]", "plain[0]", "plain[1]", "prefix2[0]", "prefix3[0]", "prefix4[0]", "suffix2[0]", "suffix3[0]", "suffix4[0]",
    "shape[-1]", "shape[0]", "shape[1]", "shape[-1]+shape[0]+shape[1]", "digits[0]",
    "kind[-1]", "kind[0]", "kind[1]", "kind[-1]+kind[0]", "kind[0]+kind[1]",
    "ending[-1]", "ending[-1]+kind[0]", "ending[0]", "place[0]",
)  # fmt: skip
COLUMN_TEMPLATES = ("{0}[-1]", "{0}[0]", "{0}[1]", "{0}[-1]+{0}[0]", "{0}[0]+{0}[1]", "{0}[-1]+{0}[0]+{0}[1]")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far training is: the objective (the regularised loss; wrong tokens for the perceptron), and accuracy on development data."""

    epoch: int
    objective: float
    development_accuracy: float | None = None
    penalties: Mapping[str, float] = field(default_factory=dict)


Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What an algorithm is given."""

    examples: Sequence[Example]
    labels: tuple[str, ...]
    chains: Chains
    constraints: tuple[Constraint, ...]
    learn_penalties: bool
    epochs: int
    l2: float
    seed: int
    report: Callable[[int, float, Callable[[], Scores], Mapping[str, float]], None]


def train(
    examples: Sequence[Example],
    *,
    algorithm: str = "crf",
    templates: Sequence[str] | None = None,
    constraints: Sequence[Constraint] = (),
    learn_penalties: bool = True,
    scheme: str | None = None,
    epochs: int | None = None,
    l2: float = 0.5,
    min_count: int = 1,
    seed: int = 0,
    development: Sequence[Example] = (),
    report: Report | None = None,
) -> SequenceModel:
    """A model of the labels of examples.

    `templates` are DEFAULT_TEMPLATES, and `COLUMN_TEMPLATES` for every column besides the form, unless given.
    `algorithm` is "crf", "crf-sgd" or "perceptron"; `epochs` are passes over the examples, at most (100, 30 and 15 unless given). `l2` is
    the strength of regularisation of the random fields. `scheme` "BIO" or "BIOES" forbids ill-formed transitions; None finds out by
    the labels. `constraints` belong to the model; soft ones begin with their penalty, and learn theirs unless `learn_penalties` is false.
    Development examples are only reported on. The same input gives the same model, byte for byte.
    """
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise UnknownMethod("algorithm", algorithm, ALGORITHMS)
    check_options(epochs, l2, min_count, seed)
    examples = checked_examples(examples)
    parsed = parse_templates(default_templates(examples) if templates is None else templates)
    labels = tuple(sorted({label for example in examples for label in example.labels or ()}))
    if not labels:
        raise InputError("examples have no tokens: expected at least one with a label.")
    number = {label: i for i, label in enumerate(labels)}
    gold = np.array([number[label] for example in examples for label in example.labels or ()], dtype=np.int64)
    features, corpus = collect_features(parsed, [example.columns for example in examples], gold, len(labels), min_count=min_count)
    allowed = allowed_by(scheme, labels, gold, corpus.first)
    run, default_epochs = ALGORITHMS[algorithm]
    chains = Chains(features, corpus, gold, allowed)
    held_out = corpus_of(features, [example.columns for example in development])

    def reported(epoch: int, objective: float, point: Callable[[], Scores], penalties: Mapping[str, float]) -> None:
        if report is not None:
            accuracy = accuracy_on(development, held_out, chains, point(), labels) if len(held_out.rows) else None
            report(Progress(epoch, objective, accuracy, penalties))

    task = Task(
        examples, labels, chains, tuple(constraints), learn_penalties, default_epochs if epochs is None else epochs, l2, seed, reported
    )
    x, penalties = run(task)
    weights, *tables = chains.layout.split(x)
    transitions, start, end = (table + mask for table, mask in zip(tables, allowed, strict=True))
    return SequenceModel(
        labels, tuple(template.text for template in parsed), priced(constraints, penalties, of_example=False),
        features, weights.copy(), transitions, start, end, penalties,
    )  # fmt: skip


def default_templates(examples: Sequence[Example]) -> tuple[str, ...]:
    """Those for forms, and the same few for every other column that all examples have."""
    extra = sorted(set.intersection(*(set(example.columns) for example in examples)) - {"form"})
    return DEFAULT_TEMPLATES + tuple(text.format(f"column({name})") for name in extra for text in COLUMN_TEMPLATES)


def check_options(epochs: int | None, l2: float, min_count: int, seed: int) -> None:
    for name, value in (("epochs", 1 if epochs is None else epochs), ("min_count", min_count), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InputError(f"{name} is {value!r}: expected an integer, 0 or more.")
    if isinstance(l2, bool) or not isinstance(l2, int | float) or not 0.0 <= l2 < math.inf:
        raise InputError(f"l2 is {l2!r}: expected a number, 0 or more.")


def checked_examples(examples: Sequence[Example]) -> list[Example]:
    found = list(examples)
    if not found:
        raise InputError("examples is empty: expected one or more with labels.")
    for i, example in enumerate(found):
        if not isinstance(example, Example):
            raise InputError(f"examples[{i}] is a {type(example).__name__}: expected an Example.")
        if example.labels is None:
            raise InputError(f"examples[{i}] has no labels: training needs them.")
    return found


def allowed_by(scheme: str | None, labels: tuple[str, ...], gold: Integers, first: Integers) -> Masks:
    """Which transitions, starts and ends the scheme allows. One that was not asked for must fit all of the data."""
    size = len(labels)
    everything = np.zeros((size, size)), np.zeros(size), np.zeros(size)
    chosen = detect_scheme(labels) if scheme is None else scheme
    if chosen is None:
        return everything
    masks = scheme_transitions(labels, chosen)
    for s in range(len(first) - 1):
        y = gold[first[s] : first[s + 1]]
        if len(y) == 0:
            continue
        steps = np.concatenate([masks[1][y[:1]], masks[0][y[:-1], y[1:]], masks[2][y[-1:]]])
        if steps.min() == -np.inf:
            if scheme is None:
                return everything
            at = min(int(np.argmin(steps)), len(y) - 1)
            raise InputError(f"examples[{s}] has the label {labels[y[at]]!r} at {at}, which is ill-formed there in the scheme {scheme!r}.")
    return masks


def detect_scheme(labels: Sequence[str]) -> str | None:
    prefixes = {label[0] for label in labels if label != "O"}
    if not prefixes or any(label != "O" and (label[1:2] != "-" or label[0] not in "BIES") for label in labels):
        return None
    return "BIOES" if prefixes & set("ES") else "BIO"


def accuracy_on(development: Sequence[Example], held_out: Corpus, chains: Chains, x: Scores, labels: tuple[str, ...]) -> float:
    """The share of tokens that are right without constraints."""
    right = total = 0
    for s, example in enumerate(development):
        if example.labels is not None:
            at = slice(held_out.first[s], held_out.first[s + 1])
            found = best_labels_of(chains, x, held_out.rows[at])
            right += sum(labels[i] == label for i, label in zip(found.tolist(), example.labels, strict=True))
            total += len(example)
    return right / total if total else math.nan


def padded(chains: Chains, x: Scores) -> tuple[Scores, Scores]:
    """Weights, and transitions with the boundary as one more label, as the Viterbi kernel reads them."""
    weights, *tables = chains.layout.split(x)
    size = chains.layout.n_labels
    table = np.zeros((1, size + 1, size + 1))
    table[0, :size, :size] = tables[0] + chains.allowed[0]
    table[0, size, :size] = tables[1] + chains.allowed[1]
    table[0, :size, size] = tables[2] + chains.allowed[2]
    return weights, table


def best_labels_of(chains: Chains, x: Scores, rows: np.ndarray[tuple[int, int], np.dtype[np.int32]]) -> Integers:
    weights, table = padded(chains, x)
    found = np.empty(len(rows), dtype=np.int64)
    ngram_viterbi(chains.features.scores(rows, weights), table, np.empty((len(rows) + 1, table.shape[1])), found)
    return found


def train_crf(task: Task) -> tuple[Scores, dict[str, float]]:
    def report(iteration: int, value: float, x: Scores) -> None:
        task.report(iteration, value, lambda: x, {})

    found = minimise(Objective(task.chains, task.l2), np.zeros(task.chains.layout.size), max_iterations=task.epochs, report=report)
    return found.x, penalties_by_odds(task)


def train_crf_sgd(task: Task) -> tuple[Scores, dict[str, float]]:
    chains = task.chains
    layout, features = chains.layout, chains.features

    def step(scaled: Scaled, s: int, rate: float) -> float:
        rows, gold = chains.one(s)
        n = len(gold)
        if n == 0:
            return 0.0
        weights, *tables = layout.split(scaled.values)
        emissions = scaled.scale * features.scores(rows, weights)
        masked = [scaled.scale * table + mask for table, mask in zip(tables, chains.allowed, strict=True)]
        total, node, edge = log_likelihood_terms(emissions, np.array([0, n]), *masked)
        at = np.arange(n)
        score = emissions[at, gold].sum() + masked[0][gold[:-1], gold[1:]].sum() + masked[1][gold[0]] + masked[2][gold[-1]]
        if rate > 0.0:
            node[at, gold] -= 1.0
            np.subtract.at(edge, (gold[:-1], gold[1:]), 1.0)
            factor = -rate / scaled.scale
            features.add(rows, node, factor, weights)
            tables[0] += factor * edge
            tables[1] += factor * node[0]
            tables[2] += factor * node[-1]
        return total - float(score)

    def report(epoch: int, value: float, scaled: Scaled) -> None:
        task.report(epoch, value, scaled.point, {})

    x = descend(step, layout.size, len(chains), l2=task.l2, epochs=task.epochs, seed=task.seed, report=report)
    return x, penalties_by_odds(task)


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """The constraints of one example that training can use, compiled; group is -1 for hard ones."""

    constraints: tuple[Constraint, ...]
    machines: tuple[Machine, ...]
    groups: tuple[int, ...]
    broken_by_gold: tuple[bool, ...]


def bound_constraints(task: Task) -> tuple[list[Bound], dict[str, float]]:
    """Per example its constraints, without the hard ones that its own labels break; and the first penalties of groups of soft ones."""
    penalties: dict[str, float] = {}
    numbers: dict[str, int] = {}
    found = []
    for s, example in enumerate(task.examples):
        both = [(c, False) for c in task.constraints] + [(c, True) for c in example.constraints]
        machines = bind([c for c, _ in both], task.labels, len(example))
        gold = task.chains.one(s)[1].tolist()
        kept = []
        for (constraint, of_example), machine in zip(both, machines, strict=True):
            breaks = not machine.accepts(gold)
            if constraint.penalty is None:
                if not breaks:
                    kept.append((constraint, machine, -1, False))
                continue
            group = group_of(constraint, of_example=of_example)
            penalties.setdefault(group, constraint.penalty)
            kept.append((constraint, machine, numbers.setdefault(group, len(numbers)), breaks))
        columns = tuple(zip(*kept, strict=True)) if kept else ((), (), (), ())
        found.append(Bound(*columns))
    return found, penalties


def penalties_by_odds(task: Task) -> dict[str, float]:
    """Log odds that the training data keeps a constraint (section 6.2), half a violation and half a success added; at least 0.

    Scores of a random field are log probabilities, so the odds are in their unit. Weights stay as they are.
    """
    bounds, penalties = bound_constraints(task)
    if not task.learn_penalties or not penalties:
        return {}
    counts = np.full((len(penalties), 2), 0.5)
    for bound in bounds:
        for group, breaks in zip(bound.groups, bound.broken_by_gold, strict=True):
            if group >= 0:
                counts[group, int(breaks)] += 1.0
    odds = np.log(counts[:, 0] / counts[:, 1])
    return {group: max(float(value), 0.0) for group, value in zip(penalties, odds, strict=True)}


def train_perceptron(task: Task) -> tuple[Scores, dict[str, float]]:
    chains = task.chains
    layout, features = chains.layout, chains.features
    bounds, penalties = bound_constraints(task)
    averaged, prices = Averaged(np.zeros(layout.size)), Averaged(np.array(list(penalties.values())))
    random = np.random.default_rng(task.seed)
    weights, *tables = layout.split(averaged.weights)
    of_weights, *of_tables = layout.split(averaged.drift)
    for epoch in range(1, task.epochs + 1):
        wrong = 0
        for s in random.permutation(len(chains)).tolist():
            rows, gold = chains.one(s)
            found = constrained_labels_of(task, averaged.weights, prices.weights, rows, bounds[s])
            differ = found != gold
            if differ.any():
                wrong += int(differ.sum())
                amounts = np.zeros((len(gold), layout.n_labels))
                at = np.flatnonzero(differ)
                amounts[at, gold[at]] = 1.0
                amounts[at, found[at]] = -1.0
                features.add(rows, amounts, 1.0, weights)
                features.add(rows, amounts, averaged.moment, of_weights)
                for y, sign in ((gold, 1.0), (found, -1.0)):
                    for target, factor in ((tables, sign), (of_tables, sign * averaged.moment)):
                        np.add.at(target[0], (y[:-1], y[1:]), factor)
                        target[1][y[0]] += factor
                        target[2][y[-1]] += factor
                if task.learn_penalties:
                    adjust(prices, bounds[s], found.tolist())
            averaged.tick()
            prices.tick()
        task.report(epoch, float(wrong), averaged.average, dict(zip(penalties, prices.average().tolist(), strict=True)))
    learned = dict(zip(penalties, prices.average().tolist(), strict=True)) if task.learn_penalties else {}
    return averaged.average(), learned


def adjust(prices: Averaged, bound: Bound, found: list[int]) -> None:
    """Every penalty grows by how often the prediction breaks the group more than the gold labels do; at least 0 is left."""
    for group, machine, breaks in zip(bound.groups, bound.machines, bound.broken_by_gold, strict=True):
        if group >= 0:
            change = float(not machine.accepts(found)) - float(breaks)
            prices.add(np.array([group]), max(change, -float(prices.weights[group])))


def constrained_labels_of(
    task: Task, x: Scores, prices: Scores, rows: np.ndarray[tuple[int, int], np.dtype[np.int32]], bound: Bound
) -> Integers:
    """The best labelling under the constraints as they are priced now: Viterbi if it breaks none, else the exact decoder."""
    chains = task.chains
    weights, table = padded(chains, x)
    emissions = chains.features.scores(rows, weights)
    found = np.empty(len(rows), dtype=np.int64)
    ngram_viterbi(emissions, table, np.empty((len(rows) + 1, table.shape[1])), found)
    labelling = found.tolist()
    active = [i for i, group in enumerate(bound.groups) if group < 0 or prices[group] > 0.0]
    if all(bound.machines[i].accepts(labelling) for i in active):
        return found
    constraints = [
        Constraint(c.kind, c.arguments, None if bound.groups[i] < 0 else float(prices[bound.groups[i]]))
        for i, c in ((i, bound.constraints[i]) for i in active)
    ]
    size = len(task.labels)
    problem = Problem(emissions, table[0, :size, :size], table[0, size, :size], table[0, :size, size], task.labels, constraints, order=1)
    structure = decode(problem).structure
    return found if structure is None else np.array(problem.indices(structure), dtype=np.int64)


ALGORITHMS: dict[str, tuple[Callable[[Task], tuple[Scores, dict[str, float]]], int]] = {
    "crf": (train_crf, 100),
    "crf-sgd": (train_crf_sgd, 30),
    "perceptron": (train_perceptron, 15),
}
