"""Label sequences: scores of a chain, and constraints as automata."""
