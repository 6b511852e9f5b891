"""The shape of a profile: a host's rules as data.

Every value has a default, so a profile file holds only what differs from the one it extends.
Behaviour that is not a number is a word from a fixed set; the stage that owns it has a table of
functions by those words. Unknown keys are refused.
"""

# Annotations are real types here, for the reason given in `prowess.profiles.schema`.

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
from prowess.profiles.schema.resolution import GateRules, PermissionRules, ResolutionRules
from prowess.profiles.schema.roots import ContextRules, Limits, RootRule
from prowess.profiles.schema.settings import SettingsFileRule, ToggleRule


class Provenance(Table, frozen=True):
    """What a profile follows: the release that was measured, the documents, and where it departs
    from them.
    """

    release: str = ""
    measured: bool = False
    documents: tuple[str, ...] = ()
    departures: tuple[str, ...] = ()


class Profile(Table, frozen=True):
    """A host's rules, whole: what `load_profile` gives after every `extends` was followed."""

    name: str
    title: str = ""
    edition: str = "current"
    editions: tuple[str, ...] = ("current",)
    provenance: Provenance = Provenance()
    places: dict[str, tuple[str, ...] | dict[str, str]] = msgspec.field(default_factory=dict)
    order: tuple[str | tuple[str, ...], ...] = ()
    roots: dict[str, RootRule] = msgspec.field(default_factory=dict)
    limits: Limits = Limits()
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
    context: ContextRules = ContextRules()
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
