"""Checkers of parses."""
