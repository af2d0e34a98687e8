"""All pieces of a translation forest that may be part of a derivation above a claimed bound, in plain NumPy: for the checker.

A piece of a vertex remembers its first words, as many as the context of the language model has, and the state after it; of those that
agree in both, the best stand for all, as many as alternatives are asked for. Vertices are done bottom-up. The target sides of all
hyperedges of a vertex are read side by side, from left to right, and joined with the pieces of the vertices in them: first with groups of
pieces that have the same first words, then with their members, both in the order of what they lose, so that what can come to something
is found by bisection.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import VerificationError
from zerogap.grid import Scores
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.problems.translation.language_model import EMPTY_STATE
from zerogap.proof.translation.forest_bounds import Around
from zerogap.proof.translation.forest_reading import Reading

MOST_PIECES = 5_000_000  # more than this and the certificate proves nothing in reasonable time
AT_ONCE = 400_000  # pairs that are looked at together
UNKNOWN = -1  # the state after a piece that is too short to say it, and a first word that is not there
LARGEST_KEY = 1 << 62
Integers = NDArray[np.int64]


@dataclass(slots=True)
class Read:
    """Target sides as far as they were read: hyperedge, first words, the state and the last token after them, score."""

    edges: Integers
    words: Integers  # (any, context), UNKNOWN where there is none
    states: Integers
    lasts: Integers
    scores: Scores

    def __len__(self) -> int:
        return len(self.edges)

    def at(self, chosen: NDArray[Any]) -> Read:
        return Read(self.edges[chosen], self.words[chosen], self.states[chosen], self.lasts[chosen], self.scores[chosen])


class Columns:
    """Arrays of one length that grow."""

    def __init__(self, *empty: NDArray[Any]) -> None:
        self.arrays, self.size = [part[:0] for part in empty], 0

    def extend(self, *more: NDArray[Any]) -> None:
        size = self.size + len(more[0])
        for k, part in enumerate(more):
            if size > len(self.arrays[k]):
                grown = np.empty((max(2 * len(self.arrays[k]), size, 1024), *part.shape[1:]), dtype=part.dtype)
                grown[: self.size] = self.arrays[k][: self.size]
                self.arrays[k] = grown
            self.arrays[k][self.size : size] = part
        self.size = size


class Targets(NamedTuple):
    """Target sides with words as the language model numbers them: where vertices are, and the most that comes after each of them."""

    symbols: Integers
    starts: Integers
    places: Integers  # of vertices among symbols
    vertex_start: Integers  # (edges + 1,), of places
    rests: Scores  # by vertex of a target side


class Pieces:
    """A search for derivations above a claimed bound, the best `count` of them. Without `around`, nothing is left out."""

    def __init__(self, problem: SyntaxProblem, around: Around | None, claimed: float, count: int) -> None:
        self.problem, self.around, self.claimed, self.count = problem, around, claimed, count
        self.reading = Reading(problem.language_model) if around is None else around.reading
        self.context = problem.language_model.order - 1
        self.targets = targets_of(problem, around)
        no_words, nothing, integers = np.empty((0, self.context), dtype=np.int64), np.empty(0), np.empty(0, dtype=np.int64)
        # of groups: first words, least loss, where members begin and end; of members: what they lose, but for what is the same in a
        # group, state, last token, score
        self.groups = Columns(no_words, nothing, integers, integers)
        self.members = Columns(nothing, integers, integers, nothing)
        self.group_start = np.zeros(problem.forest.n_vertices + 1, dtype=np.int64)

    def scores_above(self) -> list[float]:
        """The best scores of derivations, at most `count`: all that there are above the claimed bound are among them."""
        forest, model = self.problem.forest, self.problem.language_model
        usable = self.problem.scores > -np.inf
        if self.around is not None:
            usable &= self.around.alive
        for v in range(forest.n_vertices):
            edges = forest.edge_start[v] + np.flatnonzero(usable[forest.edge_start[v] : forest.edge_start[v + 1]])
            self.store(v, self.read_targets(v, edges))
            if self.members.size > MOST_PIECES:
                raise VerificationError(f"the certificate leaves more than {MOST_PIECES:,} pieces of translations to look at.")
        words, _, begin, end = (part[self.group_start[forest.root] : self.groups.size] for part in self.groups.arrays)
        _, states, _, scores = self.members.arrays
        states_before, totals = np.full(len(words), model.start), np.zeros(len(words))
        for k in range(self.context):
            there = words[:, k] != UNKNOWN
            more, states_before[there] = self.reading.read(states_before[there], words[there, k])
            totals[there] += more
        owners, members = expanded(begin, end - begin)
        after = np.where(states[members] == UNKNOWN, states_before[owners], states[members])
        found = scores[members] + totals[owners] + self.reading.read(after, np.array(model.end_id))[0]
        return np.sort(found)[::-1][: self.count].tolist()

    def read_targets(self, v: int, edges: Integers) -> Read:
        """The pieces that hyperedges of v make; words after a vertex are read with its pieces."""
        targets, n = self.targets, self.problem.language_model.n_words
        known = EMPTY_STATE if self.context == 0 else UNKNOWN
        words = np.full((len(edges), self.context), UNKNOWN, dtype=np.int64)
        read = Read(edges, words, np.full(len(edges), known), np.full(len(edges), n), self.problem.scores[edges].copy())
        arity = targets.vertex_start[edges + 1] - targets.vertex_start[edges]
        self.read_words(read, targets.starts[edges], self.run_end(edges, 0))
        done = [self.worth_keeping(v, read.at(arity == 0))]
        read = read.at(arity > 0)
        k = 0
        while len(read):
            parts = [part for some in self.chunks(v, k, read) for part in self.joined(v, k, *some)]
            read = merged(parts, self.count, self.problem, by_edge=True)
            k += 1
            is_done = targets.vertex_start[read.edges + 1] - targets.vertex_start[read.edges] == k
            done.append(self.worth_keeping(v, read.at(is_done)))
            read = read.at(~is_done)
        return merged(done, self.count, self.problem, by_edge=False)

    def run_end(self, edges: Integers, k: int) -> Integers:
        """Where the words before the k-th vertex of target sides, or before their ends, end."""
        targets = self.targets
        place = targets.vertex_start[edges] + k
        has_one = place < targets.vertex_start[edges + 1]
        ends = targets.starts[edges + 1].copy()
        ends[has_one] = targets.places[place[has_one]]
        return ends

    def read_words(self, read: Read, starts: Integers, ends: Integers) -> None:
        """Reads symbols from starts to ends, one after the other."""
        for offset in range(int((ends - starts).max(initial=0))):
            chosen = np.flatnonzero(starts + offset < ends)
            self.append(read, chosen, self.targets.symbols[starts[chosen] + offset])

    def append(self, read: Read, chosen: Integers, words: Integers) -> None:
        """Another word for some of them; the first words of a piece are not scored."""
        knows = read.states[chosen] != UNKNOWN
        told = chosen[knows]
        more, read.states[told] = self.reading.read(read.states[told], words[knows])
        read.scores[told] += more
        other = chosen[~knows]
        if len(other):
            at = (read.words[other] != UNKNOWN).sum(axis=1)
            read.words[other, at] = words[~knows]
            full = other[at == self.context - 1]
            states = np.full(len(full), EMPTY_STATE)
            for k in range(self.context):
                states = self.reading.read(states, read.words[full, k])[1]
            read.states[full] = states
        read.lasts[chosen] = words if self.around is None else self.around.as_last[words]

    def left_side(self, v: int, words: Integers) -> Scores:
        """The most that the first words of pieces will score, but for what is paid by whoever stands before them, and their prices."""
        assert self.around is not None
        if not len(words):
            return np.empty(0)
        n, begins = self.problem.language_model.n_words, self.first_tokens(words)
        total = self.around.first[v, begins]
        alone = begins == n
        total[alone] += np.append(self.problem.language_model.scores[:n], 0.0)[words[alone, 0]]
        for k in range(1, self.context):
            there = words[:, k] != UNKNOWN
            total[there] += self.around.highest[words[there, k - 1], words[there, k]]
        return total

    def first_tokens(self, words: Integers) -> Integers:
        assert self.around is not None
        return np.append(self.around.as_first, self.problem.language_model.n_words)[words[:, 0]]

    def worth_keeping(self, v: int, read: Read) -> Read:
        """Pieces of v that may be part of something above the claimed bound."""
        around = self.around
        if around is None:
            return read.at(read.scores > -np.inf)
        outside = np.minimum(around.around_first[v, self.first_tokens(read.words)], around.around_last[v, read.lasts])
        return read.at(read.scores + self.left_side(v, read.words) + around.last[v, read.lasts] + outside > self.claimed)

    def needs(self, v: int, words: Integers) -> Scores:
        """What pieces of v that begin with words must score, with prices."""
        assert self.around is not None
        begins = words[:, 0] != UNKNOWN
        outside = np.full(len(words), self.around.outside[v])
        outside[begins] = self.around.around_first[v, self.first_tokens(words[begins])]
        return self.claimed - outside

    def chunks(self, v: int, k: int, read: Read) -> Iterator[tuple[Read, Integers]]:
        """Target sides up to their k-th vertex, some at once, with the number of groups of pieces there that may come to something."""
        targets = self.targets
        places = targets.vertex_start[read.edges] + k
        vertices = -1 - targets.symbols[targets.places[places]]
        first, last = self.group_start[vertices], self.group_start[vertices + 1]
        if self.around is None:
            sizes = last - first
        else:
            around, begins = self.around, read.words[:, 0] != UNKNOWN
            gap = np.empty(len(read))
            gap[begins] = around.after[vertices[begins], read.lasts[begins]] + self.left_side(v, read.words[begins])
            gap[~begins] = [around.terms[around.cut[e][0]] for e in read.edges[~begins].tolist()]
            reach = read.scores + gap + around.inside[vertices] + targets.rests[places] - self.needs(v, read.words)
            sizes = bisected(self.groups.arrays[1], first, last, reach) - first
        cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // AT_ONCE)) + 1
        for chosen in np.split(np.arange(len(read)), cuts):
            if sizes[chosen].any():
                yield read.at(chosen), sizes[chosen]

    def joined(self, v: int, k: int, read: Read, sizes: Integers) -> Iterator[Read]:
        """Target sides with the pieces of their k-th vertices, and the words after them."""
        targets, around = self.targets, self.around
        group_words, least, member_start, member_end = self.groups.arrays
        losses, member_states, member_lasts, member_scores = self.members.arrays
        places = targets.vertex_start[read.edges] + k
        vertices = -1 - targets.symbols[targets.places[places]]
        items, groups = expanded(self.group_start[vertices], sizes)
        if around is not None:
            begins = self.first_tokens(group_words[groups])
            has_words = read.words[items, 0] != UNKNOWN
            side, need = np.zeros(len(read)), self.needs(v, read.words)
            side[read.words[:, 0] != UNKNOWN] = self.left_side(v, read.words[read.words[:, 0] != UNKNOWN])
            gaps = np.where(has_words, around.highest[read.lasts[items], begins] + side[items], around.first[v, begins])
            needs = np.where(has_words, need[items], self.claimed - around.around_first[v, begins])
            known = read.scores + around.inside[vertices] + targets.rests[places]
            useful = known[items] + gaps - around.first[vertices[items], begins] - least[groups] > needs
            items, groups = items[useful], groups[useful]
        longer = read.at(items)
        for w in range(self.context):
            there = np.flatnonzero(group_words[groups, w] != UNKNOWN)
            self.append(longer, there, group_words[groups[there], w])
        first, last = member_start[groups], member_end[groups]
        if around is None:
            counts = last - first
        else:
            base = longer.scores + self.left_side(v, longer.words) + targets.rests[places[items]] - self.needs(v, longer.words)
            counts = bisected(losses, first, last, base) - first
        for chosen in np.split(np.arange(len(longer)), np.flatnonzero(np.diff(np.cumsum(counts) // AT_ONCE)) + 1):
            owners, members = expanded(first[chosen], counts[chosen])
            whole = longer.at(chosen[owners])
            known_states = member_states[members] != UNKNOWN
            whole.states[known_states] = member_states[members[known_states]]
            not_empty = group_words[groups[chosen[owners]], :1].max(axis=1, initial=UNKNOWN) != UNKNOWN
            whole.lasts[not_empty] = member_lasts[members[not_empty]]
            whole.scores += member_scores[members]
            self.read_words(whole, targets.places[places[items[chosen[owners]]]] + 1, self.run_end(whole.edges, k + 1))
            yield self.promising(v, k + 1, whole)

    def promising(self, v: int, k: int, read: Read) -> Read:
        """Those that may come to something above the claimed bound, read up to their k-th vertex or their end."""
        targets, around = self.targets, self.around
        if around is None:
            return read
        places = targets.vertex_start[read.edges] + k
        more = places < targets.vertex_start[read.edges + 1]
        reached = read.scores + self.left_side(v, read.words)
        vertices = -1 - targets.symbols[targets.places[places[more]]]
        reached[more] += around.after[vertices, read.lasts[more]] + around.inside[vertices] + targets.rests[places[more]]
        reached[~more] += around.last[v, read.lasts[~more]]
        return read.at(reached > self.needs(v, read.words))

    def store(self, v: int, found: Read) -> None:
        """Pieces by first words, those first that lose least against the best that the vertex could have."""
        around = self.around
        worth = np.zeros(len(found)) if around is None else found.scores + around.last[v, found.lasts]
        side = np.zeros(len(found)) if around is None else around.inside[v] - self.left_side(v, found.words)
        order = np.lexsort((-worth, *found.words.T[::-1])) if len(found) else np.empty(0, dtype=np.int64)
        found, worth, side = found.at(order), worth[order], side[order]
        starts = np.flatnonzero(np.append(True, (np.diff(found.words, axis=0) != 0).any(axis=1))) if len(found) else order
        ends = np.append(starts[1:], len(found)) if len(found) else order
        least = side[starts] - worth[starts]
        best_first = np.argsort(least, kind="stable")
        base = self.members.size
        self.groups.extend(found.words[starts][best_first], least[best_first], base + starts[best_first], base + ends[best_first])
        self.members.extend(-worth, found.states, found.lasts, found.scores)
        self.group_start[v + 1] = self.groups.size


def targets_of(problem: SyntaxProblem, around: Around | None) -> Targets:
    forest = problem.forest
    symbols = forest.symbols.astype(np.int64)
    is_word = symbols >= 0
    symbols[is_word] = problem.word_ids[symbols[is_word]]
    places = np.flatnonzero(~is_word)
    starts = forest.symbol_start.astype(np.int64)
    vertex_start = np.searchsorted(places, starts)
    rests = np.zeros(len(places))
    if around is not None:
        for e in np.flatnonzero(around.alive).tolist():
            total, terms = 0.0, around.terms_of(e)
            for p in range(int(vertex_start[e + 1]) - 1, int(vertex_start[e]) - 1, -1):
                total += terms[p - int(vertex_start[e]) + 1]
                rests[p] = total
                total += around.inside[-1 - symbols[places[p]]]
    return Targets(symbols, starts, places, vertex_start, rests)


def expanded(starts: Integers, sizes: Integers) -> tuple[Integers, Integers]:
    """The numbers from each start on, so many of each, and whose they are."""
    owners = np.repeat(np.arange(len(starts)), sizes)
    return owners, np.arange(len(owners)) - np.repeat(np.cumsum(sizes) - sizes - starts, sizes)


def bisected(rising: Scores, first: Integers, last: Integers, limits: Scores) -> Integers:
    """Of every range, the end of what is below a limit; values rise in each range."""
    low, high = first.copy(), last.copy()
    while (open_ := low < high).any():
        middle = (low + high) >> 1
        below = open_.copy()
        below[open_] = rising[middle[open_]] < limits[open_]
        low = np.where(below, middle + 1, low)
        high = np.where(open_ & ~below, middle, high)
    return low


def merged(parts: list[Read], count: int, problem: SyntaxProblem, *, by_edge: bool) -> Read:
    """The best `count` of all that have the same first words and state, and the same hyperedge if that is not at its end."""
    if not parts:
        empty = np.empty(0, dtype=np.int64)
        return Read(empty, np.empty((0, problem.language_model.order - 1), dtype=np.int64), empty, empty, np.empty(0))
    edges, states, lasts, scores = (np.concatenate([getattr(p, name) for p in parts]) for name in ("edges", "states", "lasts", "scores"))
    words = np.concatenate([p.words for p in parts])
    read = Read(edges, words, states, lasts, scores)
    n, n_states = problem.language_model.n_words + 1, problem.language_model.n_states + 1
    keys, room = [states + 1], n_states
    for column, size in [*((column + 1, n) for column in words.T), *([(edges, problem.forest.n_edges)] if by_edge else [])]:
        if room * size < LARGEST_KEY:
            keys[-1], room = keys[-1] * size + column, room * size
        else:
            keys, room = [*keys, column.copy()], size
    order = np.lexsort((-scores, *keys))
    is_new = np.ones(len(order), dtype=np.bool_)
    is_new[1:] = np.any([key[order[1:]] != key[order[:-1]] for key in keys], axis=0)
    if count > 1:
        begins = np.flatnonzero(is_new)
        rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.append(begins, len(order))))
        is_new = rank < count
    return read.at(order[is_new])
