"""`zerogap translate`."""
