"""Slow and obviously right, or what people use instead. The fast paths never use these."""
