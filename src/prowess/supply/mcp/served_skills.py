"""The skills and prompts of MCP servers, listed, checked and read.

A server is untrusted, and so is all it says. Its list is read when skills are listed, a SKILL.md
when it is loaded, another file when it is read; each is compared with the entry that promised it.
Nothing of a server runs, and a skill of one server never reads from another.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import MachineError, MissingExtra
from prowess.errors.mcp import McpServerError
from prowess.machine.interrupts import wait_for
from prowess.model.mcp import McpServer
from prowess.model.origin import Origin
from prowess.model.outcome import Claim
from prowess.model.settings import NetworkSettings
from prowess.model.skill import (
    Candidate,
    Document,
    LoadedFrom,
    Root,
    Scope,
    Skill,
    SkillCall,
    Source,
)
from prowess.model.source_status import SourceState, SourceStatus
from prowess.ports import Discovered, ManifestReader, ScannedProject, Search
from prowess.state.remote_cache import RemoteCache
from prowess.state.server_trust import find_folder_trust, list_configured, mark_trusted
from prowess.supply.mcp.entries import (
    EntryError,
    SkillEntry,
    check_file,
    check_prompt_name,
    decode_content,
    is_same_header,
    parse_entry,
    render_header,
)
from prowess.supply.mcp.served_prompts import READ_SECONDS, TAG, ServedPrompt
from prowess.text.markup import escape_tags, escape_xml, tidy_line

if TYPE_CHECKING:
    from prowess.machine.mcp.connections import McpConnections

_MINUTE = 60.0
_HOUR = 3600.0
_OFFERS_NOTHING = "offers-nothing"
# How long a server is left alone if this machine was too busy to ask it.
_BUSY_SECONDS = 30.0
# A skill may have hundreds of files, and each line costs tokens.
_MOST_FILES_SHOWN = 50


class ServedSkills:
    """What the servers of one source offer. They live as long as this does."""

    def __init__(self, *, refresh: str | bool = False) -> None:
        self._refresh = refresh
        self._connections: McpConnections | None = None
        self._served: dict[str, _ServedSkill] = {}
        self._prompts: dict[str, ServedPrompt] = {}

    def begin(
        self, search: Search, project: ScannedProject, network: NetworkSettings
    ) -> list[AskedServer]:
        """Ask every server that the user trusts, in the order of their names; wait for none."""
        servers = _list_servers(search, project)
        if not servers:
            return []
        refresh, self._refresh = self._refresh, False
        connections = self._open(project, search.cwd)
        asked: list[AskedServer] = []
        for server in servers:
            is_forced = refresh in (True, server.name)
            asked.append(AskedServer(server, connections, project, network, is_forced=is_forced))
        return asked

    def find(self, asked: Sequence[AskedServer], project: ScannedProject) -> Discovered:
        """The skills of the servers that were asked, each of which answers or runs out of time."""
        candidates: list[Candidate] = []
        findings: list[Diagnostic] = []
        statuses: list[SourceStatus] = []
        for one in asked:
            offered = self._collect(one, project)
            candidates += offered.candidates
            findings += offered.diagnostics
            statuses.append(_describe(one.server, offered))
        return Discovered(tuple(candidates), tuple(findings), (), tuple(statuses))

    def read(self, candidate: Candidate, reader: ManifestReader) -> Claim:
        """What a server says about a skill; its header is that of its entry."""
        prompt = self._prompts.get(candidate.location)
        if prompt is not None:
            return prompt.make_claim(candidate)
        return self._served[candidate.location].read(candidate, reader)

    def close(self) -> None:
        """End every server."""
        if self._connections is not None:
            self._connections.close()

    def _open(self, project: ScannedProject, cwd: str) -> McpConnections:
        if self._connections is None:
            from prowess.machine.mcp.connections import McpConnections

            self._connections = McpConnections(project.facts, cwd=cwd)
            # Users of the library may never call `close`; then no server outlives this object.
            weakref.finalize(self, self._connections.close)
        return self._connections

    def _collect(self, asked: AskedServer, project: ScannedProject) -> Discovered:
        """The skills or prompts of one server. Whatever goes wrong costs only these."""
        server, connections, answer = asked.server, asked.connections, asked.wait()
        if isinstance(answer, _Failure):
            return Discovered(diagnostics=(_report(server, answer.message, answer.code),))
        root = _make_root(server, project)
        findings = [] if answer.is_whole else [_report(server, _explain_cut(server))]
        candidates: list[Candidate] = []
        for entry in check_entries(server, answer.entries, findings):
            served = _ServedSkill(server, entry, connections)
            prefix = _find_prefix(entry, answer.entries, server)
            candidate = served.make_candidate(root, prefix)
            self._served[candidate.location] = served
            candidates.append(candidate)
        # Empty for a host that does not use prompts.
        prompts_name = project.mcp_names[1]
        listed = answer.prompts if prompts_name else ()
        for prompt in _check_prompts(server, listed, findings):
            command = ServedPrompt(server, prompt, prompts_name, connections)
            candidate = command.make_candidate(root)
            self._prompts[candidate.location] = command
            candidates.append(candidate)
        return Discovered(tuple(candidates), tuple(findings))


class _Lists(NamedTuple):
    """What a server lists: entries of skills, or else prompts; and whether that is all.

    One that `offers_nothing` knows neither skills nor prompts.
    """

    entries: list[Any]
    prompts: list[Any]
    is_whole: bool = True
    offers_nothing: bool = False


class _Failure(NamedTuple):
    """Why a server lists nothing, as a diagnostic says it."""

    code: str
    message: str


class AskedServer:
    """A server that is being asked what it lists.

    One that failed is not asked again for a while, by any process. Neither is one that offers
    nothing: most servers only have tools, and starting each of them for every list takes seconds.
    """

    def __init__(
        self,
        server: McpServer,
        connections: McpConnections,
        project: ScannedProject,
        network: NetworkSettings,
        *,
        is_forced: bool,
    ) -> None:
        self.server = server
        self.connections = connections
        self._pause = network.retry_minutes * _MINUTE
        self._idle_pause = network.max_age_hours * _HOUR
        # On disk, because each command of the shell is a process of its own.
        self._memory = RemoteCache.of(project.facts, "mcp", _make_key(server))
        self._earlier = self._memory.load_failure() if server.is_trusted else None
        self._known = self._find_known(network, is_forced=is_forced)
        self._answer: Future[_Lists] | None = None
        if self._known is None:
            usual = network.get_limit(is_forced=is_forced)
            self._answer = self._begin(server.seconds or usual, project)

    def _begin(self, seconds: float, project: ScannedProject) -> Future[_Lists]:
        timed = msgspec.structs.replace(self.server, seconds=seconds)
        wants_skills = bool(project.mcp_names[0])
        ask = partial(ask_lists, wants_skills=wants_skills, named=self.server.skills)
        return self.connections.begin_request(timed, ask, seconds=seconds)

    def _find_known(self, network: NetworkSettings, *, is_forced: bool) -> _Lists | _Failure | None:
        """What is known without asking the server; None if it has to be asked."""
        server, earlier = self.server, self._earlier
        # An untrusted one is never started, so that is what is said about it in any case.
        if network.offline and server.is_trusted:
            message = f"The MCP server “{server.name}” is not used offline. Its skills are missing."
            return _Failure("source-offline", message)
        if earlier is None or is_forced:
            return None
        left = earlier.retry_at - time.time()
        if left <= 0:
            return None
        if earlier.code == _OFFERS_NOTHING:
            return _Lists([], [], offers_nothing=True)
        return _Failure("source-paused", _explain_pause(earlier.message, left))

    def wait(self) -> _Lists | _Failure:
        """What the server lists, or why it lists nothing."""
        if self._answer is None:
            assert self._known is not None
            return self._known
        try:
            lists = wait_for(self._answer)
        except MissingExtra as error:
            # Nothing is remembered: it is over as soon as the extra is installed.
            return _Failure("source-unreachable", f"{error} {error.hint or ''}".strip())
        except McpServerError as error:
            return self._fail(error)
        if lists.offers_nothing:
            self._note(_OFFERS_NOTHING, "It offers neither skills nor prompts.", self._idle_pause)
        elif self._earlier is not None:
            self._memory.clear_failure()
        return lists

    def _fail(self, error: McpServerError) -> _Failure:
        hint = f" {error.hint}" if error.hint else ""
        failure = f"{error} Its skills are missing.{hint}"
        if not self.server.is_trusted:
            # Nothing is remembered either: it is over as soon as the project is trusted.
            return _Failure("source-untrusted", failure)
        # A machine that is too busy to load the client is no fault of the server.
        pause = self._pause if self.connections.is_loaded else min(self._pause, _BUSY_SECONDS)
        trouble = self._note("source-unreachable", str(error), pause)
        return _Failure("source-unreachable", failure + trouble)

    def _note(self, code: str, message: str, pause: float) -> str:
        """Remember not to ask for a while; returns what to say if that fails."""
        try:
            self._memory.note_failure(code, message, pause=pause)
        except MachineError as trouble:
            return f" This failure could not be saved: {trouble}"
        return ""


def _make_key(server: McpServer) -> str:
    """What a failure belongs to: the server as it is configured. Only a digest of it is kept."""
    # Where it was configured does not change what it answers; its command and its headers do.
    asked = msgspec.structs.replace(server, origin=Origin(), is_trusted=True)
    return f"mcp://{server.name}/{msgspec.json.encode(asked, order='sorted').decode()}"


def _explain_pause(failure: str, seconds: float) -> str:
    from prowess.supply.remote_sync import render_age

    return f"{failure.rstrip('.')}. It is not tried again for {render_age(seconds)}."


async def ask_lists(client: Any, *, wants_skills: bool, named: Sequence[str]) -> _Lists:
    """The skills of a server, or its prompts if it does not offer skills."""
    from prowess.machine.mcp import requests

    has_skills, has_prompts = requests.offers_skills(client), requests.offers_prompts(client)
    if wants_skills and has_skills:
        entries, is_whole = await requests.list_skills(client)
        listed = {entry.get("uri") for entry in entries if isinstance(entry, Mapping)}
        # A server need not list all that it has; these were named by the user.
        for uri in named:
            if uri not in listed:
                entries.append(await requests.get_skill(client, uri))
        return _Lists(entries, [], is_whole)
    if not has_prompts:
        # Skills that this host does not use are no reason to forget the server for others.
        return _Lists([], [], offers_nothing=not has_skills)
    prompts, is_whole = await requests.list_prompts(client)
    return _Lists([], prompts, is_whole)


def _list_servers(search: Search, project: ScannedProject) -> list[McpServer]:
    own = project.load_own_settings()
    marked = mark_trusted(
        list_configured(search.settings, own),
        find_folder_trust(own, project.is_trusted_folder),
        project=search.cwd,
        home=project.facts.home,
    )
    enabled = (server for server in marked if server.enabled)
    return sorted(enabled, key=lambda server: server.name)


def _make_root(server: McpServer, project: ScannedProject) -> Root:
    path = f"mcp:{server.name}"
    # No folder: the root only has the rules of the host for skills from elsewhere.
    root = project.plan_root(path, scope=Scope.REMOTE, provider=server.name)
    source = Source(server.name, "mcp", path, LoadedFrom.MCP, f"mcp:{server.name}")
    return msgspec.structs.replace(root, source=source, required=(), ignored_fields=())


def _describe(server: McpServer, offered: Discovered) -> SourceStatus:
    candidates = offered.candidates
    # Some entries may be wrong; a server that offers others has answered.
    failed = bool(offered.diagnostics) and not candidates
    return SourceStatus(
        name=server.name,
        kind="mcp",
        location=server.target,
        state=_find_state(offered, failed=failed),
        folder=candidates[0].root.path if candidates else None,
        fetched_at=None if failed else time.time(),
        skills=len(candidates),
        diagnostics=offered.diagnostics,
        origin=server.origin,
    )


def _find_state(offered: Discovered, *, failed: bool) -> SourceState:
    if any(finding.code == "source-untrusted" for finding in offered.diagnostics):
        return "untrusted"
    return "failed" if failed else "ready"


def _report(server: McpServer, message: str, code: str = "source-entry-invalid") -> Diagnostic:
    return diagnose(code, message, file=server.origin.file, line=server.origin.line)


def _explain_cut(server: McpServer) -> str:
    return f"The MCP server “{server.name}” lists too many skills; only the first are used."


def check_entries(
    server: McpServer, listed: Sequence[Any], findings: list[Diagnostic]
) -> Iterator[SkillEntry]:
    """The entries that can be used, each once; the others become diagnostics."""
    seen: set[str] = set()
    for data in listed:
        try:
            entry = parse_entry(data)
            if entry.uri in seen:
                raise EntryError("it is listed twice")
        except EntryError as error:
            shown = _show_address(data)
            message = f"A skill of the MCP server “{server.name}” is not used ({shown}): {error}."
            findings.append(_report(server, message))
            continue
        seen.add(entry.uri)
        yield entry


def _show_address(data: Any) -> str:
    uri = data.get("uri") if isinstance(data, Mapping) else None
    if not isinstance(uri, str):
        return "without an address"
    # A server could send control characters for the terminal, or a megabyte.
    return tidy_line(uri)[:200]


def _check_prompts(
    server: McpServer, listed: Sequence[Any], findings: list[Diagnostic]
) -> Iterator[Any]:
    seen: set[str] = set()
    for prompt in listed:
        try:
            check_prompt_name(prompt.name)
            if prompt.name in seen:
                raise EntryError("it is listed twice")
        except EntryError as error:
            shown = tidy_line(prompt.name)[:64]
            message = (
                f"The prompt “{shown}” of the MCP server “{server.name}” is not used: {error}."
            )
            findings.append(_report(server, message))
            continue
        seen.add(prompt.name)
        yield prompt


def _find_prefix(entry: SkillEntry, listed: Sequence[Any], server: McpServer) -> str:
    """What comes before the name of a skill: the server, and the folders if names are equal."""
    ending = f"/{entry.name}/SKILL.md"
    uris = (data.get("uri") for data in listed if isinstance(data, Mapping))
    # Refused entries count, too: names must not depend on what else is wrong with a list.
    same_name = [uri for uri in uris if isinstance(uri, str) and f"/{uri}".endswith(ending)]
    if len(same_name) <= 1:
        return server.name
    return ":".join((server.name, *entry.namespace))


class _ServedSkill:
    """One skill of a server: its entry, and how its files are read."""

    def __init__(self, server: McpServer, entry: SkillEntry, connections: McpConnections) -> None:
        self._server = server
        self._entry = entry
        self._connections = connections

    def make_candidate(self, root: Root, prefix: str) -> Candidate:
        """The skill before anything is decided. Its identity is the server and the address."""
        location = f"mcp:{self._server.name}/{self._entry.uri}"
        return Candidate(location, "", self._entry.name, root, None, prefix=prefix)

    def read(self, candidate: Candidate, reader: ManifestReader) -> Claim:
        """The claim of the skill, by the header that its entry has."""
        fetch = partial(self._fetch, candidate, reader)
        claim = reader.read_text(candidate, render_header(self._entry), fetch)
        if claim.skill is None:
            return claim
        loader = partial(self._load, claim.skill.loader)
        claim.skill = msgspec.structs.replace(
            claim.skill,
            loader=loader,
            read_served=self._read_file,
            # With a list of files an approval can be checked without asking the server.
            find_promise=None if self._entry.files is None else lambda: self._entry.digest,
        )
        return claim

    def _load(
        self, load: Callable[[Skill, SkillCall], Document], skill: Skill, call: SkillCall
    ) -> Document:
        """The instructions, marked with where they come from."""
        document = load(skill, call)
        origin = f'server="{escape_xml(self._server.name)}" uri="{escape_xml(self._entry.uri)}"'
        body = escape_tags(document.content.strip("\n"), TAG)
        parts = [f"<{TAG} {origin}>", body, *self._list_files(skill.name), f"</{TAG}>"]
        # Bound to every file, so that an approval ends when one of them changes.
        digest = self._entry.digest or document.digest
        return msgspec.structs.replace(document, content="\n".join(parts), digest=digest)

    def _list_files(self, name: str) -> list[str]:
        paths = self._entry.list_paths()
        if not paths:
            return []
        # By this address a model reads the files with the tool that it has for all skills.
        shown = [f"- skill://{name}/{path}" for path in paths[:_MOST_FILES_SHOWN]]
        left = len(paths) - len(shown)
        more = [f"(and {left} more)"] if left > 0 else []
        return ["", "Files of this skill:", *shown, *more]

    def _fetch(self, candidate: Candidate, reader: ManifestReader, location: str) -> bytes:
        """The whole SKILL.md. If it is not what was promised, the server is asked once more."""
        data = self._download(self._entry.uri)
        try:
            self._check(data, self._entry, candidate, reader)
        except EntryError:
            # The list may be minutes old, and the server may have a new version since.
            entry = self._ask_again()
            self._check_again(data, entry, candidate, reader)
            # A new version, and not a lie: approvals of the old one do not count for it.
            self._entry = entry
        return data

    def _check_again(
        self, data: bytes, entry: SkillEntry, candidate: Candidate, reader: ManifestReader
    ) -> None:
        try:
            self._check(data, entry, candidate, reader)
        except EntryError as error:
            raise MachineError("use", candidate.location, str(error)) from None

    def _check(
        self, data: bytes, entry: SkillEntry, candidate: Candidate, reader: ManifestReader
    ) -> None:
        if entry.files is not None:
            check_file(data, entry.files[entry.uri])
        # Both go through the same reader, so that its repairs make no difference.
        promised = reader.read_text(candidate, render_header(entry), _refuse_fetch).skill
        sent = reader.read_text(candidate, data, _refuse_fetch).skill
        if sent is None or promised is None:
            raise EntryError("its header cannot be read")
        if not is_same_header(promised.frontmatter, sent.frontmatter):
            raise EntryError("its header is not the one that the server listed")

    def _ask_again(self) -> SkillEntry:
        from prowess.machine.mcp import requests

        uri = self._entry.uri
        data = self._connections.request(
            self._server, lambda client: requests.get_skill(client, uri), seconds=READ_SECONDS
        )
        try:
            entry = parse_entry(data)
        except EntryError as error:
            raise McpServerError(self._server.name, f"lists a skill wrongly: {error}") from None
        # Otherwise a server could answer with a skill that was approved.
        if entry.uri != uri:
            raise McpServerError(self._server.name, "answered with another skill")
        return entry

    def _read_file(self, path: str) -> bytes:
        """One of the skill's files. Raises `OSError`, also for one that is not listed."""
        try:
            file = self._entry.find_file(path)
            data = self._download(file.uri)
            check_file(data, file)
        except (EntryError, McpServerError) as error:
            # Resources are read as files are, so callers expect the errors of files.
            raise PermissionError(None, str(error)) from error
        return data

    def _download(self, uri: str) -> bytes:
        return download_file(self._connections, self._server, uri)


def download_file(connections: McpConnections, server: McpServer, uri: str) -> bytes:
    """One file of a server, not checked yet. Raises `McpServerError`."""
    from prowess.machine.mcp import requests

    contents = connections.request(
        server, lambda client: requests.read_resource(client, uri), seconds=READ_SECONDS
    )
    # A resource may have several parts; a file has one.
    if len(contents) != 1:
        raise McpServerError(server.name, f"sent {len(contents)} files instead of one")
    try:
        return decode_content(contents[0])
    except EntryError as error:
        raise McpServerError(server.name, f"sent a broken file: {error}") from None


def _refuse_fetch(location: str) -> bytes:
    raise PermissionError(None, "nothing is read here")
