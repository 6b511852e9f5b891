"""MCP servers as a source of skills, and their prompts as commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.model.outcome import Claim
from prowess.model.skill import Candidate
from prowess.ports import Discovered, ManifestReader, ScannedProject, Search
from prowess.state.server_trust import list_configured
from prowess.supply.remote_source import get_network

if TYPE_CHECKING:
    from prowess.supply.mcp.served_skills import AskedServer, ServedSkills


class McpSource:
    """The `SkillSource` over every MCP server that the settings name.

    With `offline` no server is started, and each is reported. `refresh` asks a server by its name,
    or all of them, although it failed a short time ago; only the first scan does. Servers live as
    long as the source does.
    """

    name = "mcp"

    def __init__(self, *, offline: bool = False, refresh: str | bool = False) -> None:
        self._offline = offline
        self._refresh = refresh
        self._served: ServedSkills | None = None
        # With the search it belongs to, so that a second scan does not take the answers of the
        # first.
        self._asked: tuple[Search, list[AskedServer]] | None = None

    def begin(self, search: Search) -> None:
        """Ask every server, and wait for none."""
        project = search.project
        if project is None or not _has_servers(search, project):
            self._asked = search, []
            return
        if self._served is None:
            # Imported late: most projects name no server, and then nothing of this is needed.
            from prowess.supply.mcp.served_skills import ServedSkills

            self._served = ServedSkills(refresh=self._refresh)
        network = get_network(project, project.load_own_settings(), offline=self._offline)
        self._asked = search, self._served.begin(search, project, network)

    def find(self, search: Search) -> Discovered:
        """The skills and prompts of every server that the user trusts."""
        # A scan begins all its sources before it asks the first one for results, so that slow
        # servers answer at the same time. Callers that have one source skip that.
        if self._asked is None or self._asked[0] is not search:
            self.begin(search)
        asked = [] if self._asked is None else self._asked[1]
        self._asked = None
        if self._served is None or search.project is None:
            return Discovered()
        return self._served.find(asked, search.project)

    def read(self, candidate: Candidate, reader: ManifestReader) -> Claim:
        """What a server says about a skill."""
        assert self._served is not None
        return self._served.read(candidate, reader)

    def close(self) -> None:
        """End every server."""
        if self._served is not None:
            self._served.close()


def _has_servers(search: Search, project: ScannedProject) -> bool:
    """Whether the settings of the host or of Prowess itself name a server that counts here."""
    if not any(project.mcp_names):
        return False
    return bool(list_configured(search.settings, project.load_own_settings()))
