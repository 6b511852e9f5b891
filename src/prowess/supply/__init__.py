"""Sources of skills that talk to others: remote indexes, packages, MCP servers."""
