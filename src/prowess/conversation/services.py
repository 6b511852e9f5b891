"""What a conversation stands on: the skills of a project, the machine, and whoever can be asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from prowess.activate.slash.dispatch import Tool, ToolRun, Tools
from prowess.errors.activation import UntrustedTool
from prowess.gate.approvals import Approvals
from prowess.gate.permissions import AgentRules
from prowess.machine.event_loop import wait_for
from prowess.machine.processes import ProcessRunner
from prowess.machine.secrets import LocalSecrets
from prowess.model.settings import Settings
from prowess.model.skill import Root, Skill
from prowess.model.snapshot import Snapshot
from prowess.ports import Approver, Runner, SecretStore, UsageStore
from prowess.project import Project
from prowess.shell.configured_tools import make_tool
from prowess.state.approvals import ApprovalFile, approvals_path
from prowess.state.trust import TrustFile
from prowess.state.usage import NoUsage


class Ground:
    """A project whose snapshot may change under the conversation, and the ports to the world around
    it.
    """

    def __init__(
        self,
        project: Project,
        get_snapshot: Callable[[], Snapshot],
        reload: Callable[[], object],
        *,
        approver: Approver | None = None,
        runner: Runner | None = None,
        secrets: SecretStore | None = None,
        count: bool = True,
    ) -> None:
        self.project = project
        self.cwd = project.cwd
        self.profile = project.profile
        self.facts = project.facts
        self.files = project.files
        self.own: Settings = project.load_own_settings()
        self.runner: Runner = runner or ProcessRunner(self.facts)
        self.secrets: SecretStore = secrets or LocalSecrets(self.facts)
        self.usage: UsageStore = project.open_usage() if count else NoUsage()
        self.approver = approver
        self.approvals = self._open_approvals()
        self.trust = TrustFile.of(self.facts, cwd=self.cwd)
        self.wait = wait_for
        self._get_snapshot = get_snapshot
        self._reload = reload
        self._rules: tuple[Settings, AgentRules] | None = None
        self._own_since: Snapshot | None = None

    @property
    def snapshot(self) -> Snapshot:
        """What was found."""
        return self._get_snapshot()

    @property
    def settings(self) -> Settings:
        """The settings of the host."""
        return self.snapshot.settings

    def load_own(self) -> Settings:
        """Prowess's own settings; a new look for skills is also one for settings."""
        snapshot = self.snapshot
        if self._own_since is not snapshot:
            self.own, self._own_since = self.project.load_own_settings(), snapshot
        return self.own

    def refresh(self, *skills: Skill | None) -> bool:
        """Look for everything again where one of these files is not the one that was read; whether
        that was so.
        """
        if not any(
            self._is_stale(skill)
            for skill in skills
            if skill is not None and skill.stamp is not None
        ):
            return False
        self._reload()
        return True

    def _is_stale(self, skill: Skill) -> bool:
        try:
            return self.files.get_stamp(skill.location) != skill.stamp
        except OSError:
            # What is gone has nothing new to say; whoever reads it learns so.
            return False

    def scan_with(self, roots: Sequence[Root]) -> Snapshot:
        """What is found where these roots are searched, too."""
        return self.project.scan(roots)[0]

    def gather_rules(self) -> AgentRules:
        """The permission rules that hold for the agent, gathered once for each reading of the
        settings.
        """
        settings = self.settings
        if self._rules is None or self._rules[0] is not settings:
            self._rules = (settings, self.project.gather_rules(settings))
        return self._rules[1]

    def is_trusted(self, skill: Skill) -> bool:
        """Whether what a skill says may be run."""
        return self.trust.is_trusted(skill)

    def trusts_settings(self, settings: Settings) -> bool:
        """Whether every file of the settings may decide what a skill's programs get: the user wrote
        or trusts it.
        """
        return not settings.project_files or self.trust.is_trusted_folder(self.cwd)

    def may_run_commands(self) -> bool | None:
        """Whether a setting of the host or of Prowess switches the commands inside bodies on or
        off.
        """
        said = (self.settings.shell_commands, self.load_own().shell_commands)
        return False if False in said else next((word for word in said if word is not None), None)

    def list_tools(self) -> Tools:
        """The tools that commands can go to: those that prowess.toml declares, and before them
        those registered.

        One that an untrusted project declares refuses to run.
        """
        own = self.load_own()
        is_trusted = self.trusts_settings(own)
        declared = [
            make_tool(name, tool, self.runner, cwd=self.cwd)
            if is_trusted or not own.is_from_project(f"tools.{name}")
            else _refuse(name, str(own.origin(f"tools.{name}")))
            for name, tool in own.tools.items()
        ]
        return Tools.of(declared).add(*self.project.tools)

    def _open_approvals(self) -> Approvals:
        store = ApprovalFile(approvals_path(self.facts)) if self.own.approvals == "disk" else None
        return Approvals(store, now=lambda: time.strftime("%Y-%m-%d"))


def _refuse(name: str, origin: str) -> Tool:
    def function(params: object, run: ToolRun) -> str:
        raise UntrustedTool(name, origin)

    return Tool(name=name, function=function)
