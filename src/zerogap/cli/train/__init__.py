"""`zerogap train`: one module a task."""
