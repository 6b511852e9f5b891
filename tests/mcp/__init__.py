"""MCP servers in processes of their own, honest and lying ones."""
