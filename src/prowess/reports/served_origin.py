"""Where a skill of a server comes from, and whether a model may load what the server sent."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from prowess.conversation.authorization import identify_content, judge_skill
from prowess.errors import ProwessError
from prowess.model.outcome import Outcome
from prowess.model.permission import Action, Approval, ApprovalRequest
from prowess.model.skill import Skill
from prowess.model.snapshot import Snapshot
from prowess.model.source_status import SourceStatus
from prowess.reports.source_report import render_short_age
from prowess.reports.usage_report import render_time
from prowess.runtime import Skills
from prowess.state.approvals import ApprovalFile, approvals_path

ApprovalState = Literal["allowed", "denied", "approved", "changed", "none", "session", "unknown"]
"""By a rule (`allowed`, `denied`) or by a person; `changed` since then, or not approved at all.

`session` means that approvals are not saved, so each session asks for its own.
"""

_SENTENCES: dict[ApprovalState, str] = {
    "allowed": "a rule of yours allows a model to load it ({reason})",
    "denied": "a model cannot load it: {reason}",
    "approved": "approved on {date}; you are asked again if the server changes a file",
    "changed": "approved on {date}, changed since; a model can load it once you approve it again",
    "none": "not approved yet; a model can load it once you approve it",
    "session": "a model can load it once you approve it, in each session",
    "unknown": "not known, because it cannot be read: {reason}",
}


class ServedOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """The source of a skill that a server sent, and the approval of its content.

    `digest` is that of all files, which an approval covers; None if they cannot be read.
    """

    source: SourceStatus
    approval: ApprovalState
    reason: str = ""
    approved: str | None = None
    digest: str | None = None

    def render_source(self) -> str:
        """Whose it is, as the end of a sentence."""
        source = self.source
        if source.kind == "mcp":
            return f"the MCP server {source.name}"
        age = render_short_age(source.fetched_at)
        when = "just now" if age == "now" else f"{age} ago"
        return f"the index of {source.name} ({source.location}), fetched {when}"

    def render_approval(self) -> str:
        """Whether a model may load it, and why."""
        date = (self.approved or "").partition("T")[0]
        return _SENTENCES[self.approval].format(reason=self.reason, date=date)

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "name": self.source.name,
            "kind": self.source.kind,
            "location": self.source.location,
            "state": self.source.state,
            "fetched_at": render_time(self.source.fetched_at),
            "digest": self.digest,
            "approval": self.approval,
            "approved": self.approved,
            "reason": self.render_approval(),
        }


def find_served_origin(skills: Skills, outcome: Outcome) -> ServedOrigin | None:
    """Where a skill of a server comes from; None for every other skill."""
    skill = outcome.skill
    if skill is None or not skill.is_foreign:
        return None
    source = _find_source(skills.snapshot, outcome)
    if source is None:
        return None
    settings = skills.snapshot.settings
    rules = skills.project.gather_rules(settings)
    # The same question that a conversation asks before a model loads the skill.
    request, decision = judge_skill(skill, skills.profile, settings, rules)
    try:
        digest = identify_content(skill, request, skills.project.files, lambda: _find_digest(skill))
    except (OSError, ProwessError) as error:
        reason = str(error).rstrip(".")
        return ServedOrigin(source=source, approval="unknown", reason=reason)
    if decision.action is not Action.ASK:
        state: ApprovalState = "allowed" if decision.action is Action.ALLOW else "denied"
        return ServedOrigin(source=source, approval=state, reason=decision.reason, digest=digest)
    if skills.project.load_own_settings().approvals != "disk":
        return ServedOrigin(source=source, approval="session", digest=digest)
    approvals = _load_approvals(skills, skill, request)
    kept = [approval for approval in approvals if approval is not None]
    return ServedOrigin(
        source=source,
        approval=_compare(approvals, digest),
        approved=kept[0].approved if kept else None,
        digest=digest,
    )


def _load_approvals(
    skills: Skills, skill: Skill, request: ApprovalRequest
) -> list[Approval | None]:
    """What was approved of each thing that is asked for; None where nothing was."""
    store = ApprovalFile(approvals_path(skills.facts))
    return [store.find(request.permission, pattern, skill.location) for pattern in request.patterns]


def _compare(approvals: list[Approval | None], digest: str) -> ApprovalState:
    digests = {None if approval is None else approval.digest for approval in approvals}
    if digests <= {None}:
        return "none"
    # An approval of another content, or of a part of what is asked for, is no approval.
    return "approved" if digests == {digest} else "changed"


def _find_digest(skill: Skill) -> str:
    """The digest of what is loaded: as the server promised it, or else of the text itself."""
    promised = None if skill.find_promise is None else skill.find_promise()
    return skill.load().digest if promised is None else promised


def _find_source(snapshot: Snapshot, outcome: Outcome) -> SourceStatus | None:
    path = outcome.candidate.root.path
    return next((one for one in snapshot.sources if one.folder == path), None)
