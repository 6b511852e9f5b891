"""TOML, JSON5 and YAML: their values, and where each key stands."""
