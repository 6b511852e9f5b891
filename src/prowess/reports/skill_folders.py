"""Where new skills go: a folder that the host reads, and most other hosts too."""

from __future__ import annotations

import posixpath

from prowess.model.skill import LoadedFrom, Root, Scope
from prowess.runtime import Skills

SHARED_FOLDER = ".agents/skills"
# Only Prowess reads it, so it is used only if a project has no other.
_OWN_FOLDER = ".prowess/skills"


def choose_user_folder(skills: Skills) -> str:
    """The folder for all projects of a user: the shared one if the host reads it."""
    shared = posixpath.join(skills.facts.home, SHARED_FOLDER)
    paths = [root.path for root in _list_roots(skills, Scope.USER)]
    if not paths or shared in paths:
        return shared
    return paths[0]


def choose_project_folder(skills: Skills) -> str:
    """The nearest skill folder of the project that the host reads; else the one to create."""
    top = skills.snapshot.repository or skills.snapshot.cwd
    return find_project_folder(skills) or choose_new_folder(skills, top)


def find_project_folder(skills: Skills, *, within: str = "") -> str | None:
    """The nearest skill folder that exists; of several side by side, the shared one first."""
    used = {outcome.candidate.root.path for outcome in skills.snapshot.outcomes}
    find_kind = skills.project.files.find_kind
    candidates = []
    for root in _list_roots(skills, Scope.PROJECT, within=within):
        # A plain folder called `skills` may be about anything; it counts once it has a skill in it.
        is_for_skills = root.path in used or _is_in_dot_folder(root.path)
        if is_for_skills and find_kind(root.path) == "folder":
            candidates.append(root)
    if not candidates:
        return None
    return min(candidates, key=_rank).path


def choose_new_folder(skills: Skills, top: str) -> str:
    """The skill folder to create in a folder: the shared one if the host reads it, else its own."""
    shared = posixpath.join(top, SHARED_FOLDER)
    # The empty part adds the slash, so that a folder whose name begins alike is not inside.
    roots = _list_roots(skills, Scope.PROJECT, within=posixpath.join(top, ""))
    paths = [root.path for root in roots]
    if not paths or shared in paths:
        return shared
    # Roots of the working folder and of those above it; the farthest is the one at `top`.
    return max(roots, key=lambda root: root.distance).path


def _list_roots(skills: Skills, scope: Scope, *, within: str = "") -> list[Root]:
    of_scope = [root for root in skills.snapshot.roots if root.scope is scope]
    inside = [root for root in of_scope if root.path.startswith(within)]
    return [root for root in inside if _takes_new_skills(root)]


def _takes_new_skills(root: Root) -> bool:
    """Whether a new skill in a root is read: not if it is turned off or for legacy commands."""
    return root.disabled_by is None and root.source.loaded_from is not LoadedFrom.COMMANDS


def _is_in_dot_folder(path: str) -> bool:
    return posixpath.basename(posixpath.dirname(path)).startswith(".")


def _rank(root: Root) -> tuple[int, int, int]:
    preference = 1
    if root.path.endswith(SHARED_FOLDER):
        preference = 0
    elif root.path.endswith(_OWN_FOLDER):
        preference = 2
    return root.distance, preference, root.order
