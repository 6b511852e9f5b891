"""What keeps skills in bounds on this machine: the sandbox, trust in the project, and the home."""

from __future__ import annotations

from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.machine.files import LocalFiles
from prowess.machine.sandbox import find_support
from prowess.model.sandbox import SandboxPolicy, SandboxSettings, SandboxSupport
from prowess.reports.json_output import shape_diagnostic
from prowess.runtime import Skills
from prowess.shell.sandbox_policy import build_policy
from prowess.state.folders import state_folder
from prowess.state.trust import Trusted, TrustFile


class MachineReport(msgspec.Struct, frozen=True, kw_only=True):
    """What applies to the programs of skills here.

    `policy` is None where the user switched the sandbox off. Of what it hides only what exists is
    listed. `state` is the folder where trust and approvals are kept, None without a home.
    """

    project: str
    trusted: Trusted | None
    settings: SandboxSettings
    support: SandboxSupport
    policy: SandboxPolicy | None
    state: str | None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def is_confined(self) -> bool:
        """Whether programs of skills run in a sandbox."""
        return self.policy is not None and self.support.engine is not None

    def render_sandbox(self) -> str:
        """One sentence on the sandbox."""
        if self.policy is None:
            return "The sandbox is off (`[sandbox] mode`): programs run with your permissions."
        if self.support.engine is None:
            reason = self.support.reason
            return f"No sandbox is available, so you are asked before every run: {reason}."
        return f"Programs started by skills run in a sandbox ({self.support.engine})."

    def shape(self) -> dict[str, Any]:
        """The report as JSON."""
        return {
            "project": self.project,
            "trusted": None if self.trusted is None else msgspec.to_builtins(self.trusted),
            "sandbox": {
                "confined": self.is_confined,
                "engine": self.support.engine,
                "reason": self.support.reason,
                "mode": self.settings.mode,
                "policy": None if self.policy is None else msgspec.to_builtins(self.policy),
                "skills": msgspec.to_builtins(self.settings.skills),
            },
            "state": self.state,
            "diagnostics": [shape_diagnostic(one) for one in self.diagnostics],
        }


def report_machine(skills: Skills) -> MachineReport:
    """What applies to programs of skills in a working folder."""
    facts = skills.facts
    settings = skills.project.load_own_settings().sandbox
    trust = TrustFile.of(facts, cwd=skills.cwd)
    project, _ = trust.find_project(skills.cwd)
    trusted = trust.find_trusted(skills.cwd)
    state = state_folder(facts) if facts.has_home else None
    return MachineReport(
        project=project,
        trusted=trusted,
        settings=settings,
        support=find_support(),
        policy=_find_policy(settings, project, facts.home, state),
        state=state,
        diagnostics=(*facts.diagnostics, *trust.diagnostics),
    )


def _find_policy(
    settings: SandboxSettings, project: str, home: str, state: str | None
) -> SandboxPolicy | None:
    # The state has approvals, which a program must not give itself.
    hidden = () if state is None else (state,)
    # Without a skill's name: what settings allow single skills is listed beside it.
    policy = build_policy(settings, "", project=project, home=home, hidden=hidden)
    if policy is None:
        return None
    files = LocalFiles()
    existing = tuple(path for path in policy.hidden if files.find_kind(path) is not None)
    return msgspec.structs.replace(policy, hidden=existing)
