"""Random problems for property tests. Needs hypothesis (the `test` extra)."""
