"""The workflows of a batch: one that leads through its phases, and one for each unit.

Every step looks first at what is there, in the repository and in the files of sessions, so that one
that runs again after a kill goes on and repeats nothing.
"""

from __future__ import annotations

from typing import Any

import msgspec
from dbos import DBOS, SetWorkflowAttributes, SetWorkflowID

from prowess.agent.batch.phases import (
    approve_plan,
    decompose,
    finish_batch,
    research,
)
from prowess.agent.batch.plan import BatchPlan, UnitResult, slugify
from prowess.agent.batch.spec import BATCH, UNIT, BatchSpec, UnitSpec, name_branch
from prowess.agent.batch.unit import work_on_unit
from prowess.agent.events import Status
from prowess.agent.jobs.engine import get_engine
from prowess.agent.jobs.queues import name_turn_queue
from prowess.agent.jobs.values import JobResult


@DBOS.workflow(name=BATCH)
async def run_batch(raw: dict[str, Any]) -> dict[str, Any]:
    """Research, decompose, work, then track and merge."""
    id = str(DBOS.workflow_id)
    found = msgspec.convert(await research_step(raw), JobResult)
    if found.status != "done":
        return _build(found)
    planned = msgspec.convert(await decompose_step(raw, found.answer), JobResult)
    if planned.status != "done":
        return _build(planned)
    plan = msgspec.convert(planned.data, BatchPlan)
    approved = msgspec.convert(await approve_step(raw, dict(planned.data)), JobResult)
    if approved.status != "done":
        return _build(approved)
    results = await _work_on_units(id, raw, plan, found.answer)
    finished: dict[str, Any] = await finish_step(raw, results)
    return finished


async def _work_on_units(
    id: str, raw: dict[str, Any], plan: BatchPlan, findings: str
) -> list[dict[str, Any]]:
    """Put every unit into the queue of this machine, and wait for all."""
    queue = name_turn_queue(msgspec.convert(raw, BatchSpec).machine)
    handles = []
    for number, unit in enumerate(plan.units, 1):
        spec = UnitSpec(
            batch=msgspec.convert(raw, BatchSpec),
            id=id,
            number=number,
            unit=unit,
            findings=findings,
            branch=name_branch(id, f"{number:02}-{slugify(unit.title)}"),
        )
        shown = {"title": unit.title, "cwd": spec.batch.cwd, "queue": queue}
        with SetWorkflowID(f"{id}.{number:02}"), SetWorkflowAttributes(shown):
            handles.append(await DBOS.enqueue_workflow_async(queue, run_unit, _build(spec)))
    return [await handle.get_result() for handle in handles]


@DBOS.workflow(name=UNIT)
async def run_unit(raw: dict[str, Any]) -> dict[str, Any]:
    """One unit, as a durable workflow."""
    result: dict[str, Any] = await unit_step(raw)
    return result


@DBOS.step(name="prowess.batch.research", preemptible=True)
async def research_step(raw: dict[str, Any]) -> dict[str, Any]:
    """Learn how the code base does such things, before anything is split."""
    spec = msgspec.convert(raw, BatchSpec)
    return _build(await research(get_engine(), str(DBOS.workflow_id), spec))


@DBOS.step(name="prowess.batch.decompose", preemptible=True)
async def decompose_step(raw: dict[str, Any], findings: str) -> dict[str, Any]:
    """Split the task into units; a plan that cannot be used is asked for again."""
    spec = msgspec.convert(raw, BatchSpec)
    return _build(await decompose(get_engine(), str(DBOS.workflow_id), spec, findings))


@DBOS.step(name="prowess.batch.approve", preemptible=True)
async def approve_step(raw: dict[str, Any], plan: dict[str, Any]) -> dict[str, Any]:
    """Show the plan to a person."""
    spec, shown = msgspec.convert(raw, BatchSpec), msgspec.convert(plan, BatchPlan)
    return _build(await approve_plan(get_engine(), str(DBOS.workflow_id), spec, shown))


@DBOS.step(name="prowess.batch.unit", preemptible=True)
async def unit_step(raw: dict[str, Any]) -> dict[str, Any]:
    """Let an agent do a unit in its worktree, check it and commit it."""
    spec = msgspec.convert(raw, UnitSpec)
    result = await work_on_unit(get_engine(), str(DBOS.workflow_id), spec)
    status: Status = "done" if result.status == "done" else "failed"
    answer = f"{result.branch} {result.commit[:12]}".strip()
    return _build(
        JobResult(status=status, answer=answer, reason=result.reason, data=_build(result))
    )


@DBOS.step(name="prowess.batch.finish", preemptible=True)
async def finish_step(raw: dict[str, Any], results: list[dict[str, Any]]) -> dict[str, Any]:
    """Merge what applies cleanly, offer pull requests, and clean up."""
    spec = msgspec.convert(raw, BatchSpec)
    units = [msgspec.convert(msgspec.convert(one, JobResult).data, UnitResult) for one in results]
    return _build(await finish_batch(get_engine(), str(DBOS.workflow_id), spec, units))


def _build(value: msgspec.Struct) -> dict[str, Any]:
    built: dict[str, Any] = msgspec.to_builtins(value)
    return built
