"""Trees and the automata of all heads choose arcs on their own, at prices that make them agree (Rush 2014, algorithms 8 and 9).

    minimise over down, up:   max_tree  sum_{arcs a in the tree} down[a] + up[a]
                            + sum_h max_{g, modifiers of h}  g_h(g, modifiers) - sum_{modifiers m} down[h -> m] - up[g -> h]

g_h is what the problem scores of a head h, its head g and its modifiers on both sides (section 6.5; without grandparents there is no g and
no `up`). A side is a path through its candidate modifiers, outward from the head:

    v[j] = max( pairs[none, j], max_{i < j} v[i] + pairs[i, j] ) + grand[g, j] - down[h -> m_j]
    best = max( stop[none], max_j v[j] + stop[j] )

A side may have an automaton of any other form instead (section 6.3): a lattice of its states, each with the modifier that led to it.
Every arc is closed, open or required: required modifiers cannot be left out. The whole loop is one kernel. Lazy decoding goes one step
further than section 6.8: what a change of prices can add at most to the value of a head under g is known without decoding, and so is
a bound to begin with, so only those g are decoded that might be the best ones.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.oracles.arborescence import tree_kernel
from zerogap.oracles.compile import float64, inlined, inner, int64, kernel, readonly, writable
from zerogap.oracles.eisner import eisner_kernel

LEFT, RIGHT = 0, 1
CLOSED, OPEN, REQUIRED = 0, 1, 2  # states of an arc
PROJECTIVE, SINGLE_ROOT, CHAIN, GRAND, JOINT, OUTER = 1, 2, 4, 8, 16, 32  # flags
AGREED, BEATEN, EMPTY, TIRED = 0, 1, 2, 3  # why the loop ended: a proof, the bound fell to the incumbent, no tree is left, the limit
BOUND, SCORE, ITERATIONS, DECODED, RATE, RISES, SCALE = range(7)  # places in `result`; the last two go on from call to call
N_RESULTS = 7
IN_TREE, BY_HEAD, BY_MODIFIER = 1, 2, 4  # who wants an arc, in the rows of `choices` from the fourth on
FIRST_STEPS, FIRST_RATE = 8, 2.0  # Polyak's steps are longer at first: most sentences are done by then
PATIENCE = 50  # iterations without a bound that is better by a hundredth of the gap


@inlined
def side_value(
    h, side, k, flags, modifier_start, state, down, pairs, pair_start, stops, grand, grand_start, joint, joint_start, outer, outer_start, v,
    back,
):  # out: v, back (scratch)  # fmt: skip
    """The best path of a side for context k, and its last modifier's number, -1 for none."""
    place = 2 * h + side
    first = modifier_start[place]
    q = modifier_start[place + 1] - first
    stop = first + place
    single = h == 0 and flags & SINGLE_ROOT
    low = -1  # the last required modifier so far: nothing before it may be the previous one
    for j in range(q):
        a = first + j
        if state[a] == CLOSED:
            v[j] = -np.inf
            continue
        best, chosen = -np.inf, -1
        row = pair_start[place] + j
        if low < 0:
            best = pairs[row] + (joint[joint_start[place] + k * (q + 1) * q + j] if flags & JOINT else 0.0)
        if not single:
            if flags & JOINT:
                block = joint_start[place] + k * (q + 1) * q + j
                for i in range(max(low, 0), j):
                    score = v[i] + pairs[row + (i + 1) * q] + joint[block + (i + 1) * q]
                    if score > best:
                        best, chosen = score, i
            else:
                for i in range(max(low, 0), j):
                    score = v[i] + pairs[row + (i + 1) * q]
                    if score > best:
                        best, chosen = score, i
        if flags & GRAND:
            best += grand[grand_start[place] + k * q + j]
        v[j], back[j] = best - down[a], chosen
        if state[a] == REQUIRED:
            low = j
    best, last = -np.inf, -1
    ends = outer_start[place] + k * (q + 1)
    if low < 0 and (h > 0 or side == LEFT):
        best = stops[stop] + (outer[ends] if flags & OUTER else 0.0)
    for j in range(max(low, 0), q):
        score = v[j] + stops[stop + j + 1] + (outer[ends + j + 1] if flags & OUTER else 0.0)
        if score > best:
            best, last = score, j
    return best, last


@inner
def lattice_value(
    h, side, k, flags, modifier_start, state, down, node_start, node_modifier, node_stop, edge_start, edge_from, edge_weight, grand,
    grand_start, joint, joint_start, outer, outer_start, v, back,
):  # out: v, back (scratch)  # fmt: skip
    """The best path through the states of an automaton of another form, and its last node, -1 for none.

    A node is a state and the modifier that led to it; nodes come in the order of their modifiers, after one that stands for the start.
    """
    place = 2 * h + side
    first = modifier_start[place]
    q = modifier_start[place + 1] - first
    start = node_start[place]
    single = h == 0 and flags & SINGLE_ROOT
    v[0] = 0.0
    low, behind = -1, 0  # the last required modifier before the one of this node, and how many are before it
    for node in range(start + 1, node_start[place + 1]):
        j = node_modifier[node]
        while behind < j:
            low = behind if state[first + behind] == REQUIRED else low
            behind += 1
        best, chosen = -np.inf, -1
        if state[first + j] != CLOSED:
            for e in range(edge_start[node], edge_start[node + 1]):
                i = node_modifier[edge_from[e]]  # -1 for the start
                if i < low or (single and i >= 0):
                    continue
                score = v[edge_from[e] - start] + edge_weight[e]
                if flags & JOINT:
                    score += joint[joint_start[place] + (k * (q + 1) + i + 1) * q + j]
                if score > best:
                    best, chosen = score, edge_from[e]
            if flags & GRAND:
                best += grand[grand_start[place] + k * q + j]
            best -= down[first + j]
        v[node - start], back[node - start] = best, chosen
    for j in range(behind, q):
        low = j if state[first + j] == REQUIRED else low
    best, last = -np.inf, -1
    ends = outer_start[place] + k * (q + 1)
    if low < 0 and (h > 0 or side == LEFT):
        best, last = node_stop[start] + (outer[ends] if flags & OUTER else 0.0), start
    for node in range(start + 1, node_start[place + 1]):
        j = node_modifier[node]
        if j >= low:
            score = v[node - start] + node_stop[node] + (outer[ends + j + 1] if flags & OUTER else 0.0)
            if score > best:
                best, last = score, node
    return best, last


@inlined
def free_value(h, side, k, flags, modifier_start, state, down, pairs, pair_start, grand, grand_start, taken):  # out: taken (arcs,)
    """The same if modifiers do not care about each other: each is taken if it is worth it. The root takes one at least, or exactly one."""
    place = 2 * h + side
    first = modifier_start[place]
    total, best, best_arc, required = 0.0, -np.inf, -1, False
    for a in range(first, modifier_start[place + 1]):
        taken[a] = 0
        if state[a] == CLOSED:
            continue
        worth = pairs[pair_start[place] + a - first] - down[a]
        if flags & GRAND:
            worth += grand[grand_start[place] + k * (modifier_start[place + 1] - first) + a - first]
        if worth > 0.0 or state[a] == REQUIRED:
            total += worth
            taken[a] = 1
        if state[a] == REQUIRED or (worth > best and not required):
            best, best_arc = worth, a
            required = state[a] == REQUIRED
    if h == 0:
        if flags & SINGLE_ROOT:
            for a in range(first, modifier_start[place + 1]):
                taken[a] = 0
            total = 0.0
        if best_arc < 0:
            return -np.inf
        if not taken[best_arc]:
            taken[best_arc] = 1
            total += best
    return total


@inner
def index_contexts(contexts, modifiers, context, grandparents):
    """Where the contexts of every head begin among all, and for each the arc that gives it, -1 if contexts are not heads of heads."""
    first_context = np.zeros(contexts.shape[0] + 1, dtype=np.int64)
    for h in range(contexts.shape[0]):
        first_context[h + 1] = first_context[h] + contexts[h]
    arc_of_context = np.full(first_context[contexts.shape[0]], -1)
    if grandparents:
        for a in range(modifiers.shape[0]):
            arc_of_context[first_context[modifiers[a]] + context[a]] = a
    return first_context, arc_of_context


@inner
def bound_contexts(flags, contexts, modifier_start, state, down, pairs, pair_start, stops, grand, grand_start, first_context, values):
    """out: values: the most that a head can score under each of its own heads, as if every modifier chose the one before it on its own.

    It is what a head does score if modifiers do not care about each other.
    """
    longest = 0
    for place in range(modifier_start.shape[0] - 1):
        longest = max(longest, modifier_start[place + 1] - modifier_start[place])
    most, at_least = np.empty(longest), np.empty(longest)
    for h in range(1, contexts.shape[0]):
        begin, end = first_context[h], first_context[h + 1]
        for c in range(begin, end):
            values[c] = 0.0
        for place in range(2 * h, 2 * h + 2):
            first = modifier_start[place]
            q = modifier_start[place + 1] - first
            for j in range(q):
                most[j] = pairs[pair_start[place] + j]
            last = 0.0
            if flags & CHAIN:
                for p in range(1, q):
                    row = pair_start[place] + p * q
                    for j in range(p, q):
                        most[j] = max(most[j], pairs[row + j])
                last = stops[first + place]
                for j in range(q):
                    last = max(last, stops[first + place + j + 1])
            for j in range(q):
                most[j] = most[j] - down[first + j] if state[first + j] != CLOSED else -np.inf
                at_least[j] = -np.inf if state[first + j] == REQUIRED else 0.0
            for c in range(begin, end):
                row = grand_start[place] + (c - begin) * q
                total = last
                for j in range(q):
                    total += max(most[j] + grand[row + j], at_least[j])
                values[c] += total


@inner
def tree_score(
    heads, flags, position, modifier_start, context, pairs, pair_start, stops, grand, grand_start, joint, joint_start, outer, outer_start,
    node_start, node_modifier, node_stop, edge_start, edge_from, edge_weight, last, v, back,
):  # out: last (2 (n + 1),), v, back (scratch)  # fmt: skip
    """What the automata score of a tree; -inf if it is forbidden."""
    n = heads.shape[0]
    lattices = node_start.shape[0] > 0
    for place in range(2 * n + 2):
        last[place] = 0
    total = 0.0
    for step in range(2 * n):
        m, side = (step + 1, RIGHT) if step < n else (2 * n - step, LEFT)
        h = heads[m - 1]
        if (m > h) != (side == RIGHT):
            continue
        place = 2 * h + side
        if lattices and node_start[place] < node_start[place + 1]:
            continue
        a = position[h, m]
        first = modifier_start[place]
        q = modifier_start[place + 1] - first
        j = a - first
        total += pairs[pair_start[place] + (last[place] * q if flags & CHAIN else 0) + j]
        if h > 0 and flags & (GRAND | JOINT):
            k = context[position[heads[h - 1], h]]
            if flags & GRAND:
                total += grand[grand_start[place] + k * q + j]
            if flags & JOINT:
                total += joint[joint_start[place] + (k * (q + 1) + last[place]) * q + j]
        last[place] = j + 1
    if flags & CHAIN:
        for place in range(1, 2 * n + 2):
            h = place >> 1
            if lattices and node_start[place] < node_start[place + 1]:
                continue
            total += stops[modifier_start[place] + place + last[place]]
            if flags & OUTER and h > 0:
                q = modifier_start[place + 1] - modifier_start[place]
                total += outer[outer_start[place] + context[position[heads[h - 1], h]] * (q + 1) + last[place]]
    if lattices:  # the best path through all modifiers of the tree, and no others
        size = modifier_start[2 * n + 2]
        state, free = np.zeros(size, dtype=np.int64), np.zeros(size)
        for m in range(1, n + 1):
            state[position[heads[m - 1], m]] = REQUIRED
        for place in range(1, 2 * n + 2):
            if node_start[place] < node_start[place + 1]:
                h = place >> 1
                known = flags if h > 0 else flags & ~(GRAND | JOINT | OUTER)
                k = context[position[heads[h - 1], h]] if h > 0 else 0
                found, _ = lattice_value(
                    h, place & 1, k, known, modifier_start, state, free, node_start, node_modifier, node_stop, edge_start, edge_from,
                    edge_weight, grand, grand_start, joint, joint_start, outer, outer_start, v, back,
                )  # fmt: skip
                total += found
    return total


LATTICES = (readonly(int64, 1), readonly(int64, 1), readonly(float64, 1), readonly(int64, 1), readonly(int64, 1), readonly(float64, 1))
# flags, and what is scored, in the order of the arguments
SCORED = (
    int64, *[readonly(int64, 1)] * 4, readonly(float64, 1), readonly(int64, 1), readonly(float64, 1),
    *[readonly(float64, 1), readonly(int64, 1)] * 3, *LATTICES,
)  # fmt: skip


@kernel(
    int64(
        *SCORED, readonly(int64, 1), float64, float64, float64, int64, int64, float64,
        writable(float64, 2), writable(float64, 2), writable(int64, 1), writable(int64, 1), writable(int64, 2), writable(float64, 1),
        writable(float64, 2),
    )
)  # fmt: skip
def agree(
    flags, contexts, modifier_start, modifiers, context, pairs, pair_start, stops, grand, grand_start, joint, joint_start, outer,
    outer_start, node_start, node_modifier, node_stop, edge_start, edge_from, edge_weight, state, incumbent, rate, least_rate, rule,
    most_iterations, unit, prices, best_prices, best_heads, disputed, choices, result, trace,
):  # fmt: skip
    """Subgradient steps from the prices that are given, until tree and automata agree. Returns why it ended.

    With `rule` 0 steps are (dual - incumbent) / disagreements times a rate that falls when the bound does not (Polyak 1969), down to
    `least_rate`; with rule 1 they are rate / (t + 1), t the number of times that the dual went up (appendix A.2); with rule 2 the first
    one is as by rule 0, and the others are as many times smaller as by rule 1, until PATIENCE is out unless `least_rate` is 0. All
    steps are multiples of `unit`.
    out: prices (2, arcs): down and up; best_prices, those of the lowest bound; best_heads (n,), a best tree so far, untouched if none
    beats the incumbent; disputed (arcs,): how often tree and automata disagreed about an arc; choices (3, arcs): the last ones of the tree,
    of heads for modifiers, and of heads for their own heads; further rows, if it has some, say who wants an arc after every iteration;
    result; trace (2, most_iterations): the lowest bound and the highest score after every iteration.
    """
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
    longest = 0
    lattices = node_start.shape[0] > 0
    for place in range(2 * n + 2):
        longest = max(longest, modifier_start[place + 1] - modifier_start[place])
        if lattices:
            longest = max(longest, node_start[place + 1] - node_start[place])
        for a in range(modifier_start[place], modifier_start[place + 1]):
            h, m = place >> 1, modifiers[a]
            arc_head[a] = h
            position[h, m] = a
            if state[a] != CLOSED:
                weights[h, m] = down[a] + (up[a] if grandparents else 0.0)
    first_context, arc_of_context = index_contexts(contexts, modifiers, context, grandparents)
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
    if flags & GRAND and not flags & (JOINT | OUTER) and not lattices:
        bound_contexts(flags, contexts, modifier_start, state, down, pairs, pair_start, stops, grand, grand_start, first_context, values)
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
            found = tree_score(
                heads, flags, position, modifier_start, context, pairs, pair_start, stops, grand, grand_start, joint, joint_start, outer,
                outer_start, node_start, node_modifier, node_stop, edge_start, edge_from, edge_weight, last, v[0], back[0],
            )  # fmt: skip
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
            known = flags if h > 0 else flags & ~(GRAND | JOINT | OUTER)  # the root has no head
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
                    if lattices and node_start[place] < node_start[place + 1]:
                        found, ends[side] = lattice_value(
                            h, side, k, known, modifier_start, state, down, node_start, node_modifier, node_stop, edge_start, edge_from,
                            edge_weight, grand, grand_start, joint, joint_start, outer, outer_start, v[side], back[side],
                        )  # fmt: skip
                        value += found
                    elif flags & CHAIN:
                        found, ends[side] = side_value(
                            h, side, k, known, modifier_start, state, down, pairs, pair_start, stops, grand, grand_start, joint,
                            joint_start, outer, outer_start, v[side], back[side],
                        )  # fmt: skip
                        value += found
                    else:
                        value += free_value(h, side, k, known, modifier_start, state, down, pairs, pair_start, grand, grand_start, taken)
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
                if lattices and node_start[place] < node_start[place + 1]:
                    node = ends[side]
                    while node > node_start[place]:
                        of_down[first + node_modifier[node]] = 1
                        node = back[side, node - node_start[place]]
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
        if rule == 0:
            if since >= 10:
                rate *= 0.5
                since = 0
                if rate < least_rate:
                    break
            gap = total - incumbent if incumbent > -np.inf else abs(total) * 0.1 + 1.0
            step = max(rate, FIRST_RATE if iteration <= FIRST_STEPS else 0.0) * gap / differences
        elif rule == 1:
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
