"""Translations: phrases or forests of rules, scored with a language model."""
