"""Findings about users' files, as values.

A diagnostic is never raised and never only logged: every stage returns the ones it made, and every
surface shows them. What went wrong with the *request* or the *machine* is an exception instead; see
`prowess.errors`.
"""

# Without postponed annotations, for the reason given in `prowess.model.skill`.

from collections.abc import Iterable, Sequence
from enum import Enum

import msgspec

MOST_PER_CODE = 50
"""Only the first diagnostics of a code are worth reading, and a header of 64 KB can have thousands."""


class Severity(str, Enum):
    """How much a finding matters: an error keeps a skill from loading, a warning does not."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Diagnostic(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One finding: what was found, what is allowed, where it is, and what to do about it."""

    code: str
    severity: Severity
    message: str
    file: str | None = None
    line: int | None = None
    field: str | None = None
    hint: str | None = None
    related: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place += f":{self.line}"
        return (
            f"{place}: {self.message} [{self.code}]" if place else f"{self.message} [{self.code}]"
        )


class Code(msgspec.Struct, frozen=True):
    """What a diagnostic code means, for the reference and for `hint` where a finding has none of
    its own.
    """

    severity: Severity
    summary: str
    hint: str


def _error(summary: str, hint: str) -> Code:
    return Code(Severity.ERROR, summary, hint)


def _warning(summary: str, hint: str) -> Code:
    return Code(Severity.WARNING, summary, hint)


def _info(summary: str, hint: str) -> Code:
    return Code(Severity.INFO, summary, hint)


CODES: dict[str, Code] = {
    # Finding files
    "root-not-a-folder": _warning(
        "A place where skills are looked for is a file.", "Replace it with a folder, or remove it."
    ),
    "home-missing": _warning(
        "The user has no home folder.",
        "Set HOME to the absolute path of a folder that belongs to you.",
    ),
    "folder-not-absolute": _warning(
        "A variable names a folder by a relative path.",
        "Set it to an absolute path, or unset it.",
    ),
    "source-failed": _error(
        "A source of skills failed.",
        "Its skills are missing; the others are not affected. Ask whoever wrote the source.",
    ),
    "root-missing": _warning(
        "A folder named by a setting or an option does not exist.",
        "Create the folder or correct the setting.",
    ),
    "root-unreadable": _warning("A folder cannot be listed.", "Check its permissions."),
    "not-a-file": _error(
        "SKILL.md is a folder, a pipe, a device or a broken link.",
        "Replace it with an ordinary text file.",
    ),
    "file-unreadable": _error("SKILL.md cannot be read.", "Check its permissions."),
    "file-unwritable": _error(
        "SKILL.md can be mended but not written.", "Check its permissions and its folder's."
    ),
    "file-too-large": _error(
        "SKILL.md is larger than the host reads.", "Move detail into files beside SKILL.md."
    ),
    "link-escapes": _error(
        "A symbolic link leads outside the places that may be followed.",
        "Copy the skill, or add the target to `discovery.trusted_links` in your own prowess.toml.",
    ),
    "hard-linked": _error(
        "SKILL.md has more than one hard link, which this host refuses.",
        "Copy the file instead of linking it.",
    ),
    "wrong-file-name": _warning(
        "The file is not spelled SKILL.md and is not read.", "Rename it to SKILL.md."
    ),
    "folder-ignored": _info(
        "A folder with a skill is skipped because git ignores it.", "Remove it from .gitignore."
    ),
    "file-ignored": _info(
        "A skill's file is skipped because git ignores it.", "Remove it from .gitignore."
    ),
    "ignore-pattern": _warning(
        "A line of .gitignore is no pattern that can be matched; it was left out.",
        "Correct the line: a `[` that is not closed, a backslash at its end and a `!` alone mean"
        " nothing.",
    ),
    "context-cut": _warning(
        "A context file is longer than is read; its end was left out.", "Shorten the file."
    ),
    "limit-reached": _warning(
        "A limit on files, folders or time was reached; the rest was not looked at.",
        "Raise the limit in the settings or the profile, or split the folder.",
    ),
    # Reading files
    "not-utf8": _warning(
        "The file is not valid UTF-8; unreadable bytes were replaced.", "Save it as UTF-8."
    ),
    "utf16": _error("The file is UTF-16, which no host reads.", "Save it as UTF-8."),
    "header-missing": _warning(
        "The file has no header.", "Begin the file with a line `---`, the fields, and a line `---`."
    ),
    "header-unclosed": _error(
        "The header is never closed.", "Add a line `---` after the last field."
    ),
    "header-too-large": _error(
        "The header is larger than is read.", "Move text from the header into the body."
    ),
    "header-language": _error(
        "The header is written in a language that is not read; headers are never evaluated.",
        "Write the header as YAML between two lines `---`.",
    ),
    "header-not-a-mapping": _error(
        "The header is not a list of `key: value` lines.", "Write `key: value` lines."
    ),
    "yaml-invalid": _error(
        "The header is not valid YAML.", "Quote the value on the line that is named."
    ),
    "yaml-nesting": _error("The header is nested too deeply.", "Flatten the header."),
    "yaml-aliases": _error("The header uses too many YAML aliases.", "Write the values out."),
    "yaml-tag": _warning("A YAML tag was found; tags are not interpreted.", "Remove the `!tag`."),
    "empty-file": _error(
        "The file is empty.", "Write a header and instructions, or remove the file."
    ),
    # Repairs: each says what was changed
    "repaired-colon": _warning("A value with `: ` in it was quoted.", "Put the value in quotes."),
    "repaired-hint": _warning("A value like `[a] [b]` was quoted.", "Put the value in quotes."),
    "repaired-indicator": _warning(
        "A value that begins with a reserved character was quoted.", "Put the value in quotes."
    ),
    "repaired-tab": _warning(
        "Tabs in the indentation were replaced by spaces.", "Indent with spaces."
    ),
    "repaired-json": _warning("JSON in the header was closed.", "Close every bracket."),
    "repaired-block-text": _warning(
        "Text after a block mark (`|` or `>`) was moved into the block.",
        "Put the text on the next line, indented.",
    ),
    "repaired-duplicate": _warning(
        "A key stands twice; the last one was kept.", "Remove one of them."
    ),
    "repaired-quote": _warning(
        "A value with unbalanced or misplaced quotes was quoted.", "Balance the quotes."
    ),
    "repaired-line": _warning(
        "A line that is not YAML was joined to the value before it or left out.",
        "Indent continued text, or write it as a block after `>-`.",
    ),
    "repaired-lines": _warning(
        "The header was read line by line, since it is not YAML.",
        "Correct the header: `prowess validate --fix`.",
    ),
    "repaired-character": _warning(
        "A character that no YAML may hold was left out.", "Remove the character."
    ),
    "repaired-space": _warning(
        "A key was not followed by a colon and a blank.",
        "Write `key: value`, with a blank after the colon.",
    ),
    "repaired-indent": _warning(
        "A field was indented below another one's value.",
        "Begin every field at the start of its line.",
    ),
    "repaired-number": _info(
        "A number beyond 64 bits was read as text.", "Put the number in quotes."
    ),
    "repaired-fence": _warning(
        "A fence was not a plain line `---`.", "Write `---` alone on its line."
    ),
    # What the author declared
    "name-missing": _error("The required field `name` is missing.", "Add `name:` to the header."),
    "name-invalid": _error(
        "`name` is not a valid skill name.", "Use a-z, 0-9 and single hyphens, 1 to 64 characters."
    ),
    "name-mismatch": _warning(
        "`name` differs from the folder's name.", "Give the folder and the field one name."
    ),
    "name-reserved": _error("`name` is a word this host cannot hold.", "Choose another name."),
    "description-missing": _error(
        "The required field `description` is missing.", "Add `description:` to the header."
    ),
    "description-from-body": _warning(
        "There is no `description`; the first line of the body stands in.",
        "Add `description:` to the header.",
    ),
    "description-too-long": _error(
        "`description` is longer than the standard allows.", "Shorten it; put detail in the body."
    ),
    "description-when": _info(
        "`description` does not say when to use the skill.", "Add a sentence such as “Use when …”."
    ),
    "value-cut": _warning("A value is cut off by a comment.", "Put the value in quotes."),
    "field-type": _warning(
        "A field has a value of the wrong type.", "Correct the value as the message says."
    ),
    "field-value": _warning(
        "A field has a value that is not one of its words.", "Use one of the words named."
    ),
    "field-unknown": _info("A field is not known; it is kept as it is.", "Check its spelling."),
    "field-too-long": _error("A field is longer than the standard allows.", "Shorten it."),
    "metadata-unreadable": _warning(
        "`metadata` is not JSON, JSON5 or a mapping.", "Write it as a mapping."
    ),
    # Names
    "name-collision": _warning("Two skills claim one name.", "Rename one of them, or disable one."),
    # Body and folder, for authors
    "body-empty": _warning(
        "There are no instructions below the header.", "Write what the agent is to do."
    ),
    "body-long": _warning(
        "The body is longer than 500 lines.", "Move detail into files beside SKILL.md."
    ),
    "file-reference-missing": _warning(
        "A file that the body refers to does not exist.", "Add it or correct the path."
    ),
    "file-reference-outside": _warning(
        "The body refers to a file outside the skill's folder.",
        "Move the file into the skill's folder.",
    ),
    # The catalog
    "always-too-large": _warning(
        "A skill with `always: true` does not fit into the room for such skills; it is listed like"
        " any other.",
        "Shorten the body, or let the model read the skill when it needs it.",
    ),
    "always-long": _warning(
        "A skill with `always: true` has more than 500 tokens, which every request pays for.",
        "Shorten the body, or remove `always: true`.",
    ),
    # Skills defined in code
    "files-not-unpacked": _warning(
        "The files of a skill that is defined in code cannot be unpacked; its prompt goes on"
        " without them.",
        "Correct the names of the files, or make room in the folder for temporary files.",
    ),
    # Activation
    "variable-unset": _warning(
        "A variable in the body has no value here and stays as it is.",
        "Do not rely on it in skills without a folder, or outside of a conversation.",
    ),
    "command-not-run": _warning(
        "A command inside the body was not run; it stays as text, marked as not run.",
        "Read the skill; if you trust its project, say so with `prowess trust`.",
    ),
    "approval-not-kept": _warning(
        "A skill was approved for good, but the approval could not be written down.",
        "It holds while the program runs; see to the file that the message names.",
    ),
    "request-withheld": _warning(
        "A skill was loaded without the tools and hooks that it asks for, since nobody was there to"
        " approve them.",
        "Give the conversation an approver, or allow the skill by a permission rule.",
    ),
    "command-unclosed": _warning(
        "A block of commands in the body is never closed; nothing of it is run.",
        "Close it with a line of three `.",
    ),
    "environment-refused": _warning(
        "A variable that is set for a skill does not reach its commands.",
        "Remove it, or choose another name.",
    ),
    "environment-unresolved": _warning(
        "A key that is kept elsewhere cannot be found there.",
        "Store the key, or correct the reference to it.",
    ),
    # Conditions
    "pattern-invalid": _warning(
        "A pattern under `paths` or `globs` can match no file; it was left out.",
        "Write it as in .gitignore: close every `[`, end with no backslash, and keep `{a,b}` few.",
    ),
    # What Prowess keeps for itself
    "state-unreadable": _warning(
        "A file in which Prowess remembers something cannot be used; it counts as empty.",
        "Remove the file, or correct its permissions.",
    ),
    "host-refuses": _error(
        "A host that was asked for would not load the skill.", "Mend what the message names."
    ),
    # Settings
    "option-ignored": _warning(
        "An option has no effect with this host.", "Leave it out, or ask another host."
    ),
    "setting-ignored": _warning("A setting has no effect here.", "Remove it, or correct its name."),
}


def diagnose(
    code: str,
    message: str,
    *,
    file: str | None = None,
    line: int | None = None,
    field: str | None = None,
    severity: Severity | None = None,
    hint: str | None = None,
    related: Iterable[str] = (),
) -> Diagnostic:
    """Make a diagnostic; severity and hint come from the table of codes unless given."""
    meaning = CODES[code]
    return Diagnostic(
        code=code,
        severity=severity or meaning.severity,
        message=message,
        file=file,
        line=line,
        field=field,
        hint=hint or meaning.hint,
        related=tuple(related),
    )


def worst(diagnostics: Iterable[Diagnostic]) -> Severity | None:
    """The gravest severity among the diagnostics, or None where there are none."""
    found = {diagnostic.severity for diagnostic in diagnostics}
    return next((severity for severity in Severity if severity in found), None)


def limit_diagnostics(findings: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The findings; of a kind that has more than `MOST_PER_CODE`, the first ones and one that
    counts the rest.
    """
    if len(findings) <= MOST_PER_CODE:
        return tuple(findings)
    kinds: dict[str, list[Diagnostic]] = {}
    kept = []
    for finding in findings:
        kind = kinds.setdefault(finding.code, [])
        kind.append(finding)
        if len(kind) <= MOST_PER_CODE:
            kept.append(finding)
    rest = (_count(kind[MOST_PER_CODE:]) for kind in kinds.values() if len(kind) > MOST_PER_CODE)
    return (*kept, *rest)


def _count(left_out: list[Diagnostic]) -> Diagnostic:
    first = left_out[0]
    how_many = (
        f"{len(left_out):,} more findings of this kind follow"
        if len(left_out) > 1
        else "One more follows"
    )
    where = " from here on" if first.line is not None else ""
    return diagnose(
        first.code,
        f"{how_many}{where}.",
        line=first.line,
        severity=worst(left_out),
        hint=first.hint,
    )
