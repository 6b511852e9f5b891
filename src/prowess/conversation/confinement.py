"""The sandbox around a skill's programs: what they may touch, and a hint where it stopped one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec

from prowess.conversation.current_skills import SnapshotView
from prowess.conversation.services import Services
from prowess.machine.sandbox import find_support
from prowess.model.command import Command, Finished
from prowess.model.files import Stamp
from prowess.model.sandbox import SandboxPolicy
from prowess.ports import FileSystem, Runner
from prowess.shell.sandbox_policy import build_policy
from prowess.state.folders import state_folder
from prowess.telemetry import observe

# What programs print when the system refuses them something. It only decides whether the sandbox
# is mentioned; nothing depends on it.
_REFUSED = re.compile(
    "permission denied|operation not permitted|read-only file system|network is unreachable"
    "|connection refused|name resolution|resolve host",
    re.IGNORECASE,
)
# Beside the hooks. In a worktree `.git` is a file, and `commondir` leads to another folder of git.
_GIT_FILES = (".git/config", ".git/config.worktree", ".git/commondir")
_MOST_NAMED = 5


class ConfinedRunner:
    """A `Runner` that gives every command the same sandbox.

    Git runs hooks, and programs that its configuration names, outside of any sandbox. A program
    that changes those in `repository`, seen through `files`, is reported in its own output.
    """

    def __init__(
        self,
        runner: Runner,
        policy: SandboxPolicy,
        *,
        files: FileSystem | None = None,
        repository: str | None = None,
    ) -> None:
        self._runner = runner
        self._policy = policy
        self._files = files
        self._repository = repository

    def run(self, command: Command, *, is_cancelled: Callable[[], bool] | None = None) -> Finished:
        """Run a command in the sandbox; where that may be why it failed, its output says so."""
        confined = msgspec.structs.replace(command, sandbox=self._policy)
        before = self._stamp_git()
        finished = self._runner.run(confined, is_cancelled=is_cancelled)
        changed = {name for name, _ in before.items() ^ self._stamp_git().items()}
        if changed:
            finished = _add_note(finished, "output", _describe_changes(sorted(changed)))
        hint = _find_hint(finished, self._policy)
        if hint is None:
            return finished
        return _add_note(finished, "tail" if finished.left_out else "output", hint)

    def _stamp_git(self) -> dict[str, Stamp]:
        """What decides which programs git runs, by path in the repository, each with its stamp."""
        files, repository = self._files, self._repository
        if files is None or repository is None:
            return {}
        try:
            hooks = files.list_folder(f"{repository}/.git/hooks")
        except OSError:
            # A repository need not have the folder.
            hooks = []
        names = (*_GIT_FILES, *(f".git/hooks/{item.name}" for item in hooks))
        stamps: dict[str, Stamp] = {}
        for name in names:
            with suppress(OSError):
                stamps[name] = files.get_stamp(f"{repository}/{name}")
        return stamps


def _add_note(finished: Finished, field: str, note: str) -> Finished:
    text = f"{getattr(finished, field).rstrip()}\n[{note}]\n"
    return msgspec.structs.replace(finished, **{field: text.lstrip("\n")})


def _describe_changes(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return (
        f"The command changed {shown}{more}. Git runs what they say outside the sandbox, so they"
        " should be checked."
    )


class ObservedRunner:
    """A `Runner` whose runs can be watched."""

    def __init__(self, runner: Runner, skill: str, *, confined: bool) -> None:
        self._runner = runner
        self._skill = skill
        self._confined = confined

    def run(self, command: Command, *, is_cancelled: Callable[[], bool] | None = None) -> Finished:
        """Run a command; those who watch learn how it ended, not what it was."""
        with observe("run", skill=self._skill, confined=self._confined) as seen:
            finished = self._runner.run(command, is_cancelled=is_cancelled)
            seen.note(exit_code=finished.code, timed_out=finished.code is None)
            seen.note(left_out=finished.left_out)
            return finished


def confine(name: str, services: Services, view: SnapshotView) -> tuple[Runner, str | None]:
    """The runner for the programs of a skill, and why this machine cannot confine them.

    The reason is None where they are confined, where the user switched the sandbox off, and where
    the runner is the caller's own, who answers for it.
    """
    runner, unconfined = _find_runner(name, services, view)
    confined = isinstance(runner, ConfinedRunner)
    return ObservedRunner(runner, name, confined=confined), unconfined


def _find_runner(name: str, services: Services, view: SnapshotView) -> tuple[Runner, str | None]:
    snapshot = view.snapshot
    policy = build_policy(
        view.own_settings.sandbox,
        name,
        project=snapshot.repository or snapshot.cwd,
        home=services.facts.home,
        hidden=(state_folder(services.facts),),
    )
    if policy is None:
        return services.runner, None
    if services.has_local_runner:
        support = find_support()
        if support.engine is None:
            return services.runner, support.reason
    runner = ConfinedRunner(
        services.runner, policy, files=services.files, repository=snapshot.repository
    )
    return runner, None


def _find_hint(finished: Finished, policy: SandboxPolicy) -> str | None:
    """What to say about the sandbox after a failure that it may have caused."""
    if finished.code == -1:
        return (
            f"The sandbox killed the command; its limits are {policy.memory_bytes >> 20:,} MB and"
            f" {policy.processes} processes. Change them in `[sandbox]` in your prowess.toml."
        )
    if finished.code in (0, None) or not _REFUSED.search(finished.tail or finished.output):
        return None
    network = "" if policy.network else ", without network access"
    folders = ", ".join(policy.writable)
    return (
        f"The command ran in a sandbox: it can write only in {folders}{network}."
        " If that is why it failed, change `[sandbox]` in your prowess.toml."
    )
