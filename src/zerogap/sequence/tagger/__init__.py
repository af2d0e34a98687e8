"""A trainable part-of-speech tagger."""
