"""What tools of shipped skills do, as plans: something read, or a change that a person approves.

Every change goes the same way: planned, shown as a difference, approved, backed up, written.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable

from prowess.agent.tools.plan import Access, IsCancelled, Plan
from prowess.model.permission import Action
from prowess.runtime import Skills
from prowess.state.edited_files import FileEdit, apply_edits, backup_folder
from prowess.text.differences import render_difference

_Run = Callable[[IsCancelled], str]


def plan_reading(title: str, run: _Run) -> Plan:
    """Something that only reads what is Prowess's own."""
    return Plan(
        title=title,
        permissions=("read",),
        accesses=(Access(names=(title,)),),
        default=Action.ALLOW,
        run=run,
    )


def plan_edits(
    skills: Skills,
    title: str,
    edits: Iterable[FileEdit],
    done: str,
    *,
    asks_because: str | None = None,
) -> Plan:
    """Changes of a user's files. What they replace is backed up first."""
    wanted = tuple(edits)
    backups = backup_folder(skills.facts, title.split(maxsplit=1)[0].lower())

    def run(is_cancelled: IsCancelled) -> str:
        apply_edits(wanted, backups)
        kept = any(edit.old is not None for edit in wanted)
        return f"{done} A backup is in {backups}." if kept else done

    return plan_change(skills, title, wanted, run, asks_because=asks_because)


def plan_change(
    skills: Skills,
    title: str,
    edits: Iterable[FileEdit],
    run: _Run,
    *,
    asks_because: str | None = None,
    default: Action = Action.ASK,
) -> Plan:
    """A change that `run` makes; a person sees it whole.

    `asks_because` says why a person is asked even where a rule allows it.
    """
    wanted = tuple(edits)
    diff = "\n".join(render_difference(one.path, one.old or "", one.new or "") for one in wanted)
    accesses = tuple(_find_access(one.path, skills) for one in wanted)
    return Plan(
        title=title,
        permissions=("edit",),
        # A plan without accesses would need no permission at all.
        accesses=accesses or (Access(names=(title,)),),
        default=default,
        run=run,
        diff=diff,
        touched=wanted[0].path if wanted else None,
        asks_because=asks_because,
        is_write=True,
    )


def _find_access(path: str, skills: Skills) -> Access:
    """What rules are asked about a file. Outside the project they must name its folder."""
    project = skills.snapshot.repository or skills.cwd
    if path.startswith(f"{project.rstrip('/')}/"):
        return Access(names=(path, posixpath.relpath(path, project)))
    home = skills.facts.home.rstrip("/")
    short = f"~{path.removeprefix(home)}" if path.startswith(f"{home}/") else path
    # A rule such as `Edit(*)` is about the project.
    folder = posixpath.dirname(short).removeprefix("~") or "~"
    return Access(names=(path, short), must_name=folder)
