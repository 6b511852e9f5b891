"""Commands that a user types: their names, what was typed, what becomes of it."""
