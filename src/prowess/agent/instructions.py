"""What every request begins with: who the model is, where it works, and the context files."""

from __future__ import annotations

from collections.abc import Iterable

from prowess.agent.definitions import AgentDefinition
from prowess.discover.context import ContextFiles
from prowess.text.markup import escape_tags, escape_xml, tidy_line, tidy_path

_BASE = """\
You are an agent that works in a project on the user's computer. Use the tools to do what the user \
asks. Read a file before you change it. Do not guess what a file contains or what a command prints.
When a call is refused, do not try to do the same thing another way: say what you need.
When you are done, say briefly what you did and what you found."""


def render_instructions(
    *, cwd: str, platform: str, context: ContextFiles, agents: Iterable[AgentDefinition] = ()
) -> str:
    """The instructions of the main agent and of its sub-agents. They stay the same for a session,
    so that a provider can cache them.
    """
    parts = [_BASE, f"Working folder: {cwd}\nPlatform: {platform}"]
    if context.files:
        parts.append(
            "These files say how to work in this project. Where they disagree, the last one counts."
        )
    for file in context.files:
        text = escape_tags(file.text.strip(), "context_file")
        parts.append(
            f'<context_file path="{escape_xml(tidy_path(file.path))}">\n{text}\n</context_file>'
        )
    listed = [f"- {tidy_line(one.name)}: {tidy_line(one.description)}" for one in agents]
    # The general agent alone is in the description of the tool.
    if len(listed) > 1:
        parts.append("\n".join(("Agents for the Task tool:", *listed)))
    return "\n\n".join(parts)
