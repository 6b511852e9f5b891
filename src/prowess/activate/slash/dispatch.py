"""Commands that bypass the model: a skill's header names a tool, and the typed text goes to it.

The body of the SKILL.md is not used, so the same command always does the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from prowess.activate.async_results import Wait, describe_failure, settle
from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import ProwessError
from prowess.errors.activation import Cancelled, CommandToolFailed, UnknownTool
from prowess.model.skill import Manifest
from prowess.text.masker import Masker

DONE = "Done."
_PAUSE = 0.05


class Dispatch(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where a command goes instead of the model: to the tool of this name, with the typed text."""

    kind: Literal["tool"] = "tool"
    tool_name: str
    arg_mode: Literal["raw"] = "raw"


def find_dispatch(manifest: Manifest) -> Dispatch | None:
    """The dispatch that a header declares.

    It needs both `command-dispatch: tool` and `command-tool`.
    """
    tool = (manifest.command_tool or "").strip()
    if not tool or manifest.command_dispatch != "tool":
        return None
    return Dispatch(tool_name=tool)


def check_dispatch(manifest: Manifest, *, file: str | None = None) -> tuple[Diagnostic, ...]:
    """Report a header that declares only half of a dispatch."""
    has_tool = bool((manifest.command_tool or "").strip())
    has_dispatch = manifest.command_dispatch == "tool"
    if has_dispatch == has_tool:
        return ()
    declared, missing = "command-dispatch", "command-tool"
    if has_tool:
        declared, missing = "command-tool", "command-dispatch: tool"
    message = f"`{declared}` has no effect without `{missing}`; the command goes to the model."
    hint = f"Add `{missing}`, or remove `{declared}`."
    return (diagnose("field-value", message, file=file, field=declared, hint=hint),)


class Cancel:
    """Cancels what is under way, from any thread.

    `when` is another reason: it is cancelled as soon as that function says so.
    """

    __slots__ = ("_event", "_when")

    def __init__(self, when: Callable[[], bool] | None = None) -> None:
        self._event = threading.Event()
        self._when = when

    def cancel(self) -> None:
        """Cancel it; it stops at its next check."""
        self._event.set()

    @property
    def is_cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self._event.is_set() or (self._when is not None and self._when())

    def wait(self, seconds: float) -> bool:
        """Wait that long, or until it is cancelled; whether it was."""
        if self._when is None:
            return self._event.wait(seconds)
        # Nobody says when the other reason comes up, so it is asked for again and again.
        left = seconds
        while left > 0 and not self.is_cancelled:
            self._event.wait(min(left, _PAUSE))
            left -= _PAUSE
        return self.is_cancelled


class ToolRun(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One run of a tool: its id, how to cancel it, and the variables that only this skill gets.

    `masker` hides the secrets among them in output. The `repr` shows no values.
    """

    id: str
    cancel: Cancel = msgspec.field(default_factory=Cancel)
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    masker: Masker = msgspec.field(default_factory=Masker)

    def __repr__(self) -> str:
        return f"ToolRun(id={self.id!r}, env=<{len(self.env)} hidden>)"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("id", self.id), ("env", sorted(self.env))]


ToolFunction = Callable[[Mapping[str, str], ToolRun], Any]


class CommandTool(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A tool that commands can go to.

    Its function gets the parameters `command`, `commandName` and `skillName`, and the run. With a
    `skill` there is such a tool only while there is that skill.
    """

    name: str
    function: ToolFunction
    description: str = ""
    skill: str | None = None


class CommandTools(msgspec.Struct, frozen=True, eq=False):
    """Tools by name. Adding returns a new value; a later tool replaces one of the same name."""

    by_name: Mapping[str, CommandTool] = msgspec.field(default_factory=dict)

    @classmethod
    def of(cls, tools: Iterable[CommandTool]) -> CommandTools:
        """These tools."""
        return cls({tool.name: tool for tool in tools})

    def add(self, *tools: CommandTool) -> CommandTools:
        """The present tools together with these."""
        return CommandTools({**self.by_name, **{tool.name: tool for tool in tools}})

    def get(self, name: str) -> CommandTool:
        """The tool of exactly that name. Raises `UnknownTool`, which lists all tools."""
        tool = self.by_name.get(name)
        if tool is None:
            raise UnknownTool(name, sorted(self.by_name))
        return tool

    def __iter__(self) -> Iterator[CommandTool]:
        return iter(self.by_name.values())

    def __len__(self) -> int:
        return len(self.by_name)


class ToolReply(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What the user gets back: the text of the tool's result, and the result itself.

    `diagnostics` say which variables of the skill the tool did not get. The `repr` shows only the
    type of the result, because a tool's own objects may reveal more than its text.
    """

    text: str
    tool: str
    run_id: str
    result: Any = None
    diagnostics: tuple[Diagnostic, ...] = ()

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [(name, getattr(self, name)) for name in ("text", "tool", "run_id", "diagnostics")]

    def __repr__(self) -> str:
        told = f"text={self.text!r}, tool={self.tool!r}, run_id={self.run_id!r}"
        return (
            f"ToolReply({told}, result=<{type(self.result).__name__}>,"
            f" diagnostics={self.diagnostics!r})"
        )


def dispatch(
    target: Dispatch,
    *,
    arguments: str,
    command_name: str,
    skill_name: str,
    tools: CommandTools,
    run: ToolRun,
    wait: Wait | None = None,
) -> ToolReply:
    """Call the tool that a command goes to, with the arguments as typed; its text is the reply.

    Raises `UnknownTool`, `Cancelled`, and `CommandToolFailed` if the tool itself raises.
    """
    tool = tools.get(target.tool_name)
    if run.cancel.is_cancelled:
        raise Cancelled(f"the tool “{tool.name}” was not called")
    params = {"command": arguments, "commandName": command_name, "skillName": skill_name}
    try:
        result = settle(tool.function(params, run), wait)
    except (ProwessError, KeyboardInterrupt):
        raise
    except BaseException as error:
        # A tool that calls `sys.exit` must not end the agent.
        if run.cancel.is_cancelled:
            raise Cancelled(f"the tool “{tool.name}” was stopped") from error
        raise CommandToolFailed(tool.name, describe_failure(error)) from error
    return ToolReply(text=find_text(result) or DONE, tool=tool.name, run_id=run.id, result=result)


def find_text(result: Any) -> str | None:
    """The text of a tool's result: the result itself, its `content`, or its text blocks."""
    content = result
    if isinstance(result, Mapping):
        content = result.get("content", result.get("text"))
    if isinstance(content, str):
        return content.strip() or None
    # Bytes are a sequence of numbers, not of blocks.
    is_list = isinstance(content, Sequence) and not isinstance(content, bytes | bytearray)
    if not is_list:
        return None
    texts = filter(None, map(_block_text, content))
    return "\n".join(texts) or None


def _block_text(block: Any) -> str | None:
    if isinstance(block, str):
        return block.strip() or None
    # A block without a type counts as text.
    is_text = isinstance(block, Mapping) and block.get("type", "text") == "text"
    text = block.get("text") if is_text else None
    if not isinstance(text, str):
        return None
    return text.strip() or None
