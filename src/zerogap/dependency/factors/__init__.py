"""Parsers whose models score factors: families, patterns, matching."""
