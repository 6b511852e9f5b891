"""What a conversation uses: its project, the ports to the machine, and the approver."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Protocol

import msgspec

from prowess.conversation.skill_filter import SkillFilter
from prowess.gate.approvals import Approvals
from prowess.machine.processes import ProcessRunner
from prowess.machine.secrets import LocalSecrets
from prowess.model.facts import Facts
from prowess.model.snapshot import Snapshot
from prowess.ports import (
    Approver,
    FileSystem,
    Runner,
    SecretStore,
    TrustPolicy,
    UsageStore,
)
from prowess.profiles.schema.profile import Profile
from prowess.project.project import Project
from prowess.state.approvals import ApprovalFile, approvals_path
from prowess.state.usage import NoUsage


class Scanner(Protocol):
    """Holds the latest snapshot of a project, and scans again when asked to."""

    @property
    def snapshot(self) -> Snapshot:
        """The latest snapshot."""
        ...

    def find_fresh(self) -> Snapshot | None:
        """The latest snapshot, if nothing has to be read for it."""
        ...

    def reload(self) -> Snapshot:
        """A new snapshot."""
        ...


class Services(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What one conversation uses.

    `session` is its id and `effort` the reasoning effort, for the variables of bodies. `taken` are
    the names of the agent's own commands. With `has_local_runner` programs run on this machine,
    started by Prowess itself. `chosen` are the skills that the conversation has, None for all.
    """

    project: Project
    profile: Profile
    facts: Facts
    files: FileSystem
    cwd: str
    scanner: Scanner
    runner: Runner
    secrets: SecretStore
    usage: UsageStore
    approvals: Approvals
    trust: TrustPolicy
    approver: Approver | None = None
    session: str | None = None
    effort: str | int | None = None
    taken: frozenset[str] = frozenset()
    has_local_runner: bool = False
    chosen: SkillFilter | None = None


def open_services(
    project: Project,
    scanner: Scanner,
    *,
    approver: Approver | None = None,
    runner: Runner | None = None,
    secrets: SecretStore | None = None,
    session: str | None = None,
    effort: str | int | None = None,
    taken: Iterable[str] = (),
    chosen: SkillFilter | None = None,
    count: bool = True,
) -> Services:
    """The services of a new conversation; those not given are this machine's.

    Without `count`, nothing is counted as a use.
    """
    facts = project.facts
    keeps_approvals = project.load_own_settings().approvals == "disk"
    store = ApprovalFile(approvals_path(facts)) if keeps_approvals else None
    return Services(
        project=project,
        profile=project.profile,
        facts=facts,
        files=project.files,
        cwd=project.cwd,
        scanner=scanner,
        runner=runner or ProcessRunner(facts),
        secrets=secrets or LocalSecrets(facts),
        usage=project.open_usage() if count else NoUsage(),
        approvals=Approvals(store, now=lambda: time.strftime("%Y-%m-%d")),
        trust=project.open_trust(),
        approver=approver,
        session=session,
        effort=effort,
        taken=frozenset(taken),
        has_local_runner=runner is None,
        chosen=None if chosen is None or chosen.is_empty else chosen,
    )
