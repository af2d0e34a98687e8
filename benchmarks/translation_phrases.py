"""Exact phrase-based translation: the phrase half of tables 7.1 and 7.2 and figure 7-4 of Rush (2014), on the shared translation sets.

    python benchmarks/translation_phrases.py FOLDER [--sets wmt-deen wmt-zhen multi30k-deen]
                                             [--parts auto moses beams rivals rounds verify print]
                                             [--time-limit 120] [--rival-limit 30] [--rivals lr-tight a-star] [--sample 20] [--split test]
                                             [--longest 50] [--every 1] [--seconds S]

Reads ../shared/data/mt (or ZEROGAP_DATA). What is measured is kept in FOLDER, a line of JSON per sentence, so that parts can be run one by
one, and a run goes on where the last one ended, as it does after --seconds of CPU time; `print` makes the tables of all that is there.
Times and limits are CPU seconds of one thread, from the options of a sentence on.

    auto     `method="auto"` on every sentence, with any jump within the limit
    moses    the same under Moses' rule of reordering
    beams    plain beam search with stacks of 100 and 1,000, under Moses' rule, from the text of a sentence on
    rivals   LR-tight (from the start that `auto` has, and as Chang & Collins print it, from multipliers 0), A*, staged and alternating
             optimal beam search on a sample of N sentences, evenly drawn over lengths, with --rival-limit seconds each; a sentence
             that is not done by then counts with the time that it took: lower bounds
    rounds   figure 7-4 on the same sample: gaps after 0, 5 and 10 rounds of multipliers from 0, and certificates by gap and beam
    verify   decodes every sentence again and checks its certificate

A translation counts as exact if it scores what `auto` proved. Moses' own scores are in moses-scores.tsv, to four digits.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from zerogap.errors import VerificationError
from zerogap.io.translation.arpa import load_language_model
from zerogap.io.translation.phrase_tables import load_phrase_table
from zerogap.io.translation.weights import load_phrase_weights
from zerogap.oracles.phrases.search import Limits, best_above
from zerogap.oracles.phrases.unfolding import unfolded, unrolled
from zerogap.problems.translation.phrases import PhraseProblem
from zerogap.proof.verify import verify
from zerogap.translation.phrases import optimal_beam
from zerogap.translation.phrases import search_state as phrase_progress
from zerogap.translation.phrases.beam import beam_search, tables_of
from zerogap.translation.phrases.decoding import decode_phrases
from zerogap.translation.phrases.model import PhraseModel
from zerogap.translation.phrases.multipliers import begin, descend, prices
from zerogap.translation.phrases.search_state import outside_of, sentence_of

SETS = ("wmt-deen", "wmt-zhen", "multi30k-deen")
SAMPLED = ("rivals", "rounds")
PARTS = ("auto", "moses", "beams", "rivals", "rounds", "verify", "print")
BUCKETS = ((1, 10), (11, 20), (21, 30), (31, 40), (41, 50), (1, 50))
RIVALS = ("optimal-beam", "staged-beam", "lr-tight", "chang-collins", "a-star")
STACKS = (100, 1000)
WIDTHS = (100, 1_000, 10_000)  # of beams in figure 7-4
GAPS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
MOST_ARCS = 4_000_000  # of a graph in figure 7-4
DIGITS = 1e-4  # of Moses' scores
THESIS = {  # seconds, certified, exact; by length 11-20, 21-30, 31-40, 41-50, all
    "BEAM (100)": ((2.33, 19.5, 38.0), (8.37, 1.6, 7.2), (24.12, 0.3, 1.4), (71.35, 0.0, 0.0), (14.50, 15.3, 23.2)),
    "BEAM (1000)": ((2.33, 37.8, 66.3), (8.42, 3.4, 18.9), (21.60, 0.6, 3.2), (53.99, 0.6, 1.2), (12.44, 22.6, 36.9)),
    "MOSES (100)": ((0.18, 0.0, 81.0), (0.36, 0.0, 45.6), (0.53, 0.0, 14.1), (0.74, 0.0, 6.0), (0.34, 0.0, 52.3)),
    "MOSES (1000)": ((2.29, 0.0, 97.8), (4.39, 0.0, 78.8), (6.52, 0.0, 43.5), (9.00, 0.0, 19.6), (4.20, 0.0, 74.6)),
    "ASTAR (cap)": ((11.11, 99.3, 99.3), (91.39, 53.9, 53.9), (122.67, 7.8, 7.8), (139.61, 1.2, 1.2), (67.99, 58.8, 58.8)),
    "LR-TIGHT": ((4.20, 100.0, 100.0), (23.25, 100.0, 100.0), (88.16, 99.7, 99.7), (377.9, 97.0, 97.0), (60.11, 99.7, 99.7)),
    "OPTBEAM": ((2.85, 100.0, 100.0), (10.33, 100.0, 100.0), (28.29, 100.0, 100.0), (84.34, 97.0, 97.0), (17.27, 99.7, 99.7)),
}
SHARES = {"lattice": (56.6, 69.8, 59.6, 69.6), "multipliers": (10.0, 5.5, 9.4, 7.6), "search": (33.4, 24.6, 30.9, 22.8)}

Row = dict[str, Any]


class TestSet:
    """The sentences of a set and the model that translates them."""

    def __init__(self, name: str, split: str) -> None:
        folder = Path(os.environ.get("ZEROGAP_DATA", Path(__file__).parents[2] / "shared" / "data")) / "mt" / name
        self.name = name
        self.sentences = [line.split() for line in (folder / f"{split}.src").read_text(encoding="utf-8").splitlines()]
        table = load_phrase_table(folder / "phrase-table.gz", sentences=self.sentences)
        self.model = PhraseModel(table, load_phrase_weights(folder / "weights.txt"), load_language_model(folder / "lm.arpa.gz"))
        rows = [line.split("\t") for line in (folder / "moses-scores.tsv").read_text().splitlines()[1:]] if split == "test" else []
        self.moses = [{100: float(row[2]), 1000: float(row[3])} for row in rows]

    def sample(self, size: int, longest: int) -> list[int]:
        """Sentences of at most so many words, spread evenly over the lengths."""
        short = [i for i, sentence in enumerate(self.sentences) if len(sentence) <= longest]
        order = sorted(short, key=lambda i: (len(self.sentences[i]), i))
        return sorted({order[round((k + 0.5) * len(order) / size - 0.5)] for k in range(min(size, len(order)))})


@contextmanager
def limits_in_cpu_time() -> Iterator[None]:
    """Time limits count what this thread computes, not what it waits for others on a busy machine."""
    phrase_progress.time = SimpleNamespace(perf_counter=time.thread_time, thread_time=time.thread_time)  # type: ignore[assignment]
    try:
        yield
    finally:
        phrase_progress.time = time


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    before = time.thread_time()
    result = function()
    return result, time.thread_time() - before


def run_auto(data: TestSet, lines: Sequence[int], options: argparse.Namespace, rule: str = "limit") -> Iterable[Row]:
    for i in lines:
        problem = data.model.problem(data.sentences[i], reordering=rule)
        (progress, _), seconds = timed(partial(optimal_beam.search, problem, time_limit=options.time_limit))
        row = {"score": progress.score, "bound": progress.bound, "seconds": seconds, "spent": progress.spent}
        yield {"line": i, "words": len(problem), **row}


def run_beams(data: TestSet, lines: Sequence[int], options: argparse.Namespace) -> Iterable[Row]:
    for i in lines:
        words = data.sentences[i]
        row: Row = {"line": i, "words": len(words)}
        for stack in STACKS:

            def translate(words: Sequence[str] = words, stack: int = stack) -> float:
                problem = data.model.problem(words, reordering="moses")
                found = beam_search(problem, stack=stack)
                return -np.inf if found is None else problem.score(found)

            row[f"score {stack}"], row[f"seconds {stack}"] = timed(translate)
        yield row


def run_rivals(data: TestSet, lines: Sequence[int], options: argparse.Namespace) -> Iterable[Row]:
    for i in lines:
        problem = data.model.problem(data.sentences[i])
        row: Row = {"line": i, "words": len(problem)}
        for method in ("auto", *options.rivals):
            limit = options.time_limit if method == "auto" else options.rival_limit
            solution, seconds = timed(partial(decode_phrases, problem, method=method, time_limit=limit))
            row[method] = {"score": solution.score, "bound": solution.bound, "seconds": seconds}
        yield row


def run_rounds(data: TestSet, lines: Sequence[int], options: argparse.Namespace) -> Iterable[Row]:
    """After some rounds from multipliers 0: the gap to the optimum, and whether beams of some width prove it (algorithms 10 and 12)."""
    for i in lines:
        problem = data.model.problem(data.sentences[i])
        best = decode_phrases(problem, time_limit=options.time_limit)
        if best.status != "optimal":
            continue
        sentence = sentence_of(problem, tables := tables_of(problem), tables.options)
        incumbent = problem.score(beam_search(problem, tables=tables))
        row: Row = {"line": i, "words": len(problem), "gaps": {}, "proved": {}}
        descent = begin(np.zeros(len(problem)))
        done = 0
        for rounds in (0, 5, 10, 50):
            descend(
                descent, problem, sentence.evaluate, sentence.starts, sentence.ends,
                score=incumbent, iterations=rounds - done + (rounds == 0), out_of_time=lambda: False,
            )  # fmt: skip
            done = max(rounds, 1)
            row["gaps"][rounds] = descent.bound - best.score
            row["proved"][rounds] = {width: proves(problem, sentence, descent.best, incumbent, width) for width in WIDTHS}
        yield row


def proves(problem: PhraseProblem, sentence: Any, multipliers: Any, incumbent: float, width: int) -> bool:
    """Whether a beam search pruned by the bounds of some multipliers drops nothing; not if the graph of what it could see is too large."""
    price = prices(multipliers, sentence.starts, sentence.ends)
    sentence.evaluate(price)
    least = incumbent - float(multipliers.sum())
    graph = unrolled(sentence.lattice, sentence.outside, price, least=least, most_arcs=MOST_ARCS)
    if graph is not None:
        graph = unfolded(graph, sentence.lattice, outside_of(graph, price), price, known=0, least=least, most_arcs=MOST_ARCS)
    if graph is None:
        return False
    order, limits = sentence.tables.order._replace(moses=False), Limits(least, width, width * 60)
    _, dropped, _ = best_above(graph, outside_of(graph, price), price, sentence.spans, order, limits)
    return bool(dropped == -np.inf)


def run_verify(data: TestSet, lines: Sequence[int], options: argparse.Namespace) -> Iterable[Row]:
    for i in lines:
        words = data.sentences[i]
        problem = data.model.problem(words)
        solution = decode_phrases(problem, time_limit=options.time_limit)
        begun = time.thread_time()
        try:
            verify(problem, solution)
            outcome = "verified"
        except VerificationError as error:
            outcome = str(error)
        row = {"line": i, "words": len(words), "status": solution.status, "outcome": outcome, "seconds": time.thread_time() - begun}
        yield row | {"megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}


RUNS: dict[str, Callable[[TestSet, Sequence[int], argparse.Namespace], Iterable[Row]]] = {
    "auto": run_auto, "moses": partial(run_auto, rule="moses"), "beams": run_beams,
    "rivals": run_rivals, "rounds": run_rounds, "verify": run_verify,
}  # fmt: skip


def within(rows: Sequence[Row], bucket: tuple[int, int]) -> list[Row]:
    return [row for row in rows if bucket[0] <= row["words"] <= bucket[1]]


def percent(flags: Iterable[bool]) -> str:
    values = list(flags)
    return f"{100 * sum(values) / len(values):.1f}" if values else "-"


def mean(values: Iterable[float]) -> str:
    numbers = list(values)
    return f"{statistics.fmean(numbers):.3f}" if numbers else "-"


def table_of_systems(name: str, rows: dict[str, list[Row]], data: TestSet) -> None:
    """Table 7.1: mean seconds, certified, exact, by length."""
    auto = rows["auto"]
    optimum = {row["line"]: row["score"] for row in auto if row["score"] == row["bound"]}
    print(f"\nTable 7.1, {name}: seconds / certified % / exact %, by length")
    buckets = [f"{low}-{high} ({len(within(auto, (low, high)))})" for low, high in BUCKETS[:-1]] + [f"all ({len(auto)})"]
    print(f"{'':26s}" + "".join(f"{label:>24s}" for label in buckets))

    def line(label: str, cells: Iterable[str]) -> None:
        print(f"{label:26s}" + "".join(f"{cell:>24s}" for cell in cells))

    def of_method(label: str, listed: list[Row], seconds: Callable[[Row], float], score: Callable[[Row], float], bound: Any) -> None:
        cells = []
        for bucket in BUCKETS:
            chosen = within(listed, bucket)
            proven = percent(bound(row) == score(row) for row in chosen) if bound else "0.0"
            exact = percent(score(row) >= optimum.get(row["line"], np.inf) for row in chosen)
            cells.append(f"{mean(map(seconds, chosen))} / {proven} / {exact}")
        line(label, cells)

    for stack in STACKS:
        if rows["beams"]:
            of_method(
                f"beam ({stack}), Moses' rule", rows["beams"], lambda row, s=stack: row[f"seconds {s}"],
                lambda row, s=stack: row[f"score {s}"], None,
            )  # fmt: skip
        if data.moses:
            cells = []
            for bucket in BUCKETS:
                lines = [row["line"] for row in within(auto, bucket)]
                cells.append(f"- / 0.0 / {percent(data.moses[i][stack] >= optimum.get(i, np.inf) - DIGITS for i in lines)}")
            line(f"Moses ({stack})", cells)
    for label, listed in (("auto", auto), ("auto, Moses' rule", rows["moses"])):
        of_method(label, listed, lambda row: row["seconds"], lambda row: row["score"], lambda row: row["bound"])
    if rows["rivals"]:
        print(f"  on a sample of {len(rows['rivals'])}:")
        total = sum(row["auto"]["seconds"] for row in rows["rivals"])
        measured = [method for method in RIVALS if all(method in row for row in rows["rivals"])]
        for method in ("auto", *measured):
            of_method(
                method, rows["rivals"], lambda row, m=method: row[m]["seconds"], lambda row, m=method: row[m]["score"],
                lambda row, m=method: row[m]["bound"],
            )  # fmt: skip
        times = [f"{m} {sum(row[m]['seconds'] for row in rows['rivals']) / total:.1f}" for m in measured]
        print(f"  mean time, auto = 1: {', '.join(times)}")
    seconds = [row["seconds"] for row in auto]
    closed = sum(row["score"] == row["bound"] for row in auto)
    short = [row["score"] == row["bound"] for row in within(auto, (1, 20))]
    print(f"  auto: {closed} of {len(auto)} certified, {sum(short)} of {len(short)} up to 20 words;", end=" ")
    print(f"mean {statistics.fmean(seconds):.3f} s, median {statistics.median(seconds):.3f} s, longest {max(seconds):.2f} s")


def table_of_errors(name: str, rows: dict[str, list[Row]], data: TestSet) -> None:
    """Search errors: below the best under the same rule of reordering, and below the best under the limit alone."""
    if not rows["beams"]:
        return
    best = {rule: {row["line"]: row["score"] for row in rows[part]} for rule, part in (("moses", "moses"), ("limit", "auto"))}
    print(f"\nSearch errors, {name}: % below the optimum under Moses' rule / under the limit alone")
    print(f"{'':26s}" + "".join(f"{low}-{high}".rjust(16) for low, high in BUCKETS[:-1]) + "all".rjust(16))
    for stack in STACKS:
        systems: list[tuple[str, Callable[[Row], float], float]] = [(f"beam ({stack})", lambda row, s=stack: row[f"score {s}"], 0.0)]
        if data.moses:
            systems.append((f"Moses ({stack})", lambda row, s=stack: data.moses[row["line"]][s], DIGITS))
        for label, score, digits in systems:
            cells = []
            for bucket in BUCKETS:
                chosen = within(rows["beams"], bucket)
                known = {rule: [row for row in chosen if row["line"] in best[rule]] for rule in best}
                cells.append(" / ".join(percent(score(row) < best[rule][row["line"]] - digits for row in known[rule]) for rule in best))
            print(f"{label:26s}" + "".join(f"{cell:>16s}" for cell in cells))
    for stack in STACKS:
        seconds = sum(row[f"seconds {stack}"] for row in rows["beams"])
        told = f"  beam ({stack}): {len(rows['beams']) / seconds:.1f} sentences per second"
        if data.moses:
            better = sum(row[f"score {stack}"] > data.moses[row["line"]][stack] + DIGITS for row in rows["beams"])
            worse = sum(row[f"score {stack}"] < data.moses[row["line"]][stack] - DIGITS for row in rows["beams"])
            told += f"; better than Moses on {better}, worse on {worse} of {len(rows['beams'])}"
        print(told)
    if data.moses:
        below = [i for i, score in best["limit"].items() if score < data.moses[i][1000] - DIGITS]
        print(f"  optimum below Moses (1000) on {len(below)} sentences")


def table_of_shares(name: str, rows: dict[str, list[Row]]) -> None:
    """Table 7.2: where the time of `auto` goes."""
    print(f"\nTable 7.2, {name}: share of the time of auto in %, mean and median; the thesis' beside it")
    print(f"{'':14s}{'30 words or more':>34s}{'all':>34s}")
    groups = [[row["spent"] for row in rows["auto"] if row["words"] >= least] for least in (30, 0)]
    for what, label in (("lattice", "lattice"), ("multipliers", "multipliers"), ("search", "beam search")):
        cells = []
        for g, group in enumerate(groups):
            sums = sum(sum(spent.values()) for spent in group)
            mean_share = 100 * sum(spent.get(what, 0.0) for spent in group) / sums if sums else 0.0
            medians = {kind: statistics.median(spent.get(kind, 0.0) for spent in group) if group else 0.0 for kind in SHARES}
            median_share = 100 * medians[what] / sum(medians.values()) if sum(medians.values()) else 0.0
            cells.append(f"{mean_share:.1f} {median_share:.1f} ({SHARES[what][2 * g]} {SHARES[what][2 * g + 1]})")
        print(f"{label:14s}" + "".join(f"{cell:>34s}" for cell in cells))


def figure_of_rounds(name: str, listed: list[Row]) -> None:
    """Figure 7-4: gaps after rounds of multipliers, and what beams certify at such gaps."""
    if not listed:
        return
    print(f"\nFigure 7-4, {name}, {len(listed)} sentences: (a) % with a gap of at most ..., after rounds from multipliers 0")
    print(f"{'':12s}" + "".join(f"{gap:>8.1f}" for gap in GAPS))
    for rounds in ("0", "5", "10", "50"):
        print(f"{rounds + ' rounds':12s}" + "".join(f"{percent(row['gaps'][rounds] <= gap for row in listed):>8s}" for gap in GAPS))
    print("  (b) % certified by a beam of some width, by gap")
    print(f"{'':12s}" + "".join(f"{f'{low:g}-{high:g}':>9s}" for low, high in zip(GAPS, (*GAPS[1:], np.inf), strict=True)))
    for width in WIDTHS:
        cells = []
        for low, high in zip(GAPS, (*GAPS[1:], np.inf), strict=True):
            cells.append(percent(row["proved"][r][str(width)] for row in listed for r in row["gaps"] if low <= row["gaps"][r] < high))
        print(f"{width:<12,d}" + "".join(f"{cell:>9s}" for cell in cells))


def print_all(folder: Path, name: str, data: TestSet) -> None:
    rows = {part: read(folder / f"{name}.{part}.jsonl") for part in RUNS}
    if not rows["auto"]:
        print(f"{name}: nothing measured yet")
        return
    table_of_systems(name, rows, data)
    table_of_errors(name, rows, data)
    table_of_shares(name, rows)
    figure_of_rounds(name, rows["rounds"])
    if rows["verify"]:
        good = sum(row["outcome"] == "verified" for row in rows["verify"])
        seconds = [row["seconds"] for row in rows["verify"]]
        print(f"\nCertificates, {name}: {good} of {len(seconds)} verified;", end=" ")
        print(f"mean {statistics.fmean(seconds):.2f} s, median {statistics.median(seconds):.2f} s, longest {max(seconds):.1f} s;", end=" ")
        print(f"at most {max(row.get('megabytes', 0) for row in rows['verify']):,} MB, with the model and the decoder")
        for row in rows["verify"]:
            if row["outcome"] != "verified":
                print(f"  line {row['line'] + 1}: {row['outcome']}")


def print_thesis() -> None:
    print("Table 7.1 of the thesis, Europarl German-English: seconds / certified % / exact %, 11-20, 21-30, 31-40, 41-50, all (1,824)")
    for system, cells in THESIS.items():
        print(f"{system:14s}" + "".join(f"{f'{s} / {c} / {e}':>24s}" for s, c, e in cells))


def read(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def measure(path: Path, part: str, data: TestSet, options: argparse.Namespace) -> None:
    """What is not in the file yet, as long as there is time."""
    done = {row["line"] for row in read(path)}
    wanted = data.sample(options.sample, options.longest) if part in SAMPLED else range(0, len(data.sentences), options.every)
    with path.open("a") as file, limits_in_cpu_time():
        for row in RUNS[part](data, [i for i in wanted if i not in done], options):
            file.write(json.dumps(row) + "\n")
            file.flush()
            if time.process_time() > options.seconds:
                return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS)
    parser.add_argument("--split", default="test", choices=("dev", "test"))
    parser.add_argument("--time-limit", type=float, default=120.0)
    parser.add_argument("--rival-limit", type=float, default=30.0)
    parser.add_argument("--rivals", nargs="+", default=RIVALS, choices=RIVALS)
    parser.add_argument("--sample", type=int, default=20)
    parser.add_argument("--longest", type=int, default=50, help="words of a sentence of the sample")
    parser.add_argument("--every", type=int, default=1, help="of the parts without a sample, every so many sentences")
    parser.add_argument("--seconds", type=float, default=math.inf)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if "print" in options.parts:
        print_thesis()
    for name in options.sets:
        data = TestSet(name, options.split)
        decode_phrases(data.model.problem(data.sentences[0]))  # kernels are compiled, tables of the language model made
        for part in options.parts:
            if part in RUNS:
                measure(options.folder / f"{name}.{part}.jsonl", part, data, options)
        if "print" in options.parts:
            print_all(options.folder, name, data)


if __name__ == "__main__":
    main()
