"""`/batch TASK`: starts a batch, which goes on as a job."""

from __future__ import annotations

from prowess.activate.slash.dispatch import ToolRun
from prowess.agent.models import anchor_script
from prowess.errors import MissingExtra
from prowess.runtime import Skills


def run_command(arguments: str, skills: Skills, run: ToolRun, *, model: str | None = None) -> str:
    """Start a batch, and say how to follow it. Raises `UsageError`, and `MissingExtra`."""
    try:
        from prowess.agent.batch.command import render_started, start_batch
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("dbos", "sqlalchemy", "pydantic_ai"):
            raise
        raise MissingExtra("jobs", "run batches") from missing
    # The worker runs in another folder.
    model = anchor_script(model, skills.cwd)
    return render_started(start_batch(skills, arguments, model=model))
