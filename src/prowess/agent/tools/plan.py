"""What a call of a tool is about to do, as a value: shown, judged and then carried out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from pydantic_ai import ToolReturn

from prowess.model.permission import Action

IsCancelled = Callable[[], bool]
FindDenial = Callable[[str], str | None]
"""Why the rules keep the model from reading a file; None if they do not."""


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a call needs: a path, a command, an address.

    `names` are its spellings, which rules are compared with. `needs_rule` is True for what no
    default allows, such as a path outside the project; a rule must then name it by its whole path.
    `closed_because` says why. Where `must_name` is not empty, a person is asked unless the pattern
    of a rule that allows it has this text in it.
    `whole` is a text that only rules without wildcards allow, or those about everything.
    """

    names: tuple[str, ...]
    whole: str | None = None
    needs_rule: bool = False
    closed_because: str = "it is outside the project"
    must_name: str = ""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A call of a tool before it happens.

    `permissions` are what rules call this kind of call, `accesses` what it needs. `default` applies
    where no rule does. `details` and `diff` are for the person who is asked. `touched` is the file
    that it reads or writes. `asks_because` says why a person is asked even where a rule allows it.
    `run` does it, in a thread of its own, and returns the answer: a text, or a list of texts and
    files; `delegate` in its place leaves it to another agent.
    """

    title: str
    permissions: tuple[str, ...]
    accesses: tuple[Access, ...]
    default: Action
    run: Callable[[IsCancelled], str | list[Any]] | None = None
    delegate: Callable[[], Awaitable[str]] | None = None
    details: tuple[str, ...] = ()
    diff: str = ""
    touched: str | None = None
    asks_because: str | None = None
    is_write: bool = False

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Functions that return a plan are tools, whose types pydantic looks at."""
        from pydantic_core import core_schema

        return core_schema.any_schema()


def name_call(tool: str, input: Mapping[str, Any]) -> str:
    """A call that has no plan, as a person reads it."""
    values = " ".join(value for value in input.values() if isinstance(value, str))
    return f"{tool} {values}".rstrip()


def render_answer(answer: Any) -> str:
    """What a tool answered, as text; pictures and files are for the model only."""
    if isinstance(answer, ToolReturn):
        answer = answer.return_value
    parts = answer if isinstance(answer, list) else [answer]
    texts = [part for part in parts if isinstance(part, str)]
    return "\n".join(texts)
