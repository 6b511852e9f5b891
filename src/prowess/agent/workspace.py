"""What the agents of a session act on: the project's files, the sandbox, and the rules."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from prowess.agent.attachments import Attached, AttachedFiles, OpenJudge
from prowess.agent.configuration import Configuration
from prowess.agent.events import Event
from prowess.agent.permissions import (
    Gatekeeper,
    Granted,
    ToolRules,
    gather_tool_rules,
    judge,
)
from prowess.agent.sandbox import (
    ReadOnlyRunner,
    find_bash_sandbox,
    find_special_paths,
    list_skill_folders,
    open_runner,
)
from prowess.agent.tools.bash import BashSandbox
from prowess.agent.tools.files import FileTools, SpecialPaths
from prowess.agent.tools.plan import Plan
from prowess.conversation.conversation import Conversation
from prowess.gate.approvals import Approvals
from prowess.machine.project_files import ProjectFiles
from prowess.model.permission import Decision
from prowess.model.settings import Settings
from prowess.ports import Approver, Runner
from prowess.runtime import Skills
from prowess.state.approvals import ApprovalFile, approvals_path


class Workspace:
    """The project of a session as its tools see it. Settings and rules are read at each use."""

    def __init__(
        self,
        skills: Skills,
        configuration: Configuration,
        approver: Approver | None,
        *,
        read_only: bool,
    ) -> None:
        self._skills = skills
        snapshot, home = skills.snapshot, skills.facts.home
        self.root = snapshot.repository or snapshot.cwd
        self.runner: Runner = open_runner(skills.facts, read_only=read_only)
        self._files = ProjectFiles(self.root, snapshot.cwd, home=home)
        self.gatekeeper = Gatekeeper(
            _open_approvals(skills, configuration.own),
            approver,
            project=self.root,
            home=home,
            read_only=read_only,
        )

    @property
    def skill_runner(self) -> Runner | None:
        """What runs the commands of skills; None is the usual one of the conversation."""
        # In a read-only session the commands of skills cannot write either.
        return self.runner if isinstance(self.runner, ReadOnlyRunner) else None

    def open_files(self, conversation: Conversation, open_judge: OpenJudge) -> FileTools:
        """The tools for files, of one agent."""
        special = partial(self._find_special_paths, conversation)
        return FileTools(self._files, self.runner, special, open_judge)

    async def attach(
        self, paths: Sequence[str], conversation: Conversation, emit: Callable[[Event], None]
    ) -> Attached:
        """The files that the user names, as far as the rules let the model read them."""
        open_judge = partial(self.open_judge, conversation, Granted())
        tools = self.open_files(conversation, open_judge)
        return await AttachedFiles(self._files, tools, open_judge).load(paths, conversation, emit)

    def gather_rules(self, conversation: Conversation) -> ToolRules:
        """The rules for tools, as they are now."""
        settings = conversation.snapshot.settings
        return gather_tool_rules(settings, self._skills.project.gather_rules)

    def open_judge(
        self, conversation: Conversation, granted: Granted
    ) -> Callable[[Plan], Decision]:
        """What judges plans as the gatekeeper does, by the rules as they are now."""
        rules = self.gather_rules(conversation)
        return lambda plan: judge(plan, rules, granted, home=self._skills.facts.home)

    def find_sandbox(self) -> BashSandbox:
        """The sandbox for commands, by the settings as they are now."""
        project = self._skills.project
        return find_bash_sandbox(
            project.load_own_settings(),
            self._skills.facts,
            self.runner,
            project=self.root,
            cwd=self._skills.cwd,
            files=project.files,
            repository=self._skills.snapshot.repository,
        )

    def list_private_hosts(self) -> Sequence[str]:
        """The hosts of private networks that may be fetched from."""
        return self._skills.project.load_own_settings().agent.private_hosts

    def _find_special_paths(self, conversation: Conversation) -> SpecialPaths:
        settings = self._skills.project.load_own_settings()
        files = self._skills.project.files
        trusted = [files.find_real_path(one) for one in self._skills.settings().trusted_links]
        folders = list_skill_folders(conversation, files, (self._files.root, *trusted))
        return find_special_paths(settings, self._skills.facts, folders)


def _open_approvals(skills: Skills, own: Settings) -> Approvals:
    is_kept = own.approvals == "disk"
    store = ApprovalFile(approvals_path(skills.facts)) if is_kept else None
    return Approvals(store, now=lambda: time.strftime("%Y-%m-%d"))
