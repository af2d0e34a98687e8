"""`zerogap label`."""
