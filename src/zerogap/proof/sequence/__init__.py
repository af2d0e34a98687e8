"""Checkers of label sequences."""
