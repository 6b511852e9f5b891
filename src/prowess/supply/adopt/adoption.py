"""Import skills that other tools installed: find them, check them, and lock them as they are."""

from __future__ import annotations

import posixpath
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from prowess.errors import ProwessError, UsageError
from prowess.errors.install import AgainstPolicy, InvalidSource
from prowess.machine.files import LocalFiles
from prowess.machine.tree_files import find_tree
from prowess.model.tree import Tree
from prowess.reports.adoption import (
    CHANGED,
    UNCHANGED,
    UNKNOWN,
    AdoptedSkill,
    Adoption,
    NotAdopted,
)
from prowess.state.install_lock import (
    LockContent,
    LockedSkill,
    find_target_problem,
    format_moment,
)
from prowess.supply.adopt.installer_records import Record, find_mark, load_records
from prowess.supply.adopt.recorded_digests import FITS
from prowess.supply.adopt.skill_folders import SkillFolder, find_skill_folders, is_symlinked
from prowess.supply.adopt.upstream import NOT_ASKED, Upstream, ask_source
from prowess.supply.install.edits import is_left_behind, leave_out_generated
from prowess.supply.install.fetch import MOST_BYTES, find_problem, read_name
from prowess.supply.install.installer import Installer
from prowess.supply.install.plan import COPY
from prowess.supply.install.policy import InstallCandidate
from prowess.supply.install.source import FOLDER, GIT
from prowess.supply.install.targets import USER

_EDITED = {
    CHANGED: "edited before it was imported",
    UNKNOWN: "may have been edited before import",
}


class PlannedAdoption(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown, and the entries of the lock file that it means."""

    adoption: Adoption
    entries: tuple[LockedSkill, ...]


class _ClaimedFolder(msgspec.Struct, frozen=True, kw_only=True):
    """A folder with the record that it belongs to, and the entry that this makes.

    `files` says whether the folder is as the installer wrote it.
    """

    folder: SkillFolder
    record: Record
    entry: LockedSkill
    tree: Tree
    files: str


class _RefusedFolder(Exception):
    """Why a folder is not taken over."""


def plan_adoption(installer: Installer, *, offline: bool = False) -> PlannedAdoption:
    """What other installers left in a project or for a user; nothing is written.

    Each source is asked once for what it has now, unless that is to be done `offline`. Raises
    `InvalidLock`.
    """
    return _AdoptionPlanner(installer).plan(offline=offline)


class _AdoptionPlanner:
    """Sorts folders and records into those that belong together and the rest."""

    def __init__(self, installer: Installer) -> None:
        self._installer = installer
        self._place = installer.place
        self._lock = self._place.open_lock().load()
        self._left_out: list[NotAdopted] = []

    def plan(self, *, offline: bool) -> PlannedAdoption:
        """Match folders with records, then make one entry of all copies of a skill.

        Nothing is lost on the way: a folder ends as adopted, left out with a reason, unrecorded or
        known, and a record without a folder as missing.
        """
        recorded = load_records(self._place)
        folders = find_skill_folders(self._place)
        known = 0
        unrecorded: list[str] = []
        claims: list[_ClaimedFolder] = []
        for folder in folders:
            if self._is_locked(folder):
                known += 1
                continue
            records = _match(folder, recorded.records)
            if not records:
                unrecorded.append(folder.path)
                continue
            claim = self._claim(folder, records)
            if claim is not None:
                claims.append(claim)
        adopted = self._judge(self._group(claims), offline=offline)
        adoption = Adoption(
            scope=self._place.scope,
            lock=self._place.lock_path,
            skills=tuple(skill for skill, _ in adopted),
            left_out=tuple(self._left_out),
            missing=tuple(_list_missing(recorded.records, folders)),
            unrecorded=tuple(unrecorded),
            unusable=recorded.problems,
            known=known,
        )
        return PlannedAdoption(adoption=adoption, entries=tuple(entry for _, entry in adopted))

    def _is_locked(self, folder: SkillFolder) -> bool:
        return self._lock.find_owner(self._place.name_target(folder.path)) is not None

    def _claim(self, folder: SkillFolder, records: Sequence[Record]) -> _ClaimedFolder | None:
        """The folder as an entry of the lock file; None where it cannot be one."""
        try:
            whole, tree = self._load(folder)
            record, files = _choose(folder, records, whole)
            entry = self._make_entry(folder, record, tree)
        except _RefusedFolder as refusal:
            self._leave_out(records[0], folder, str(refusal))
            return None
        except ProwessError as error:
            self._leave_out(records[0], folder, _explain(error))
            return None
        return _ClaimedFolder(folder=folder, record=record, entry=entry, tree=tree, files=files)

    def _load(self, folder: SkillFolder) -> tuple[Tree, Tree]:
        """All files of a folder, and those that are the skill's own."""
        target = self._place.name_target(folder.path)
        problem = find_target_problem(target)
        if problem is not None:
            raise _RefusedFolder(f"the name of its folder {problem}")
        # An update would write to where the link leads.
        if is_symlinked(folder, self._place):
            raise _RefusedFolder("its folder is a symlink to somewhere else")
        # Their digests may cover files that are no part of the skill, such as their own notes.
        whole = find_tree(folder.path) or Tree({})
        tree = leave_out_generated(whole)
        problem = find_problem(tree.files)
        if problem is not None:
            raise _RefusedFolder(problem)
        if tree.size > MOST_BYTES:
            raise _RefusedFolder(f"it has more than {MOST_BYTES:,} bytes")
        return whole, tree

    def _make_entry(self, folder: SkillFolder, record: Record, tree: Tree) -> LockedSkill:
        if record.problem:
            raise _RefusedFolder(record.problem)
        source = self._installer.parse(record.origin, cwd=self._place.base)
        # A record that says `github` must not turn out to be a path on this disk.
        if source.kind not in record.kinds:
            raise _RefusedFolder(f"Prowess cannot install from {record.origin[:200]}")
        entry = LockedSkill(
            name=read_name(folder.path) or folder.name,
            source=source.text,
            kind=source.kind,
            ref=record.ref,
            resolved=record.resolved,
            path=record.path,
            tree=tree.digest,
            # Their folders stay as they are; only a later `install --link` makes links of them.
            method=COPY,
            pinned=record.pinned,
            installed_at=format_moment(time.time()),
            targets=(self._place.name_target(folder.path),),
            executable=tree.executable,
            files=tree.digests,
        )
        # What is written must be what `sync` and `update` can use later.
        self._installer.restore(entry)
        return entry

    def _group(self, claims: Iterable[_ClaimedFolder]) -> list[list[_ClaimedFolder]]:
        """The copies of one skill together; a copy that differs from the others is left out."""
        groups: dict[tuple[str, str, str], list[_ClaimedFolder]] = {}
        # The copy that is as it was installed decides what the skill is.
        for claim in sorted(claims, key=lambda one: (one.files != UNCHANGED, one.folder.path)):
            group = groups.setdefault(claim.entry.identity, [])
            reason = self._find_difference(claim, group)
            if reason is None:
                group.append(claim)
            else:
                self._leave_out(claim.record, claim.folder, reason)
        filled = filter(None, groups.values())
        return sorted(filled, key=lambda group: group[0].folder.path)

    def _find_difference(
        self, claim: _ClaimedFolder, group: Sequence[_ClaimedFolder]
    ) -> str | None:
        """Why a copy is not the skill of its group; one entry has one version."""
        if group and group[0].entry.tree != claim.entry.tree:
            return f"its files differ from those in {group[0].folder.path}"
        locked = self._lock.find_same(claim.entry.identity)
        if locked is not None and locked.tree != claim.entry.tree:
            return "prowess.lock has another version of it, in another folder"
        return None

    def _judge(
        self, groups: Sequence[list[_ClaimedFolder]], *, offline: bool
    ) -> list[tuple[AdoptedSkill, LockedSkill]]:
        uses = Counter((group[0].entry.source, group[0].entry.ref) for group in groups)
        judged = []
        for group in groups:
            first = group[0]
            is_shared = uses[first.entry.source, first.entry.ref] > 1
            upstream = self._ask(first, offline=offline, is_shared=is_shared)
            try:
                self._check_policy(first.entry, upstream)
            except AgainstPolicy as refusal:
                for claim in group:
                    self._leave_out(claim.record, claim.folder, _explain(refusal))
                continue
            judged.append(self._describe(group, upstream))
        return judged

    def _ask(self, claim: _ClaimedFolder, *, offline: bool, is_shared: bool) -> Upstream:
        outside = self._find_outside(claim.entry)
        if outside is not None:
            reason = f"{outside} is outside the project, and only a file of the project names it"
            return msgspec.structs.replace(NOT_ASKED, problem=reason)
        if offline:
            return NOT_ASKED
        folder = claim.folder.path
        return ask_source(self._installer, claim.entry, folder, claim.tree, is_shared=is_shared)

    def _find_outside(self, entry: LockedSkill) -> str | None:
        """The folder that a skill of a project comes from, if it is not in the project.

        The record may have come with a clone, and must not make us read the rest of the disk.
        """
        source = self._installer.restore(entry)
        if source.kind != FOLDER or self._place.scope == USER:
            return None
        files = LocalFiles()
        base = files.find_real_path(self._place.base) or self._place.base
        # A folder that is missing is reported by its fetcher; nothing is read.
        real = files.find_real_path(source.location) or source.location
        is_inside = f"{real}/".startswith(f"{base}/")
        return None if is_inside else entry.source

    def _check_policy(self, entry: LockedSkill, upstream: Upstream) -> None:
        # A date or a signature of other files says nothing about these.
        skill = upstream.skill if upstream.state == "same" else None
        source = self._installer.restore(entry)
        candidate = InstallCandidate(
            name=entry.name,
            source=entry.source,
            tree=entry.tree,
            is_local=source.is_local,
            released_at=skill.released_at if skill is not None else None,
            signer=skill.signer if skill is not None else "",
        )
        self._installer.check_candidate(candidate)

    def _describe(
        self, group: Sequence[_ClaimedFolder], upstream: Upstream
    ) -> tuple[AdoptedSkill, LockedSkill]:
        first = group[0]
        files = UNCHANGED if upstream.is_unedited else first.files
        resolved, signer = first.entry.resolved, ""
        if upstream.state == "same" and upstream.skill is not None:
            resolved, signer = upstream.skill.resolved, upstream.skill.signer
        locked = self._lock.find_same(first.entry.identity)
        targets = set(locked.targets) if locked is not None else set()
        links: list[str] = []
        for claim in group:
            targets.update(claim.entry.targets)
            links += claim.folder.links
        entry = msgspec.structs.replace(
            first.entry,
            resolved=resolved,
            signer=signer,
            # An update would take the edits for what was installed, and replace them.
            pinned=_EDITED.get(files, first.entry.pinned),
            targets=tuple(sorted(targets)),
        )
        skill = AdoptedSkill(
            name=entry.name,
            tool=first.record.tool,
            record=first.record.file,
            source=entry.source,
            ref=entry.ref,
            path=entry.path,
            resolved=entry.resolved,
            tree=entry.tree,
            folders=tuple(claim.folder.path for claim in group),
            links=tuple(links),
            files=files,
            upstream=upstream.state,
            problem=upstream.problem,
            pinned=entry.pinned,
        )
        return skill, entry

    def _leave_out(self, record: Record, folder: SkillFolder, reason: str) -> None:
        self._left_out.append(
            NotAdopted(
                name=record.name,
                tool=record.tool,
                record=record.file,
                folder=folder.path,
                reason=reason.rstrip("."),
            )
        )


def apply_adoption(installer: Installer, planned: PlannedAdoption) -> None:
    """Put the files into the store and the entries into the lock file; no folder is touched.

    Raises `UsageError` where something has changed since, and `MachineError`.
    """
    place = installer.place
    lock = place.open_lock()
    with lock.hold():
        content = lock.load()
        for entry in planned.entries:
            _check_unchanged(installer, entry, content)
        for entry in planned.entries:
            installer.store.add(place.resolve_target(entry.targets[0]), entry.get_tree())
        lock.save(content.replace((), planned.entries))


def _check_unchanged(installer: Installer, entry: LockedSkill, content: LockContent) -> None:
    place = installer.place
    for target in entry.targets:
        present = find_tree(place.resolve_target(target))
        owner = content.find_owner(target)
        is_taken = owner is not None and owner.identity != entry.identity
        is_same = present is not None and leave_out_generated(present).digest == entry.tree
        if is_taken or not is_same:
            raise UsageError("The folders have changed since; nothing was written. Try again.")


def _match(folder: SkillFolder, records: Iterable[Record]) -> list[Record]:
    """The records that a folder may belong to; what is in the folder itself comes first."""
    names = _list_names(folder)
    # By name only: no path of a record is ever opened, because a clone may have brought it.
    named = [record for record in records if _name_folder(record.name) in names]
    mark = find_mark(folder.path)
    return named if mark is None else [mark, *named]


def _choose(folder: SkillFolder, records: Sequence[Record], tree: Tree) -> tuple[Record, str]:
    """The record that the files fit, or the first one; and whether they do."""
    for record in records:
        if _fits(folder.path, record, tree):
            return _complete(record, records), UNCHANGED
    first = records[0]
    is_checkable = bool(first.digest) and first.tool in FITS
    return _complete(first, records), CHANGED if is_checkable else UNKNOWN


def _complete(record: Record, records: Iterable[Record]) -> Record:
    """A record with what the same installer says elsewhere: a repository and its commit, a pin."""
    same_tool = [other for other in records if other.tool == record.tool]
    # A registry cannot be asked for a skill that it has only a link to.
    best = next((other for other in same_tool if GIT in other.kinds), record)
    pins = (other.pinned for other in same_tool if other.pinned is not None)
    return msgspec.structs.replace(best, pinned=next(pins, None))


def _fits(folder: str, record: Record, tree: Tree) -> bool:
    if not record.digest or record.tool not in FITS:
        return False
    # Programs of the skill may have run since.
    own = Tree({path: one for path, one in tree.files.items() if not is_left_behind(path)})
    return FITS[record.tool](folder, own, record.digest)


def _list_names(folder: SkillFolder) -> set[str]:
    return {_name_folder(posixpath.basename(path)) for path in (folder.path, *folder.links)}


def _name_folder(name: str) -> str:
    """The folder that installers make of a name."""
    plain = re.sub(r"[^a-z0-9._]+", "-", name.lower())
    return plain.strip(".-")


def _list_missing(
    records: Iterable[Record], folders: Iterable[SkillFolder]
) -> Iterator[NotAdopted]:
    """The records of which there is no folder, adopted or not."""
    names: set[str] = set()
    for folder in folders:
        names |= _list_names(folder)
    for record in records:
        if _name_folder(record.name) in names:
            continue
        yield NotAdopted(
            name=record.name,
            tool=record.tool,
            record=record.file,
            folder=None,
            reason="there is no folder of that name",
        )


def _explain(error: ProwessError) -> str:
    if isinstance(error, InvalidSource):
        return f"Prowess cannot install from {error.source[:200]}: {error.problem}"
    return str(error)
