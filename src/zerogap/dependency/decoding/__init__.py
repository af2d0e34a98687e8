"""Decoders of dependency trees: one table of methods, and a room for each family."""
