"""What the commands about jobs share: their settings, and the jobs themselves."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from prowess.cli.conversation_options import join_words
from prowess.cli.options import complete_hosts
from prowess.errors import MissingExtra, UsageError
from prowess.machine.facts import current_facts

if TYPE_CHECKING:
    from prowess.agent.jobs.client import Jobs
    from prowess.agent.jobs.values import TurnSpec
    from prowess.model.facts import Facts
    from prowess.model.settings import JobSettings

F = TypeVar("F", bound=Callable[..., Any])

# Every command takes a host; jobs have their own.
hidden_host = click.option(
    "--host", metavar="NAME", shell_complete=complete_hosts, hidden=True, expose_value=False
)


def load_job_settings(facts: Facts) -> JobSettings:
    """`[jobs]` of the user's own settings."""
    from prowess.project.host_view import open_view

    return open_view(".", "prowess", facts=facts).load_own_settings().jobs


@contextmanager
def require_jobs() -> Iterator[None]:
    """Raise `MissingExtra` if an import in the block fails because the extra is missing."""
    try:
        yield
    except ModuleNotFoundError as missing:
        # Any other module that is missing is a mistake in ours.
        package = (missing.name or "").partition(".")[0]
        if package not in ("dbos", "sqlalchemy", "pydantic_ai"):
            raise
        raise MissingExtra("jobs", "run jobs") from missing


@contextmanager
def open_jobs() -> Iterator[Jobs]:
    """The jobs of the user's settings. Raises `MissingExtra`."""
    with require_jobs():
        from prowess.agent.jobs.client import Jobs
    facts = current_facts()
    with Jobs(load_job_settings(facts), facts) as jobs:
        yield jobs


class TurnOptions(msgspec.Struct, frozen=True, kw_only=True):
    """A task for a model, with which model, by which rules and up to which limits."""

    text: tuple[str, ...]
    model: str | None
    allow: tuple[str, ...]
    deny: tuple[str, ...]
    read_only: bool
    max_turns: int | None
    max_cost: float | None
    max_time: float | None

    def make_spec(self, host: str) -> TurnSpec:
        """The turn for this folder. Raises `UsageError` here rather than in the worker."""
        from prowess.agent.jobs.values import TurnSpec
        from prowess.agent.models import anchor_script
        from prowess.gate.permissions import parse_given
        from prowess.text.permission_rules import AGENT_TOOLS

        text = join_words(self.text)
        if not text.strip():
            raise UsageError("The prompt is empty.")
        parse_given(allow=self.allow, deny=self.deny, tools=AGENT_TOOLS)
        return TurnSpec(
            text=text,
            cwd=os.getcwd(),
            host=host,
            model=anchor_script(self.model, os.getcwd()),
            allow=self.allow,
            deny=self.deny,
            read_only=self.read_only,
            max_turns=self.max_turns,
            max_cost=self.max_cost,
            max_seconds=self.max_time,
        )


_POSITIVE = click.FloatRange(min=0, min_open=True)
_TURN_PARTS = (
    click.argument("text", nargs=-1, required=True, type=click.UNPROCESSED),
    click.option("--model", metavar="NAME", help="provider:name, or script:FILE."),
    click.option("--allow", multiple=True, metavar="RULE", help="Allow these tools or skills."),
    click.option("--deny", multiple=True, metavar="RULE", help="Deny these tools or skills."),
    click.option("--read-only", is_flag=True, help="Change nothing in the project."),
    click.option("--max-turns", type=click.IntRange(min=1), help="Limit on requests to the model."),
    click.option("--max-cost", type=_POSITIVE, help="Limit on the cost, in US dollars."),
    click.option("--max-time", type=_POSITIVE, help="Limit on the time, in seconds."),
)


def turn_options(command: F) -> F:
    """Add the text of a task and its options, which become one argument, `turn`."""

    @wraps(command)
    def with_turn(*arguments: Any, **options: Any) -> Any:
        turn = TurnOptions(**{name: options.pop(name) for name in TurnOptions.__struct_fields__})
        return command(*arguments, turn=turn, **options)

    decorated: Any = with_turn
    for part in reversed(_TURN_PARTS):
        decorated = part(decorated)
    return decorated  # type: ignore[no-any-return]
