"""Coarse-to-fine parsing: pruning passes, and exact search around a core of likely arcs."""
