"""From tokens to numbers: template keys of named columns, and sparse weights that score them."""
