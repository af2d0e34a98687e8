"""Dependency trees: arcs, larger parts, factors, head automata."""
