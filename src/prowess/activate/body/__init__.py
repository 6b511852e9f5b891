"""The body of a skill: its arguments and placeholders."""
