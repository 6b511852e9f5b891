"""The shape of a profile: a module per table."""
