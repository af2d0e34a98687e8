"""The definitions that a verdict depends on: what a structure is, what it scores, and whether it is allowed.

Every problem is a frozen record of arrays on one grid of exact numbers, with `score` and `check`. This package imports
NumPy, `structures`, `grid` and `errors` only, so that a certificate can be checked without any solver.
"""
