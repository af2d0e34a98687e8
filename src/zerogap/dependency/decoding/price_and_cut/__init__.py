"""A linear program with few columns and rows (Riedel, Smith & McCallum 2012)."""
