"""One skill system for every agent: find, read, resolve, gate and explain skills as any host does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prowess.version import VERSION

if TYPE_CHECKING:
    from prowess.diagnostics import CODES, Diagnostic, Severity
    from prowess.discover.context import ContextFile, ContextFiles
    from prowess.errors import (
        InvalidName,
        MachineError,
        ProfileError,
        ProwessError,
        SettingError,
        SwitchError,
        UnknownHost,
        UnknownSkill,
        UsageError,
    )
    from prowess.model.facts import Facts
    from prowess.model.outcome import Note, Outcome, State
    from prowess.model.settings import Origin, Override, Settings
    from prowess.model.skill import Candidate, LoadedFrom, Manifest, Requires, Root, Scope, Skill, Source
    from prowess.model.snapshot import Snapshot
    from prowess.ports import Event, FileSystem, FolderItem, Head
    from prowess.profiles.load import known_hosts, load_profile
    from prowess.profiles.schema import Profile
    from prowess.runtime import Skills

# Where each public name lives. A name is imported when it is first used, so `import prowess` costs next to nothing.
_HOMES = {
    "CODES": "diagnostics",
    "Candidate": "model.skill",
    "ContextFile": "discover.context",
    "ContextFiles": "discover.context",
    "Diagnostic": "diagnostics",
    "Event": "ports",
    "Facts": "model.facts",
    "FileSystem": "ports",
    "FolderItem": "ports",
    "Head": "ports",
    "InvalidName": "errors",
    "LoadedFrom": "model.skill",
    "MachineError": "errors",
    "Manifest": "model.skill",
    "Note": "model.outcome",
    "Origin": "model.settings",
    "Outcome": "model.outcome",
    "Override": "model.settings",
    "Profile": "profiles.schema",
    "ProfileError": "errors",
    "ProwessError": "errors",
    "Requires": "model.skill",
    "Root": "model.skill",
    "Scope": "model.skill",
    "SettingError": "errors",
    "Settings": "model.settings",
    "Severity": "diagnostics",
    "Skill": "model.skill",
    "Skills": "runtime",
    "Snapshot": "model.snapshot",
    "Source": "model.skill",
    "State": "model.outcome",
    "SwitchError": "errors",
    "UnknownHost": "errors",
    "UnknownSkill": "errors",
    "UsageError": "errors",
    "known_hosts": "profiles.load",
    "load_profile": "profiles.load",
}

__version__ = VERSION
__all__ = [
    "CODES",
    "Candidate",
    "ContextFile",
    "ContextFiles",
    "Diagnostic",
    "Event",
    "Facts",
    "FileSystem",
    "FolderItem",
    "Head",
    "InvalidName",
    "LoadedFrom",
    "MachineError",
    "Manifest",
    "Note",
    "Origin",
    "Outcome",
    "Override",
    "Profile",
    "ProfileError",
    "ProwessError",
    "Requires",
    "Root",
    "Scope",
    "SettingError",
    "Settings",
    "Severity",
    "Skill",
    "Skills",
    "Snapshot",
    "Source",
    "State",
    "SwitchError",
    "UnknownHost",
    "UnknownSkill",
    "UsageError",
    "known_hosts",
    "load_profile",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'prowess' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"prowess.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
