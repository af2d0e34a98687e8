"""A* and tightening by words for phrase-based translation (chapter 7)."""
