"""The skills that ship with Prowess, as a source for its own agent.

They are folders in `prowess/bundled`. Which of them exist is decided here, in the order of
registration: a skill behind a feature that is off is not registered at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from prowess.machine.chromium import PROGRAMS as BROWSERS
from prowess.machine.package_files import find_disk_path, find_package_folder
from prowess.model.outcome import Claim
from prowess.model.skill import Candidate, LoadedFrom, Root, Scope, Source
from prowess.ports import Discovered, ManifestReader, Search


class Shipped(NamedTuple):
    """A skill that ships: the feature that turns it on, and programs of which it needs one."""

    name: str
    feature: str | None = None
    programs: tuple[str, ...] = ()


SHIPPED = (
    Shipped("update-config"),
    Shipped("keybindings", feature="keybindings"),
    Shipped("verify"),
    Shipped("debug"),
    Shipped("lorem-ipsum"),
    Shipped("skillify"),
    Shipped("remember"),
    Shipped("simplify"),
    Shipped("batch"),
    Shipped("stuck"),
    Shipped("dream", feature="dream"),
    Shipped("hunter", feature="hunter"),
    Shipped("loop", feature="loop"),
    Shipped("schedule-remote-agents", feature="schedule-remote-agents"),
    Shipped("claude-api", feature="claude-api"),
    Shipped("claude-in-chrome", feature="claude-in-chrome", programs=BROWSERS),
    Shipped("run-skill-generator", feature="run-skill-generator"),
)
"""Every skill that ships, in the order of registration."""


class BundledSource:
    """The `SkillSource` of the skills that ship."""

    name = "bundled"

    def find(self, search: Search) -> Discovered:
        """The skills that are on, in the order of registration."""
        folder = find_disk_path(find_package_folder("prowess", "bundled"))
        project = search.project
        if project is None or folder is None:
            # Programs cannot run the files of a package that is in an archive.
            return Discovered()
        root = Root(
            path=folder,
            scope=Scope.BUNDLED,
            source=Source("prowess", "bundled", folder, LoadedFrom.BUNDLED, "bundled"),
            order=0,
            id="shipped",
            group="bundled",
            is_fallback=True,
        )
        features = project.load_own_settings().features
        has_program = project.facts.find_bin
        found = [
            _make_candidate(one, root) for one in SHIPPED if _is_on(one, features, has_program)
        ]
        return Discovered(tuple(found), roots=(root,))

    def read(self, candidate: Candidate, reader: ManifestReader) -> Claim:
        """Read the header of a skill that ships."""
        return reader.read_file(candidate)


def _is_on(
    shipped: Shipped, features: Mapping[str, bool], has_program: Callable[[str], bool]
) -> bool:
    if shipped.feature is not None and not features.get(shipped.feature, False):
        return False
    return not shipped.programs or any(map(has_program, shipped.programs))


def _make_candidate(shipped: Shipped, root: Root) -> Candidate:
    folder = f"{root.path}/{shipped.name}"
    location = f"{folder}/SKILL.md"
    return Candidate(location, folder, shipped.name, root, location)
