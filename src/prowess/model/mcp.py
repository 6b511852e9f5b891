"""MCP servers as they are configured, before anything is started or connected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from prowess.model.origin import Origin

Transport = Literal["stdio", "http", "sse"]
"""How a server is reached: a program with pipes, streamable HTTP, or the older HTTP with SSE."""

# The same as in `model.settings`, which imports this module.
_MASK = "[secret]"


class McpServer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A server as a settings file has it. The `repr` shows no value that may be a secret.

    `${VAR}` is still in the texts: it is expanded when the server is started, so that messages
    about the server show the name of a variable and not its value.

    - `name`: the name that the file has for it, which its tools and skills are named after.
    - `transport`: `stdio` needs a `command`, the others a `url`.
    - `command`: the program.
    - `args`: its arguments.
    - `env`: variables that the program gets besides the usual harmless ones.
    - `cwd`: the folder that the program runs in; None is the working folder.
    - `url`: the address.
    - `headers`: HTTP headers, such as `Authorization`.
    - `seconds`: how long to wait for an answer; None is the usual time.
    - `skills`: addresses of skills that the server has but does not list.
    - `enabled`: a server that is off is listed and never started.
    - `is_trusted`: whether the user trusts the place that the server comes from. One that is not
      trusted is never started or connected.
    - `origin`: the file that has it.
    - `plugin`: the plugin that brings it; empty for one of a settings file.
    """

    name: str
    transport: Transport = "stdio"
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    cwd: str | None = None
    url: str = ""
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    seconds: float | None = None
    skills: tuple[str, ...] = ()
    enabled: bool = True
    is_trusted: bool = True
    origin: Origin = Origin()
    plugin: str = ""

    @property
    def target(self) -> str:
        """What is started or connected, for a person; without secrets that a URL may have."""
        if self.transport == "stdio":
            return " ".join((self.command, *self.args))
        return hide_url_secrets(self.url)

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        shown = [(field, getattr(self, field)) for field in self.__struct_fields__]
        return [(name, _hide(name, value)) for name, value in shown]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"McpServer({fields})"


class McpProblem(msgspec.Struct, frozen=True):
    """Why a server of a file cannot be used: its name, the field, and what is wrong with it."""

    server: str
    field: str
    problem: str

    def __str__(self) -> str:
        subject = f"`{self.server}.{self.field}`" if self.field else f"`{self.server}`"
        return f"The MCP server {subject} {self.problem}."


def hide_url_secrets(url: str) -> str:
    """A URL without user, password, query and fragment."""
    # Imported late: every scan imports this module, and few have an address to show.
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
    except ValueError:
        # What cannot be taken apart, such as `http://[`, may have a password anywhere.
        return _MASK
    if not parts.scheme:
        # A variable such as `${SERVER}`, of which only the name is known.
        return url
    # What is before the last `@` is a user, perhaps with a password.
    host = parts.netloc.rpartition("@")[2]
    query = f"?{_MASK}" if parts.query else ""
    return f"{parts.scheme}://{host}{parts.path}{query}"


def _hide(name: str, value: Any) -> Any:
    if name in ("env", "headers"):
        return dict.fromkeys(value, _MASK)
    if name == "url":
        return hide_url_secrets(value)
    return value
