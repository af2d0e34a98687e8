"""Checks bounds on derivations of translation forests with a search of its own, in plain Python and NumPy.

Certificates are prices on the first and last words of vertices (zerogap.proof.forest_bounds). A piece of a vertex remembers its first
words, as many as the context of the language model has, and the state after it. The checker builds all pieces that might be part of a
derivation above the claimed bound, by its own account of what can come around them. If no derivation above the claimed bound is found
among them, there is none. Without prices all pieces are built.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from zerogap.errors import VerificationError
from zerogap.grid import Scores
from zerogap.proof.certificate import Certificate, DynamicProgram, Multipliers
from zerogap.proof.forest_bounds import EMPTY_STATE, Around, local_target, relaxed
from zerogap.translation.syntax_problem import SyntaxProblem

MOST_PIECES = 5_000_000  # more than this and the certificate proves nothing in reasonable time
UNKNOWN = -1  # the state after a piece that is too short to say it
Ends = tuple[tuple[int, ...], int, int]  # the first words, the state after all of them, the last token
Values = tuple[float, ...]  # scores of the best derivations, the best first
Groups = list[
    tuple[float, tuple[int, ...], list[tuple[float, int, int, Values]]]
]  # by first words: least loss, and (loss, state, last, scores)


def syntax_bound(problem: SyntaxProblem, certificate: Certificate, claimed: float) -> float:
    """The claimed bound if the certificate shows that nothing scores more, else the score of something that does, or a weaker bound."""
    around, bound = around_pieces(problem, certificate, claimed)
    if bound <= claimed:
        return bound
    return max(claimed, *Check(problem, around, claimed, 1).scores_above(), -np.inf)


def syntax_alternatives(problem: SyntaxProblem, certificate: Certificate, claimed: float, k: int) -> Scores:
    """The scores above `claimed` of the k best derivations, the highest first."""
    around, bound = around_pieces(problem, certificate, claimed)
    if bound <= claimed:
        return np.empty(0)
    return np.array([score for score in Check(problem, around, claimed, k).scores_above() if score > claimed])


def around_pieces(problem: SyntaxProblem, certificate: Certificate, claimed: float) -> tuple[Around | None, float]:
    """What the certificate says about everything around pieces, if anything, and its bound."""
    match certificate:
        case DynamicProgram():
            prices: tuple[float, ...] = ()
        case Multipliers(values):
            prices = values
        case _:
            raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing about translation forests.")
    if (np.diff(problem.forest.symbol_start) > 0).all():
        around, bound = relaxed(problem, prices, claimed)
        # with unigrams a vertex has one piece, and no first words to price
        return (None if problem.language_model.order == 1 else around), bound
    if prices:
        raise VerificationError("prices prove nothing where a target side is empty.")
    return None, np.inf


@dataclass(slots=True)
class Check:
    """A search for derivations above a claimed bound, the best `count` of them."""

    problem: SyntaxProblem
    around: Around | None  # None: nothing is left out
    claimed: float
    count: int
    steps: dict[tuple[int, int], tuple[float, int]] = field(default_factory=dict)  # of the language model, as far as they were taken

    @property
    def context(self) -> int:
        return self.problem.language_model.order - 1

    def step(self, state: int, word: int) -> tuple[float, int]:
        found = self.steps.get((state, word))
        if found is None:
            found = self.steps[state, word] = self.problem.language_model.step(state, word)
        return found

    def scores_above(self) -> list[float]:
        """The best scores of derivations, at most `count`: all that there are above the claimed bound are among them."""
        forest, model = self.problem.forest, self.problem.language_model
        pieces: list[Groups] = []
        n_pieces = 0
        for v in range(forest.n_vertices):
            found: dict[Ends, Values] = {}
            for e in range(int(forest.edge_start[v]), int(forest.edge_start[v + 1])):
                if self.problem.scores[e] > -np.inf and (self.around is None or self.around.alive[e]):
                    self.read_target(v, e, pieces, found)
            n_pieces += len(found)
            if n_pieces > MOST_PIECES:
                raise VerificationError(f"the certificate leaves more than {MOST_PIECES:,} pieces of translations to look at.")
            pieces.append(self.grouped(v, found))
        best: list[float] = []
        for _, words, members in pieces[forest.root]:
            total, state = 0.0, model.start
            for word in words:
                added, state = self.step(state, word)
                total += added
            for _, after, _, scores in members:
                ending = total + self.step(state if after == UNKNOWN else after, model.end_id)[0]
                best += [score + ending for score in scores]
        return sorted(best, reverse=True)[: self.count]

    def read_target(self, v: int, e: int, pieces: list[Groups], found: dict[Ends, Values]) -> None:
        """The pieces that a hyperedge makes, from left to right; words after a vertex are read with its pieces."""
        around, target = self.around, local_target(self.problem, e)
        places = [p for p, s in enumerate(target) if s < 0]
        ends: Ends = (), EMPTY_STATE if self.context == 0 else UNKNOWN, self.problem.language_model.n_words
        added, ends = self.with_words(ends, target[: places[0] if places else len(target)])
        read: dict[Ends, Values] = {ends: (float(self.problem.scores[e]) + added,)}
        rests = self.rests(v, target, places)
        for k, p in enumerate(places):
            longer: dict[Ends, Values] = {}
            end = places[k + 1] if k + 1 < len(places) else len(target)
            for ends, scores in read.items():
                self.extend(v, target, p, end, rests[k : k + 2], ends, scores, pieces[-1 - target[p]], longer)
            read = longer
        for ends, scores in read.items():
            words, _, last = ends
            if around is None or scores[0] + self.left_side(v, words) + around.last[v, last] + around.outside[v] > self.claimed:
                keep(found, ends, scores, self.count)

    def with_words(self, ends: Ends, added: list[int]) -> tuple[float, Ends]:
        """What words at the end of a piece score, and its ends then; the first words of a piece are not scored."""
        words, state, last = ends
        total = 0.0
        for word in added:
            if state != UNKNOWN:
                score, state = self.step(state, word)
                total += score
            else:
                words = (*words, word)
                state = self.problem.language_model.state_after(words) if len(words) == self.context else UNKNOWN
            last = word if self.around is None else int(self.around.as_last[word])
        return total, (words, state, last)

    def left_side(self, v: int, words: tuple[int, ...]) -> float:
        """The most that the first words of a piece will score, but for what is paid by whoever stands before it, and their price."""
        around = self.around
        assert around is not None
        if not words:
            return float(around.first[v, -1])
        n, token = self.problem.language_model.n_words, int(around.as_first[words[0]])
        alone = float(self.problem.language_model.scores[words[0]]) if token == n else 0.0
        return float(around.first[v, token]) + alone + sum(float(around.highest[a, b]) for a, b in pairwise(words))

    def grouped(self, v: int, found: dict[Ends, Values]) -> Groups:
        """Pieces by first words, those first that lose least against the best that the vertex could have."""
        members: dict[tuple[int, ...], list[tuple[float, int, int, Values]]] = {}
        sides: dict[tuple[int, ...], float] = {}
        for (words, state, last), scores in found.items():
            loss = 0.0
            if self.around is not None:
                if words not in sides:
                    sides[words] = self.left_side(v, words)
                loss = float(self.around.inside[v]) - scores[0] - sides[words] - float(self.around.last[v, last])
            members.setdefault(words, []).append((loss, state, last, scores))
        return sorted((min(entry[0] for entry in entries), words, entries) for words, entries in members.items())

    def rests(self, v: int, target: list[int], places: list[int]) -> list[float]:
        """For every vertex of a target side, the most that comes after it, whatever it ends in; 0 after the last entry."""
        if self.around is None:
            return [0.0] * (len(places) + 1)
        terms = self.around.terms_of(v, target)
        found, total = [0.0], 0.0
        for k in range(len(places) - 1, -1, -1):
            total += terms[k + 1]
            found.append(total)
            total += float(self.around.inside[-1 - target[places[k]]])
        return [*found[:0:-1], 0.0]

    def extend(
        self, v: int, target: list[int], p: int, end: int, rests: list[float], ends: Ends, scores: Values, groups: Groups,
        longer: dict[Ends, Values],
    ) -> None:  # fmt: skip
        """What was read up to place p, with every piece of the vertex there that may still be part of something above the claimed bound."""
        (words, _, last), score, around = ends, scores[0], self.around
        t, run = -1 - target[p], target[p + 1 : end]
        need, reach, side, into = -np.inf, 0.0, 0.0, 0.0
        if around is not None:
            need, into = self.claimed - float(around.outside[v]), float(around.inside[t])
            side = self.left_side(v, words) if words else 0.0
            gap = float(around.after[t, last]) if words else around.most(around.first[v], around.first[t])
            reach = score + side + gap + into + rests[0]
        for least, group_words, members in groups:
            if around is not None:
                if not reach - least > need:
                    break  # groups come in the order of what they lose
                begins = int(around.as_first[group_words[0]])
                gap = float(around.highest[last, begins] if words else around.first[v, begins])
                if not score + side + gap - float(around.first[t, begins]) + into - least + rests[0] > need:
                    continue
            added, (new_words, new_state, _) = self.with_words(ends, list(group_words))
            base = score + added + (self.left_side(v, new_words) if around is not None and new_words else 0.0)
            for _, after, token, inner in members:
                if around is not None and not base + inner[0] + float(around.last[t, token]) + rests[0] > need:
                    continue
                now = new_words, new_state if after == UNKNOWN else after, token if group_words else last
                more, now = self.with_words(now, run)
                if around is not None:
                    reached = score + added + inner[0] + more + self.left_side(v, now[0])
                    if end == len(target):
                        reached += float(around.last[v, now[2]])
                    else:
                        u = -1 - target[end]
                        reached += float(around.after[u, now[2]]) + float(around.inside[u]) + rests[1]
                    if not reached > need:
                        continue
                keep(longer, now, sums(tuple(one + added + more for one in scores), inner, self.count), self.count)


def keep(found: dict[Ends, Values], ends: Ends, scores: Values, count: int) -> None:
    """Of all derivations with the same ends, the best ones."""
    known = found.get(ends)
    if known is None:
        found[ends] = scores
    elif count > 1:
        found[ends] = tuple(sorted((*known, *scores), reverse=True)[:count])
    elif scores > known:
        found[ends] = scores


def sums(first: Values, second: Values, count: int) -> Values:
    """The largest sums of two scores, one of each."""
    if len(first) == len(second) == 1:
        return (first[0] + second[0],)
    return tuple(sorted((a + b for a in first for b in second), reverse=True)[:count])
