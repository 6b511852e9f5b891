"""Hosts as data: the schema of a profile, how one is read, and how it extends another."""
