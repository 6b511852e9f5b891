"""`/skills`: every skill with its state, and a switch for each that is saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text

from prowess.cli.chat.chat import Chat
from prowess.cli.chat.output import Cell, dim, make_table, stack
from prowess.cli.terminal.out import shorten_path
from prowess.cli.terminal.tables import mark_state
from prowess.errors import ProwessError, UnknownSkill, UsageError
from prowess.machine.event_loop import run_in_thread
from prowess.reports.skill_rows import SkillRow, filter_rows, load_skill_rows
from prowess.reports.switch_plan import VISIBILITIES, Visibility, apply_plan, plan_visibility
from prowess.text.display import count_words, first_line

_HEADING = ("", "NAME", "STATE", "SWITCH", "SCOPE", "SOURCE", "TOKENS", "DESCRIPTION")
_HINT = "`/skills NAME on|name-only|user-only|off` switches one, for this project."


async def run(chat: Chat, arguments: str) -> None:
    """Switch a skill if the arguments say so; otherwise list the skills that have these words."""
    name, _, word = arguments.rpartition(" ")
    wanted = next((one for one in VISIBILITIES if one == word), None)
    if wanted is not None and name.strip():
        await save(chat, {name.strip(): wanted})
        return
    snapshot = await run_in_thread(lambda is_cancelled: chat.skills.reload())
    rows = await run_in_thread(lambda is_cancelled: load_skill_rows(snapshot))
    if name and snapshot.claims(name.strip()) and not filter_rows(rows, arguments):
        raise UsageError(f"“{word}” is not one of {', '.join(VISIBILITIES)}.")
    # Imported here: a pipe has no use for it.
    from prowess.cli.chat.skill_view import SkillView

    view = SkillView(rows, arguments, cwd=chat.skills.cwd)
    if not await chat.surface.open_view(view):
        _print_rows(chat, rows, arguments)
    elif view.changes:
        await save(chat, view.changes)


async def save(chat: Chat, changes: Mapping[str, Visibility]) -> None:
    """Write switches to the settings, and say where. What one cannot change stops no other."""
    for name, wanted in changes.items():
        try:
            file = await run_in_thread(lambda is_cancelled: _switch(chat, name, wanted))  # noqa: B023
        except ProwessError as error:
            hint = f" {error.hint}" if error.hint else ""
            chat.surface.print(f"{error}{hint}")
            continue
        where = f"in {shorten_path(file, chat.skills.cwd)}" if file else "already"
        chat.surface.print(f"“{name}” is {wanted}, {where}.")


def _switch(chat: Chat, name: str, wanted: Visibility) -> str | None:
    """The file that was written; None if nothing had to be."""
    if not chat.skills.snapshot.claims(name):
        raise UnknownSkill(name, [one.name for one in chat.skills.snapshot.outcomes])
    plan = plan_visibility(chat.skills, chat.host, name, wanted)
    apply_plan(plan)
    chat.skills.reload()
    return plan.file if plan.changed else None


def _print_rows(chat: Chat, rows: Sequence[SkillRow], words: str) -> None:
    found = filter_rows(rows, words)
    count = count_words(len(found), "skill")
    if words:
        count = f"{len(found):,} of {count_words(len(rows), 'skill')} match “{words}”"
    table = make_table(map(_list_cells, found), heading=_HEADING, right=(6,))
    chat.surface.print(stack(table, dim(f"{count}. {_HINT}")))


def _list_cells(row: SkillRow) -> list[Cell]:
    described = first_line(row.description)
    reason = f"{described} ({row.reason})" if row.reason else described
    return [
        mark_state(row.state),
        Text(row.name, "bold"),
        row.state.value,
        row.visibility,
        row.scope,
        row.source,
        "" if row.tokens is None else f"{row.tokens:,}",
        reason,
    ]
