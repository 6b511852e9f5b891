"""What the source of a skill has now, next to what another installer made of it."""

from __future__ import annotations

from typing import Any

import msgspec

from prowess.errors import ProwessError
from prowess.machine.tree_files import read_file
from prowess.model.tree import Tree
from prowess.parse.header.fast import read_header
from prowess.parse.header.fences import split_body
from prowess.parse.header.lines import decode
from prowess.profiles.load import load_profile
from prowess.state.install_lock import LockedSkill
from prowess.supply.install.fetch import SKILL_FILE, FetchedSkill
from prowess.supply.install.installer import Installer
from prowess.supply.install.update import find_same

# What `gh skill` adds to the header of SKILL.md.
_MARKS = (
    *("github-repo", "github-ref", "github-path", "github-tree-sha", "github-pinned"),
    *("github-owner", "github-sha", "local-path"),
)


class Upstream(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a source: `same`, `different`, `gone`, `failed` or `not-asked`, and why.

    `is_unedited` where every file here is one that the source has, so that an update loses nothing.
    """

    state: str
    problem: str = ""
    skill: FetchedSkill | None = None
    is_unedited: bool = False


NOT_ASKED = Upstream(state="not-asked")


def ask_source(
    installer: Installer, entry: LockedSkill, folder: str, tree: Tree, *, is_shared: bool
) -> Upstream:
    """Compare the files in a folder with those that the source of the entry has.

    A source that is known by its version is asked for that one.
    """
    skill: FetchedSkill | None = None
    version = entry.resolved or None
    try:
        for fetched in installer.fetch_again(entry, ref=version, is_shared=is_shared):
            skill = find_same(fetched.skills, entry)
            if skill is not None:
                break
    except ProwessError as error:
        # The files are here and can be locked; only `sync` on another machine needs the source.
        return Upstream(state="failed", problem=str(error))
    if skill is None:
        return Upstream(state="gone", problem=f"{entry.source} no longer has “{entry.name}”")
    if skill.tree.digest == entry.tree:
        return Upstream(state="same", skill=skill, is_unedited=True)
    is_unedited = _is_unedited(folder, tree, skill)
    return Upstream(state="different", skill=skill, is_unedited=is_unedited)


def _is_unedited(folder: str, tree: Tree, skill: FetchedSkill) -> bool:
    """Whether the source has every file; some may have been left out, and modes may differ."""
    theirs = skill.tree.digests
    edited = [path for path, digest in tree.digests.items() if theirs.get(path) != digest]
    if not edited:
        return True
    return edited == [SKILL_FILE] and _is_marked_copy(folder, skill)


def _is_marked_copy(folder: str, skill: FetchedSkill) -> bool:
    """Whether SKILL.md is the source's, written anew with the marks of `gh skill`."""
    if SKILL_FILE not in skill.tree.files:
        return False
    own = _read_parts(read_file(folder, SKILL_FILE))
    theirs = _read_parts(read_file(skill.folder, SKILL_FILE))
    return own == theirs


def _read_parts(data: bytes) -> tuple[dict[str, Any], str]:
    """The header of a SKILL.md without marks, and its body without the blank lines around it."""
    profile = load_profile("prowess")
    header = dict(read_header(data, rules=profile.header, limits=profile.limits).frontmatter)
    metadata = header.pop("metadata", None)
    if isinstance(metadata, dict):
        metadata = {key: value for key, value in metadata.items() if key not in _MARKS} or None
    # Without marks it may be empty, and then the source has none.
    if metadata is not None:
        header["metadata"] = metadata
    body = split_body(decode(data, profile.header)[0], rules=profile.header)
    return header, body.strip("\r\n")
