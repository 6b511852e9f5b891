"""Skills and prompts of MCP servers, as the extension `io.modelcontextprotocol/skills` has them.

`source` asks the servers that settings name, when a scan begins. What they list is checked
(`entries`) and becomes skills and commands (`served_skills`, `served_prompts`); their files are
read when somebody asks for them, and must be what was listed.
"""
