"""The files of a new skill: a template that says what goes where, and passes the strict check."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from prowess.diagnostics import Severity
from prowess.errors import InvalidName, UsageError
from prowess.parse.lint.checks import lint_skill
from prowess.parse.manifest.names import MOST_NAME, is_standard
from prowess.profiles.load import load_profile
from prowess.state.unpacked_files import find_refusal

# Text that YAML reads as it is: words with a space between them, so no number and no `true`, and
# none of the characters that mean something (`: `, ` #`, brackets, quotes at the beginning).
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9 ,.;()/’'-]* [A-Za-z0-9 ,.;()/’'-]*[A-Za-z0-9.)]")
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_ALLOWED = "only a-z, 0-9 and single hyphens are allowed"

_DESCRIPTION = "Says in one sentence what this skill does. Use when the task involves {title}."
_BODY = """\
# {heading}

Write what an agent cannot know without this skill: the steps, the commands, the decisions and why.

1. What to look at first, and what to ask if it is missing.
2. The steps in order, with the exact commands.
3. How to check the result, and what to report.
"""


class _Resource(NamedTuple):
    """An example file of a new skill, and the line in SKILL.md that refers to it."""

    path: str
    content: str
    line: str


_RESOURCES = {
    "scripts": _Resource(
        "scripts/example.py",
        '#!/usr/bin/env python3\n"""Describe the input and the output."""\n\n'
        'print("Replace this.")\n',
        "Run [scripts/example.py](scripts/example.py) for what must be the same every time.",
    ),
    "references": _Resource(
        "references/details.md",
        "# Details\n\nPut here what is needed only sometimes; it is read only then.\n",
        "Read [references/details.md](references/details.md) if a step needs more detail.",
    ),
    "assets": _Resource(
        "assets/template.md",
        "# Title\n\nPut here a file that the skill copies or fills in.\n",
        "Start the result from [assets/template.md](assets/template.md).",
    ),
}
RESOURCES = tuple(_RESOURCES)


class RenderedSkill(NamedTuple):
    """A skill's files by their paths in its folder, and which of them are executable."""

    files: dict[str, bytes]
    executable: frozenset[str]


def check_name(name: str) -> None:
    """Raise `InvalidName`, with the broken rule and a better name, if it is not standard."""
    problem = _find_problem(name)
    if problem is None:
        return
    # The cut may leave a hyphen at the end again.
    proposal = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:MOST_NAME].rstrip("-")
    is_better = proposal not in ("", name)
    raise InvalidName(name, f"{problem}; try “{proposal}”" if is_better else problem)


def _find_problem(name: str) -> str | None:
    if not name:
        return "it is empty"
    if len(name) > MOST_NAME:
        return f"it has {len(name)} characters; at most {MOST_NAME} are allowed"
    if name != name.lower():
        return "it has uppercase letters; only lowercase is allowed"
    wrong = re.search(r"[^a-z0-9-]", name)
    if wrong is not None:
        return f"it contains {_name_character(wrong[0])}; {_ALLOWED}"
    if not is_standard(name):
        return "hyphens must be single, between letters or digits"
    return None


def _name_character(character: str) -> str:
    if character == " ":
        return "a space"
    # A character that nobody sees, such as a zero-width space, is named by its number.
    if not character.isprintable():
        return f"U+{ord(character):04X}"
    return f"“{character}”"


def render_skill(
    name: str,
    description: str | None,
    resources: Sequence[str] = (),
    *,
    body: str | None = None,
    files: Mapping[str, str] | None = None,
) -> RenderedSkill:
    """The files of a new skill: a template, or with this body and these files beside it.

    Raises a `UsageError` if the skill would not be valid.
    """
    title = name.replace("-", " ")
    described = _DESCRIPTION.format(title=title) if description is None else _clean(description)
    header = f"---\nname: {_quote_name(name)}\ndescription: {quote(described)}\n---\n\n"
    if body is None:
        body = _BODY.format(heading=title[0].upper() + title[1:])
    examples = [_RESOURCES[word] for word in resources]
    if examples:
        # An example that no line refers to would never be read.
        body += "\n## Files\n\n" + "".join(f"- {one.line}\n" for one in examples)
    contents = {one.path: one.content.encode() for one in examples}
    contents |= _encode_files(files or {})
    # Written last: a folder with a SKILL.md in it is a complete skill.
    contents.pop("SKILL.md", None)
    contents["SKILL.md"] = (header + body).encode()
    _check(header + body, name, contents)
    scripts = frozenset(path for path in contents if path.startswith("scripts/"))
    return RenderedSkill(contents, scripts)


def _encode_files(files: Mapping[str, str]) -> dict[str, bytes]:
    """The bytes of files whose paths a model chose, so each path is checked."""
    encoded = {}
    for path, text in files.items():
        refusal = find_refusal(path)
        if refusal is not None:
            raise UsageError(f"“{path}” cannot be a file of a skill: {refusal}.")
        encoded[path] = text.encode()
    return encoded


def _check(text: str, name: str, files: dict[str, bytes]) -> None:
    rules, fields = load_profile("prowess").header, load_profile("spec").fields
    found = lint_skill(text, folder_name=name, files=frozenset(files), rules=rules, fields=fields)
    error = next((one for one in found if one.severity is Severity.ERROR), None)
    if error is not None:
        raise UsageError(f"Nothing was created because the skill would be invalid: {error.message}")


def _clean(text: str) -> str:
    """The text on one line; bytes of the command line that are not UTF-8 become question marks."""
    return " ".join(text.encode("utf-8", "replace").decode().split())


def quote(text: str) -> str:
    """A text as one YAML value: plain if nothing in it is special, else in double quotes."""
    if _PLAIN.fullmatch(text):
        return text
    quoted = msgspec.json.encode(text).decode()
    # JSON allows characters in a string that YAML requires to be escaped.
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def _quote_name(name: str) -> str:
    """A name as a YAML value: `404`, `1e5` and `true` would not be text without quotes."""
    is_text = name[0].isalpha() and name not in ("true", "false", "null")
    return name if is_text else f'"{name}"'
