"""Turn fetched skills and chosen folders into a plan. Nothing is written here."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.errors import UnknownSkill, UsageError
from prowess.errors.install import RefusedTree, TargetTaken
from prowess.machine.files import LocalFiles
from prowess.machine.tree_files import find_tree
from prowess.model.tree import fold_path
from prowess.reports.install_plan import InstallPlan, PlannedSkill, PlannedTarget
from prowess.state.install_lock import LockContent, LockedSkill
from prowess.state.skill_store import SkillStore
from prowess.supply.install.contents import Scan, read_contents, scan_skill
from prowess.supply.install.edits import find_edits, leave_out_generated
from prowess.supply.install.fetch import FetchedSkill, FetchedSource
from prowess.supply.install.source import InstallSource
from prowess.supply.install.targets import InstallPlace

COPY = "copy"
LINK = "link"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A fetched skill, the source it belongs to, and the folders it goes into.

    `method` is `COPY` or `LINK`; `previous` is the installed version.
    """

    source: InstallSource
    skill: FetchedSkill
    folders: tuple[str, ...]
    method: str = COPY
    previous: LockedSkill | None = None

    @property
    def identity(self) -> tuple[str, str, str]:
        """As in the lock file."""
        return self.skill.name, self.source.text, self.skill.path


class PlannedInstall(msgspec.Struct, frozen=True, kw_only=True):
    """A plan as people see it, with what is needed to carry it out."""

    plan: InstallPlan
    wanted: tuple[Wanted, ...]


def choose_skills(
    fetched: FetchedSource, names: Sequence[str] = (), *, everything: bool = False
) -> list[FetchedSkill] | None:
    """The skills of a source that are wanted; None where somebody has to be asked.

    Raises `UnknownSkill` and `RefusedTree`.
    """
    # What was asked for by an option counts more than what is part of the address.
    wanted = list(names)
    if not wanted and fetched.source.skill:
        wanted = [fetched.source.skill]
    if wanted:
        return [_get_skill(fetched, name) for name in dict.fromkeys(wanted)]
    if everything or len(fetched.skills) == 1:
        return list(fetched.skills)
    return None


def _get_skill(fetched: FetchedSource, name: str) -> FetchedSkill:
    for skill in fetched.skills:
        if name in (skill.name, skill.path, posixpath.basename(skill.path)):
            return skill
    # Its header was not read, so only its folder can be meant.
    for path, problem in fetched.refused.items():
        if name in (path, posixpath.basename(path)):
            raise RefusedTree(fetched.source.text, problem)
    raise UnknownSkill(name, [skill.name for skill in fetched.skills])


def plan_install(
    place: InstallPlace,
    wanted: Sequence[Wanted],
    lock: LockContent,
    store: SkillStore,
    *,
    scan: Scan = scan_skill,
    fetched: Iterable[FetchedSource] = (),
) -> PlannedInstall:
    """What installing these skills would write, and into which folders.

    Raises `TargetTaken` for a folder that something else is in.
    """
    _check_targets(place, wanted, lock)
    planned = [_plan_skill(place, one, lock, store, scan) for one in wanted]
    refused: list[tuple[str, str]] = []
    diagnostics: list[Diagnostic] = []
    for source in fetched:
        refused += sorted(source.refused.items())
        diagnostics += source.diagnostics
    plan = InstallPlan(
        scope=place.scope,
        lock=place.lock_path,
        skills=tuple(planned),
        refused=tuple(refused),
        diagnostics=tuple(diagnostics),
    )
    return PlannedInstall(plan=plan, wanted=tuple(wanted))


def _check_targets(place: InstallPlace, wanted: Sequence[Wanted], lock: LockContent) -> None:
    """Refuse two skills for one folder, and folders that belong to something else."""
    taken: dict[str, Wanted] = {}
    owners: dict[str, tuple[str, LockedSkill]] = {}
    for entry in lock.skills:
        for target in entry.targets:
            owners[fold_path(target)] = target, entry
    for skill in wanted:
        for folder in skill.folders:
            if place.leads_out(folder):
                raise UsageError(f"{folder} is outside the project, through a symlink.")
            # Two names that differ by case are one folder on many disks, and on a colleague's.
            target = place.name_target(folder)
            key = fold_path(target)
            other = taken.setdefault(key, skill)
            if other is not skill:
                raise TargetTaken(folder, f"“{other.skill.name}” of {other.source.text} goes there")
            known, owner = owners.get(key, (target, None))
            if known != target:
                raise TargetTaken(folder, f"{known} is in prowess.lock, and only case differs")
            _check_owner(folder, skill, owner)


def _check_owner(folder: str, wanted: Wanted, owner: LockedSkill | None) -> None:
    """Refuse a folder of another skill, or with something that nobody installed."""
    if owner is None:
        files = LocalFiles()
        # A link that leads nowhere has no kind, and it is somebody's all the same.
        if files.find_kind(folder) is not None or files.find_link(folder) is not None:
            raise TargetTaken(folder, "it is not in prowess.lock")
        return
    # A skill that its author moved has another path in the source than before.
    previous = wanted.identity if wanted.previous is None else wanted.previous.identity
    if owner.identity not in (wanted.identity, previous):
        raise TargetTaken(folder, f"it is “{owner.name}” from {owner.source}")


def _plan_skill(
    place: InstallPlace,
    wanted: Wanted,
    lock: LockContent,
    store: SkillStore,
    scan: Scan,
) -> PlannedSkill:
    skill = wanted.skill
    previous = wanted.previous or lock.find_same(wanted.identity)
    targets = [_plan_target(place, folder, wanted, previous, store) for folder in wanted.folders]
    replaces, signed_before = "", ""
    if previous is not None:
        replaces = previous.resolved or previous.tree
        signed_before = previous.signer
    return PlannedSkill(
        name=skill.name,
        source=wanted.source.text,
        path=skill.path,
        ref=wanted.source.ref,
        resolved=skill.resolved,
        tree=skill.tree.digest,
        method=wanted.method,
        replaces=replaces,
        signer=skill.signer,
        signed_before=signed_before,
        targets=tuple(targets),
        contents=read_contents(skill, scan),
    )


def _plan_target(
    place: InstallPlace,
    folder: str,
    wanted: Wanted,
    previous: LockedSkill | None,
    store: SkillStore,
) -> PlannedTarget:
    """What happens in one folder of a skill."""
    target = place.name_target(folder)
    present = find_tree(folder)
    if present is None:
        return PlannedTarget(target=target, folder=folder, action="create")
    wanted_tree = wanted.skill.tree
    # A program of the skill may have run in its folder; that is no reason to write it again.
    is_current = leave_out_generated(present, wanted_tree).digest == wanted_tree.digest
    is_link = LocalFiles().find_link(folder) is not None
    is_same_method = is_link == (wanted.method == LINK)
    if is_current and is_same_method:
        return PlannedTarget(target=target, folder=folder, action="unchanged")
    changes = find_edits(present, previous, store)
    action = "edited" if changes else "replace"
    return PlannedTarget(
        target=target, folder=folder, action=action, tree=present.digest, changes=changes
    )
