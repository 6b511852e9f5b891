"""The tables of a profile that say what becomes of a body: its placeholders, and the commands
inside it.
"""

# Without postponed annotations, for the reason given in `prowess.profiles.schema.profile`.

from typing import Literal

import msgspec

from prowess.model.skill import LoadedFrom, Scope
from prowess.model.usage import Caller
from prowess.profiles.schema.table import Table

Split = Literal["words", "shell"]
Append = Literal["labelled", "plain", "never"]
Variable = Literal["folder", "session", "project", "effort"]


class Arguments(Table, frozen=True):
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


class Embedded(Table, frozen=True):
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
