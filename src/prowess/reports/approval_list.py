"""The single approvals that a user gave, as a list to look through."""

from __future__ import annotations

import posixpath

import msgspec

from prowess.machine.files import LocalFiles
from prowess.model.permission import Approval
from prowess.state.approvals import ApprovalFile
from prowess.state.trust import TrustFile

_SKILL_FILE = "SKILL.md"


class ListedApproval(msgspec.Struct, frozen=True, kw_only=True):
    """An approval: of which `permission` and name, for the skill or project at a `location`.

    `skill` is None where it is for a whole project, and `project` where the location is no path.
    `digest` is that of the content that was approved; the approval applies to no other. `is_there`
    says whether something is at the location.
    """

    id: str
    permission: str
    pattern: str
    skill: str | None
    project: str | None
    location: str
    digest: str
    approved: str
    is_there: bool

    @property
    def what(self) -> str:
        """What is approved, as rules write it."""
        return f"{self.permission}: {self.pattern}"


def list_approvals(approvals: ApprovalFile, trust: TrustFile) -> list[ListedApproval]:
    """Every approval on disk, sorted by location."""
    found = sorted(approvals.load(), key=lambda one: (one.location, one.key))
    return [_describe(one, trust) for one in found]


def _describe(approval: Approval, trust: TrustFile) -> ListedApproval:
    location = approval.location
    is_file = posixpath.basename(location) == _SKILL_FILE
    folder = posixpath.dirname(location) if is_file else location
    is_path = posixpath.isabs(location)
    return ListedApproval(
        id=approval.id,
        permission=approval.permission,
        pattern=approval.pattern,
        skill=posixpath.basename(folder) if is_file else None,
        project=trust.find_project(folder)[0] if is_path else None,
        location=location,
        digest=approval.digest,
        approved=approval.approved,
        # What a server offers has no place on this disk.
        is_there=not is_path or LocalFiles().find_kind(location) is not None,
    )
