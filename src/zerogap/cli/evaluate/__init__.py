"""`zerogap evaluate`: one module a task."""
