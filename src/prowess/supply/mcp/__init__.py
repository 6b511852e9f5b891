"""Skills and prompts of MCP servers, as the extension `io.modelcontextprotocol/skills` has them."""
