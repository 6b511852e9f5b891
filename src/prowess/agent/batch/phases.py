"""What a batch does before and after its units: research, the plan, approval, merging."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prowess.agent.batch.plan import (
    FEWEST,
    MOST,
    BatchPlan,
    PlanError,
    UnitResult,
    parse_plan,
    render_plan,
    render_table,
    to_builtins,
)
from prowess.agent.batch.repository import Repository
from prowess.agent.batch.spec import BatchSpec, name_branch
from prowess.agent.events import TextDelta
from prowess.agent.jobs.engine import Engine, in_thread
from prowess.agent.jobs.turns import report, run_turn
from prowess.agent.jobs.values import JobResult, TurnSpec
from prowess.machine.git import GitFailed
from prowess.model.permission import ApprovalChoice
from prowess.state.worktree_folders import write_text

_ASK = (ApprovalChoice.ONCE, ApprovalChoice.REJECT)
_READ = ("Read", "Glob", "Grep")
_PLANS = 3

_RESEARCH = """\
You are preparing a change to this code base that many agents will make in parallel. The task:

{task}

Change nothing. Find out how this code base does such things today: which files are affected, which
conventions and patterns they follow, how a part is tested, and what must not break. Answer with
what an agent needs to know that works on only one part and sees nothing of this conversation.
"""
_DECOMPOSE = """\
Many agents will make a change to this code base in parallel, each in its own checkout. The task:

{task}

What is known about the code base:

{findings}

Split the task into {fewest} to {most} independent units. No two units change the same file, and
none needs the result of another. Answer with one block of JSON and nothing else:

```json
{{"units": [{{"title": "one line", "files": ["path"], "steps": ["what to do"], "check": "a shell \
command that exits with 0 when the unit is right"}}]}}
```
"""


async def research(engine: Engine, job: str, spec: BatchSpec) -> JobResult:
    """What an agent that may only read finds out about the code base."""
    await _say("Research: how this code base does such things.\n")
    turn = _make_turn(spec, "research", _RESEARCH.format(task=spec.task))
    return await run_turn(engine, job, turn, key=f"{job}#research")


async def decompose(engine: Engine, job: str, spec: BatchSpec, findings: str) -> JobResult:
    """A plan that can be used. One that cannot is refused, with the reason, and asked for again."""
    await _say("Decompose: the task as independent units.\n")
    text = _DECOMPOSE.format(task=spec.task, findings=findings, fewest=FEWEST, most=MOST)
    problem = ""
    for attempt in range(1, _PLANS + 1):
        agent = "decompose" if attempt == 1 else f"decompose-{attempt}"
        again = f"\nAn earlier plan was refused: {problem}\n" if problem else ""
        result = await run_turn(
            engine, job, _make_turn(spec, agent, text + again), key=f"{job}#{agent}"
        )
        if result.status != "done":
            return result
        try:
            plan = parse_plan(result.answer)
        except PlanError as error:
            problem = str(error)
            await _say(f"The plan was refused: {problem}\n")
            continue
        return JobResult(status="done", answer=result.answer, data=to_builtins(plan))
    return JobResult(status="failed", reason=f"no usable plan: {problem}".rstrip("."))


async def approve_plan(engine: Engine, job: str, spec: BatchSpec, plan: BatchPlan) -> JobResult:
    """Ask a person whether the units are to be worked on."""
    title = (
        f"Start work on these {len(plan.units)} units? Each agent can change files and run commands"
        " in the sandbox, in its own worktree. Then its check is run."
    )
    answer = await engine.ask(job, "plan", title, details=render_plan(plan), choices=_ASK)
    if answer.reply is ApprovalChoice.REJECT:
        reason = answer.feedback or "the plan was not approved"
        return JobResult(status="refused", reason=reason)
    await _say(f"Work: {len(plan.units)} units.\n")
    return JobResult(status="done")


async def finish_batch(
    engine: Engine, job: str, spec: BatchSpec, units: Sequence[UnitResult]
) -> JobResult:
    """Merge the branches in order, offer pull requests, and say what became of every unit."""
    repository = Repository(spec.cwd, engine.facts)
    branch = name_branch(job, "all")
    merged = await in_thread(_merge, repository, job, branch, spec, units)
    table = render_table(merged)
    await _say(f"{table}\n")
    done = [one for one in merged if one.merge == "merged"]
    lines = [table, ""]
    if done:
        lines.append(f"The merged units are on the branch {branch}.")
        lines += await _offer_pull_requests(engine, job, spec, repository, merged, table)
    is_whole = len(done) == len(merged)
    missing = len(merged) - len(done)
    return JobResult(
        status="done" if is_whole else "failed",
        answer="\n".join(lines),
        reason="" if is_whole else f"{missing} of {len(merged)} units were not merged",
        data={"branch": branch if done else "", "units": [to_builtins(one) for one in merged]},
    )


def _merge(
    repository: Repository, job: str, branch: str, spec: BatchSpec, units: Sequence[UnitResult]
) -> list[UnitResult]:
    parts = {
        one.branch: f"Merge {one.branch}: {one.title}" for one in units if one.status == "done"
    }
    results: dict[str, str] = {}
    if parts:
        results = repository.merge_branches(f"{job}-all", branch, spec.base, parts)
    return [
        msgspec.structs.replace(one, merge=results[one.branch]) if one.branch in results else one
        for one in units
    ]


async def _offer_pull_requests(
    engine: Engine,
    job: str,
    spec: BatchSpec,
    repository: Repository,
    units: Sequence[UnitResult],
    table: str,
) -> list[str]:
    """Open pull requests if a person agrees and `gh` is there; otherwise write their text."""
    title = " ".join(spec.task.split())[:70]
    wanted = [(name_branch(job, "all"), title, f"{spec.task}\n\n{table}\n")]
    if spec.pull_requests == "each":
        wanted = [
            (one.branch, one.title, f"{one.title}\n\nPart {one.number} of: {spec.task}\n")
            for one in units
            if one.status == "done"
        ]
    can_open = engine.facts.find_bin("gh") and await in_thread(repository.has_remote)
    if can_open:
        branches = [branch for branch, _, _ in wanted]
        question = f"Push {len(branches)} branches to origin and open pull requests?"
        if len(branches) == 1:
            question = "Push 1 branch to origin and open a pull request?"
        answer = await engine.ask(job, "push", question, details=branches, choices=_ASK)
        if answer.reply is not ApprovalChoice.REJECT:
            return await _open_pull_requests(spec, repository, wanted)
    folder = f"{await in_thread(repository.find_git_folder)}/prowess/{job}"
    for number, (branch, heading, body) in enumerate(wanted, 1):
        text = f"# {heading}\n\nBranch: {branch}\n\n{body}"
        write_text(f"{folder}/pull-request-{number}.md", text)
    plural = "s" if len(wanted) > 1 else ""
    return [f"The text of the pull request{plural} is in {folder}; nothing was pushed."]


async def _open_pull_requests(
    spec: BatchSpec, repository: Repository, wanted: Sequence[tuple[str, str, str]]
) -> list[str]:
    lines = []
    for branch, title, body in wanted:
        try:
            await in_thread(repository.push, branch)
            address = await in_thread(
                repository.open_pull_request, branch, spec.base_branch, title, body
            )
            lines.append(f"Pull request: {address}")
        except GitFailed as error:
            lines.append(f"No pull request for {branch}: {error}")
    return lines


def _make_turn(spec: BatchSpec, agent: str, text: str) -> TurnSpec:
    return TurnSpec(
        text=text,
        cwd=spec.cwd,
        host=spec.host,
        model=spec.model,
        agent=agent,
        allow=_READ,
        rules=spec.rules,
        read_only=True,
    )


async def _say(text: str) -> None:
    await report(TextDelta(text=text))
