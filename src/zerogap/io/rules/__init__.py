"""Files of constraints in YAML and TOML."""
