"""Hypergraph times automaton, against enumeration of hyperpaths."""

from itertools import product as sequences

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import AlphabetMismatch, HypergraphError, Infeasible, ScoreError, ScoreShapeError
from zerogap.oracles.hypergraphs.product import SILENT, explore, intersect
from zerogap.problems.sequence.regex import compile_regex
from zerogap.structures.automaton import DEAD, automaton
from zerogap.structures.hypergraph import Builder, Hypergraph, check_connected, check_disjoint

SYMBOLS = "ab"
small = st.integers(-2, 2).map(float)


@st.composite
def automata(draw, *, max_states=4):
    """With at most one hole, so that most fringes are read to the end."""
    n = draw(st.integers(1, max_states))
    rows = lambda entries: draw(st.lists(st.tuples(entries, entries), min_size=n, max_size=n))  # noqa: E731
    following, final = np.array(rows(st.integers(0, n - 1))), np.array(draw(st.lists(small, min_size=n, max_size=n)))
    if draw(st.booleans()):
        following[draw(st.integers(0, n - 1)), draw(st.integers(0, 1))] = DEAD
    if n > 1:
        final[draw(st.integers(0, n - 1))] = -np.inf
    return automaton(SYMBOLS, following, weights=rows(small), final=final, start=draw(st.integers(0, n - 1)))


@st.composite
def hypergraphs(draw):
    """Trees over spans of up to four words: two vertices per span, unary to ternary tails, in any order.

    A word has one or two terminals. Spans are built from the whole down, so that nothing is left unconnected.
    """
    n_words = draw(st.integers(1, 4))
    builder, waiting, done = Builder(), [("X", 0, n_words)], set()
    while waiting:
        vertex = waiting.pop()
        if vertex in done:
            continue
        done.add(vertex)
        kind, i, k = vertex
        tails = []
        for _ in range(draw(st.integers(1, 3))):
            if kind == "X" and draw(st.booleans()):
                tails.append([("Y", i, k)])  # unary
            elif k - i == 1:
                tails.append([(f"word{draw(st.integers(0, 1))}", i, k)])
            else:
                cuts = sorted(draw(st.sets(st.integers(i + 1, k - 1), min_size=1, max_size=2)))
                spans = list(zip([i, *cuts], [*cuts, k], strict=True))
                words = ["word0", "word1"]
                tail = [(draw(st.sampled_from(["X", "Y"] + (words if k - i == 1 else []))), i, k) for i, k in spans]
                tails.append(draw(st.permutations(tail)))
        for tail in tails:
            builder.edge(vertex, tail, score=draw(small))
            waiting += [v for v in tail if v[0] in "XY"]
    graph, scores = builder.build(("X", 0, n_words))
    if draw(st.integers(0, 3)) == 0:
        scores[draw(st.integers(0, graph.n_edges - 1))] = -np.inf
    labels = draw(st.lists(st.integers(SILENT, 1), min_size=graph.n_vertices, max_size=graph.n_vertices))
    return graph, scores, labels


def derivations(graph: Hypergraph, v: int):
    """All hyperpaths below v, as tuples of (hyperedge, (paths of its tail)); terminals derive themselves, as None."""
    if graph.is_terminal[v]:
        return [None]
    found = []
    for e in range(graph.edge_start[v], graph.edge_start[v + 1]):
        found += [(e, inner) for inner in sequences(*(derivations(graph, int(u)) for u in graph.tail(e)))]
    return found


def edges_of(path) -> list[int]:
    return [] if path is None else [path[0], *(e for inner in path[1] for e in edges_of(inner))]


def run(graph, labels, machine, v, path, q, visited):
    """Reads the fringe of a path from state q: (state after, weight), or None. `visited` collects (v, q, q')."""
    if path is None:
        after, weight = (q, 0.0) if labels[v] == SILENT else (int(machine.following[q, labels[v]]), machine.weights[q, labels[v]])
        if after == DEAD:
            return None
    else:
        after, weight = q, 0.0
        for u, inner in zip(graph.tail(path[0]), path[1], strict=True):
            read = run(graph, labels, machine, int(u), inner, after, visited)
            if read is None:
                return None
            after, weight = read[0], weight + read[1]
    visited.add((v, q, after))
    return after, weight


def accepted_paths(graph, scores, labels, machine, vertex_scores):
    """{hyperedges: score} of the accepted hyperpaths, and the triples that they visit."""
    paths, triples = {}, set()
    for path in derivations(graph, graph.root):
        visited = set()
        read = run(graph, labels, machine, graph.root, path, machine.start, visited)
        if read is None:
            continue
        total = sum(scores[e] for e in edges_of(path)) + sum(vertex_scores[v] for v, _, _ in visited) + read[1] + machine.final[read[0]]
        if total > -np.inf:
            paths[tuple(sorted(edges_of(path)))] = total
            triples |= visited
    return paths, triples


@given(hypergraphs(), automata(), st.data())
def test_the_hyperpaths_of_the_product_are_the_accepted_ones(instance, machine, data):
    graph, scores, labels = instance
    vertex_scores = [data.draw(small) for _ in range(graph.n_vertices)]
    if data.draw(st.integers(0, 3)) == 0:
        vertex_scores[data.draw(st.integers(0, graph.n_vertices - 1))] = -np.inf
    expected, triples = accepted_paths(graph, scores, labels, machine, vertex_scores)
    if not expected:
        with pytest.raises(Infeasible, match="fringe of no hyperpath"):
            intersect(graph, scores, labels, machine, vertex_scores=vertex_scores)
        return
    made = intersect(graph, scores, labels, machine, vertex_scores=vertex_scores)
    new = made.hypergraph
    check_connected(new)
    check_disjoint(new)
    assert (np.repeat(new.heads, np.diff(new.tail_start)) > new.tails).all()
    found = [edges_of(path) for path in derivations(new, new.root)]
    assert len(found) == len(expected)
    given_edges = [tuple(sorted(e for e in made.edge_origin[path].tolist() if e >= 0)) for path in found]
    assert dict(zip(given_edges, (made.scores[path].sum() for path in found), strict=True)) == expected
    # Never lazy: every vertex is on an accepted hyperpath, and they are in order, the root last.
    assert made.vertex_origin.tolist() == [*map(list, sorted(triples)), [-1, -1, -1]]
    for e in range(new.n_edges):
        origin, head = made.edge_origin[e], made.vertex_origin[new.heads[e]]
        tail = made.vertex_origin[new.tail(e)]
        if origin < 0:
            assert new.heads[e] == new.root
            assert tail[0, :2].tolist() == [graph.root, machine.start]
        else:
            assert graph.heads[origin] == head[0]
            assert graph.tail(origin).tolist() == tail[:, 0].tolist()
            assert [head[1], *tail[:, 2]] == [*tail[:, 1], head[2]]


@given(hypergraphs(), automata())
def test_a_vertex_is_explored_only_at_states_that_can_stand_before_it(instance, machine):
    graph, scores, labels = instance
    met, known = set(), {}

    def exits(v: int, q: int) -> set[int]:
        met.add((v, q))
        if (v, q) not in known:
            if graph.is_terminal[v]:
                after = q if labels[v] == SILENT else int(machine.following[q, labels[v]])
                known[v, q] = {after} - {DEAD}
            else:
                known[v, q] = set()
                for e in range(graph.edge_start[v], graph.edge_start[v + 1]):
                    states = {q} if scores[e] > -np.inf else set()
                    for u in graph.tail(e):
                        states = {after for before in states for after in exits(int(u), before)}
                    known[v, q] |= states
        return known[v, q]

    exits(graph.root, machine.start)
    keys, begin, end, found = explore(
        graph.edge_start, graph.tail_start, graph.tails, scores, np.array(labels), machine.following, graph.root, machine.start
    )
    explored = {divmod(int(key), machine.n_states): found[b:e].tolist() for key, b, e in zip(keys, begin, end, strict=True)}
    assert explored == {pair: sorted(known[pair]) for pair in met}


def binary_trees(n_words: int, tags: int) -> tuple[Hypergraph, np.ndarray, list[int]]:
    """All binary bracketings of n words, each word with any of the tags."""
    builder = Builder()
    for i in range(n_words):
        for tag in range(tags):
            builder.edge((i, i + 1), [("tag", i, tag)], score=float((3 * i + 5 * tag) % 4))
    for width in range(2, n_words + 1):
        for i in range(n_words - width + 1):
            for j in range(i + 1, i + width):
                builder.edge((i, i + width), [(i, j), (j, i + width)], score=float((i * j) % 3))
    graph, scores = builder.build((0, n_words))
    return graph, scores, [name[2] if name[0] == "tag" else 0 for name in graph.vertex_names or ()]


def n_paths(graph: Hypergraph) -> int:
    counts = [1 if terminal else 0 for terminal in graph.is_terminal]
    for v in range(graph.n_vertices):
        for e in range(graph.edge_start[v], graph.edge_start[v + 1]):
            inside = 1
            for u in graph.tail(e):
                inside *= counts[u]
            counts[v] += inside
    return counts[graph.root]


def best(graph: Hypergraph, scores: np.ndarray) -> float:
    values = [0.0 if terminal else -np.inf for terminal in graph.is_terminal]
    for v in range(graph.n_vertices):
        for e in range(graph.edge_start[v], graph.edge_start[v + 1]):
            values[v] = max(values[v], scores[e] + sum(values[u] for u in graph.tail(e)))
    return values[graph.root]


def test_example_2_2_5_parsing_and_trigram_tagging():
    """Every tagging is accepted, so every tree is kept once; 43 states and more pairs than the pools begin with."""
    tags = range(6)
    states = [(None, None), *((None, b) for b in tags), *sequences(tags, repeat=2)]
    number = {state: q for q, state in enumerate(states)}
    weights = [[float((7 * number[a, b] + 3 * c) % 5) for c in tags] for a, b in states]
    trigrams = automaton(tags, [[number[b, c] for c in tags] for _, b in states], weights=weights, final=[a is not None for a, _ in states])
    graph, scores, labels = binary_trees(5, 6)
    made = intersect(graph, scores, labels, trigrams)
    assert n_paths(made.hypergraph) == n_paths(graph) == 14 * 6**5
    # The score of a tree is that of its brackets and that of its tags, which are free of each other.
    reads_word = np.array([graph.is_terminal[graph.tail(e)[0]] for e in range(graph.n_edges)])
    brackets = best(graph, np.where(reads_word, 0.0, scores))
    word_score = {tuple(graph.vertex_names[graph.tail(e)[0]][1:]): scores[e] for e in np.flatnonzero(reads_word)}
    tagged = max(trigrams.score(t) + sum(word_score[i, tag] for i, tag in enumerate(t)) for t in sequences(tags, repeat=5))
    assert best(made.hypergraph, made.scores) == brackets + tagged


def test_a_constraint_counts_trees():
    """At most one b among four words, each a or b: 5 of 16 taggings, times 5 bracketings."""
    graph, scores, labels = binary_trees(4, 2)
    made = intersect(graph, scores, labels, compile_regex("~(.* b .* b .*)", SYMBOLS))
    assert n_paths(made.hypergraph) == 5 * 5
    assert repr(made.hypergraph).startswith("Hypergraph(")


def test_silent_terminals_pass_the_state_through():
    builder = Builder()
    builder.edge("S", ["a", "gap", "b"], score=1.0)
    graph, scores = builder.build("S")
    labels = [{"a": 0, "b": 1}.get(name, SILENT) for name in graph.vertex_names or ()]
    made = intersect(graph, scores, labels, compile_regex("a b", SYMBOLS))
    assert made.vertex_origin.tolist() == [[0, 0, 1], [1, 1, 1], [2, 1, 2], [3, 0, 2], [-1, -1, -1]]
    assert made.scores.tolist() == [1.0, 0.0]


def test_the_left_context_is_all_that_is_explored():
    """Of 500 states, a chain of ten words meets eleven."""
    graph, scores, _ = binary_trees(10, 1)
    counter = automaton("a", [[min(q + 1, 499)] for q in range(500)], final=[True] * 500)
    made = intersect(graph, scores, np.zeros(graph.n_vertices, dtype=np.int64), counter)
    assert made.hypergraph.n_vertices == graph.n_vertices + 1
    assert made.hypergraph.n_edges == graph.n_edges + 1


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"labels": [0]}, ScoreShapeError, r"labels has shape \(1,\)"),
        ({"labels": [0.0, 0.0]}, ScoreShapeError, "float64"),
        ({"labels": [2, 0]}, AlphabetMismatch, r"labels\[0\] is 2: expected 0 to 1, or -1"),
        ({"scores": [1.0, 2.0]}, ScoreShapeError, "scores has shape"),
        ({"scores": [np.nan]}, ScoreError, "scores"),
        ({"vertex_scores": [1.0]}, ScoreShapeError, "vertex_scores has shape"),
    ],
)
def test_what_is_refused(changes, error, message):
    builder = Builder()
    builder.edge("S", ["a"])
    graph, scores = builder.build("S")
    arguments = {"scores": scores, "labels": [0, 0], "vertex_scores": None} | changes
    with pytest.raises(error, match=message):
        intersect(graph, arguments["scores"], arguments["labels"], compile_regex("a", SYMBOLS), vertex_scores=arguments["vertex_scores"])


def test_a_root_without_hyperedges_is_refused():
    lonely = Hypergraph(np.array([0, 0]), np.array([0], dtype=np.int32), np.array([], dtype=np.int32), root=0)
    with pytest.raises(HypergraphError, match="no hyperedge enters the root"):
        intersect(lonely, [], [0], compile_regex("a", SYMBOLS))
