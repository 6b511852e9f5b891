"""Repairs of headers that are not valid YAML."""
