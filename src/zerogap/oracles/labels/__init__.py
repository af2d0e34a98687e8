"""Kernels for label sequences."""
