"""The text that tells a model which skills there are, and with which tool it loads one."""

from __future__ import annotations

from prowess.model.catalog import Catalog, Shown
from prowess.text.markup import escape_text, tidy_line

LISTED = (Shown.WHOLE, Shown.SHORTENED, Shown.NAME_ONLY)


def render_instructions(catalog: Catalog, *, tool: str, finder: str | None = None) -> str:
    """How to load skills with the tool of that name, the list, and the bodies that always apply.

    The host decides which skills are listed, and how much of each. The words around the list are
    our own, because a host's may mention tools that the model does not have. `finder` is the tool
    that finds skills which are not listed. "" if there are no skills.
    """
    rows = [_render_row(line.name, line.text) for line in catalog.lines if line.shown in LISTED]
    left_out = count_left_out(catalog)
    if not rows and not left_out:
        return catalog.always
    lines = [
        "A skill is a set of instructions for one kind of task. When a task matches the"
        f" description of a skill, load the skill with the tool `{tool}` before you start, and"
        " follow it."
    ]
    if rows:
        lines += ["<available_skills>", *rows, "</available_skills>"]
    if left_out:
        lines.append(_render_left_out(left_out, finder, is_all=not rows))
    listed = "\n".join(lines)
    return f"{listed}\n\n{catalog.always}" if catalog.always else listed


def count_left_out(catalog: Catalog) -> int:
    """How many skills the catalog does not even name."""
    return sum(line.shown is Shown.LEFT_OUT for line in catalog.lines)


def _render_row(name: str, text: str) -> str:
    row = f"- {escape_text(tidy_line(name))}"
    return f"{row}: {escape_text(tidy_line(text))}" if text else row


def _render_left_out(count: int, finder: str | None, *, is_all: bool) -> str:
    there_are = f"There are {count:,} skills" if count > 1 else f"There is {count:,} skill"
    unlisted = f"{there_are} not listed here." if is_all else f"{there_are} more, not listed here."
    if finder is None:
        return unlisted
    return f"{unlisted} If no listed skill fits, search for one with `{finder}`."
