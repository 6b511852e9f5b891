"""What can go wrong with an MCP server; `prowess.errors` has the tree."""

from __future__ import annotations

from prowess.errors import ProwessError


class McpServerError(ProwessError):
    """An MCP server that cannot be used; `problem` says why, without secrets."""

    def __init__(self, server: str, problem: str) -> None:
        self.server = server
        self.problem = problem
        super().__init__(server, problem)

    def __str__(self) -> str:
        return f"The MCP server “{self.server}” {self.problem}."
