"""Remote indexes as a source of skills: fetched when that is due, then walked like folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.model.outcome import Claim
from prowess.model.settings import NetworkSettings, Settings
from prowess.model.skill import Candidate, Root, Scope
from prowess.ports import Discovered, ManifestReader, Reporter, ScannedProject, Search

if TYPE_CHECKING:
    from prowess.supply.remote_sync import IndexSync, SyncedIndex


class RemoteSource:
    """The `SkillSource` over every remote index that the settings name.

    With `offline` nothing is fetched, whatever the settings say. `refresh` fetches an index by its
    name, or all of them, although what was fetched before is not old; only the first scan does.
    """

    name = "remote"

    def __init__(
        self,
        *,
        offline: bool = False,
        refresh: str | bool = False,
        watch: Callable[[str, int, int], None] | None = None,
    ) -> None:
        self._offline = offline
        self._refresh = refresh
        self._watch = watch
        self._begun: tuple[Search, IndexSync | None] | None = None

    def begin(self, search: Search) -> None:
        """Fetch every index that is due, in the background."""
        project, settings = search.project, search.settings
        if project is None or not (settings.sources or settings.remote_urls):
            self._begun = search, None
            return
        # Imported late: most projects name no index, and then nothing of this is needed.
        from prowess.supply.configured_indexes import allow_private, list_indexes
        from prowess.supply.remote_sync import IndexSync

        own = project.load_own_settings()
        network = get_network(project, own, offline=self._offline)
        indexes = [allow_private(one, own) for one in list_indexes(settings)]
        refresh, self._refresh = self._refresh, False
        watch = self._watch or _watch(search.reporter)
        sync = IndexSync(indexes, project, network, refresh=refresh, watch=watch)
        self._begun = search, sync

    def find(self, search: Search) -> Discovered:
        """The skills of every index, from its cache where that is fresh."""
        if self._begun is None or self._begun[0] is not search:
            self.begin(search)
        sync = None if self._begun is None else self._begun[1]
        self._begun = None
        project = search.project
        if sync is None or project is None:
            return Discovered()
        synced = sync.wait()
        roots: list[Root] = []
        findings: list[Diagnostic] = []
        for index in synced:
            findings += index.diagnostics
            if index.folder is not None:
                provider = index.index.provider
                root = project.plan_root(index.folder, scope=Scope.REMOTE, provider=provider)
                roots.append(root)
        walked = project.walk(roots, search) if roots else Discovered()
        return Discovered(
            tuple(_skip_repeated(walked.candidates, synced)),
            (*findings, *walked.diagnostics),
            walked.roots,
            tuple(index.describe() for index in synced),
        )

    def read(self, candidate: Candidate, reader: ManifestReader) -> Claim:
        """Read the header of a downloaded SKILL.md."""
        return reader.read_file(candidate)


def _skip_repeated(
    candidates: Sequence[Candidate], synced: Sequence[SyncedIndex]
) -> Iterator[Candidate]:
    """The candidates as opencode has them, which keeps skills by their names in any index.

    Of two URLs that name the same skill without a version, the first one fetched is used.
    """
    first_folders: dict[str, str] = {}
    by_folder = {one.folder: one for one in synced if one.index.kind == "opencode"}
    for candidate in candidates:
        path = candidate.root.path
        index = by_folder.get(path)
        # The name in the index, which is the folder here; the header may have another.
        name = candidate.folder.removeprefix(f"{path}/")
        if index is None or name not in index.skills:
            yield candidate
            continue
        first = first_folders.setdefault(name, path)
        is_versioned = index.skills[name].version is not None
        if first == path or is_versioned:
            yield candidate
            continue
        reason = f"{by_folder[first].index.url} has “{name}” too, and the host keeps the first"
        yield msgspec.structs.replace(candidate, skipped=reason, skipped_by="remote.first")


def _watch(reporter: Reporter | None) -> Callable[[str, int, int], None] | None:
    if reporter is None:
        return None
    return lambda source, done, total: reporter.progress("fetching skills", done)


def get_network(project: ScannedProject, own: Settings, *, offline: bool) -> NetworkSettings:
    """How the network is used: as Prowess's own settings say, whichever host it answers as."""
    # A variable, too: in CI nobody edits settings.
    switch = project.facts.env.get("PROWESS_OFFLINE", "").strip().lower()
    is_offline = offline or own.network.offline or switch not in ("", "0", "false", "no")
    return msgspec.structs.replace(own.network, offline=is_offline)
