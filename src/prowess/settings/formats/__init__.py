"""TOML, JSON5 and YAML: parsing settings, and finding where each key is in the text."""
