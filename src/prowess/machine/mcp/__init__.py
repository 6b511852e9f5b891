"""MCP servers at work: programs with pipes and HTTP, each bounded in time and size."""
