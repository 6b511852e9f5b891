"""The tables `[commands]`, `[tool]` and `[requests]`: how a skill is started, and what it may ask for."""

# Annotations are real types here, for the reason given in `prowess.profiles.schema`.

from typing import Literal

from prowess.model.outcome import State
from prowess.profiles.schema import Table

CommandForm = Literal["name", "skill-word", "skill-colon", "token", "mention"]

CommandNaming = Literal["as-written", "openclaw"]

CommandLookup = Literal["exact", "openclaw", "forgiving"]

CommandOrder = Literal["name", "locale"]

MessageShape = Literal[
    "base-folder",
    "body",
    "claude-typed",
    "codex-blocks",
    "omp-autoload",
    "omp-invoked",
    "opencode-template",
    "openclaw-input",
    "openclaw-references",
]

ToolShape = Literal["content-tag", "base-folder"]


class CommandRules(Table, frozen=True):
    """What a user can type to start a skill, and the message that it becomes.

    `forms` are the spellings that are understood, the usual one first: `/name`, `/skill name`
    (skill-word), `/skill:name` at the start (skill-colon) or once anywhere in the text (token), and
    `$name` anywhere (mention). `naming` is how a command gets its name: as the skill is called, or
    made of small letters, digits and `_`, at most `most_characters` long and made unique by a
    number. `reserved` are names of the host's own commands. `order` is the order in which names are
    given out, `lookup` how closely a typed name must match. Skills in these `states` have a
    command, unless a rule of `left_out_by` put them there. `user_invocable` says whether the host
    heeds that field. `labels`, `aliases` and `short_names` are further names that are understood:
    the label that is shown beside a name, the header's `aliases`, and the last part of a plugin
    skill's name where nothing else has it. With `dispatch`, a command goes to the tool that the
    header names (`command-dispatch`, `command-tool`). `message` is the shape of the message,
    `mentions` that of a text with `$name` in it, of which there may be `most_mentions`. A line that
    names a skill has at most `most_line` characters, everything before the user's text `most_lead`;
    0 means no bound.
    """

    enabled: bool = True
    forms: tuple[CommandForm, ...] = ("name",)
    naming: CommandNaming = "as-written"
    most_characters: int = 32
    reserved: tuple[str, ...] = ()
    order: CommandOrder = "name"
    lookup: CommandLookup = "exact"
    states: tuple[State, ...] = (State.DORMANT, State.HIDDEN, State.READY)
    left_out_by: tuple[str, ...] = ("agent_skills",)
    user_invocable: bool = True
    labels: bool = False
    aliases: bool = False
    short_names: bool = False
    dispatch: bool = False
    message: MessageShape = "base-folder"
    mentions: MessageShape = "openclaw-references"
    most_mentions: int = 8
    most_line: int = 512
    most_lead: int = 1_000


class ToolRules(Table, frozen=True):
    """The tool with which a model loads a skill.

    `parameter` holds the name of the skill and `arguments` what is said beside it, "" where the
    tool has no such parameter. Of the names that may be called `examples` are given with the
    parameter. With `slash` a name may be written as it is typed, `/name`. `shape` is how the body
    is wrapped; `folder` writes the skill's folder as a path or as a `file://` address. At most
    `files` of the files in the folder are listed, 0 lists none; what a file of `ignore_files` names
    is left out.
    """

    name: str = "skill"
    parameter: str = "name"
    arguments: str = "arguments"
    examples: int = 3
    slash: bool = False
    shape: ToolShape = "content-tag"
    folder: Literal["path", "url"] = "path"
    files: int = 10
    ignore_files: tuple[str, ...] = (".gitignore", ".ignore")


class RequestRules(Table, frozen=True):
    """What a skill may ask of its agent.

    `fields` are the fields of a header that the host heeds. `efforts` are the words that `effort`
    may be, numbers too where `numeric_effort`. `background` holds for a fork whose header does not
    say. `hook_events` are the events that a hook may be for (none named means any), `hook_types`
    the kinds of hooks.
    """

    fields: tuple[str, ...] = ()
    efforts: tuple[str, ...] = ("low", "medium", "high", "max")
    numeric_effort: bool = False
    background: bool | None = None
    hook_events: tuple[str, ...] = ()
    hook_types: tuple[str, ...] = ("command",)
