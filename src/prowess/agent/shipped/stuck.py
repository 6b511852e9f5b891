"""`/stuck`: what a session that does not go on is waiting for, from its file and its processes."""

from __future__ import annotations

import time

from prowess.activate.slash.dispatch import ToolRun
from prowess.agent.session_file import SavedSession, SavedTurn, list_sessions, load_session
from prowess.errors import UsageError
from prowess.machine.process_tree import (
    Process,
    get_process_id,
    list_children,
    list_processes,
)
from prowess.runtime import Skills
from prowess.text.display import escape_line

_MOST_PROCESSES = 20
_MOST_WIDTH = 100


def run_command(arguments: str, skills: Skills, run: ToolRun) -> str:
    """What `/stuck [ID]` gives: about that session, or about the newest one in this folder that
    has not ended its turn. Raises `UsageError`.
    """
    wanted = arguments.strip()
    if wanted:
        session = load_session(skills.facts, wanted)
        if not session.turns:
            raise UsageError(f"The session “{wanted}” has not started.")
    else:
        session = _find_unfinished(skills)
    return explain_session(session, list_processes(), now=time.time())


def _find_unfinished(skills: Skills) -> SavedSession:
    own = get_process_id()
    for session in list_sessions(skills.facts, cwd=skills.cwd):
        if not session.turns:
            continue
        last = session.turns[-1]
        # The session in which this was typed is not the one that hangs.
        if last.end is None and last.pid != own:
            return session
    raise UsageError(
        "No session in this folder is in the middle of a turn; name another one: `/stuck ID`."
    )


def explain_session(session: SavedSession, processes: dict[int, Process], *, now: float) -> str:
    """What a session does and waits for."""
    turn = session.turns[-1]
    asked = escape_line(" ".join(turn.text.split()))[:_MOST_WIDTH]
    lines = [f"Session {session.header.id}, turn {turn.number}: {asked}"]
    if turn.end is not None:
        lines.append(f"The turn has ended: {turn.end.status}. Nothing is waiting.")
        return "\n".join(lines)
    process = processes.get(turn.pid)
    if process is None:
        lines.append(_explain_dead(session, turn))
        return "\n".join(lines)
    age = _render_age(now - turn.at)
    lines.append(f"Process {process.id} has been working on this turn for {age}.")
    lines += _explain_wait(session, turn, now=now)
    below = list_children(processes, process.id)
    if below:
        lines.append("Processes that it started:")
        lines += [
            f"  {one.id}  {one.age}  {_shorten(one.command)}" for one in below[:_MOST_PROCESSES]
        ]
    return "\n".join(lines)


def _explain_dead(session: SavedSession, turn: SavedTurn) -> str:
    go_on = f"`prowess run --resume {session.header.id}` continues it"
    ended = f"Its process ended before the turn did, so it is not stuck; {go_on}."
    if not turn.calls:
        return ended
    titles = ", ".join(_shorten(call.title) for call in turn.calls.values())
    return f"{ended} It is unknown whether these calls happened: {titles}."


def _explain_wait(session: SavedSession, turn: SavedTurn, *, now: float) -> list[str]:
    if session.jobs:
        return [
            f"It is waiting for the background task “{_shorten(name)}”: prowess jobs show {job}"
            for job, name in session.jobs.items()
        ]
    if turn.calls:
        return [
            f"It is waiting for {_shorten(call.title)}, which started"
            f" {_render_age(now - call.at)} ago."
            for call in turn.calls.values()
        ]
    return [
        "No tool is running: it is waiting for the model, or for an answer to a question on its"
        " screen. Esc or Ctrl-C there interrupts it, and nothing that was finished is lost."
    ]


def _render_age(seconds: float) -> str:
    whole = max(int(seconds), 0)
    if whole < 120:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 7_200 else f"{whole // 3_600} h"


def _shorten(text: str) -> str:
    line = escape_line(" ".join(text.split()))
    return line if len(line) <= _MOST_WIDTH else f"{line[:_MOST_WIDTH]}…"
