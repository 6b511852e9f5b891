"""What programs of a session run in: the sandbox of the settings, or one that cannot write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from prowess.agent.tools.bash import BashSandbox
from prowess.agent.tools.files import SpecialPaths
from prowess.conversation.confinement import ConfinedRunner
from prowess.conversation.conversation import Conversation
from prowess.discover.links import is_inside
from prowess.errors import MachineError
from prowess.machine.processes import ProcessRunner
from prowess.machine.sandbox import find_support
from prowess.model.command import Command, Finished
from prowess.model.facts import Facts
from prowess.model.sandbox import CREDENTIALS, SandboxPolicy
from prowess.model.settings import Settings
from prowess.model.skill import Scope
from prowess.ports import FileSystem, Runner
from prowess.shell.sandbox_policy import build_policy
from prowess.state.folders import state_folder


class ReadOnlyRunner:
    """A `Runner` whose programs can write nowhere, except in a temporary folder of their own."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def run(self, command: Command, *, is_cancelled: Callable[[], bool] | None = None) -> Finished:
        """Run a command that cannot write. Raises `MachineError` where nothing can enforce that."""
        support = find_support()
        if support.engine is None:
            cause = f"the session is read-only, and nothing enforces that here ({support.reason})"
            raise MachineError("run", command.argv[0], cause)
        policy = command.sandbox or SandboxPolicy()
        confined = msgspec.structs.replace(policy, writable=())
        return self._runner.run(
            msgspec.structs.replace(command, sandbox=confined), is_cancelled=is_cancelled
        )


def open_runner(facts: Facts, *, read_only: bool) -> Runner:
    """What starts the programs of a session."""
    runner = ProcessRunner(facts)
    return ReadOnlyRunner(runner) if read_only else runner


def find_special_paths(
    settings: Settings, facts: Facts, skills: Iterable[str] = ()
) -> SpecialPaths:
    """What the file tools treat apart: the same files are hidden from programs in the sandbox."""
    config = facts.env.get("XDG_CONFIG_HOME") or f"{facts.home}/.config"
    credentials = (f"{facts.home}/{name}" for name in CREDENTIALS)
    return SpecialPaths(
        skills=tuple(skills),
        hidden=(*credentials, state_folder(facts), *settings.sandbox.hide),
        config=(f"{config}/prowess",),
    )


def find_bash_sandbox(
    settings: Settings,
    facts: Facts,
    runner: Runner,
    *,
    project: str,
    cwd: str,
    files: FileSystem,
    repository: str | None,
) -> BashSandbox:
    """The sandbox of the Bash tool, as the user's settings have it now.

    Changes of what git runs in `repository`, seen through `files`, are noted in the output.
    """
    policy = build_policy(
        settings.sandbox,
        "",
        project=project,
        home=facts.home,
        hidden=(state_folder(facts),),
    )
    if policy is None:
        return BashSandbox(runner=runner, cwd=cwd)
    support = find_support()
    if support.engine is None:
        return BashSandbox(runner=runner, cwd=cwd, unconfined=support.reason)
    confined = ConfinedRunner(runner, policy, files=files, repository=repository)
    return BashSandbox(runner=confined, cwd=cwd)


def list_skill_folders(
    conversation: Conversation, files: FileSystem, bounds: Sequence[str | None]
) -> list[str]:
    """The folders of the skills that the model may load; of a skill that is one file, that file.

    A link in a project opens nothing outside `bounds`.
    """
    found = []
    for skill in conversation.snapshot.skills:
        is_flat = skill.file is not None and _get_name(skill.file).upper() != "SKILL.MD"
        path = skill.file if is_flat else skill.folder
        real = files.find_real_path(path) if path else None
        if real is None:
            continue
        if skill.scope is not Scope.PROJECT or is_inside(real, bounds):
            found.append(real)
    return found


def _get_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
