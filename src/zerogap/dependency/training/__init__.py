"""Training of dependency parsers: `train(sentences, options)`."""
