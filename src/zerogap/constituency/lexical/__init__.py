"""Lexicalised grammars, alone and with other models."""
