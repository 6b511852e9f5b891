"""The prompts of MCP servers as commands, which only a user can call."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from prowess.errors import UsageError
from prowess.model.mcp import McpServer
from prowess.model.outcome import Claim
from prowess.model.skill import Candidate, Document, Manifest, Root, Skill, SkillCall
from prowess.text.markup import escape_tags, escape_xml, tidy_line

if TYPE_CHECKING:
    from prowess.machine.mcp.connections import McpConnections

READ_SECONDS = 20.0
"""How long one file or prompt of a server may take."""
TAG = "skill_of_server"
"""What marks the text of a server for the model."""


class ServedPrompt:
    """A prompt of a server as a command. Its text is final, and only a user can ask for it."""

    def __init__(
        self, server: McpServer, listed: Any, template: str, connections: McpConnections
    ) -> None:
        self._server = server
        self._listed = listed
        self._connections = connections
        self._name = template.format(server=server.name, name=listed.name)

    def make_candidate(self, root: Root) -> Candidate:
        """The prompt before anything is decided."""
        location = f"mcp:{self._server.name}/prompt/{self._listed.name}"
        return Candidate(location, "", self._name, root, None)

    def make_claim(self, candidate: Candidate) -> Claim:
        """The claim of the command."""
        arguments = tuple(argument.name for argument in self._listed.arguments or ())
        hint = " ".join(f"[{name}]" for name in arguments)
        described = tidy_line(self._listed.description or self._listed.title or "")
        manifest = Manifest(
            name=self._name,
            description=described or None,
            arguments=arguments,
            argument_hint=hint or None,
            user_invocable=True,
            # MCP says that prompts are for users; a model that could call them would obey the
            # server.
            disable_model_invocation=True,
        )
        root = candidate.root
        skill = Skill(
            name=self._name,
            description=described or None,
            location=candidate.location,
            folder="",
            scope=root.scope,
            source=root.source,
            declared=manifest,
            is_computed=True,
            loader=self._load,
        )
        return Claim(candidate, self._name, skill)

    def _load(self, skill: Skill, call: SkillCall) -> Document:
        from prowess.machine.mcp import requests

        given = self._fill(call.arguments)
        prompt = self._connections.request(
            self._server,
            lambda client: requests.get_prompt(client, self._listed.name, given),
            seconds=READ_SECONDS,
        )
        contents = (message.content for message in prompt.messages)
        # Pictures and resources of a prompt have no place in the text of a command.
        texts = [content.text for content in contents if getattr(content, "type", "") == "text"]
        origin = (
            f'server="{escape_xml(self._server.name)}" prompt="{escape_xml(self._listed.name)}"'
        )
        # The server must not be able to close the tag and go on as somebody else.
        body = escape_tags("\n\n".join(texts), TAG)
        text = f"<{TAG} {origin}>\n{body}\n</{TAG}>"
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return Document(text, f"sha256:{digest}")

    def _fill(self, typed: str) -> dict[str, str]:
        """The arguments in their order, split at spaces; the last one takes the rest."""
        declared = list(self._listed.arguments or ())
        if not declared:
            return {}
        words = typed.split(None, len(declared) - 1)
        names = [argument.name for argument in declared]
        given = dict(zip(names, words, strict=False))
        required = [argument.name for argument in declared if argument.required]
        missing = [f"“{name}”" for name in required if name not in given]
        if missing:
            raise UsageError(f"/{self._name} needs {', '.join(missing)}.")
        return given
