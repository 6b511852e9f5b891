"""One skill system for every agent: find, read, resolve and explain skills as any host does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prowess.version import VERSION

if TYPE_CHECKING:
    from prowess.activate.code_skills import DefinedSkill
    from prowess.activate.model_tool import ModelTool
    from prowess.conversation.conversation import Conversation
    from prowess.diagnostics import Diagnostic, Severity
    from prowess.errors import ProwessError, UnknownSkill
    from prowess.errors.activation import NotPermitted
    from prowess.model.activation import Activation
    from prowess.model.catalog import Catalog
    from prowess.model.facts import Facts
    from prowess.model.outcome import Outcome, State
    from prowess.model.permission import (
        Action,
        ApprovalAnswer,
        ApprovalChoice,
        ApprovalRequest,
        Rule,
    )
    from prowess.model.skill import Scope, Skill
    from prowess.model.snapshot import Snapshot
    from prowess.ports import Approver
    from prowess.runtime import Skills
    from prowess.sources import Files, Folder, Package

# Where each public name lives. A name is imported when it is first used, so `import prowess` costs
# next to nothing.
_HOMES = {
    "Action": "model.permission",
    "Activation": "model.activation",
    "ApprovalAnswer": "model.permission",
    "ApprovalChoice": "model.permission",
    "ApprovalRequest": "model.permission",
    "Approver": "ports",
    "Catalog": "model.catalog",
    "Conversation": "conversation.conversation",
    "DefinedSkill": "activate.code_skills",
    "Diagnostic": "diagnostics",
    "Facts": "model.facts",
    "Files": "sources",
    "Folder": "sources",
    "ModelTool": "activate.model_tool",
    "NotPermitted": "errors.activation",
    "Outcome": "model.outcome",
    "Package": "sources",
    "ProwessError": "errors",
    "Rule": "model.permission",
    "Scope": "model.skill",
    "Severity": "diagnostics",
    "Skill": "model.skill",
    "Skills": "runtime",
    "Snapshot": "model.snapshot",
    "State": "model.outcome",
    "UnknownSkill": "errors",
}

# Names that used to be here: where they are now, and what they are called there.
_MOVED = {
    "AddressError": "errors.activation.AddressError",
    "Answer": "model.permission.ApprovalAnswer",
    "ApprovalNeeded": "errors.activation.ApprovalNeeded",
    "CODES": "diagnostics.CODES",
    "Cancel": "activate.slash.dispatch.Cancel",
    "Candidate": "model.skill.Candidate",
    "CommandFailed": "errors.activation.CommandFailed",
    "CommandRefused": "errors.activation.CommandRefused",
    "ContextFile": "discover.context.ContextFile",
    "ContextFiles": "discover.context.ContextFiles",
    "Delivery": "activate.slash.messages.Delivery",
    "Event": "ports.Event",
    "FileSystem": "ports.FileSystem",
    "FolderItem": "ports.FolderItem",
    "Head": "ports.Head",
    "InvalidName": "errors.InvalidName",
    "Key": "activate.slash.messages.Key",
    "Ledger": "activate.ledger.Ledger",
    "LedgerEntry": "activate.ledger.LedgerEntry",
    "LoadedFrom": "model.skill.LoadedFrom",
    "MachineError": "errors.MachineError",
    "Manifest": "model.skill.Manifest",
    "Message": "activate.slash.messages.Message",
    "Note": "model.outcome.Note",
    "Notice": "activate.slash.parser.Notice",
    "Options": "project.options.Options",
    "Origin": "model.settings.Origin",
    "Override": "model.settings.Override",
    "Plain": "activate.slash.parser.Plain",
    "Profile": "profiles.schema.profile.Profile",
    "ProfileError": "errors.ProfileError",
    "PromptContext": "activate.code_skills.PromptContext",
    "Reply": "model.permission.ApprovalChoice",
    "Request": "model.permission.ApprovalRequest",
    "Requests": "model.activation.SkillRequests",
    "Requires": "model.skill.Requires",
    "Resource": "activate.resources.lookup.Resource",
    "Root": "model.skill.Root",
    "SettingError": "errors.SettingError",
    "Settings": "model.settings.Settings",
    "SlashCommand": "activate.slash.commands.SlashCommand",
    "Source": "model.skill.Source",
    "Survival": "activate.survival.Survival",
    "SwitchError": "errors.SwitchError",
    "ToolAnswer": "activate.model_tool.ToolAnswer",
    "ToolFailed": "errors.activation.CommandToolFailed",
    "ToolReply": "activate.slash.dispatch.ToolReply",
    "ToolRun": "activate.slash.dispatch.ToolRun",
    "Unavailable": "errors.activation.Unavailable",
    "UnknownHost": "errors.UnknownHost",
    "UnknownTool": "errors.activation.UnknownTool",
    "UsageError": "errors.UsageError",
    "known_hosts": "profiles.load.known_hosts",
    "load_profile": "profiles.load.load_profile",
}

__version__ = VERSION
__all__ = [
    "Action",
    "Activation",
    "ApprovalAnswer",
    "ApprovalChoice",
    "ApprovalRequest",
    "Approver",
    "Catalog",
    "Conversation",
    "DefinedSkill",
    "Diagnostic",
    "Facts",
    "Files",
    "Folder",
    "ModelTool",
    "NotPermitted",
    "Outcome",
    "Package",
    "ProwessError",
    "Rule",
    "Scope",
    "Severity",
    "Skill",
    "Skills",
    "Snapshot",
    "State",
    "UnknownSkill",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        value = getattr(import_module(f"prowess.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    if name not in _MOVED:
        raise AttributeError(f"module 'prowess' has no attribute {name!r}")
    import warnings

    place, _, new = f"prowess.{_MOVED[name]}".rpartition(".")
    message = f"`prowess.{name}` has moved; use `from {place} import {new}`."
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return getattr(import_module(place), new)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
