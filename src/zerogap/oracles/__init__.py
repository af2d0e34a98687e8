"""Exact polynomial algorithms on arrays. They know nothing of tasks, proofs or files."""
