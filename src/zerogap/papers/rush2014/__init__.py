"""Rush 2014, Lagrangian relaxation for natural language decoding."""
