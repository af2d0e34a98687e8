"""Branch and bound for factors, sets of arcs of any size (Qian & Liu 2013)."""
