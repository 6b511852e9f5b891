"""What an author should know of a skill."""
