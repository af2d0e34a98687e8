"""`zerogap parse`."""
