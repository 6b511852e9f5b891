"""The message that a typed command becomes, and when it reaches the model.

One function per shape that profiles name. The order of things, tags and labels are the host's; the
sentences are our own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Literal, NamedTuple

import msgspec

from prowess.activate.slash.commands import SlashCommand
from prowess.activate.slash.parser import CommandCall, Mention, Notice
from prowess.activate.wrappers import render_folder_line
from prowess.diagnostics import Diagnostic
from prowess.model.activation import SkillRequests
from prowess.profiles.schema.commands import CommandRules, MessageShape
from prowess.text.markup import escape_tags, escape_text, escape_xml, tidy_line, tidy_path


class Key(str, Enum):
    """The two ways to send what was typed. The values are the usual keys."""

    SEND = "enter"
    FOLLOW_UP = "ctrl+enter"


class Delivery(str, Enum):
    """When a message reaches the model: as a prompt, while it is answering, or after that."""

    PROMPT = "prompt"
    STEER = "steer"
    FOLLOW_UP = "follow-up"


_WHILE_STREAMING: dict[Key, Delivery] = {
    Key.SEND: Delivery.STEER,
    Key.FOLLOW_UP: Delivery.FOLLOW_UP,
}


def find_delivery(key: Key = Key.SEND, *, streaming: bool = False) -> Delivery:
    """How a message is delivered: by the key that sent it, while the model is answering or not."""
    return _WHILE_STREAMING[key] if streaming else Delivery.PROMPT


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the model receives in place of the typed text.

    `parts` are texts that go into one message, in order. A `custom` message is shown as the
    skill's, not as the user's own words. `details` are for the program that shows it. `skills` are
    the names of the skills in it; `requests` is what each skill asks for whose body is in it.
    `blocks` are content blocks other than text. `untrusted` are the skills that ask for tools or
    hooks but come from a place that the user does not trust.
    """

    parts: tuple[str, ...]
    delivery: Delivery = Delivery.PROMPT
    kind: Literal["user", "custom"] = "user"
    skills: tuple[str, ...] = ()
    details: Mapping[str, str] = msgspec.field(default_factory=dict)
    requests: Mapping[str, SkillRequests] = msgspec.field(default_factory=dict)
    blocks: tuple[Mapping[str, Any], ...] = ()
    untrusted: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def text(self) -> str:
        """The whole message as one text."""
        return "\n\n".join(self.parts)


class _Draft(NamedTuple):
    """What a shape makes a message from. `bodies` are empty for shapes that hold none."""

    commands: tuple[SlashCommand, ...]
    bodies: Sequence[str]
    arguments: str
    text: str
    rules: CommandRules

    @property
    def command(self) -> SlashCommand:
        return self.commands[0]

    @property
    def body(self) -> str:
        return self.bodies[0]


def needs_bodies(typed: CommandCall | Mention, rules: CommandRules) -> bool:
    """Whether the message holds the bodies of its skills; otherwise it only names them."""
    return _find_shape(typed, rules) not in _NAMES_ONLY


def build_message(
    typed: CommandCall | Mention,
    rules: CommandRules,
    *,
    bodies: Sequence[str] = (),
    delivery: Delivery = Delivery.PROMPT,
) -> Message | Notice:
    """The message that a command, or a text with mentions, becomes; a notice where it is too long.

    `bodies` are the rendered bodies of `typed.commands`, where `needs_bodies` says so.
    """
    draft = _Draft(typed.commands, bodies, typed.arguments, typed.text, rules)
    message = SHAPES[_find_shape(typed, rules)](draft)
    if isinstance(message, Notice):
        return message
    names = tuple(command.skill_name for command in typed.commands)
    return msgspec.structs.replace(message, delivery=delivery, skills=names)


def _find_shape(typed: CommandCall | Mention, rules: CommandRules) -> MessageShape:
    return rules.message if isinstance(typed, CommandCall) else rules.mentions


def _build_base_folder(draft: _Draft) -> Message:
    return Message(parts=(_with_folder(draft.command, draft.body),))


def _build_folder_and_line(draft: _Draft) -> Message:
    """The body with its folder, and then what was typed."""
    body = draft.body.strip()
    return Message(parts=(_with_folder(draft.command, body), draft.text))


def _build_tool_result(draft: _Draft) -> Message:
    """The body with its folder, and then the arguments as the user's request."""
    name = tidy_line(draft.command.skill_name)
    request = draft.arguments or f"Use the skill {name}."
    return Message(parts=(_with_folder(draft.command, draft.body.strip()), request))


def _build_pi_skill(draft: _Draft) -> Message:
    """The body in a tag that has its name and file, and then the arguments."""
    name = escape_xml(tidy_line(draft.command.skill_name))
    file = escape_xml(tidy_path(draft.command.location))
    folder = escape_tags(tidy_path(draft.command.folder), "skill")
    body = escape_tags(draft.body.strip(), "skill")
    block = (
        f'<skill name="{name}" location="{file}">\n'
        f"References are relative to {folder}.\n\n{body}\n</skill>"
    )
    return Message(parts=(block, draft.arguments) if draft.arguments else (block,))


def _build_loaded_skill(draft: _Draft) -> Message:
    """The skill's name, description, file and escaped body, each in a tag."""
    command = draft.command
    values = {
        "name": tidy_line(command.skill_name),
        "description": command.description,
        "location": tidy_path(command.location),
        "instructions": draft.body.strip(),
    }
    tags = [f"<{tag}>{escape_text(value)}</{tag}>" for tag, value in values.items()]
    block = "\n".join(("<loaded_skill>", *tags, "</loaded_skill>"))
    return Message(parts=(block, draft.arguments) if draft.arguments else (block,))


def _build_body(draft: _Draft) -> Message:
    return Message(parts=(draft.body,))


def _with_folder(command: SlashCommand, body: str) -> str:
    """The body below the line with its folder, for skills that have a folder of their own."""
    if not command.own_folder:
        return body
    return f"{render_folder_line(command.own_folder)}\n\n{body}"


def _build_claude_typed(draft: _Draft) -> Message:
    """What was typed, in tags, and the body with its folder."""
    name = escape_text(tidy_line(draft.command.name))
    lines = [f"<command-message>{name}</command-message>", f"<command-name>/{name}</command-name>"]
    if draft.arguments:
        tags = ("command-message", "command-name", "command-args")
        lines.append(f"<command-args>{escape_tags(draft.arguments, *tags)}</command-args>")
    return Message(parts=("\n".join(lines), _with_folder(draft.command, draft.body)))


def _build_omp_autoload(draft: _Draft) -> Message:
    """The body, then its file and what the user typed."""
    # omp once had this for typed commands, and has it for sub-agents today.
    body = draft.body.strip()
    source = f"Skill: {tidy_path(draft.command.location)}"
    lines = [body, "", "---", "", source, *_user_line(draft.arguments)]
    return _as_custom(draft, body, lines)


def _build_omp_invoked(draft: _Draft) -> Message:
    """A line that says who asked, the body, its folder, and what the user typed."""
    body = draft.body.strip()
    name = tidy_line(draft.command.skill_name)
    lines = [
        f'[IMPORTANT: The user invoked the skill "{name}". Follow its instructions below.]',
        "",
        body,
        "",
        "---",
        "",
        f"[Skill directory: {tidy_path(draft.command.folder)}]",
        "Relative paths above start at that folder.",
        *_user_line(draft.arguments),
    ]
    return _as_custom(draft, body, lines)


def _user_line(arguments: str) -> list[str]:
    return [f"User: {arguments}"] if arguments else []


def _as_custom(draft: _Draft, body: str, lines: Sequence[str]) -> Message:
    # The fields that omp's own interface shows beside the message.
    details = {"name": draft.command.skill_name, "path": draft.command.location}
    if draft.arguments:
        details["args"] = draft.arguments
    details["lineCount"] = str(body.count("\n") + 1 if body else 0)
    return Message(parts=("\n".join(lines).strip(),), kind="custom", details=details)


def _build_opencode_template(draft: _Draft) -> Message:
    folder = render_folder_line(draft.command.folder)
    paths = "Relative paths in this skill (scripts/, references/) start at that folder."
    return Message(parts=(f"{draft.body}\n\n{folder}\n{paths}",))


def _build_openclaw_input(draft: _Draft) -> Message:
    """A line that names the skill, and the arguments; the model reads the file itself."""
    name = '"' + tidy_line(draft.command.skill_name).replace('"', "'") + '"'
    lines = [f"This request is for the skill {name}: read the skill and follow it."]
    if draft.arguments:
        lines += ["", "User input:", draft.arguments]
    return Message(parts=("\n".join(lines),))


def _build_openclaw_references(draft: _Draft) -> Message | Notice:
    """A list of the skills, then the text as typed; a skill missing in the catalog has its file."""
    rules = draft.rules
    lines = [_render_reference(command) for command in draft.commands]
    for command, line in zip(draft.commands, lines, strict=True):
        if rules.most_line and len(line) > rules.most_line:
            return _refuse_length(command, len(line), rules.most_line)
    ask = "The user mentions these skills. Read the SKILL.md of each before you act, and follow it:"
    lead = "\n".join([ask, *lines, "", "User request:", ""])
    if rules.most_lead and len(lead) > rules.most_lead:
        return _refuse_length(draft.command, len(lead), rules.most_lead)
    return Message(parts=(lead + draft.text,))


def _render_reference(command: SlashCommand) -> str:
    name = f"- {tidy_line(command.skill_name)}"
    return name if command.model_visible else f"{name} (SKILL.md: {tidy_path(command.location)})"


def _refuse_length(command: SlashCommand, length: int, most: int) -> Notice:
    message = (
        f"Listing the mentioned skills takes {length:,} characters; the limit is {most:,}."
        " Mention fewer skills."
    )
    return Notice(kind="too-long", name=command.skill_name, message=message)


def _build_codex_blocks(draft: _Draft) -> Message:
    """The text as typed, and each skill in a tag of its own."""
    skills = zip(draft.commands, draft.bodies, strict=True)
    return Message(parts=(draft.text, *(_render_codex_block(*skill) for skill in skills)))


def _render_codex_block(command: SlashCommand, body: str) -> str:
    name = escape_text(tidy_line(command.skill_name))
    path = escape_text(tidy_path(command.location))
    body = escape_tags(body, "skill")
    return f"<skill>\n<name>{name}</name>\n<path>{path}</path>\n{body}\n</skill>"


# Most are named after their host; `loaded-skill` is Crush's, `tool-result` Gemini CLI's,
# `base-folder-and-line` Qwen Code's.
SHAPES: dict[MessageShape, Callable[[_Draft], Message | Notice]] = {
    "base-folder": _build_base_folder,
    "base-folder-and-line": _build_folder_and_line,
    "body": _build_body,
    "claude-typed": _build_claude_typed,
    "codex-blocks": _build_codex_blocks,
    "loaded-skill": _build_loaded_skill,
    "omp-autoload": _build_omp_autoload,
    "omp-invoked": _build_omp_invoked,
    "opencode-template": _build_opencode_template,
    "openclaw-input": _build_openclaw_input,
    "openclaw-references": _build_openclaw_references,
    "pi-skill": _build_pi_skill,
    "tool-result": _build_tool_result,
}
# The model reads these skills itself.
_NAMES_ONLY: frozenset[MessageShape] = frozenset({"openclaw-input", "openclaw-references"})
