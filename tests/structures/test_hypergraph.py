import numpy as np
import pytest
from hypothesis import given

from zerogap.errors import CyclicHypergraph, DisconnectedHypergraph, HypergraphError, InvalidStructure, OverlappingTails
from zerogap.oracles.hypergraphs.semiring import enumerate_paths
from zerogap.structures.hypergraph import Builder, Hypergraph, check_disjoint, from_edges
from zerogap.testing.strategies import hypergraphs


def test_shared_descendant_of_section_2_2_2():
    """The thesis's example: <<2,3>,1>, <<4,5,6>,2>, <<6,7>,3> is acyclic and connected, but 6 could be used twice."""
    builder = Builder()
    builder.edge(1, [2, 3])
    builder.edge(2, [4, 5, 6])
    builder.edge(3, [6, 7])
    with pytest.raises(OverlappingTails, match="below both"):
        builder.build(1)
    graph, _ = builder.build(1, validate=False)
    assert graph.n_edges == 3


def test_same_vertex_twice_in_a_tail():
    builder = Builder()
    builder.edge("a", ["b", "b"])
    with pytest.raises(OverlappingTails):
        builder.build("a")


def test_cycle_is_named():
    builder = Builder()
    builder.edge("S", ["A"])
    builder.edge("A", ["B"])
    builder.edge("B", ["A"])
    with pytest.raises(CyclicHypergraph, match="A <- B <- A|B <- A <- B"):
        builder.build("S")
    with pytest.raises(CyclicHypergraph, match="0 <- 0"):
        from_edges([0], [[0]], n_vertices=1, root=0)


def test_disconnected_is_named():
    builder = Builder()
    builder.edge("S", ["a"])
    builder.edge("lonely", ["a"])
    with pytest.raises(DisconnectedHypergraph, match="lonely"):
        builder.build("S")
    builder = Builder()
    builder.edge("S", ["a"])
    with pytest.raises(DisconnectedHypergraph, match="root"):
        builder.build("a")


@pytest.mark.parametrize(
    ("heads", "tails", "n_vertices", "root", "message"),
    [
        ([1], [[]], 2, 1, r"tails\[0\] is empty"),
        ([1], [[0], [0]], 2, 1, "heads has 1"),
        ([5], [[0]], 2, 1, r"heads\[0\] names vertex 5"),
        ([1, 1], [[0], [0, 7]], 2, 1, r"tails\[1\] names vertex 7"),
        ([1], [[-1]], 2, 1, r"tails\[0\] names vertex -1"),
        ([1], [[0]], 2, 9, "root is 9"),
    ],
)
def test_bad_edges(heads, tails, n_vertices, root, message):
    with pytest.raises(HypergraphError, match=message):
        from_edges(heads, tails, n_vertices=n_vertices, root=root)


def test_builder_rejects_empty_tails_and_unknown_roots():
    builder = Builder()
    with pytest.raises(HypergraphError, match="empty tail"):
        builder.edge("S", [])
    with pytest.raises(HypergraphError, match="'T'"):
        builder.build("T")


def test_order_given_is_kept_when_it_is_bottom_up():
    graph, number, order = from_edges([2, 2, 3], np.array([[0, 1], [1, 0], [2, 0]]), n_vertices=4, root=3, validate=False)
    assert number.tolist() == [0, 1, 2, 3]
    assert order.tolist() == [0, 1, 2]
    assert graph.tails.tolist() == [0, 1, 1, 0, 2, 0]


def test_names_follow_the_new_order():
    builder = Builder()
    builder.edge("S", ["NP", "VP"], score=1.0, name="top")
    builder.edge("NP", ["a"], score=2.0, name="low")
    graph, scores = builder.build("S")
    assert graph.edge_names == ("low", "top")
    assert scores.tolist() == [2.0, 1.0]
    assert graph.vertex_names[graph.root] == "S"


@given(hypergraphs())
def test_random_hypergraphs_are_valid_and_their_paths_pass(graph):
    check_disjoint(graph)
    assert all((graph.tail(e) < graph.heads[e]).all() for e in range(graph.n_edges))
    paths = enumerate_paths(graph)
    for path in paths[:20]:
        graph.check_path(path)
        if len(path) > 1:
            with pytest.raises(InvalidStructure):
                graph.check_path(path[1:])
        with pytest.raises(InvalidStructure):
            graph.check_path([*path, path[0]])


def test_a_path_is_made_of_hyperedges():
    graph, *_ = from_edges([1], [[0]], n_vertices=2, root=1)
    for bad in (["0"], [1], [-1], [True], [0.0]):
        with pytest.raises(InvalidStructure, match=r"structure\[0\]"):
            graph.check_path(bad)
    with pytest.raises(InvalidStructure):
        graph.check_path([])


@pytest.mark.parametrize(
    ("edge_start", "tail_start", "tails", "root", "message"),
    [
        (np.array([0, 0, 1]), np.array([0, 1], np.int32), np.array([5], np.int32), 1, "come before its head"),
        (np.array([0, 0, 1]), np.array([0, 1], np.int32), np.array([1], np.int32), 1, "come before its head"),
        (np.array([0, 0, 1]), np.array([0, 1], np.int32), np.array([-1], np.int32), 1, "names vertex -1"),
        (np.array([0, 0, 9]), np.array([0, 1], np.int32), np.array([0], np.int32), 1, "edge_start does not rise"),
        (np.array([0, 2, 1]), np.array([0, 1], np.int32), np.array([0], np.int32), 1, "edge_start does not rise"),
        (np.array([0, 0, 1]), np.array([0, 0], np.int32), np.array([], np.int32), 1, "tail_start does not rise"),
        (np.array([0, 0, 1]), np.array([0, 1], np.int32), np.array([0], np.int32), 2, "root is 2"),
        (np.array([0, 0, 1], np.int32), np.array([0, 1], np.int32), np.array([0], np.int32), 1, "edge_start is not"),
        (np.array([0, 0, 1]), np.array([0, 1], np.int32), [0], 1, "tails is not"),
    ],
)
def test_arrays_that_would_crash_a_kernel_are_refused(edge_start, tail_start, tails, root, message):
    with pytest.raises(HypergraphError, match=message):
        Hypergraph(edge_start, tail_start, tails, root)
