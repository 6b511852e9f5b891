"""Install the skills of an MCP server: one that the settings name, or one at an address.

A server lists every file of a skill with its digest. What is fetched must be exactly that, and the
lock file has the digest, so that a server that changes a skill is noticed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from prowess.diagnostics import Diagnostic
from prowess.errors import MissingExtra, nearest_names
from prowess.errors.install import InvalidSource, RefusedTree, SourceFailed
from prowess.errors.mcp import McpServerError
from prowess.machine.interrupts import wait_for
from prowess.machine.tree_files import write_file
from prowess.model.mcp import McpServer
from prowess.parse.header.fast import read_header
from prowess.profiles.load import load_profile
from prowess.runtime import Skills
from prowess.state.server_trust import find_folder_trust, list_configured, mark_trusted
from prowess.supply.install.fetch import (
    LIMITS,
    SKILL_FILE,
    FetchContext,
    Fetched,
    find_path_problem,
    is_inside,
    is_inside_any,
    is_too_large,
)
from prowess.supply.install.source import MCP, InstallSource, split_address
from prowess.supply.mcp.entries import (
    EntryError,
    SkillEntry,
    check_file,
    is_same_header,
    render_header,
)

if TYPE_CHECKING:
    from prowess.machine.mcp.connections import McpConnections

_NAME = re.compile(r"mcp:(?P<name>[^\s/#@:]+)(?:#(?P<skill>\S+))?")
_ADDRESS = re.compile(r"mcp\+(?P<url>https?://[^\s#?]+)(?:#(?P<skill>\S+))?")
# Servers that are started by a command may have to be downloaded first (`npx`, `uvx`).
_LIST_SECONDS = 30.0
_SECONDS = 300.0


def parse_mcp(text: str, cwd: str) -> InstallSource | None:
    """`mcp:NAME[#SKILL]` for a server of the settings, or `mcp+https://HOST/PATH[#SKILL]`."""
    if not text.startswith(("mcp:", "mcp+")):
        return None
    named = _NAME.fullmatch(text)
    if named is not None:
        shown = f"mcp:{named['name']}"
        return InstallSource(kind=MCP, location=shown, text=shown, skill=named["skill"] or "")
    address = _ADDRESS.fullmatch(text)
    if address is None:
        hint = "Use mcp:NAME for a server of your settings, or mcp+https://HOST/PATH."
        raise InvalidSource(text, "it does not name an MCP server", hint)
    url = address["url"]
    hint = "Configure the server under [mcp.servers] with its headers, and use mcp:NAME."
    split_address(text, url, hint=hint)
    return InstallSource(kind=MCP, location=url, text=f"mcp+{url}", skill=address["skill"] or "")


class McpFetcher:
    """Fetches the skills that a server lists, each in a folder of its address."""

    def fetch(self, source: InstallSource, staging: str, context: FetchContext) -> Fetched:
        """Fetch every file of every skill; a skill that is not what was promised is refused."""
        server = _find_server(source, context)
        with _open_connections(context) as connections:
            work = _ServerWork(source, server, connections, context)
            try:
                entries = work.list_entries()
                work.fetch(entries, staging)
            except McpServerError as error:
                raise SourceFailed(source.text, str(error)) from error
            except MissingExtra as error:
                raise SourceFailed(source.text, f"{error} {error.hint or ''}".strip()) from error
        return Fetched(
            versions=work.versions, refused=work.refused, diagnostics=tuple(work.findings)
        )


@contextmanager
def _open_connections(context: FetchContext) -> Iterator[McpConnections]:
    # Imported late: most installs ask no server.
    from prowess.machine.mcp.connections import McpConnections

    connections = McpConnections(context.facts, cwd=context.cwd)
    try:
        yield connections
    finally:
        connections.close()


def _find_server(source: InstallSource, context: FetchContext) -> McpServer:
    """The server that a source means. Raises `SourceFailed` for one that must not be started."""
    if not source.text.startswith("mcp:"):
        host = urlsplit(source.location).hostname or ""
        # Only over http: an address never starts a program on this machine.
        return McpServer(name=host, transport="http", url=source.location)
    name = source.text.removeprefix("mcp:")
    servers = {one.name: one for one in _list_servers(context)}
    server = servers.get(name)
    if server is None:
        nearest = nearest_names(name, servers)
        hint = f"; did you mean {' or '.join(nearest)}?" if nearest else ""
        raise SourceFailed(source.text, f"the settings have no MCP server “{name}”{hint}")
    if not server.enabled:
        raise SourceFailed(source.text, f"the MCP server “{name}” is off ({server.origin.file})")
    # A clone may name a program in its settings; installing must not be a way to run it.
    if not server.is_trusted:
        cause = f"{server.origin.file} names the server, and its project is not trusted"
        raise SourceFailed(source.text, f"{cause}; run `prowess trust`")
    return server


def _list_servers(context: FetchContext) -> Iterator[McpServer]:
    skills = Skills(context.cwd, host="prowess", facts=context.facts)
    own = skills.project.load_own_settings()
    yield from mark_trusted(
        list_configured(skills.project.load_settings(), own),
        find_folder_trust(own, skills.project.open_trust().is_trusted_folder),
        project=skills.find_places().repository or skills.cwd,
        home=context.facts.home,
    )


class _ServerWork:
    """One fetch from one server: what was found by folder, and what was not used."""

    def __init__(
        self,
        source: InstallSource,
        server: McpServer,
        connections: McpConnections,
        context: FetchContext,
    ) -> None:
        self._source = source
        self._server = server
        self._connections = connections
        self._reporter = context.reporter
        self._deadline = time.monotonic() + _SECONDS
        self._profile = load_profile("prowess")
        self._count = 0
        self.versions: dict[str, str] = {}
        self.refused: dict[str, str] = {}
        self.findings: list[Diagnostic] = []

    def list_entries(self) -> dict[str, SkillEntry]:
        """The wanted skills by their folder; one inside another is a part of it."""
        from prowess.supply.mcp.served_skills import ask_lists, check_entries

        asked = self._connections.begin_request(
            self._server,
            lambda client: ask_lists(client, wants_skills=True, named=self._server.skills),
            seconds=self._server.seconds or _LIST_SECONDS,
        )
        answer = wait_for(asked)
        # With a part of the list, an update could take a skill for one that is gone.
        if not answer.is_whole:
            raise RefusedTree(self._source.text, "it lists too many skills")
        entries: dict[str, SkillEntry] = {}
        listed = check_entries(self._server, answer.entries, self.findings)
        # In this order a skill comes before those inside it.
        for entry in sorted(listed, key=_name_folder):
            folder = _name_folder(entry)
            is_wanted = is_inside(f"{folder}/", self._source.path)
            if is_wanted and not is_inside_any(folder, entries):
                entries[folder] = entry
        return entries

    def fetch(self, entries: dict[str, SkillEntry], staging: str) -> None:
        """Fetch the files of these skills into the staging folder."""
        self._check_size(entries.values())
        for folder, entry in entries.items():
            try:
                files = self._download(folder, entry)
            except EntryError as error:
                self.refused[folder] = str(error)
                continue
            self.versions[folder] = entry.digest
            for path, data in files.items():
                # Servers do not say which files are programs.
                is_program = data.startswith(b"#!")
                write_file(staging, f"{folder}/{path}", data, is_executable=is_program)

    def _check_size(self, entries: Iterable[SkillEntry]) -> None:
        """Raise `RefusedTree` for too much, before the first byte is fetched."""
        sizes: list[int] = []
        for entry in entries:
            files = entry.files or {}
            sizes += [file.size for file in files.values()]
        if is_too_large(sizes):
            raise RefusedTree(self._source.text, f"its skills have more than {LIMITS}")

    def _download(self, folder: str, entry: SkillEntry) -> dict[str, bytes]:
        """The files of a skill by their paths. Raises `EntryError` if one is not as promised."""
        from prowess.supply.mcp.served_skills import download_file

        if entry.files is None:
            raise EntryError("the server lists none of its files, so that they cannot be checked")
        base = entry.uri.removesuffix(SKILL_FILE)
        promised = {unquote(uri.removeprefix(base)): file for uri, file in entry.files.items()}
        # Before anything is downloaded, and with the folder, which is the server's word, too.
        problem = find_path_problem(f"{folder}/{path}" for path in promised)
        if problem is not None:
            raise EntryError(problem)
        files: dict[str, bytes] = {}
        for path, file in promised.items():
            self._watch()
            data = download_file(self._connections, self._server, file.uri)
            try:
                check_file(data, file)
            except EntryError as error:
                raise EntryError(f"{path[:200]}: {error}") from None
            files[path] = data
        if not self._is_promised_header(entry, files[SKILL_FILE]):
            raise EntryError("its header is not the one that the server listed")
        return files

    def _is_promised_header(self, entry: SkillEntry, data: bytes) -> bool:
        rules, limits = self._profile.header, self._profile.limits
        promised = read_header(render_header(entry), rules=rules, limits=limits)
        sent = read_header(data, rules=rules, limits=limits)
        return is_same_header(promised.frontmatter, sent.frontmatter)

    def _watch(self) -> None:
        if time.monotonic() > self._deadline:
            cause = f"it took longer than {_SECONDS:g} seconds"
            raise SourceFailed(self._source.text, cause)
        self._count += 1
        if self._reporter is not None:
            self._reporter.progress(f"{self._source.text}, files", self._count)


def _name_folder(entry: SkillEntry) -> str:
    return "/".join((*entry.namespace, entry.name))
