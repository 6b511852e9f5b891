"""One skill system for every agent: find, read, resolve and explain skills as any host does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prowess.version import VERSION

if TYPE_CHECKING:
    from prowess.activate.code_skills import DefinedSkill, PromptContext
    from prowess.activate.ledger import Ledger, LedgerEntry
    from prowess.activate.model_tool import ModelTool, ToolAnswer
    from prowess.activate.resources.lookup import Resource
    from prowess.activate.slash.commands import SlashCommand
    from prowess.activate.slash.dispatch import Cancel, ToolReply, ToolRun
    from prowess.activate.slash.messages import Delivery, Key, Message
    from prowess.activate.slash.parser import Notice, Plain
    from prowess.activate.survival import Survival
    from prowess.conversation.conversation import Conversation
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
    from prowess.errors.activation import (
        AddressError,
        ApprovalNeeded,
        CommandFailed,
        CommandRefused,
        NotPermitted,
        ToolFailed,
        Unavailable,
        UnknownTool,
    )
    from prowess.model.activation import Activation, Requests
    from prowess.model.catalog import Catalog
    from prowess.model.facts import Facts
    from prowess.model.outcome import Note, Outcome, State
    from prowess.model.permission import Action, Answer, Reply, Request, Rule
    from prowess.model.settings import Origin, Override, Settings
    from prowess.model.skill import (
        Candidate,
        LoadedFrom,
        Manifest,
        Requires,
        Root,
        Scope,
        Skill,
        Source,
    )
    from prowess.model.snapshot import Snapshot
    from prowess.ports import Approver, Event, FileSystem, FolderItem, Head
    from prowess.profiles.load import known_hosts, load_profile
    from prowess.profiles.schema.profile import Profile
    from prowess.project import Options
    from prowess.runtime import Skills
    from prowess.sources import Files, Folder, Package

# Where each public name lives. A name is imported when it is first used, so `import prowess` costs
# next to nothing.
_HOMES = {
    "Action": "model.permission",
    "Activation": "model.activation",
    "AddressError": "errors.activation",
    "Answer": "model.permission",
    "ApprovalNeeded": "errors.activation",
    "Approver": "ports",
    "CODES": "diagnostics",
    "Cancel": "activate.slash.dispatch",
    "Candidate": "model.skill",
    "Catalog": "model.catalog",
    "CommandFailed": "errors.activation",
    "CommandRefused": "errors.activation",
    "ContextFile": "discover.context",
    "ContextFiles": "discover.context",
    "Conversation": "conversation.conversation",
    "DefinedSkill": "activate.code_skills",
    "Delivery": "activate.slash.messages",
    "Diagnostic": "diagnostics",
    "Event": "ports",
    "Facts": "model.facts",
    "FileSystem": "ports",
    "Files": "sources",
    "Folder": "sources",
    "FolderItem": "ports",
    "Head": "ports",
    "InvalidName": "errors",
    "Key": "activate.slash.messages",
    "Ledger": "activate.ledger",
    "LedgerEntry": "activate.ledger",
    "LoadedFrom": "model.skill",
    "MachineError": "errors",
    "Manifest": "model.skill",
    "Message": "activate.slash.messages",
    "ModelTool": "activate.model_tool",
    "NotPermitted": "errors.activation",
    "Note": "model.outcome",
    "Notice": "activate.slash.parser",
    "Options": "project",
    "Origin": "model.settings",
    "Outcome": "model.outcome",
    "Override": "model.settings",
    "Package": "sources",
    "Plain": "activate.slash.parser",
    "Profile": "profiles.schema.profile",
    "ProfileError": "errors",
    "PromptContext": "activate.code_skills",
    "ProwessError": "errors",
    "Reply": "model.permission",
    "Request": "model.permission",
    "Requests": "model.activation",
    "Requires": "model.skill",
    "Resource": "activate.resources.lookup",
    "Root": "model.skill",
    "Rule": "model.permission",
    "Scope": "model.skill",
    "SettingError": "errors",
    "Settings": "model.settings",
    "Severity": "diagnostics",
    "Skill": "model.skill",
    "Skills": "runtime",
    "SlashCommand": "activate.slash.commands",
    "Snapshot": "model.snapshot",
    "Source": "model.skill",
    "State": "model.outcome",
    "Survival": "activate.survival",
    "SwitchError": "errors",
    "ToolAnswer": "activate.model_tool",
    "ToolFailed": "errors.activation",
    "ToolReply": "activate.slash.dispatch",
    "ToolRun": "activate.slash.dispatch",
    "Unavailable": "errors.activation",
    "UnknownHost": "errors",
    "UnknownSkill": "errors",
    "UnknownTool": "errors.activation",
    "UsageError": "errors",
    "known_hosts": "profiles.load",
    "load_profile": "profiles.load",
}

__version__ = VERSION
__all__ = [
    "CODES",
    "Action",
    "Activation",
    "AddressError",
    "Answer",
    "ApprovalNeeded",
    "Approver",
    "Cancel",
    "Candidate",
    "Catalog",
    "CommandFailed",
    "CommandRefused",
    "ContextFile",
    "ContextFiles",
    "Conversation",
    "DefinedSkill",
    "Delivery",
    "Diagnostic",
    "Event",
    "Facts",
    "FileSystem",
    "Files",
    "Folder",
    "FolderItem",
    "Head",
    "InvalidName",
    "Key",
    "Ledger",
    "LedgerEntry",
    "LoadedFrom",
    "MachineError",
    "Manifest",
    "Message",
    "ModelTool",
    "NotPermitted",
    "Note",
    "Notice",
    "Options",
    "Origin",
    "Outcome",
    "Override",
    "Package",
    "Plain",
    "Profile",
    "ProfileError",
    "PromptContext",
    "ProwessError",
    "Reply",
    "Request",
    "Requests",
    "Requires",
    "Resource",
    "Root",
    "Rule",
    "Scope",
    "SettingError",
    "Settings",
    "Severity",
    "Skill",
    "Skills",
    "SlashCommand",
    "Snapshot",
    "Source",
    "State",
    "Survival",
    "SwitchError",
    "ToolAnswer",
    "ToolFailed",
    "ToolReply",
    "ToolRun",
    "Unavailable",
    "UnknownHost",
    "UnknownSkill",
    "UnknownTool",
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
