"""Trained dependency parsers and their files."""
