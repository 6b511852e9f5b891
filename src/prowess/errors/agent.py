"""What can go wrong before or while the agent works; `prowess.errors` has the tree."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from prowess.errors import UnknownName, UsageError, nearest_names

# The keys that TOML takes without quotes.
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class ModelUnavailable(UsageError):
    """A model that cannot be used; `problem` says why, `remedy` what to do about it."""

    def __init__(self, model: str, problem: str, *, remedy: str | None = None) -> None:
        self.model = model
        self.problem = problem
        self.remedy = remedy
        super().__init__(model, problem)

    def __str__(self) -> str:
        return f"The model “{self.model}” cannot be used: {self.problem}."

    @property
    def hint(self) -> str | None:
        return self.remedy


class UnknownModel(ModelUnavailable):
    """A short name that no setting explains; `known` are those that are set."""

    def __init__(self, model: str, known: Iterable[str] = ()) -> None:
        self.known = tuple(known)
        nearest = nearest_names(model, self.known, most=1)
        remedy = f"Did you mean “{nearest[0]}”?" if nearest else None
        if remedy is None:
            key = model if _BARE_KEY.fullmatch(model) else json.dumps(model, ensure_ascii=False)
            remedy = (
                f'Name it as `provider:name`, or add `{key} = "provider:name"` to'
                " `[agent.models]` in your prowess.toml."
            )
        super().__init__(model, "it is not a short name from your settings", remedy=remedy)


class NoModel(UsageError):
    """Something needs a model, and none is configured."""

    def __str__(self) -> str:
        return "No model is configured."

    @property
    def hint(self) -> str | None:
        return (
            "Name one with `--model provider:name`, or set `model` under `[agent]` in your own"
            " prowess.toml."
        )


class UnknownAgent(UnknownName):
    """No definition of a sub-agent has the requested name."""

    def __str__(self) -> str:
        return f"There is no agent “{self.name}”; the agents are {', '.join(self.known)}."


class ScriptError(UsageError):
    """A script file that cannot be replayed; `line` is the line that is the reason."""

    def __init__(self, file: str, problem: str, *, line: int | None = None) -> None:
        self.file = file
        self.problem = problem
        self.line = line
        super().__init__(file, problem)

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.problem}."
