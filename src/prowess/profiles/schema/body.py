"""The tables `[arguments]`, `[embedded]`, `[resources]`, `[conditions]` and `[compaction]`."""

# Annotations are real types here, for the reason given in `prowess.profiles.schema`.

from typing import Literal

import msgspec

from prowess.model.skill import LoadedFrom, Scope
from prowess.model.usage import Caller
from prowess.profiles.schema import Table

Split = Literal["words", "shell"]

Append = Literal["labelled", "plain", "never"]

Variable = Literal["folder", "session", "project", "effort"]


class ArgumentRules(Table, frozen=True):
    """How a body takes what a user or a model gives with a skill.

    With `placeholders`, `$ARGUMENTS`, `$ARGUMENTS[N]`, `$N` and the names that a header declares
    stand for arguments, N beginning at `first_index`; `callers` are those whose calls have them.
    `split` says how arguments become words: by blanks, with quotes that stand around words
    (`words`, which loses no text), or like a shell (`shell`, which loses what a shell would not
    take for a word). Arguments that no placeholder took are added at the end as `append` says.
    `variables` are the names that may stand in `${...}` and what each is; a skill that was loaded
    from one of `without_folder` has no folder there. `guard_marks` puts a backslash before a `!`
    that begins a word of a value.
    """

    placeholders: bool = False
    callers: tuple[Caller, ...] = ("user", "model")
    split: Split = "words"
    first_index: int = 0
    append: Append = "never"
    variables: dict[str, Variable] = msgspec.field(default_factory=dict)
    without_folder: tuple[LoadedFrom, ...] = (LoadedFrom.MCP,)
    guard_marks: bool = False


class EmbeddedCommandRules(Table, frozen=True):
    """What becomes of the commands inside a body.

    Where they are `recognised` they run, with at most `seconds` each, or the milliseconds that the
    environment variable `milliseconds_variable` holds, and at most `output_bytes` of their output
    are kept; otherwise they are text like any other. `tolerated` are programs whose exit code 1 is
    an answer and no failure. Skills of a scope in `exempt` run theirs although a setting switches
    commands off.
    """

    recognised: bool = False
    seconds: float = 120.0
    milliseconds_variable: str = ""
    output_bytes: int = 30_000
    tolerated: tuple[str, ...] = ()
    exempt: tuple[Scope, ...] = ()


class ResourceRules(Table, frozen=True):
    """How a `skill://` address is answered.

    `dots` says what becomes of a segment `..` that stays inside the skill: it is refused, or folded
    away; one that leads out is refused always. `content_types` are by the end of the file's name,
    in small letters; all else is plain text. `most_bytes` is the largest file that is read,
    `most_items` the longest listing. A range of lines is given with `lines_before` and
    `lines_after` around it.
    """

    dots: Literal["refuse", "fold"] = "refuse"
    content_types: dict[str, str] = msgspec.field(default_factory=dict)
    most_bytes: int = 10_000_000
    most_items: int = 1_000
    lines_before: int = 1
    lines_after: int = 3


class ConditionRules(Table, frozen=True):
    """What happens when a file is touched: read, written or edited.

    `below` are the root rules whose `{ancestor}` folders are also looked for between the file and
    the working folder, except in folders of the names in `below_skips`, and in `.git`. With
    `below_waits` a skill found there waits for its own `paths`; without, it is ready at once.
    `most_patterns` bounds what the braces of one skill's patterns may stand for.
    """

    below: tuple[str, ...] = ()
    below_skips: tuple[str, ...] = ()
    below_waits: bool = True
    most_patterns: int = 1_000


class CompactionRules(Table, frozen=True):
    """What of the loaded skills is given back after a conversation was shortened; `tokens` 0 means
    nothing.

    The newest come first, each with at most `per_skill` tokens; one that would be cut below `least`
    is left out.
    """

    tokens: int = 0
    per_skill: int = 5_000
    least: int = 200
