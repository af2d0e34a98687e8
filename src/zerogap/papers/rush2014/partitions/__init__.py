"""Translation forests relaxed over bigrams and trigrams, with partitions of the words (chapter 5)."""
