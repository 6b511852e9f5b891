"""`/batch`, `/loop` and `/schedule-remote-agents`: commands that start jobs and end at once."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from prowess.activate.slash.dispatch import ToolRun
from prowess.errors import MissingExtra
from prowess.runtime import Skills

_PACKAGES = ("croniter", "dbos", "psycopg", "pydantic_ai", "sqlalchemy")


def run_batch(arguments: str, skills: Skills, run: ToolRun, *, model: str | None = None) -> str:
    """Start a batch, and say how to follow it. Raises `UsageError`, and `MissingExtra`."""
    batch = _load("prowess.agent.batch.command", "run batches")
    id = batch.start_batch(skills, arguments, model=model)
    return str(batch.render_started(id))


def run_loop(arguments: str, skills: Skills, run: ToolRun, *, model: str | None = None) -> str:
    """Add a schedule for this machine. Raises like the above."""
    schedules = _load("prowess.agent.jobs.schedules", "run a prompt again and again")
    return str(schedules.render_added(schedules.start_loop(skills, arguments, model=model)))


def run_remote(arguments: str, skills: Skills, run: ToolRun, *, model: str | None = None) -> str:
    """Add a schedule for the workers of a shared database. Raises like the above."""
    schedules = _load("prowess.agent.jobs.schedules", "schedule remote agents")
    return str(schedules.render_added(schedules.schedule_remote(skills, arguments, model=model)))


def _load(module: str, purpose: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        # Any other module that is missing is a mistake in ours.
        package = (missing.name or "").partition(".")[0]
        if package not in _PACKAGES:
            raise
        raise MissingExtra("jobs", purpose) from missing
