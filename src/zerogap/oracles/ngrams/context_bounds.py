"""Upper bounds of n-gram scores of words whose context is known in part: maxima over all contexts that end in known words.

    highest[r, w]   the most that w scores after any words that end in r
    plain[r, w]     what it scores after r, if the model knows no longer context
    back[r, w]      highest[r, w] and the most that is then added where the next word backs off to what is listed after w alone
    listed          n-grams by their context, each with the most that it scores after longer contexts

A token is a word, or the number of words, n, for one that the model need not know: as the last word if it is no context, as the first one
if it waits for nothing (column n: what comes before pays its back-offs down to the empty context). Only contexts count whose words can be
neighbours. A state is *complete* if its suffixes are states; a model in which some are not has no bounds by more than one word.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import float64, inner, int32, int64, kernel, readonly, types, writable
from zerogap.oracles.ngrams.boundaries import BOUNDARY_TYPES, Boundaries, StateWords, state_words, step


class Contexts(NamedTuple):
    """The arrays that kernels take as one tuple, in this order."""

    highest: Scores  # (W + 1, W + 1)
    plain: Scores
    back: Scores
    listed_start: NDArray[np.int64]  # (states + 1,)
    listed_words: NDArray[np.int32]
    listed_scores: Scores
    lower: Scores  # (states,): the most that is added on the way down to the state of one word
    gain: Scores  # (states,): the most that longer contexts add when they back off to a state
    lengths: NDArray[np.int32]  # (states,), words; -1 if there are no bounds by more than one word
    pair_start: NDArray[np.int64]  # (W + 2,): states of two words by their last one
    pair_states: NDArray[np.int32]
    pair_first: NDArray[np.int32]
    last_token: NDArray[np.int32]  # (states,)
    last_of_word: NDArray[np.int32]  # (W + 1,)
    first_token: NDArray[np.int32]  # (W + 1,)
    waiting: Scores  # by left end: a bound on what waits there, but for its first word; that of the empty piece is the last


CONTEXT_TYPES: tuple[Any, ...] = (
    *(readonly(float64, 2),) * 3, readonly(int64, 1), readonly(int32, 1), *(readonly(float64, 1),) * 3, readonly(int32, 1),
    readonly(int64, 1), readonly(int32, 1), readonly(int32, 1), readonly(int32, 1), readonly(int32, 1), readonly(int32, 1),
    readonly(float64, 1),
)  # fmt: skip


@inner
def find_listed(state, word, contexts):
    """The place of a word among those listed after a state, or -1."""
    starts, words = contexts[3], contexts[4]
    low, end = starts[state], starts[state + 1]
    high = end
    while low < high:
        middle = (low + high) >> 1
        if words[middle] < word:
            low = middle + 1
        else:
            high = middle
    return low if low < end and words[low] == word else np.int64(-1)


@inner
def relaxed_step(state, known, before, word, lm, contexts):
    """(the most that a word scores, the state) after `known` words that end in `before`; the state is that after these words alone."""
    score, following = step(state, word, lm)
    order = lm[11].shape[1] + 1
    if known >= order - 1:
        return score, following
    if known == 1 or contexts[8][state] < 0:
        return contexts[0][before, word], following
    if contexts[8][state] < known:
        return score, following
    at = find_listed(state, word, contexts)
    if at >= 0:
        return contexts[5][at], following
    more, _ = step(np.int64(lm[5][state]), word, lm)
    return lm[4][state] + contexts[7][state] + more, following


@kernel(int64(types.Tuple(BOUNDARY_TYPES), types.Tuple(CONTEXT_TYPES), readonly(float64, 1), writable(float64, 1)))
def fill_waiting(lm, contexts, closing, waiting):  # out: waiting; closing (nodes + 1,): the most that is added after the words of a node
    words = lm[11]
    n_nodes = words.shape[0] - 1
    for node in range(1, n_nodes + 1):
        state = np.int64(lm[3][words[node, 0]])
        total = 0.0
        for k in range(1, words.shape[1]):
            if words[node, k] < 0:
                break
            score, state = relaxed_step(state, np.int64(k), np.int64(words[node, k - 1]), np.int64(words[node, k]), lm, contexts)
            total += score
        waiting[node], waiting[n_nodes + node] = total + closing[node], total
    return 0


class Reader(NamedTuple):
    """A model with what does not depend on which words can be neighbours."""

    lm: Boundaries
    keys: NDArray[np.int64]
    scores: Scores
    next_states: NDArray[np.int32]
    known: StateWords
    begins: NDArray[np.int64]  # of every state, where its transitions begin

    @property
    def n_words(self) -> int:
        return len(self.lm.word_scores)


def reader_of(lm: Boundaries, keys: NDArray[np.int64], scores: Scores, next_states: NDArray[np.int32]) -> Reader:
    n, n_states = len(lm.word_scores), len(lm.back_offs)
    begins = np.searchsorted(keys, np.arange(n_states + 1) * n)
    return Reader(lm, keys, scores, next_states, state_words(keys, next_states, n, n_states), begins)


def contexts_of(
    reader: Reader, possible: NDArray[np.bool_], held: NDArray[np.bool_] | None = None, *, all_possible: bool = False
) -> Contexts:
    """`possible` says of two tokens whether they may be neighbours, `held` of states that they are those of pieces.

    With `all_possible`, neighbours are all there: a word that only comes after words with which it is a context backs off from one."""
    lm, known, n = reader.lm, reader.known, reader.n_words
    back_offs, shorter, n_states = lm.back_offs, lm.shorter.astype(np.int64), len(lm.back_offs)
    alone = lm.word_states.astype(np.int64)
    last_of_word = np.append(np.where(alone == 0, n, np.arange(n)), n)
    token = last_of_word[known.last]
    lengths = known.lengths
    longest = int(lengths.max())
    usable = usable_states(known, shorter, possible, held)
    # what longer contexts add at most where they back off to a state, and on the way down to any suffix, one word, or none
    gain, any_gain, lower, whole = np.zeros(n_states), np.zeros(n_states), np.zeros(n_states), np.zeros(n_states)
    if all_possible and longest > 1:
        gain[always_longer(reader, possible, usable)] = -np.inf
    for length in range(longest, 1, -1):
        chosen = np.flatnonzero(usable & (lengths == length))
        np.maximum.at(gain, shorter[chosen], back_offs[chosen] + gain[chosen])
    for length in range(1, longest + 1):
        chosen = np.flatnonzero(lengths == length)
        any_gain[chosen] = np.maximum(0.0, back_offs[chosen] + any_gain[shorter[chosen]])
        lower[chosen] = lower[shorter[chosen]] + (back_offs[chosen] if length > 1 else 0.0)
        whole[chosen] = back_offs[chosen] + whole[shorter[chosen]]
    longer = np.flatnonzero(usable & (lengths > 1))
    word_gain = np.zeros(n + 1)  # the same for all contexts that end in a word
    np.maximum.at(word_gain, known.last[longer], any_gain[longer])
    # by the last word
    plain = np.empty((n + 1, n + 1))
    base = np.append(np.where(alone == 0, 0.0, back_offs[alone]), 0.0)
    plain[:, :n], plain[:, n] = base[:, None] + reader.scores[:n], base
    sources = reader.keys[n:] // n
    words = reader.keys[n:] - sources * n
    single, many = lengths[sources] == 1, (lengths[sources] > 1) & usable[sources]
    plain[known.last[sources[single]], words[single]] = reader.scores[n:][single]
    row_gain = np.append(gain[alone], 0.0)
    without = token[longer] == n  # contexts that end in a word which alone is none
    row_gain[n] = any_gain[longer[without]].max(initial=0.0)
    highest = plain + row_gain[:, None]
    np.maximum.at(highest, (token[sources[many]], words[many]), reader.scores[n:][many] + gain[sources[many]])
    np.maximum.at(highest, (token[longer], np.full(len(longer), n)), whole[longer])
    highest[:n][alone == 0] = highest[n]
    extra = np.zeros((n + 1, n + 1))
    for length in range(2, longest + 1):
        chosen = np.flatnonzero(usable & (lengths == length))
        at = last_of_word[known.last[known.prefix[chosen]]], known.last[chosen]
        if length == 2:
            extra[at] = lower[chosen]
        else:
            np.maximum.at(extra, at, lower[chosen])
    complete = bool((lengths[shorter[lengths > 2]] == lengths[lengths > 2] - 1).all())
    listed = listed_ngrams(reader, usable, gain)
    pairs = np.flatnonzero(usable & (lengths == 2)) if complete else np.zeros(0, dtype=np.int64)
    pairs = pairs[np.argsort(known.last[pairs], kind="stable")]
    pair_start = np.searchsorted(known.last[pairs], np.arange(n + 2)).astype(np.int64)
    first_token = np.append(np.where(lm.nodes > 0, np.arange(n), n), n)
    found = Contexts(
        highest, plain, highest + extra, *listed, lower + gain, gain,
        (lengths if complete else np.full(n_states, -1)).astype(np.int32), pair_start, pairs.astype(np.int32),
        known.last[known.prefix[pairs]].astype(np.int32), token.astype(np.int32), last_of_word.astype(np.int32),
        first_token.astype(np.int32), np.zeros(lm.n_lefts + 1),
    )  # fmt: skip
    sizes = (lm.words >= 0).sum(axis=1)
    state = lm.node_states.astype(np.int64)
    unknown = (sizes == 1) | (not complete)
    closing = np.where(lengths[state] == sizes, gain[state], np.where(unknown, word_gain[lm.last_words], 0.0))
    closing[sizes >= lm.words.shape[1]] = 0.0
    fill_waiting(tuple(lm), tuple(found), closing, found.waiting)
    return found


def always_longer(reader: Reader, possible: NDArray[np.bool_], usable: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The states of words that have neighbours before them, and are a context with each."""
    lm, known, n = reader.lm, reader.known, reader.n_words
    pairs = np.flatnonzero(usable & (known.lengths == 2))
    others = possible[:, :n].copy()
    others[known.last[known.prefix[pairs]], known.last[pairs]] = False
    longer = np.zeros(n, dtype=np.bool_)
    longer[known.last[pairs]] = True
    words = np.flatnonzero(longer & ~others.any(axis=0) & (lm.nodes > 0))
    return lm.word_states[words].astype(np.int64)


def usable_states(
    known: StateWords, shorter: NDArray[np.int64], possible: NDArray[np.bool_], held: NDArray[np.bool_] | None
) -> NDArray[np.bool_]:
    """States all of whose words can be neighbours."""
    lengths = known.lengths
    longest = int(lengths.max())
    usable = (lengths == 0) | (lengths == 1)
    if held is not None:
        usable |= held
        for length in range(longest, 1, -1):
            usable[shorter[usable & (lengths == length)]] = True
    for length in range(2, longest + 1):
        chosen = np.flatnonzero(lengths == length)
        usable[chosen] |= usable[known.prefix[chosen]] & possible[known.last[known.prefix[chosen]], known.last[chosen]]
    return usable


def listed_ngrams(reader: Reader, usable: NDArray[np.bool_], gain: Scores) -> tuple[NDArray[np.int64], NDArray[np.int32], Scores]:
    """N-grams by context, with the most that they score after any context that ends in theirs; those of contexts of two words or more."""
    n, lengths, shorter = reader.n_words, reader.known.lengths, reader.lm.shorter.astype(np.int64)
    n_states = len(lengths)
    sources = reader.keys[n:] // n
    kept = (lengths[sources] > 1) & usable[sources]
    keys, scores = reader.keys[n:][kept], (reader.scores[n:] + gain[sources])[kept]
    for length in range(int(lengths.max()), 2, -1):  # the same n-gram without its first word
        states = keys // n
        chosen = (lengths[states] == length) & (lengths[shorter[states]] > 1)
        below = shorter[states[chosen]] * n + keys[chosen] - states[chosen] * n
        keys, scores = np.concatenate([keys, below]), np.concatenate([scores, scores[chosen]])
        states = keys // n
        words = keys - states * n
        # where only a longer context lists it, a shorter one may still back off to more
        backed = np.isin(keys, reader.keys, invert=True)
        if backed.any():
            plain = backed_off(reader, shorter[states[backed]], words[backed]) + reader.lm.back_offs[states[backed]] + gain[states[backed]]
            scores[backed] = np.maximum(scores[backed], plain)
        order = np.lexsort((scores, keys))
        keys, scores = keys[order], scores[order]
        last = np.diff(keys, append=-1) != 0
        keys, scores = keys[last], scores[last]
    starts = np.searchsorted(keys, np.arange(n_states + 1) * n).astype(np.int64)
    return starts, (keys % n).astype(np.int32), np.ascontiguousarray(scores)


def backed_off(reader: Reader, states: NDArray[np.int64], words: NDArray[np.int64]) -> Scores:
    """The scores of words after states."""
    n, state, total = reader.n_words, states.copy(), np.zeros(len(states))
    pending = np.arange(len(states))
    while pending.size:
        key = state[pending] * n + words[pending]
        at = np.minimum(reader.keys.searchsorted(key), len(reader.keys) - 1)
        found = reader.keys[at] == key
        total[pending[found]] += reader.scores[at[found]]
        pending = pending[~found]
        total[pending] += reader.lm.back_offs[state[pending]]
        state[pending] = reader.lm.shorter[state[pending]]
    return total
