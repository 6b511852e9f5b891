"""What a person is asked to approve, as lines to show before the question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from prowess.model.permission import ApprovalRequest
from prowess.text.display import escape_line, escape_text


def describe_request(request: ApprovalRequest) -> list[str]:
    """What approval is asked for, and what is special about it this time."""
    details = request.metadata
    if "tool" in details:
        lines = _describe_call(details)
    elif "commands" in details:
        lines = [f"{_name_skill(details)} wants to run:", *_indent(details["commands"])]
    else:
        names = ", ".join(f"“{escape_line(name)}”" for name in request.patterns)
        lines = [
            f"A model wants to use the skill {names}, and the rules say to ask you.",
            *_describe_header(details),
        ]
    return [*lines, escape_line(request.note)] if request.note else lines


def list_hooks(details: Mapping[str, Any]) -> list[str]:
    """The hooks of a skill's header, each as `event: action`."""
    if not details.get("hooks"):
        return []
    # Few skills have hooks, and the preview of a project imports the whole runtime.
    from prowess.reports.trust_preview import describe_hooks

    return list(describe_hooks(details["hooks"]))


def _describe_call(details: Mapping[str, Any]) -> list[str]:
    """A call of one of the agent's own tools. Its difference was shown when the call began."""
    title = escape_line(details["title"])
    if "details" not in details:
        return [f"The model wants to: {title}"]
    return [f"The model wants to use {details['tool']}:", *_indent(details["details"])]


def _describe_header(details: Mapping[str, Any]) -> Iterator[str]:
    """The tools and hooks of a skill's header, which are approved along with it."""
    if details.get("allowed-tools"):
        yield f"{_name_skill(details)} would use these tools without asking:"
        yield from _indent(details["allowed-tools"])
    hooks = list_hooks(details)
    if hooks:
        yield f"{_name_skill(details)} would run these hooks:"
        yield from _indent(hooks)


def _name_skill(details: Mapping[str, Any]) -> str:
    return f"The skill “{escape_line(details['skill'])}” ({escape_line(details['location'])})"


def _indent(texts: Sequence[str]) -> list[str]:
    # A command may have several lines; each is indented, so that none can pass for the question
    # below it, and its control characters are shown, not obeyed.
    lines = "\n".join(texts).split("\n") if texts else []
    return [f"    {escape_text(line)}" for line in lines]
