"""The message that a typed command becomes, in the shape of a host: one function per shape, by the
word of profiles.

The body is asked for only by shapes that hold it, at the moment the command is typed. Fixed
sentences are our own; the order of things, tags and labels are the host's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from prowess.activate.slash.commands import SlashCommand
from prowess.activate.slash.delivery import Delivery
from prowess.activate.slash.parser import Call, Mention, Notice
from prowess.diagnostics import Diagnostic
from prowess.model.activation import IN_CODE, Requests
from prowess.model.skill import LoadedFrom
from prowess.profiles.schema.commands import CommandRules, MessageShape
from prowess.text.markup import escape_tags, escape_text, tidy_line, tidy_path

WITHOUT_FOLDER = (LoadedFrom.COMMANDS, LoadedFrom.MCP)
"""What skills are loaded from that have no folder of their own on this machine."""

ReadBody = Callable[[SlashCommand, str], str]
"""The body of a command's skill as it is on disk now, without its header and made ready for these arguments."""


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the model receives in place of the typed text.

    `parts` are texts that belong into one message, one after the other. A `custom` message is shown
    as the skill's, not as the user's own words. `details` are for whoever shows it. `skills` are
    the names of the skills in it, and `requests` what each of those asks for whose body is in it.
    `blocks` are content blocks that are no text. `untrusted` are those of the skills that ask for
    tools or hooks and come from where their user trusts nobody.
    """

    parts: tuple[str, ...]
    delivery: Delivery = Delivery.PROMPT
    kind: Literal["user", "custom"] = "user"
    skills: tuple[str, ...] = ()
    details: Mapping[str, str] = msgspec.field(default_factory=dict)
    requests: Mapping[str, Requests] = msgspec.field(default_factory=dict)
    blocks: tuple[Mapping[str, Any], ...] = ()
    untrusted: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def text(self) -> str:
        """The whole message as one text."""
        return "\n\n".join(self.parts)


class _Work(NamedTuple):
    """What a shape is made from."""

    commands: tuple[SlashCommand, ...]
    arguments: str
    text: str
    read: ReadBody
    rules: CommandRules

    @property
    def command(self) -> SlashCommand:
        return self.commands[0]

    @property
    def body(self) -> str:
        return self.read(self.command, self.arguments)


def render_message(
    typed: Call | Mention,
    rules: CommandRules,
    *,
    read: ReadBody,
    delivery: Delivery = Delivery.PROMPT,
) -> Message | Notice:
    """The message that a command or a text with mentions becomes; a notice where it would be too
    long.
    """
    if isinstance(typed, Call):
        work, shape = (
            _Work((typed.command,), typed.arguments, typed.text, read, rules),
            rules.message,
        )
    else:
        work, shape = _Work(typed.commands, typed.text, typed.text, read, rules), rules.mentions
    made = SHAPES[shape](work)
    if isinstance(made, Notice):
        return made
    names = tuple(command.skill_name for command in work.commands)
    return msgspec.structs.replace(made, delivery=delivery, skills=names)


def _render_base_folder(work: _Work) -> Message:
    return Message(parts=(_with_folder(work.command, work.body),))


def _render_body(work: _Work) -> Message:
    return Message(parts=(work.body,))


def _with_folder(command: SlashCommand, body: str) -> str:
    """The line with the folder and the body; not every skill has a folder of its own."""
    if not command.folder or command.loaded_from in WITHOUT_FOLDER or command.location == IN_CODE:
        return body
    return f"{render_folder_line(command.folder)}\n\n{body}"


def render_folder_line(folder: str) -> str:
    """The line that says which folder a skill's relative paths start from."""
    return f"Base folder of this skill: {tidy_path(folder)}"


def _render_claude_typed(work: _Work) -> Message:
    """What was typed, in tags, and the body with its folder."""
    name = escape_text(tidy_line(work.command.name))
    lines = [f"<command-message>{name}</command-message>", f"<command-name>/{name}</command-name>"]
    if work.arguments:
        tags = ("command-message", "command-name", "command-args")
        lines.append(f"<command-args>{escape_tags(work.arguments, *tags)}</command-args>")
    return Message(parts=("\n".join(lines), _with_folder(work.command, work.body)))


def _render_omp_autoload(work: _Work) -> Message:
    """The body, then where it comes from and what the user said."""
    body = work.body.strip()
    lines = [
        body,
        "",
        "---",
        "",
        f"Skill: {tidy_path(work.command.location)}",
        *_user_line(work.arguments),
    ]
    return _as_custom(work, body, lines)


def _render_omp_invoked(work: _Work) -> Message:
    """A line that says who asked, the body, the folder, and what the user said."""
    body = work.body.strip()
    name = tidy_line(work.command.skill_name)
    lines = [
        f'[IMPORTANT: The user asks for the skill "{name}". Do as it says; all of it follows.]',
        "",
        body,
        "",
        "---",
        "",
        f"[Skill directory: {tidy_path(work.command.folder)}]",
        "Relative paths above start from that folder.",
        *_user_line(work.arguments),
    ]
    return _as_custom(work, body, lines)


def _user_line(arguments: str) -> list[str]:
    return [f"User: {arguments}"] if arguments else []


def _as_custom(work: _Work, body: str, lines: Sequence[str]) -> Message:
    details = {"name": work.command.skill_name, "path": work.command.location}
    if work.arguments:
        details["args"] = work.arguments
    details["lineCount"] = str(body.count("\n") + 1 if body else 0)
    return Message(parts=("\n".join(lines).strip(),), kind="custom", details=details)


def _render_opencode_template(work: _Work) -> Message:
    folder = render_folder_line(work.command.folder)
    return Message(
        parts=(
            (
                f"{work.body}\n\n{folder}\nRelative paths in this skill (scripts/, references/)"
                " start there."
            ),
        )
    )


def _render_openclaw_input(work: _Work) -> Message:
    """A line that names the skill, and the arguments; the model reads the file itself."""
    name = _quote(work.command.skill_name)
    lines = [f"This request is for the skill {name}: read it and carry it out."]
    if work.arguments:
        lines += ["", "User input:", work.arguments]
    return Message(parts=("\n".join(lines),))


def _render_openclaw_references(work: _Work) -> Message | Notice:
    """A list of the skills, and the text as it was typed; a skill that the catalog lacks is listed
    with its file.
    """
    rules = work.rules
    lines = [_reference(command) for command in work.commands]
    for command, line in zip(work.commands, lines, strict=True):
        if rules.most_line and len(line) > rules.most_line:
            return _too_long(command, len(line), rules.most_line)
    ask = "The user names these skills. Read the SKILL.md of each before you act, and follow it:"
    lead = "\n".join([ask, *lines, "", "User request:", ""])
    if rules.most_lead and len(lead) > rules.most_lead:
        return _too_long(work.command, len(lead), rules.most_lead)
    return Message(parts=(lead + work.text,))


def _reference(command: SlashCommand) -> str:
    name = f"- {tidy_line(command.skill_name)}"
    return name if command.model_visible else f"{name} (SKILL.md: {tidy_path(command.location)})"


def _too_long(command: SlashCommand, found: int, most: int) -> Notice:
    message = (
        f"What names the skills would take {found:,} characters; at most {most:,} are sent. Name"
        " fewer skills."
    )
    return Notice(kind="too-long", name=command.skill_name, message=message)


def _render_codex_blocks(work: _Work) -> Message:
    """The text as it was typed, and each skill in a tag of its own."""
    return Message(parts=(work.text, *(_codex_block(command, work) for command in work.commands)))


def _codex_block(command: SlashCommand, work: _Work) -> str:
    name, path = (
        escape_text(tidy_line(command.skill_name)),
        escape_text(tidy_path(command.location)),
    )
    body = escape_tags(work.read(command, work.arguments), "skill")
    return f"<skill>\n<name>{name}</name>\n<path>{path}</path>\n{body}\n</skill>"


def _quote(name: str) -> str:
    return '"' + tidy_line(name).replace('"', "'") + '"'


SHAPES: dict[MessageShape, Callable[[_Work], Message | Notice]] = {
    "base-folder": _render_base_folder,
    "body": _render_body,
    "claude-typed": _render_claude_typed,
    "codex-blocks": _render_codex_blocks,
    "omp-autoload": _render_omp_autoload,
    "omp-invoked": _render_omp_invoked,
    "opencode-template": _render_opencode_template,
    "openclaw-input": _render_openclaw_input,
    "openclaw-references": _render_openclaw_references,
}
