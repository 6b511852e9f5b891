"""How a root is searched, as a table of layouts by the word in the profile."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prowess.discover.ignored_paths import IgnoredPaths, Reason
from prowess.discover.walk import (
    GIT_FOLDER,
    SKILL_FILE,
    Walk,
    WalkedFolder,
    follow_link,
    open_folder,
    open_root,
    walk_skills,
)
from prowess.model.files import FolderItem
from prowess.model.skill import Candidate
from prowess.ports import Discovered

# OpenClaw searches an extra folder that is no `skills` folder only so deep.
_EXTRA_DEPTH = 2
_ANY_SKILL_FILE = SKILL_FILE.lower()


def find_candidates(walk: Walk) -> Discovered:
    """Every candidate of a root, in the order of their relative paths."""
    root = walk.root
    kind = walk.files.find_kind(root.path)
    is_markdown = kind == "file" and root.path.endswith(".md")
    if kind == "folder":
        _LAYOUTS[root.layout](walk)
        walk.finish()
    elif is_markdown and root.layout == "commands":
        name = root.path.rpartition("/")[2].removesuffix(".md")
        _take_single_file(walk, name)
    elif is_markdown and root.flat:
        _take_single_file(walk)
    elif kind is not None:
        message = "This must be a folder of skills, but it is not a folder."
        walk.note("root-not-a-folder", message, root.path)
    elif root.must_exist:
        message = "A setting or an option names this folder, but it does not exist."
        walk.note("root-missing", message, root.path)
    return Discovered((*walk.candidates, *walk.skipped), tuple(walk.diagnostics))


def _take_single_file(walk: Walk, skill_name: str | None = None) -> None:
    """A root that a setting or a plugin names and that is itself the file of a skill."""
    above, _, name = walk.root.path.rpartition("/")
    folder = open_folder(walk, above)
    real = walk.files.find_real_path(walk.root.path)
    is_link = real is not None and real != folder.join_real(name)
    walk.add(folder, FolderItem(name, "file", is_link), skill_name or folder.name)


def _search_skills(walk: Walk) -> None:
    walk_skills(walk, min_depth=walk.root.min_depth, max_depth=walk.root.max_depth)
    if walk.root.flat:
        # pi reads files and folders in one order, so that `a/` comes before `b.md`.
        walk.candidates.sort(key=lambda candidate: candidate.location.split("/"))


def _search_commands(walk: Walk) -> None:
    """Every Markdown file, at any depth: `a/b.md` is the command `a:b`, `a/SKILL.md` is `a`."""
    waiting: list[tuple[WalkedFolder, str, Reason | None]] = [(open_root(walk), "", None)]
    while waiting:
        folder, prefix, why = waiting.pop()
        items = walk.list_items(folder)
        outer = folder.ignored or walk.ignored
        ignored = outer.enter(folder.path, items) if outer else None
        _take_commands(walk, folder, items, prefix, why, ignored)
        # The last in is the first out, so the folders go in backwards to be searched in order.
        for inner in reversed(_list_folders(walk, folder, items, ignored)):
            # What is in an ignored folder is ignored, whatever the rules inside it say.
            inner_why = why or (ignored.find_folder(inner.path) if ignored else None)
            waiting.append((inner, f"{prefix}{inner.name}:", inner_why))


def _take_commands(
    walk: Walk,
    folder: WalkedFolder,
    items: Sequence[FolderItem],
    prefix: str,
    why: Reason | None,
    ignored: IgnoredPaths | None,
) -> None:
    """Keep the commands of one folder; a SKILL.md makes all of it one command."""
    # As in Claude Code: `x.MD` is no command, but a SKILL.md may be written in any case.
    files = [item for item in items if item.kind == "file" and item.name.endswith(".md")]
    skill = next((item for item in files if item.name.lower() == _ANY_SKILL_FILE), None)
    for item in files:
        is_skill = item is skill
        if skill is not None and not is_skill:
            _skip_beside_skill(walk, folder, item, prefix, skill.name)
            continue
        reason = why or _find_file(ignored, folder, item)
        _take_command(walk, folder, item, prefix, reason, is_skill=is_skill)


def _list_folders(
    walk: Walk, folder: WalkedFolder, items: Sequence[FolderItem], ignored: IgnoredPaths | None
) -> list[WalkedFolder]:
    """The folders in a folder to search for more commands."""
    found: list[WalkedFolder] = []
    for item in items:
        is_hidden = item.name.startswith(".") and not walk.root.hidden
        is_skipped = is_hidden or item.name == GIT_FOLDER
        if item.kind != "folder" or is_skipped:
            continue
        if not item.is_link:
            found.append(folder.enter(item.name, ignored))
            continue
        path = f"{folder.path}/{item.name}"
        for linked in follow_link(walk, folder, path, item.name, folder.ignored):
            # One that was entered before would list its commands again, and loops would not end.
            if not linked.again:
                found.append(linked)
    return found


def _take_command(
    walk: Walk,
    folder: WalkedFolder,
    item: FolderItem,
    prefix: str,
    why: Reason | None,
    *,
    is_skill: bool,
) -> None:
    # In the root itself there is no prefix, and the root's own name is the command.
    own_name = prefix.rstrip(":") or folder.name
    name = own_name if is_skill else prefix + item.name.removesuffix(".md")
    if why is None:
        walk.add(folder, item, name)
    else:
        walk.add_ignored(folder, item, name, why)


def _skip_beside_skill(
    walk: Walk, folder: WalkedFolder, item: FolderItem, prefix: str, skill_file: str
) -> None:
    """Keep a file that a SKILL.md in the same folder hides, so that it is not lost."""
    name = prefix + item.name.removesuffix(".md")
    reason = f"{skill_file} in the same folder makes the whole folder one command"
    location = f"{folder.path}/{item.name}"
    walk.skipped.append(
        Candidate(location, folder.path, name, walk.root, None, reason, (), "layout")
    )


def _find_file(
    ignored: IgnoredPaths | None, folder: WalkedFolder, item: FolderItem
) -> Reason | None:
    return None if ignored is None else ignored.find_file(folder.path, item.name)


def _search_extra(walk: Walk) -> None:
    """OpenClaw's extra folders: one skill, a `skills` folder, a folder around one, or a shallow
    collection.
    """
    folder = open_root(walk)
    kinds = {item.name: item.kind for item in walk.list_items(folder)}
    if not kinds:
        return
    if kinds.get(SKILL_FILE) == "file":
        walk_skills(walk, min_depth=0, max_depth=0)
    elif folder.name == "skills":
        walk_skills(walk, min_depth=1, max_depth=walk.root.max_depth)
    elif kinds.get("skills") == "folder":
        _search_around(walk, folder)
    else:
        walk_skills(walk, min_depth=1, max_depth=_EXTRA_DEPTH)


def _search_around(walk: Walk, folder: WalkedFolder) -> None:
    """A folder with `skills` in it, which is the root where every skill is inside it."""
    walk_skills(walk, min_depth=1, max_depth=walk.root.max_depth)
    inner = f"{folder.path}/skills"
    outside = [one for one in walk.candidates if not one.location.startswith(f"{inner}/")]
    if outside or not walk.candidates:
        return
    # Depths are counted from the root, so it has to be walked again from the inner folder.
    walk.start_again()
    walk_skills(walk, open_folder(walk, inner), min_depth=0, max_depth=walk.root.max_depth)


_LAYOUTS: dict[str, Callable[[Walk], None]] = {
    "skills": _search_skills,
    "commands": _search_commands,
    "extra": _search_extra,
}
