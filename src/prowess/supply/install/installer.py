"""What install commands use: fetches each source once, plans, and applies under the lock."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec

from prowess.errors import UsageError
from prowess.errors.install import InvalidSource, LocalChanges, PrivateHost, SourceFailed
from prowess.machine.atomic_write import scratch_folder
from prowess.machine.files import LocalFiles
from prowess.machine.installed_folder import recover
from prowess.ports import Reporter
from prowess.reports.install_plan import InstallPlan, PlannedTarget
from prowess.state.install_lock import LockContent, LockedSkill, find_target_problem
from prowess.state.skill_store import SkillStore
from prowess.state.typed_hosts import add_typed_hosts, open_typed_hosts
from prowess.supply.install.apply import apply_plan
from prowess.supply.install.contents import Scan, scan_skill
from prowess.supply.install.fetch import (
    FetchContext,
    FetchedSkill,
    FetchedSource,
    SourceFetcher,
    fetch_source,
)
from prowess.supply.install.fetchers import FETCHERS, PARSERS
from prowess.supply.install.plan import COPY, PlannedInstall, Wanted, plan_install
from prowess.supply.install.policy import InstallCandidate, load_policy
from prowess.supply.install.private_host import find_private_host
from prowess.supply.install.source import InstallSource, parse_source, restore_source
from prowess.supply.install.targets import InstallPlace, find_own_folder

SIGNERS_NAME = "allowed_signers"
"""The file of the user's own configuration with the signers that they know."""

_HINT = "Use `prowess update` with --ours, --theirs or --merge; --backup saves your version first."


class Installer:
    """One piece of work in a project or for a user; opened by `open_installer`."""

    def __init__(
        self,
        place: InstallPlace,
        store: SkillStore,
        staging: str,
        *,
        fetchers: Mapping[str, SourceFetcher] = FETCHERS,
        reporter: Reporter | None = None,
        scan: Scan = scan_skill,
        private_hosts: Iterable[str] = (),
    ) -> None:
        self.place = place
        self.store = store
        self.staging = staging
        self._fetchers = fetchers
        # Read at once: with a policy that cannot be read nothing is even fetched.
        self._policy = load_policy(place.managed)
        self._context = FetchContext(
            facts=place.facts,
            cwd=place.base,
            signers_file=self._find_signers(),
            reporter=reporter,
        )
        self._scan = scan
        self._private_hosts = frozenset(host.lower() for host in private_hosts)
        self._count = 0
        # Fifty skills of one repository are one clone.
        self._fetched: dict[tuple[str, str, str, str], FetchedSource] = {}

    def _find_signers(self) -> str:
        """The file of signers that count: the policy's, or else the user's own."""
        if self._policy is not None and self._policy.signers_file:
            return self._policy.signers_file
        own = posixpath.join(find_own_folder(self.place.facts), SIGNERS_NAME)
        has_own = LocalFiles().find_kind(own) == "file"
        return own if has_own else ""

    def parse(self, text: str, *, cwd: str) -> InstallSource:
        """What a text on the command line means. Raises `InvalidSource`."""
        _check_unclear(text.strip(), cwd)
        source = parse_source(text, cwd=cwd, home=self.place.facts.home, parsers=PARSERS)
        # `plugin:` and the like come before a path, too.
        is_relative = source.text.removeprefix(source.prefix).startswith("./")
        if cwd == self.place.base or not is_relative:
            return source
        # The lock file is read from the top folder of the project, wherever this was typed.
        absolute = parse_source(
            f"{source.prefix}{source.location}",
            cwd=self.place.base,
            home=self.place.facts.home,
            parsers=PARSERS,
        )
        return msgspec.structs.replace(source, text=absolute.text)

    def fetch(self, source: InstallSource) -> FetchedSource:
        """Fetch a source, once for all skills of it. Raises `SourceFailed`."""
        key = (source.kind, source.location, source.ref, source.path)
        if key not in self._fetched:
            self._count += 1
            folder = f"{self.staging}/source-{self._count}"
            self._fetched[key] = fetch_source(source, folder, self._context, self._fetchers)
        # Two sources may differ in what is not fetched, such as the skill that is wanted.
        return msgspec.structs.replace(self._fetched[key], source=source)

    def restore(self, entry: LockedSkill, *, ref: str | None = None) -> InstallSource:
        """The source of an installed skill, at its own ref or at another one."""
        return restore_source(
            kind=entry.kind,
            text=entry.source,
            ref=entry.ref if ref is None else ref,
            path=entry.path,
            base=self.place.base,
            home=self.place.facts.home,
            parsers=PARSERS,
        )

    def fetch_again(
        self, entry: LockedSkill, *, ref: str | None = None, is_shared: bool = False
    ) -> Iterator[FetchedSource]:
        """The source of an installed skill: its own folder, and the whole of it.

        The whole comes first where the source `is_shared` by several skills, so that it is fetched
        once. One of the two may fail: the folder if the skill was moved, the whole if it is too
        large. Raises `SourceFailed` if both do, and `PrivateHost`.
        """
        # The narrow one is less to read, and a broken neighbour does not matter to it.
        narrow = self.restore(entry, ref=ref)
        self._check_host(narrow)
        wide = msgspec.structs.replace(narrow, path="")
        failures: list[SourceFailed] = []
        order = (wide, narrow) if is_shared else (narrow, wide)
        for source in dict.fromkeys(order):
            try:
                yield self.fetch(source)
            except SourceFailed as failure:
                failures.append(failure)
        if len(failures) == len(set(order)):
            raise failures[0]

    def _check_host(self, source: InstallSource) -> None:
        """Refuse a host of the own network that a lock file names and the user never did."""
        host = find_private_host(source)
        if host is None or host in self._private_hosts:
            return
        if host not in open_typed_hosts(self.place.facts).load():
            raise PrivateHost(source.text, host)

    def want(
        self,
        source: InstallSource,
        skill: FetchedSkill,
        folders: Iterable[str],
        lock: LockContent,
        *,
        folder_name: str = "",
        method: str | None = None,
    ) -> Wanted:
        """A skill and every folder it goes into: the new ones, and those it is in already.

        It is copied or linked as before where no `method` is given.
        """
        if folder_name:
            _check_folder_name(folder_name)
        name = folder_name or skill.folder_name
        targets = [posixpath.join(folder, name) for folder in folders]
        previous = lock.find_same((skill.name, source.text, skill.path))
        if previous is not None:
            # One entry has one version, so all its folders get it.
            targets += self.place.list_folders([previous])
        usual_method = previous.method if previous is not None else COPY
        return Wanted(
            source=source,
            skill=skill,
            folders=tuple(dict.fromkeys(targets)),
            method=method or usual_method,
            previous=previous,
        )

    def plan(
        self,
        wanted: Sequence[Wanted],
        *,
        fetched: Iterable[FetchedSource] = (),
    ) -> PlannedInstall:
        """What would be written. Raises `TargetTaken` and `AgainstPolicy`."""
        for one in wanted:
            self.check_fetched(one.source.text, one.skill)
        lock = self.place.open_lock().load()
        return plan_install(self.place, wanted, lock, self.store, scan=self._scan, fetched=fetched)

    def check_locked(self, entry: LockedSkill) -> None:
        """Raise `AgainstPolicy` for an installed skill that must not be restored.

        What the store has was checked for its age and signer when it was installed.
        """
        if self._policy is not None:
            self._policy.check_known(entry.name, entry.source, entry.tree)

    def check_candidate(self, candidate: InstallCandidate) -> None:
        """Raise `AgainstPolicy` for a skill that must not be installed."""
        if self._policy is not None:
            self._policy.check(candidate)

    def check_fetched(self, source: str, skill: FetchedSkill) -> None:
        """Raise `AgainstPolicy` for a fetched skill that must not be installed."""
        candidate = InstallCandidate(
            name=skill.name,
            source=source,
            tree=skill.tree.digest,
            # A marketplace on this disk can lead to a plugin that is not.
            is_local=skill.is_local,
            released_at=skill.released_at,
            signer=skill.signer,
        )
        self.check_candidate(candidate)

    def apply(
        self,
        planned: PlannedInstall,
        *,
        merged: Mapping[str, str] | None = None,
        overwrite: bool = False,
        backup: bool = False,
    ) -> tuple[LockedSkill, ...]:
        """Carry out a plan that is still right. Raises `LocalChanges` and `UsageError`.

        Folders with changes of their user are replaced only if `merged` has them, or to
        `overwrite` was asked for.
        """
        with self.place.open_lock().hold():
            # What a program that was killed has left may be what somebody edited.
            recover([target.folder for target in _list_targets(planned.plan)])
            # The plan was made without the lock, and the user may have thought for minutes.
            now = self.plan(planned.wanted)
            if _list_actions(now.plan) != _list_actions(planned.plan):
                raise UsageError("The folders have changed since; nothing was written. Try again.")
            if not overwrite:
                _check_edits(now.plan, merged or {})
            entries = apply_plan(self.place, planned, self.store, merged=merged, backup=backup)
        self._remember_hosts(planned.wanted)
        return entries

    def _remember_hosts(self, wanted: Iterable[Wanted]) -> None:
        """Note the hosts of the own network that the user has typed, for lock files that have them.

        What was installed before came from a lock file, which nobody may have typed.
        """
        typed = {one.source for one in wanted if one.previous is None}
        hosts = frozenset(filter(None, map(find_private_host, typed)))
        add_typed_hosts(self.place.facts, hosts)


def _check_unclear(text: str, cwd: str) -> None:
    """Refuse the name of a folder here without `./`: it would mean a repository of a stranger."""
    body = re.split("[@#]", text)[0].rstrip("/")
    is_path = body.partition("/")[0] in ("", "~", ".", "..")
    if is_path or ":" in body:
        return
    if LocalFiles().find_kind(posixpath.join(cwd, body)) != "folder":
        return
    if "/" not in body:
        hint = f"Write ./{body}."
        raise InvalidSource(text, "a folder needs ./ before its name", hint)
    hint = f"Write ./{body} for the folder, or github:{text} for the repository."
    raise InvalidSource(text, "it is a folder here, and could be a repository on GitHub", hint)


def _check_folder_name(name: str) -> None:
    if "/" in name or find_target_problem(name) is not None:
        raise UsageError(f"“{name}” cannot be the name of a folder.")


def _check_edits(plan: InstallPlan, merged: Mapping[str, str]) -> None:
    """Raise `LocalChanges` for edits that were not combined with the new version."""
    lost: list[str] = []
    for skill in plan.edited:
        edited = [target.target for target in skill.targets if target.action == "edited"]
        if any(target not in merged for target in edited):
            lost.append(skill.name)
    if lost:
        raise LocalChanges(tuple(lost), hint=_HINT)


def _list_targets(plan: InstallPlan) -> Iterator[PlannedTarget]:
    for skill in plan.skills:
        yield from skill.targets


def _list_actions(plan: InstallPlan) -> list[tuple[str, str, str]]:
    return [(target.folder, target.action, target.tree) for target in _list_targets(plan)]


@contextmanager
def open_installer(
    place: InstallPlace,
    *,
    reporter: Reporter | None = None,
    scan: Scan = scan_skill,
    private_hosts: Iterable[str] = (),
) -> Iterator[Installer]:
    """An installer with a staging folder, which is removed afterwards in any case."""
    with scratch_folder() as staging:
        store = SkillStore.of(place.facts)
        yield Installer(
            place,
            store,
            staging,
            reporter=reporter,
            scan=scan,
            private_hosts=private_hosts,
        )
