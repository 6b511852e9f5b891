"""`[commands]`, `[tool]` and `[requests]`: how skills are started and what they may request."""

# Annotations are real types, for the reason given in this folder's `__init__.py`.

from typing import Literal

from prowess.model.outcome import State
from prowess.profiles.schema import Table

CommandForm = Literal["name", "skill-word", "skill-colon", "token", "mention"]

CommandNaming = Literal["as-written", "hyphenated", "openclaw"]

# `unique` is Codex's, which lists every skill of a name.
CommandLookup = Literal["exact", "openclaw", "forgiving", "unique"]

CommandOrder = Literal["name", "locale", "scope"]

MessageShape = Literal[
    "base-folder",
    "base-folder-and-line",
    "body",
    "claude-typed",
    "codex-blocks",
    "loaded-skill",
    "omp-autoload",
    "omp-invoked",
    "opencode-template",
    "openclaw-input",
    "openclaw-references",
    "pi-skill",
    "tool-result",
]

ToolShape = Literal["content-tag", "base-folder", "activated-skill", "skill-context"]


class CommandRules(Table, frozen=True):
    """Slash commands: what users can type to start a skill, and the message it becomes.

    - `enabled`: let users start skills by typing.
    - `forms`: the accepted forms, the usual one first: `/name` (`name`), `/skill name`
      (`skill-word`), `/skill:name` at the start (`skill-colon`) or once anywhere (`token`), and
      `$name` anywhere (`mention`).
    - `naming`: how commands are named: like the skill (`as-written`), the same with hyphens for
      spaces (`hyphenated`), or in lowercase letters, digits and `_`, with a number added if needed
      (`openclaw`).
    - `most_characters`: the longest name with `openclaw` naming.
    - `reserved`: the names of the host's own commands.
    - `order`: the order in which names are assigned: by name, or by scope and then name (`scope`).
    - `lookup`: how closely a typed name must match. With `unique`, a name that several skills have
      finds none of them, `[$name](PATH)` picks one, and mentions are in the order of the commands.
    - `whole_file`: give a skill with its header.
    - `states`: the states in which a skill has a command.
    - `left_out_by`: rules that leave a skill without a command even in one of these states.
    - `user_invocable`: respect the header field `user-invocable`.
    - `needs_user_invocable`: only skills whose header says `user-invocable: true` have a command.
    - `labels`: accept the label shown next to the name.
    - `aliases`: accept the header's `aliases`.
    - `short_names`: accept the last part of a plugin skill's name if it is unique.
    - `location`: show the path at which a skill was found (`found`) or its path without links
      (`real`).
    - `dispatch`: send commands to the tool named by `command-dispatch` and `command-tool`.
    - `message`: the format of the message a command becomes.
    - `mentions`: the format of a message with `$name` in it.
    - `most_mentions`: the most mentions in one message; 0 means no limit.
    - `most_line`: the longest line that names a skill; 0 means no limit.
    - `most_lead`: the longest text before the user's own; 0 means no limit.
    """

    enabled: bool = True
    forms: tuple[CommandForm, ...] = ("name",)
    naming: CommandNaming = "as-written"
    # OpenClaw's bound.
    most_characters: int = 32
    reserved: tuple[str, ...] = ()
    order: CommandOrder = "name"
    lookup: CommandLookup = "exact"
    # Codex gives the model the file as it is.
    whole_file: bool = False
    states: tuple[State, ...] = (State.DORMANT, State.HIDDEN, State.READY)
    left_out_by: tuple[str, ...] = ("agent_skills", "os")
    # Most hosts do not know the field.
    user_invocable: bool = True
    # Crush asks authors to opt in.
    needs_user_invocable: bool = False
    labels: bool = False
    aliases: bool = False
    # In Claude Code `/fancy` finds `plugin:fancy`.
    short_names: bool = False
    location: Literal["found", "real"] = "found"
    # OpenClaw's way to run a tool without asking a model.
    dispatch: bool = False
    message: MessageShape = "base-folder"
    mentions: MessageShape = "openclaw-references"
    # This and the two below are OpenClaw's bounds.
    most_mentions: int = 8
    most_line: int = 512
    most_lead: int = 1_000


class ToolRules(Table, frozen=True):
    """The tool with which a model loads a skill.

    - `name`: the name of the tool.
    - `parameter`: the parameter for the skill's name.
    - `arguments`: the parameter for the arguments; empty if there is none.
    - `examples`: how many names to give as examples.
    - `slash`: accept `/name`.
    - `any_case`: accept a name in any case.
    - `shape`: how the body is wrapped.
    - `folder`: write the skill's folder as a path or as a `file://` URL.
    - `files`: how many of the skill's files are listed; 0 lists none.
    - `ignore_files`: ignore files that apply to this list.
    """

    name: str = "skill"
    parameter: str = "name"
    arguments: str = "arguments"
    examples: int = 3
    # Models copy what users type; Claude Code accepts it.
    slash: bool = False
    # Copilot does.
    any_case: bool = False
    shape: ToolShape = "content-tag"
    # opencode wrote a URL before it wrote a path.
    folder: Literal["path", "url"] = "path"
    files: int = 10
    # opencode lists files with ripgrep, which heeds both.
    ignore_files: tuple[str, ...] = (".gitignore", ".ignore")


class RequestRules(Table, frozen=True):
    """What a skill may request of its agent.

    - `fields`: the header fields that the host respects.
    - `efforts`: the allowed values of `effort`.
    - `numeric_effort`: allow numbers as `effort` too.
    - `background`: whether forks run in the background if the header doesn't say.
    - `hook_events`: the events hooks may listen to; empty means any.
    - `hook_types`: the allowed types of hooks.
    """

    fields: tuple[str, ...] = ()
    efforts: tuple[str, ...] = ("low", "medium", "high", "max")
    numeric_effort: bool = False
    # Claude Code's release runs forks in the background, earlier versions did not.
    background: bool | None = None
    hook_events: tuple[str, ...] = ()
    hook_types: tuple[str, ...] = ("command",)
