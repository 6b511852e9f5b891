"""Which MCP servers may be started: the user's own, and those of projects that the user trusts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

import msgspec

from prowess.model.mcp import McpServer
from prowess.model.settings import Settings

_OWN_FILE = "prowess.toml"


def list_configured(settings: Settings, own: Settings) -> list[McpServer]:
    """The servers of a host, and those of Prowess's own files, which win a name.

    `own` also has what Prowess as itself takes from the files of other hosts. A host does not read
    those, so they do not count for it.
    """
    servers = dict(settings.mcp_servers)
    for name, server in own.mcp_servers.items():
        is_from_own_file = os.path.basename(server.origin.file or "") == _OWN_FILE
        if is_from_own_file:
            servers[name] = server
    return list(servers.values())


def find_folder_trust(own: Settings, is_trusted: Callable[[str], bool]) -> Callable[[str], bool]:
    """Whether trust in a folder covers the servers that its files name.

    Where the user trusts only contents that were looked at, it does not: nobody looked at these.
    """
    if own.trust == "content":
        return lambda folder: False
    return is_trusted


def mark_trusted(
    servers: Iterable[McpServer],
    is_trusted_folder: Callable[[str], bool],
    *,
    project: str,
    home: str,
) -> Iterator[McpServer]:
    """The servers with what is known now about whether the user trusts each.

    A settings file counts as the user's own only outside the folder `project`: a variable such as
    `CLAUDE_CONFIG_DIR` can lead back into it.
    """
    for server in servers:
        file = server.origin.file
        # So far it only says that the file is one of those that users keep.
        is_own = server.is_trusted and not _lies_in(file, project, home)
        is_trusted = is_own or _is_trusted_file(file, is_trusted_folder)
        yield msgspec.structs.replace(server, is_trusted=is_trusted)


def _is_trusted_file(file: str | None, is_trusted_folder: Callable[[str], bool]) -> bool:
    # Only a file lies in a folder that the user can trust.
    if file is None or not os.path.isabs(file):
        return False
    # A link in a project leads to a file of another one; both must be trusted.
    folders = {os.path.dirname(file), os.path.dirname(os.path.realpath(file))}
    return all(map(is_trusted_folder, folders))


def _lies_in(file: str | None, project: str, home: str) -> bool:
    """Whether a file is inside a project. A project around the whole home contains nothing."""
    # A variable has a name such as `$OPENCODE_CONFIG_CONTENT`, and is the user's own.
    if file is None or not os.path.isabs(file):
        return False
    root = os.path.realpath(project)
    # Someone who works in their home has all their own files inside of the “project”.
    is_around_home = _is_inside(os.path.realpath(home), root)
    if is_around_home:
        return False
    return _is_inside(os.path.realpath(file), root)


def _is_inside(path: str, folder: str) -> bool:
    # `/` itself ends with a separator already.
    prefix = folder.rstrip(os.sep) + os.sep
    return path == folder or path.startswith(prefix)
