"""Translation by phrases: lattices, multipliers and decoders."""
