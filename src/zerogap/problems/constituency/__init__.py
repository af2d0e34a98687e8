"""Parse trees: a grammar with a tagger, a lexicalised grammar, and a lexicalised grammar with other models."""
