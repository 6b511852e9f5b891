"""From a root to its candidates: one bounded walk, in an order that does not depend on the file
system.

A folder is looked at once; a link to a folder that was already entered gives at most the skill that
lies directly in it, so loops end and costs stay linear in the size of the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from prowess.diagnostics import Diagnostic, Severity, diagnose
from prowess.discover.ignored_paths import IGNORE_FILE, IgnoreRules
from prowess.discover.links import LinkRules
from prowess.model.skill import Candidate, Root
from prowess.ports import FileSystem, FolderItem
from prowess.profiles.schema.roots import Limits

SKILL_FILE = "SKILL.md"
# How many folders that a host passes over are looked into, to tell what lies there. It is a
# courtesy, so it is bounded.
_MOST_PROBES = 1_000
# As many where it is the time that was up.
_MOST_LATE_PROBES = 100
# As many in one folder that is left out for its name; node_modules may hold thousands.
_MOST_INSIDE = 200


class Found(msgspec.Struct, frozen=True):
    """What one root yielded: its candidates in order, and what was noticed that belongs to none of
    them.
    """

    candidates: tuple[Candidate, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


class Folder(msgspec.Struct, gc=False):
    """A folder to look into: its path, the path without links (None if unknown), and its depth
    below the root.

    `again` marks one that was entered before, by another way; `rules` are the ignore files that
    hold in it.
    """

    path: str
    real: str | None
    name: str
    depth: int
    again: bool = False
    rules: IgnoreRules | None = None


class Walk:
    """One root being walked: what bounds it, and what it has found so far."""

    def __init__(
        self,
        root: Root,
        *,
        files: FileSystem,
        limits: Limits,
        links: LinkRules,
        ignore: IgnoreRules | None,
        clock: Callable[[], float],
    ) -> None:
        self.root = root
        self.files = files
        self.limits = limits
        self.links = links
        self.ignore = ignore
        self.clock = clock
        self.candidates: list[Candidate] = []
        self.passed_over: list[Candidate] = []
        self.probes = 0
        self.diagnostics: list[Diagnostic] = []
        self.entered: set[str] = set()
        self.kept = 0
        self.looked_at = 0
        self.deadline = clock() + limits.seconds_per_root if limits.seconds_per_root else None
        self.stopped_by: str | None = None
        self.stopped_after = ""

    def note(self, code: str, message: str, path: str) -> None:
        """Keep a finding that belongs to no candidate."""
        self.diagnostics.append(diagnose(code, message, file=path))

    def list_items(self, folder: Folder) -> list[FolderItem]:
        """The items of a folder; empty, and noted, where it cannot be listed or a bound is reached."""
        if self.stopped_by or self._reached_bound():
            return []
        self.looked_at += 1
        try:
            items = self.files.list_folder(folder.path)
        except OSError as error:
            self.note(
                "root-unreadable",
                f"The folder cannot be listed: {error.strerror or error}.",
                folder.path,
            )
            return []
        return items

    def start_again(self) -> None:
        """Forget what was found, to search the root in another way."""
        self.candidates.clear()
        self.passed_over.clear()
        self.diagnostics.clear()
        self.entered.clear()
        self.kept = 0

    def pass_over(
        self,
        folder: str,
        name: str,
        rule: str,
        reason: str,
        diagnostics: tuple[Diagnostic, ...] = (),
    ) -> bool:
        """Keep the skill of a folder that the host does not look at, if there is one, as skipped by
        a rule.
        """
        if not self._may_probe() or self.files.find_kind(f"{folder}/{SKILL_FILE}") != "file":
            return False
        found = Candidate(
            f"{folder}/{SKILL_FILE}", folder, name, self.root, None, reason, diagnostics, rule
        )
        self.passed_over.append(found)
        return True

    def _may_probe(self) -> bool:
        self.probes += 1
        if self.probes == _MOST_PROBES:
            message = (
                f"More than {_MOST_PROBES:,} folders here are passed over; skills in the rest are"
                " not listed."
            )
            self.diagnostics.append(
                diagnose("limit-reached", message, file=self.root.path, severity=Severity.INFO)
            )
        return self.probes < _MOST_PROBES

    def _reached_bound(self) -> bool:
        limits = self.limits
        if limits.folders_per_root and self.looked_at >= limits.folders_per_root:
            self.stopped_by, self.stopped_after = (
                "limits.folders_per_root",
                f"{limits.folders_per_root} folders",
            )
        elif (
            self.deadline is not None and self.looked_at % 64 == 0 and self.clock() > self.deadline
        ):
            self.stopped_by, self.stopped_after = (
                "limits.seconds_per_root",
                f"{limits.seconds_per_root:g} seconds",
            )
        else:
            return False
        message = f"Looking for skills stopped after {self.stopped_after}; the rest was not seen."
        self.note("limit-reached", message, self.root.path)
        return True

    def add(self, folder: Folder, item: FolderItem, name: str) -> None:
        """Keep a file as a candidate, in whatever state it is."""
        location = f"{folder.path}/{item.name}"
        if item.kind == "file" and not item.is_link:
            real = None if folder.real is None else f"{folder.real}/{item.name}"
            candidate = Candidate(location, folder.path, name, self.root, real)
        else:
            candidate = self._make_special(folder, item, name, location)
        if self.kept >= self.limits.skills_per_root > 0:
            reason = f"the limit of {self.limits.skills_per_root} skills in one root was reached"
            candidate = msgspec.structs.replace(
                candidate, skipped=reason, skipped_by="limits.skills_per_root"
            )
        self.kept += 1
        self.candidates.append(candidate)

    def add_ignored(
        self, folder: Folder, item: FolderItem, name: str, why: tuple[str, Diagnostic]
    ) -> None:
        """Keep a file that git ignores, as skipped; it takes no room from others."""
        reason, finding = why
        location = f"{folder.path}/{item.name}"
        skipped = Candidate(
            location, folder.path, name, self.root, None, reason, (finding,), "gitignore"
        )
        self.candidates.append(skipped)

    def finish(self) -> None:
        """Note what a limit left unread."""
        most = self.limits.skills_per_root
        if self.kept > most > 0:
            read = "is" if most == 1 else "are"
            message = f"The folder holds {self.kept:,} skills; the first {most:,} {read} read."
            self.note("limit-reached", message, self.root.path)

    def _make_special(
        self, folder: Folder, item: FolderItem, name: str, location: str
    ) -> Candidate:
        """A candidate whose file is a link or no file at all."""
        real = self.files.find_real_path(location) if item.is_link else None
        problem: tuple[Diagnostic, ...] = ()
        if item.kind != "file":
            problem = (diagnose("not-a-file", _name_special(item), file=location),)
        elif not self.links.allows_file(self.root, folder.real, real):
            problem = (_escape(location, real),)
        return Candidate(location, folder.path, name, self.root, real, None, problem)


def _name_special(item: FolderItem) -> str:
    kinds = {
        "folder": "a folder",
        "broken": "a link that leads nowhere",
        "other": "a pipe, a socket or a device",
    }
    return f"{item.name} is {kinds[item.kind]}; it must be an ordinary file."


def _escape(path: str, real: str | None) -> Diagnostic:
    where = f"to {real}, which is" if real else "to a place that cannot be told,"
    return diagnose(
        "link-escapes",
        f"The link leads {where} outside the folders that may be followed.",
        file=path,
    )


def walk_skills(walk: Walk, start: Folder | None = None, *, min_depth: int, max_depth: int) -> None:
    """Folders that hold SKILL.md, between two depths; a skill's folder is not searched further
    where it is a leaf.
    """
    waiting = [start or open_root(walk)]
    while waiting:
        folder = waiting.pop()
        items = walk.list_items(folder)
        if walk.stopped_by:
            _pass_over_rest(walk, [folder, *reversed(waiting)], min_depth)
            return
        if folder.depth < min_depth:
            holds_skill = False
            _pass_over_shallow(walk, folder, items)
        else:
            holds_skill = _take_skill(walk, folder, items)
        if folder.depth < max_depth:
            if not (holds_skill and walk.root.leaf):
                below = list(_choose_folders(walk, folder, items))
                below.reverse()
                waiting += below
        elif not (holds_skill or folder.again):
            _pass_over_deep(walk, folder, items)


def open_root(walk: Walk) -> Folder:
    """The root itself as the first folder of its walk."""
    path = walk.root.path
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return Folder(path, walk.files.find_real_path(path), name, 0)


def _take_skill(walk: Walk, folder: Folder, items: list[FolderItem]) -> bool:
    """Keep the folder's SKILL.md, if it has one; a file that only looks like one is noted."""
    rules = folder.rules or walk.ignore
    for item in items:
        name = item.name
        if name == SKILL_FILE:
            ignored = rules.find_file(folder.path, name) if rules else None
            if ignored is None:
                walk.add(folder, item, folder.name)
            else:
                walk.add_ignored(folder, item, folder.name, ignored)
            return True
        if name == IGNORE_FILE and rules:
            # It comes before SKILL.md, since items are sorted.
            rules = rules.enter(folder.path, items)
        if (
            len(name) == 8
            and name.lower() == "skill.md"
            and not any(one.name == SKILL_FILE for one in items)
        ):
            message = f"The file is named {name}; only {SKILL_FILE} is read."
            walk.note("wrong-file-name", message, f"{folder.path}/{name}")
    return False


def _pass_over_rest(walk: Walk, folders: list[Folder], min_depth: int) -> None:
    """The skills of folders that were still to be looked at when a bound was reached; what is
    deeper stays unknown.
    """
    is_late = walk.stopped_by == "limits.seconds_per_root"
    for folder in folders[:_MOST_LATE_PROBES] if is_late else folders:
        if folder.depth >= min_depth:
            reason = f"looking for skills stopped after {walk.stopped_after}"
            walk.pass_over(folder.path, folder.name, walk.stopped_by or "", reason)


def _pass_over_shallow(walk: Walk, folder: Folder, items: list[FolderItem]) -> None:
    """SKILL.md where the host expects folders of skills."""
    if any(item.name == SKILL_FILE and item.kind == "file" for item in items):
        reason = "it lies in the root itself; this host looks in the folders below it"
        walk.pass_over(folder.path, folder.name, "min_depth", reason)


def _pass_over_deep(walk: Walk, folder: Folder, items: list[FolderItem]) -> None:
    """Skills one folder deeper than the host looks: a folder around folders is a common mistake."""
    for item in items:
        if item.kind == "folder" and not item.is_link and item.name[0] != ".":
            reason = (
                f"it lies {folder.depth + 1} folders below the root; this host looks {folder.depth}"
                " deep"
            )
            walk.pass_over(f"{folder.path}/{item.name}", item.name, "max_depth", reason)


def _pass_over_name(walk: Walk, path: str, item: FolderItem) -> None:
    """A folder that is left out for its name. What a link leads to is not looked at."""
    if item.name == ".git" or item.is_link:
        return
    if item.name in walk.root.skip_names:
        _pass_over_inside(
            walk, path, item.name, "skip_names", f"this host passes over folders called {item.name}"
        )
    else:
        _pass_over_inside(
            walk,
            path,
            item.name,
            "hidden",
            "its folder begins with a dot; this host passes over those",
        )


def _pass_over_inside(
    walk: Walk,
    path: str,
    name: str,
    rule: str,
    reason: str,
    diagnostics: tuple[Diagnostic, ...] = (),
) -> None:
    """The skill of a folder that is left out, or the skills one folder deeper; what is deeper still
    stays unknown.
    """
    if walk.pass_over(path, name, rule, reason, diagnostics):
        return
    try:
        items = walk.files.list_folder(path)
    except OSError:
        return
    inside = [
        item.name
        for item in items
        if item.kind == "folder" and not item.is_link and item.name[0] != "."
    ]
    for below in inside[:_MOST_INSIDE]:
        walk.pass_over(f"{path}/{below}", below, rule, reason, diagnostics)


def _choose_folders(walk: Walk, folder: Folder, items: list[FolderItem]) -> Iterator[Folder]:
    root = walk.root
    most = walk.limits.items_per_folder
    count = 0
    outer = folder.rules or walk.ignore
    rules = outer.enter(folder.path, items) if outer else None
    for item in items:
        if item.kind != "folder":
            continue
        name = item.name
        path = f"{folder.path}/{name}"
        if name in root.skip_names or (name[0] == "." and not root.hidden) or name == ".git":
            _pass_over_name(walk, path, item)
            continue
        count += 1
        if count > most > 0:
            _take_skipped(walk, path, name, most)
        elif rules and (ignored := rules.find_folder(path)):
            reason, finding = ignored
            _pass_over_inside(walk, path, name, "gitignore", reason, (finding,))
        elif item.is_link:
            yield from _follow(walk, folder, path, name)
        else:
            real = None if folder.real is None else f"{folder.real}/{name}"
            yield Folder(path, real, name, folder.depth + 1, False, rules)
    if count > most > 0:
        message = f"The folder has {count} folders in it; the first {most} are looked at."
        walk.note("limit-reached", message, folder.path)


def _take_skipped(walk: Walk, path: str, name: str, most: int) -> None:
    """A skill beyond the folders that are looked at beside each other."""
    location = f"{path}/{SKILL_FILE}"
    if walk.files.find_kind(location) == "file":
        reason = f"only the first {most} folders beside it are looked at"
        found = Candidate(
            location, path, name, walk.root, None, reason, (), "limits.items_per_folder"
        )
        walk.candidates.append(found)


def _follow(walk: Walk, folder: Folder, path: str, name: str) -> Iterator[Folder]:
    """The folder behind a link, where the root's rule for links allows it."""
    real = walk.files.find_real_path(path)
    if not walk.links.allows_folder(walk.root, real):
        location = f"{path}/{SKILL_FILE}"
        if walk.files.find_kind(location) == "file":
            walk.candidates.append(
                Candidate(location, path, name, walk.root, None, None, (_escape(path, real),))
            )
        return
    shown = real if walk.root.links == "real-folder" and real else path
    target = Folder(shown, real, name, folder.depth + 1, rules=folder.rules)
    if real is None or real in walk.entered or _is_inside(folder.real, real):
        # Entered before, or a link to a folder we are in: only what lies directly in it can be a
        # skill of its own.
        target.depth, target.again = walk.root.max_depth, True
        if real is None or _is_inside(folder.real, real):
            return
    walk.entered.add(real)
    yield target


def _is_inside(path: str | None, folder: str) -> bool:
    return path is not None and (path == folder or path.startswith(folder.rstrip("/") + "/"))
