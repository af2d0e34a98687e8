"""Parse, price and cut against the full linear program: tables 1 and 2 of Riedel, Smith & McCallum (2012), on the shared treebanks.

    python benchmarks/price_and_cut.py [--models FOLDER] [--treebanks hu_szeged da_ddt ...] [--epochs 5] [--algorithm mira] [--sentences N]
                                       [--longest 40] [--parts train price constraints anchors]

Reads ../shared/data/ud (or ZEROGAP_DATA). Models of grandparents that are not in FOLDER yet are trained there first, on the training part
with gold tags; the epoch is chosen on the development part. it_isdt and it_vit have no training part: the model of it_partut parses them.
The test part is only measured: all of its sentences of 2 words to --longest, or the first N of them. Every arc is allowed when a sentence
is decoded.

    price        table 1: the full program with all families of rows (BF) and with the two that imply the others (tight), both with
                 all parts scored; algorithm 1 as it is printed (PPC); and `method="price-and-cut"`, with its proof, branched if need be
                 (ours). Times are of everything from the features of a sentence on: bounds, scores, the program. Ratios are between sums
                 over sentences
    constraints  table 2: the full program with families of rows, all parts scored
    anchors      the instances of ../shared/instances with grandparents, siblings and both

A sentence whose program is not solved within LIMIT seconds counts with the time that it took, and as not integral.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from nonprojective import BORROWED, SEVERAL_ROOTS, headline, instances, sentences_of

from zerogap.baselines.dependency_ilp import solve_dependency
from zerogap.dependency import Problem, decode, train
from zerogap.dependency.decoding.price_and_cut.decoder import priced
from zerogap.dependency.parser.parser import Parser
from zerogap.dependency.scoring.bounds import lazy_problem
from zerogap.dependency.scoring.bounds_offline import compute_bounds
from zerogap.dependency.scoring.sentence import every_arc
from zerogap.dependency.sentence import Sentence
from zerogap.papers.riedel2012.full_program import solve_grandparents
from zerogap.proof.verify import verify

TREEBANKS = ("da_ddt", "it_isdt", "it_vit", "hu_szeged", "en_ewt")
LIMIT = 60.0  # seconds for a program
SAME = 1e-6  # relative difference of objectives that are the same
VERIFIED = 20  # sentences of a treebank whose certificates are checked
FAMILIES = ("ArcGP+GPArc", "OneGP+NoGP", "OneGP+GPArc", "all")
PARTS = ("train", "price", "constraints", "anchors")


def trained(folder: Path, treebank: str, epochs: int, algorithm: str) -> Parser:
    source = BORROWED.get(treebank, treebank)
    path = folder / f"{source}.grandparent.nonprojective.npz"
    begin = time.perf_counter()
    if path.exists():
        parser = Parser.load(path)
        if parser.bounds is not None:
            return parser
    else:
        parser = train(
            sentences_of(source, "train"), development=sentences_of(source, "dev"), order="grandparent", algorithm=algorithm,
            projective=False, epochs=epochs, single_root=source not in SEVERAL_ROOTS, labels=False, most_features=1_500_000,
        )  # fmt: skip
    parser = compute_bounds(parser, sentences_of(source, "train"))
    parser.save(path)
    print(f"  {path.name}: {time.perf_counter() - begin:.0f} s of training", flush=True)
    return parser


def test_sentences(treebank: str, longest: int, most: int | None) -> list[Sentence]:
    return [sentence for sentence in sentences_of(treebank, "test") if 2 <= len(sentence) <= longest][:most]


@dataclass
class Column:
    """One system on all sentences."""

    name: str
    seconds: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    integral: list[bool] = field(default_factory=list)
    right: int = 0
    words: int = 0
    scored: int = 0
    added: int = 0
    possible: int = 0

    def add(self, seconds: float, value: float, integral: bool, heads: Sequence[int], gold: Sequence[int]) -> None:
        self.seconds.append(seconds)
        self.values.append(value)
        self.integral.append(integral)
        self.right += sum(a == b for a, b in zip(heads, gold, strict=True))
        self.words += len(gold)

    def count(self, possible: int, scored: int, added: int) -> None:
        self.possible, self.scored, self.added = self.possible + possible, self.scored + scored, self.added + added

    @property
    def uas(self) -> float:
        return 100 * self.right / max(self.words, 1)


def all_scored(lazy: Problem) -> Problem:
    """The same problem, every part scored."""
    assert lazy.grandparents is not None
    table = lazy.grandparents.dense(lazy.n_words)
    return Problem(lazy.arcs, grandparents=table, single_root=lazy.single_root, resolution=lazy.resolution)


def price_table(parser: Parser, treebank: str, test: Sequence[Sentence]) -> None:
    lengths = [len(sentence) for sentence in test]
    headline(
        f"Table 1: {treebank} test, {len(test)} sentences of {min(lengths)} to {max(lengths)} words, {np.mean(lengths):.1f} on average"
    )
    columns = {name: Column(name) for name in ("BF", "tight", "PPC", "ours")}
    proven, branched = [], []
    warm, bounds = lazy_problem(parser, test[0], allowed=every_arc(len(test[0])))
    priced(warm, warm.arcs, bounds=bounds.by_name)
    for i, sentence in enumerate(test):
        gold, allowed = sentence.heads or (), every_arc(len(sentence))
        begin = time.perf_counter()
        dense = all_scored(lazy_problem(parser, sentence, allowed=allowed)[0])
        scoring = time.perf_counter() - begin
        full = solve_grandparents(dense, price=False, time_limit=LIMIT)
        columns["BF"].add(scoring + full.seconds, full.value, full.integral and full.complete, full.heads, gold)
        columns["BF"].count(full.possible, full.scored, full.added)
        small = solve_dependency(dense, time_limit=LIMIT)
        columns["tight"].add(scoring + small.seconds, small.value, small.integral, small.heads or (0,) * len(gold), gold)
        columns["tight"].count(full.possible, full.possible, full.possible)

        begin = time.perf_counter()
        lazy, bounds = lazy_problem(parser, sentence, allowed=allowed)
        grown = solve_grandparents(lazy, bounds=bounds.grandparents, time_limit=LIMIT)
        columns["PPC"].add(time.perf_counter() - begin, grown.value, grown.integral and grown.complete, grown.heads, gold)
        columns["PPC"].count(grown.possible, grown.scored, grown.added)

        begin = time.perf_counter()
        lazy, bounds = lazy_problem(parser, sentence, allowed=allowed)
        found = priced(lazy, lazy.arcs, bounds=bounds.by_name, time_limit=LIMIT)
        seconds = time.perf_counter() - begin
        solution = found.closed.solution()
        columns["ours"].add(seconds, found.value, found.integral, solution.structure or (0,) * len(gold), gold)
        columns["ours"].count(*(numbers["grandparents"] for numbers in (found.possible, found.scored, found.added)))
        proven.append(solution.status == "optimal")
        branched.append(found.closed.n_nodes > 1)
        if i < VERIFIED:
            verify(dense, solution)
    base = columns["BF"]
    print(f"{'':34}" + "".join(f"{name:>12}" for name in columns))
    for text, cell in (
        ("sentences / s", lambda c: f"{len(test) / sum(c.seconds):.2f}"),
        ("relative to BF", lambda c: f"{100 * sum(base.seconds) / sum(c.seconds):,.0f}%"),
        ("relative to tight", lambda c: f"{100 * sum(columns['tight'].seconds) / sum(c.seconds):,.0f}%"),
        ("ms, median", lambda c: f"{1e3 * np.median(c.seconds):.1f}"),
        ("grandparents scored", lambda c: f"{100 * c.scored / c.possible:.2f}%"),
        ("grandparents added", lambda c: f"{100 * c.added / c.possible:.2f}%"),
        ("objective relative to BF", lambda c: f"{100 * finite_ratio(c.values, base.values):.5f}%"),
        ("sentences with the same objective", lambda c: f"{100 * np.mean(same(c.values, base.values)):.1f}%"),
        ("integral", lambda c: f"{100 * np.mean(c.integral):.1f}%"),
        ("UAS", lambda c: f"{c.uas:.2f}"),
    ):  # fmt: skip
        print(f"{text:34}" + "".join(f"{cell(column):>12}" for column in columns.values()), flush=True)
    ours = columns["ours"]
    lower = [a < b - SAME * abs(b) for a, b in zip(ours.values, base.values, strict=True)]
    higher = [a > b + SAME * abs(b) for a, b in zip(ours.values, base.values, strict=True)]
    print(
        f"ours: {100 * np.mean(proven):.1f}% proven optimal, {100 * np.mean(branched):.1f}% by branching; objective below the flow's on"
        f" {sum(lower)} sentences (trees are tighter than the flow), above it on {sum(higher)}"
    )


def same(values: Sequence[float], base: Sequence[float]) -> list[bool]:
    return [a == b or abs(a - b) <= SAME * max(abs(b), 1e-9) for a, b in zip(values, base, strict=True)]


def finite_ratio(values: Sequence[float], base: Sequence[float]) -> float:
    both = np.isfinite(values) & np.isfinite(base)
    return float(np.array(values)[both].sum() / np.array(base)[both].sum())


def constraints_table(parser: Parser, treebank: str, test: Sequence[Sentence]) -> None:
    headline(f"Table 2: {treebank} test, {len(test)} sentences, full programs")
    columns = {name: Column(name) for name in FAMILIES}
    for sentence in test:
        dense = all_scored(lazy_problem(parser, sentence, allowed=every_arc(len(sentence)))[0])
        for name, column in columns.items():
            found = solve_grandparents(dense, constraints=name, price=False, time_limit=LIMIT)
            column.add(found.seconds, found.value, found.integral and found.complete, found.heads, sentence.heads or ())
    base = columns[FAMILIES[0]]
    print(f"{'':34}" + "".join(f"{name:>14}" for name in columns))
    for text, cell in (
        ("sentences / s", lambda c: f"{len(test) / sum(c.seconds):.2f}"),
        (f"relative to {FAMILIES[0]}", lambda c: f"{100 * sum(base.seconds) / sum(c.seconds):,.0f}%"),
        ("integral", lambda c: f"{100 * np.mean(c.integral):.1f}%"),
        ("UAS", lambda c: f"{c.uas:.2f}"),
    ):  # fmt: skip
        print(f"{text:34}" + "".join(f"{cell(column):>14}" for column in columns.values()), flush=True)


def anchors_table(most: int) -> None:
    headline(f"Instances of ../shared/instances, {most} of each: milliseconds")
    print(
        f"{'':34} {'ours median':>12} {'mean':>9} {'tight median':>13} {'mean':>9} {'ratio':>7}"
        f" {'scored %':>9} {'proven %':>9} {'integral %':>11}"
    )
    kinds = {"siblings": ("siblings",), "grandparents": ("grandparents",), "both": ("siblings", "grandparents")}
    for n in (10, 20, 30, 40):
        some = list(zip(range(most), instances().second_order("peaked", n), strict=False))
        for kind, names in kinds.items():
            ours, full, scored, proven, integral = [], [], [], [], []
            for i, (arcs, grandparents, siblings, _) in some:
                parts = {"siblings": siblings, "grandparents": grandparents}
                problem = Problem(arcs, **{name: parts[name] for name in names})
                begin = time.perf_counter()
                found = priced(problem, problem.arcs)
                ours.append(1e3 * (time.perf_counter() - begin))
                solution = found.closed.solution()
                full.append(1e3 * solve_dependency(problem).seconds)
                scored.append(sum(found.scored.values()) / sum(found.possible.values()))
                proven.append(solution.status == "optimal")
                integral.append(found.integral)
                if i < 3:
                    assert solution.score == decode(problem).score
                    verify(problem, solution)
            shown = f"{np.median(ours):12.1f} {np.mean(ours):9.1f} {np.median(full):13.1f} {np.mean(full):9.1f}"
            shown += f" {np.sum(full) / np.sum(ours):7.1f}"
            rest = f"{100 * np.mean(scored):9.2f} {100 * np.mean(proven):9.1f} {100 * np.mean(integral):11.1f}"
            print(f"{f'peaked, {n} words, {kind}':34} {shown} {rest}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--models", type=Path, default=Path("/tmp/zerogap-price-and-cut"))
    parser.add_argument("--treebanks", nargs="+", default=TREEBANKS)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--algorithm", default="mira", help="of training: mira, perceptron or bp")
    parser.add_argument("--sentences", type=int, default=None, help="of every test part")
    parser.add_argument("--longest", type=int, default=40, help="words of a sentence: the full program of longer ones takes minutes")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    options = parser.parse_args()
    options.models.mkdir(parents=True, exist_ok=True)
    for treebank in options.treebanks if set(options.parts) - {"anchors"} else ():
        model = trained(options.models, treebank, options.epochs, options.algorithm)
        test = test_sentences(treebank, options.longest, options.sentences)
        if "price" in options.parts:
            price_table(model, treebank, test)
        if "constraints" in options.parts:
            constraints_table(model, treebank, test)
    if "anchors" in options.parts:
        anchors_table(options.sentences or 20)


if __name__ == "__main__":
    main()
