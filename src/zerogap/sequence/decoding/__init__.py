"""Decoders of label sequences: one table of methods."""
