"""The best phrase-based translation of one sentence (Rush 2014, section 7.2).

    argmax  sum_i score(p_i) + ln p(target of p_1 ... p_k) - distortion * sum_i |start(p_i) - end(p_i-1)|
    over sequences of phrases that translate every source word exactly once, without jumps beyond the distortion limit

NP-hard (Knight 1999). With `reordering="moses"`, a phrase that does not begin at the first untranslated word must also end within
the limit of that word, as Moses asks, since the jump back to it comes sooner or later. Further constraints, on the output or on the order
of the source words, are those of `phrase_constraints`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError, InvalidStructure, UnknownMethod
from zerogap.grid import Scores, as_scores, choose_resolution, largest_magnitude, restored, round_to_grid
from zerogap.problems.translation.language_model import LanguageModel
from zerogap.problems.translation.phrase_constraints import (
    NO_CONSTRAINTS,
    Constraints,
    Rules,
    TargetAutomaton,
    allowed_jumps,
    automaton_of,
    broken_rule,
    check_constraints,
    rules_of,
)

REORDERINGS = ("limit", "moses")

Derivation = tuple[tuple[int, int, tuple[str, ...]], ...]
Option = tuple[int, int, Sequence[str], float]


@dataclass(frozen=True, slots=True, eq=False)
class PhraseProblem:
    """The phrases that apply to a sentence, sorted by span, with their scores; a language model; the price and limit of jumps.

    A structure is the tuple of (start, end, target words) of the phrases in the order of the target; spans are half-open.
    `language_model` is scaled to a grid (`LanguageModel.scaled`), which is the problem's.
    """

    source: tuple[str, ...]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    scores: Scores  # of the phrases, all features but language model and distortion
    targets: tuple[tuple[str, ...], ...]
    target_start: NDArray[np.int64]  # target_ids[target_start[p] : target_start[p + 1]] are the words of phrase p
    target_ids: NDArray[np.int64]
    language_model: LanguageModel
    distortion: float
    distortion_limit: int | None
    reordering: str
    resolution: float
    constraints: Constraints
    rules: Rules  # of zones and walls
    automaton: TargetAutomaton | None  # that reads the output, if some phrase is required or forbidden
    given: tuple[Option, ...]  # the phrases before translations were fixed

    __setstate__ = restored

    def __init__(
        self,
        source: Sequence[str],
        phrases: Sequence[Option],
        language_model: LanguageModel,
        *,
        distortion: float = 0.0,
        distortion_limit: int | None = None,
        reordering: str = "limit",
        constraints: Constraints | None = None,
    ) -> None:
        """`phrases` are (start, end, target words, score)."""
        if not isinstance(language_model, LanguageModel) or language_model.resolution is None:
            raise InputError("language_model is not on a grid: expected a LanguageModel from scaled(weight, resolution=...).")
        if reordering not in REORDERINGS:
            raise UnknownMethod("reordering", reordering, REORDERINGS)
        if distortion_limit is not None and (type(distortion_limit) is not int or distortion_limit < 0):
            raise InputError(f"distortion_limit is {distortion_limit!r}: expected 0 or more words, or None.")
        words, phrases = tuple(source), tuple(phrases)
        limits = NO_CONSTRAINTS if constraints is None else constraints
        check_constraints(limits, len(words))
        check_phrases(phrases, len(words))
        listed = sorted(with_fixed(phrases, limits), key=lambda phrase: phrase[:2])
        targets = tuple(tuple(phrase[2]) for phrase in listed)
        given = as_scores([phrase[3] for phrase in listed], "scores", shape=(len(listed),))
        price = float(as_scores([distortion], "distortion", lowest=-1e300)[0])
        lengths = np.array([len(target) for target in targets], dtype=np.int64)
        jump = len(words) if distortion_limit is None else min(distortion_limit, len(words))
        most = largest_magnitude(given) + int(lengths.max(initial=0)) * language_model.largest + jump * abs(price)
        resolution = choose_resolution(most + language_model.largest, len(words) + 1, language_model.resolution)
        ids = [language_model.id_of(word) for target in targets for word in target]
        for name, value in (
            ("source", words), ("targets", targets), ("language_model", language_model), ("reordering", reordering),
            ("starts", np.array([phrase[0] for phrase in listed], dtype=np.int64)),
            ("ends", np.array([phrase[1] for phrase in listed], dtype=np.int64)),
            ("scores", round_to_grid(given, resolution)),
            ("target_start", np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)),
            ("target_ids", np.array(ids, dtype=np.int64)),
            ("distortion", float(round_to_grid(np.array([price]), resolution)[0])),
            ("distortion_limit", distortion_limit), ("resolution", resolution), ("constraints", limits), ("given", phrases),
            ("rules", rules_of(limits, len(words))),
            ("automaton", automaton_of(limits.required, limits.forbidden) if limits.required or limits.forbidden else None),
        ):  # fmt: skip
            object.__setattr__(self, name, value)
        for array in (self.starts, self.ends, self.target_start, self.target_ids):
            array.flags.writeable = False

    def __len__(self) -> int:
        """The number of source words."""
        return len(self.source)

    @property
    def reach(self) -> int:
        """The longest jump that is allowed."""
        return len(self.source) if self.distortion_limit is None else min(self.distortion_limit, len(self.source))

    @property
    def jumps(self) -> NDArray[np.bool_]:
        """jumps[e, s]: whether a phrase that begins at s may follow one that ended at e, by the limit and by walls."""
        return allowed_jumps(self.rules, len(self.source), self.reach)

    def symbol_ids(self) -> NDArray[np.int64]:
        """What the automaton reads for every target word of every phrase."""
        known = self.automaton.symbols if self.automaton is not None else {}
        return np.array([known.get(word, 0) for target in self.targets for word in target], dtype=np.int64)

    def under(self, constraints: Constraints, *, distortion_limit: int | None = None) -> PhraseProblem:
        """The same sentence under other constraints, and another limit of jumps unless None."""
        limit = self.distortion_limit if distortion_limit is None else distortion_limit
        return PhraseProblem(
            self.source, self.given, self.language_model,
            distortion=self.distortion, distortion_limit=limit, reordering=self.reordering, constraints=constraints,
        )  # fmt: skip

    def phrase(self, start: int, end: int, target: Sequence[str]) -> int:
        """The number of a phrase; InvalidStructure if there is none such."""
        low = np.searchsorted(self.starts, start)
        high = np.searchsorted(self.starts, start, side="right")
        for p in range(int(low), int(high)):
            if self.ends[p] == end and self.targets[p] == tuple(target):
                return p
        raise InvalidStructure(f"no phrase translates words {start} to {end} as {' '.join(map(str, target))!r}.")

    def derivation(self, phrases: Sequence[int]) -> Derivation:
        """The structure that uses these phrases, by number."""
        return tuple((int(self.starts[p]), int(self.ends[p]), self.targets[p]) for p in phrases)

    def score(self, derivation: Derivation) -> float:
        total, at, state = 0.0, 0, self.language_model.start
        for start, end, target in spans_of(derivation):
            p = self.phrase(start, end, target)
            total += float(self.scores[p]) - self.distortion * abs(start - at)
            for word in self.target_ids[self.target_start[p] : self.target_start[p + 1]].tolist():
                score, state = self.language_model.step(state, word)
                total += score
            at = end
        return total + self.language_model.step(state, self.language_model.end_id)[0]

    def check(self, derivation: Derivation) -> None:
        """Raises InvalidStructure unless every word is translated once, by phrases of the problem, within the limits of jumps."""
        covered, at = np.zeros(len(self.source) + 1, dtype=bool), 0
        for i, (start, end, target) in enumerate(spans_of(derivation)):
            if self.scores[self.phrase(start, end, target)] == -np.inf:
                raise InvalidStructure(f"phrase {i} is forbidden: its score is -inf.")
            if covered[start:end].any():
                raise InvalidStructure(f"phrase {i} translates words {start} to {end}, of which some are translated before.")
            if abs(start - at) > self.reach:
                raise InvalidStructure(f"phrase {i} begins at {start} after {at}: expected a jump of at most {self.reach} words.")
            first = int(np.argmin(covered))
            if self.reordering == "moses" and start != first and end - first > self.reach:
                raise InvalidStructure(f"phrase {i} ends at {end}, beyond the reach of the untranslated word {first}.")
            covered[start:end] = True
            rule = broken_rule(self.rules, covered[:-1], start, end)
            if rule is not None:
                raise InvalidStructure(f"phrase {i}, words {start} to {end}, breaks {rule_name(self.rules[rule].tolist())}.")
            at = end
        if not covered[:-1].all():
            raise InvalidStructure(f"word {int(np.argmin(covered))} is not translated.")
        output = tuple(word for _, _, target in derivation for word in target)
        for phrase in self.constraints.required:
            if not has_phrase(output, phrase):
                raise InvalidStructure(f"the output lacks the required phrase {' '.join(phrase)!r}.")
        for phrase in self.constraints.forbidden:
            if has_phrase(output, phrase):
                raise InvalidStructure(f"the output has the forbidden phrase {' '.join(phrase)!r}.")
        if self.score(derivation) == -np.inf:
            raise InvalidStructure("the language model forbids the translation: its score is -inf.")


def check_phrases(listed: Sequence[Option], n: int) -> None:
    seen: set[tuple[int, int, tuple[str, ...]]] = set()
    for p, (start, end, target, _) in enumerate(listed):
        if not (all(type(place) is int or isinstance(place, np.integer) for place in (start, end)) and 0 <= start < end <= n):
            raise InputError(f"phrases[{p}] spans {start} to {end}: expected words from 0 to {n}, at least one.")
        if isinstance(target, str):
            raise InputError(f"phrases[{p}] has the target {target!r}: expected a sequence of words.")
        if not len(target):
            raise InputError(f"phrases[{p}] has no target words: expected at least one.")
        key = (start, end, tuple(target))
        if key in seen:
            raise InputError(f"{' '.join(target)!r} is given twice for words {start} to {end}: expected once.")
        seen.add(key)


def with_fixed(phrases: Sequence[Option], constraints: Constraints) -> list[Option]:
    """The phrases that fixed translations leave, and these; of two that are alike, the one that scores more."""
    if not constraints.fixed:
        return list(phrases)
    exclusive = [part for part in constraints.fixed if part.exclusive]
    kept = [p for p in phrases if not any(p[0] < part.end and part.start < p[1] for part in exclusive)]
    best = {(start, end, tuple(target)): score for start, end, target, score in kept}
    for part in constraints.fixed:
        for target, score in zip(part.targets, part.scores, strict=True):
            if isinstance(target, str) or not target:
                raise InputError(f"{part} is {target!r}: expected a sequence of words, at least one.")
            key = (part.start, part.end, tuple(target))
            best[key] = max(best.get(key, -np.inf), score)
    return [(*key, score) for key, score in best.items()]


def has_phrase(words: Sequence[str], phrase: Sequence[str]) -> bool:
    """Whether the phrase stands somewhere among the words."""
    size = len(phrase)
    return any(tuple(words[i : i + size]) == tuple(phrase) for i in range(len(words) - size + 1))


def rule_name(rule: Sequence[int]) -> str:
    _, first, middle, last = rule
    return f"the wall before word {middle}" if rule[0] == 0 else f"the zone of words {first} to {last}"


def spans_of(derivation: Any) -> Derivation:
    if isinstance(derivation, tuple | list) and all(
        isinstance(part, tuple | list)
        and len(part) == 3
        and all(isinstance(i, int) for i in part[:2])
        and isinstance(part[2], tuple | list)
        for part in derivation
    ):
        return tuple(derivation)
    raise InvalidStructure(f"the structure is {str(derivation)[:60]}: expected (start, end, target words) of every phrase.")


def translation(derivation: Derivation) -> str:
    """The target sentence."""
    return " ".join(word for _, _, target in derivation for word in target)


def segments(problem: PhraseProblem, derivation: Derivation) -> tuple[tuple[tuple[int, int], tuple[str, ...]], ...]:
    """((source start, source end), target words) of every phrase, in the order of the target."""
    parts = [problem.derivation([problem.phrase(*part)])[0] for part in spans_of(derivation)]
    return tuple(((start, end), target) for start, end, target in parts)


def alignment(problem: PhraseProblem, derivation: Derivation) -> tuple[tuple[int, int], ...]:
    """(source word, target word) of all pairs that one phrase translates, in order."""
    pairs, at = [], 0
    for (start, end), target in segments(problem, derivation):
        pairs += [(i, at + j) for i in range(start, end) for j in range(len(target))]
        at += len(target)
    return tuple(sorted(pairs))
