"""Lay a project's skills out for other hosts: a link or a copy in a folder that each one reads.

Only what was written here before is replaced, and only if nobody has changed it since.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from prowess.errors import UnknownSkill
from prowess.machine.files import LocalFiles
from prowess.machine.installed_folder import (
    make_parent,
    name_staged,
    put_in_place,
    recover,
    stage_link,
)
from prowess.machine.tree_files import copy_tree, load_tree, remove_tree
from prowess.model.facts import Facts
from prowess.model.outcome import Outcome, State
from prowess.model.skill import LoadedFrom, Scope, Skill
from prowess.model.tree import Tree
from prowess.reports.host_losses import list_losses
from prowess.reports.skill_folders import choose_project_folder
from prowess.runtime import Skills
from prowess.state.exports import Exported, ExportList
from prowess.state.unpacked_files import name_folder
from prowess.supply.index_format import SKILL_FILE
from prowess.supply.publish.skill_files import is_left_out

LINK, COPY = "link", "copy"
# Hosts that refuse a folder which a link leads out of the root to.
_NO_LINKS = ("inside-root", "inside-plugin", "root-only", "never")
_UNKNOWN = "unknown; Prowess has no profile of this agent, only its folder"
# States in which a host has decided to use another file, or none.
_NOT_USED = (State.INVALID, State.SKIPPED, State.DUPLICATE, State.DISABLED, State.SHADOWED)


class LaidOut(msgspec.Struct, frozen=True, kw_only=True):
    """One skill for one host.

    `action` is `reads` (the host reads it where it is), `create`, `update`, `unchanged`, or
    `blocked`, with the `reason`. `losses` is what the host would lose of it.
    """

    host: str
    name: str
    source: str
    action: str
    target: str | None = None
    method: str | None = None
    reason: str | None = None
    losses: tuple[str, ...] = ()

    @property
    def is_change(self) -> bool:
        """Whether something is written."""
        return self.action in ("create", "update")

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        shape = msgspec.to_builtins(self)
        return {name: value for name, value in shape.items() if value is not None}


class HostLayout:
    """The skills of a project, to be laid out for hosts."""

    def __init__(self, skills: Skills, facts: Facts) -> None:
        self._facts = facts
        self._files = LocalFiles()
        self._exports = ExportList(facts)
        self._known = self._exports.load()
        # Nothing is written above this folder.
        self._top = skills.snapshot.repository or skills.snapshot.cwd
        self._source_profile = skills.profile
        self._own = dict(_find_own(skills, self._known))

    def choose(self, names: Collection[str]) -> list[Skill]:
        """The skills of these names, or all of them. Raises `UnknownSkill`."""
        if not names:
            return list(self._own.values())
        for name in names:
            if name not in self._own:
                raise UnknownSkill(name, self._own)
        return [skill for name, skill in self._own.items() if name in names]

    def plan(
        self, chosen: Sequence[Skill], host: Skills, *, copy: bool = False
    ) -> Iterator[LaidOut]:
        """What is done for one host. Nothing is written."""
        folder = choose_project_folder(host)
        # A folder that does not exist yet is no root of this scan, but of the next one.
        root = next((one for one in host.snapshot.roots if one.path == folder), None)
        switched_off_by = root.disabled_by if root is not None else None
        follows_links = root is None or root.links not in _NO_LINKS
        method = LINK if follows_links and not copy else COPY
        # Also what the host reads in another folder than the one that is written to.
        used = (outcome for outcome in host.snapshot.outcomes if outcome.state not in _NOT_USED)
        already_read = {outcome.candidate.real for outcome in used}
        for skill in chosen:
            planned = self._plan_skill(skill, host, folder, method, already_read)
            if switched_off_by is None or planned.action == "reads":
                yield planned
                continue
            losses = (f"does not read the folder: {switched_off_by}", *planned.losses)
            yield msgspec.structs.replace(planned, losses=losses)

    def plan_unknown(
        self, chosen: Sequence[Skill], agent: str, folder: str, *, copy: bool = False
    ) -> Iterator[LaidOut]:
        """What is done for an agent of which only the folder is known. Nothing is written."""
        for skill in chosen:
            source = self._get_folder(skill)
            target = posixpath.join(folder, name_folder(skill.name))
            laid_out = LaidOut(
                host=agent, name=skill.name, source=source, action="reads", losses=(_UNKNOWN,)
            )
            real = self._files.find_real_path(target) or target
            if real == source:
                yield msgspec.structs.replace(laid_out, target=target)
                continue
            method = COPY if copy else LINK
            action, reason = self._judge(source, target, method)
            yield msgspec.structs.replace(
                laid_out, target=target, method=method, action=action, reason=reason
            )

    def _plan_skill(
        self,
        skill: Skill,
        host: Skills,
        folder: str,
        method: str,
        already_read: Collection[str | None],
    ) -> LaidOut:
        source = self._get_folder(skill)
        laid_out = LaidOut(
            host=host.host,
            name=skill.name,
            source=source,
            action="create",
            losses=self._list_losses(skill, host),
        )
        if self._files.find_real_path(skill.location) in already_read:
            return msgspec.structs.replace(laid_out, action="reads")
        target = posixpath.join(folder, name_folder(skill.name))
        is_exported_copy = target in self._known and self._files.find_link(target) is None
        if is_exported_copy:
            # A host that shares the folder needed a copy; the others read that, too.
            method = COPY
        action, reason = self._judge(source, target, method)
        return msgspec.structs.replace(
            laid_out, target=target, method=method, action=action, reason=reason
        )

    def _list_losses(self, skill: Skill, host: Skills) -> tuple[str, ...]:
        """What this host loses and the project's own does not."""
        own = list_losses(skill, self._source_profile, self._files)
        lost = list_losses(skill, host.profile, self._files)
        # What even the project's own host does not support is no news.
        return tuple(loss for loss in lost if loss not in own)

    def _get_folder(self, skill: Skill) -> str:
        real = self._files.find_real_path(skill.location) or skill.location
        return posixpath.dirname(real)

    def _judge(self, source: str, target: str, method: str) -> tuple[str, str | None]:
        """What has to be done at a target, and why it cannot be."""
        if not self._is_in_project(target):
            return "blocked", "a symlink leads out of the project"
        if method == COPY:
            files = self._load(source).files
            odd = [path for path, file in files.items() if not file.is_ordinary]
            if odd:
                return "blocked", f"{min(odd)} is a symlink or a special file"
        present = self._describe(target)
        if present is None:
            return "create", None
        if present == self._render_content(source, target, method):
            return "unchanged", None
        exported = self._known.get(target)
        if exported is not None:
            if exported.content == present:
                return "update", None
            return "blocked", "it was changed since it was exported"
        if self._is_copy(source, target):
            # Such as the second folder of a skill that was installed for two agents.
            return "reads", None
        return "blocked", "it is there and was not written by `prowess export`"

    def _is_copy(self, source: str, target: str) -> bool:
        """Whether a folder, or what it links to, has the files of the skill."""
        real = self._files.find_real_path(target)
        if real is None or self._files.find_kind(real) != "folder":
            return False
        return self._load(real).digest == self._load(source).digest

    def _is_in_project(self, target: str) -> bool:
        top = self._files.find_real_path(self._top) or self._top
        above = posixpath.dirname(target)
        while self._files.find_kind(above) is None and len(above) > len(self._top):
            above = posixpath.dirname(above)
        real = self._files.find_real_path(above) or above
        return f"{real}/".startswith(f"{top}/")

    def _describe(self, target: str) -> str | None:
        """What is at a target, in a word that changes with it."""
        link = self._files.find_link(target)
        if link is not None:
            return f"link:{link}"
        kind = self._files.find_kind(target)
        if kind is None:
            return None
        if kind != "folder":
            return kind
        return load_tree(target).digest

    def _render_content(self, source: str, target: str, method: str) -> str:
        if method == LINK:
            return f"link:{self._render_link(source, target)}"
        return self._load(source).digest

    def _render_link(self, source: str, target: str) -> str:
        """The link's text: relative, from where its folder really is."""
        # Relative, so that the project can be moved; the kernel resolves it from the real folder.
        parent = posixpath.dirname(target)
        return posixpath.relpath(source, self._files.find_real_path(parent) or parent)

    def _load(self, source: str) -> Tree:
        """The files of a skill that are copied, by the same rule as for `pack`."""
        tree = load_tree(source, skip=frozenset({".git"}))
        return Tree({path: one for path, one in tree.files.items() if not is_left_out(path)})

    def write(self, laid_out: LaidOut) -> None:
        """Carry out a change that was planned. Raises `MachineError`."""
        target, source = laid_out.target, laid_out.source
        assert target is not None
        assert laid_out.method is not None
        make_parent(target)
        recover([target])
        staged = name_staged(target)
        try:
            if laid_out.method == LINK:
                stage_link(self._render_link(source, target), staged)
            else:
                copy_tree(source, self._load(source), staged)
            put_in_place(staged, target)
        finally:
            remove_tree(staged)
        content = self._render_content(source, target, laid_out.method)
        # Noted after it is written: killed in between, the next run finds it equal.
        exported = Exported(target, source, content)
        self._exports.add(exported)
        self._known[target] = exported


def _find_own(skills: Skills, known: Mapping[str, Exported]) -> Iterator[tuple[str, Skill]]:
    """The project's own skills by name; those that were exported before are not its own."""
    seen: set[str] = set()
    for outcome in skills.snapshot.outcomes:
        skill = outcome.skill
        if skill is None or outcome.name in seen or not _is_own(outcome, known):
            continue
        seen.add(outcome.name)
        yield outcome.name, skill


def _is_own(outcome: Outcome, known: Mapping[str, Exported]) -> bool:
    candidate = outcome.candidate
    is_project = candidate.root.scope is Scope.PROJECT
    is_skill = candidate.root.source.loaded_from is LoadedFrom.SKILLS
    is_folder = posixpath.basename(candidate.location) == SKILL_FILE
    if not (is_project and is_skill and is_folder):
        return False
    # In Prowess's own order a copy may come before its original; it must not be copied again.
    if candidate.folder in known:
        return False
    if outcome.state in (State.SHADOWED, State.DUPLICATE):
        # A copy of it for another host may come before it here.
        return outcome.by is not None and posixpath.dirname(outcome.by) in known
    return outcome.state not in _NOT_USED
