"""The files of a new skill: a template that says what belongs where and passes the strict check as
it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from prowess.diagnostics import Severity
from prowess.errors import InvalidName, UsageError
from prowess.parse.manifest.names import MOST_NAME, is_standard

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9 ,.;()/’'-]* [A-Za-z0-9 ,.;()/’'-]*[A-Za-z0-9.)]")
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")

_DESCRIPTION = "Says in one sentence what this skill does. Use when the task calls for {title}."
_BODY = """\
# {heading}

What a reader cannot know without this skill goes here: the steps, the commands, the decisions and their reasons.

1. Say what to look at first, and what to ask when it is missing.
2. Give the steps in their order, with the exact commands.
3. Say how to check the result, and what to report.
"""
_RESOURCES = {
    "scripts": (
        "scripts/example.py",
        (
            '#!/usr/bin/env python3\n"""Say what this script is given and what it'
            ' prints."""\n\nprint("Replace this.")\n'
        ),
        (
            "Run [scripts/example.py](scripts/example.py) for the part that must come out the same"
            " every time."
        ),
    ),
    "references": (
        "references/details.md",
        "# Details\n\nWhat is needed only sometimes goes here, so that it is read only then.\n",
        "Read [references/details.md](references/details.md) when a step needs more than it says.",
    ),
    "assets": (
        "assets/template.md",
        "# Title\n\nWhat the skill hands out or fills in goes here.\n",
        "Begin the result from [assets/template.md](assets/template.md).",
    ),
}
RESOURCES = tuple(_RESOURCES)


class Rendered(NamedTuple):
    """A skill's files by their paths below its folder, and which of them can be run."""

    files: dict[str, bytes]
    executable: frozenset[str]


def check_name(name: str) -> None:
    """Raise `InvalidName`, with the rule that is broken and a name that would do, unless the
    standard allows it.
    """
    why = _find_fault(name)
    if why is not None:
        proposal = _propose(name)
        raise InvalidName(
            name, f"{why}; “{proposal}” would do" if proposal and proposal != name else why
        )


def _find_fault(name: str) -> str | None:
    if not name:
        return "it is empty"
    if len(name) > MOST_NAME:
        return f"it has {len(name)} characters; at most {MOST_NAME} are allowed"
    if name != name.lower():
        return "it has upper case letters; only lower case ones are allowed"
    wrong = next((character for character in name if not re.match(r"[a-z0-9-]", character)), None)
    if wrong is not None:
        shown = (
            "a space"
            if wrong == " "
            else f"“{wrong}”"
            if wrong.isprintable()
            else f"U+{ord(wrong):04X}"
        )
        return f"it has {shown} in it; only a-z, 0-9 and single hyphens are allowed"
    return None if is_standard(name) else "a hyphen may only stand alone between letters or digits"


def _propose(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:MOST_NAME].rstrip("-")


def render_skill(name: str, description: str | None, resources: Sequence[str]) -> Rendered:
    """The files of a new skill. Raises where the strict check would not let its description pass."""
    title = name.replace("-", " ")
    described = _DESCRIPTION.format(title=title) if description is None else _clean(description)
    header = f"---\nname: {_quote_word(name)}\ndescription: {quote(described)}\n---\n\n"
    body = _BODY.format(heading=title[0].upper() + title[1:])
    pieces = [_RESOURCES[word] for word in resources]
    if pieces:
        body += "\n## Files\n\n" + "".join(f"- {line}\n" for _, _, line in pieces)
    files = {path: content.encode() for path, content, _ in pieces}
    # Last, so that a folder with SKILL.md in it is a whole skill.
    files["SKILL.md"] = (header + body).encode()
    _check(files["SKILL.md"].decode(), name, files)
    return Rendered(files, frozenset(path for path in files if path.startswith("scripts/")))


def _check(text: str, name: str, files: dict[str, bytes]) -> None:
    from prowess.parse.lint.checks import lint_skill
    from prowess.profiles.load import load_profile

    rules, fields = load_profile("prowess").header, load_profile("spec").fields
    findings = lint_skill(
        text, folder_name=name, files=frozenset(files), rules=rules, fields=fields
    )
    error = next((finding for finding in findings if finding.severity is Severity.ERROR), None)
    if error is not None:
        raise UsageError(f"The skill was not made, since it would not be valid: {error.message}")


def _clean(text: str) -> str:
    """The text on one line; bytes of the command line that are no text become question marks."""
    return " ".join(text.encode("utf-8", "replace").decode().split())


def quote(text: str) -> str:
    """A text as one YAML value: plain where nothing in it can be mistaken, else in double quotes."""
    if _PLAIN.fullmatch(text):
        return text
    # JSON lets characters stand as they are that YAML wants escaped.
    return _UNPRINTABLE.sub(
        lambda match: f"\\u{ord(match[0]):04x}", msgspec.json.encode(text).decode()
    )


def _quote_word(word: str) -> str:
    """A name as a YAML value: `404`, `1e5` and `true` would be a number or a truth without quotes."""
    return (
        word if re.match(r"[a-z]", word) and word not in ("true", "false", "null") else f'"{word}"'
    )
