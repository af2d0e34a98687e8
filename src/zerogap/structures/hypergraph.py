"""A directed acyclic hypergraph as four arrays (Rush 2014, section 2.2.2).

Vertices are numbered bottom-up, every tail before its head, and hyperedges are grouped by head:

    hyperedges entering v:  edge_start[v] .. edge_start[v + 1]
    tail of hyperedge e:    tails[tail_start[e] : tail_start[e + 1]]

A vertex that no hyperedge enters is a terminal. A lattice is the special case with one vertex in every tail. A binary
hyperedge takes 12 bytes here and 8 for its score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zerogap.errors import CyclicHypergraph, DisconnectedHypergraph, HypergraphError, InvalidStructure, OverlappingTails
from zerogap.grid import held, restored


@dataclass(frozen=True, slots=True, eq=False)
class Hypergraph:
    """Vertices, hyperedges and a root. Build one with `Builder`, `from_edges` or an oracle such as `cky_hypergraph`."""

    edge_start: NDArray[np.int64]  # (V + 1,)
    tail_start: NDArray[np.int32]  # (E + 1,)
    tails: NDArray[np.int32]
    root: int
    vertex_names: tuple[Hashable, ...] | None = None
    edge_names: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        check_arrays(self)
        for name in ("edge_start", "tail_start", "tails"):
            object.__setattr__(self, name, held(getattr(self, name)))

    __setstate__ = restored

    @property
    def n_vertices(self) -> int:
        return len(self.edge_start) - 1

    @property
    def n_edges(self) -> int:
        return len(self.tail_start) - 1

    @property
    def heads(self) -> NDArray[np.int32]:
        """The head of every hyperedge."""
        return np.repeat(np.arange(self.n_vertices, dtype=np.int32), np.diff(self.edge_start))

    @property
    def is_terminal(self) -> NDArray[np.bool_]:
        return np.diff(self.edge_start) == 0

    @property
    def is_lattice(self) -> bool:
        return bool((np.diff(self.tail_start) == 1).all())

    @property
    def nbytes(self) -> int:
        return self.edge_start.nbytes + self.tail_start.nbytes + self.tails.nbytes

    def tail(self, edge: int) -> NDArray[np.int32]:
        return self.tails[self.tail_start[edge] : self.tail_start[edge + 1]]

    def __repr__(self) -> str:
        return f"Hypergraph({self.n_vertices:,} vertices, {self.n_edges:,} hyperedges, root {self.root})"

    def check_path(self, edges: Sequence[int]) -> None:
        """Raises InvalidStructure unless `edges` are the hyperedges of one hyperpath, in any order."""
        if not isinstance(edges, tuple | list | np.ndarray):
            raise InvalidStructure(f"structure is {edges!r}: expected a sequence of hyperedges.")
        heads = self.heads
        chosen: dict[int, int] = {}
        for position, e in enumerate(edges):
            if isinstance(e, bool) or not isinstance(e, int | np.integer) or not 0 <= e < self.n_edges:
                raise InvalidStructure(f"structure[{position}] is {e!r}: expected a hyperedge from 0 to {self.n_edges - 1}.")
            if int(heads[e]) in chosen:
                raise InvalidStructure(f"hyperedges {chosen[int(heads[e])]} and {e} both enter vertex {heads[e]}.")
            chosen[int(heads[e])] = int(e)
        used = Counter({self.root: 1})
        for e in chosen.values():
            used.update(int(v) for v in self.tail(e))
        for v, times in used.items():
            if times > 1:
                raise InvalidStructure(f"vertex {v} is used {times} times: a hyperpath is a tree.")
            if v not in chosen and self.edge_start[v] < self.edge_start[v + 1]:
                raise InvalidStructure(f"vertex {v} is used but no hyperedge enters it.")
        for v, e in chosen.items():
            if v not in used:
                raise InvalidStructure(f"hyperedge {e} enters vertex {v}, which nothing uses.")


def check_arrays(graph: Hypergraph) -> None:
    """Kernels index with these arrays and check nothing, so nothing may point outside or upwards."""
    for name, dtype in (("edge_start", np.int64), ("tail_start", np.int32), ("tails", np.int32)):
        array = getattr(graph, name)
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1 or not array.flags.c_contiguous:
            raise HypergraphError(f"{name} is not a contiguous array of {np.dtype(dtype).name} with one axis.")
    if graph.n_vertices < 1 or not 0 <= graph.root < graph.n_vertices:
        raise HypergraphError(f"root is {graph.root}: expected a vertex from 0 to {graph.n_vertices - 1}.")
    for name, end in (("edge_start", graph.n_edges), ("tail_start", len(graph.tails))):
        starts = getattr(graph, name)
        least = 0 if name == "edge_start" else 1  # a vertex may have no hyperedge, a hyperedge must have a tail
        if len(starts) == 0 or starts[0] != 0 or starts[-1] != end or (np.diff(starts) < least).any():
            raise HypergraphError(f"{name} does not rise from 0 to {end} in steps of at least {least}.")
    if len(graph.tails) and graph.tails.min() < 0:
        raise HypergraphError(f"tails names vertex {graph.tails.min()}: expected 0 to {graph.n_vertices - 1}.")
    if (graph.tails >= np.repeat(graph.heads, np.diff(graph.tail_start))).any():
        raise HypergraphError("some tail does not come before its head: number vertices bottom-up, or use from_edges.")


def from_edges(
    heads: ArrayLike,
    tails: Sequence[Sequence[int]] | NDArray[np.integer[Any]],
    *,
    n_vertices: int,
    root: int,
    vertex_names: Sequence[Hashable] | None = None,
    edge_names: Sequence[Any] | None = None,
    validate: bool = True,
) -> tuple[Hypergraph, NDArray[np.int64], NDArray[np.int64]]:
    """A hypergraph from hyperedges in any order.

    Returns it with the new number of every given vertex and the given number of every new hyperedge: scores[edge_order]
    follow the hypergraph. Both orders stay as given where they already are bottom-up. `validate=False` leaves out the
    check of disjointness, which costs about a microsecond a hyperedge.
    """
    heads = vertex_numbers("heads", heads)
    if isinstance(tails, np.ndarray) and tails.ndim == 2:
        sizes = np.full(len(tails), tails.shape[1], dtype=np.int64)
        flat = vertex_numbers("tails", tails)
    else:
        try:
            sizes = np.array([len(tail) for tail in tails], dtype=np.int64)
        except TypeError:
            raise HypergraphError("tails is not a list of lists of vertices.") from None
        flat = vertex_numbers("tails", [v for tail in tails for v in tail])
    for name, number in (("n_vertices", n_vertices), ("root", root)):
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise HypergraphError(f"{name} is {number!r}: expected an integer.")
    for name, names, size in (("vertex_names", vertex_names, n_vertices), ("edge_names", edge_names, len(heads))):
        if names is not None and len(names) != size:
            raise HypergraphError(f"{name} has {len(names)} entries: expected {size}.")
    if len(heads) != len(sizes):
        raise HypergraphError(f"heads has {len(heads)} hyperedges, tails has {len(sizes)}: expected as many.")
    if (sizes == 0).any():
        raise HypergraphError(f"tails[{int(np.flatnonzero(sizes == 0)[0])}] is empty: expected at least one vertex.")
    if len(flat) >= 2**31 or n_vertices >= 2**31:
        raise HypergraphError(f"{len(flat):,} tail entries and {n_vertices:,} vertices: expected fewer than 2^31 of each.")
    for what, array in (("heads", heads), ("tails", flat)):
        bad = (array < 0) | (array >= n_vertices)
        if bad.any():
            position = int(np.flatnonzero(bad)[0])
            where = position if what == "heads" else int(np.searchsorted(np.cumsum(sizes), position, side="right"))
            raise HypergraphError(f"{what}[{where}] names vertex {array[position]}: expected 0 to {n_vertices - 1}.")
    if not 0 <= root < n_vertices:
        raise HypergraphError(f"root is {root}: expected a vertex from 0 to {n_vertices - 1}.")
    given_tail_start = np.concatenate([[0], np.cumsum(sizes)])
    numbers = bottom_up_numbers(heads, flat, np.repeat(heads, sizes), n_vertices, vertex_names)
    order = np.argsort(numbers[heads], kind="stable")
    new_names: tuple[Hashable, ...] | None = None
    if vertex_names is not None:
        renamed: list[Hashable] = [None] * n_vertices
        for v, vertex_name in enumerate(vertex_names):
            renamed[numbers[v]] = vertex_name
        new_names = tuple(renamed)
    new_sizes = sizes[order]
    new_tail_start = np.concatenate([[0], np.cumsum(new_sizes)]).astype(np.int32)
    gather = np.repeat(given_tail_start[:-1][order] - new_tail_start[:-1], new_sizes) + np.arange(len(flat))
    graph = Hypergraph(
        edge_start=np.concatenate([[0], np.cumsum(np.bincount(numbers[heads], minlength=n_vertices))]).astype(np.int64),
        tail_start=new_tail_start,
        tails=numbers[flat[gather]].astype(np.int32),
        root=int(numbers[root]),
        vertex_names=new_names,
        edge_names=None if edge_names is None else tuple(edge_names[int(e)] for e in order),
    )
    check_connected(graph)
    if validate:
        check_disjoint(graph)
    return graph, numbers, order


def vertex_numbers(name: str, value: ArrayLike) -> NDArray[np.int64]:
    try:
        array = np.asarray(value).reshape(-1)
        if array.size and array.dtype.kind not in "iu":
            raise HypergraphError(f"{name} has the type {array.dtype}: expected integers.")
        return array.astype(np.int64)
    except (ValueError, OverflowError):
        raise HypergraphError(f"{name} is not a list of vertex numbers.") from None


def bottom_up_numbers(
    heads: NDArray[np.int64], flat: NDArray[np.int64], flat_heads: NDArray[np.int64], n_vertices: int, names: Sequence[Hashable] | None
) -> NDArray[np.int64]:
    """Numbers with every tail before its head (property 2.2.1), the given ones if they already are so."""
    if (flat < flat_heads).all():
        return np.arange(n_vertices, dtype=np.int64)
    waiting = np.bincount(flat_heads, minlength=n_vertices)  # tails of v that are not numbered yet
    above_order = np.argsort(flat, kind="stable")
    above = flat_heads[above_order]
    above_start = np.concatenate([[0], np.cumsum(np.bincount(flat, minlength=n_vertices))])
    ready = [int(v) for v in np.flatnonzero(waiting == 0)[::-1]]
    number = np.full(n_vertices, -1, dtype=np.int64)
    count = 0
    while ready:
        v = ready.pop()
        number[v] = count
        count += 1
        for head in above[above_start[v] : above_start[v + 1]]:
            waiting[head] -= 1
            if waiting[head] == 0:
                ready.append(int(head))
    if count < n_vertices:
        cycle = find_cycle(flat, flat_heads, number)
        shown = " <- ".join(str(names[v]) if names is not None else str(v) for v in cycle)
        raise CyclicHypergraph(f"vertices form a cycle: {shown}. A hypergraph must be acyclic.")
    return number


def find_cycle(flat: NDArray[np.int64], flat_heads: NDArray[np.int64], number: NDArray[np.int64]) -> list[int]:
    """A cycle among the vertices without a number: each has an unnumbered vertex in a tail below it."""
    below = {int(h): int(t) for h, t in zip(flat_heads, flat, strict=True) if number[h] < 0 and number[t] < 0}
    seen: dict[int, int] = {}
    walk: list[int] = []
    v = next(iter(below))
    while v not in seen:
        seen[v] = len(walk)
        walk.append(v)
        v = below[v]
    return [*walk[seen[v] :], v]


def check_connected(graph: Hypergraph) -> None:
    """Property 2.2.2: the root is a non-terminal, and every other non-terminal is in some tail."""

    def shown(v: int) -> str:
        return str(v) if graph.vertex_names is None else f"{v} ({graph.vertex_names[v]})"

    if graph.edge_start[graph.root] == graph.edge_start[graph.root + 1]:
        raise DisconnectedHypergraph(f"no hyperedge enters the root, vertex {shown(graph.root)}.")
    used = np.zeros(graph.n_vertices, dtype=np.bool_)
    used[graph.tails] = True
    used[graph.root] = True
    lonely = np.flatnonzero(~used & ~graph.is_terminal)
    if lonely.size:
        raise DisconnectedHypergraph(f"vertex {shown(int(lonely[0]))} is in no tail and is not the root ({lonely.size} such vertices).")


def check_disjoint(graph: Hypergraph) -> None:
    """Property 2.2.3: reference sets exist.

    The smallest candidate for the set of a vertex is the terminals below it; sets that satisfy completeness, consistency
    and disjointness exist if and only if those of the tail vertices of every hyperedge are disjoint.
    """
    below = [0] * graph.n_vertices
    for rank, terminal in enumerate(np.flatnonzero(graph.is_terminal).tolist()):
        below[terminal] = 1 << rank
    tails, tail_start, edge_start = graph.tails.tolist(), graph.tail_start.tolist(), graph.edge_start.tolist()
    for v in range(graph.n_vertices):
        inside = below[v]
        for e in range(edge_start[v], edge_start[v + 1]):
            covered = 0
            for position in range(tail_start[e], tail_start[e + 1]):
                part = below[tails[position]]
                if covered & part:
                    raise_overlap(graph, e, position, below)
                covered |= part
            inside |= covered
        below[v] = inside


def raise_overlap(graph: Hypergraph, edge: int, position: int, below: list[int]) -> None:
    second = int(graph.tails[position])
    for first in graph.tails[graph.tail_start[edge] : position].tolist():
        shared = below[first] & below[second]
        if shared:
            terminal = int(np.flatnonzero(graph.is_terminal)[(shared & -shared).bit_length() - 1])
            raise OverlappingTails(
                f"hyperedge {edge} has vertices {first} and {second} in its tail, and terminal {terminal} is below both:"
                " the reference sets of a tail must be disjoint."
            )


@dataclass(slots=True)
class Builder:
    """Collects vertices and hyperedges by name.

    >>> builder = Builder()
    >>> builder.edge("NP", ["D", "N"], score=2.0)
    0
    >>> builder.edge("S", ["NP", "V"], score=1.0)
    1
    >>> graph, scores = builder.build("S")
    >>> graph, scores.tolist()
    (Hypergraph(5 vertices, 2 hyperedges, root 4), [2.0, 1.0])
    """

    numbers: dict[Hashable, int] = field(default_factory=dict)
    heads: list[int] = field(default_factory=list)
    tails: list[list[int]] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    names: list[Any] = field(default_factory=list)

    def vertex(self, name: Hashable) -> int:
        """The number of the vertex called `name`, made if it is new."""
        return self.numbers.setdefault(name, len(self.numbers))

    def edge(self, head: Hashable, tail: Sequence[Hashable], *, score: float = 0.0, name: Any = None) -> int:
        """Adds a hyperedge; returns its number in order of insertion. Its vertices are made if they are new."""
        if isinstance(score, bool) or not isinstance(score, int | float | np.number):
            raise HypergraphError(f"the score of hyperedge {len(self.heads)} is {score!r}: expected a number.")
        if not isinstance(tail, Sequence) or isinstance(tail, str):
            raise HypergraphError(f"the tail of hyperedge {len(self.heads)} is {tail!r}: expected a list of vertices.")
        if len(tail) == 0:
            raise HypergraphError(f"hyperedge {len(self.heads)} into {head!r} has an empty tail: expected at least one vertex.")
        self.tails.append([self.vertex(v) for v in tail])
        self.heads.append(self.vertex(head))
        self.scores.append(score)
        self.names.append(name)
        return len(self.heads) - 1

    def build(self, root: Hashable, *, validate: bool = True) -> tuple[Hypergraph, NDArray[np.float64]]:
        """The hypergraph and the scores of its hyperedges, in its order; `edge_names` and `vertex_names` follow it."""
        if root not in self.numbers:
            raise HypergraphError(f"root is {root!r}: no hyperedge mentions it.")
        graph, _, order = from_edges(
            np.array(self.heads, dtype=np.int64),
            self.tails,
            n_vertices=len(self.numbers),
            root=self.numbers[root],
            vertex_names=list(self.numbers),
            edge_names=self.names,
            validate=validate,
        )
        return graph, np.array(self.scores, dtype=np.float64)[order]
