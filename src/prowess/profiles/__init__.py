"""Profiles: the rules of hosts as data, and how they are loaded, extended and validated."""
