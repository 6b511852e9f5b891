"""One skill in full: its outcome, its text, what it costs, and its files."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import Any

import msgspec

from prowess.errors import MachineError
from prowess.model.files import FolderItem
from prowess.model.outcome import Outcome
from prowess.model.skill import Document, Skill
from prowess.model.snapshot import Snapshot
from prowess.ports import FileSystem
from prowess.present.offer import describe_skill
from prowess.present.tokens import count_item, estimate_tokens
from prowess.reports.json_output import shape_diagnostic, shape_outcome, shape_scan
from prowess.reports.outcomes_by_name import get_outcome
from prowess.reports.served_origin import ServedOrigin, find_served_origin
from prowess.runtime import Skills

# Nobody reads a longer list; some skills bring a `node_modules`.
MOST_FILES = 200
_MOST_FOLDERS = 500


class SkillFile(msgspec.Struct, frozen=True):
    """A file of a skill: its path in the folder, its kind and size, and whether it is a symlink."""

    path: str
    kind: str
    size: int | None
    link: bool


class SkillFiles(msgspec.Struct, frozen=True):
    """The files of a skill, sorted, and whether there are more than are listed."""

    files: tuple[SkillFile, ...]
    has_more: bool = False


class DetailCost(msgspec.Struct, frozen=True):
    """Estimated tokens: of the description, in every request, and of the body, when used."""

    listed_tokens: int
    body_tokens: int


class SkillDetails(msgspec.Struct, frozen=True, kw_only=True):
    """One skill in full. `document` and `cost` are None where its file could not be parsed.

    `served` says where a skill comes from that a server sent.
    """

    snapshot: Snapshot
    outcome: Outcome
    document: Document | None
    cost: DetailCost | None
    files: SkillFiles
    served: ServedOrigin | None = None

    def shape(self) -> dict[str, Any]:
        """The skill as JSON; text, header and cost only where its file could be parsed."""
        outcome, document, skill = self.outcome, self.document, self.outcome.skill
        shape = shape_outcome(outcome)
        if skill is not None and document is not None:
            shape["frontmatter"] = skill.frontmatter
            shape["manifest"] = msgspec.to_builtins(skill.manifest)
            shape["digest"] = document.digest
            shape["content"] = document.content
            shape["cost"] = msgspec.to_builtins(self.cost)
        if self.served is not None:
            shape["origin"] = self.served.shape()
        shape["files"] = [msgspec.to_builtins(file) for file in self.files.files]
        shape["more_files"] = self.files.has_more
        shape["diagnostics"] = [shape_diagnostic(finding) for finding in outcome.diagnostics]
        return {**shape_scan(self.snapshot), "skill": shape}


def load_details(skills: Skills, name: str) -> SkillDetails:
    """Everything about the skill that holds a name; raises `UnknownSkill`."""
    snapshot = skills.snapshot
    outcome = get_outcome(snapshot, name)
    document, cost = None, None
    if outcome.skill is not None:
        document = _load_document(outcome.skill)
        listed = count_item(describe_skill(outcome.skill))
        cost = DetailCost(listed, estimate_tokens(document.content))
    files = load_files(outcome, skills.project.files)
    return SkillDetails(
        snapshot=snapshot,
        outcome=outcome,
        document=document,
        cost=cost,
        files=files,
        served=find_served_origin(skills, outcome),
    )


def _load_document(skill: Skill) -> Document:
    try:
        return skill.load()
    except OSError as error:
        raise MachineError.caused_by("read", skill.location, error) from error


def load_files(outcome: Outcome, disk: FileSystem) -> SkillFiles:
    """The files of a skill; symlinked folders are listed but not entered."""
    location, folder = outcome.candidate.location, outcome.candidate.folder
    if outcome.candidate.root.layout == "commands":
        # A command is a single file; its neighbours are other commands.
        size = _find_size(location, disk)
        return SkillFiles((SkillFile(posixpath.basename(location), "file", size, False),))
    listed: list[SkillFile] = []
    pending = [""]
    # Bounded in folders too: a tree of empty folders must not keep anyone waiting.
    for _ in range(_MOST_FOLDERS):
        if not pending or len(listed) > MOST_FILES:
            break
        below = pending.pop()
        path = posixpath.join(folder, below) if below else folder
        items = _list_folder(path, disk)
        listed += _describe_files(items, folder, below, disk)
        subfolders = [posixpath.join(below, item.name) for item in items if _enters(item)]
        # The last one is taken next, so the list is reversed.
        pending += reversed(subfolders)
    has_more = bool(pending) or len(listed) > MOST_FILES
    return SkillFiles(tuple(listed[:MOST_FILES]), has_more)


def _list_folder(path: str, disk: FileSystem) -> list[FolderItem]:
    try:
        return disk.list_folder(path)
    except OSError:
        # A folder that cannot be opened is no reason to hide the other files.
        return []


def _enters(item: FolderItem) -> bool:
    # A symlink may lead out of the skill or into a circle; `.git` of a cloned skill has thousands
    # of files that no agent reads.
    return item.kind == "folder" and not item.is_link and item.name != ".git"


def _describe_files(
    items: Sequence[FolderItem], folder: str, below: str, disk: FileSystem
) -> list[SkillFile]:
    files = [item for item in items if item.kind != "folder" or item.is_link]
    described = []
    # One more than is shown tells that there are more; the sizes of the rest are not needed.
    for item in files[: MOST_FILES + 1]:
        path = posixpath.join(below, item.name)
        size = _find_size(posixpath.join(folder, path), disk)
        described.append(SkillFile(path, item.kind, size, item.is_link))
    return described


def _find_size(path: str, disk: FileSystem) -> int | None:
    try:
        return disk.get_stamp(path)[2]
    except OSError:
        return None
