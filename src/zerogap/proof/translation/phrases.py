"""Checks bounds of phrase-based translation from multipliers of the source words (Rush 2014, chapter 7), in NumPy.

The relaxed problem, n source words translated by phrases in any order, each jump within the limit, is solved by a dynamic program over
(words translated, end of the last phrase, language-model state): one row of states at a time, with the language model as it is defined.
If the dual is the claimed bound, that is all. If not, what lies on paths above the claim is searched through (`phrase_graphs`).
Where phrases of the output are required or forbidden, a state is one of the language model and one of the automaton that reads the output.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import VerificationError
from zerogap.grid import MANTISSA_BITS, Scores
from zerogap.problems.translation.phrases import PhraseProblem
from zerogap.proof.certificate import Certificate, Multipliers
from zerogap.proof.translation.phrase_graphs import Integers, PathGraph, largest_above, path_graph

MOST_ARCS = 20_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """Every phrase read from every state in which a phrase may end: what it scores in all, and the state after it."""

    scores: Scores  # (phrases, states)
    following: NDArray[np.int32]
    final: Scores  # of the end of the sentence
    start: int


def phrase_bound(problem: PhraseProblem, certificate: Certificate, claimed: float) -> float:
    """The bound that a certificate proves: at most the claimed one, or what is above it."""
    multipliers = multipliers_of(problem, certificate)
    if len(problem) == 0:
        return problem.score(()) if may_be_empty(problem) else -np.inf
    reading = read_phrases(problem)
    outside, ahead = relaxed_outside(problem, reading, multipliers)
    dual = float(outside[0, 0, reading.start] + multipliers.sum())
    if dual <= claimed:
        return dual
    found = largest_above(unfold(problem, reading, multipliers, outside, ahead, claimed), problem, multipliers, claimed)
    return max(claimed, float(found.max(initial=-np.inf)))


def phrase_alternatives(problem: PhraseProblem, certificate: Certificate, claimed: float, k: int) -> Scores:
    """The scores above `claimed` of the k best translations, the highest first."""
    multipliers = multipliers_of(problem, certificate)
    if len(problem) == 0:
        only = np.array([problem.score(())] if may_be_empty(problem) else [])
        return only[only > claimed]
    reading = read_phrases(problem)
    outside, ahead = relaxed_outside(problem, reading, multipliers)
    if float(outside[0, 0, reading.start] + multipliers.sum()) <= claimed:
        return np.empty(0)
    return largest_above(unfold(problem, reading, multipliers, outside, ahead, claimed), problem, multipliers, claimed, k)


def may_be_empty(problem: PhraseProblem) -> bool:
    return not problem.constraints.required


def multipliers_of(problem: PhraseProblem, certificate: Certificate) -> Scores:
    if not isinstance(certificate, Multipliers):
        raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing about translations by phrases.")
    return checked(problem, certificate.values)


def checked(problem: PhraseProblem, values: tuple[float, ...]) -> Scores:
    """The multipliers, if sums with them are exact."""
    multipliers = np.array(values, dtype=np.float64)
    if multipliers.shape != (len(problem),):
        raise VerificationError(f"the certificate has {multipliers.size} multipliers: expected {len(problem)}, one per source word.")
    units = multipliers / problem.resolution
    if not (np.isfinite(units).all() and np.array_equal(units, np.rint(units))):
        raise VerificationError("a multiplier of the certificate is not on the grid of the problem.")
    if multipliers.size and np.abs(units).max() > 2.0 ** (MANTISSA_BITS - 3) / (len(problem) + 1) ** 2:
        raise VerificationError("a multiplier of the certificate is so large that sums with it would not be exact.")
    return multipliers


def read_phrases(problem: PhraseProblem) -> Reading:
    """States are found from the start, as long as phrases lead to new ones; q of the model and a of the automaton are q * many + a."""
    model, n_phrases = problem.language_model, len(problem.starts)
    automaton = problem.automaton
    many = 1 if automaton is None else len(automaton.following)
    symbols = problem.symbol_ids().tolist()
    ids = problem.target_ids.tolist()
    spots = [range(problem.target_start[p], problem.target_start[p + 1]) for p in range(n_phrases)]
    words = [tuple((ids[i], symbols[i]) for i in spot) for spot in spots]

    def step(pairs: Integers, word: tuple[int, int]) -> tuple[Scores, Integers]:
        scores, after = model.steps(pairs // many, np.full(len(pairs), word[0]))
        if automaton is None:
            return scores, after
        scores = np.where(automaton.forbids[pairs % many, word[1]], -np.inf, scores)
        return scores, after * many + automaton.following[pairs % many, word[1]]

    start = model.start * many
    known = fresh = np.array([start], dtype=np.int64)
    blocks: list[tuple[Integers, Scores, Integers]] = []
    while fresh.size:
        read: dict[tuple[tuple[int, int], ...], tuple[Scores, Integers]] = {(): (np.zeros(len(fresh)), fresh)}  # phrases begin alike
        for target in words:
            for k in range(1, len(target) + 1):
                if target[:k] not in read:
                    so_far, states = read[target[: k - 1]]
                    different, inverse = np.unique(states, return_inverse=True)
                    scores, after = step(different, target[k - 1])
                    read[target[:k]] = so_far + scores[inverse], after[inverse]
        ends = [read[target] for target in words]
        after = np.array([states for _, states in ends], dtype=np.int64).reshape(n_phrases, len(fresh))
        blocks.append((fresh, np.array([scores for scores, _ in ends]).reshape(n_phrases, len(fresh)), after))
        fresh = np.setdiff1d(after, known)
        known = np.union1d(known, fresh)
    rank = np.argsort(np.concatenate([states for states, _, _ in blocks]))
    scores = np.concatenate([part for _, part, _ in blocks], axis=1)[:, rank]
    following = np.searchsorted(known, np.concatenate([part for _, _, part in blocks], axis=1)[:, rank])
    final, _ = model.steps(known // many, np.full(len(known), model.end_id))
    if automaton is not None:
        final = np.where(automaton.accepts[known % many], final, -np.inf)
    return Reading(scores, following.astype(np.int32), final, int(np.searchsorted(known, start)))


def relaxed_outside(problem: PhraseProblem, reading: Reading, multipliers: Scores) -> tuple[Scores, Scores]:
    """outside[c, e, q]: the best completion after c words, the last phrase having ended at e in state q; ahead[c, s, q]: if the next phrase
    begins at s, before the jump."""
    n, n_states = len(problem), len(reading.final)
    sums = np.concatenate([[0.0], np.cumsum(multipliers)])
    weights = problem.scores - (sums[problem.ends] - sums[problem.starts])
    outside, ahead = np.full((n + 1, n + 1, n_states), -np.inf), np.full((n, n, n_states), -np.inf)
    outside[n] = reading.final
    starts, ends, jumps = problem.starts.tolist(), problem.ends.tolist(), problem.jumps
    for c in range(n - 1, -1, -1):
        for p, (s, e) in enumerate(zip(starts, ends, strict=True)):
            if c + e - s <= n and weights[p] > -np.inf:
                np.maximum(ahead[c, s], weights[p] + reading.scores[p] + outside[c + e - s, e][reading.following[p]], out=ahead[c, s])
        for e in range(n + 1):
            for s in np.flatnonzero(jumps[e]).tolist():
                np.maximum(outside[c, e], ahead[c, s] - problem.distortion * abs(s - e), out=outside[c, e])
    return outside, ahead


def unfold(problem: PhraseProblem, reading: Reading, multipliers: Scores, outside: Scores, ahead: Scores, claimed: float) -> PathGraph:
    """All arcs of paths above the claim, from the start on."""
    n, n_states = len(problem), len(reading.final)
    least = claimed - float(multipliers.sum())
    sums = np.concatenate([[0.0], np.cumsum(multipliers)])
    weights = problem.scores - (sums[problem.ends] - sums[problem.starts])
    at_start = [np.flatnonzero((problem.starts == s) & (problem.scores > -np.inf)).tolist() for s in range(n)]
    jumps = problem.jumps
    inside = np.full((n + 1, (n + 1) * n_states), -np.inf)
    inside[0, reading.start] = 0.0
    nodes: list[Integers] = []
    layers: list[tuple[Integers, Integers, NDArray[np.int32], Scores]] = []  # arcs: source and target as (c, e, q), phrase, score
    total = 0
    for c in range(n + 1):
        here = np.flatnonzero(inside[c] > -np.inf)
        nodes.append(c * (n + 1) * n_states + here)
        end, state = here // n_states, here % n_states
        value = inside[c, here]
        found: list[tuple[Integers, Integers, int, Scores]] = []
        for s in range(n if c < n else 0):
            jump = problem.distortion * np.abs(s - end)
            rows = np.flatnonzero(jumps[end, s] & (value - jump + ahead[c, s, state] > least))
            if not rows.size:
                continue
            q = state[rows]
            for p in at_start[s]:
                e, into = int(problem.ends[p]), c + int(problem.ends[p]) - s
                if into > n:
                    continue
                base = value[rows] - jump[rows] + reading.scores[p, q] + weights[p]
                after = reading.following[p, q].astype(np.int64)
                kept = np.flatnonzero(base + outside[into, e, after] > least)
                if kept.size:
                    spot, base = e * n_states + after[kept], base[kept]
                    np.maximum.at(inside[into], spot, base)
                    score = base - value[rows[kept]] + (sums[e] - sums[s])
                    found.append((rows[kept], into * (n + 1) * n_states + spot, p, score))
                    total += len(kept)
                    if total > MOST_ARCS:
                        raise VerificationError(
                            f"more than {MOST_ARCS:,} arcs may be part of something better: the multipliers are too weak."
                        )
        if c == n:
            found = [(np.arange(len(here)), np.full(len(here), -1), -1, reading.final[state])]
        if found:
            source = np.concatenate([part[0] for part in found])
            order = np.argsort(source, kind="stable")
            phrase = np.repeat(np.array([part[2] for part in found], dtype=np.int32), [len(part[0]) for part in found])
            into_nodes, scores = np.concatenate([part[1] for part in found]), np.concatenate([part[3] for part in found])
            layers.append((nodes[c][source[order]], into_nodes[order], phrase[order], scores[order]))
    names = np.concatenate(nodes)
    source, target, phrase, score = (np.concatenate(column) for column in zip(*layers, strict=True))
    del layers
    source = np.searchsorted(names, source).astype(np.int32)
    target = np.where(target < 0, -1, np.searchsorted(names, target)).astype(np.int32)
    return path_graph(np.concatenate([[0], np.cumsum([len(part) for part in nodes])]), source, target, phrase, score)
