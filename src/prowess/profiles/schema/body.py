"""`[arguments]`, `[embedded]`, `[resources]`, `[conditions]`, `[compaction]`: skills in use."""

# Annotations are real types, for the reason given in this folder's `__init__.py`.

from typing import Literal

import msgspec

from prowess.model.skill import LoadedFrom, Scope
from prowess.model.usage import Caller
from prowess.profiles.schema import Table

# Claude Code reads arguments like a line of shell, and loses what is no word there.
Split = Literal["words", "shell"]

Append = Literal["labelled", "plain", "never"]

Variable = Literal["folder", "session", "project", "effort", "plugin"]


class ArgumentRules(Table, frozen=True):
    """How arguments are inserted into a body.

    - `placeholders`: replace `$ARGUMENTS`, `$ARGUMENTS[N]`, `$N` and the names a header declares.
    - `callers`: whose calls have arguments.
    - `split`: how arguments are split: at whitespace, respecting quotes and keeping all text
      (`words`), or as a shell does (`shell`).
    - `first_index`: the index of the first argument.
    - `append`: what to do with arguments no placeholder uses: append them with a label
      (`labelled`), without one (`plain`), or not at all (`never`).
    - `variables`: the names that `${...}` accepts and what each contains.
    - `without_folder`: sources whose skills have no folder.
    - `guard_marks`: put a backslash before `!` at the start of a word, so a value can't become a
      command.
    """

    placeholders: bool = False
    callers: tuple[Caller, ...] = ("user", "model")
    split: Split = "words"
    # Claude Code counts arguments from 0, opencode from 1.
    first_index: int = 0
    # Claude Code adds a label, opencode does not.
    append: Append = "never"
    variables: dict[str, Variable] = msgspec.field(default_factory=dict)
    without_folder: tuple[LoadedFrom, ...] = (LoadedFrom.MCP,)
    # Claude Code does this, so that a caller cannot bring commands into a body.
    guard_marks: bool = False


class EmbeddedCommandRules(Table, frozen=True):
    """Commands inside a body.

    - `recognised`: run them; otherwise they are ordinary text.
    - `seconds`: how long one command may run.
    - `milliseconds_variable`: an environment variable that overrides `seconds`.
    - `output_bytes`: how much output is kept.
    - `no_output`: what stands for an empty output.
    - `tolerated`: programs for which exit code 1 is not a failure.
    - `exempt`: scopes whose commands run even if a setting turns commands off.
    """

    recognised: bool = False
    seconds: float = 120.0
    # Claude Code has BASH_DEFAULT_TIMEOUT_MS.
    milliseconds_variable: str = ""
    output_bytes: int = 30_000
    no_output: str = "(no output)"
    # grep and its like end with 1 where they find nothing.
    tolerated: tuple[str, ...] = ()
    # In Claude Code what comes from the company or with the host still runs.
    exempt: tuple[Scope, ...] = ()


class ResourceRules(Table, frozen=True):
    """How `skill://` addresses are resolved.

    - `dots`: what to do with `..` that stays inside the skill: refuse it (`refuse`) or resolve it
      (`fold`). One that leaves the skill is always refused.
    - `content_types`: content types by lowercase file extension; anything else is plain text.
    - `most_bytes`: the largest file that is read.
    - `most_items`: the longest folder listing.
    - `lines_before`: how many lines to add before a requested range.
    - `lines_after`: how many lines to add after it.
    """

    # omp resolves them like any URL; refusing is safer and needs no rules to explain.
    dots: Literal["refuse", "fold"] = "refuse"
    content_types: dict[str, str] = msgspec.field(default_factory=dict)
    most_bytes: int = 10_000_000
    most_items: int = 1_000
    # As in omp, whose model sees a range with a little of what is around it.
    lines_before: int = 1
    lines_after: int = 3


class ConditionRules(Table, frozen=True):
    """What happens when the agent reads, writes or edits a file.

    - `below`: roots whose `{ancestor}` folders are also searched between the file and the working
      folder.
    - `below_skips`: folder names that are not searched then; `.git` never is.
    - `below_waits`: let skills found this way wait for their own `paths`; otherwise they are ready
      immediately.
    - `ignore_case`: match `paths` without regard to case.
    - `most_patterns`: how many patterns the braces in one skill's patterns may expand to.
    """

    below: tuple[str, ...] = ()
    below_skips: tuple[str, ...] = ()
    # Claude Code's release lists such skills at once, whatever their `paths`.
    below_waits: bool = True
    ignore_case: bool = False
    # The bound that Claude Code documents.
    most_patterns: int = 1_000


class CompactionRules(Table, frozen=True):
    """Which loaded skills are restored after a conversation was compacted, newest first.

    - `tokens`: the tokens for all of them; 0 restores nothing.
    - `per_skill`: the most tokens for one skill.
    - `least`: skip a skill that would get fewer tokens than this.
    """

    tokens: int = 0
    # What Claude Code's release keeps of one skill.
    per_skill: int = 5_000
    least: int = 200
