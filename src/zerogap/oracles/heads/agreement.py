"""Trees and the automata of all heads choose arcs on their own, at prices that make them agree (Rush 2014, algorithms 8 and 9).

    minimise over down, up:   max_tree  sum_{arcs a in the tree} down[a] + up[a]
                            + sum_h max_{g, modifiers of h}  g_h(g, modifiers) - sum_{modifiers m} down[h -> m] - up[g -> h]

g_h is what the problem scores of a head h, its head g and its modifiers on both sides (section 6.5; without grandparents there is no g and
no `up`), the best path on each side (zerogap.oracles.heads.automata). The whole loop is one kernel. Lazy decoding goes one step further
than
section 6.8: what a change of prices can add at most to the value of a head under g is known without decoding, and so is a bound to begin
with, so only those g are decoded that might be the best ones.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zerogap.grid import Integers, Scores
from zerogap.kernels import float64, inner, int64, kernel, readonly, record, writable
from zerogap.oracles.descent import DECREASING, POLYAK, STEPS
from zerogap.oracles.heads.automata import (
    AUTOMATA,
    CHAIN,
    CLOSED,
    GRAND,
    JOINT,
    OUTER,
    PROJECTIVE,
    REQUIRED,
    SINGLE_ROOT,
    bound_contexts,
    free_value,
    has_lattice,
    lattice_value,
    longest_side,
    side_value,
    tree_score,
)
from zerogap.oracles.trees.arborescence import tree_kernel
from zerogap.oracles.trees.eisner import eisner_kernel

AGREED, BEATEN, EMPTY, TIRED = 0, 1, 2, 3  # why the loop ended: a proof, the bound fell to the incumbent, no tree is left, the limit
BOUND, SCORE, ITERATIONS, DECODED, RATE, RISES, SCALE = range(7)  # places in `result`; the last two go on from call to call
N_RESULTS = 7
IN_TREE, BY_HEAD, BY_MODIFIER = 1, 2, 4  # who wants an arc, in the rows of `choices` from the fourth on
FIRST_STEPS, FIRST_RATE = 8, 2.0  # Polyak's steps are longer at first: most sentences are done by then
PATIENCE = 50  # iterations without a bound that is better by a hundredth of the gap


@inner
def index_contexts(automata):
    """Where the contexts of every head begin among all, and for each the arc that gives it, -1 if contexts are not heads of heads."""
    contexts, modifiers = automata.contexts, automata.modifiers
    first_context = np.zeros(contexts.shape[0] + 1, dtype=np.int64)
    for h in range(contexts.shape[0]):
        first_context[h + 1] = first_context[h] + contexts[h]
    arc_of_context = np.full(first_context[contexts.shape[0]], -1)
    if automata.flags & (GRAND | JOINT | OUTER):
        for a in range(modifiers.shape[0]):
            arc_of_context[first_context[modifiers[a]] + automata.context[a]] = a
    return first_context, arc_of_context


class Outcome(NamedTuple):
    """All that `agree` fills."""

    prices: Scores  # (2, arcs): down and up; where the steps begin
    best_prices: Scores  # those of the lowest bound
    best_heads: Integers  # (n,): a best tree so far, untouched if none beats the incumbent
    disputed: Integers  # (arcs,): how often tree and automata disagreed about an arc; it is added to
    choices: Integers  # (3, arcs): the last ones of the tree, of heads for modifiers, and of heads for their own heads; further rows, if
    # it has some, say who wants an arc after every iteration
    result: Scores  # (N_RESULTS,)
    trace: Scores  # (2, most_iterations): the lowest bound and the highest score after every iteration


OUTCOME = record(
    Outcome, writable(float64, 2), writable(float64, 2), writable(int64, 1), writable(int64, 1), writable(int64, 2), writable(float64, 1),
    writable(float64, 2),
)  # fmt: skip


@kernel(int64(AUTOMATA, readonly(int64, 1), float64, float64, STEPS, OUTCOME))
def agree(automata, state, incumbent, unit, steps, out):  # out: out
    """Subgradient steps from the prices that are given, until tree and automata agree. Returns why it ended.

    `state` says which arcs are closed, open or required, `incumbent` which score a tree must beat. Prices are multiples of `unit`.
    """
    flags, contexts, modifier_start, modifiers, context = automata[:5]
    pairs, pair_start, grand, grand_start = automata.pairs, automata.pair_start, automata.grand, automata.grand_start
    rate, least_rate, most_iterations, rule = steps
    prices, best_prices, best_heads, disputed, choices, result, trace = out
    n = contexts.shape[0] - 1
    n_arcs = modifiers.shape[0]
    single_root = 1 if flags & SINGLE_ROOT else 0
    down, up = prices[0], prices[1]
    grandparents = flags & (GRAND | JOINT | OUTER)
    weights = np.empty((n + 1, n + 1))
    position = np.empty((n + 1, n + 1), dtype=np.int64)
    arc_head = np.empty(n_arcs, dtype=np.int64)
    for h in range(n + 1):
        for m in range(n + 1):
            weights[h, m] = -np.inf
            position[h, m] = -1
    longest = longest_side(automata)
    for place in range(2 * n + 2):
        for a in range(modifier_start[place], modifier_start[place + 1]):
            h, m = place >> 1, modifiers[a]
            arc_head[a] = h
            position[h, m] = a
            if state[a] != CLOSED:
                weights[h, m] = down[a] + (up[a] if grandparents else 0.0)
    first_context, arc_of_context = index_contexts(automata)
    values = np.full(first_context[n + 1], np.inf)  # of the contexts of every head, when they were decoded
    risen_then = np.zeros(first_context[n + 1])
    fresh = np.full(first_context[n + 1], -1)  # the version of the head at that time
    risen = np.zeros(n + 1)  # how much the value of a head can have gone up since the start, by its modifiers
    version = np.zeros(n + 1, dtype=np.int64)
    dirty = np.ones(n + 1, dtype=np.int64)
    chosen_context = np.full(n + 1, -1)
    chosen_version = np.full(n + 1, -1)
    head_value = np.zeros(n + 1)
    of_tree, of_down, of_up = choices[0], choices[1], choices[2]
    for a in range(n_arcs):
        of_tree[a] = of_down[a] = of_up[a] = 0
        best_prices[0, a], best_prices[1, a] = down[a], up[a]  # any prices show that no tree is left
    taken = np.zeros(n_arcs, dtype=np.int64)
    v, back, ends = np.empty((2, longest + 1)), np.empty((2, longest + 1), dtype=np.int64), np.empty(2, dtype=np.int64)
    heads = np.zeros(n, dtype=np.int64)
    new_heads, arc_of_tree = np.empty(n, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    last = np.empty(2 * n + 2, dtype=np.int64)
    separate = not flags & CHAIN  # modifiers do not care about each other: values of all contexts of a word are kept up to date
    if flags & GRAND and not flags & (JOINT | OUTER) and automata.lattices.node_start.shape[0] == 0:
        bound_contexts(automata, state, down, first_context, values)
    bound, decoded = np.inf, 0
    previous, rises, since, scale = np.inf, result[RISES], 0, result[SCALE]
    status = TIRED
    iteration = 0
    while iteration < most_iterations:
        # the tree
        if flags & PROJECTIVE:
            total = eisner_kernel(weights, single_root, new_heads)
            if total == -np.inf:
                status = EMPTY
                break
        else:
            if tree_kernel(weights, single_root, new_heads) < 0:
                status = EMPTY
                break
            total = 0.0
            for m in range(1, n + 1):
                total += weights[new_heads[m - 1], m]
        changed = iteration == 0
        for m in range(1, n + 1):
            if new_heads[m - 1] != heads[m - 1]:
                changed = True
        if changed:
            for m in range(1, n + 1):
                if iteration > 0:
                    of_tree[arc_of_tree[m]] = 0
            for m in range(1, n + 1):
                heads[m - 1] = new_heads[m - 1]
                arc_of_tree[m] = position[heads[m - 1], m]
                of_tree[arc_of_tree[m]] = 1
            found = tree_score(heads, position, automata, last, v[0], back[0])
            if found > incumbent:
                incumbent = found
                for m in range(n):
                    best_heads[m] = heads[m]
        # the automata
        for h in range(n + 1):
            if not dirty[h]:
                total += head_value[h]
                continue
            dirty[h] = 0
            begin, end = first_context[h], first_context[h + 1]
            best, k, there = -np.inf, -1, -1  # there: the context that `v`, `back`, `ends` and `taken` are about
            own = arc_of_tree[h] if grandparents and h > 0 else -1
            while True:
                best, k = -np.inf, -1
                if own >= 0:  # on ties, heads take the head that the tree gives them
                    c = begin + context[own]
                    best, k = values[c] + (risen[h] - risen_then[c]) - up[own], c - begin
                    if best == -np.inf:
                        k = -1
                for c in range(begin, end):
                    worth = values[c] + (risen[h] - risen_then[c])
                    if grandparents and h > 0:
                        a = arc_of_context[c]
                        worth = worth - up[a] if state[a] != CLOSED else -np.inf
                    if worth > best:
                        best, k = worth, c - begin
                again = k >= 0 and (fresh[begin + k] == version[h] or (separate and h > 0 and values[begin + k] < np.inf))
                if k < 0 or (again and (k == there or (k == chosen_context[h] and chosen_version[h] == version[h]))):
                    break
                value = 0.0
                for side in range(1 if h == 0 else 0, 2):
                    place = 2 * h + side
                    if has_lattice(place, automata):
                        found, ends[side] = lattice_value(place, k, automata, state, down, v[side], back[side])
                        value += found
                    elif flags & CHAIN:
                        found, ends[side] = side_value(place, k, automata, state, down, v[side], back[side])
                        value += found
                    else:
                        value += free_value(place, k, automata, state, down, taken)
                there = k
                if again:
                    break
                decoded += 1
                values[begin + k], risen_then[begin + k], fresh[begin + k] = value, risen[h], version[h]
            head_value[h] = best
            total += best
            if k < 0 or there < 0:
                continue
            if grandparents and h > 0:
                if chosen_context[h] >= 0:
                    of_up[arc_of_context[begin + chosen_context[h]]] = 0
                of_up[arc_of_context[begin + k]] = 1
            chosen_context[h], chosen_version[h] = k, version[h]
            for side in range(1 if h == 0 else 0, 2):
                place = 2 * h + side
                first = modifier_start[place]
                for a in range(first, modifier_start[place + 1]):
                    of_down[a] = 0 if flags & CHAIN else taken[a]
                if has_lattice(place, automata):
                    node = ends[side]
                    while node > automata.lattices.node_start[place]:
                        of_down[first + automata.lattices.node_modifier[node]] = 1
                        node = back[side, node - automata.lattices.node_start[place]]
                elif flags & CHAIN:
                    j = ends[side]
                    while j >= 0:
                        of_down[first + j] = 1
                        j = back[side, j]
        if total < bound:
            since = 0 if bound - total > 0.01 * (bound - incumbent) else since + 1
            bound = total
            for a in range(n_arcs):
                best_prices[0, a], best_prices[1, a] = down[a], up[a]
        else:
            since += 1
        trace[0, iteration], trace[1, iteration] = bound, incumbent
        if choices.shape[0] > 3 + iteration:
            for a in range(n_arcs):
                choices[3 + iteration, a] = IN_TREE * of_tree[a] + BY_HEAD * of_down[a] + BY_MODIFIER * of_up[a]
        iteration += 1
        if total == -np.inf:
            status = EMPTY
            break
        # do they agree?
        differences = 0
        for a in range(n_arcs):
            if of_down[a] != of_tree[a]:
                differences += 1
                disputed[a] += 1
            if grandparents and of_up[a] != of_tree[a]:
                differences += 1
                disputed[a] += 1
        if differences == 0:
            status = AGREED
            break
        if bound <= incumbent:
            status = BEATEN
            break
        # a step
        if total > previous:
            rises += 1
        previous = total
        if rule == POLYAK:
            if since >= 10:
                rate *= 0.5
                since = 0
                if rate < least_rate:
                    break
            gap = total - incumbent if incumbent > -np.inf else abs(total) * 0.1 + 1.0
            step = max(rate, FIRST_RATE if iteration <= FIRST_STEPS else 0.0) * gap / differences
        elif rule == DECREASING:
            step = rate / (rises + 1)
        else:
            if scale == 0.0:
                gap = total - incumbent if incumbent > -np.inf else abs(total) * 0.1 + 1.0
                scale = rate * gap / differences
            step = scale / (rises + 1)
            if least_rate > 0.0 and since >= PATIENCE:
                rate = 0.0
                break
        step = max(np.floor(step / unit), 1.0) * unit
        for a in range(n_arcs):
            change = of_down[a] - of_tree[a]
            h, m = arc_head[a], modifiers[a]
            if change != 0:
                weights[h, m] += step * change
                version[h] += 1
                dirty[h] = 1
                if separate and h > 0:
                    place = 2 * h + (1 if m > h else 0)
                    first = modifier_start[place]
                    q = modifier_start[place + 1] - first
                    for k in range(contexts[h]):
                        worth = pairs[pair_start[place] + a - first] - down[a]
                        if flags & GRAND:
                            worth += grand[grand_start[place] + k * q + a - first]
                        less = worth - step * change
                        c = first_context[h] + k
                        values[c] += -step * change if state[a] == REQUIRED else max(less, 0.0) - max(worth, 0.0)
                elif change < 0:
                    risen[h] += step
                down[a] += step * change
            if grandparents:
                change = of_up[a] - of_tree[a]
                if change != 0:
                    up[a] += step * change
                    weights[h, m] += step * change
                    dirty[m] = 1
    result[BOUND] = bound if status != EMPTY else -np.inf
    result[SCORE], result[ITERATIONS], result[DECODED], result[RATE] = incumbent, iteration, decoded, rate
    result[RISES], result[SCALE] = rises, scale
    return status
