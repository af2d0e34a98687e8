"""Semantic role labelling under ten global constraints (Tromble & Eisner 2006, sections 5 and 6): the paper's tables on real data.

    python benchmarks/srl.py [--models FOLDER] [--every 8] [--test]

Reads the propositions in ../shared/data/srl (or ZEROGAP_DATA), PropBank on the Penn Treebank sample. As in the paper the heads of chunks
are labelled with A0 to A5 or O, and a run of equal labels is an argument. A unit is a chunk, whose head is its last word, or a word outside
of all chunks; the chunk that holds the verb is cut behind the verb, so that the verb is a head ("the publishing | group"). A unit gets the
label of the argument that covers its head: an argument that begins or ends inside a unit is moved to the unit's edge, one that covers no
head is lost; `mapped` counts what survives unchanged.

Two models: `unigram` has no scores of label sequences, as in Roth & Yih 2005 and the paper; `chain` is a conditional random field. Two
perceptrons for section 6.2: one trained without constraints, one (`joint`) that learns their penalties with its weights. All choices
(templates, regularisation, the thresholds below) were made on the development split; --test decodes the test split with them.

Constraints, per proposition:
  NO DUPLICATE A0 .. A5    at most one run of a label
  AT LEAST ONE ARGUMENT    left out where the verb is the only unit
  ARGUMENT CANDIDATES      neighbouring units that must agree: those whose kinds (chunk type, preposition, tag) and side of the verb had
                           different labels in at most GLUE of all training cases; spans are the largest groups so glued
  KNOWN VERB POSITION      the verb is O
  DISALLOW ARGUMENTS       labels never seen with the lemma in training, if the lemma was seen with SEEN propositions or more
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import tables

from zerogap import sequence as seq
from zerogap.sequence.evaluation import evaluate, segments
from zerogap.sequence.model import SequenceModel
from zerogap.sequence.training import train

DATA = Path(os.environ.get("ZEROGAP_DATA", Path(__file__).parents[2] / "shared" / "data")) / "srl"
ARGUMENTS = ("A0", "A1", "A2", "A3", "A4", "A5")
LABELS = (*ARGUMENTS, "O")
GLUE, GLUE_COUNT = 0.03, 10  # chosen on development data, by F1 under hard constraints
SEEN = 10
L2, MIN_COUNT, ITERATIONS, EPOCHS = 2.0, 2, 60, 8  # regularisation, rarest feature, steps of L-BFGS, passes of the perceptron


Frames = dict[str, tuple[str, ...]]  # labels that a lemma never has


@dataclass(frozen=True, slots=True)
class Unit:
    start: int
    end: int
    kind: str  # the chunk type, or the tag of a word outside of chunks

    @property
    def head(self) -> int:
        return self.end - 1


def units_of(row: dict[str, Any]) -> list[Unit]:
    """Chunks and single words in order; the chunk of the verb is cut behind it."""
    starting = {start: (end, kind) for start, end, kind in row["chunks"]}
    found, t = [], 0
    while t < len(row["tokens"]):
        end, kind = starting.get(t, (t + 1, row["pos"][t]))
        cut = row["verb"] + 1
        if t < cut < end:
            found += [Unit(t, cut, "VP"), Unit(cut, end, kind)]
        else:
            found.append(Unit(t, end, "VP" if end == cut else kind))
        t = end
    return found


@dataclass(frozen=True, slots=True)
class Proposition:
    row: dict[str, Any]
    units: list[Unit]
    verb: int  # the verb's unit
    labels: tuple[str, ...]

    @property
    def kinds(self) -> list[str]:
        """The chunk type with its preposition or conjunction; tags outside of chunks."""
        tokens = self.row["tokens"]
        return [f"{u.kind}:{tokens[u.head].lower()}" if u.kind in ("PP", "SBAR", "IN", "TO", "CC", "PRT") else u.kind for u in self.units]


def read(part: str) -> list[Proposition]:
    found = []
    for line in (DATA / f"{part}.jsonl").read_text().splitlines():
        row = json.loads(line)
        units = units_of(row)
        label_of = {t: label for start, end, label in row["args"] for t in range(start, end)}
        labels = tuple(label_of.get(unit.head, "O") for unit in units)
        found.append(Proposition(row, units, next(i for i, unit in enumerate(units) if unit.head == row["verb"]), labels))
    return found


def mapped(propositions: Sequence[Proposition]) -> float:
    """The share of arguments that are runs of whole units."""
    kept = total = 0
    for p in propositions:
        starts, ends = {u.start for u in p.units}, {u.end for u in p.units}
        for start, end, _ in p.row["args"]:
            total += 1
            kept += start in starts and end in ends
    return kept / total


# Features


BE = ("be", "is", "are", "was", "were", "been", "being", "'s", "'re", "am", "get", "got")
HAVE = ("have", "has", "had", "having", "'ve", "'d")


def voice_of(row: dict[str, Any]) -> str:
    """passive after a form of be, reduced for a participle with no auxiliary, else active."""
    v, tokens, pos = row["verb"], [token.lower() for token in row["tokens"]], row["pos"]
    if pos[v] not in ("VBN", "VBD"):
        return "active"
    t = v - 1
    while t >= 0 and (pos[t] in ("RB", "RBR", "CC", ",", "VBN", "VBD", "MD", "EX") or tokens[t] in BE + HAVE) and v - t < 6:
        if tokens[t] in BE:
            return "passive"
        if tokens[t] in HAVE:
            return "active"
        t -= 1
    return "reduced" if pos[v] == "VBN" else "active"


def bucket(distance: int) -> str:
    for limit in (0, 1, 2, 3, 4, 6, 9, 14):
        if distance <= limit:
            return str(limit)
    return "15+"


def columns_of(p: Proposition, glue: Glue | None = None) -> dict[str, tuple[str, ...]]:
    """What templates read, one value per unit; neighbours are columns of their own, so that a unit can stand alone."""
    row, units, verb = p.row, p.units, p.verb
    tokens, pos = [token.lower() for token in row["tokens"]], row["pos"]
    n = len(units)
    kinds, kind = p.kinds, [u.kind for u in units]
    head = [tokens[u.head] for u in units]
    tag = [pos[u.head] for u in units]
    group = list(range(n))
    for start, end in spans_of(p, glue) if glue is not None else ():
        group[start:end] = [start] * (end - start)
    quoted, inside = [], False
    for u in units:
        if tokens[u.start] in ("``", "''"):
            inside = tokens[u.start] == "``"
        quoted.append(inside)
    columns: dict[str, list[str]] = defaultdict(list)

    def at(values: Sequence[str], t: int) -> str:
        return values[t] if 0 <= t < n else "-"

    after = [kinds[t] for t in range(verb + 1, min(verb + 4, n))]
    frame = " ".join(kind[t] if t != verb else "V" for t in range(max(verb - 2, 0), min(verb + 4, n)))
    voice = voice_of(row)
    subject = next((t for t in range(verb - 1, -1, -1) if kind[t] == "NP"), -1)
    for t, u in enumerate(units):
        side = "before" if t < verb else "verb" if t == verb else "after"
        low, high = sorted((t, verb))
        between = kind[low + 1 : high]
        counts = Counter(between)
        path = [kind[t]]
        for k in between if t < verb else between[::-1]:
            if k != path[-1]:
                path.append(k)
        lexical = [kinds[t]]
        for k in kinds[low + 1 : high] if t < verb else kinds[low + 1 : high][::-1]:
            if k != lexical[-1]:
                lexical.append(k)
        object_of = head[t + 1] if u.kind in ("PP", "SBAR") and t + 1 < n else "-"
        preposition = head[t - 1] if t > 0 and kind[t - 1] == "PP" else "-"
        g = group[t]
        gap = [group[s] for s in range(low + 1, high)]
        values = {
            "form": head[t], "tag": tag[t], "kind": u.kind, "lexical": kinds[t], "first": tokens[u.start], "first_tag": pos[u.start],
            "lemma": row["lemma"], "verb": tokens[row["verb"]], "verb_tag": pos[row["verb"]], "voice": voice, "side": side,
            "distance": side + bucket(abs(t - verb)), "nps": side + bucket(counts["NP"]), "vps": side + bucket(counts["VP"]),
            "commas": side + bucket(counts[","]), "clauses": side + bucket(sum(k in ("SBAR", "WP", "WDT") for k in between)),
            "path": side + "/".join(path if len(path) < 8 else [*path[:4], "..", *path[-3:]]),
            "short": side + "/".join(path[:3]) + "~" + "/".join(path[-2:]),
            "lexical_path": side + "/".join(lexical if len(lexical) < 6 else [*lexical[:3], "..", *lexical[-2:]]),
            "is_subject": str(t == subject), "frame": frame, "after": " ".join(after), "object": object_of, "preposition": preposition,
            "quoted": f"{quoted[t]}{quoted[verb]}", "begin": kind[0], "group_form": head[g], "group_kind": kinds[g], "group_tag": tag[g],
            "group_object": head[g + 1] if kind[g] in ("PP", "SBAR") and g + 1 < n else "-",
            "groups": side + bucket(len(set(gap) - {g, verb})), "in_group": str(g != t),
            "to_end": bucket(n - 1 - t), "rank": f"{side}{sum(kind[s] == 'NP' for s in range(t))}" if t < 4 else "later",
            "before_verb": at(kinds, verb - 1), "after_verb": at(kinds, verb + 1), "to_verb": tokens[units[verb].start],
            "comma_before": str("," in between[:1] or at(kind, t - 1) == ","), "last_verb": str("VP" not in kind[verb + 1 :]),
        }  # fmt: skip
        for offset in (-3, -2, -1, 1, 2, 3):
            for name, source in (("form", head), ("tag", tag), ("lexical", kinds)):
                values[f"{name}{'m' if offset < 0 else 'p'}{abs(offset)}"] = at(source, t + offset)
        for name, value in values.items():
            columns[name].append(value)
    return {name: tuple(column) for name, column in columns.items()}


TEMPLATES = """
bias
form[0]
tag[0]
kind[0]
lexical[0]
first[0]
first_tag[0]
formm1[0]
formp1[0]
tagm1[0]
tagp1[0]
lexicalm1[0]
lexicalp1[0]
lexicalm2[0]
lexicalp2[0]
lexicalm3[0]
lexicalp3[0]
lexicalm1[0]+lexical[0]
lexical[0]+lexicalp1[0]
lexicalm2[0]+lexicalm1[0]+lexical[0]
lexical[0]+lexicalp1[0]+lexicalp2[0]
side[0]
side[0]+voice[0]
side[0]+kind[0]+voice[0]
side[0]+lexical[0]+voice[0]
lemma[0]
lemma[0]+side[0]
lemma[0]+side[0]+voice[0]
lemma[0]+side[0]+kind[0]
lemma[0]+lexical[0]+side[0]
lemma[0]+form[0]
lemma[0]+preposition[0]+side[0]
lemma[0]+group_kind[0]+side[0]+voice[0]
lemma[0]+distance[0]+kind[0]
lemma[0]+path[0]
lemma[0]+groups[0]+group_kind[0]
verb[0]
verb_tag[0]+side[0]
verb_tag[0]+side[0]+kind[0]
distance[0]
distance[0]+kind[0]
distance[0]+voice[0]+kind[0]
nps[0]
nps[0]+kind[0]+voice[0]
vps[0]
vps[0]+kind[0]+voice[0]
commas[0]
clauses[0]
nps[0]+vps[0]+commas[0]
path[0]
path[0]+voice[0]
short[0]
short[0]+voice[0]
lexical_path[0]
lexical_path[0]+voice[0]
is_subject[0]
is_subject[0]+voice[0]
frame[0]+side[0]
frame[0]+distance[0]
after[0]+distance[0]
object[0]
object[0]+kind[0]+side[0]
preposition[0]+side[0]
preposition[0]+side[0]+voice[0]
quoted[0]
quoted[0]+lemma[0]
quoted[0]+side[0]+kind[0]
begin[0]+distance[0]
group_form[0]
group_form[0]+side[0]
group_kind[0]+side[0]+voice[0]
group_kind[0]+group_object[0]
group_tag[0]+side[0]
groups[0]+group_kind[0]
groups[0]+group_kind[0]+voice[0]
groups[0]+vps[0]+group_kind[0]+voice[0]
groups[0]+commas[0]+vps[0]
in_group[0]+kind[0]
to_end[0]
rank[0]
before_verb[0]+side[0]
after_verb[0]+side[0]
after_verb[0]+distance[0]+lemma[0]
to_verb[0]+side[0]
to_verb[0]+distance[0]
comma_before[0]+side[0]+kind[0]
last_verb[0]+side[0]+lemma[0]
"""


# Constraints


@dataclass(frozen=True, slots=True)
class Glue:
    """Kinds of neighbouring units that (almost) always have the same label."""

    pairs: frozenset[tuple[str, str, str]]


def joints(p: Proposition) -> Iterable[tuple[int, tuple[str, str, str]]]:
    """Neighbouring units besides the verb, and what they look like."""
    kinds = p.kinds
    for t in range(len(kinds) - 1):
        if p.verb not in (t, t + 1):
            near = "" if abs(t - p.verb) > 2 else str(t - p.verb)
            yield t, (kinds[t], kinds[t + 1], near or ("<" if t < p.verb else ">"))


def learn_glue(propositions: Sequence[Proposition], most: float = GLUE, least: int = GLUE_COUNT) -> Glue:
    seen: Counter[tuple[str, str, str]] = Counter()
    differ: Counter[tuple[str, str, str]] = Counter()
    for p in propositions:
        for t, pair in joints(p):
            seen[pair] += 1
            differ[pair] += p.labels[t] != p.labels[t + 1]
    return Glue(frozenset(pair for pair, count in seen.items() if count >= least and differ[pair] <= most * count))


def spans_of(p: Proposition, glue: Glue) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for t, pair in joints(p):
        if pair in glue.pairs:
            if found and found[-1][1] == t + 1:
                found[-1] = (found[-1][0], t + 2)
            else:
                found.append((t, t + 2))
    return found


def learn_frames(propositions: Sequence[Proposition]) -> Frames:
    """Labels that a lemma never has, for lemmas seen often enough that have some argument."""
    seen: Counter[str] = Counter()
    having: dict[str, set[str]] = defaultdict(set)
    for p in propositions:
        seen[p.row["lemma"]] += 1
        having[p.row["lemma"]].update(label for label in p.labels if label != "O")
    return {lemma: tuple(a for a in ARGUMENTS if a not in having[lemma]) for lemma in seen if seen[lemma] >= SEEN and having[lemma]}


def constraints_of(p: Proposition, glue: Glue, frames: Frames) -> tuple[seq.Constraint, ...]:
    found = [seq.no_duplicate(label).called(f"NO DUPLICATE {label}") for label in ARGUMENTS]
    if len(p.units) > 1:
        found.append(seq.at_least_one(*ARGUMENTS).called("AT LEAST ONE ARGUMENT"))
    found.append(seq.spans(spans_of(p, glue)).called("ARGUMENT CANDIDATES"))
    found.append(seq.at(p.verb, "O").called("KNOWN VERB POSITION"))
    found.append(seq.disallow(*frames.get(p.row["lemma"], ())).called("DISALLOW ARGUMENTS"))
    return tuple(found)


# Models


def example_of(p: Proposition, glue: Glue, constraints: tuple[seq.Constraint, ...] = ()) -> seq.Example:
    return seq.Example(columns_of(p, glue), p.labels, constraints)


def single_units(examples: Iterable[seq.Example]) -> list[seq.Example]:
    """Every unit as a sequence of its own, from which a model learns nothing about label sequences."""
    return [
        seq.Example({name: (column[t],) for name, column in example.columns.items()}, (label,))
        for example in examples
        for t, label in enumerate(example.labels or ())
    ]


def softened(constraints: Sequence[seq.Constraint], penalties: dict[str, float]) -> tuple[seq.Constraint, ...]:
    """With their penalties; without those that are worth nothing."""
    return tuple(seq.soft(c, penalties[c.name]) for c in constraints if penalties[c.name] > 0.0)


def log_odds(propositions: Sequence[Proposition], constraints: Sequence[tuple[seq.Constraint, ...]]) -> dict[str, float]:
    """Log odds that gold labels keep each constraint (section 6.2), half a case added to both."""
    kept, broken = Counter[str](), Counter[str]()
    for p, rules in zip(propositions, constraints, strict=True):
        problem = seq.Problem(np.zeros((len(p.labels), len(LABELS))), labels=LABELS, constraints=rules)
        failed = set(problem.broken(problem.indices(p.labels)))
        for c, rule in enumerate(rules):
            (broken if c in failed else kept)[rule.name] += 1
    return {name: max(math.log((kept[name] + 0.5) / (broken[name] + 0.5)), 0.0) for name in kept | broken}


@dataclass(frozen=True, slots=True)
class Scorer:
    """Scores of a model; `alone` for one that was trained on single units, whose boundary scores belong to every unit."""

    model: SequenceModel
    alone: bool = False

    def problem(self, example: seq.Example, constraints: Sequence[seq.Constraint]) -> seq.Problem:
        model = self.model
        if self.alone:
            return seq.Problem(model.emissions(example) + model.start + model.end, labels=model.labels, constraints=constraints)
        return model.problem(example, constraints=constraints)


def models(folder: Path | None, examples: list[seq.Example], rules: list[tuple[seq.Constraint, ...]]) -> dict[str, Scorer]:
    """Trained, or read from the folder if it has them."""
    priced = [replace(e, constraints=tuple(seq.soft(c, 1.0) for c in r)) for e, r in zip(examples, rules, strict=True)]
    templates = TEMPLATES.split()
    jobs = {
        "unigram": lambda: train(single_units(examples), templates=templates, l2=L2, min_count=MIN_COUNT, epochs=ITERATIONS),
        "chain": lambda: train(examples, templates=templates, l2=L2, min_count=MIN_COUNT, epochs=ITERATIONS),
        "perceptron": lambda: train(examples, algorithm="perceptron", templates=templates, min_count=MIN_COUNT, epochs=EPOCHS),
        "joint": lambda: train(priced, algorithm="perceptron", templates=templates, min_count=MIN_COUNT, epochs=EPOCHS),
    }
    found = {}
    for name, job in jobs.items():
        path = folder / f"srl-{name}.npz" if folder else None
        if path and path.exists():
            model = SequenceModel.load(path)
        else:
            begin = time.perf_counter()
            model = job()
            print(f"trained {name} in {time.perf_counter() - begin:.0f} s", flush=True)
            if path:
                model.save(path)
        found[name] = Scorer(model, name == "unigram")
    return found


TABLE_3 = {
    "ARGUMENT CANDIDATES": 0.376, "NO DUPLICATE A1": 0.209, "NO DUPLICATE A0": 0.081, "NO DUPLICATE A2": 0.035,
    "AT LEAST ONE ARGUMENT": 0.025, "DISALLOW ARGUMENTS": 0.011, "NO DUPLICATE A3": 0.003, "NO DUPLICATE A4": 0.001,
}  # fmt: skip
TABLE_4 = (0.550, 0.200, 0.211, 0.036, 0.002, 0.000)
TABLE_5 = {
    "ARGUMENT CANDIDATES": 0.0209, "AT LEAST ONE ARGUMENT": 0.0063, "NO DUPLICATE A2": 0.0007, "NO DUPLICATE A0": 0.0005,
    "NO DUPLICATE A1": 0.0005, "NO DUPLICATE A3": 0.0002, "NO DUPLICATE A4": 0.0002,
}  # fmt: skip


def quality(
    title: str, propositions: Sequence[Proposition], found: dict[str, Scorer], glue: Glue, frames: Frames, odds: dict[str, float]
) -> None:
    tables.headline(title)
    examples = [example_of(p, glue) for p in propositions]
    rules = [constraints_of(p, glue, frames) for p in propositions]
    gold = [p.labels for p in propositions]
    columns = f"{'precision':>10}{'recall':>8}{'F1':>8}{'exact %':>9}{'F1 of words':>13}{'change of F1':>24}"
    print(f"{'':12}{'constraints':28}{columns}   verified")
    free: list[Any] = []
    for name, scorer in found.items():
        learned = scorer.model.penalties
        ways = {"none": [()] * len(rules), "hard": rules, "soft, log odds": [softened(r, odds) for r in rules]}
        if name in ("perceptron", "joint"):
            del ways["soft, log odds"]  # the odds are in units of log probability, its scores are not
        if learned:
            ways["soft, learned jointly"] = [softened(r, dict(learned)) for r in rules]
        for way, constraints in ways.items():
            problems = [scorer.problem(e, c) for e, c in zip(examples, constraints, strict=True)]
            solutions = seq.decode_many(problems)
            count = sum(tables.verified(problem, solution) for problem, solution in zip(problems, solutions, strict=True))
            labellings = [solution.structure for solution in solutions]
            if way == "none" and name != "joint":
                free = labellings
            change = "" if free is labellings else tables.gain(gold, free, labellings)
            report = evaluate(gold, labellings)
            c = report.overall
            scores = f"{100 * c.precision:10.2f}{100 * c.recall:8.2f}{100 * c.f1:8.2f}{100 * report.exact:9.2f}"
            scores += f"{100 * word_f1(propositions, labellings):13.2f}"
            print(f"{name:12}{way:28}{scores}{change:>24}   {count} of {len(problems)}", flush=True)
            if way == "hard" and name == "chain":
                fields = report.fields
    print("change of F1: against the same model without constraints (joint: the perceptron); 95% intervals by a paired bootstrap")
    by_label = ", ".join(f"{label} {100 * counts.f1:.2f} ({counts.gold})" for label, counts in fields.items())
    print(f"table 1, chain with hard constraints, F1 (arguments): {by_label}")


def word_f1(propositions: Sequence[Proposition], labellings: Sequence[Any]) -> float:
    """F1 of the original arguments, spans of words: what the mapping to units loses is lost here."""
    correct = gold = guessed = 0
    for p, labels in zip(propositions, labellings, strict=True):
        right = {tuple(argument) for argument in p.row["args"]}
        found = {(p.units[start].start, p.units[end - 1].end, label) for start, end, label in segments(labels)}
        correct, gold, guessed = correct + len(right & found), gold + len(right), guessed + len(found)
    return 2 * correct / (gold + guessed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, help="where trained models are kept for the next run")
    parser.add_argument("--every", type=int, default=8, help="HiGHS solves every k-th problem")
    parser.add_argument("--test", action="store_true", help="also decode the test split")
    arguments = parser.parse_args()
    if not DATA.exists():
        raise SystemExit(f"no data at {DATA}; set ZEROGAP_DATA")
    training, development = read("train"), read("dev")
    glue, frames = learn_glue(training), learn_frames(training)
    rules = [constraints_of(p, glue, frames) for p in training]
    found = models(arguments.models, [example_of(p, glue) for p in training], rules)
    odds = log_odds(training, rules)
    print(f"{len(training)} propositions to train, {len(development)} to develop")
    print(f"{100 * mapped(development):.2f}% of the arguments in the development split are runs of whole units")
    examples, rules = [example_of(p, glue) for p in development], [constraints_of(p, glue, frames) for p in development]
    for name in ("unigram", "chain"):
        scorer = found[name]
        what = f"{name} model, development split"
        hard = [scorer.problem(e, r) for e, r in zip(examples, rules, strict=True)]
        scores = [(p.emissions, None if scorer.alone else p.transitions[0], p.start, p.end, p.labels) for p in hard]

        def rebuild(i: int, scores: list[Any] = scores) -> seq.Problem:
            return seq.Problem(*scores[i], rules[i], order=1)

        tables.table_2(hard, what, every_ilp=arguments.every, every_pynini=1, every_intersection=1, by_hand=True, rebuild=rebuild)
        print("targets: HiGHS >= 200 times, pynini >= 20, intersection >= 30; the paper: brute force 58, ILP 18 (another machine)")
        free = [seq.decode(scorer.problem(e, ())).structure for e in examples]
        broken = [tables.broken_names(problem, labels) for problem, labels in zip(hard, free, strict=True)]
        tables.table_of_violations(f"Table 3. Violations of constraints by y0*: {what}", broken, TABLE_3)
        tables.table_4(f"Table 4. Number of y0* with each violation count: {what}", broken, TABLE_4)
        tables.figure_6(f"Figure 6. Mean lattice size in arcs: {what}", hard)
        soft = [scorer.problem(e, softened(r, odds)) for e, r in zip(examples, rules, strict=True)]
        tables.soft_against_hard(f"Section 6.2. Soft constraints, by log odds of violation: {what}", hard, soft)
        some = training[::10]
        solved = [scorer.problem(example_of(p, glue), constraints_of(p, glue, frames)) for p in some]
        tables.orders(f"Section 7. Orders of constraints (learned on every 10th training proposition): {what}", hard, solved)
    gold = [tables.broken_names(problem, p.labels) for problem, p in zip(hard, development, strict=True)]
    tables.table_of_violations("Table 5. Violations of constraints by gold labels: development split", gold, TABLE_5)
    print("penalties by log odds: " + ", ".join(f"{name} {value:.2f}" for name, value in odds.items()))
    print("penalties learned jointly: " + ", ".join(f"{name} {value:.2f}" for name, value in found["joint"].model.penalties.items()))
    quality("F1 of arguments: development split", development, found, glue, frames, odds)
    if arguments.test:
        quality("F1 of arguments: test split", read("test"), found, glue, frames, odds)


if __name__ == "__main__":
    main()
