"""Dynamic programs over hypergraphs."""
