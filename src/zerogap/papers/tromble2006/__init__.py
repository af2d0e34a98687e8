"""Tromble & Eisner 2006, A fast finite-state relaxation method for enforcing global constraints."""
