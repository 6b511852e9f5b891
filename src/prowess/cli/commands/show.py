"""`prowess show NAME`: what a skill says, and which files it has."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click
import msgspec

from prowess.cli.options import name_argument, open_skills, scan_options
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.errors import MachineError, UnknownSkill
from prowess.machine.files import LocalFiles
from prowess.model.outcome import Outcome
from prowess.model.skill import Document, Skill
from prowess.model.snapshot import Snapshot
from prowess.present.offer import describe_skill
from prowess.present.tokens import count_item, estimate_tokens
from prowess.reports.json_output import shape_diagnostic, shape_outcome, shape_scan
from prowess.text.display import count_words, escape_line, escape_text

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

_MOST_FILES = 200
_MOST_FOLDERS = 500
# Beyond this a body is printed as it is: laying out Markdown takes longer than anyone waits.
_MOST_MARKDOWN = 32_000


@click.command("show")
@name_argument
@click.option("--raw", is_flag=True, help="Print the body of SKILL.md as it is, and nothing else.")
@scan_options
def command(
    name: str, raw: bool, host: str, add_dirs: tuple[str, ...], bare: bool, as_json: bool
) -> int:
    """Show one skill: what it says and which files it has.

    The body is laid out on a terminal and printed as text elsewhere. A skill that could not be read
    is shown with the reason, and the exit code is 1.
    """
    snapshot = open_skills(host, add_dirs, bare=bare).snapshot
    outcome = snapshot.find(name)
    if outcome is None:
        raise UnknownSkill(name, [one.name for one in snapshot.outcomes])
    document = _load_document(outcome.skill) if outcome.skill else None
    if as_json:
        print_json({**shape_scan(snapshot), "skill": _shape(outcome, document)})
    elif raw and document:
        _print_raw(document.content)
    else:
        _print_facts(snapshot, outcome, document)
        if document:
            _print_body(document.content)
    return 0 if outcome.skill else 1


def _load_document(skill: Skill) -> Document:
    try:
        return skill.load()
    except OSError as error:
        raise MachineError("read", skill.location, error.strerror or str(error)) from error


class SkillFile(msgspec.Struct, frozen=True):
    """A file of a skill: its path below the folder, what it is, its size, and whether it is a link."""

    path: str
    kind: str
    size: int | None
    link: bool


def list_files(outcome: Outcome) -> tuple[list[SkillFile], bool]:
    """The files of a skill in the order of their paths, and whether there are more than are listed."""
    location, folder = outcome.candidate.location, outcome.candidate.folder
    if outcome.candidate.root.layout == "commands":
        # A command is a single file; what lies beside it are other commands.
        return [SkillFile(os.path.basename(location), "file", _find_size(location), False)], False
    files = LocalFiles()
    found: list[SkillFile] = []
    waiting = [""]
    for _ in range(_MOST_FOLDERS):
        if not waiting or len(found) > _MOST_FILES:
            break
        below = waiting.pop()
        try:
            items = files.list_folder(os.path.join(folder, below) if below else folder)
        except OSError:
            continue
        paths = {item.name: os.path.join(below, item.name) for item in items}
        plain = [item for item in items if item.kind != "folder" or item.is_link]
        found += [
            SkillFile(
                paths[i.name], i.kind, _find_size(os.path.join(folder, paths[i.name])), i.is_link
            )
            for i in plain[: _MOST_FILES + 1]
        ]
        waiting += [
            paths[i.name]
            for i in reversed(items)
            if i.kind == "folder" and not i.is_link and i.name != ".git"
        ]
    return found[:_MOST_FILES], bool(waiting) or len(found) > _MOST_FILES


def _find_size(path: str) -> int | None:
    try:
        return LocalFiles().get_stamp(path)[2]
    except OSError:
        return None


def _shape(outcome: Outcome, document: Document | None) -> dict[str, Any]:
    shape = shape_outcome(outcome)
    files, more = list_files(outcome)
    skill = outcome.skill
    if skill is not None and document is not None:
        shape["frontmatter"] = skill.frontmatter
        shape["manifest"] = msgspec.to_builtins(skill.manifest)
        shape["digest"] = document.digest
        shape["content"] = document.content
        shape["cost"] = _cost(skill, document)
    shape["files"] = [msgspec.to_builtins(file) for file in files]
    shape["more_files"] = more
    shape["diagnostics"] = [shape_diagnostic(diagnostic) for diagnostic in outcome.diagnostics]
    return shape


def _cost(skill: Skill, document: Document) -> dict[str, int]:
    return {
        "listed_tokens": count_item(describe_skill(skill)),
        "body_tokens": estimate_tokens(document.content),
    }


def _print_raw(content: str) -> None:
    sys.stdout.write(escape_text(content) if sys.stdout.isatty() else content)
    if not content.endswith("\n"):
        sys.stdout.write("\n")


def _print_facts(snapshot: Snapshot, outcome: Outcome, document: Document | None) -> None:
    from rich.text import Text

    from prowess.cli.terminal.diagnostic_output import print_diagnostic_rows
    from prowess.cli.terminal.tables import mark_state, print_columns, render_reason

    screen = console()
    skill = outcome.skill
    root = outcome.candidate.root
    screen.print(escape_line(outcome.name), style="bold")
    if skill and skill.description:
        screen.print(escape_line(skill.description))
    screen.print()
    state = mark_state(outcome.state, word=True)
    if outcome.reason:
        state.append_text(Text(f": {escape_line(render_reason(outcome, snapshot))}", "default"))
    rows: list[tuple[str, Text | str]] = [
        ("state", state),
        ("file", shorten_path(outcome.candidate.location, snapshot.cwd)),
        ("source", f"{escape_line(root.source.label)} ({root.scope.value})"),
    ]
    if skill and document:
        rows += _fact_rows(skill, document)
    print_columns([(Text(name, "dim"), value) for name, value in rows], wrap=True)
    _print_files(outcome)
    if outcome.diagnostics:
        print_diagnostic_rows(outcome.diagnostics, snapshot.cwd)
        screen.print()


def _fact_rows(skill: Skill, document: Document) -> list[tuple[str, Text | str]]:
    cost = _cost(skill, document)
    listed, body = (
        count_words(cost["listed_tokens"], "token"),
        count_words(cost["body_tokens"], "token"),
    )
    rows: list[tuple[str, Text | str]] = []
    for key, value in msgspec.to_builtins(skill.manifest).items():
        if key not in ("name", "description"):
            rows.append((key.replace("_", "-"), escape_line(_render_value(value))))
    rows.append(("digest", document.digest))
    rows.append(
        ("cost", f"about {listed} in every request, {body} more when it is used (an estimate)")
    )
    return rows


def _render_value(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return msgspec.json.encode(value).decode("utf-8")


def _print_files(outcome: Outcome) -> None:
    from rich.text import Text

    from prowess.cli.terminal.tables import print_columns

    files, more = list_files(outcome)
    screen = console()
    screen.print()
    rows = []
    for file in files:
        size = "" if file.size is None else f"{file.size:,}"
        rows.append((f"{size:>9}", Text(escape_line(file.path)).append(_mark_special(file), "dim")))
    print_columns(rows, wrap=True)
    if more:
        screen.print(f"           and more; the first {_MOST_FILES} are shown")
    screen.print()


def _mark_special(file: SkillFile) -> str:
    if not file.link:
        return " (a pipe, a socket or a device)" if file.kind == "other" else ""
    return {"broken": " (link to nothing)", "folder": " (link to a folder)"}.get(
        file.kind, " (link)"
    )


def _print_body(content: str) -> None:
    screen = console()
    text = escape_text(content).strip("\n")
    if screen.is_terminal and len(text) <= _MOST_MARKDOWN:
        screen.print(_render_markdown(text))
    elif text:
        screen.print(text)


def _render_markdown(text: str) -> RenderableType:
    """The body laid out. Tags are shown as they are, since a model reads them too; links show where
    they lead.
    """
    from markdown_it import MarkdownIt
    from rich.markdown import Markdown

    document = Markdown("", hyperlinks=False)
    document.parsed = (
        MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"]).parse(text)
    )
    return document
