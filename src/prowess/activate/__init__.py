"""The sixth stage: from a name to instructions, commands, tools and files."""
