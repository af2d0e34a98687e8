"""Treebank trees: reading, cleaning, binarising, head rules."""
