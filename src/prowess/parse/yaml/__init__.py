"""YAML, read behind guards."""
