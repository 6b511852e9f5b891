"""Bring installed skills to what their sources have now, without losing a user's edits."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from prowess.errors import ProwessError, UsageError
from prowess.errors.install import AgainstPolicy, InvalidLock, LocalChanges, NotInstalled
from prowess.machine.tree_files import read_file
from prowess.model.skill import Scope
from prowess.model.tree import TreeChanges
from prowess.reports.install_check import SkillVersion
from prowess.reports.install_plan import PlannedSkill
from prowess.runtime import Skills
from prowess.state.install_lock import LockContent, LockedSkill
from prowess.supply.install.fetch import FetchedSkill
from prowess.supply.install.installer import Installer
from prowess.supply.install.merge import OURS, THEIRS, EditedSkill
from prowess.supply.install.plan import PlannedInstall, Wanted
from prowess.supply.install.semantic_version import is_older
from prowess.supply.install.source import InstallSource
from prowess.supply.install.sync import get_locked_skill
from prowess.supply.install.targets import USER, InstallPlace, find_place
from prowess.text.differences import render_difference

# Whose folders a user may manage by hand.
_PLAIN_SCOPES = (Scope.PROJECT, Scope.USER, Scope.ADDED)


class Update(msgspec.Struct, frozen=True, kw_only=True):
    """An installed skill, how it compares with its source, and the newer one if there is one."""

    entry: LockedSkill
    version: SkillVersion
    wanted: Wanted | None = None


def select_entries(
    content: LockContent,
    names: Sequence[str],
    skills: Skills,
    *,
    folder_hint: str | None = None,
) -> tuple[LockedSkill, ...]:
    """The installed skills that are meant; all of them without a name.

    Raises `NotInstalled`, and `UsageError` where a name means several. `skills` are asked whether
    there is a folder of that name that nobody installed, and `folder_hint` says what to do then.
    """
    if not names:
        return content.skills
    selected: dict[tuple[str, str, str], LockedSkill] = {}
    for name in names:
        matching = content.find_named(name)
        if not matching:
            known = sorted({entry.name for entry in content.skills})
            folder = _find_plain(skills, name)
            raise NotInstalled(name, known, folder=folder, folder_hint=folder_hint)
        if len(matching) > 1:
            listed = ", ".join(entry.label for entry in matching)
            raise UsageError(f"“{name}” is installed from several sources: name one of {listed}.")
        selected[matching[0].identity] = matching[0]
    return tuple(selected.values())


def _find_plain(skills: Skills, name: str) -> str:
    """The folder of a skill that is here without having been installed; "" if there is none."""
    named = [one.candidate for one in skills.snapshot.outcomes if one.name == name]
    folders = [one.folder for one in named if one.root.scope in _PLAIN_SCOPES]
    if not folders:
        return ""
    # What is not in the lock file of the project may be in that of the user.
    of_project = find_place(skills, user=False)
    of_user = find_place(skills, user=True)
    try:
        locked = {*_list_locked(of_project), *_list_locked(of_user)}
    except InvalidLock:
        # Another command says what is wrong with it; here it would hide the wrong name.
        return ""
    return next((folder for folder in folders if folder not in locked), "")


def _list_locked(place: InstallPlace) -> list[str]:
    return place.list_folders(place.open_lock().load().skills)


def find_updates(installer: Installer, entries: Iterable[LockedSkill]) -> Iterator[Update]:
    """What each source has now, and whether it is allowed; what fails costs only its own skills."""
    wanted = list(entries)
    uses = Counter((entry.source, entry.ref) for entry in wanted)
    for entry in wanted:
        # Its source is not asked at all: that could take long, and nothing would follow from it.
        if entry.pinned is not None:
            yield Update(entry=entry, version=_describe(entry, state="pinned"))
            continue
        is_shared = uses[entry.source, entry.ref] > 1
        try:
            update = _find_update(installer, entry, is_shared=is_shared)
        except ProwessError as error:
            version = _describe(entry, state="failed", problem=str(error))
            yield Update(entry=entry, version=version)
            continue
        yield _ask_policy(installer, update)


def _ask_policy(installer: Installer, update: Update) -> Update:
    """The update, or a refused one without anything to install; the others go on."""
    if update.wanted is None:
        return update
    try:
        installer.check_fetched(update.wanted.source.text, update.wanted.skill)
    except AgainstPolicy as refusal:
        version = msgspec.structs.replace(update.version, state="refused", problem=str(refusal))
        return Update(entry=update.entry, version=version)
    return update


def _find_update(installer: Installer, entry: LockedSkill, *, is_shared: bool) -> Update:
    source: InstallSource | None = None
    skill: FetchedSkill | None = None
    for fetched in installer.fetch_again(entry, is_shared=is_shared):
        source, skill = fetched.source, find_same(fetched.skills, entry)
        if skill is not None:
            break
    if skill is None or source is None:
        problem = f"{entry.source} no longer has “{entry.name}”"
        version = _describe(entry, state="gone", problem=problem)
        return Update(entry=entry, version=version)
    if skill.name != entry.name:
        # Another name may replace another skill, so nobody gets it without having asked for it.
        problem = f"{entry.source} has “{skill.name}” instead"
        version = _describe(entry, state="renamed", problem=problem)
        return Update(entry=entry, version=version)
    # The commit may be new although the files of this skill are not.
    is_same = skill.tree.digest == entry.tree
    # A registry may call an older version its latest again; that is no update.
    if is_same or is_older(skill.resolved, entry.resolved):
        version = _describe(entry, latest=skill.resolved)
        return Update(entry=entry, version=version)
    latest = skill.resolved or skill.tree.digest
    if entry.signer and skill.signer != entry.signer:
        # The owner of the server can leave the signature out; only the user may go on without it.
        problem = _explain_signer(installer, entry, skill)
        version = _describe(entry, state="failed", latest=latest, problem=problem)
        return Update(entry=entry, version=version)
    version = _describe(entry, state="outdated", latest=latest)
    folders = tuple(installer.place.resolve_target(target) for target in entry.targets)
    wanted = Wanted(
        source=source, skill=skill, folders=folders, method=entry.method, previous=entry
    )
    return Update(entry=entry, version=version, wanted=wanted)


def _explain_signer(installer: Installer, entry: LockedSkill, skill: FetchedSkill) -> str:
    ref = f"#{entry.ref}" if entry.ref else ""
    # Installing again is the one way that shows the plan and asks, whatever was signed before.
    words = ["prowess", "install", f"{entry.source}{ref}", "--skill", entry.name]
    if installer.place.scope == USER:
        words.append("--user")
    new = skill.signer or "no known signer"
    return (
        f"it was signed by {entry.signer}, the new version by {new};"
        f" `{shlex.join(words)}` shows the new version and asks"
    )


def find_same(skills: Sequence[FetchedSkill], entry: LockedSkill) -> FetchedSkill | None:
    """The skill in the same folder; else the only one of that name, which was moved."""
    for skill in skills:
        if skill.path == entry.path:
            return skill
    same_name = [skill for skill in skills if skill.name == entry.name]
    if len(same_name) != 1:
        return None
    return same_name[0]


def _describe(
    entry: LockedSkill, *, state: str = "current", latest: str = "", problem: str = ""
) -> SkillVersion:
    return SkillVersion(
        name=entry.name,
        source=entry.source,
        ref=entry.ref,
        installed=entry.resolved or entry.tree,
        latest=latest,
        state=state,
        problem=problem,
    )


def combine_edits(installer: Installer, planned: PlannedInstall, strategy: str) -> dict[str, str]:
    """Combine the user's edits with the new versions, in the staging folder; by target.

    Raises `LocalChanges` without a strategy, `MergeConflict` and `SourceFailed`. There is nothing
    to combine where the new version wins.
    """
    merged: dict[str, str] = {}
    if strategy == THEIRS:
        return merged
    if planned.plan.edited and not strategy:
        raise LocalChanges(tuple(skill.name for skill in planned.plan.edited))
    # Each folder of a skill may have been edited in another way.
    for wanted, skill in zip(planned.wanted, planned.plan.skills, strict=True):
        edited_targets = [target for target in skill.targets if target.action == "edited"]
        for target in edited_targets:
            base = _find_base(installer, wanted.previous, needed=strategy != OURS)
            edited = EditedSkill(
                skill.name,
                base=base,
                base_tree=_get_locked(wanted).get_tree(),
                own=target.folder,
                new=wanted.skill.folder,
            )
            folder = f"{installer.staging}/merged-{len(merged)}"
            edited.combine(folder, strategy, installer.place.facts)
            merged[target.target] = folder
    return merged


def _get_locked(wanted: Wanted) -> LockedSkill:
    # Only an installed folder can have been edited.
    assert wanted.previous is not None
    return wanted.previous


def _find_base(installer: Installer, entry: LockedSkill | None, *, needed: bool) -> str:
    """A folder with the version that the user's edits started from."""
    assert entry is not None
    if needed and not installer.store.is_whole(entry.tree):
        # Not into the store: if the edits were made through a link, they are what it has now.
        return get_locked_skill(installer, entry).folder
    return installer.store.locate(entry.tree)


def render_edits(installer: Installer, skill: PlannedSkill, entry: LockedSkill) -> Iterator[str]:
    """What the user changed, as differences to what was installed."""
    base = installer.store.locate(entry.tree)
    for target in skill.targets:
        if target.changes:
            yield from _render_changes(base, target.folder, target.changes, entry)


def _render_changes(
    base: str, folder: str, changes: TreeChanges, entry: LockedSkill
) -> Iterator[str]:
    for path in (*changes.changed, *changes.missing, *changes.added):
        was_there = path in entry.files
        is_there = path not in changes.missing
        old = _read_text(base, path) if was_there else ""
        new = _read_text(folder, path) if is_there else ""
        if old is None or new is None:
            yield f"Binary file {path} differs"
            continue
        # A file with the same text is changed if it became a program, or no longer is one.
        yield render_difference(path, old, new) or f"The mode of {path} differs"


def _read_text(folder: str, path: str) -> str | None:
    """The text of a file; None where it is no text, or cannot be read."""
    try:
        return read_file(folder, path).decode("utf-8")
    except (UnicodeDecodeError, ProwessError):
        # A difference that cannot be shown as text is named instead.
        return None
