"""The profile: all rules of a host as data.

Every key has a default, so a profile file contains only what differs from the one it extends.
Behaviour that is not a number is a word from a fixed set; the stage that implements it has a table
of functions by word.
"""

# Annotations are real types, for the reason given in this folder's `__init__.py`.

from typing import Any

import msgspec

from prowess.profiles.schema import Table
from prowess.profiles.schema.body import (
    ArgumentRules,
    CompactionRules,
    ConditionRules,
    EmbeddedCommandRules,
    ResourceRules,
)
from prowess.profiles.schema.catalog import BudgetRules, CatalogRules
from prowess.profiles.schema.commands import CommandRules, RequestRules, ToolRules
from prowess.profiles.schema.header import FieldRules, HeaderRules
from prowess.profiles.schema.mcp import McpRules
from prowess.profiles.schema.plugins import PluginRule
from prowess.profiles.schema.resolution import GateRules, PermissionRules, ResolutionRules
from prowess.profiles.schema.roots import ContextRules, RootRule, ScanLimits
from prowess.profiles.schema.settings import AgentFilesRule, SettingsFileRule, ToggleRule


class Provenance(Table, frozen=True):
    """What a profile is based on, and where it deviates.

    - `release`: the release it follows.
    - `measured`: whether the release itself was tested.
    - `documents`: the documents it is based on.
    - `not_measured`: what was only read about, although the release was tested.
    - `drops`: what the host leaves out without a word.
    - `departures`: where Prowess deviates on purpose, or does not follow yet.
    """

    release: str = ""
    measured: bool = False
    documents: tuple[str, ...] = ()
    not_measured: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    departures: tuple[str, ...] = ()


class InstallationRules(Table, frozen=True):
    """How the host is found on a machine.

    - `programs`: the names of its program; the first that is on the PATH counts.
    - `packages`: the npm packages it is installed from, which tell its version without running it.
    """

    programs: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()


class Profile(Table, frozen=True):
    """All rules of a host, with every `extends` resolved.

    - `name`: the name of the host; same as the file name.
    - `title`: the name to show.
    - `edition`: the edition this profile was loaded for.
    - `editions`: the editions the profile has.
    - `places`: names for folders, each with its alternatives or a folder per platform.
    - `source_labels`: what the host calls a source on its screen, by the source's label.
    - `order`: the roots in scan order. Roots in a nested list are searched together, folder by
      folder.
    - `switch_words`: reject environment switches whose value is neither a true nor a false word.
    - `bare_switches`: environment variables that have the effect of `--bare`.
    - `settings_order`: the settings files in the order they are read.
    - `settings_variables`: environment variables that contain settings, each with the settings file
      whose rules apply; they are read last.
    """

    name: str
    title: str = ""
    edition: str = "current"
    editions: tuple[str, ...] = ("current",)
    provenance: Provenance = Provenance()
    installed: InstallationRules = InstallationRules()
    places: dict[str, tuple[str, ...] | dict[str, str]] = msgspec.field(default_factory=dict)
    source_labels: dict[str, str] = msgspec.field(default_factory=dict)
    order: tuple[str | tuple[str, ...], ...] = ()
    roots: dict[str, RootRule] = msgspec.field(default_factory=dict)
    plugins: dict[str, PluginRule] = msgspec.field(default_factory=dict)
    limits: ScanLimits = ScanLimits()
    header: HeaderRules = HeaderRules()
    fields: FieldRules = FieldRules()
    resolution: ResolutionRules = ResolutionRules()
    gate: GateRules = GateRules()
    permissions: PermissionRules = PermissionRules()
    toggles: dict[str, ToggleRule] = msgspec.field(default_factory=dict)
    switch_words: bool = False
    bare_switches: tuple[str, ...] = ()
    settings_order: tuple[str, ...] = ()
    settings: dict[str, SettingsFileRule] = msgspec.field(default_factory=dict)
    settings_variables: dict[str, str] = msgspec.field(default_factory=dict)
    agent_files: dict[str, AgentFilesRule] = msgspec.field(default_factory=dict)
    context: ContextRules = ContextRules()
    mcp: McpRules = McpRules()
    catalog: CatalogRules = CatalogRules()
    budget: BudgetRules = BudgetRules()
    commands: CommandRules = CommandRules()
    requests: RequestRules = RequestRules()
    compaction: CompactionRules = CompactionRules()
    arguments: ArgumentRules = ArgumentRules()
    embedded: EmbeddedCommandRules = EmbeddedCommandRules()
    tool: ToolRules = ToolRules()
    resources: ResourceRules = ResourceRules()
    conditions: ConditionRules = ConditionRules()


RawProfile = dict[str, Any]
