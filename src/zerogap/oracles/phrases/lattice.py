"""The relaxed lattice of phrase-based translation: all constraints but those that say which words are translated (Rush 2014, section 7.3).

A path begins before the first word and goes through

    ends    (e, q)       some phrase has just ended at source position e, in language-model state q
    firsts  (s, w, q)    the first target word w of some phrase from position s has been read, now in state q

An arc from an end to a first has the score of the jump and of the word; an arc from a first to an end is a phrase with the score of all
the rest of it. With the number of source words translated so far, c, this is the graph of Chang & Collins (2011), who keep the last two
target words: distortion is scored and limited, the language model is exact, and paths translate n words, some twice and others never.

A state is forgotten as soon as it cannot matter: at an end, no longer context is kept than some word that may follow there is listed
after; its back-off is paid at once. From an end, words that are listed after its state have arcs, and one arc leads to the next shorter
state for its back-off. A path may also take that where the longer n-gram is listed, to be rid of a state whose back-off is dear: so there
are few arcs, and the best path is an upper bound, if not always the best that the relaxation could give. `phrase_graph` is exact again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import float64, inner, int32, int64, kernel, readonly, record, writable
from zerogap.oracles.growing_arrays import grown, grown_numbers
from zerogap.oracles.phrases.coverage import REORDERING, Reordering
from zerogap.oracles.phrases.options import OPTIONS, ROWS, Options, Rows, fill_row


class Lattice(NamedTuple):
    """Ends are sorted by position and then by length of state, shortest first; firsts by position."""

    end_range: NDArray[np.int64]  # (n + 2,): ends at position e are end_range[e] to end_range[e + 1]; the start is 0, alone at position 0
    end_state: NDArray[np.int64]
    shorter_end: NDArray[np.int64]  # -1 where the state is empty
    shorter_score: Scores
    final: Scores  # of the end of the sentence
    enter_start: NDArray[np.int64]
    enter_first: NDArray[np.int32]
    enter_score: Scores
    first_range: NDArray[np.int64]  # (n + 1,)
    first_group: NDArray[np.int64]  # a number that firsts of the same position and word share
    leave_start: NDArray[np.int64]
    leave_option: NDArray[np.int32]
    leave_end: NDArray[np.int32]
    leave_score: Scores


LATTICE = record(
    Lattice, readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(float64, 1), readonly(float64, 1), readonly(int64, 1),
    readonly(int32, 1), readonly(float64, 1), readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(int32, 1),
    readonly(int32, 1), readonly(float64, 1),
)  # fmt: skip


class Groups(NamedTuple):
    """Phrases by position and first word."""

    position_start: NDArray[np.int64]  # (n + 1,): groups of position s are position_start[s] to position_start[s + 1]
    word: NDArray[np.int64]  # of a group
    start: NDArray[np.int64]  # phrases of group g are members[start[g]] to members[start[g + 1]]
    members: NDArray[np.int64]


class Places(NamedTuple):
    """Where ends and firsts are that have been found, by position and state, and what decides which they are."""

    matters: NDArray[np.bool_]  # [e, q]: whether a word that may follow the end e is listed after state q
    length_of: NDArray[np.int64]  # source words of a phrase
    end_of: NDArray[np.int32]  # (n + 1, states): -1 where there is none
    first_of: NDArray[np.int32]  # (n, states): the latest first with that state after its word
    first_of_word: NDArray[np.int32]  # (n, words): where the word leads to the empty state
    listed: NDArray[np.int64]  # per word: where it was last found in a list of words after a state


class Found(NamedTuple):
    """Ends and firsts in the order in which they are found, and their arcs: arrays with room for more."""

    end_at: NDArray[np.int64]
    end_state: NDArray[np.int64]
    shorter_end: NDArray[np.int64]
    shorter_score: Scores
    enter_start: NDArray[np.int64]
    first_at: NDArray[np.int64]
    first_group: NDArray[np.int64]
    leave_start: NDArray[np.int64]
    next_first: NDArray[np.int64]  # of the same position and state
    enter_first: NDArray[np.int64]
    enter_score: Scores
    leave_option: NDArray[np.int64]
    leave_end: NDArray[np.int64]
    leave_score: Scores


FOUND = record(
    Found, writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(float64, 1), writable(int64, 1), writable(int64, 1),
    writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(float64, 1), writable(int64, 1),
    writable(int64, 1), writable(float64, 1),
)  # fmt: skip


@inner
def first_words(n, v, options):
    """Groups the phrases."""
    n_options = options.word_start.shape[0] - 1
    longest = options.span_first.shape[1] - 1
    group_of = np.full(v, -1, dtype=np.int64)
    position_start = np.zeros(n + 1, dtype=np.int64)
    group_word = np.empty(n_options, dtype=np.int64)
    group_start = np.zeros(n_options + 1, dtype=np.int64)
    members = np.empty(n_options, dtype=np.int64)
    n_groups = 0
    for s in range(n):
        first, last = options.span_first[s, 0], options.span_first[s, longest]
        opened = n_groups
        for p in range(first, last):
            w = options.words[options.word_start[p]]
            if group_of[w] < opened:
                group_of[w] = n_groups
                group_word[n_groups] = w
                n_groups += 1
        for p in range(first, last):
            group_start[group_of[options.words[options.word_start[p]]] + 1] += 1
        group_start[opened] = first
        for g in range(opened, n_groups):
            group_start[g + 1] += group_start[g]
        at = group_start[opened:n_groups].copy()
        for p in range(first, last):
            g = group_of[options.words[options.word_start[p]]] - opened
            members[at[g]] = p
            at[g] += 1
        position_start[s + 1] = n_groups
    return Groups(position_start, group_word[:n_groups], group_start[: n_groups + 1], members)


@inner
def where_states_matter(jumps, groups, rows):
    """matters[e, q]: whether a word that may follow the end e is listed after state q."""
    n, (n_states, v) = jumps.shape[1], rows.scores.shape
    places = n // 64 + 1
    reach = np.zeros((v, places), dtype=np.uint64)  # bits: the ends that a word may follow
    for e in range(n + 1):
        bit = np.uint64(1) << np.uint64(e & 63)
        reach[rows.end_word, e >> 6] |= bit
        for s in range(n):
            if jumps[e, s]:
                for g in range(groups.position_start[s], groups.position_start[s + 1]):
                    reach[groups.word[g], e >> 6] |= bit
    matters = np.empty((n + 1, n_states), dtype=np.bool_)
    for q in range(n_states):
        for k in range(places):
            bits = np.uint64(0)
            for i in range(rows.row_start[q], rows.row_start[q + 1]):
                bits |= reach[rows.row_words[i], k]
            for e in range(64 * k, min(64 * k + 64, n + 1)):
                matters[e, q] = (bits >> np.uint64(e & 63)) & np.uint64(1) != 0
    return matters


@inner
def visit_ends(counts, order, groups, places, found, options, rows):  # out: places, found
    """Follows ends until all are visited or some array might be too short. `counts`: visited ends, ends, firsts, arcs into firsts and out.

    Arrays that are replaced within a loop have their references counted in every turn: so they are not, and whoever calls does it.
    """
    x, n_ends, n_firsts, n_enter, n_leave = counts
    n, n_options, n_groups = order.jumps.shape[1], options.scores.shape[0], groups.word.shape[0]
    while x < n_ends:
        if (
            n_ends + n_options + 2 > found.end_at.shape[0]
            or n_firsts + n_groups + 1 > found.first_at.shape[0]
            or n_enter + n_groups > found.enter_first.shape[0]
            or n_leave + n_options > found.leave_option.shape[0]
        ):
            break
        e, q = found.end_at[x], found.end_state[x]
        found.enter_start[x] = n_enter
        found.shorter_end[x], found.shorter_score[x] = -1, 0.0
        if q != 0:
            price, below = rows.back_offs[q], rows.shorter[q]
            while below != 0 and not places.matters[e, below]:
                price += rows.back_offs[below]
                below = rows.shorter[below]
            if x == 0 or places.end_of[e, below] < 0:
                found.end_at[n_ends], found.end_state[n_ends] = e, below
                places.end_of[e, below] = n_ends
                n_ends += 1
            found.shorter_end[x], found.shorter_score[x] = places.end_of[e, below], price
        for i in range(rows.row_start[q], rows.row_start[q + 1]):
            places.listed[rows.row_words[i]] = i
        for s in range(n):
            if not order.jumps[e, s]:
                continue
            jump = -order.distortion * abs(s - e)
            for g in range(groups.position_start[s], groups.position_start[s + 1]):
                w = groups.word[g]
                i = places.listed[w]
                if i < rows.row_start[q] or i >= rows.row_start[q + 1]:
                    continue
                after = rows.row_next[i]
                f = np.int64(places.first_of[s, after]) if after != 0 else np.int64(places.first_of_word[s, w])
                while f >= 0 and found.first_group[f] != g:  # states of what reads the output do not tell the word
                    f = found.next_first[f]
                if f < 0:
                    f = np.int64(n_firsts)
                    found.next_first[f] = -1
                    if after != 0:
                        found.next_first[f] = places.first_of[s, after]
                        places.first_of[s, after] = f
                    else:
                        places.first_of_word[s, w] = f
                    n_firsts += 1
                    found.first_at[f], found.first_group[f], found.leave_start[f] = s, g, n_leave
                    for m in range(groups.start[g], groups.start[g + 1]):
                        p = groups.members[m]
                        state, value = after, options.scores[p]
                        a, last = options.word_start[p], options.word_start[p + 1]
                        if state == options.alone[a]:
                            value += options.rest[a]
                            state = options.alone[last - 1]
                        else:
                            for b in range(a + 1, last):
                                if not rows.is_filled[state]:
                                    fill_row(state, rows)  # fmt: skip
                                value += rows.scores[state, options.words[b]]
                                state = np.int64(rows.following[state, options.words[b]])
                        stop = s + places.length_of[p]
                        while state != 0 and not places.matters[stop, state]:
                            value += rows.back_offs[state]
                            state = rows.shorter[state]
                        y = np.int64(places.end_of[stop, state])
                        if y < 0:
                            y = np.int64(n_ends)
                            found.end_at[y], found.end_state[y] = stop, state
                            places.end_of[stop, state] = y
                            n_ends += 1
                        found.leave_option[n_leave], found.leave_end[n_leave], found.leave_score[n_leave] = p, y, value
                        n_leave += 1
                found.enter_first[n_enter], found.enter_score[n_enter] = f, jump + rows.row_scores[i]
                n_enter += 1
        x += 1
    return x, n_ends, n_firsts, n_enter, n_leave


@inner
def pools(size, arcs):
    """No ends and firsts yet, but room for them."""
    return Found(
        np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64), np.empty(size),
        np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.int64), np.empty(arcs, dtype=np.int64), np.empty(arcs),
        np.empty(arcs, dtype=np.int64), np.empty(arcs, dtype=np.int64), np.empty(arcs),
    )  # fmt: skip


@inner
def enlarged(found, ends, firsts, enter, leave):
    """The same with room for so many."""
    return Found(
        grown(found.end_at, ends), grown(found.end_state, ends), grown(found.shorter_end, ends), grown_numbers(found.shorter_score, ends),
        grown(found.enter_start, ends), grown(found.first_at, firsts), grown(found.first_group, firsts), grown(found.leave_start, firsts),
        grown(found.next_first, firsts), grown(found.enter_first, enter), grown_numbers(found.enter_score, enter),
        grown(found.leave_option, leave), grown(found.leave_end, leave), grown_numbers(found.leave_score, leave),
    )  # fmt: skip


@inner
def trimmed(found, ends, firsts, enter, leave):
    """The same without the room that was not needed."""
    return Found(
        found.end_at[:ends].copy(), found.end_state[:ends].copy(), found.shorter_end[:ends].copy(), found.shorter_score[:ends].copy(),
        found.enter_start[: ends + 1].copy(), found.first_at[:firsts].copy(), found.first_group[:firsts].copy(),
        found.leave_start[: firsts + 1].copy(), found.next_first[:0], found.enter_first[:enter].copy(), found.enter_score[:enter].copy(),
        found.leave_option[:leave].copy(), found.leave_end[:leave].copy(), found.leave_score[:leave].copy(),
    )  # fmt: skip


@kernel(FOUND(REORDERING, OPTIONS, ROWS))
def explore(order, options, rows):
    """All ends and firsts that paths from the start reach."""
    n, (n_states, v), n_options = order.jumps.shape[1], rows.scores.shape, options.scores.shape[0]
    groups = first_words(n, v, options)
    places = Places(
        where_states_matter(order.jumps, groups, rows), np.zeros(n_options, dtype=np.int64),
        np.full((n + 1, n_states), -1, dtype=np.int32), np.full((n, n_states), -1, dtype=np.int32), np.full((n, v), -1, dtype=np.int32),
        np.full(v, -1, dtype=np.int64),
    )  # fmt: skip
    for s in range(n):
        for k in range(1, options.span_first.shape[1]):
            for p in range(options.span_first[s, k - 1], options.span_first[s, k]):
                places.length_of[p] = k
    found = pools(n_options + 1024, n_options + 16384)
    found.end_at[0], found.end_state[0] = 0, rows.start
    counts = (0, 1, 0, 0, 0)
    while True:
        counts = visit_ends(counts, order, groups, places, found, options, rows)
        visited, n_ends, n_firsts, n_enter, n_leave = counts
        if visited == n_ends:
            break
        found = enlarged(found, n_ends + n_options + 2, n_firsts + n_options + 1, n_enter + n_options, n_leave + n_options)
    found.enter_start[n_ends], found.leave_start[n_firsts] = n_enter, n_leave
    return trimmed(found, n_ends, n_firsts, n_enter, n_leave)


@kernel(int64(readonly(int64, 1), writable(float64, 1), ROWS))
def fill_final(end_state, final, rows):  # out: final, rows
    for x in range(end_state.shape[0]):
        fill_row(end_state[x], rows)
        final[x] = rows.scores[end_state[x], rows.end_word]
    return 0


def sorted_rows(order: NDArray[np.int64], starts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows in another order: where they start, and which entries they have."""
    sizes = np.diff(starts)[order]
    begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return begin, np.repeat(starts[:-1][order] - begin[:-1], sizes) + np.arange(begin[-1])


def lattice_of(options: Options, rows: Rows, order: Reordering) -> Lattice:
    """The relaxed lattice of a sentence; a phrase's multipliers are not in it."""
    n, found = len(options.span_first), explore(order, options, rows)
    at, first_at = found.end_at, found.first_at
    depth = np.zeros(len(rows.shorter), dtype=np.int64)  # a shorter state has less
    for _ in range(len(depth)):
        deeper = np.where(np.arange(len(depth)) == 0, 0, depth[rows.shorter] + 1)
        if np.array_equal(deeper, depth):
            break
        depth = deeper
    by_end = np.lexsort((np.arange(len(at)), depth[found.end_state], at, np.arange(len(at)) > 0))  # the start stays first
    by_first = np.argsort(first_at, kind="stable")
    end_rank, first_rank = np.empty(len(at), dtype=np.int64), np.empty(len(first_at), dtype=np.int64)
    end_rank[by_end], first_rank[by_first] = np.arange(len(at)), np.arange(len(first_at))
    entering, enter_at = sorted_rows(by_end, found.enter_start)
    leaving, leave_at = sorted_rows(by_first, found.leave_start)
    state, final = found.end_state[by_end], np.empty(len(at))
    fill_final(state, final, rows)
    return Lattice(
        np.searchsorted(at[by_end], np.arange(n + 2)), state,
        np.where(found.shorter_end < 0, -1, end_rank[found.shorter_end])[by_end], found.shorter_score[by_end], final,
        entering, first_rank[found.enter_first[enter_at]].astype(np.int32), found.enter_score[enter_at],
        np.searchsorted(first_at[by_first], np.arange(n + 1)), found.first_group[by_first],
        leaving, found.leave_option[leave_at].astype(np.int32), end_rank[found.leave_end[leave_at]].astype(np.int32),
        found.leave_score[leave_at],
    )  # fmt: skip
