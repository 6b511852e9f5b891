"""The tables of a profile that are about loading: the tool a model calls, `skill://` addresses,
what wakes a skill.
"""

# Without postponed annotations, for the reason given in `prowess.profiles.schema.profile`.

from typing import Literal

import msgspec

from prowess.profiles.schema.table import Table

ToolShape = Literal["content-tag", "base-folder"]


class Tool(Table, frozen=True):
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


class Resources(Table, frozen=True):
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


class Conditions(Table, frozen=True):
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
