"""Kernels for shares of factors."""
