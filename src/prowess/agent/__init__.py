"""The agent: a model that works in a project with its skills. It needs the extra `agent`.

from prowess import Skills
from prowess.agent import Session

with Session(Skills.open("."), model="anthropic:claude-sonnet-4-5") as session:
    print(session.run("What is in this project?").answer)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prowess.errors import MissingExtra

if TYPE_CHECKING:
    from prowess.agent import events
    from prowess.agent.session import Session
    from prowess.agent.turn import Limits

__all__ = ["Limits", "Session", "events"]

_HOMES = {"Limits": "prowess.agent.turn", "Session": "prowess.agent.session"}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "events":
        return import_module("prowess.agent.events")
    if name not in _HOMES:
        raise AttributeError(f"module 'prowess.agent' has no attribute {name!r}")
    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as missing:
        if not (missing.name or "").startswith("pydantic_ai"):
            raise
        raise MissingExtra("agent", "run an agent") from missing
