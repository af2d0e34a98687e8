"""Problems and proofs as JSON."""
