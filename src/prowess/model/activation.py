"""Activation: one skill loaded into a conversation, and what it asks of its agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic

IN_CODE = "<built-in>"
"""The location of a skill that is defined in code."""


class SkillRequests(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True
):
    """What a skill's header asks of its agent; the agent may refuse any of it.

    `allowed_tools` need no approval during the turn, `disallowed_tools` are not available in it.
    `fork` wants a sub-agent to follow the skill (`agent` names which), perhaps in the `background`.
    """

    model: str | None = None
    effort: str | int | None = None
    fork: bool = False
    background: bool | None = None
    agent: str | None = None
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    hooks: Mapping[str, Any] = msgspec.field(default_factory=dict)


class Activation(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True
):
    """What the model receives when a skill is loaded.

    `text` is the whole text, in the host's shape; `title` and `metadata` go with it. `files` are a
    sample of the files in the skill's folder, and `more_files` counts the rest. `digest` is that of
    the SKILL.md; `version` stands for it, the location and the arguments together. `repeated` marks
    a skill that was already loaded and unchanged, for which the text is a single line. `blocks` are
    content blocks other than text, which only skills defined in code have. `trusted` is False if
    the skill asks for tools or hooks and the user does not trust its project: ask before you grant
    them.
    """

    name: str
    text: str
    folder: str | None = None
    digest: str = ""
    version: str = ""
    title: str = ""
    files: tuple[str, ...] = ()
    more_files: int = 0
    metadata: Mapping[str, str] = msgspec.field(default_factory=dict)
    requests: SkillRequests = SkillRequests()
    repeated: bool = False
    trusted: bool = True
    blocks: tuple[Mapping[str, Any], ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
