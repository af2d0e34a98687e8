"""Upper bounds of what is around a vertex of a translation forest that begins, or ends, with a certain word: for the checker.

A piece that begins with a word that suits nobody is bounded by what its readers would score with this word, not by the best they could
have. Every term of a target side (`forest_bounds`) that reads vertex t takes it to begin with some token; `around_first[t, l]`
is the best derivation, less what is inside of t, whose reader takes t to begin with l, and `around_last[u, r]` that whose reader takes u to
end in r. A token that no derivation above the claimed bound can have is dropped.
"""

from __future__ import annotations

import numpy as np

from zerogap.grid import Scores
from zerogap.problems.translation.language_model import BEGIN
from zerogap.proof.translation.forest_bounds import NOWHERE, TRIGRAMS, Around, Held, Term


def look_around(around: Around) -> tuple[Scores, Scores]:
    """The most around every vertex by its first and by its last token, (vertices, tokens)."""
    forest, model = around.problem.forest, around.problem.language_model
    firsts = [np.full(len(tokens), -np.inf) for tokens, _ in around.firsts]
    lasts = [np.full(len(tokens), -np.inf) for tokens, _ in around.lasts]
    root, begin, end = forest.root, model.ids[BEGIN], model.end_id
    whole = around.inside[root] + around.outside[root]
    raise_to(firsts[root], whole - around.inside[root], around.highest[begin], around.firsts[root])
    raise_to(lasts[root], whole - around.inside[root], around.highest[:, end], around.lasts[root])
    backwards: dict[tuple[int, int], Scores] = {}
    for (v, u, t, run), total in best_by_term(around).items():
        if t != NOWHERE:
            raise_to(firsts[t], total - around.inside[t], gains_of_first(around, v, u, run), around.firsts[t])
        if u != NOWHERE and around.is_bridge(u, t, run):
            if (run[0], t) not in backwards:
                backwards[run[0], t] = gains_before(around, run[0], t)
            raise_to(lasts[u], total - around.inside[u], backwards[run[0], t], around.lasts[u])
        elif u != NOWHERE:
            raise_to(lasts[u], total - around.inside[u], gains_of_last(around, v, t, run), around.lasts[u])
    return spread(firsts, around.firsts, around.first.shape), spread(lasts, around.lasts, around.last.shape)


def spread(values: list[Scores], held: list[Held], shape: tuple[int, ...]) -> Scores:
    table = np.full(shape, -np.inf)
    for row, own, (tokens, _) in zip(table, values, held, strict=True):
        row[tokens] = own
    return table


def best_by_term(around: Around) -> dict[Term, float]:
    """The best derivation that has a term."""
    found: dict[Term, float] = {}
    totals = (around.values + around.outside[around.problem.forest.heads]).tolist()
    for e in np.flatnonzero(around.alive).tolist():
        for term in around.cut[e]:
            if totals[e] > found.get(term, -np.inf):
                found[term] = totals[e]
    return found


def raise_to(values: Scores, best: float, gains: Scores, held: Held) -> None:
    """With the best of the gains less prices, a derivation has `best` around; with others it has as much less."""
    tokens, prices = held
    worth = gains[tokens] - prices
    most = worth.max(initial=-np.inf)
    if most > -np.inf:
        np.maximum(values, best + (worth - most), out=values)


def gains_of_first(around: Around, v: int, u: int, run: tuple[int, ...]) -> Scores:
    """What comes before a vertex scores with each of its first tokens, up to a constant."""
    model = around.problem.language_model
    if not run:
        gains: Scores = around.first[v] if u == NOWHERE else around.before[u]
        return gains
    if len(run) == 1 and u != NOWHERE and model.order == TRIGRAMS:
        return around.bridge_row(u, run[0])
    if len(run) >= model.order - 1:
        return around.reading.row(model.state_after(run[len(run) - model.order + 1 :]))
    after: Scores = around.highest[run[-1]]
    return after


def gains_of_last(around: Around, v: int, t: int, run: tuple[int, ...]) -> Scores:
    """What comes after a vertex scores with each of its last tokens, up to a constant, but for one word between two vertices."""
    if not run:
        gains: Scores = around.last[v] if t == NOWHERE else around.after[t]
        return gains
    if around.problem.language_model.order == TRIGRAMS and len(run) > 1:
        return around.run_row(run[0], run[1])
    first: Scores = around.highest[:, run[0]]
    return first


def gains_before(around: Around, word: int, t: int) -> Scores:
    """A word and then vertex t, at most, by the token before the word."""
    tokens, prices = around.firsts[t]
    reached, places = np.unique(around.states_after(word), return_inverse=True)
    most = np.array([(around.reading.row(state)[tokens] - prices).max(initial=-np.inf) for state in reached.tolist()])
    return around.highest[:, word] + most[places]
