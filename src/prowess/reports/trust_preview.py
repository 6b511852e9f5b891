"""What trusting a project would let run: commands in its skills, hooks, and what its settings
declare.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import msgspec

from prowess.cli.terminal.progress import Progress
from prowess.conversation.dormant import Waking
from prowess.conversation.services import Ground
from prowess.errors import MachineError
from prowess.machine.project_folders import MOST_FOLDERS, find_holders
from prowess.model.settings import Origin, Settings
from prowess.model.skill import LoadedFrom, Scope, Skill
from prowess.model.snapshot import Snapshot
from prowess.runtime import Skills
from prowess.shell.configured_tools import render_template
from prowess.shell.embedded_commands import find_commands

# Their commands run, or never run, whatever project is trusted.
_ELSEWHERE = (Scope.USER, Scope.MANAGED, Scope.BUNDLED, Scope.REMOTE)

# The fields of a hook that say what it does.
_HOOKS_DO = ("command", "url", "prompt")


class SkillStake(msgspec.Struct, frozen=True):
    """A skill that runs something: its commands as they are written, and its hooks, each with the
    event before it.
    """

    name: str
    location: str
    commands: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()


class SettingStake(msgspec.Struct, frozen=True):
    """A program or a variable that the project's settings declare, and where. A variable's value is
    never told.
    """

    name: str
    origin: Origin
    command: str = ""


class Stakes(msgspec.Struct, frozen=True):
    """Everything that trusting a project would let run now.

    `unread` are files whose bodies could not be read. `is_cut` where not every folder was searched.
    """

    skills: tuple[SkillStake, ...] = ()
    tools: tuple[SettingStake, ...] = ()
    variables: tuple[SettingStake, ...] = ()
    unread: tuple[str, ...] = ()
    is_cut: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing would run."""
        return not (self.skills or self.tools or self.variables)


def find_stakes(root: str, folder: str, host: str | None = None) -> Stakes:
    """What a project would run, as it is seen from its root, from the folder that was asked about
    and from any below.

    Prowess's own rules find it, since they read the folders of every host; those of a `host` may
    find more.
    """
    with Progress("looking at what would run") as progress:
        hosts = dict.fromkeys(("prowess", host or "prowess"))
        seen = [
            Skills(one, host=by, reporter=progress)
            for one in dict.fromkeys((root, folder))
            for by in hosts
        ]
        below = [_look_below(skills) for skills in seen[: len(hosts)]]
        snapshots = (*(skills.snapshot for skills in seen), *(snapshot for snapshot, _ in below))
        inside = {
            skill.location: skill
            for snapshot in snapshots
            for skill in _list_inside(snapshot, root)
        }
        own = [skills.project.load_own_settings() for skills in seen]
        stakes, unread = _read_bodies(
            sorted(inside.values(), key=lambda one: (one.name, one.location))
        )
    return Stakes(
        skills=tuple(stakes),
        tools=_gather([stake for settings in own for stake in _list_tools(settings)]),
        variables=_gather([stake for settings in own for stake in _list_variables(settings)]),
        unread=tuple(unread),
        is_cut=any(is_cut for _, is_cut in below),
    )


def _look_below(skills: Skills) -> tuple[Snapshot, bool]:
    """What comes to light once files everywhere below are touched, and whether some folders were
    not searched.
    """
    rules = skills.profile.conditions
    templates = [template for id in rules.below for template in skills.profile.roots[id].at]
    holding = {
        template.split("/")[1] for template in templates if template.startswith("{ancestor}/")
    }
    if not holding:
        return skills.snapshot, False
    walked = find_holders(skills.cwd, holding, skip_names=rules.below_skips, most=MOST_FOLDERS)
    ground = Ground(skills.project, lambda: skills.snapshot, skills.reload, count=False)
    return Waking(ground, folders=walked.folders).snapshot, walked.is_cut


def _list_inside(snapshot: Snapshot, root: str) -> Iterator[Skill]:
    """The skills that lie in a project, whatever became of them: another host, or a later day, may
    use them.
    """
    for outcome in snapshot.outcomes:
        skill = outcome.skill
        if skill is None or skill.scope in _ELSEWHERE or skill.source.loaded_from is LoadedFrom.MCP:
            continue
        if any(
            os.path.realpath(path).startswith(os.path.join(root, ""))
            for path in (skill.location, skill.folder)
        ):
            yield skill


def _read_bodies(skills: list[Skill]) -> tuple[list[SkillStake], list[str]]:
    stakes, unread = [], []
    for skill in skills:
        try:
            body = skill.load().content
        except (OSError, MachineError):
            unread.append(skill.location)
            body = ""
        commands = tuple(spot.command for spot in find_commands(body).spots)
        hooks = tuple(describe_hooks(skill.manifest.hooks))
        if commands or hooks:
            stakes.append(SkillStake(skill.name, skill.location, commands, hooks))
    return stakes, unread


def describe_hooks(hooks: Any) -> Iterator[str]:
    """What the hooks of a header do, each with its event: the command, address or prompt; or the
    event alone.

    The table is taken as it is written, whether it can be used or not.
    """
    if not isinstance(hooks, dict):
        return
    for event, declared in hooks.items():
        commands = list(_find_commands(declared))
        yield from (f"{event}: {command}" for command in commands) if commands else (str(event),)


def _find_commands(declared: Any) -> Iterator[str]:
    if isinstance(declared, list | tuple):
        for one in declared:
            yield from _find_commands(one)
    elif isinstance(declared, dict):
        for key, value in declared.items():
            if key in _HOOKS_DO and isinstance(value, str):
                yield value
            else:
                yield from _find_commands(value)


def _list_tools(settings: Settings) -> Iterator[SettingStake]:
    for name, tool in settings.tools.items():
        if settings.is_from_project(f"tools.{name}"):
            yield SettingStake(
                name, settings.origin(f"tools.{name}"), render_template(tool.command)
            )


def _list_variables(settings: Settings) -> Iterator[SettingStake]:
    for skill, override in settings.overrides.items():
        for field, name in (
            *((f"env.{name}", name) for name in override.env),
            ("api_key", "api_key"),
        ):
            key = f"overrides.{skill}.{field}"
            if settings.is_from_project(key):
                yield SettingStake(f"{skill}: {name}", settings.origin(key))


def _gather(stakes: list[SettingStake]) -> tuple[SettingStake, ...]:
    return tuple(
        sorted(set(stakes), key=lambda one: (one.name, one.origin.file or "", one.origin.line or 0))
    )
