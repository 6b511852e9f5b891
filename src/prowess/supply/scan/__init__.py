"""Judges skills before they are used: rules over instructions and scripts, and their findings."""
