"""Exact decoding with grammars and a language model: figure 5-8 and the syntax half of table 7.1 of Rush (2014), on shared/data/mt.

    python benchmarks/translation_syntax.py --results FOLDER [--sets wmt-deen wmt-zhen multi30k-deen] [--rows auto cube-1000 ...]
                                            [--longest 30] [--every 1] [--offset 0] [--limit 60] [--print-only]

Every row is decoded on the test sentences of at most `longest` words (every K-th, by their place in the set), and what came out is kept in
FOLDER, so that a run can be interrupted and rows can be added; then all tables are printed from what is there. The share that is exact is
of those sentences that `auto` was run on too. Rows:

    auto, beam            zerogap's default, and optimal beam search (section 7.6). `auto` is Lagrangian relaxation with tightening: prices
                          of the first and last words of vertices, tightened by the pieces that a search finds
    relaxation            the prices alone
    cube-50 ... cube-1000 cube pruning
    dp                    exhaustive intersection, up to 16 million pieces
    ilp, lp               constraints D0 to D6 in HiGHS, of what `relaxation` leaves of the forest; where that has over 200,000 trigrams of
                          paths or 2,000 leaves, it does not fit and counts as not solved
    lagrangian            method="lagrangian" (sections 5.3 and 5.4): prices, partitions of the words, leaves and paths, a
                          search of the split forest; says with how many parts sentences closed
    leaves                sections 5.3 and 5.4 on leaves and paths alone, at most 500 iterations and 12 parts, of what `relaxation` leaves
    verify                the certificates of `auto`, checked by zerogap.verify
    forest                time to build the forest, which no other row counts

Times are seconds of CPU of one thread, forests built beforehand. What takes longer than `limit` is not solved; it counts with what it took,
and rows but `auto` are stopped, if they can be, at three times the limit on the clock, since other jobs may be running. A row that was run
on fewer sentences than `auto` is compared with it on the same ones. `moses-scores.tsv` has the scores of Moses' chart decoder.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from zerogap import verify
from zerogap.baselines.translation_ilp import solve_program_of_paths
from zerogap.errors import InputError, VerificationError
from zerogap.io.translation.arpa import load_language_model
from zerogap.io.translation.scfg import load_syntax_weights, read_grammar
from zerogap.papers.rush2014.partitions.decoder import close_by_partitions
from zerogap.papers.rush2014.partitions.trigrams import decode_trigrams
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.translation.forests.cube_pruning import compile_problem, cube_prune
from zerogap.translation.forests.decoding import LARGE_LIMIT, MEMORY, decode_forest
from zerogap.translation.forests.from_grammar import sentence_problem
from zerogap.translation.forests.leaf_graph import leaf_graph
from zerogap.translation.forests.screening import screened

SETS = ("wmt-deen", "wmt-zhen", "multi30k-deen")
BINS = ((5, 10), (11, 20), (21, 30), (31, 50))
SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
FIGURE_5_8 = {  # percent of the thesis' sentences within SECONDS, and the median
    "LR": (37.5, 57.0, 72.2, 82.5, 88.9, 94.4, 97.8, 0.79), "DP": (10.2, 11.6, 15.1, 20.7, 25.2, 33.3, 42.8, 77.5),
    "ILP": (8.8, 13.9, 21.1, 30.7, 41.8, 54.6, 68.5, 12.1), "LP": (21.0, 31.1, 45.9, 63.7, 78.3, 88.9, 95.2, 2.4),
}  # fmt: skip
TABLE_7_1 = {  # mean seconds, % with a certificate, % exact, of all 691 sentences; None where the scan cannot be read
    "CUBE (100)": (0.19, 0.0, 59.0), "CUBE (1000)": (4.66, 0.0, 85.0), "LR-TIGHT": (7.25, None, None), "OPTBEAM": (1.75, 98.8, 98.8),
    "ILP": (40.1, 100.0, 100.0),
}  # fmt: skip
CLOSE = 1e-6  # to another program's score, which is rounded or has tolerances
MOSES_DIGITS = 1e-3

Row = Callable[[SyntaxProblem, float, dict[str, Any] | None], dict[str, Any]]


def solved(method: str, **options: Any) -> Row:
    def row(problem: SyntaxProblem, limit: float, _: dict[str, Any] | None) -> dict[str, Any]:
        solution = decode_forest(problem, method=method, time_limit=None if method == "auto" else 3 * limit, **options)
        return {"score": solution.score, "bound": solution.bound}

    return row


def program(integer: bool) -> Row:
    def row(problem: SyntaxProblem, limit: float, _: dict[str, Any] | None) -> dict[str, Any]:
        left = screened(problem)
        try:
            derivation, value = solve_program_of_paths(left.problem, leaf_graph(left.problem), integer=integer, time_limit=limit)
        except InputError:
            return {"score": None, "bound": None, "too_large": True}
        if not integer:
            return {"score": value, "bound": value}
        return {"score": None if derivation is None else problem.score(left.restored(derivation)), "bound": value}

    return row


def leaves(problem: SyntaxProblem, limit: float, _: dict[str, Any] | None) -> dict[str, Any]:
    left = screened(problem)
    try:
        found = decode_trigrams(left.problem, known=left.known_there(), time_limit=limit)
    except InputError:
        return {"score": None, "bound": None, "too_large": True}
    return {"score": found.score, "bound": found.bound}


def lagrangian(problem: SyntaxProblem, limit: float, _: dict[str, Any] | None) -> dict[str, Any]:
    given = compile_problem(problem)
    known = cube_prune(problem, limit=LARGE_LIMIT, compiled=given)
    assert known is not None
    found = close_by_partitions(problem, given, known, time_limit=3 * limit, max_pieces=MEMORY)
    return {"score": found.score, "bound": found.bound, "by": found.by, "parts": found.parts, "splits": found.splits}


def verified(problem: SyntaxProblem, limit: float, known: dict[str, Any] | None) -> dict[str, Any]:
    solution = decode_forest(problem)
    begin = time.thread_time()
    try:
        verify(problem, solution)
        holds = True
    except VerificationError as error:
        print(f"  not verified: {error}", flush=True)
        holds = False
    return {"score": solution.score, "bound": solution.bound, "verified": holds, "seconds": time.thread_time() - begin}


ROWS: dict[str, Row] = {
    "auto": solved("auto"),
    "beam": solved("optimal-beam"),
    "relaxation": solved("relaxation"),
    **{f"cube-{n}": solved("cube-pruning", limit=n) for n in (50, 100, 500, 1000)},
    "dp": solved("intersection"),
    "ilp": program(True),
    "lp": program(False),
    "lagrangian": lagrangian,
    "leaves": leaves,
    "verify": verified,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--rows", nargs="+", default=["auto", "cube-50", "cube-100", "cube-500", "cube-1000", "relaxation"], choices=ROWS)
    parser.add_argument("--longest", type=int, default=30)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--offset", type=int, default=0)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--print-only", action="store_true")
    given = parser.parse_args()
    given.results.mkdir(parents=True, exist_ok=True)
    if not given.print_only:
        for name in given.sets:
            run(given, name)
    report(given)


def folder_of(name: str) -> Path:
    data = Path(os.environ.get("ZEROGAP_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    return data / "mt" / name


def run(given: argparse.Namespace, name: str) -> None:
    """Decodes what is not there yet."""
    sentences = [line.split() for line in (folder_of(name) / "test.src").read_text(encoding="utf-8").splitlines()]
    chosen = [i for i, words in enumerate(sentences) if len(words) <= given.longest][given.offset :: given.every]
    done = {row: {entry["line"] for entry in entries(given.results, name, row)} for row in given.rows}
    left = [i for i in chosen if any(i not in done[row] for row in given.rows)]
    if not left:
        return
    grammar = read_grammar(folder_of(name) / "hiero.gz", sentences=[sentences[i] for i in left])
    model, weights = load_language_model(folder_of(name) / "lm.arpa.gz"), load_syntax_weights(folder_of(name) / "weights.txt")
    for row in given.rows:  # compiles what it uses, on the smallest problem
        ROWS[row](sentence_problem(grammar, model, weights, min((sentences[i] for i in left), key=len)), 1.0, None)
    for i in left:
        begin = time.thread_time()
        problem = sentence_problem(grammar, model, weights, sentences[i])
        building = time.thread_time() - begin
        for row in given.rows:
            if i in done[row]:
                continue
            begin = time.thread_time()
            entry = ROWS[row](problem, given.limit, None)
            seconds = entry.pop("seconds", time.thread_time() - begin)
            facts = {"line": i, "words": len(sentences[i]), "edges": problem.forest.n_edges, "forest": building, "seconds": seconds}
            with open(path_of(given.results, name, row), "a", encoding="utf-8") as file:
                file.write(json.dumps(facts | entry) + "\n")
            print(f"{name} {i} {row}: {seconds:.2f} s", flush=True)


def path_of(results: Path, name: str, row: str) -> Path:
    return results / f"{name}.{row}.jsonl"


def entries(results: Path, name: str, row: str) -> Iterator[dict[str, Any]]:
    path = path_of(results, name, row)
    if path.exists():
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def report(given: argparse.Namespace) -> None:
    found = {
        name: {row: {e["line"]: e for e in entries(given.results, name, row) if e["words"] <= given.longest} for row in ROWS}
        for name in given.sets
    }
    for name in given.sets:
        optimal = {i: e["score"] for i, e in found[name]["auto"].items() if proven(e, given.limit)}
        table(name, found[name], optimal, given.limit)
        moses(name, found[name]["auto"], optimal)
    together = {row: [e | {"set": name} for name in given.sets for e in found[name][row].values()] for row in ROWS}
    figure(together, given.limit)
    partitions(together["lagrangian"], given.limit)
    ratios(together, given.limit)


def partitions(found: list[dict[str, Any]], limit: float) -> None:
    """What closed sentences, by length: prices, with so many parts, or a search of a forest that was split or was not."""
    if not found:
        return
    print(f"\nLagrangian relaxation with partitions (sections 5.3 and 5.4): % of sentences closed within {limit:g} s of CPU time")
    kinds: list[tuple[str, Callable[[dict[str, Any]], bool]]] = [
        ("1 part", lambda e: e["parts"] == 1), ("2-4", lambda e: 2 <= e["parts"] <= 4), ("5-12", lambda e: 5 <= e["parts"] <= 12),
        ("more", lambda e: e["parts"] > 12),
    ]  # fmt: skip
    print(
        f"{'words':10}"
        + "".join(f"{name:>9}" for name, _ in kinds)
        + f"{'search':>9}{'unsplit':>9}{'open':>9}{'sentences':>11}{'mean s':>9}{'median s':>9}{'splits':>9}"
    )
    for a, b in (*BINS, (0, 10**6)):
        part = [e for e in found if a <= e["words"] <= b]
        if not part:
            continue
        closed = [e for e in part if proven(e, limit)]
        shares = [sum(e["by"] != "search" and chosen(e) for e in closed) for _, chosen in kinds]
        shares += [sum(e["by"] == "search" and (e["splits"] > 0) == after for e in closed) for after in (True, False)]
        shares.append(len(part) - len(closed))
        seconds = [e["seconds"] for e in part]
        cells = "".join(f"{100 * n / len(part):9.1f}" for n in shares)
        times = f"{statistics.mean(seconds):9.2f}{statistics.median(seconds):9.2f}"
        print(f"{'all' if a == 0 else f'{a}-{b}':10}{cells}{len(part):11}{times}{statistics.mean(e['splits'] for e in part):9.1f}")
    last = sum(proven(e, limit) and e["by"] == "leaves" for e in found)
    print(f"multipliers of leaves and paths closed {last} of them; the thesis closes 97.7% of 691 sentences, 46% without parts")


def proven(entry: dict[str, Any], limit: float) -> bool:
    return entry["score"] is not None and entry["bound"] == entry["score"] and entry["seconds"] <= limit


def is_exact(row: str, entry: dict[str, Any], best: float | None, limit: float) -> bool:
    if best is None or entry["score"] is None or (entry["seconds"] > limit and row != "verify"):
        return False
    close = CLOSE * max(1.0, abs(best))
    return abs(entry["score"] - best) <= close if row in ("ilp", "lp") else entry["score"] == best


def table(name: str, found: dict[str, dict[int, dict[str, Any]]], optimal: dict[int, float], limit: float) -> None:
    print(f"\n{name}: mean seconds, % with a certificate within {limit:g} s, % exact (table 7.1)")
    used = [(a, b) for a, b in BINS if any(a <= e["words"] <= b for e in found["auto"].values())]
    print(f"{'':12}" + "".join(f"{f'{a}-{b} words':>24}" for a, b in used) + f"{'all':>24}{'sentences':>11}{'median':>9}{'longest':>9}")
    for row in ROWS:
        if not found[row]:
            continue
        cells = ""
        for a, b in (*used, (0, 10**6)):
            part = [e for e in found[row].values() if a <= e["words"] <= b]
            if not part:
                cells += f"{'-':>24}"
                continue
            certified = [e.get("verified", row not in ("ilp", "lp") and proven(e, limit)) for e in part]
            exact = [is_exact(row, e, optimal.get(e["line"]), limit) for e in part if e["line"] in found["auto"]]
            share = f"{100 * np.mean(exact):7.1f}" if exact else f"{'-':>7}"
            cells += f"{statistics.mean(e['seconds'] for e in part):10.3f}{100 * np.mean(certified):7.1f}{share}"
        seconds = [e["seconds"] for e in found[row].values()]
        print(f"{row:12}{cells}{len(seconds):11}{statistics.median(seconds):9.3f}{max(seconds):9.2f}", flush=True)
    if found["auto"]:
        print(f"forests: {statistics.mean(e['forest'] for e in found['auto'].values()):.3f} s to build, mean")
    for row in [row for row in ROWS if row.startswith("cube")]:
        known = [i for i in found[row] if i in optimal]
        lost = [optimal[i] - found[row][i]["score"] for i in known if found[row][i]["score"] < optimal[i]]
        if known:
            print(
                f"{row} errs on {len(lost)} of {len(known)} ({100 * len(lost) / len(known):.1f}%),"
                f" by {statistics.mean(lost) if lost else 0:.4f} on average, {max(lost, default=0):.4f} at most"
            )
    if found["dp"]:
        agree = [i for i, e in found["dp"].items() if e["bound"] == e["score"] and i in optimal]
        same = sum(found["dp"][i]["score"] == optimal[i] for i in agree)
        print(f"the exhaustive intersection finished on {len(agree)} of {len(found['dp'])}, with the same score on {same}")


def moses(name: str, auto: dict[int, dict[str, Any]], optimal: dict[int, float]) -> None:
    """Where Moses' chart decoder erred, and that it never found more."""
    lines = (folder_of(name) / "moses-scores.tsv").read_text().splitlines()
    columns = lines[0].split("\t")
    for column in ("hiero_pop200", "hiero_pop1000"):
        scores = {k: float(line.split("\t")[columns.index(column)]) for k, line in enumerate(lines[1:])}
        lost = [optimal[i] - scores[i] for i in optimal]
        errs = [x for x in lost if x > MOSES_DIGITS]
        print(
            f"Moses, {column}: errs on {len(errs)} of {len(lost)} ({100 * len(errs) / max(len(lost), 1):.1f}%), by"
            f" {statistics.mean(errs) if errs else 0:.4f} on average; above the optimum on {sum(x < -MOSES_DIGITS for x in lost)}"
        )
    open_ = [i for i in auto if i not in optimal]
    if open_:
        print(f"not proven: lines {', '.join(str(i + 1) for i in open_)}")


def figure(together: dict[str, list[dict[str, Any]]], limit: float) -> None:
    print("\n% of sentences decoded exactly within t seconds (figure 5-8); the thesis' beside")
    print(f"{'':14}" + "".join(f"{t:8g}" for t in SECONDS) + f"{'median':>9}")
    for row, theirs in (("auto", "LR"), ("lagrangian", ""), ("beam", ""), ("dp", "DP"), ("ilp", "ILP"), ("lp", "LP")):
        entries_ = together[row]
        if entries_:
            ended = [e["seconds"] if e["score"] is not None and (row in ("ilp", "lp") or proven(e, limit)) else np.inf for e in entries_]
            shares = "".join(f"{100 * np.mean([s <= t for s in ended]):8.1f}" for t in SECONDS)
            print(f"{row:14}{shares}{statistics.median(ended):9.2f}  ({len(entries_)} sentences)")
        if theirs:
            print(
                f"{'  ' + theirs + ', thesis':14}"
                + "".join(f"{x:8.1f}" for x in FIGURE_5_8[theirs][:-1])
                + f"{FIGURE_5_8[theirs][-1]:9.2f}"
            )
    shares = {name: "not legible" if b is None else f"{b}% certified, {c}% exact" for name, (_, b, c) in TABLE_7_1.items()}
    print("table 7.1, all lengths: " + "; ".join(f"{name} {a} s, {shares[name]}" for name, (a, _, _) in TABLE_7_1.items()))


def ratios(together: dict[str, list[dict[str, Any]]], limit: float) -> None:
    """Every row against `auto` on the same sentences."""
    auto = {(e["set"], e["line"]): e["seconds"] for e in together["auto"]}
    print("\ntimes as long as auto, on the same sentences: means and medians")
    for row in ROWS:
        pairs = [(e["seconds"], auto[e["set"], e["line"]]) for e in together[row] if (e["set"], e["line"]) in auto]
        if row in ("auto", "verify") or not pairs:
            continue
        # what did not fit or end counts as the limit: it would have taken longer
        unsolved = [e["score"] is None or e["seconds"] > limit for e in together[row] if (e["set"], e["line"]) in auto]
        theirs = [limit if failed else seconds for (seconds, _), failed in zip(pairs, unsolved, strict=True)]
        ours = [own for _, own in pairs]
        mean, median = statistics.mean(theirs) / statistics.mean(ours), statistics.median(theirs) / statistics.median(ours)
        failed = f"{sum(unsolved)} not solved and counted as {limit:g} s"
        print(f"{row:12} {mean:8.2f} (mean) {median:8.2f} (median), {len(pairs)} sentences, {failed}")


if __name__ == "__main__":
    main()
