"""Projective trees in place of gold trees with crossing arcs, for parsers that know no others."""

from __future__ import annotations

import numpy as np

from zerogap.dependency.sentence import Sentence
from zerogap.grid import Integers
from zerogap.oracles.trees.eisner import eisner_kernel


def projective_heads(sentence: Sentence, *, single_root: bool) -> Integers:
    """The heads of the sentence, or of a projective tree that shares most arcs with it; ties go to heads that are ancestors."""
    n = len(sentence)
    gold = np.array(sentence.heads, dtype=np.int64)
    agreement = np.zeros((n + 1, n + 1))
    for m in range(1, n + 1):
        worth, above = 1.0, int(gold[m - 1])
        while True:  # the head counts 1, its head a little, ...
            agreement[above, m] = worth
            if above == 0:
                break
            worth = min(worth, 1.0 / n) * 0.5
            above = int(gold[above - 1])
    heads = np.empty(n, dtype=np.int64)
    eisner_kernel(agreement, 1 if single_root else 0, heads)
    return heads
