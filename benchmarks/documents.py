"""Long documents in which repeated phrases must get the same label: time to a proven optimum.

    python benchmarks/documents.py

Seeded instances: BIO labels of four fields, tokens that are outside by a margin of 1, and groups of tokens that have a field by a margin,
each group under `same_label`. No product of so many automata fits into memory; prices on labels make them agree.
"""

from __future__ import annotations

import time

import numpy as np

from zerogap import sequence as seq
from zerogap import verify

LABELS = ["O"] + [f"{tag}-{field}" for field in ("PER", "ORG", "LOC", "MISC") for tag in "BI"]


def document(n: int, groups: int, size: int, margin: float) -> seq.Problem:
    rng = np.random.default_rng([n, groups, size])
    allowed, start, _ = seq.scheme_transitions(LABELS)
    emissions = rng.normal(size=(n, len(LABELS)))
    emissions[:, 0] += 1.0
    places = rng.permutation(n)[: groups * size].reshape(groups, size)
    for place in places:
        emissions[place, 1 + 2 * rng.integers(4)] += margin
    rules = [seq.same_label(place.tolist()) for place in places]
    return seq.Problem(emissions, allowed + 0.3 * rng.normal(size=allowed.shape), start=start, labels=LABELS, constraints=rules)


def main() -> None:
    seq.decode(document(200, 20, 3, 2.0))  # compile, load
    print(f"{'tokens':>8}{'groups':>8}{'of':>4}{'margin':>8}{'ms':>10}{'status':>10}{'verified':>10}")
    for n, groups, size, margin in (
        (200, 5, 3, 3),
        (200, 20, 3, 2),
        (500, 20, 4, 3),
        (2000, 60, 4, 3),
        (2000, 60, 4, 2),
        (2000, 200, 5, 3),
    ):
        problem = document(n, groups, size, margin)
        begin = time.perf_counter()
        solution = seq.decode(problem)
        seconds = time.perf_counter() - begin
        verify(problem, solution)
        print(f"{n:8,}{groups:8}{size:4}{margin:8}{1000 * seconds:10.1f}{solution.status:>10}{'yes':>10}")


if __name__ == "__main__":
    main()
