"""A grammar and a tagger that must agree."""
