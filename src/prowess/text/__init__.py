"""Engines over text that several stages use: patterns, globs, markup, masking, display."""
