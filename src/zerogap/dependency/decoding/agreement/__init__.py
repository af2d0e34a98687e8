"""Dual decomposition: a tree and the automata of all heads agree by prices on arcs."""
