"""The folders of skills in a project or a home, wherever an installer may have put them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

import msgspec

from prowess.machine.files import LocalFiles
from prowess.machine.tree_files import list_entries
from prowess.supply.install.agent_folders import AGENT_FOLDERS
from prowess.supply.install.fetch import SKILL_FILE
from prowess.supply.install.targets import USER, InstallPlace

# The folders of agents with a profile, as the other installers have them.
_HOST_FOLDERS = (
    *(".agents/skills", ".claude/skills", "skills", ".codex/skills", ".crush/skills"),
    *(".gemini/skills", ".github/skills", ".omp/skills", ".opencode/skills", ".pi/skills"),
    *(".qwen/skills", ".cursor/skills", ".prowess/skills"),
)
_HOST_HOME_FOLDERS = (
    *(".agents/skills", ".claude/skills", ".openclaw/skills", ".openclaw/workspace/skills"),
    *(".codex/skills", ".config/crush/skills", ".gemini/skills", ".copilot/skills"),
    *(".config/opencode/skills", ".omp/agent/skills", ".pi/agent/skills", ".qwen/skills"),
    *(".prowess/skills",),
)
# A project may have a folder `skills` with anything in it.
_MOST_FOLDERS = 10_000


class SkillFolder(msgspec.Struct, frozen=True):
    """The folder of a skill, and the symlinks to it."""

    path: str
    links: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its own name."""
        return posixpath.basename(self.path)


def find_skill_folders(place: InstallPlace) -> list[SkillFolder]:
    """Every folder with a SKILL.md, once, sorted; a symlink belongs to the folder it leads to.

    Raises `MachineError`.
    """
    files = LocalFiles()
    links: dict[str, list[str]] = {}
    own: list[str] = []
    base = files.find_real_path(place.base) or place.base
    for path in _list_folders(place, files):
        real = files.find_real_path(path) or path
        if real == _locate(path, place, base):
            own.append(path)
        else:
            links.setdefault(real, []).append(path)
    folders: list[SkillFolder] = []
    for path in own:
        # Installers put a skill into one folder, and links to it into those of other agents.
        to_it = links.pop(_locate(path, place, base), ())
        folders.append(SkillFolder(path, tuple(to_it)))
    # What is left leads to somewhere else; each is reported where its record is.
    for strays in links.values():
        folders += map(SkillFolder, strays)
    return sorted(folders, key=lambda one: one.path)


def is_symlinked(folder: SkillFolder, place: InstallPlace) -> bool:
    """Whether the way to a folder has a symlink in it, below the project or the home."""
    files = LocalFiles()
    base = files.find_real_path(place.base) or place.base
    return files.find_real_path(folder.path) != _locate(folder.path, place, base)


def _locate(path: str, place: InstallPlace, base: str) -> str:
    return f"{base}{path.removeprefix(place.base)}"


def _list_folders(place: InstallPlace, files: LocalFiles) -> Iterator[str]:
    count = 0
    for parent in _list_parents(place):
        top = posixpath.join(place.base, parent)
        for entry in list_entries(top):
            folder = posixpath.join(top, entry.name)
            if files.find_kind(posixpath.join(folder, SKILL_FILE)) != "file":
                continue
            count += 1
            if count > _MOST_FOLDERS:
                return
            yield folder


def _list_parents(place: InstallPlace) -> list[str]:
    if place.scope == USER:
        others = [in_home for _, in_home in AGENT_FOLDERS.values() if in_home is not None]
        return sorted({*_HOST_HOME_FOLDERS, *others})
    return sorted({*_HOST_FOLDERS, *(in_project for in_project, _ in AGENT_FOLDERS.values())})
