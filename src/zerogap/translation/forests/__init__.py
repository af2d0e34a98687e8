"""Translation by rules: forests, their relaxations and decoders."""
