"""Small treebanks that are easy to learn, for tests of training."""

from __future__ import annotations

import numpy as np

from zerogap.dependency.sentence import Sentence


def treebank(count: int, seed: int = 0) -> list[Sentence]:
    """Trees that words and their order decide, with long arcs among them."""
    rng, found = np.random.default_rng(seed), []
    for i in range(count):
        n = int(rng.integers(1, 12))
        tags = rng.choice(["N", "V", "D", "P"], n)
        root = int(rng.integers(1, n + 1))
        heads = [0 if m == root else root if tags[m - 1] in "VP" or m % 3 == 0 else m + 1 if m < root else m - 1 for m in range(1, n + 1)]
        forms = [f"{tag.lower()}{rng.integers(0, 4)}" for tag in tags]
        found.append(Sentence({"form": tuple(forms), "upos": tuple(tags.tolist())}, tuple(heads), name=f"s{i}"))
    return found
