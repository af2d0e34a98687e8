"""Checks bounds of phrase-based translation from multipliers of the source words (Rush 2014, chapter 7), in NumPy, in units.

    score of a translation <= sum of the multipliers + outside[0, 0, start]

    outside[c, e, q]    the best completion after c words, the last phrase having ended at e in state q of the language model
                        = max_s ahead[c, s, q] - distortion |s - e|, s within reach of e;  outside[n, e, q] = what the end scores after q
    ahead[c, s, q]      the same if the next phrase begins at s, before the jump
                        = max over phrases p from s that are listed after q of
                              scores[p] - multipliers of its words + reading[p, q] + outside[c + words of p, end of p, state after p]
                          and back_off[q] + ahead[c, s, shorter[q]]

A phrase is listed after a state if it scores otherwise, or leads elsewhere, than after the shorter state with the back-off paid: what is
not listed is worth exactly that, and what is may be read the other way as well, which only adds paths. So every translation is a path, its
multipliers cancel, as it translates every word once, and any multipliers prove the bound. There are few listed pairs, and few arcs.

If the dual is the claimed bound, that is all. If not, what lies on paths above the claim is searched through (`phrase_graphs`).
Where phrases of the output are required or forbidden, a state is one of the language model and one of the automaton that reads the output.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import VerificationError
from zerogap.grid import Flags, Integers
from zerogap.problems.translation.language_model import EMPTY_STATE
from zerogap.problems.translation.phrases import PhraseProblem
from zerogap.proof.certificate import Certificate, Multipliers
from zerogap.proof.integers import ABSENT, LEAST, RANGE, Units, plus, units, units_of
from zerogap.proof.translation.phrase_graphs import NOWHERE, Numbers, PathGraph, Phrases, largest_above, path_graph

MOST_ARCS = 20_000_000
NO_STATE = -1  # where nothing shorter is


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """Every phrase read from every state in which a phrase may end, and from those that these back off to."""

    scores: Integers  # (phrases, states): of all words of the phrase
    following: Numbers  # (phrases, states)
    final: Integers  # (states,): of the end of the sentence
    start: int
    shorter: Numbers  # (states,): NO_STATE for the empty context, and where backing off is forbidden
    back_off: Integers
    depth: Integers  # (states,): how often a state backs off
    listed: Flags  # (phrases, states)


def phrase_bound(problem: PhraseProblem, certificate: Certificate, claimed: Units) -> Units:
    """The bound that a certificate proves: at most the claimed one, or what is above it."""
    above = scores_above(problem, certificate, claimed, 1)
    return max([claimed, *above]) if isinstance(above, list) else above


def phrase_alternatives(problem: PhraseProblem, certificate: Certificate, claimed: int, k: int) -> list[int]:
    """The scores above `claimed` of the k best translations, the highest first."""
    above = scores_above(problem, certificate, claimed, k)
    return above if isinstance(above, list) else []


def scores_above(problem: PhraseProblem, certificate: Certificate, claimed: Units, k: int) -> Units | list[int]:
    """The bound if it is at most the claimed one; else the scores above it of the k best translations, as far as there are any."""
    if not isinstance(certificate, Multipliers):
        raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing about translations by phrases.")
    if len(certificate.values) != len(problem):
        count = len(certificate.values)
        raise VerificationError(f"the certificate has {count} multipliers: expected {len(problem)}, one per source word.")
    if len(problem) == 0:
        score = -math.inf if problem.constraints.required else problem.score(())
        return score if score == -math.inf else units_of(score, problem.resolution, "score")
    reading = read_phrases(problem)
    phrases = phrases_of(problem, reading)
    values = [units_of(value, problem.resolution, f"multiplier {i}") for i, value in enumerate(certificate.values)]
    if max(map(abs, values)) > phrases.largest_multiplier:
        raise VerificationError("a multiplier of the certificate is so large that sums with it would not be exact.")
    multipliers = np.array(values, dtype=np.int64)
    pairs = listed_pairs(phrases, reading)
    outside, ahead = relaxed_outside(phrases, reading, pairs, multipliers)
    dual = int(outside[0, 0, reading.start]) + sum(values)
    if dual < LEAST // 2:
        return -math.inf
    if dual <= claimed:
        return dual
    floor = max(claimed, LEAST // 4)  # below every score
    graph = unfold(phrases, reading, pairs, multipliers, outside, ahead, int(floor))
    del outside, ahead
    return largest_above(graph, phrases, reading.listed, multipliers, int(floor), k)


# ------------------------------------------------------------ reading


def read_phrases(problem: PhraseProblem) -> Reading:
    """States are found from the start, as long as phrases lead to new ones; q of the model and a of the automaton are q * many + a."""
    model, n_phrases, unit = problem.language_model, len(problem.starts), problem.resolution
    automaton = problem.automaton
    many = 1 if automaton is None else len(automaton.following)
    symbols = problem.symbol_ids().tolist()
    ids = problem.target_ids.tolist()
    spots = [range(problem.target_start[p], problem.target_start[p + 1]) for p in range(n_phrases)]
    words = [tuple((ids[i], symbols[i]) for i in spot) for spot in spots]

    def step(pairs: Integers, word: tuple[int, int]) -> tuple[Integers, Integers]:
        scores, after = model.steps(pairs // many, np.full(len(pairs), word[0]))
        if automaton is None:
            return units(scores, unit), after
        scores = np.where(automaton.forbids[pairs % many, word[1]], -np.inf, scores)
        return units(scores, unit), after * many + automaton.following[pairs % many, word[1]]

    def shortened(pairs: Integers) -> Integers:
        state = pairs // many
        return np.where(state == EMPTY_STATE, pairs, model.shorter[state].astype(np.int64) * many + pairs % many)

    start = model.start * many
    known, fresh = np.empty(0, dtype=np.int64), np.array([start], dtype=np.int64)
    blocks: list[tuple[Integers, Integers, Integers]] = []
    while fresh.size:
        known = np.union1d(known, fresh)
        read: dict[tuple[tuple[int, int], ...], tuple[Integers, Integers]] = {
            (): (np.zeros(len(fresh), dtype=np.int64), fresh)
        }  # phrases begin alike
        for target in words:
            for k in range(1, len(target) + 1):
                if target[:k] not in read:
                    so_far, states = read[target[: k - 1]]
                    different, inverse = np.unique(states, return_inverse=True)
                    scores, after = step(different, target[k - 1])
                    read[target[:k]] = plus(so_far, scores[inverse]), after[inverse]
        after = np.array([read[target][1] for target in words], dtype=np.int64).reshape(n_phrases, len(fresh))
        blocks.append((fresh, np.array([read[target][0] for target in words], dtype=np.int64).reshape(n_phrases, len(fresh)), after))
        fresh = np.setdiff1d(np.concatenate([after.reshape(-1), shortened(fresh)]), known)
    rank = np.argsort(np.concatenate([states for states, _, _ in blocks]))
    scores = np.concatenate([part for _, part, _ in blocks], axis=1)[:, rank]
    following = np.searchsorted(known, np.concatenate([part for _, _, part in blocks], axis=1)[:, rank]).astype(np.int32)
    final = units(model.steps(known // many, np.full(len(known), model.end_id))[0], unit)
    if automaton is not None:
        final = np.where(automaton.accepts[known % many], final, ABSENT)
    back_off = units(model.back_offs[known // many], unit)
    shorter = np.where((known // many == EMPTY_STATE) | (back_off == ABSENT), NO_STATE, np.searchsorted(known, shortened(known)))
    depth = np.zeros(len(known), dtype=np.int64)
    above = shorter.copy()
    while (above != NO_STATE).any():
        depth += above != NO_STATE
        above = np.where(above == NO_STATE, NO_STATE, shorter[above])
    listed = (scores != plus(scores[:, shorter], back_off)) | (following != following[:, shorter]) | (shorter == NO_STATE)
    start = int(np.searchsorted(known, start))
    return Reading(scores, following, final, start, shorter.astype(np.int32), np.where(back_off == ABSENT, 0, back_off), depth, listed)


def phrases_of(problem: PhraseProblem, reading: Reading) -> Phrases:
    """The problem in units. No sum along a path of the relaxation, with multipliers up to the largest, leaves the range."""
    n, scores = len(problem), units(problem.scores, problem.resolution)
    distortion = units_of(problem.distortion, problem.resolution, "distortion")
    most = [int(np.abs(part[part > ABSENT]).max(initial=0)) for part in (scores, reading.scores, reading.final, reading.back_off)]
    largest = (n + 1) * (sum(most) + most[-1] * int(reading.depth.max()) + n * abs(distortion))
    if largest >= RANGE // 4:
        raise VerificationError("the scores of the problem are so large that sums with them are not exact.")
    return Phrases(problem, problem.starts, problem.ends, scores, distortion, (RANGE // 4 - largest) // (4 * (n + 1)))


# ------------------------------------------------------------ the relaxation


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """A phrase and a state that it is listed after, sorted by where the phrase begins and by state."""

    phrase: Integers
    state: Integers
    score: Integers  # of the phrase and its words
    after: Integers
    start: Integers  # (n * states + 1,): the pairs of phrases from s after q are start[s * states + q] to the next


def listed_pairs(phrases: Phrases, reading: Reading) -> Pairs:
    possible = reading.listed & (reading.scores > ABSENT) & (phrases.scores > ABSENT)[:, None]
    phrase, state = np.nonzero(possible)
    n_states = len(reading.final)
    place = phrases.starts[phrase] * n_states + state
    order = np.argsort(place, kind="stable")
    phrase, state = phrase[order], state[order]
    score = phrases.scores[phrase] + reading.scores[phrase, state]
    start = np.searchsorted(place[order], np.arange(len(phrases.problem) * n_states + 1))
    return Pairs(phrase, state, score, reading.following[phrase, state].astype(np.int64), start)


def relaxed_outside(phrases: Phrases, reading: Reading, pairs: Pairs, multipliers: Integers) -> tuple[Integers, Integers]:
    """The tables `outside` and `ahead`; behind the last layer of `outside` are some that nothing reaches, for phrases that are too long."""
    n, n_states = len(multipliers), len(reading.final)
    longest = int((phrases.ends - phrases.starts).max(initial=1))
    outside, ahead = np.full((n + 1 + longest, n + 1, n_states), NOWHERE), np.full((n, n, n_states), NOWHERE)
    outside[n] = np.where(reading.final > ABSENT, reading.final, NOWHERE)
    worth = pairs.score - phrases.prices(multipliers)[pairs.phrase]
    start, end = phrases.starts[pairs.phrase], phrases.ends[pairs.phrase]
    into = ((end - start) * (n + 1) + end) * n_states + pairs.after
    places = np.flatnonzero(np.diff(pairs.start))
    first = pairs.start[places]
    levels = [np.flatnonzero(reading.depth == depth) for depth in range(1, int(reading.depth.max()) + 1)]
    jumps, reach = phrases.problem.jumps, phrases.problem.reach
    for c in range(n - 1, -1, -1):
        if len(places):
            values = worth + outside.reshape(-1)[into + c * (n + 1) * n_states]
            ahead[c].reshape(-1)[places] = np.maximum.reduceat(values, first)
        for states in levels:
            shorter = ahead[c][:, reading.shorter[states]] + reading.back_off[states]
            ahead[c][:, states] = np.maximum(ahead[c][:, states], shorter)
        for jump in range(-reach, reach + 1):
            ends = np.arange(max(0, -jump), min(n + 1, n - jump))
            ends = ends[jumps[ends, ends + jump]]
            outside[c, ends] = np.maximum(outside[c, ends], ahead[c, ends + jump] - phrases.distortion * abs(jump))
    return outside, ahead


def unfold(
    phrases: Phrases, reading: Reading, pairs: Pairs, multipliers: Integers, outside: Integers, ahead: Integers, claimed: int
) -> PathGraph:
    """All arcs of paths above the claim, from the start on: layers are numbers of words, and in each how often a state backs off."""
    n, n_states = len(multipliers), len(reading.final)
    size, deepest = (n + 1) * n_states, int(reading.depth.max())
    least = claimed - int(multipliers.sum())
    prices, sizes, jumps = phrases.prices(multipliers), np.diff(pairs.start), phrases.problem.jumps
    completion, onwards = outside.reshape(-1), ahead.reshape(-1)
    inside = np.full(completion.shape, NOWHERE)
    inside[reading.start] = 0
    nodes: list[Integers] = []  # a node (c, e, q) is the number (c * (n + 1) + e) * n_states + q
    arcs: list[tuple[Integers, Integers, NDArray[np.int64], Integers]] = []  # source, target, phrase, score
    total = 0
    for c in range(n + 1):
        for depth in range(deepest, -1, -1):
            here = np.flatnonzero((inside[c * size : (c + 1) * size].reshape(n + 1, n_states) > LEAST // 2) & (reading.depth == depth))
            end, state = here // n_states, here % n_states
            here += c * size
            nodes.append(here)
            value = inside[here]
            if c == n:
                ended = reading.final[state] > ABSENT
                found = [(here[ended], np.full(ended.sum(), -1), np.full(ended.sum(), -1), reading.final[state[ended]])]
            else:
                shorter = here - state + reading.shorter[state]
                score = reading.back_off[state]
                kept = np.flatnonzero((reading.shorter[state] != NO_STATE) & (value + score + completion[shorter] > least))
                np.maximum.at(inside, shorter[kept], value[kept] + score[kept])
                found = [(here[kept], shorter[kept], np.full(len(kept), -1), score[kept])]
                row, start = np.nonzero(jumps[end, :n])
                jump = phrases.distortion * np.abs(start - end[row])
                kept = value[row] - jump + onwards[(c * n + start) * n_states + state[row]] > least
                row, start, jump = row[kept], start[kept], jump[kept]
                place = start * n_states + state[row]
                at = np.repeat(np.arange(len(row)), sizes[place])
                pair = np.arange(len(at)) + np.repeat(pairs.start[place] - np.cumsum(sizes[place]) + sizes[place], sizes[place])
                phrase, score = pairs.phrase[pair], pairs.score[pair] - jump[at]
                target = (c + phrases.ends[phrase] - start[at]) * size + phrases.ends[phrase] * n_states + pairs.after[pair]
                reached = value[row[at]] + score - prices[phrase]
                kept = np.flatnonzero(reached + completion[target] > least)
                np.maximum.at(inside, target[kept], reached[kept])
                found.append((here[row[at[kept]]], target[kept], phrase[kept], score[kept]))
            arcs += found
            total += sum(len(part) for part, _, _, _ in found)
            if total > MOST_ARCS:
                raise VerificationError(f"more than {MOST_ARCS:,} arcs may be part of something better: the multipliers are too weak.")
    names = np.concatenate(nodes)
    layer_start = np.concatenate([[0], np.cumsum([len(part) for part in nodes])])
    by_name = np.argsort(names)
    source, target, phrase, score = (np.concatenate(column) for column in zip(*arcs, strict=True))
    source = by_name[np.searchsorted(names, source, sorter=by_name)]
    target = np.where(target < 0, -1, by_name[np.searchsorted(names, target, sorter=by_name) % len(names)])
    order = np.argsort(source, kind="stable")
    states: Numbers = (names % n_states).astype(np.int32)
    return path_graph(layer_start, source[order], target[order], phrase[order], score[order], states)
