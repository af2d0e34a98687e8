"""Checkers of dependency problems."""
