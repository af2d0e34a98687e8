"""Phrase-based translation as an integer program over the paths of the relaxed lattice (Rush 2014, section 7.3), in HiGHS.

    variables    one for every step: a phrase, after c translated words, from an end e in a language-model state q
    rows         what enters a state leaves it; every source word is translated once (A y = b); and the rules of reordering

Every state is a row of its own, so this is for short sentences. The steps are found from the start, from the problem's definition alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zerogap.baselines.highs import Blocks, Ids, solve_program
from zerogap.errors import InputError

if TYPE_CHECKING:
    from zerogap.problems.translation.phrases import PhraseProblem

MOST_STEPS = 200_000
WALL = 0  # a kind of rule

State = tuple[int, int, int, int]  # translated words, end of the last phrase, states of the language model and of the output's automaton
Step = tuple[State, State, int, float]  # from, to, phrase, score


def solve_phrases(problem: PhraseProblem, *, time_limit: float | None = None, most_steps: int = MOST_STEPS) -> tuple[int, ...] | None:
    """The numbers of the phrases of an optimal translation by HiGHS's account; None if there is none, or if none was found in time."""
    steps, ends = all_steps(problem, most_steps)
    n, blocks = len(problem), Blocks()
    columns = blocks.add_columns(np.array([step[3] for step in steps], dtype=np.float64))
    final = blocks.add_columns(np.array([score for _, score in ends], dtype=np.float64))
    states = {state: i for i, state in enumerate({(0, 0, problem.language_model.start, 0): 0} | {step[1]: 0 for step in steps})}
    flow = blocks.add_rows(len(states), 0.0, 0.0)
    once = blocks.add_rows(n + 1, 1.0, 1.0)  # the last: one path from the start
    begin = blocks.add_columns(np.zeros(1))
    blocks.fill(flow[:1], begin, 1.0)
    blocks.fill(once[n:], begin, 1.0)
    blocks.fill(flow[[states[step[1]] for step in steps]], columns, 1.0)
    blocks.fill(flow[[states[step[0]] for step in steps]], columns, -1.0)
    blocks.fill(flow[[states[state] for state, _ in ends]], final, -1.0)
    covers = [(word, k) for k, step in enumerate(steps) for word in range(problem.starts[step[2]], problem.ends[step[2]])]
    blocks.fill(once[[word for word, _ in covers]], columns[[k for _, k in covers]], 1.0)
    add_rules(problem, steps, blocks, columns)
    scores, upper = np.concatenate(blocks.scores), np.concatenate(blocks.upper)
    outcome = solve_program(scores, upper, blocks.matrix(), integer=np.ones(len(scores), dtype=bool), time_limit=time_limit)
    if outcome.values is None:
        return None
    chosen = {steps[k][0]: steps[k] for k in np.flatnonzero(outcome.values[columns] > 0.5).tolist()}
    state, phrases = (0, 0, problem.language_model.start, 0), []
    while state in chosen:
        phrases.append(chosen[state][2])
        state = chosen[state][1]
    return tuple(phrases)


def all_steps(problem: PhraseProblem, most_steps: int) -> tuple[list[Step], list[tuple[State, float]]]:
    """Every step from every state that the start leads to, and what states where all words are translated score at the end."""
    model, automaton, n = problem.language_model, problem.automaton, len(problem)
    symbols, jumps = problem.symbol_ids().tolist(), problem.jumps
    start: State = (0, 0, model.start, 0)
    waiting, seen = [start], {start}
    steps: list[Step] = []
    ends: list[tuple[State, float]] = []
    for state in waiting:
        c, at, q, a = state
        if c == n:
            score = model.step(q, model.end_id)[0]
            if score > -np.inf and (automaton is None or automaton.accepts[a]):
                ends.append((state, score))
            continue
        for p in range(len(problem.starts)):
            s, e = int(problem.starts[p]), int(problem.ends[p])
            if c + e - s > n or not jumps[at, s]:
                continue
            value, state_of_model, state_of_output = float(problem.scores[p]) - problem.distortion * abs(s - at), q, a
            for i in range(problem.target_start[p], problem.target_start[p + 1]):
                score, state_of_model = model.step(state_of_model, int(problem.target_ids[i]))
                value += score
                if automaton is not None:
                    value = -np.inf if automaton.forbids[state_of_output, symbols[i]] else value
                    state_of_output = int(automaton.following[state_of_output, symbols[i]])
            if value == -np.inf:
                continue
            after = (c + e - s, e, state_of_model, state_of_output)
            steps.append((state, after, p, value))
            if len(steps) > most_steps:
                raise InputError(f"the sentence has more than {most_steps:,} steps: expected a shorter one for an integer program.")
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return steps, ends


def add_rules(problem: PhraseProblem, steps: list[Step], blocks: Blocks, columns: Ids) -> None:
    """What walls, zones and Moses' rule ask of the words that are translated when a phrase is taken, or has been taken."""
    n = len(problem)
    spans: dict[tuple[int, int, int], list[int]] = {}  # steps by translated words and span
    for k, (state, _, p, _) in enumerate(steps):
        spans.setdefault((state[0], int(problem.starts[p]), int(problem.ends[p])), []).append(k)

    def before(word: int, c: int) -> list[int]:
        """Steps that translate a word when fewer than c words are translated."""
        return [k for (count, s, e), listed in spans.items() if count < c and s <= word < e for k in listed]

    for (c, s, e), listed in spans.items():
        wanted: set[int] = set()
        if problem.reordering == "moses" and problem.distortion_limit is not None:
            wanted |= {i for i in range(s) if e - i > problem.distortion_limit}
        for kind, first, middle, last in problem.rules.tolist():
            if kind == WALL:
                if s < last and e > middle:
                    wanted |= {i for i in range(first, middle) if not s <= i < e}
            elif s < first or e > last:  # all words of the zone, or none: neighbours are alike
                for i in range(first, last - 1):
                    one, other = i, i + 1
                    inside = int(s <= one < e) - int(s <= other < e)
                    for sign in (1.0, -1.0):
                        row = blocks.add_rows(1, -2.0 * n, 1.0 - sign * inside)
                        plus, minus = set(before(one, c)), set(before(other, c))
                        fill(blocks, row, columns, listed, 1.0)
                        fill(blocks, row, columns, sorted(plus - minus), sign)
                        fill(blocks, row, columns, sorted(minus - plus), -sign)
        for word in sorted(wanted):
            row = blocks.add_rows(1, -2.0 * n, 0.0)
            fill(blocks, row, columns, listed, 1.0)
            fill(blocks, row, columns, before(word, c), -1.0)


def fill(blocks: Blocks, row: Ids, columns: Ids, steps: list[int], coefficient: float) -> None:
    blocks.fill(np.repeat(row, len(steps)), columns[steps], coefficient)
