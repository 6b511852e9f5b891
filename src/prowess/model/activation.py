"""Activation: one skill loaded into a conversation, and what it asks of the agent that carries it
out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic

IN_CODE = "<built-in>"
"""The location of a skill that is defined in code and lies nowhere."""


class Requests(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True
):
    """What a skill asks of its agent, as its header declares it; an agent may refuse any of it.

    `allowed_tools` are approved beforehand for the turn, `disallowed_tools` are taken away for it.
    `fork` wants the skill carried out by a sub-agent (`agent` names which), in the `background`
    where that is so.
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

    `text` is the whole text, in the host's shape; `title` and `metadata` go beside it. `files` are
    a sample of the files in the skill's folder, `more_files` how many more there are. `digest` is
    that of the SKILL.md that was read. `repeated` marks a skill that was already in the
    conversation and unchanged, so that only a line was given. `blocks` are content blocks that are
    no text, which only skills defined in code have. Where the skill asks for tools or hooks,
    `trusted` says whether its user trusts where it comes from; an agent asks before it grants them
    if not.
    """

    name: str
    text: str
    folder: str | None = None
    digest: str = ""
    title: str = ""
    files: tuple[str, ...] = ()
    more_files: int = 0
    metadata: Mapping[str, str] = msgspec.field(default_factory=dict)
    requests: Requests = Requests()
    repeated: bool = False
    trusted: bool = True
    blocks: tuple[Mapping[str, Any], ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
