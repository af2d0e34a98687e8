"""The transition-based parser of table 8.3."""
