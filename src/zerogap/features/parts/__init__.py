"""Features of parts of trees: templates, keys, weights."""
