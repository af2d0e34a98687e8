"""Kernels for translation forests."""
