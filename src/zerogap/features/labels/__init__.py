"""Features of label sequences: templates, attributes, weights."""
