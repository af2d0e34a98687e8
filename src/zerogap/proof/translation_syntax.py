"""Checks bounds on derivations of translation forests with a search of its own, in plain Python and NumPy.

Certificates are prices on the first and last words of vertices (see `token_lists` for their order). A piece of a vertex remembers its first
words, as many as the context of the language model has, and the state after it. The checker builds all pieces that might be part of a
derivation above the claimed bound, by its own account of what can come around them:

    highest[r, l]    the most that word l scores after any words that end in r
    first, last      prices: what is inside of a vertex gets them, what is around it pays them, for the words that it takes it to have

If no derivation above the claimed bound is found among them, there is none. Without prices all pieces are built.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import VerificationError
from zerogap.grid import MANTISSA_BITS, Scores
from zerogap.proof.certificate import Certificate, DynamicProgram, Multipliers
from zerogap.translation.syntax_problem import SyntaxProblem

MOST_PIECES = 5_000_000  # more than this and the certificate proves nothing in reasonable time
ROUNDS = 3
BEGIN, EMPTY_STATE = "<s>", 0  # of language models
UNKNOWN = -1  # the state after a piece that is too short to say it
Ends = tuple[tuple[int, ...], int, int]  # the first words, the state after all of them, the last token
Values = tuple[float, ...]  # scores of the best derivations, the best first
Groups = list[
    tuple[float, tuple[int, ...], list[tuple[float, int, int, Values]]]
]  # by first words: least loss, and (loss, state, last, scores)


@dataclass(slots=True)
class Around:
    """What can come around pieces at best: the most inside and outside of vertices, and prices by vertex and token."""

    as_first: NDArray[np.int64]
    as_last: NDArray[np.int64]
    alive: NDArray[np.bool_]
    values: Scores  # of hyperedges, as the next two of vertices
    inside: Scores
    outside: Scores
    first: Scores  # prices, (vertices, tokens); -inf for tokens that a vertex does not have
    last: Scores
    highest: Scores  # (tokens, tokens)
    before: Scores  # (vertices, tokens): the most that a word scores after a vertex, less the vertex' last price
    after: Scores  # (vertices, tokens): the most that a vertex' first word scores after a token, less its price
    handed: dict[tuple[int, ...], float]  # the same between two vertices, and where a vertex begins or ends another


def syntax_bound(problem: SyntaxProblem, certificate: Certificate, claimed: float) -> float:
    """The claimed bound if the certificate shows that nothing scores more, else the score of something that does, or a weaker bound."""
    around, bound = around_pieces(problem, certificate, claimed)
    if bound <= claimed:
        return bound
    return max(claimed, *scores_above(problem, around, claimed, 1), -np.inf)


def syntax_alternatives(problem: SyntaxProblem, certificate: Certificate, claimed: float, k: int) -> Scores:
    """The scores above `claimed` of the k best derivations, the highest first."""
    around, bound = around_pieces(problem, certificate, claimed)
    return np.empty(0) if bound <= claimed else np.array([score for score in scores_above(problem, around, claimed, k) if score > claimed])


def around_pieces(problem: SyntaxProblem, certificate: Certificate, claimed: float) -> tuple[Around | None, float]:
    """What the certificate says about everything around pieces, if anything, and its bound."""
    match certificate:
        case DynamicProgram():
            prices: tuple[float, ...] = ()
        case Multipliers(values):
            prices = values
        case _:
            raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing about translation forests.")
    if (np.diff(problem.forest.symbol_start) > 0).all() and problem.language_model.order <= 3:
        around, bound = relaxed(problem, prices, claimed)
        # with unigrams a vertex has one piece, and no first words to price
        return (None if problem.language_model.order == 1 else around), bound
    if prices:
        raise VerificationError("prices prove nothing where a target side is empty or the language model looks back more than two words.")
    return None, np.inf


def token_lists(problem: SyntaxProblem) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Which first and last tokens the vertices have, (vertices, words + 1), and the tokens of words as first and as last ones.

    The token of a word is its number, or the number of words if the language model need not know it: as a first word if no context makes a
    difference for it, as a last one if it is no context. Prices are those of the first tokens in the order of vertices and tokens, then
    those of the last tokens.
    """
    forest, model = problem.forest, problem.language_model
    n = model.n_words
    as_first, as_last = np.full(n, n), np.full(n, n)
    listed = model.keys[n:] % n
    as_first[listed] = listed
    is_context = np.flatnonzero(model.next_states[:n] != EMPTY_STATE)
    as_last[is_context] = is_context
    firsts, lasts = np.zeros((forest.n_vertices, n + 1), dtype=np.bool_), np.zeros((forest.n_vertices, n + 1), dtype=np.bool_)
    for v in range(forest.n_vertices):
        for e in range(int(forest.edge_start[v]), int(forest.edge_start[v + 1])):
            target = forest.target(e)
            for symbol, held, token in ((int(target[0]), firsts, as_first), (int(target[-1]), lasts, as_last)):
                if symbol < 0:
                    held[v] |= held[-1 - symbol]
                else:
                    held[v, token[problem.word_ids[symbol]]] = True
    return firsts, lasts, as_first, as_last


def checked_prices(problem: SyntaxProblem, values: tuple[float, ...], size: int) -> Scores:
    if not values:
        return np.zeros(size)
    prices = np.array(values, dtype=np.float64)
    if prices.shape != (size,):
        raise VerificationError(f"there are {len(values)} prices for {size} ends of vertices.")
    if not np.isfinite(prices).all() or (np.rint(prices / problem.resolution) * problem.resolution != prices).any():
        raise VerificationError(f"a price is not a multiple of the problem's resolution {problem.resolution!r}.")
    model = problem.language_model
    finite = np.concatenate([part[np.isfinite(part)] for part in (problem.scores, model.scores, model.back_offs)])
    if 4 * problem.terms * (np.abs(prices).max(initial=0.0) + np.abs(finite).max(initial=0.0)) > problem.resolution * 2.0**MANTISSA_BITS:
        raise VerificationError("the prices are so large that sums with them are not exact.")
    return prices


def relaxed(problem: SyntaxProblem, values: tuple[float, ...], claimed: float) -> tuple[Around, float]:
    """The bound of the prices, and what they say of everything; what cannot be above the claimed bound is left out, and then again."""
    firsts, lasts, as_first, as_last = token_lists(problem)
    prices = checked_prices(problem, values, int(firsts.sum() + lasts.sum()))
    first, last = np.full(firsts.shape, -np.inf), np.full(lasts.shape, -np.inf)
    first[firsts], last[lasts] = prices[: firsts.sum()], prices[firsts.sum() :]
    n_edges, shape = problem.forest.n_edges, firsts.shape
    around = Around(
        as_first, as_last, problem.scores > -np.inf, np.empty(n_edges), np.empty(shape[0]), np.empty(shape[0]), first, last,
        np.empty((shape[1], shape[1])), np.empty(shape), np.empty(shape), {},
    )  # fmt: skip
    bound = np.inf
    for k in range(ROUNDS):
        around.highest = highest_scores(problem, possible_neighbours(problem, around), as_last)
        bound = inside_outside(problem, around)
        if k > 0:  # what was left out scores up to the claimed bound
            bound = max(bound, claimed)
        around.alive &= around.values + around.outside[problem.forest.heads] > claimed
        if bound <= claimed:
            break
    return around, float(bound)


def possible_neighbours(problem: SyntaxProblem, around: Around) -> NDArray[np.bool_]:
    """Whether two words can stand next to each other in what is left of the forest."""
    forest, model = problem.forest, problem.language_model
    n = model.n_words
    possible = np.zeros((n + 1, n + 1), dtype=np.bool_)
    gaps = {(model.ids[BEGIN], -1 - forest.root), (-1 - forest.root, model.end_id)}
    for e in np.flatnonzero(around.alive).tolist():
        target = local_target(problem, e)
        gaps.update(pairwise(target))
    for a, b in gaps:
        before = np.array([a]) if a >= 0 else np.flatnonzero(around.last[-1 - a] > -np.inf)
        after = np.array([b]) if b >= 0 else np.flatnonzero(around.first[-1 - b] > -np.inf)
        possible[np.ix_(before, after)] = True
    return possible


def local_target(problem: SyntaxProblem, edge: int) -> list[int]:
    """A target side with words as the language model numbers them."""
    return [int(problem.word_ids[s]) if s >= 0 else s for s in problem.forest.target(edge).tolist()]


def highest_scores(problem: SyntaxProblem, possible: NDArray[np.bool_], as_last: NDArray[np.int64]) -> Scores:
    """(words + 1, words + 1): the most that a word scores after a last token, or, in the last column, that backing off from it adds."""
    model = problem.language_model
    n = model.n_words
    contexts: dict[int, set[int]] = {
        token: {EMPTY_STATE} if token == n else {int(model.next_states[token])} for token in {*as_last.tolist(), n}
    }
    for u in range(n):
        state = int(model.next_states[u])
        if state == EMPTY_STATE:
            continue
        low, high = np.searchsorted(model.keys, [state * n, (state + 1) * n])
        for w, after in zip((model.keys[low:high] - state * n).tolist(), model.next_states[low:high].tolist(), strict=True):
            if possible[u, w] or possible[as_last[u], w]:
                contexts[int(as_last[w])].add(after)
    highest = np.full((n + 1, n + 1), -np.inf)
    words = np.arange(n)
    for token, states in contexts.items():
        for state in states:
            scores = model.steps(np.full(n, state), words)[0] if state == EMPTY_STATE or state == model.next_states[token] else None
            if scores is None:  # a longer context: what it lists, and else it backs off
                low, high = np.searchsorted(model.keys, [state * n, (state + 1) * n])
                scores = model.back_offs[state] + model.steps(np.full(n, model.shorter[state]), words)[0]
                scores[model.keys[low:high] - state * n] = model.scores[low:high]
            highest[token, :n] = np.maximum(highest[token, :n], scores)
            total, below = 0.0, state
            while below != EMPTY_STATE:
                total, below = total + float(model.back_offs[below]), int(model.shorter[below])
            highest[token, n] = max(highest[token, n], total)
    for w in range(n):  # words that are no context go by the last row
        if as_last[w] == n:
            highest[w] = highest[n]
    return highest


def inside_outside(problem: SyntaxProblem, around: Around) -> float:
    """Fills in values of hyperedges and what is inside and outside of vertices; returns the bound."""
    forest, model = problem.forest, problem.language_model
    n = model.n_words
    first, last, inside, outside, before, after = around.first, around.last, around.inside, around.outside, around.before, around.after
    highest, as_first, as_last = around.highest, around.as_first, around.as_last
    alone = model.scores[:n]
    known = around.handed = {}
    around.values[:] = -np.inf
    for v in range(forest.n_vertices):
        for e in range(int(forest.edge_start[v]), int(forest.edge_start[v + 1])):
            if not around.alive[e]:
                continue
            target = local_target(problem, e)
            score = float(problem.scores[e])
            for p, s in enumerate(target):
                previous = target[p - 1] if p else None
                if s < 0:
                    score += inside[-1 - s]
                if previous is None:
                    if s >= 0:
                        score += first[v, as_first[s]] + (alone[s] if as_first[s] == n else 0.0)
                    else:
                        score += most(known, (0, v, s), first[v], first[-1 - s])
                elif previous >= 0 and s >= 0:
                    if p > 1 and target[p - 2] >= 0:
                        score += model.step(model.state_after([target[p - 2], previous]), s)[0]
                    else:
                        score += highest[previous, s]
                elif previous >= 0:
                    score += after[-1 - s, previous]
                elif s >= 0:
                    score += before[-1 - previous, s]
                else:
                    score += most(known, (1, previous, s), before[-1 - previous], first[-1 - s])
            z = target[-1]
            score += last[v, as_last[z]] if z >= 0 else most(known, (2, v, z), last[v], last[-1 - z])
            around.values[e] = score
        inside[v] = around.values[forest.edge_start[v] : forest.edge_start[v + 1]].max()
        held = np.flatnonzero(last[v] > -np.inf)
        before[v] = (highest[held] - last[v, held][:, None]).max(axis=0)
        held = np.flatnonzero(first[v] > -np.inf)
        after[v] = (highest[:, held] - first[v, held]).max(axis=1)
    outside[:] = -np.inf
    outside[forest.root] = after[forest.root, model.ids[BEGIN]] + before[forest.root, model.end_id]
    for v in range(forest.root, -1, -1):
        for e in range(int(forest.edge_start[v]), int(forest.edge_start[v + 1])):
            if around.values[e] + outside[v] > -np.inf:
                for u in forest.tail(e):
                    outside[u] = max(outside[u], outside[v] + around.values[e] - inside[u])
    return float(inside[forest.root] + outside[forest.root])


def most(known: dict[tuple[int, ...], float], key: tuple[int, ...], gains: Scores, prices: Scores) -> float:
    """The largest gain less the price, over the tokens that have one."""
    if key not in known:
        held = prices > -np.inf
        known[key] = float((gains[held] - prices[held]).max(initial=-np.inf))
    return known[key]


def scores_above(problem: SyntaxProblem, around: Around | None, claimed: float, count: int) -> list[float]:
    """The best scores of derivations, at most `count`: all that there are above the claimed bound are among them."""
    forest, model = problem.forest, problem.language_model
    context = model.order - 1
    start = (), EMPTY_STATE if context == 0 else UNKNOWN
    pieces: list[Groups] = []
    n_pieces = 0
    for v in range(forest.n_vertices):
        found: dict[Ends, Values] = {}
        for e in range(int(forest.edge_start[v]), int(forest.edge_start[v + 1])):
            if problem.scores[e] == -np.inf or (around is not None and not around.alive[e]):
                continue
            read: dict[Ends, Values] = {(*start, model.n_words): (float(problem.scores[e]),)}
            target = local_target(problem, e)
            rests = rest_of(around, v, target) if around is not None else [np.inf] * len(target)
            for p, s in enumerate(target):
                longer: dict[Ends, Values] = {}
                for (words, state, last), scores in read.items():
                    if s >= 0:
                        added, words, state = with_word(problem, words, state, s, context)
                        token = s if around is None else int(around.as_last[s])
                        keep(longer, (words, state, token), tuple(score + added for score in scores), count)
                    else:
                        ends = words, state, last
                        extend(problem, around, claimed, v, target, p, rests, ends, scores, pieces[-1 - s], longer, count)
                read = longer
            for (words, state, last), scores in read.items():
                if around is None or scores[0] + left_side(problem, around, v, words) + around.last[v, last] + around.outside[v] > claimed:
                    keep(found, (words, state, last), scores, count)
        n_pieces += len(found)
        if n_pieces > MOST_PIECES:
            raise VerificationError(f"the certificate leaves more than {MOST_PIECES:,} pieces of translations to look at.")
        pieces.append(grouped(problem, around, v, found))
    best: list[float] = []
    for _, words, members in pieces[forest.root]:
        total, state = 0.0, model.start
        for word in words:
            added, state = model.step(state, word)
            total += added
        for _, after, _, scores in members:
            ending = total + model.step(state if after == UNKNOWN else after, model.end_id)[0]
            best += [score + ending for score in scores]
    return sorted(best, reverse=True)[:count]


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


def with_word(problem: SyntaxProblem, words: tuple[int, ...], state: int, word: int, context: int) -> tuple[float, tuple[int, ...], int]:
    """(score, first words, state) of a piece with one word more; the first words of a piece are not scored."""
    model = problem.language_model
    if state != UNKNOWN:
        score, state = model.step(state, word)
        return score, words, state
    words = (*words, word)
    return 0.0, words, model.state_after(words) if len(words) == context else UNKNOWN


def left_side(problem: SyntaxProblem, around: Around, v: int, words: tuple[int, ...]) -> float:
    """The most that the first words of a piece will score, but for what is paid by whoever stands before it, and their price."""
    if not words:
        return float(around.first[v, -1])
    n, token = problem.language_model.n_words, int(around.as_first[words[0]])
    alone = float(problem.language_model.scores[words[0]]) if token == n else 0.0
    return float(around.first[v, token]) + alone + sum(float(around.highest[a, b]) for a, b in pairwise(words))


def grouped(problem: SyntaxProblem, around: Around | None, v: int, found: dict[Ends, Values]) -> Groups:
    """Pieces by first words, those first that lose least against the best that the vertex could have."""
    members: dict[tuple[int, ...], list[tuple[float, int, int, Values]]] = {}
    for (words, state, last), scores in found.items():
        loss = 0.0
        if around is not None:
            loss = float(around.inside[v]) - scores[0] - left_side(problem, around, v, words) - float(around.last[v, last])
        members.setdefault(words, []).append((loss, state, last, scores))
    return sorted((min(entry[0] for entry in entries), words, entries) for words, entries in members.items())


def rest_of(around: Around, v: int, target: list[int]) -> list[float]:
    """For every place of a target side, the most that comes after it, whatever it ends in."""
    rests = [0.0] * len(target)
    z = target[-1]
    rests[-1] = float(around.last[v, around.as_last[z]]) if z >= 0 else most(around.handed, (2, v, z), around.last[v], around.last[-1 - z])
    for p in range(len(target) - 2, -1, -1):
        s, following = target[p], target[p + 1]
        if s >= 0:
            gap = around.highest[s, following] if following >= 0 else around.after[-1 - following, s]
        elif following >= 0:
            gap = around.before[-1 - s, following]
        else:
            gap = most(around.handed, (1, s, following), around.before[-1 - s], around.first[-1 - following])
        rests[p] = float(gap) + rests[p + 1] + (float(around.inside[-1 - following]) if following < 0 else 0.0)
    return rests


def extend(
    problem: SyntaxProblem, around: Around | None, claimed: float, v: int, target: list[int], p: int, rests: list[float], ends: Ends,
    scores: Values, groups: Groups, longer: dict[Ends, Values], count: int,
) -> None:  # fmt: skip
    """What was read up to place p, with every piece of the vertex there that may still be part of something above the claimed bound."""
    (words, state, last), score = ends, scores[0]
    context = problem.language_model.order - 1
    t = -1 - target[p]
    need = claimed - float(around.outside[v]) if around is not None else -np.inf
    side = left_side(problem, around, v, words) if around is not None and words else 0.0
    reach = 0.0  # the most that any group brings, but for what it loses
    if around is not None:
        gap = around.after[t, last] if words else most(around.handed, (0, v, target[p]), around.first[v], around.first[t])
        reach = score + side + float(gap) + float(around.inside[t]) + rests[p]
    for least, group_words, members in groups:
        if around is not None:
            if not reach - least > need:
                break  # groups come in the order of what they lose
            begins = int(around.as_first[group_words[0]])
            gap = around.highest[last, begins] if words else around.first[v, begins]
            if not score + side + gap - around.first[t, begins] + around.inside[t] - least + rests[p] > need:
                continue
        total, new_words, new_state = score, words, state
        for word in group_words:
            added, new_words, new_state = with_word(problem, new_words, new_state, word, context)
            total += added
        base = total + (left_side(problem, around, v, new_words) if around is not None else 0.0)
        for _, after, token, inner in members:
            if around is not None:
                if p + 1 == len(target):
                    coming = around.last[v, token]
                elif target[p + 1] >= 0:
                    coming = around.highest[token, target[p + 1]] + rests[p + 1]
                else:
                    u = -1 - target[p + 1]
                    coming = around.after[u, token] + around.inside[u] + rests[p + 1]
                if not base + inner[0] + coming > need:
                    continue
            key = new_words, new_state if after == UNKNOWN else after, token if group_words else last
            keep(longer, key, sums(tuple(total + (one - score) for one in scores), inner, count), count)
