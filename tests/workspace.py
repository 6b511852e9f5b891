"""A made-up machine on disk: a home, a project, files and links, and the skills a host sees there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from prowess.model.facts import Facts
from prowess.model.outcome import Outcome
from prowess.model.snapshot import Snapshot
from prowess.runtime import Skills


def skill_text(
    name: str | None = None, description: str | None = "d", body: str = "Body\n", **fields: str
) -> str:
    """A SKILL.md with these fields, in this order; a field of value None is left out. `_` in a name
    stands for `-`.
    """
    declared = {"name": name, "description": description}
    declared |= {field.replace("_", "-"): value for field, value in fields.items()}
    lines = [f"{field}: {value}" for field, value in declared.items() if value is not None]
    return "\n".join(["---", *lines, "---", body])


class Workspace:
    """A folder with `home` and `project` in it. Paths are relative to that folder
    (`home/.claude/skills/x/SKILL.md`).
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.project = root / "project"
        self.home.mkdir()
        self.project.mkdir()

    def write(self, path: str, content: str | bytes = "") -> Path:
        """Write a file, with its folders."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        return place

    def skill(
        self, folder: str, name: str | None = None, description: str | None = "d", **fields: str
    ) -> Path:
        """Write `folder/SKILL.md`; the name in the header is the folder's unless given, "" leaves
        it out.
        """
        declared = folder.rpartition("/")[2] if name is None else (name or None)
        return self.write(f"{folder}/SKILL.md", skill_text(declared, description, **fields))

    def link(self, path: str, target: str) -> None:
        """Make a symbolic link."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        os.symlink(target, place)

    def git(self, folder: str = "project") -> None:
        """Make a folder a repository's root."""
        (self.root / folder / ".git").mkdir(parents=True)

    def facts(
        self,
        *,
        env: Mapping[str, str] | None = None,
        platform: str = "linux",
        bins: Iterable[str] = (),
    ) -> Facts:
        """The facts of this machine."""
        programs = frozenset(bins)
        return Facts(
            home=str(self.home),
            platform=platform,
            env=dict(env or {}),
            find_bin=programs.__contains__,
        )

    def open(
        self,
        host: str = "prowess",
        *,
        cwd: str = "project",
        env: Mapping[str, str] | None = None,
        platform: str = "linux",
        bins: Iterable[str] = (),
        on_event: Callable[[Any], Any] | None = None,
        cache: bool = False,
        refresh: Any = "manual",
        **options: Any,
    ) -> Skills:
        """The skills that a host sees from a folder, which is made. Managed places lie in `managed`
        below the root.
        """
        (self.root / cwd).mkdir(parents=True, exist_ok=True)
        return Skills(
            self.root / cwd,
            host=host,
            facts=self.facts(env=env, platform=platform, bins=bins),
            places={"managed": str(self.root / "managed")} | options.pop("places", {}),
            cache=cache,
            refresh=refresh,
            on_event=on_event,
            **options,
        )

    def scan(self, host: str = "prowess", **options: Any) -> Snapshot:
        """One scan as a host."""
        return self.open(host, **options).snapshot

    def path(self, path: str) -> str:
        """The absolute path of something in here."""
        return str(self.root / path)

    def relative(self, path: str | None) -> str | None:
        """An absolute path as it is written here."""
        return None if path is None else os.path.relpath(path, self.root)

    def listed(self, snapshot: Snapshot) -> dict[str, str]:
        """What the host lists: names and files."""
        return {
            outcome.name: os.path.relpath(outcome.candidate.location, self.root)
            for outcome in snapshot.shown
        }

    def ends(self, snapshot: Snapshot) -> dict[str, str]:
        """Every candidate's file and the state it ended in."""
        return {
            os.path.relpath(o.candidate.location, self.root): o.state.value
            for o in snapshot.outcomes
        }

    def outcome(self, snapshot: Snapshot, path: str) -> Outcome:
        """The outcome of one file."""
        return next(o for o in snapshot.outcomes if o.candidate.location == self.path(path))
