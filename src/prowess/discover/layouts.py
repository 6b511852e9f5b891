"""How a root is searched, as a table of layouts by the word in the profile."""

from __future__ import annotations

from collections.abc import Callable

from prowess.discover.ignored_paths import IgnoreRules, Why
from prowess.discover.walk import SKILL_FILE, Folder, Found, Walk, open_root, walk_skills
from prowess.ports import FolderItem

_EXTRA_DEPTH = 2


def find_candidates(walk: Walk) -> Found:
    """Every candidate of a root, in the order of their relative paths."""
    root = walk.root
    kind = walk.files.find_kind(root.path)
    if kind == "folder":
        _LAYOUTS[root.layout](walk)
        walk.finish()
    elif kind is not None:
        walk.note(
            "root-not-a-folder", "Skills are looked for here, but it is not a folder.", root.path
        )
    elif root.must_exist:
        walk.note(
            "root-missing", "The folder does not exist, though a setting names it.", root.path
        )
    return Found((*walk.candidates, *walk.passed_over), tuple(walk.diagnostics))


def _search_skills(walk: Walk) -> None:
    walk_skills(walk, min_depth=walk.root.min_depth, max_depth=walk.root.max_depth)


def _search_commands(walk: Walk) -> None:
    """Every Markdown file, at any depth: `a/b.md` is the command `a:b`, `a/SKILL.md` the command
    `a`.
    """
    waiting: list[tuple[Folder, str, Why | None]] = [(open_root(walk), "", None)]
    while waiting:
        folder, prefix, ignored = waiting.pop()
        items = walk.list_items(folder)
        outer = folder.rules or walk.ignore
        rules = outer.enter(folder.path, items) if outer else None
        for item in items:
            if item.kind == "file" and item.name.lower().endswith(".md"):
                name = (
                    prefix.rstrip(":")
                    if item.name == SKILL_FILE and prefix
                    else prefix + item.name[:-3]
                )
                why = ignored or (rules.find_file(folder.path, item.name) if rules else None)
                if why is None:
                    walk.add(folder, item, name)
                else:
                    walk.add_ignored(folder, item, name, why)
        below = [_step(folder, item, rules) for item in items if _is_plain_folder(item)]
        below.reverse()
        for one in below:
            why = ignored or (rules.find_folder(one.path) if rules else None)
            waiting.append((one, f"{prefix}{one.name}:", why))


def _is_plain_folder(item: FolderItem) -> bool:
    return item.kind == "folder" and not item.is_link and not item.name.startswith(".")


def _step(folder: Folder, item: FolderItem, rules: IgnoreRules | None) -> Folder:
    real = None if folder.real is None else f"{folder.real}/{item.name}"
    return Folder(f"{folder.path}/{item.name}", real, item.name, folder.depth + 1, rules=rules)


def _search_extra(walk: Walk) -> None:
    """OpenClaw's extra folders: one skill, a `skills` folder, a folder around one, or a shallow
    collection.
    """
    folder = open_root(walk)
    names = {item.name: item for item in walk.list_items(folder)}
    if not names:
        return
    if SKILL_FILE in names and names[SKILL_FILE].kind == "file":
        walk_skills(walk, min_depth=0, max_depth=0)
    elif folder.name == "skills":
        walk_skills(walk, min_depth=1, max_depth=walk.root.max_depth)
    elif "skills" in names and names["skills"].kind == "folder":
        _search_around(walk, folder)
    else:
        walk_skills(walk, min_depth=1, max_depth=_EXTRA_DEPTH)


def _search_around(walk: Walk, folder: Folder) -> None:
    """A folder with `skills` in it, which is the root where every skill lies inside it."""
    walk_skills(walk, min_depth=1, max_depth=walk.root.max_depth)
    inner = f"{folder.path}/skills"
    if walk.candidates and all(one.location.startswith(f"{inner}/") for one in walk.candidates):
        walk.start_again()
        start = Folder(inner, walk.files.find_real_path(inner), "skills", 0)
        walk_skills(walk, start, min_depth=1, max_depth=walk.root.max_depth)


_LAYOUTS: dict[str, Callable[[Walk], None]] = {
    "skills": _search_skills,
    "commands": _search_commands,
    "extra": _search_extra,
}
