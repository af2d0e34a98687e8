"""Scores of parts from feature weights."""
