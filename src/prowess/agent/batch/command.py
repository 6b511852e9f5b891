"""`/batch TASK`: checks what can be checked at once, and adds the job that does the rest."""

from __future__ import annotations

from prowess.agent.batch.repository import Repository
from prowess.agent.batch.spec import BATCH, BatchSpec
from prowess.agent.jobs.client import Jobs
from prowess.agent.models import anchor_script, find_model_name
from prowess.errors import UsageError
from prowess.errors.agent import NoModel
from prowess.runtime import Skills
from prowess.state.job_files import load_machine_name

NAME = "batch"


def start_batch(
    skills: Skills,
    task: str,
    *,
    model: str | None = None,
    start_worker: bool = True,
) -> str:
    """Add a batch for the repository of the working folder; the id of its job.

    The rules that the skills were opened with apply to its agents.
    Raises `UsageError` for an empty task, no repository, a checkout with changes, or no model.
    """
    if not task.strip():
        raise UsageError("Add the task: `/batch TASK`.")
    facts, own = skills.facts, skills.project.load_own_settings()
    if find_model_name(model, own.agent) is None:
        raise NoModel
    repository = Repository(skills.cwd, facts)
    root = repository.find_root()
    repository.check_clean()
    repository.check_identity()
    base, branch = repository.find_head()
    spec = BatchSpec(
        task=task.strip(),
        cwd=root,
        machine=load_machine_name(facts),
        base=base,
        base_branch=branch,
        host=skills.host,
        # The worker runs in another folder.
        model=anchor_script(model, skills.cwd),
        rules=skills.project.given_rules,
        pull_requests=own.jobs.pull_requests,
    )
    with Jobs(own.jobs, facts) as jobs:
        id = jobs.add_leader(BATCH, spec, title=spec.task)
        if start_worker:
            jobs.ensure_worker()
    return id


def render_started(id: str) -> str:
    """What the user is told."""
    return (
        f"Started the batch {id}. It researches, then shows its plan for approval.\n"
        f"Follow it with `prowess jobs show {id} --follow`, and approve the plan with"
        f" `prowess jobs approve {id}`."
    )
