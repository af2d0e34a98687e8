"""Kernels for n-gram language models."""
