"""Kernels for phrase-based translation."""
