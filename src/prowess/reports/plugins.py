"""The plugins of a host with what each brings, and the edit that turns one on or off."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from itertools import chain
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.discover.plugins.find import PACKAGES
from prowess.errors import UnknownName, UsageError, shorten
from prowess.model.outcome import Outcome
from prowess.model.plugin import Plugin
from prowess.model.plugin_contents import PluginContents
from prowess.reports.settings_edits import EditedFiles, may_edit
from prowess.runtime import Skills
from prowess.settings.edit.plugins import PluginSwitch, find_plugin_switch
from prowess.settings.load import list_settings_places


class PluginReport(msgspec.Struct, frozen=True):
    """A plugin with its skills and commands, by name and state, and all else that it brings."""

    contents: PluginContents
    skills: tuple[Outcome, ...] = ()
    commands: tuple[Outcome, ...] = ()

    @property
    def plugin(self) -> Plugin:
        return self.contents.plugin

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the plugin and with its files."""
        return (*self.plugin.diagnostics, *self.contents.diagnostics)

    def count_parts(self) -> dict[str, int]:
        """How many of each part the plugin has."""
        return {
            "skills": len(self.skills),
            "commands": len(self.commands),
            "agents": len(self.contents.agents),
            "hooks": len(self.contents.hooks),
            "servers": len(self.contents.servers),
        }

    def shape(self) -> dict[str, Any]:
        """As JSON. Values of servers that may be secret are left out."""
        plugin = self.plugin
        return {
            "id": plugin.id,
            "name": plugin.name,
            "version": plugin.version or None,
            "description": plugin.description or None,
            "enabled": plugin.is_enabled,
            "reason": plugin.disabled_by,
            "switched_in": None if plugin.switched_in.file is None else str(plugin.switched_in),
            "trusted": self.contents.is_trusted,
            "owner": plugin.owner,
            "format": plugin.format,
            "folder": plugin.folder,
            "origin": plugin.origin,
            "skills": [_shape_outcome(one) for one in self.skills],
            "commands": [_shape_outcome(one) for one in self.commands],
            "agents": list(self.contents.agents),
            "hooks": [_shape_hook(one) for one in self.contents.hooks],
            "servers": [
                {"name": one.name, "transport": one.transport, "target": one.target}
                for one in self.contents.servers
            ],
            "diagnostics": [msgspec.to_builtins(one) for one in self.diagnostics],
        }


def _shape_outcome(outcome: Outcome) -> dict[str, Any]:
    return {"name": outcome.name, "state": outcome.state.value}


def _shape_hook(hook: Any) -> dict[str, Any]:
    return {"event": hook.event, "matcher": hook.matcher, "command": hook.command}


def report_plugins(skills: Skills) -> tuple[PluginReport, ...]:
    """Every plugin of a host. `skills` are opened with `packages`, or those of packages are not
    counted.
    """
    by_plugin: dict[str, list[Outcome]] = {}
    for outcome in skills.snapshot.outcomes:
        id = outcome.candidate.root.plugin
        if id:
            by_plugin.setdefault(id, []).append(outcome)
    return tuple(
        _report(contents, by_plugin.get(contents.plugin.id, ()))
        for contents in skills.plugins(packages=True)
    )


def _report(contents: PluginContents, outcomes: Iterable[Outcome]) -> PluginReport:
    skills: list[Outcome] = []
    commands: list[Outcome] = []
    for outcome in outcomes:
        is_command = outcome.candidate.root.layout == "commands"
        (commands if is_command else skills).append(outcome)
    return PluginReport(contents, tuple(skills), tuple(commands))


# Turn a plugin on or off


class PluginSwitchPlan(msgspec.Struct, frozen=True):
    """The new text of a settings file, and the key that turns the plugin on or off."""

    plugin: Plugin
    file: str
    key: str
    text: str
    created: bool
    changed: bool


class UnknownPlugin(UnknownName):
    """No plugin has the requested name or id."""

    exit_code = 3

    def __str__(self) -> str:
        return f"There is no plugin “{shorten(self.name)}”."

    @property
    def hint(self) -> str | None:
        return super().hint or "Run `prowess plugins` to see all plugins."


def find_plugin(skills: Skills, name: str) -> Plugin:
    """The plugin with a name or an id. Raises `UnknownPlugin`, and a `UsageError` for several."""
    plugins = skills.project.load_plugins(packages=True)
    # An id is exact; plugins of several marketplaces may share a name.
    by_id = [plugin for plugin in plugins if plugin.id == name]
    matching = by_id or [plugin for plugin in plugins if plugin.name == name]
    if not matching:
        names = [(plugin.name, plugin.id) for plugin in plugins]
        raise UnknownPlugin(name, dict.fromkeys(chain.from_iterable(names)))
    if len(matching) > 1:
        ids = ", ".join(plugin.id for plugin in matching)
        raise UsageError(f"There are several plugins named “{name}”; use one of {ids}.")
    return matching[0]


def plan_plugin_switch(skills: Skills, name: str, *, enabled: bool, user: bool) -> PluginSwitchPlan:
    """Plan to turn a plugin on or off, for this project or for all projects of the user.

    An installed package, or one that ships, is always switched for all of them. Raises
    `UnknownPlugin`, and a `UsageError` where the settings of the host have no such switch.
    """
    plugin = find_plugin(skills, name)
    is_package = skills.profile.plugins[plugin.kind].find in PACKAGES
    is_users = is_package or plugin.owner == "bundled"
    files = EditedFiles(skills.project.files)
    path, switch = _choose_file(skills, files, user=user or is_users)
    old = files.load_text(path)
    new = switch.set(old, plugin.id, enabled=enabled, file=path)
    return PluginSwitchPlan(
        plugin=plugin,
        file=path,
        key=switch.render_key(plugin.id),
        text=new,
        created=not files.is_on_disk(path),
        changed=new != old,
    )


def _choose_file(skills: Skills, files: EditedFiles, *, user: bool) -> tuple[str, PluginSwitch]:
    """The settings file to edit: the strongest of the wanted kind that exists."""
    places = skills.find_places()
    top = (places.repository or places.cwd).rstrip("/")
    # The switch of each file, in reading order, so that the last is the strongest.
    switches: dict[str, PluginSwitch] = {}
    of_the_kind: list[str] = []
    for path, rule in list_settings_places(skills.profile, places):
        if not may_edit(path, rule, top):
            continue
        switch = find_plugin_switch(rule)
        if switch is None:
            continue
        switches[path] = switch
        if rule.is_project != user:
            of_the_kind.append(path)
    if not switches:
        title = skills.profile.title or skills.profile.name
        raise UsageError(f"{title} has no setting for a plugin that can be edited.")
    # A host may have such a setting in files of one kind only.
    wanted = of_the_kind or list(switches)
    existing = files.find_strongest(wanted)
    if existing is not None:
        return existing, switches[existing]
    # Files of a project are read in each folder up to its top; one at the top applies to all.
    at_top = [path for path in wanted if posixpath.dirname(path) == top]
    new = (at_top or wanted)[-1]
    return new, switches[new]
