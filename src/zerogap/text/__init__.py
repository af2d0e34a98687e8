"""Plain text into sentences and tokens."""
