"""Riedel, Smith & McCallum 2012, Parse, Price and Cut."""
