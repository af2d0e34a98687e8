"""The relaxed lattice as a graph: state by state for bounds, and phrase by phrase, with the exact language model, for searches.

`unrolled` has the ends and firsts of the lattice with each number of translated words, as far as paths through them score more than a
threshold. It keeps the lattice's way to be small: arcs into firsts and arcs out of them are not multiplied, and back-offs may be taken at
will. So it is the graph on which to improve multipliers and to make nodes know words.

`unfolded` has nothing but ends, and an arc for every phrase between two. Back-offs are taken only where nothing longer is listed, so that
its paths score what their phrases score. What lies above the threshold is found with the outside scores of the other graph.
"""

from __future__ import annotations

import numpy as np

from zerogap.grid import Scores
from zerogap.kernels import boolean, float64, inner, int64, kernel, readonly, types
from zerogap.oracles.phrases.graph import GRAPH, Graph
from zerogap.oracles.phrases.lattice import LATTICE, Lattice
from zerogap.oracles.phrases.outside import OUTSIDE, Outside

RESULT = types.Tuple((boolean, GRAPH))


@kernel(RESULT(LATTICE, OUTSIDE, readonly(float64, 1), float64, int64))
def unroll(lattice, outside, price, least, most_arcs):
    """(whether there are few enough arcs, the graph). State c * (ends + firsts) + i is end i, or first i - ends."""
    n, n_options = lattice.first_range.shape[0] - 1, price.shape[0] - 1
    n_ends, n_firsts = lattice.end_state.shape[0], lattice.leave_start.shape[0] - 1
    width = n_ends + n_firsts
    flat = outside.ends.reshape(-1)
    number = np.full((n + 1) * width, -1, dtype=np.int32)
    inside = np.full((n + 1, n_ends), -np.inf)
    entered = np.empty(n_firsts)
    # room for all that may come: what is not written takes no memory, and arrays that are replaced within a loop would make it slow
    state, arc_start = np.empty((n + 1) * width + 1, dtype=np.int64), np.empty((n + 1) * width + 2, dtype=np.int64)
    widest = lattice.enter_first.shape[0] + lattice.leave_option.shape[0] + 2 * n_ends
    room = min(most_arcs, n * widest) + widest
    arc_to, arc_option, arc_score = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64), np.empty(room)
    nodes, arcs = 0, 0
    inside[0, 0] = 0.0
    for c in range(n + 1):
        entered[:] = -np.inf
        low = 0 if c == 0 else lattice.end_range[1]
        high = lattice.end_range[1] if c == 0 else n_ends
        for i in range(high - low):
            x = high - 1 - i  # longer states first
            if c == 0:  # but the start before all
                x = 0 if i == 0 else high - i
            if inside[c, x] == -np.inf:
                continue
            state[nodes], arc_start[nodes] = c * width + x, arcs
            number[c * width + x] = nodes
            nodes += 1
            so_far = inside[c, x]
            if c == n:
                arc_to[arcs], arc_option[arcs], arc_score[arcs] = -1, -1, lattice.final[x]
                arcs += 1
                continue
            y = lattice.shorter_end[x]
            if y >= 0:
                value = so_far + lattice.shorter_score[x]
                if value + outside.ends[c, y] > least:
                    inside[c, y] = max(inside[c, y], value)
                    arc_to[arcs], arc_option[arcs], arc_score[arcs] = c * width + y, n_options, lattice.shorter_score[x]
                    arcs += 1
            for j in range(lattice.enter_start[x], lattice.enter_start[x + 1]):
                f = lattice.enter_first[j]
                value = so_far + lattice.enter_score[j]
                if value + outside.firsts[c, f] > least:
                    entered[f] = max(entered[f], value)
                    arc_to[arcs], arc_option[arcs], arc_score[arcs] = c * width + n_ends + f, n_options, lattice.enter_score[j]
                    arcs += 1
        if c == n:
            break
        for f in range(n_firsts):
            if entered[f] == -np.inf:
                continue
            state[nodes], arc_start[nodes] = c * width + n_ends + f, arcs
            number[c * width + n_ends + f] = nodes
            nodes += 1
            for j in range(lattice.leave_start[f], lattice.leave_start[f + 1]):
                spot = c * n_ends + outside.leave_step[j]
                value = entered[f] + (lattice.leave_score[j] + price[lattice.leave_option[j]])
                if value + flat[spot] > least:
                    into, y = spot // n_ends, lattice.leave_end[j]
                    inside[into, y] = max(inside[into, y], value)
                    arc_to[arcs], arc_option[arcs], arc_score[arcs] = into * width + y, lattice.leave_option[j], lattice.leave_score[j]
                    arcs += 1
        if arcs > most_arcs:
            return False, Graph(arc_start[:0], arc_to[:0], arc_option[:0], arc_score[:0], state[:0])
    state[nodes], arc_start[nodes], arc_start[nodes + 1] = -1, arcs, arcs
    for a in range(arcs):
        arc_to[a] = nodes if arc_to[a] < 0 else np.int64(number[arc_to[a]])
    kept = Graph(
        arc_start[: nodes + 2].copy(), arc_to[:arcs].copy(), arc_option[:arcs].copy(), arc_score[:arcs].copy(), state[: nodes + 1].copy()
    )
    return True, kept


@inner
def is_listed(group, x, lattice):
    """Whether a word is listed after the state of end x: arcs from it are sorted by their groups."""
    low, high = lattice.enter_start[x], lattice.enter_start[x + 1]
    while low < high:
        middle = (low + high) >> 1
        if lattice.first_group[lattice.enter_first[middle]] < group:
            low = middle + 1
        else:
            high = middle
    return low < lattice.enter_start[x + 1] and lattice.first_group[lattice.enter_first[low]] == group


@kernel(RESULT(GRAPH, LATTICE, readonly(float64, 1), readonly(float64, 1), int64, float64, int64))
def unfold(graph, lattice, outside, price, known, least, most_arcs):
    """(whether there are few enough arcs, the graph). Nodes know `known` words."""
    n_ends, n_nodes = lattice.end_state.shape[0], graph.state.shape[0]
    width = n_ends + lattice.leave_start.shape[0] - 1
    inside = np.full(n_nodes, -np.inf)
    number = np.full(n_nodes, -1, dtype=np.int64)
    to, option, score = np.empty(most_arcs, dtype=np.int64), np.empty(most_arcs, dtype=np.int64), np.empty(most_arcs)
    start, of = np.empty(n_nodes + 1, dtype=np.int64), np.empty(n_nodes, dtype=np.int64)
    nodes, arcs = 0, 0
    inside[0] = 0.0
    for x in range(n_nodes - 1):
        if inside[x] == -np.inf:
            continue
        number[x] = nodes
        start[nodes], of[nodes] = arcs, graph.state[x]
        nodes += 1
        longest = (graph.state[x] >> known) % width
        extra, level = 0.0, np.int64(x)
        while level >= 0:  # the state, and then shorter ones, as far as they are left
            shorter, back_off = np.int64(-1), 0.0
            for a in range(graph.arc_start[level], graph.arc_start[level + 1]):
                first = graph.arc_to[a]
                so_far = inside[x] + (extra + graph.arc_score[a])
                if first == n_nodes - 1:  # the end of the sentence
                    if level == x and so_far > least:
                        if arcs == most_arcs:
                            return False, Graph(start[:0], to[:0], option[:0], score[:0], of[:0])
                        to[arcs], option[arcs], score[arcs] = -1, -1, graph.arc_score[a]
                        arcs += 1
                    continue
                f = (graph.state[first] >> known) % width - n_ends
                if f < 0:
                    shorter, back_off = first, graph.arc_score[a]
                    continue
                if not so_far + outside[first] > least:
                    continue
                longer, end = False, longest
                while end != (graph.state[level] >> known) % width:
                    longer = longer or is_listed(lattice.first_group[f], end, lattice)
                    end = lattice.shorter_end[end]
                if longer:
                    continue
                for b in range(graph.arc_start[first], graph.arc_start[first + 1]):
                    y = graph.arc_to[b]
                    value = so_far + (graph.arc_score[b] + price[graph.arc_option[b]])
                    if not value + outside[y] > least:
                        continue
                    if arcs == most_arcs:
                        return False, Graph(start[:0], to[:0], option[:0], score[:0], of[:0])
                    inside[y] = max(inside[y], value)
                    to[arcs], option[arcs], score[arcs] = y, graph.arc_option[b], extra + graph.arc_score[a] + graph.arc_score[b]
                    arcs += 1
            extra += back_off
            level = shorter
    start[nodes], start[nodes + 1], of[nodes] = arcs, arcs, -1
    for a in range(arcs):
        to[a] = nodes if to[a] < 0 else number[to[a]]
    return True, Graph(start[: nodes + 2].copy(), to[:arcs].copy(), option[:arcs].copy(), score[:arcs].copy(), of[: nodes + 1].copy())


def unrolled(lattice: Lattice, outside: Outside, price: Scores, *, least: float, most_arcs: int) -> Graph | None:
    """The part of the lattice on paths of more than `least`, given its outside scores; None if there are more arcs than allowed."""
    done, graph = unroll(lattice, outside, price, least, most_arcs)
    return graph if done else None


def unfolded(graph: Graph, lattice: Lattice, outside: Scores, price: Scores, *, known: int, least: float, most_arcs: int) -> Graph | None:
    """The phrases on paths above `least` of an unrolled graph whose nodes know so many words; None if there are more than allowed."""
    done, phrases = unfold(graph, lattice, outside, price, known, least, most_arcs)
    return phrases if done else None
