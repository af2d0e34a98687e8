"""Higher-order projective trees, posteriors and max-marginals of arcs: microseconds per instance, one thread, and ratios to zerogap.

    python benchmarks/projective.py [--regime peaked|random] [--lengths 10 20 40 60 100] [--rounds 9] [--instances 20]

As benchmarks/trees.py does it: every system runs over the same instances, a pass each in turn, and the median pass counts; scores are
compared. The figures of the anchors are from another run on a machine like ours. supar gets one sentence at a time, or batches of 32 where
it says so; it has no scores for first siblings, which are 0 here. "scores * 1000" do not fit into numbers and are summed as logarithms.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from trees import BATCH, HERE, Pass, Scored, System, measure, shown

from zerogap.oracles.hypergraphs.best_path import best_path
from zerogap.oracles.trees.hypergraphs import projective_hypergraph
from zerogap.oracles.trees.nonprojective_marginals import nonprojective_marginals, nonprojective_max_marginals
from zerogap.oracles.trees.outermost import outermost_kernel
from zerogap.oracles.trees.projective_marginals import projective_marginals, projective_max_marginals
from zerogap.oracles.trees.siblings import sibling_kernel

ANCHORS = {  # microseconds by table, name and length
    ("siblings", "a Numba kernel in push form (anchors)"): {10: 3.5, 20: 11, 40: 48, 60: 170, 100: 710},
    ("siblings", "supar, batch 1 (anchors)"): {10: 6700, 20: 17000, 40: 49000, 60: 115000, 100: 721000},
}
CANDIDATES = 10  # heads per word that are left in the last table
SLOW = 40  # from this length on, supar runs on two instances only

Instance = tuple[np.ndarray, np.ndarray, np.ndarray]  # arcs, siblings, outermost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--regime", choices=["peaked", "random"], default="peaked")
    parser.add_argument("--lengths", type=int, nargs="+", default=[10, 20, 40, 60, 100])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--instances", type=int, default=20)
    options = parser.parse_args()
    results: dict[tuple[str, str], list[float | None]] = {}
    for n in options.lengths:
        drawn = list(itertools.islice(instances(options.regime, n), options.instances))
        for key, microseconds in measure(list(systems(drawn)), options.rounds).items():
            results.setdefault(key, []).append(microseconds)
    for key, figures in ANCHORS.items():
        results[key] = [figures.get(n) for n in options.lengths]
    report(results, options.lengths, options.regime)


def instances(regime: str, n: int) -> Iterator[Instance]:
    """The seeded instances behind the anchors if they are here, else ones like them; grandparents stand for outermost modifiers."""
    places = [os.environ.get("ZEROGAP_INSTANCES"), HERE.parent.parent / "shared" / "instances"]
    tokens = np.arange(n + 1)
    for place in places:
        if place is not None and (path := Path(place) / "instances.py").exists():
            spec = importlib.util.spec_from_file_location("instances", path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            for arcs, grandparents, siblings, _ in module.second_order(regime, n):
                siblings[tokens, tokens] = 0.0
                yield arcs, siblings, grandparents
            return
    rng = np.random.default_rng([n, regime == "peaked"])
    scale = 0.3 if regime == "peaked" else 1.0
    for _ in range(100):
        arcs = rng.standard_normal((n + 1, n + 1))
        if regime == "peaked":  # a random tree of short arcs, with a margin
            for m in range(1, n + 1):
                arcs[max(0, m - int(rng.integers(1, 4))), m] += 3.0
        siblings = scale * rng.standard_normal((n + 1, n + 1, n + 1))
        siblings[tokens, tokens] = 0.0
        yield arcs, siblings, scale * rng.standard_normal((n + 1, n + 1, n + 1))


def systems(drawn: list[Instance]) -> Iterator[System]:
    n, k = len(drawn[0][0]) - 1, len(drawn)
    arcs = [one for one, _, _ in drawn]
    stops, heads = np.zeros((n + 1, n + 1)), np.empty(n, dtype=np.int64)

    def each(solve: Callable[..., float], given: list[Any]) -> tuple[Pass, Scored]:
        return lambda: [solve(*one) for one in given], lambda: np.array([solve(*one) for one in given])

    yield "siblings", "zerogap", *each(lambda a, s, _: sibling_kernel(a, s, stops, 1, heads), drawn), k
    yield "siblings", "supar, batch 1", *supar_siblings(drawn[:2] if n >= SLOW else drawn), min(k, 2) if n >= SLOW else k
    yield "siblings and outermost", "zerogap", *each(lambda a, s, o: outermost_kernel(a, s, stops, o, 1, heads), drawn), k

    marginals = np.empty((n + 1, n + 1))
    large = [(1000.0 * a,) for a in arcs]
    for table, sums, maxima, supar in (
        ("projective", projective_marginals, projective_max_marginals, "DependencyCRF"),
        ("non-projective", nonprojective_marginals, nonprojective_max_marginals, "MatrixTree"),
    ):
        yield f"posteriors, {table}", "zerogap", *each(lambda a, find=sums: find(a, 1, marginals), [(a,) for a in arcs]), k
        yield f"posteriors, {table}", "zerogap, scores * 1000", each(lambda a, find=sums: find(a, 1, marginals), large)[0], None, k
        if table == "non-projective":
            yield f"posteriors, {table}", "NumPy (LAPACK)", *each(lapack, [(a,) for a in arcs]), k
        batch = [arcs[i % k] for i in range(BATCH)]
        yield f"posteriors, {table}", "supar, batch 32", *supar_posteriors(np.stack(batch), supar, k), BATCH
        yield f"max-marginals, {table}", "zerogap", *each(lambda a, find=maxima: find(a, 1, marginals), [(a,) for a in arcs]), k

    pruned = []
    for a, siblings, _ in drawn:
        kept = np.where(a >= np.partition(a, -CANDIDATES, axis=0)[-CANDIDATES], a, -np.inf) if n > CANDIDATES else a.copy()
        kept[np.arange(n), np.arange(1, n + 1)] = a[np.arange(n), np.arange(1, n + 1)]  # arcs from the word before: there is a tree
        pruned.append((kept, siblings))
    table = f"siblings, {CANDIDATES} heads per word"
    yield table, "zerogap", *each(lambda a, s: sibling_kernel(a, s, stops, 1, heads), pruned), k
    yield table, "zerogap, hypergraph", *each(by_hypergraph, pruned), k


def by_hypergraph(arcs: np.ndarray, siblings: np.ndarray) -> float:
    trees = projective_hypergraph(arcs, siblings=siblings)
    return best_path(trees.hypergraph, trees.scores).score


def lapack(scores: np.ndarray) -> float:
    """Koo et al. 2007, a single root: the determinant and the inverse of the Laplacian, and posteriors from it."""
    most = scores[:, 1:].max(axis=0)
    weights = np.exp(scores[:, 1:] - most)
    words = np.arange(len(most))
    weights[words + 1, words] = 0.0
    laplacian = np.diag(weights[1:].sum(axis=0)) - weights[1:]
    laplacian[0] = weights[0]
    inverse = np.linalg.inv(laplacian)
    posteriors = np.empty_like(weights)
    posteriors[0] = weights[0] * inverse[:, 0]
    diagonal, others = np.diag(inverse).copy(), inverse.T.copy()
    diagonal[0], others[0] = 0.0, 0.0
    posteriors[1:] = weights[1:] * (diagonal - others)
    return float(np.linalg.slogdet(laplacian)[1] + most.sum())


def supar_siblings(drawn: list[Instance]) -> tuple[Pass | None, Scored | None]:
    try:
        import torch
        from supar.structs import Dependency2oCRF
    except Exception:  # it imports much of what it does not need here
        return None, None
    torch.set_num_threads(1)
    # it takes [modifier, head] and [modifier, head, sibling]
    given = [(torch.tensor(a.T.copy())[None], torch.tensor(s.transpose(2, 0, 1).copy())[None]) for a, s, _ in drawn]

    def run() -> None:
        for one in given:
            Dependency2oCRF(one, multiroot=False).argmax  # noqa: B018  # computed when asked for

    return run, lambda: np.array([Dependency2oCRF(one, multiroot=False).max.item() for one in given])


def supar_posteriors(scores: np.ndarray, name: str, k: int) -> tuple[Pass | None, Scored | None]:
    try:
        import torch
        from supar import structs
    except Exception:  # it imports much of what it does not need here
        return None, None
    torch.set_num_threads(1)
    transposed = torch.tensor(scores.transpose(0, 2, 1).copy())  # it takes [modifier, head]
    model = getattr(structs, name)

    def log_partition() -> np.ndarray:
        return model(transposed, multiroot=False).log_partition.detach().numpy()[:k]

    return lambda: model(transposed, multiroot=False).marginals, log_partition if name != "MatrixTree" else None  # which rounds to float32


def report(results: dict[tuple[str, str], list[float | None]], lengths: list[int], regime: str) -> None:
    print(f"Projective trees and marginals of arcs, {regime} scores, single root: microseconds per instance (times zerogap's)\n")
    for table in dict.fromkeys(table for table, _ in results):
        print(f"{table:44}" + "".join(f"{f'n = {n}':>18}" for n in lengths))
        ours = results[table, "zerogap"]
        for (of, name), row in results.items():
            if of == table:
                cells = [
                    shown(value, our) if value is not None or "anchors" not in name else "-" for value, our in zip(row, ours, strict=True)
                ]
                print(f"  {name:42}" + "".join(f"{cell:>18}" for cell in cells))
        print()


if __name__ == "__main__":
    main()
