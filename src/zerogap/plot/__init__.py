"""Pictures, as SVG without dependencies: how a gap closed, dependency arcs, lattices, search trees, hypergraphs."""

from typing import TYPE_CHECKING

from zerogap._lazy import lazy

if TYPE_CHECKING:
    from zerogap.plot.arcs import plot_arcs
    from zerogap.plot.constituents import draw_constituents, plot_constituents
    from zerogap.plot.gap import plot_gap
    from zerogap.plot.hypergraph import plot_hypergraph
    from zerogap.plot.lattice import plot_lattice
    from zerogap.plot.search_tree import arc_name, plot_search
    from zerogap.plot.svg import Picture

__all__ = [
    "Picture",
    "arc_name",
    "draw_constituents",
    "plot_arcs",
    "plot_constituents",
    "plot_gap",
    "plot_hypergraph",
    "plot_lattice",
    "plot_search",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Picture": ".svg",
        "arc_name": ".search_tree",
        "draw_constituents": ".constituents",
        "plot_arcs": ".arcs",
        "plot_constituents": ".constituents",
        "plot_gap": ".gap",
        "plot_hypergraph": ".hypergraph",
        "plot_lattice": ".lattice",
        "plot_search": ".search_tree",
    },
)
