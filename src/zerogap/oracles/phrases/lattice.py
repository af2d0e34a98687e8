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

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import boolean, float64, inner, int32, int64, kernel, readonly, types, writable
from zerogap.oracles.growing_arrays import grown, grown_numbers
from zerogap.oracles.phrases.options import OPTION_TYPES, ROW_TYPES, Options, Rows, fill_row


class Lattice(NamedTuple):
    """Ends are sorted by position and then by length of state, shortest first; firsts by position. Kernels take the arrays so."""

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


LATTICE_TYPES: tuple[Any, ...] = (
    readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(float64, 1), readonly(float64, 1), readonly(int64, 1),
    readonly(int32, 1), readonly(float64, 1), readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(int32, 1),
    readonly(int32, 1), readonly(float64, 1),
)  # fmt: skip


@inner
def first_words(n, v, span_first, word_start, words):
    """Phrases by position and first word: (position -> groups, group -> word, group -> phrases, phrases)."""
    n_options = word_start.shape[0] - 1
    longest = span_first.shape[1] - 1
    group_of = np.full(v, -1, dtype=np.int64)
    position_start = np.zeros(n + 1, dtype=np.int64)
    group_word = np.empty(n_options, dtype=np.int64)
    group_start = np.zeros(n_options + 1, dtype=np.int64)
    members = np.empty(n_options, dtype=np.int64)
    n_groups = 0
    for s in range(n):
        first, last = span_first[s, 0], span_first[s, longest]
        opened = n_groups
        for p in range(first, last):
            w = words[word_start[p]]
            if group_of[w] < opened:
                group_of[w] = n_groups
                group_word[n_groups] = w
                n_groups += 1
        for p in range(first, last):
            group_start[group_of[words[word_start[p]]] + 1] += 1
        group_start[opened] = first
        for g in range(opened, n_groups):
            group_start[g + 1] += group_start[g]
        at = group_start[opened:n_groups].copy()
        for p in range(first, last):
            g = group_of[words[word_start[p]]] - opened
            members[at[g]] = p
            at[g] += 1
        position_start[s + 1] = n_groups
    return position_start, group_word[:n_groups], group_start[: n_groups + 1], members


@inner
def where_states_matter(n, v, end_word, jumps, position_start, group_word, row_start, row_words):
    """matters[e, q]: whether a word that may follow the end e is listed after state q."""
    n_states, places = row_start.shape[0] - 1, n // 64 + 1
    reach = np.zeros((v, places), dtype=np.uint64)  # bits: the ends that a word may follow
    for e in range(n + 1):
        bit = np.uint64(1) << np.uint64(e & 63)
        reach[end_word, e >> 6] |= bit
        for s in range(n):
            if jumps[e, s]:
                for g in range(position_start[s], position_start[s + 1]):
                    reach[group_word[g], e >> 6] |= bit
    matters = np.empty((n + 1, n_states), dtype=np.bool_)
    for q in range(n_states):
        for k in range(places):
            bits = np.uint64(0)
            for i in range(row_start[q], row_start[q + 1]):
                bits |= reach[row_words[i], k]
            for e in range(64 * k, min(64 * k + 64, n + 1)):
                matters[e, q] = (bits >> np.uint64(e & 63)) & np.uint64(1) != 0
    return matters


RESULT = types.Tuple(
    (
        writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(float64, 1),
        writable(int64, 1), writable(int64, 1), writable(float64, 1),
        writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(float64, 1),
    )
)  # fmt: skip


@inner
def visit_ends(
    x, n_ends, n_firsts, n_enter, n_leave, jumps, distortion,
    position_start, group_word, group_start, members, matters, length_of, end_of, first_of, first_of_word, listed,
    end_at, end_state, shorter_end, shorter_score, enter_start, enter_first, enter_score,
    first_at, first_group, next_first, leave_start, leave_option, leave_end, leave_score,
    scores, word_start, words, alone, rest,
    table, following, is_filled, row_start, row_words, row_scores, row_next, back_offs, shorter,
):  # fmt: skip  # out: all from end_of to leave_score
    """Follows ends from x on, until none is left or some array might be too short; returns where it stands, as it was told.

    Arrays that are replaced within a loop have their references counted in every turn: so they are not, and whoever calls does it.
    """
    n, n_options, n_groups = jumps.shape[1], scores.shape[0], group_word.shape[0]
    while x < n_ends:
        if (
            n_ends + n_options + 2 > end_at.shape[0]
            or n_firsts + n_groups + 1 > first_at.shape[0]
            or n_enter + n_groups > enter_first.shape[0]
            or n_leave + n_options > leave_option.shape[0]
        ):
            break
        e, q = end_at[x], end_state[x]
        enter_start[x] = n_enter
        shorter_end[x], shorter_score[x] = -1, 0.0
        if q != 0:
            price, below = back_offs[q], shorter[q]
            while below != 0 and not matters[e, below]:
                price += back_offs[below]
                below = shorter[below]
            if x == 0 or end_of[e, below] < 0:
                end_at[n_ends], end_state[n_ends] = e, below
                end_of[e, below] = n_ends
                n_ends += 1
            shorter_end[x], shorter_score[x] = end_of[e, below], price
        for i in range(row_start[q], row_start[q + 1]):
            listed[row_words[i]] = i
        for s in range(n):
            if not jumps[e, s]:
                continue
            jump = -distortion * abs(s - e)
            for g in range(position_start[s], position_start[s + 1]):
                w = group_word[g]
                i = listed[w]
                if i < row_start[q] or i >= row_start[q + 1]:
                    continue
                after = row_next[i]
                f = np.int64(first_of[s, after]) if after != 0 else np.int64(first_of_word[s, w])
                while f >= 0 and first_group[f] != g:  # states of what reads the output do not tell the word
                    f = next_first[f]
                if f < 0:
                    f = np.int64(n_firsts)
                    next_first[f] = -1
                    if after != 0:
                        next_first[f] = first_of[s, after]
                        first_of[s, after] = f
                    else:
                        first_of_word[s, w] = f
                    n_firsts += 1
                    first_at[f], first_group[f], leave_start[f] = s, g, n_leave
                    for m in range(group_start[g], group_start[g + 1]):
                        p = members[m]
                        state, value = after, scores[p]
                        a, last = word_start[p], word_start[p + 1]
                        if state == alone[a]:
                            value += rest[a]
                            state = alone[last - 1]
                        else:
                            for b in range(a + 1, last):
                                if not is_filled[state]:
                                    fill_row(
                                        state, table, following, is_filled,
                                        row_start, row_words, row_scores, row_next, back_offs, shorter,
                                    )  # fmt: skip
                                value += table[state, words[b]]
                                state = np.int64(following[state, words[b]])
                        stop = s + length_of[p]
                        while state != 0 and not matters[stop, state]:
                            value += back_offs[state]
                            state = shorter[state]
                        y = np.int64(end_of[stop, state])
                        if y < 0:
                            y = np.int64(n_ends)
                            end_at[y], end_state[y] = stop, state
                            end_of[stop, state] = y
                            n_ends += 1
                        leave_option[n_leave], leave_end[n_leave], leave_score[n_leave] = p, y, value
                        n_leave += 1
                enter_first[n_enter], enter_score[n_enter] = f, jump + row_scores[i]
                n_enter += 1
        x += 1
    return x, n_ends, n_firsts, n_enter, n_leave


@kernel(RESULT(int64, int64, int64, readonly(boolean, 2), float64, *OPTION_TYPES, *ROW_TYPES))
def explore(
    n, start, end_word, jumps, distortion,
    span_first, number, scores, most, word_start, words, alone, rest,
    table, following, is_filled, row_start, row_words, row_scores, row_next, back_offs, shorter,
):  # fmt: skip
    """Ends and firsts in the order in which they are found, with their arcs."""
    n_states, v = table.shape
    longest, n_options = span_first.shape[1] - 1, scores.shape[0]
    position_start, group_word, group_start, members = first_words(n, v, span_first, word_start, words)
    matters = where_states_matter(n, v, end_word, jumps, position_start, group_word, row_start, row_words)
    length_of = np.zeros(n_options, dtype=np.int64)
    for s in range(n):
        for k in range(1, longest + 1):
            for p in range(span_first[s, k - 1], span_first[s, k]):
                length_of[p] = k
    end_of = np.full((n + 1, n_states), -1, dtype=np.int32)
    first_of = np.full((n, n_states), -1, dtype=np.int32)
    first_of_word = np.full((n, v), -1, dtype=np.int32)  # where the word leads to the empty state
    listed = np.full(v, -1, dtype=np.int64)

    room = n_options + 1024
    end_at, end_state = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    shorter_end, shorter_score, enter_start = np.empty(room, dtype=np.int64), np.empty(room), np.empty(room, dtype=np.int64)
    first_at, first_group, leave_start = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    next_first = np.empty(room, dtype=np.int64)  # of the same position and state
    room = n_options + 16384
    enter_first, enter_score = np.empty(room, dtype=np.int64), np.empty(room)
    leave_option, leave_end, leave_score = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64), np.empty(room)
    end_at[0], end_state[0] = 0, start
    x, n_ends, n_firsts, n_enter, n_leave = 0, 1, 0, 0, 0
    while True:
        x, n_ends, n_firsts, n_enter, n_leave = visit_ends(
            x, n_ends, n_firsts, n_enter, n_leave, jumps, distortion,
            position_start, group_word, group_start, members, matters, length_of, end_of, first_of, first_of_word, listed,
            end_at, end_state, shorter_end, shorter_score, enter_start, enter_first, enter_score,
            first_at, first_group, next_first, leave_start, leave_option, leave_end, leave_score,
            scores, word_start, words, alone, rest,
            table, following, is_filled, row_start, row_words, row_scores, row_next, back_offs, shorter,
        )  # fmt: skip
        if x == n_ends:
            break
        room = n_ends + n_options + 2
        end_at, end_state, enter_start = grown(end_at, room), grown(end_state, room), grown(enter_start, room)
        shorter_end, shorter_score = grown(shorter_end, room), grown_numbers(shorter_score, room)
        room = n_firsts + n_options + 1
        first_at, first_group, leave_start = grown(first_at, room), grown(first_group, room), grown(leave_start, room)
        next_first = grown(next_first, room)
        room = n_enter + n_options
        enter_first, enter_score = grown(enter_first, room), grown_numbers(enter_score, room)
        room = n_leave + n_options
        leave_option, leave_end, leave_score = grown(leave_option, room), grown(leave_end, room), grown_numbers(leave_score, room)
    enter_start[n_ends], leave_start[n_firsts] = n_enter, n_leave
    return (
        end_at[:n_ends].copy(), end_state[:n_ends].copy(), shorter_end[:n_ends].copy(), shorter_score[:n_ends].copy(),
        enter_start[: n_ends + 1].copy(), enter_first[:n_enter].copy(), enter_score[:n_enter].copy(),
        first_at[:n_firsts].copy(), first_group[:n_firsts].copy(), leave_start[: n_firsts + 1].copy(),
        leave_option[:n_leave].copy(), leave_end[:n_leave].copy(),
        leave_score[:n_leave].copy(),
    )  # fmt: skip


@kernel(int64(readonly(int64, 1), readonly(int64, 1), writable(float64, 1), *ROW_TYPES))
def fill_final(
    end_state, end_words, final,
    table, following, is_filled, row_start, row_words, row_scores, row_next, back_offs, shorter,
):  # fmt: skip  # out: final
    for x in range(end_state.shape[0]):
        q = end_state[x]
        if not is_filled[q]:
            fill_row(q, table, following, is_filled, row_start, row_words, row_scores, row_next, back_offs, shorter)
        final[x] = table[q, end_words[0]]
    return 0


def sorted_rows(order: NDArray[np.int64], starts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows in another order: where they start, and which entries they have."""
    sizes = np.diff(starts)[order]
    begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return begin, np.repeat(starts[:-1][order] - begin[:-1], sizes) + np.arange(begin[-1])


def lattice_of(options: Options, rows: Rows, *, start: int, end_word: int, jumps: NDArray[np.bool_], distortion: float) -> Lattice:
    """The relaxed lattice of a sentence; a phrase's multipliers are not in it."""
    n = len(options.span_first)
    at, state, below, price, enter_start, enter_first, enter_score, first_at, group, leave_start, option, leave_end, leave_score = explore(
        n, start, end_word, jumps, distortion, *options, *rows
    )
    depth = np.zeros(len(rows.shorter), dtype=np.int64)  # a shorter state has less
    for _ in range(len(depth)):
        deeper = np.where(np.arange(len(depth)) == 0, 0, depth[rows.shorter] + 1)
        if np.array_equal(deeper, depth):
            break
        depth = deeper
    order = np.lexsort((np.arange(len(at)), depth[state], at, np.arange(len(at)) > 0))  # the start stays first
    first_order = np.argsort(first_at, kind="stable")
    end_rank, first_rank = np.empty(len(at), dtype=np.int64), np.empty(len(first_at), dtype=np.int64)
    end_rank[order], first_rank[first_order] = np.arange(len(at)), np.arange(len(first_at))
    entering, enter_at = sorted_rows(order, enter_start)
    leaving, leave_at = sorted_rows(first_order, leave_start)
    final = np.empty(len(at))
    fill_final(state[order], np.array([end_word]), final, *rows)
    return Lattice(
        np.searchsorted(at[order], np.arange(n + 2)), state[order], np.where(below < 0, -1, end_rank[below])[order], price[order], final,
        entering, first_rank[enter_first[enter_at]].astype(np.int32), enter_score[enter_at],
        np.searchsorted(first_at[first_order], np.arange(n + 1)), group[first_order],
        leaving, option[leave_at].astype(np.int32), end_rank[leave_end[leave_at]].astype(np.int32), leave_score[leave_at],
    )  # fmt: skip
