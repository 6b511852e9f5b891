"""`prowess show NAME`: the text of a skill, and its files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import msgspec

from prowess.cli.options import name_argument, open_skills, scan_options
from prowess.cli.terminal.out import console, print_exact, print_json, shorten_path
from prowess.reports.skill_details import (
    MOST_FILES,
    SkillDetails,
    SkillFile,
    SkillFiles,
    load_details,
)
from prowess.text.display import count_words, escape_line, escape_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.text import Text

# Longer bodies are printed as they are: laying out Markdown would take too long.
_MOST_MARKDOWN = 32_000


@click.command("show")
@name_argument
@click.option("--raw", is_flag=True, help="Print only the body of SKILL.md, as it is.")
@scan_options
def command(
    name: str, raw: bool, host: str, add_dirs: tuple[str, ...], bare: bool, as_json: bool
) -> int:
    """Show one skill: its text and its files.

    The body is laid out on a terminal and printed as plain text elsewhere. A skill that could not
    be read is shown with the reason, and the exit code is 1.
    """
    details = load_details(open_skills(host, add_dirs, bare=bare), name)
    document = details.document
    if as_json:
        print_json(details.shape())
    elif raw and document is not None:
        content = document.content
        print_exact(content if content.endswith("\n") else f"{content}\n")
    else:
        _print_details(details)
        if document is not None:
            _print_body(document.content)
    return 0 if details.outcome.skill else 1


def _print_details(details: SkillDetails) -> None:
    from rich.text import Text

    from prowess.cli.terminal.diagnostic_output import print_diagnostic_rows
    from prowess.cli.terminal.tables import print_columns

    screen = console()
    outcome = details.outcome
    screen.print(escape_line(outcome.name), style="bold")
    if outcome.skill and outcome.skill.description:
        screen.print(escape_line(outcome.skill.description))
    screen.print()
    rows = [*_list_facts(details), *_list_fields(details)]
    print_columns([(Text(name, "dim"), value) for name, value in rows], wrap=True)
    _print_files(details.files)
    if outcome.diagnostics:
        print_diagnostic_rows(outcome.diagnostics, details.snapshot.cwd)
        screen.print()


def _list_facts(details: SkillDetails) -> Iterator[tuple[str, Text | str]]:
    from rich.text import Text

    from prowess.cli.terminal.skill_table import render_reason
    from prowess.cli.terminal.tables import mark_state

    outcome, root = details.outcome, details.outcome.candidate.root
    state = mark_state(outcome.state, word=True)
    if outcome.reason:
        reason = escape_line(render_reason(outcome, details.snapshot))
        state.append_text(Text(f": {reason}", "default"))
    yield "state", state
    yield "file", shorten_path(outcome.candidate.location, details.snapshot.cwd)
    yield "source", f"{escape_line(root.source.label)} ({root.scope.value})"
    if details.served is not None:
        yield "from", escape_line(details.served.render_source())
        yield "approval", escape_line(details.served.render_approval())


def _list_fields(details: SkillDetails) -> Iterator[tuple[str, str]]:
    skill, document, cost = details.outcome.skill, details.document, details.cost
    if skill is None or document is None or cost is None:
        return
    for key, value in msgspec.to_builtins(skill.manifest).items():
        # Both are shown above everything else.
        if key not in ("name", "description"):
            yield key.replace("_", "-"), escape_line(_render_value(value))
    yield "digest", document.digest
    listed = count_words(cost.listed_tokens, "token")
    body = count_words(cost.body_tokens, "token")
    yield "cost", f"about {listed} in every request, {body} more when used (an estimate)"


def _render_value(value: Any) -> str:
    if isinstance(value, str):
        return value
    is_list = isinstance(value, (list, tuple))
    if is_list and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return msgspec.json.encode(value).decode("utf-8")


def _print_files(listed: SkillFiles) -> None:
    from rich.text import Text

    from prowess.cli.terminal.tables import print_columns

    screen = console()
    screen.print()
    rows = []
    for file in listed.files:
        size = "" if file.size is None else f"{file.size:,}"
        path = Text(escape_line(file.path)).append(_mark_special(file), "dim")
        rows.append((f"{size:>9}", path))
    print_columns(rows, wrap=True)
    if listed.has_more:
        screen.print(f"           and more; only the first {MOST_FILES} are shown")
    screen.print()


_LINKS = {"broken": " (broken symlink)", "folder": " (symlink to a folder)"}


def _mark_special(file: SkillFile) -> str:
    if file.link:
        return _LINKS.get(file.kind, " (symlink)")
    if file.kind == "other":
        return " (a pipe, a socket or a device)"
    return ""


def _print_body(content: str) -> None:
    screen = console()
    text = escape_text(content).strip("\n")
    is_laid_out = screen.is_terminal and len(text) <= _MOST_MARKDOWN
    if is_laid_out:
        screen.print(_render_markdown(text))
    elif text:
        screen.print(text)


def _render_markdown(text: str) -> RenderableType:
    """The body laid out; tags stay as they are and links show their target, as for a model."""
    from markdown_it import MarkdownIt
    from rich.markdown import Markdown

    # rich's own parser drops HTML tags, which in a skill are often instructions.
    parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
    document = Markdown("", hyperlinks=False)
    document.parsed = parser.parse(text)
    return document
