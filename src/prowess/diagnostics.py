"""Findings about users' files, as values.

A diagnostic is never raised and never only logged: every stage returns the ones it made, and every
surface shows them. A problem with the *request* or the *machine* is an exception instead; see
`prowess.errors`.

A message says what is wrong, in the present tense; the hint says what to do about it.
"""

# Without postponed annotations, for the reason given in `prowess.model.skill`.

from collections.abc import Iterable, Sequence
from enum import Enum

import msgspec

MOST_PER_CODE = 50
"""Limits a file to this many diagnostics per code; a header of 64 KB can have thousands."""


class Severity(str, Enum):
    """How much a finding matters: an error keeps a skill from loading, a warning does not."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Diagnostic(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One finding: what is wrong, where it is, and what to do about it.

    `hosts` are those that it concerns, where several were asked.
    """

    code: str
    severity: Severity
    message: str
    file: str | None = None
    line: int | None = None
    field: str | None = None
    hint: str | None = None
    related: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = f"{self.message} [{self.code}]"
        if self.line is not None:
            return f"{self.file or ''}:{self.line}: {text}"
        return f"{self.file}: {text}" if self.file else text


class Code(msgspec.Struct, frozen=True):
    """What a diagnostic code means, and the hint of findings that have none of their own.

    `tolerated` are mistakes in a header that a lenient reader works around; strict validation makes
    errors of them. `formerly` is an older name of the code, which can still be used to ignore it.
    """

    severity: Severity
    summary: str
    hint: str
    tolerated: bool = False
    formerly: str | None = None


def _error(summary: str, hint: str) -> Code:
    return Code(Severity.ERROR, summary, hint)


def _warning(summary: str, hint: str) -> Code:
    return Code(Severity.WARNING, summary, hint)


def _info(summary: str, hint: str) -> Code:
    return Code(Severity.INFO, summary, hint)


def _tolerated(
    summary: str, hint: str, *, formerly: str, severity: Severity = Severity.WARNING
) -> Code:
    return Code(severity, summary, hint, tolerated=True, formerly=formerly)


CODES: dict[str, Code] = {
    # Finding files
    "root-not-a-folder": _warning(
        "A skills folder is a file.", "Replace it with a folder, or remove it."
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
        "Its skills are missing; the others are not affected. Report it to its author.",
    ),
    # Remote sources
    "source-url-invalid": _error(
        "The URL of a source cannot be used.", "Write it as `https://HOST/PATH`."
    ),
    "source-insecure": _error(
        "The URL of a source is not encrypted.", "Use https; plain http is for this machine only."
    ),
    "source-private-address": _error(
        "A source leads to an address in a private network.",
        "If you trust it, set `private = true` for it in your own prowess.toml.",
    ),
    "source-downgraded": _error(
        "A source redirects from https to http.", "Report it to the owner of the server."
    ),
    "source-other-origin": _error(
        "A source refers to another server than its own.",
        "Add the other server as a source of its own if you trust it.",
    ),
    "source-path-escapes": _error(
        "A source names a file outside the folder of its skill.",
        "Report it to the owner of the server; nothing was written.",
    ),
    "source-digest-mismatch": _error(
        "A fetched file is not the one that the index describes.",
        "Try again later; if it keeps happening, report it to the owner of the server.",
    ),
    "source-entry-invalid": _warning(
        "A source describes a skill that cannot be used.", "Report it to the owner."
    ),
    "source-index-invalid": _error(
        "The index of a source cannot be read.",
        "Check the URL; it must lead to an index.json that lists skills.",
    ),
    "source-archive-invalid": _error(
        "The archive of a skill is refused.", "Report it to the owner of the server."
    ),
    "source-too-large": _error(
        "A source has more than may be fetched.", "Fetch fewer or smaller skills from it."
    ),
    "source-encoding": _error(
        "A server compresses what should be sent as it is.", "Report it to the owner."
    ),
    "source-file-missing": _warning(
        "A file of a remote skill could not be fetched.",
        "The skill is used without it; run `prowess sources refresh` to try again.",
    ),
    "source-unreachable": _warning(
        "A source cannot be reached.", "Check the URL or the program, and your network connection."
    ),
    "source-http-error": _warning(
        "A server refuses to send a file.", "Check the URL, or try again later."
    ),
    "source-timeout": _warning(
        "A source took too long.",
        "Run `prowess sources refresh`, which waits longer.",
    ),
    "source-stale": _warning(
        "Skills of a source could not be updated; the earlier ones are used.",
        "Run `prowess sources refresh` to try again.",
    ),
    "source-paused": _warning(
        "A source that failed recently was not tried again.",
        "Run `prowess sources refresh` to try again now.",
    ),
    "source-offline": _warning(
        "A source was never fetched, and nothing is fetched offline.",
        "Run `prowess sources refresh` without `--offline`.",
    ),
    "source-untrusted": _warning(
        "A project that is not trusted names a source, so nothing is fetched from it.",
        "Run `prowess trust` if you trust the project, or add the source to your own prowess.toml.",
    ),
    "install-lfs-pointer": _warning(
        "A file of a skill is stored with Git LFS; only the pointer to it is installed.",
        "Ask the author to keep the file in git itself.",
    ),
    "install-signer-unknown": _info(
        "A site is signed with a key that is not in your allowed signers.",
        "Add the key to `allowed_signers` next to your own prowess.toml if you trust it.",
    ),
    "install-signature-unchecked": _warning(
        "The signature of a site was not checked; only its files were compared with its list.",
        "Install OpenSSH, which has `ssh-keygen`, and install the skill again.",
    ),
    "install-skills-only": _info(
        "A plugin has more than skills; only its skills are installed.",
        "Install the plugin with its host if you need the rest.",
    ),
    "install-flagged": _warning(
        "A registry says that a skill is suspicious.",
        "Read its files before you install it.",
    ),
    "install-archive-unchecked": _warning(
        "A registry does not list the files of a skill, so its archive was not checked.",
        "Read the files before you use the skill.",
    ),
    "install-unlisted-file": _warning(
        "An archive has a file that its registry does not list; it is not installed.",
        "Ask the author whether the skill needs the file.",
    ),
    "store-copy-changed": _warning(
        "The store's copy of an installed skill was changed; it was moved aside.",
        "Copy what you need from there; to edit a skill, install it with --copy.",
    ),
    "store-copies-kept": _warning(
        "The store keeps versions of skills that a project may still need.",
        "If the project is gone for good, or was moved, run `prowess prune --forget FOLDER`.",
    ),
    "bundle-not-synced": _warning(
        "A skill that ships with a program could not be updated.",
        "Check the permissions of the folder, and start the program again.",
    ),
    "plugin-invalid": _error(
        "A plugin, or a part of it, cannot be used.",
        "Fix its manifest, or report it to its author. Other plugins are not affected.",
    ),
    "plugin-manifest-ignored": _warning(
        "The manifest of a plugin is not a JSON table.",
        "Fix the file; until then the plugin's usual folders are used.",
    ),
    "plugin-field-unknown": _warning(
        "The manifest of a plugin has a field that Agent Plugins does not have.",
        "Remove it, or move it below `extensions`.",
    ),
    "plugin-path-outside": _error(
        "A plugin names a path outside its own folder.",
        "Move what it names into the plugin.",
    ),
    "plugin-missing": _warning(
        "A plugin is listed as installed, but it is not there.",
        "Install it again, or remove it from the list.",
    ),
    "plugin-name-differs": _info(
        "A plugin is installed under another name than its manifest has.",
        "Fine if intended; its skills have the name that it is installed under.",
    ),
    "plugin-name-taken": _warning(
        "Two plugins have the same id; only the first is used.",
        "Rename one of them, or remove it.",
    ),
    "plugin-list-unreadable": _warning(
        "A list of plugins cannot be read.",
        "Fix the file, or let the host write it again. Other plugins are not affected.",
    ),
    "root-missing": _warning(
        "A folder named by a setting or an option does not exist.",
        "Create the folder, or correct the setting.",
    ),
    "root-unreadable": _warning("A folder cannot be listed.", "Check its permissions."),
    "not-a-file": _error(
        "SKILL.md is a folder, a pipe, a device or a broken symlink.",
        "Replace it with a regular file.",
    ),
    "file-unreadable": _error("SKILL.md cannot be read.", "Check its permissions."),
    "file-unwritable": _error(
        "SKILL.md cannot be written, so it is not fixed.",
        "Check the permissions of the file and its folder.",
    ),
    "file-too-large": _error(
        "SKILL.md is larger than the host allows.", "Move details into files next to SKILL.md."
    ),
    "link-escapes": _error(
        "A symlink points outside the folders it may point to.",
        "Copy the skill, or add the target to `discovery.trusted_links` in your own prowess.toml.",
    ),
    "hard-linked": _error(
        "SKILL.md has more than one hard link, which this host rejects.",
        "Copy the file instead of linking it.",
    ),
    "wrong-file-name": _warning(
        "The file is not named SKILL.md, so it is not read.", "Rename it to SKILL.md."
    ),
    "inside-skill": _warning(
        "A skill is inside the folder of another one, where most hosts do not search.",
        "Move its folder out of the other skill.",
    ),
    "too-deep": _warning(
        "A skill is deeper below a folder of skills than a host searches.",
        "Move its folder up, directly into the folder of skills.",
    ),
    "folder-ignored": _info(
        "A folder with a skill is skipped because git ignores it.", "Remove it from .gitignore."
    ),
    "file-ignored": _info(
        "A skill's file is skipped because git ignores it.", "Remove it from .gitignore."
    ),
    "ignore-pattern": _warning(
        "A line of .gitignore is not a valid pattern and is ignored.",
        "Close every `[`, and remove a backslash at the end of the line or a `!` on its own.",
    ),
    "context-cut": _warning(
        "A context file is longer than the limit and is cut off.", "Shorten the file."
    ),
    "limit-reached": _warning(
        "A limit on files, folders or time was reached; the rest was skipped.",
        "Raise the limit in the settings or the profile, or split the folder.",
    ),
    # Reading files
    "not-utf8": _warning(
        "The file is not valid UTF-8; invalid bytes are replaced.", "Save it as UTF-8."
    ),
    "utf16": _error("The file is UTF-16, which no host reads.", "Save it as UTF-8."),
    "header-missing": _warning(
        "The file has no header.",
        "Start the file with a `---` line, the fields, and another `---` line.",
    ),
    "header-unclosed": _error(
        "The header is never closed.", "Add a `---` line after the last field."
    ),
    "header-too-large": _error(
        "The header is too large.", "Move text from the header to the body."
    ),
    "header-language": _error(
        "The header is not in YAML; headers are never evaluated.",
        "Write the header as YAML between two `---` lines.",
    ),
    "header-not-a-mapping": _error(
        "The header does not consist of `key: value` lines.", "Write `key: value` lines."
    ),
    "yaml-invalid": _error(
        "The header is not valid YAML.", "Correct that line; it may be enough to quote the value."
    ),
    "yaml-nesting": _error("The header is nested too deeply.", "Flatten the header."),
    "yaml-aliases": _error(
        "The header has too many YAML aliases.", "Replace the aliases with their values."
    ),
    "yaml-tag": _warning("The header has a YAML tag; tags are ignored.", "Remove the `!tag`."),
    "empty-file": _error(
        "The file is empty.", "Write a header and instructions, or remove the file."
    ),
    # Mistakes that lenient reading works around
    "yaml-unquoted-colon": _tolerated(
        "An unquoted value contains `: `, which YAML reads as a new key.",
        "Put the value in quotes.",
        formerly="repaired-colon",
    ),
    "yaml-unquoted-bracket": _tolerated(
        "An unquoted value begins with a bracket but is neither a list nor a mapping.",
        "Put the value in quotes.",
        formerly="repaired-hint",
    ),
    "yaml-reserved-character": _tolerated(
        "An unquoted value begins with a character that is reserved in YAML.",
        "Put the value in quotes.",
        formerly="repaired-indicator",
    ),
    "yaml-tab-indentation": _tolerated(
        "A line is indented with tabs.", "Indent with spaces.", formerly="repaired-tab"
    ),
    "yaml-unclosed-bracket": _tolerated(
        "A list or a mapping is never closed.", "Close every bracket.", formerly="repaired-json"
    ),
    "yaml-text-after-block-mark": _tolerated(
        "Text follows a block mark (`|` or `>`) on the same line.",
        "Put the text on the next line, indented.",
        formerly="repaired-block-text",
    ),
    "yaml-duplicate-key": _tolerated(
        "A key appears twice; the last one is used.",
        "Remove one of them.",
        formerly="repaired-duplicate",
    ),
    "yaml-invalid-quotes": _tolerated(
        "A value has an unclosed quote, an unescaped quote or text after its closing quote.",
        "Close the quotes, and escape those inside.",
        formerly="repaired-quote",
    ),
    "yaml-stray-line": _tolerated(
        "A line is neither `key: value` nor indented.",
        "Indent continued text, or write it as a block after `>-`.",
        formerly="repaired-line",
    ),
    "yaml-invalid-value": _tolerated(
        "A value is not valid YAML and is read as plain text.",
        "Correct the value, or run `prowess validate --fix`.",
        formerly="repaired-lines",
    ),
    "yaml-invalid-character": _tolerated(
        "A line contains a character that YAML does not allow.",
        "Remove the character.",
        formerly="repaired-character",
    ),
    "yaml-missing-space": _tolerated(
        "A key is not followed by a colon and a space.",
        "Write `key: value`, with a space after the colon.",
        formerly="repaired-space",
    ),
    "yaml-indented-field": _tolerated(
        "A field is indented below another field's value.",
        "Start every field at the beginning of its line.",
        formerly="repaired-indent",
    ),
    "yaml-large-number": _tolerated(
        "A number is too large for 64 bits and is read as text.",
        "Put the number in quotes.",
        formerly="repaired-number",
        severity=Severity.INFO,
    ),
    "header-malformed-fence": _tolerated(
        "A fence is not a plain `---` line.",
        "Write `---` alone on its line.",
        formerly="repaired-fence",
    ),
    # What the author declared
    "name-missing": _error("The required field `name` is missing.", "Add `name:` to the header."),
    "name-invalid": _error(
        "`name` is not a valid skill name.", "Use 1 to 64 characters: a-z, 0-9 and single hyphens."
    ),
    "name-mismatch": _warning(
        "`name` differs from the folder's name.", "Use the same name for both."
    ),
    "name-reserved": _error("`name` is reserved by this host.", "Choose another name."),
    "description-missing": _error(
        "The required field `description` is missing.", "Add `description:` to the header."
    ),
    "description-from-body": _warning(
        "`description` is missing; the first line of the body is used instead.",
        "Add `description:` to the header.",
    ),
    "description-too-long": _error(
        "`description` is longer than the standard allows.",
        "Shorten it, and move details to the body.",
    ),
    "description-when": _info(
        "`description` does not say when to use the skill.", "Add a sentence such as “Use when …”."
    ),
    "value-cut": _warning("A value is cut off by a comment.", "Put the value in quotes."),
    "field-type": _warning(
        "The value of a field has the wrong type.", "Use a value of the expected type."
    ),
    "field-value": _warning(
        "The value of a field is not one of those allowed.", "Use one of the allowed values."
    ),
    "field-unknown": _info("The field is unknown.", "Check its spelling."),
    "field-too-long": _error("A field is longer than the standard allows.", "Shorten it."),
    "metadata-unreadable": _warning(
        "`metadata` is neither a mapping nor JSON or JSON5.", "Write it as a mapping."
    ),
    # Names
    "name-collision": _warning("Two skills have the same name.", "Rename or disable one of them."),
    # Body and folder, for authors
    "body-empty": _warning(
        "There are no instructions below the header.", "Write instructions for the agent."
    ),
    "body-long": _warning(
        "The body has over 500 lines; all are loaded on each use.",
        "Move details into files next to SKILL.md.",
    ),
    "file-reference-missing": _warning(
        "The body references a file that does not exist.", "Add the file, or correct the path."
    ),
    "file-reference-outside": _warning(
        "The body references a file outside the skill's folder.",
        "Move the file into the skill's folder.",
    ),
    # The catalog
    "always-too-large": _warning(
        "A skill with `always: true` does not fit in the space reserved for such skills; it is"
        " listed like any other.",
        "Shorten the body, or let the model load the skill when it needs it.",
    ),
    "refresh-failed": _warning(
        "Changed skills could not be read again; those of the last scan are used.",
        "Fix what the message says; the next request tries again.",
    ),
    "always-unreadable": _warning(
        "A skill with `always: true` can no longer be read; it is listed like any other.",
        "Restore the file, or scan again if it was removed on purpose.",
    ),
    "always-long": _warning(
        "A skill with `always: true` has more than 500 tokens, which are sent with every request.",
        "Shorten the body, or remove `always: true`.",
    ),
    # Skills defined in code
    "files-not-unpacked": _warning(
        "The files of a skill defined in code cannot be unpacked; the skill is used without them.",
        "Correct the names of the files, or free space in the folder for temporary files.",
    ),
    # Activation
    "variable-unset": _warning(
        "A variable in the body has no value here and is left as it is.",
        "Do not use it in skills without a folder or outside a conversation.",
    ),
    "command-not-run": _warning(
        "A command in the body was not run; its text stays in the body, marked as not run.",
        "Read the skill; if you trust its project, run `prowess trust`.",
    ),
    "approval-not-kept": _warning(
        "A skill was approved permanently, but the approval could not be saved.",
        "The approval lasts until the program ends; check the file named in the message.",
    ),
    "request-withheld": _warning(
        "A skill was loaded without the tools and hooks it requests because there is no one to"
        " approve them.",
        "Give the conversation an approver, or allow the skill with a permission rule.",
    ),
    "request-not-granted": _warning(
        "A skill asks its agent for something that the agent's policy does not grant.",
        "Grant it with a `SkillPolicy`, or remove the field from the skill's header.",
    ),
    "command-unclosed": _warning(
        "A command block in the body is never closed, so none of it is run.",
        "Close it with a line of three backticks.",
    ),
    "environment-refused": _warning(
        "A variable set for a skill is not passed to its commands.",
        "Remove it, or choose another name.",
    ),
    "environment-unresolved": _warning(
        "A reference to a key cannot be resolved.", "Store the key, or correct the reference."
    ),
    # Conditions
    "pattern-invalid": _warning(
        "A pattern under `paths` or `globs` is invalid and is ignored.",
        "Write it as in .gitignore: close every `[`, do not end with a backslash, and use few"
        " `{a,b}`.",
    ),
    # What Prowess keeps for itself
    "state-unreadable": _warning(
        "A file in which Prowess stores its state cannot be used; it is treated as empty.",
        "Remove the file, or correct its permissions.",
    ),
    "host-refuses": _error(
        "A host named by `--host` would not load the skill.",
        "Fix the problem named in the message.",
    ),
    # Settings
    "option-ignored": _warning(
        "An option has no effect with this host.", "Remove it, or choose another host."
    ),
    "companion-ignored": _warning(
        "A file that the host reads beside SKILL.md is invalid, so none of it applies.",
        "Correct the file.",
    ),
    "settings-ignored": _warning(
        "A settings file of the host is invalid, so none of it applies.", "Correct the file."
    ),
    "setting-ignored": _warning("A setting has no effect here.", "Remove it, or correct its name."),
}

_FORMER_CODES = {what.formerly: code for code, what in CODES.items() if what.formerly}


def find_code(name: str) -> str | None:
    """The code of this name, which may be a former one; None if there is none."""
    return name if name in CODES else _FORMER_CODES.get(name)


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
    """The highest severity among the diagnostics, or None if there are none."""
    severities = {diagnostic.severity for diagnostic in diagnostics}
    return next((severity for severity in Severity if severity in severities), None)


def limit_diagnostics(diagnostics: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """At most `MOST_PER_CODE` diagnostics of each code, and one that counts the rest."""
    if len(diagnostics) <= MOST_PER_CODE:
        return tuple(diagnostics)
    kept: list[Diagnostic] = []
    by_code: dict[str, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        same = by_code.setdefault(diagnostic.code, [])
        same.append(diagnostic)
        if len(same) <= MOST_PER_CODE:
            kept.append(diagnostic)
    left_out = (same[MOST_PER_CODE:] for same in by_code.values())
    return (*kept, *(_count(rest) for rest in left_out if rest))


def _count(left_out: list[Diagnostic]) -> Diagnostic:
    first = left_out[0]
    where = ", starting here" if first.line is not None else ""
    message = f"{len(left_out):,} more like this{where}."
    severity = worst(left_out)
    return diagnose(first.code, message, line=first.line, severity=severity, hint=first.hint)
