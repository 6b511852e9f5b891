"""One unit: an agent in a worktree on a branch of its own, a check, and a commit."""

from __future__ import annotations

import asyncio

from prowess.agent.batch.plan import UnitResult
from prowess.agent.batch.repository import Repository, Worktree
from prowess.agent.batch.spec import UnitSpec
from prowess.agent.jobs.engine import Engine, in_thread
from prowess.agent.jobs.turns import ask_about_unknown, run_turn
from prowess.agent.jobs.values import TurnSpec
from prowess.agent.sandbox import find_bash_sandbox, open_runner
from prowess.agent.session_file import CallRecord
from prowess.errors import ProwessError
from prowess.machine.files import LocalFiles
from prowess.model.command import Command
from prowess.model.permission import ApprovalChoice
from prowess.project.host_view import open_view

_ATTEMPTS = 3
_CHECK_SECONDS = 600.0
_SHOWN_OUTPUT = 4_000
_ALLOWED = ("Read", "Glob", "Grep", "Write", "Edit", "Bash")
# What these did can be undone, because they reach only the worktree.
_CONFINED = frozenset(("Read", "Glob", "Grep", "Write", "Edit", "Bash", "Skill"))

_PROMPT = """\
You are doing one part of a larger change. Other agents are doing the other parts at the same time,
each in its own checkout. The whole task:

{task}

What is known about the code base:

{findings}

Your part: {title}

Change only these files: {files}

{steps}

When you are done, this command must exit with 0: {check}

Do not commit; that happens after the check. Answer with one line that says what you changed.
"""


async def work_on_unit(engine: Engine, job: str, spec: UnitSpec) -> UnitResult:
    """Do a unit, or find that it is done; after a failure try again with what went wrong."""
    repository = Repository(spec.batch.cwd, engine.facts)
    try:
        return await _try_unit(engine, job, spec, repository)
    except ProwessError as error:
        return _make_result(spec, "failed", reason=str(error).rstrip("."))
    finally:
        # Also when the job is cancelled. What is worth keeping is on the branch.
        await asyncio.shield(in_thread(_clean, repository, job, spec))


async def _try_unit(engine: Engine, job: str, spec: UnitSpec, repository: Repository) -> UnitResult:
    base, problem = spec.batch.base, ""
    for attempt in range(1, _ATTEMPTS + 1):
        commit = await in_thread(repository.find_commit, spec.branch, job, base)
        if commit is not None:
            return _make_result(spec, "done", commit=commit, attempts=max(attempt - 1, 1))
        worktree = await in_thread(repository.open_worktree, job, spec.branch, base)
        problem = await _attempt(engine, job, spec, worktree, attempt, problem)
        if not problem:
            commit = await in_thread(worktree.commit, spec.unit.title, job)
            return _make_result(spec, "done", commit=commit, attempts=attempt)
    return _make_result(spec, "failed", attempts=_ATTEMPTS, reason=problem)


async def _attempt(
    engine: Engine, job: str, spec: UnitSpec, worktree: Worktree, attempt: int, problem: str
) -> str:
    """Let the agent work, then check; "" if all is well, otherwise what went wrong."""
    agent = f"unit-{spec.number}" if attempt == 1 else f"unit-{spec.number}-{attempt}"

    async def settle(calls: tuple[CallRecord, ...]) -> bool:
        # An agent that does not know which of its calls ran begins anew, where that is safe.
        key = f"{job}#{attempt}"
        if not all(call.tool in _CONFINED for call in calls):
            return await ask_about_unknown(engine, job, key, calls)
        await in_thread(worktree.restore)
        return False

    text = _render_prompt(spec)
    if problem:
        text += f"\nAn earlier attempt failed; its changes are still here. {problem}\n"
    turn = TurnSpec(
        text=text,
        cwd=worktree.path,
        host=spec.batch.host,
        model=spec.batch.model,
        agent=agent,
        allow=_ALLOWED,
        rules=spec.batch.rules,
    )
    result = await run_turn(engine, job, turn, key=f"{job}#{attempt}", settle_calls=settle)
    if result.status != "done":
        return f"The agent did not finish: {result.reason or result.status}."
    if not await in_thread(worktree.stage):
        return "The agent changed nothing."
    try:
        return await _check(engine, job, spec, worktree)
    finally:
        await in_thread(worktree.restore)


async def _check(engine: Engine, job: str, spec: UnitSpec, worktree: Worktree) -> str:
    """Run the unit's check in the sandbox; "" if it passes."""
    facts = engine.facts
    settings = open_view(worktree.path, "prowess", facts=facts).load_own_settings()
    sandbox = find_bash_sandbox(
        settings,
        facts,
        open_runner(facts, read_only=False),
        project=worktree.path,
        cwd=worktree.path,
        files=LocalFiles(),
        repository=None,
    )
    if sandbox.unconfined is not None:
        title = f"Run a check without a sandbox ({sandbox.unconfined})?"
        answer = await engine.ask(job, f"check {spec.unit.check}", title, details=[spec.unit.check])
        if answer.reply is ApprovalChoice.REJECT:
            return "The check was not run because it was not approved."
    command = Command(
        text=spec.unit.check,
        argv=("bash", "-c", spec.unit.check),
        cwd=worktree.path,
        shell="bash",
        seconds=_CHECK_SECONDS,
    )
    finished = await in_thread(sandbox.runner.run, command)
    if finished.code == 0:
        return ""
    ending = "was stopped" if finished.code is None else f"exited with {finished.code}"
    output = (finished.output + finished.tail)[-_SHOWN_OUTPUT:].strip()
    return f"The check `{spec.unit.check}` {ending}:\n{output}"


def _render_prompt(spec: UnitSpec) -> str:
    return _PROMPT.format(
        task=spec.batch.task,
        findings=spec.findings,
        title=spec.unit.title,
        files=", ".join(spec.unit.files),
        steps="\n".join(f"- {step}" for step in spec.unit.steps),
        check=spec.unit.check,
    )


def _make_result(
    spec: UnitSpec, status: str, *, commit: str = "", attempts: int = 1, reason: str = ""
) -> UnitResult:
    return UnitResult(
        number=spec.number,
        title=spec.unit.title,
        status=status,
        branch=spec.branch if status == "done" else "",
        commit=commit,
        attempts=attempts,
        reason=reason,
    )


def _clean(repository: Repository, job: str, spec: UnitSpec) -> None:
    repository.remove_worktree(job)
    if repository.find_commit(spec.branch, job, spec.batch.base) is None:
        repository.drop_branch(spec.branch)
