"""Kernels for head automata and their agreement with a tree."""
