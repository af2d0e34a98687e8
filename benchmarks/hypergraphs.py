"""Hypergraph best path and k-best on a CKY hypergraph of 10 million hyperedges.

    python benchmarks/hypergraphs.py [--words 40] [--symbols 60] [--rules 960]

Targets: 50 million hyperedges per second and core, at most 32 bytes per binary hyperedge, and k = 100 at no more than
3 times the cost of the best path. The grammar is random: which rules apply does not change what a hyperedge costs.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from zerogap.oracles.hypergraphs.best_path import best_path, max_marginals
from zerogap.oracles.hypergraphs.kbest import k_best_paths
from zerogap.oracles.hypergraphs.marginals import log_inside, posterior_marginals
from zerogap.oracles.parses.hypergraph import Chart, cky_hypergraph
from zerogap.structures.grammar import grammar


def forest(words: int, symbols: int, rules: int, seed: int = 5) -> Chart:
    rng = np.random.default_rng(seed)
    keys = rng.choice(symbols**3, size=rules, replace=False)
    table = [(f"X{k // symbols**2}", (f"X{k // symbols % symbols}", f"X{k % symbols}"), float(rng.normal())) for k in keys]
    table += [(f"X{x}", (f"w{x}",), 0.0) for x in range(symbols)]
    g = grammar(table, root="X0")
    return cky_hypergraph(g, rng.normal(size=(words, len(g.symbols))))


def median_seconds(call: Callable[[], object], repeats: int) -> float:
    call()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=40)
    parser.add_argument("--symbols", type=int, default=60)
    parser.add_argument("--rules", type=int, default=960)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    begin = time.perf_counter()
    chart = forest(arguments.words, arguments.symbols, arguments.rules)
    built = time.perf_counter() - begin
    graph, scores = chart.hypergraph, chart.scores
    print(f"{graph}, built in {built:.2f} s")
    print(f"memory: {(graph.nbytes + scores.nbytes) / graph.n_edges:.1f} bytes per hyperedge with its score (target: at most 32)")
    best = median_seconds(lambda: best_path(graph, scores), arguments.repeats)
    print(f"{'':24}{'seconds':>10}{'M edges/s':>12}{'x best path':>13}")
    rows: list[tuple[str, Callable[[], object]]] = [
        ("best path", lambda: best_path(graph, scores)),
        ("k best, k = 10", lambda: k_best_paths(graph, scores, 10)),
        ("k best, k = 100", lambda: k_best_paths(graph, scores, 100)),
        ("k best, k = 1000", lambda: k_best_paths(graph, scores, 1000)),
        ("max-marginals", lambda: max_marginals(graph, scores)),
        ("log partition", lambda: log_inside(graph, scores)),
        ("posterior marginals", lambda: posterior_marginals(graph, scores)),
    ]
    for name, call in rows:
        seconds = best if name == "best path" else median_seconds(call, arguments.repeats)
        print(f"{name:24}{seconds:>10.4f}{graph.n_edges / seconds / 1e6:>12.1f}{seconds / best:>13.2f}")
    print("targets: best path at least 50 M edges/s; k = 100 at most 3 times best path")


if __name__ == "__main__":
    main()
