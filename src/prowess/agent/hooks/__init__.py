"""Hooks of a session: commands that run at events, and may block, add context or change input."""
