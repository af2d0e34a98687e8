"""Checkers of translations."""
