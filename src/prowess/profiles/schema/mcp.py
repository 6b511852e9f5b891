"""`[mcp]`: what a host makes of the skills and prompts of MCP servers."""

# Annotations are real types, for the reason given in this folder's `__init__.py`.

from prowess.profiles.schema import Table


class McpRules(Table, frozen=True):
    """How what MCP servers offer is named. Without a name the host does not use it.

    - `skills`: the name of a skill; `{server}` and `{name}` are replaced.
    - `prompts`: the name of the command for a prompt of a server, in the same way.
    """

    skills: str = ""
    prompts: str = ""
