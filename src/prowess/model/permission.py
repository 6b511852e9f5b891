"""What an agent may use: rules, the request, the decision, and a person's answer."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

import msgspec

from prowess.model.origin import Origin


class Action(str, Enum):
    """What a rule says, from the most permissive to the strictest."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


STRICTNESS: dict[Action, int] = {action: rank for rank, action in enumerate(Action)}


COMMAND_LINE = Origin("the command line")
"""The origin of rules that are options of a command."""


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule: its permission and its names, both with wildcards, and what it says.

    `text` is the rule as it was written and `origin` its file and line. `agent` is the only agent
    it applies to, None means all. `whole` marks a rule for a whole permission instead of a table of
    patterns, `weak` one that every ordinary rule overrides.
    """

    action: Action
    permission: str = "skill"
    pattern: str = "*"
    text: str = ""
    agent: str | None = None
    origin: Origin = Origin()
    whole: bool = False
    weak: bool = False

    def __str__(self) -> str:
        text = self.text or f"{self.permission}.{self.pattern}: {self.action.value}"
        if self.origin.file is None:
            return f"`{text}`"
        preposition = "on" if self.origin == COMMAND_LINE else "in"
        return f"`{text}` {preposition} {self.origin}"


class ApprovalRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent wants to do: a permission, for which names, and what “always” would cover.

    `aliases` are other names of the same thing. `note` tells the person who is asked what is
    special this time. `unless_allowed` are patterns that are asked about unless a rule is about
    them, each with a rule that would allow it. `key` is set when someone is asked: it stands for
    the whole request and the content of the skill, so an answer to it covers nothing else.
    """

    permission: str = "skill"
    patterns: tuple[str, ...]
    always: tuple[str, ...]
    metadata: Mapping[str, Any] = msgspec.field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    note: str | None = None
    unless_allowed: Mapping[str, str] = msgspec.field(default_factory=dict)
    key: str = ""


class Decision(msgspec.Struct, frozen=True):
    """What the rules say about a request, and the one that decided; None for the default."""

    action: Action
    reason: str
    rule: Rule | None = None


class ApprovalChoice(str, Enum):
    """What a person who is asked can choose."""

    ONCE = "once"
    ALWAYS = "always"
    REJECT = "reject"


class ApprovalAnswer(msgspec.Struct, frozen=True):
    """What a person chose; a rejection may say what to do instead."""

    reply: ApprovalChoice
    feedback: str | None = None


UNANSWERED = ApprovalAnswer(ApprovalChoice.REJECT)
"""In place of an answer where asking was cut short: it allows nothing, and nobody has refused."""


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """An “always”: for one name of the skill at one location, with the content it had then."""

    permission: str
    pattern: str
    location: str
    digest: str
    approved: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What identifies an approval; there is at most one for each."""
        return self.permission, self.pattern, self.location

    @property
    def id(self) -> str:
        """A short id, derived from what is approved and its content."""
        import hashlib

        text = "\0".join((*self.key, self.digest))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]
