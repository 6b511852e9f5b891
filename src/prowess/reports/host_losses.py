"""What a host would lose of a skill: what the author wrote and the host does not respect.

All of it follows from the host's profile; nothing has to be laid out for the host first.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from prowess.errors import MachineError
from prowess.model.skill import Manifest, Skill
from prowess.ports import FileSystem
from prowess.profiles.schema.profile import Profile
from prowess.reports.lint_report import check_file
from prowess.reports.skill_paths import Target
from prowess.shell.embedded_commands import find_commands
from prowess.text.display import count_words

_PLACEHOLDER = re.compile(r"\$(?:ARGUMENTS|\d)\b")
# Fields that ask something of the agent, by the words that profiles have for them.
_REQUESTS: dict[str, Callable[[Manifest], object]] = {
    "model": lambda manifest: manifest.model,
    "effort": lambda manifest: manifest.effort,
    "context": lambda manifest: manifest.context,
    "agent": lambda manifest: manifest.agent,
    "allowed-tools": lambda manifest: manifest.allowed_tools,
    "disallowed-tools": lambda manifest: manifest.disallowed_tools,
    "hooks": lambda manifest: manifest.hooks,
}
_REQUIREMENTS: dict[str, tuple[str, Callable[[Manifest], object]]] = {
    "os": ("os", lambda manifest: manifest.os),
    "bins": ("requires.bins", lambda manifest: manifest.requires.bins),
    "any_bins": ("requires.anyBins", lambda manifest: manifest.requires.any_bins),
    "env": ("requires.env", lambda manifest: manifest.requires.env),
    "config": ("requires.config", lambda manifest: manifest.requires.config),
}


class _Read(NamedTuple):
    """A skill with its body, which is read once for all hosts."""

    manifest: Manifest
    body: str


def list_losses(skill: Skill, profile: Profile, files: FileSystem) -> tuple[str, ...]:
    """What a host would lose of a skill, one phrase each; nothing if it respects all of it."""
    losses = list(_list_refusals(skill, profile, files))
    try:
        body = skill.content
    except MachineError as error:
        return (*losses, f"its text cannot be read: {error.cause}")
    read = _Read(skill.manifest, body)
    for list_kind in _KINDS:
        losses += list_kind(read, profile)
    return tuple(losses)


def _list_refusals(skill: Skill, profile: Profile, files: FileSystem) -> Iterator[str]:
    """Why the host would not load it, or what it would complain about."""
    target = Target(skill.location, posixpath.dirname(skill.location))
    for finding in check_file(target, files, [profile]).diagnostics:
        # Findings of the strict check are about every host, so this one loses nothing by them.
        if profile.name in finding.hosts:
            yield finding.message.rstrip(".")


def _list_ignored_fields(read: _Read, profile: Profile) -> Iterator[str]:
    written = [field for field, get in _REQUESTS.items() if get(read.manifest)]
    ignored = [f"`{field}`" for field in written if field not in profile.requests.fields]
    if ignored:
        yield f"ignores {', '.join(ignored)}"


def _list_unchecked(read: _Read, profile: Profile) -> Iterator[str]:
    # What a host does not check it offers anyway; the skill fails when it is used.
    unchecked = [
        f"`{field}`"
        for check, (field, get) in _REQUIREMENTS.items()
        if get(read.manifest) and check not in profile.gate.checks
    ]
    if unchecked:
        yield f"does not check {', '.join(unchecked)}"


def _list_visibility(read: _Read, profile: Profile) -> Iterator[str]:
    for field in _list_written(read.manifest, ("paths", "globs")):
        if field not in profile.gate.dormant_by:
            yield f"offers it at once, whatever `{field}` says"
    for field in _list_written(read.manifest, ("disable_model_invocation", "hide")):
        if field not in profile.gate.hidden_by:
            yield f"offers it to the model despite `{field.replace('_', '-')}`"


def _list_written(manifest: Manifest, fields: Iterable[str]) -> list[str]:
    """Those of the fields that the author has set."""
    return [field for field in fields if getattr(manifest, field)]


def _list_commands(read: _Read, profile: Profile) -> Iterator[str]:
    commands = profile.commands
    if not commands.enabled:
        yield "has no command for it"
        return
    is_for_model_only = read.manifest.user_invocable is False
    if is_for_model_only and not commands.user_invocable:
        yield "has a command for it despite `user-invocable`"


def _list_body(read: _Read, profile: Profile) -> Iterator[str]:
    takes_arguments = _PLACEHOLDER.search(read.body) is not None
    if takes_arguments and not profile.arguments.placeholders:
        yield "does not insert arguments for `$ARGUMENTS`"
    commands = len(find_commands(read.body).commands)
    if commands and not profile.embedded.recognised:
        yield f"does not run the {count_words(commands, 'command')} in its text"


# In the order they are shown.
_KINDS: tuple[Callable[[_Read, Profile], Iterator[str]], ...] = (
    _list_ignored_fields,
    _list_unchecked,
    _list_visibility,
    _list_commands,
    _list_body,
)
