"""The product of a hypergraph and an automaton that reads its fringe (Bar-Hillel; Rush 2014, theorem 2.2.1).

A vertex (v, q, q') of the product is a derivation of v during which the automaton goes from q to q'. The theorem makes
all of them, |E||Q|^(m+1) hyperedges. Here v is expanded at q only if some derivation, read from the left, has the
automaton in q just before v; what cannot end in a final state is dropped afterwards. Weights live on hyperedges only:
a hyperedge takes on the weight of reading the terminals in its tail, the edges into the new root the final weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from zerogap.errors import AlphabetMismatch, HypergraphError, Infeasible, ScoreShapeError
from zerogap.grid import Scores, as_scores
from zerogap.kernels import boolean, float64, int32, int64, kernel, readonly, writable
from zerogap.oracles.growing_arrays import grown
from zerogap.structures.automaton import Automaton
from zerogap.structures.hypergraph import Hypergraph

SILENT = -1  # the label of a terminal that reads no symbol


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """A hypergraph whose hyperpaths are those of the given one that the automaton accepts, one each, with equal scores."""

    hypergraph: Hypergraph
    scores: Scores  # per hyperedge, weights of the automaton and vertex scores included
    vertex_origin: NDArray[np.int32]  # (V, 3): given vertex, state before, state after; the new root has (-1, -1, -1)
    edge_origin: NDArray[np.int32]  # the given hyperedge; -1 for the edges into the new root

    def __post_init__(self) -> None:
        for array in (self.scores, self.vertex_origin, self.edge_origin):
            array.flags.writeable = False


@dataclass(frozen=True, slots=True, eq=False)
class Triples:
    """The explored (v, q, q') in lexicographic order. Those of the pair (v, q) are exit_start[pair] .. exit_start[pair + 1]."""

    pair_start: NDArray[np.int64]  # (V + 1,): the pairs of a vertex
    pair_state: NDArray[np.int32]  # q
    exit_start: NDArray[np.int64]
    exits: NDArray[np.int32]  # q'


def intersect(
    hypergraph: Hypergraph, scores: Any, labels: Sequence[int] | NDArray[Any], automaton: Automaton, *, vertex_scores: Any = None
) -> Product:
    """The product (theorem 2.2.1), in time and memory proportional to what a left-to-right reading can reach.

    `labels[v]` is the position in `automaton.alphabet` of the symbol of terminal v, or -1 if v reads nothing; it is
    ignored for other vertices. Hyperedges that score -inf are left out. Vertices are in order of (v, q, q'), the root
    last; the hyperedges into one are in the given order, then in order of the states between their tail vertices.
    Raises Infeasible if no hyperpath is accepted.
    """
    edge_scores = as_scores(scores, "scores", shape=(hypergraph.n_edges,))
    symbols = checked_labels(labels, hypergraph, automaton)
    root_score = 0.0
    if vertex_scores is not None:
        of_vertex = as_scores(vertex_scores, "vertex_scores", shape=(hypergraph.n_vertices,))
        edge_of_tail = np.repeat(np.arange(hypergraph.n_edges), np.diff(hypergraph.tail_start))
        np.add.at(edge_scores, edge_of_tail, of_vertex[hypergraph.tails])
        root_score = float(of_vertex[hypergraph.root])
    graph = (hypergraph.edge_start, hypergraph.tail_start, hypergraph.tails, edge_scores, symbols)
    following, weights = np.ascontiguousarray(automaton.following), np.ascontiguousarray(automaton.weights)
    keys, begin, end, found = explore(*graph, following, hypergraph.root, automaton.start)
    triples = sorted_triples(keys, begin, end, found, hypergraph.n_vertices, automaton.n_states)

    useful = np.zeros(len(triples.exits), dtype=np.bool_)
    top = int(triples.pair_start[hypergraph.root])  # the root has one pair, at the start state
    final = automaton.final[triples.exits[triples.exit_start[top] : triples.exit_start[top + 1]]] + root_score
    last = triples.exit_start[top] + np.flatnonzero(final > -np.inf)
    if not last.size:
        raise Infeasible("the automaton accepts the fringe of no hyperpath.")
    useful[last] = True

    tables = (*graph, weights, triples.pair_start, triples.pair_state, triples.exit_start, triples.exits)
    n_edges, n_tails = np.zeros(len(useful), dtype=np.int64), np.zeros(len(useful), dtype=np.int64)
    nothing = np.empty(0, dtype=np.int32)
    longest = int(np.diff(hypergraph.tail_start).max(initial=1))
    lay_out(False, *tables, longest, useful, n_edges, n_tails, nothing, nothing, nothing, nothing, np.empty(0))
    total_edges, total_tails = int(n_edges.sum()) + len(last), int(n_tails.sum()) + len(last)
    if total_tails >= 2**31:
        raise HypergraphError(f"the product has {total_edges:,} hyperedges with {total_tails:,} tail entries: expected fewer than 2^31.")

    number = np.where(useful, np.cumsum(useful) - 1, -1).astype(np.int32)
    edge_start = np.concatenate([[0], np.cumsum(n_edges[useful]), [total_edges]])
    new_tail_start = np.empty(total_edges + 1, dtype=np.int32)
    new_tails = np.empty(total_tails, dtype=np.int32)
    new_scores = np.empty(total_edges)
    edge_origin = np.empty(total_edges, dtype=np.int32)
    next_edge, next_tail = np.cumsum(n_edges) - n_edges, np.cumsum(n_tails) - n_tails
    lay_out(True, *tables, longest, useful, next_edge, next_tail, number, new_tail_start, new_tails, edge_origin, new_scores)
    new_tail_start[total_edges - len(last) :] = np.arange(total_tails - len(last), total_tails + 1)
    new_tails[total_tails - len(last) :] = number[last]
    new_scores[total_edges - len(last) :] = final[final > -np.inf]
    edge_origin[total_edges - len(last) :] = -1
    return Product(
        hypergraph=Hypergraph(edge_start, new_tail_start, new_tails, root=len(edge_start) - 2),
        scores=new_scores,
        vertex_origin=np.vstack([origins(triples)[useful], [[-1, -1, -1]]]).astype(np.int32),
        edge_origin=edge_origin,
    )


def checked_labels(labels: Sequence[int] | NDArray[Any], hypergraph: Hypergraph, automaton: Automaton) -> NDArray[np.int64]:
    """The labels of terminals, checked; 0 for other vertices."""
    given = np.asarray(labels)
    if given.shape != (hypergraph.n_vertices,) or given.dtype.kind not in "iu":
        raise ScoreShapeError(f"labels has shape {given.shape} and dtype {given.dtype}: expected integers ({hypergraph.n_vertices},).")
    terminal = hypergraph.is_terminal
    if terminal[hypergraph.root]:
        raise HypergraphError(f"no hyperedge enters the root, vertex {hypergraph.root}.")
    bad = np.flatnonzero(terminal & ((given < SILENT) | (given >= len(automaton.alphabet))))
    if bad.size:
        v = int(bad[0])
        raise AlphabetMismatch(f"labels[{v}] is {given[v]}: expected 0 to {len(automaton.alphabet) - 1}, or {SILENT} to read nothing.")
    return np.where(terminal, given, 0).astype(np.int64)


def sorted_triples(
    keys: NDArray[np.int64], begin: NDArray[np.int64], end: NDArray[np.int64], found: NDArray[np.int32], n_vertices: int, n_states: int
) -> Triples:
    """Pairs come in the order in which they were met; here, in order of vertex and state, each with its exits."""
    order = np.argsort(keys)
    sizes = (end - begin)[order]
    exit_start = np.concatenate([[0], np.cumsum(sizes)])
    return Triples(
        pair_start=np.searchsorted(keys[order] // n_states, np.arange(n_vertices + 1)).astype(np.int64),
        pair_state=(keys[order] % n_states).astype(np.int32),
        exit_start=exit_start,
        exits=found[np.repeat(begin[order] - exit_start[:-1], sizes) + np.arange(len(found))],
    )


def origins(triples: Triples) -> NDArray[np.int64]:
    per_pair = np.diff(triples.exit_start)
    vertices = np.repeat(np.arange(len(triples.pair_start) - 1), np.diff(triples.pair_start))
    return np.stack([np.repeat(vertices, per_pair), np.repeat(triples.pair_state, per_pair), triples.exits], axis=1)


@kernel(int64(readonly(int64, 1), readonly(int64, 1), int64, int64, int64))
def slot_of(table, keys, n_states, v, q):
    """The slot of the pair (v, q) in an open-addressed table of pairs, or the free slot where it belongs."""
    mask = len(table) - 1
    mixed = v * 1000003 + q * 7919
    slot = (mixed ^ (mixed >> 16)) & mask
    while table[slot] >= 0 and keys[table[slot]] != v * n_states + q:
        slot = (slot + 1) & mask
    return slot


@kernel(
    types.Tuple((writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(int32, 1)))(
        readonly(int64, 1), readonly(int32, 1), readonly(int32, 1), readonly(float64, 1), readonly(int64, 1),
        readonly(int32, 2), int64, int64,
    )
)  # fmt: skip
def explore(edge_start, tail_start, tails, scores, labels, following, root, start):
    """The pairs (v, q) that a reading from (root, start) meets, and the states that each can be left in.

        exits(terminal v, q) = {following[q, labels[v]]}
        exits(v, q) = union over hyperedges of S_k, where S_0 = {q} and S_i = union over p in S_i-1 of exits(tail_i, p)

    Depth first: a hyperedge that needs exits not known yet waits on the stack for them and is then tried again. Pairs
    that wait belong to vertices above all that are looked up, so what is found is complete.
    """
    n_states = following.shape[0]
    keys, begin, end = np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64)
    table = np.full(128, -1, dtype=np.int64)
    stack, edge_of, gathered_of = np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64)
    gathered, exits = np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64)  # exits so far of the pairs on the stack
    here, there = np.empty(n_states, dtype=np.int64), np.empty(n_states, dtype=np.int64)  # S_i-1 and S_i
    stamps, stamp = np.zeros(n_states, dtype=np.int64), 0  # membership in the set at hand, without clearing
    n_gathered, n_exits = 0, 0

    keys[0], stack[0], edge_of[0], gathered_of[0] = root * n_states + start, 0, edge_start[root], 0
    table[slot_of(table, keys, n_states, root, start)] = 0
    n_pairs, depth = 1, 1
    while depth > 0:
        # One turn meets at most n_states new pairs.
        keys, begin, end = grown(keys, n_pairs + n_states), grown(begin, n_pairs + n_states), grown(end, n_pairs + n_states)
        stack, edge_of, gathered_of = grown(stack, depth + n_states), grown(edge_of, depth + n_states), grown(gathered_of, depth + n_states)
        gathered, exits = grown(gathered, n_gathered + n_states), grown(exits, n_exits + n_states)
        if 2 * (n_pairs + n_states) > len(table):
            size = len(table)
            while 2 * (n_pairs + n_states) > size:
                size *= 2
            table = np.full(2 * size, -1, dtype=np.int64)
            for pair in range(n_pairs):
                table[slot_of(table, keys, n_states, keys[pair] // n_states, keys[pair] % n_states)] = pair

        pair, e = stack[depth - 1], edge_of[depth - 1]
        v, q = keys[pair] // n_states, keys[pair] % n_states
        if edge_start[v] == edge_start[v + 1] or e == edge_start[v + 1]:  # a terminal, or all hyperedges are done
            begin[pair] = n_exits
            if edge_start[v] == edge_start[v + 1]:
                state = q if labels[v] < 0 else following[q, labels[v]]
                if state >= 0:
                    exits[n_exits] = state
                    n_exits += 1
            else:
                for state in np.sort(gathered[gathered_of[depth - 1] : n_gathered]):
                    exits[n_exits] = state
                    n_exits += 1
                n_gathered = gathered_of[depth - 1]
            end[pair] = n_exits
            depth -= 1
            continue

        here[0], n_here, waits = q, 1, False
        if scores[e] == -np.inf:
            n_here = 0
        for position in range(tail_start[e], tail_start[e + 1]):
            u = tails[position]
            stamp += 1
            n_there = 0
            for i in range(n_here):
                slot = slot_of(table, keys, n_states, u, here[i])
                inner = table[slot]
                if inner < 0:
                    table[slot] = n_pairs
                    keys[n_pairs] = u * n_states + here[i]
                    stack[depth], edge_of[depth], gathered_of[depth] = n_pairs, edge_start[u], n_gathered
                    n_pairs += 1
                    depth += 1
                    waits = True
                elif not waits:
                    for j in range(begin[inner], end[inner]):
                        state = exits[j]
                        if stamps[state] != stamp:
                            stamps[state] = stamp
                            there[n_there] = state
                            n_there += 1
            if waits:
                break
            here, there, n_here = there, here, n_there
        if waits:
            continue
        stamp += 1
        for i in range(gathered_of[depth - 1], n_gathered):
            stamps[gathered[i]] = stamp
        for i in range(n_here):
            if stamps[here[i]] != stamp:
                gathered[n_gathered] = here[i]
                n_gathered += 1
        edge_of[depth - 1] += 1
    return keys[:n_pairs], begin[:n_pairs], end[:n_pairs], exits[:n_exits].astype(np.int32)


@kernel(int64(readonly(int64, 1), readonly(int32, 1), int64, int64))
def pair_at(pair_start, pair_state, v, q):
    """The pair (v, q), which exists, by bisection among those of v."""
    low, high = pair_start[v], pair_start[v + 1]
    while high - low > 1:
        middle = (low + high) // 2
        if pair_state[middle] <= q:
            low = middle
        else:
            high = middle
    return low


@kernel(
    types.void(
        boolean, readonly(int64, 1), readonly(int32, 1), readonly(int32, 1), readonly(float64, 1), readonly(int64, 1), readonly(float64, 2),
        readonly(int64, 1), readonly(int32, 1), readonly(int64, 1), readonly(int32, 1), int64,
        writable(boolean, 1), writable(int64, 1), writable(int64, 1),
        readonly(int32, 1), writable(int32, 1), writable(int32, 1), writable(int32, 1), writable(float64, 1),
    )
)  # fmt: skip
def lay_out(
    filling, edge_start, tail_start, tails, scores, labels, weights, pair_start, pair_state, exit_start, exits, longest,
    useful, next_edge, next_tail,  # out
    number, new_tail_start, new_tails, edge_origin, new_scores,  # out, but for number
):  # fmt: skip
    """Visits the hyperedges of the product from the root down, each e with every q = p_0, p_1, .. p_k that its tail allows.

    Called twice. First it marks the triples below useful ones as useful and counts hyperedges and tail entries per head
    in `next_edge` and `next_tail`; then, `filling`, these hold where the next hyperedge of each head goes.
    """
    head_of = np.empty(weights.shape[0], dtype=np.int64)  # the triple (v, q, q') by q'
    chosen, stop = np.empty(longest, dtype=np.int64), np.empty(longest, dtype=np.int64)  # triple of each tail vertex
    for v in range(len(edge_start) - 2, -1, -1):
        for pair in range(pair_start[v], pair_start[v + 1]):
            wanted = False
            for triple in range(exit_start[pair], exit_start[pair + 1]):
                head_of[exits[triple]] = triple
                wanted |= useful[triple]
            if not wanted:
                continue
            for e in range(edge_start[v], edge_start[v + 1]):
                if scores[e] == -np.inf:
                    continue
                first, arity = tail_start[e], tail_start[e + 1] - tail_start[e]
                inner = pair_at(pair_start, pair_state, tails[first], pair_state[pair])
                chosen[0], stop[0] = exit_start[inner] - 1, exit_start[inner + 1]
                depth = 0
                while depth >= 0:
                    chosen[depth] += 1
                    if chosen[depth] == stop[depth]:
                        depth -= 1
                        continue
                    state = exits[chosen[depth]]
                    if depth < arity - 1:
                        depth += 1
                        inner = pair_at(pair_start, pair_state, tails[first + depth], state)
                        chosen[depth], stop[depth] = exit_start[inner] - 1, exit_start[inner + 1]
                        continue
                    head = head_of[state]
                    if not useful[head]:
                        continue
                    edge, tail = next_edge[head], next_tail[head]
                    next_edge[head] += 1
                    next_tail[head] += arity
                    if not filling:
                        for i in range(arity):
                            useful[chosen[i]] = True
                        continue
                    score, before = scores[e], pair_state[pair]
                    for i in range(arity):
                        u = tails[first + i]
                        if edge_start[u] == edge_start[u + 1] and labels[u] >= 0:
                            score += weights[before, labels[u]]
                        before = exits[chosen[i]]
                        new_tails[tail + i] = number[chosen[i]]
                    new_tail_start[edge], edge_origin[edge], new_scores[edge] = tail, e, score
