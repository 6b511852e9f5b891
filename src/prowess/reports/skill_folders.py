"""Where new skills go: the folder that a host reads, and that as many others as can be read too."""

from __future__ import annotations

import os

from prowess.model.skill import LoadedFrom, Root, Scope
from prowess.model.snapshot import Snapshot

SHARED_FOLDER = os.path.join(".agents", "skills")
# Read by nothing but Prowess, so it is taken only where a project has no other.
_OWN_FOLDER = os.path.join(".prowess", "skills")


def choose_user_folder(snapshot: Snapshot) -> str:
    """The folder of skills for all projects: the shared one where the host reads it, else the
    host's own first.
    """
    shared = os.path.join(os.path.expanduser("~"), SHARED_FOLDER)
    own = [root.path for root in snapshot.roots if _holds_new_skills(root, Scope.USER)]
    return shared if shared in own or not own else own[0]


def choose_project_folder(snapshot: Snapshot) -> str:
    """The nearest folder of the project that the host reads; where there is none, the one to make
    at its top.
    """
    return find_existing(snapshot) or choose_missing(snapshot, snapshot.repository or snapshot.cwd)


def find_existing(snapshot: Snapshot, *, within: str = "") -> str | None:
    """The project's skill folder that is there and nearest, the shared one before the others beside
    it.

    A plain folder called `skills` may be something else altogether; it counts once it holds a
    skill.
    """
    used = {outcome.candidate.root.path for outcome in snapshot.outcomes}
    found = [
        root
        for root in snapshot.roots
        if _holds_new_skills(root, Scope.PROJECT)
        and root.path.startswith(within)
        and os.path.isdir(root.path)
        and (root.path in used or os.path.basename(os.path.dirname(root.path)).startswith("."))
    ]
    return min(found, key=_rank).path if found else None


def choose_missing(snapshot: Snapshot, top: str) -> str:
    """The skill folder to make in a folder: the shared one where the host reads it, else its own
    first.
    """
    shared = os.path.join(top, SHARED_FOLDER)
    inside = top.rstrip(os.sep) + os.sep
    read = [
        root
        for root in snapshot.roots
        if _holds_new_skills(root, Scope.PROJECT) and root.path.startswith(inside)
    ]
    if not read or shared in [root.path for root in read]:
        return shared
    return max(read, key=lambda root: root.distance).path


def _rank(root: Root) -> tuple[int, int, int]:
    preference = (
        0 if root.path.endswith(SHARED_FOLDER) else 2 if root.path.endswith(_OWN_FOLDER) else 1
    )
    return root.distance, preference, root.order


def _holds_new_skills(root: Root, scope: Scope) -> bool:
    return (
        root.scope is scope
        and root.source.loaded_from is not LoadedFrom.COMMANDS
        and root.disabled_by is None
    )
