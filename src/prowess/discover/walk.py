"""From a root to its candidates: one bounded walk, in an order that does not depend on the file
system.

Each folder is listed once. A link to a folder that was already entered yields at most the skill
directly in it, so loops end and the cost stays linear in the size of the tree.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from math import inf
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec

from prowess.diagnostics import Diagnostic, Severity, diagnose
from prowess.discover.ignored_paths import IgnoredPaths, Reason
from prowess.discover.links import LinkRules
from prowess.errors import name_cause
from prowess.model.files import FolderItem
from prowess.model.skill import Candidate, Root
from prowess.ports import FileSystem
from prowess.profiles.schema.roots import ScanLimits

if TYPE_CHECKING:
    from prowess.discover.plugin_prefixes import PluginPrefixes

SKILL_FILE = "SKILL.md"
GIT_FOLDER = ".git"
SKILLS_LIMIT = "limits.skills_per_root"
# How many folders that a host skips are searched all the same, so that people learn what is in
# them. It is a courtesy, so it is bounded.
_MOST_PROBES = 1_000
# The same when the time is already up.
_MOST_LATE_PROBES = 100
# The same inside one folder that is skipped for its name; node_modules may hold thousands.
_MOST_INSIDE = 200
# How many levels are searched below what a host reads, for people who ask why a skill is missing.
_MOST_LEVELS = 8
# The clock is asked once for so many folders.
_FOLDERS_PER_CHECK = 64
_NO_BOUND = 1 << 62

# The rules for links under which a linked folder goes by its real path.
_SHOW_REAL = ("real-folder", "real-path")

_SPECIAL_KINDS = {
    "folder": "a folder",
    "broken": "a broken link",
    "other": "a pipe, a socket or a device",
}


class WalkedFolder(msgspec.Struct, gc=False):
    """A folder to search: its path, the path without links (None if unknown), and its depth.

    Where no link leads to it, both paths are the same text, and so are those of what is in it.
    `again` marks one that was entered before, by another way. `ignored` has the ignore files that
    apply in it; None where those of the whole root do.
    """

    path: str
    real: str | None
    name: str
    depth: int
    again: bool = False
    ignored: IgnoredPaths | None = None

    def enter(self, name: str, ignored: IgnoredPaths | None = None) -> WalkedFolder:
        """A folder in this one that is not a link."""
        path = f"{self.path}/{name}"
        real = path if self.real is self.path else self.join_real(name)
        return WalkedFolder(path, real, name, self.depth + 1, False, ignored)

    def join_real(self, name: str) -> str | None:
        """The path without links of an item in this folder; None if unknown."""
        return None if self.real is None else f"{self.real}/{name}"


class SearchBudget:
    """What the roots of one scan may use together: folders to open, and time."""

    def __init__(self, limits: ScanLimits, clock: Callable[[], float]) -> None:
        self.limits = limits
        self.clock = clock
        self.folders = _as_bound(limits.folders_per_scan)
        self.deadline = _find_deadline(clock(), limits.seconds_per_scan)


class Walk:
    """One root being walked: what bounds it, and what it has found so far."""

    def __init__(
        self,
        root: Root,
        *,
        files: FileSystem,
        budget: SearchBudget,
        links: LinkRules,
        ignored: IgnoredPaths | None,
        thorough: bool = False,
        plugins: frozenset[str] = frozenset(),
    ) -> None:
        limits = budget.limits
        self.root = root
        self.files = files
        self.limits = limits
        self.links = links
        self.ignored = ignored
        self.thorough = thorough
        self.plugins = plugins
        self.skip_pattern = re.compile(root.skip_pattern) if root.skip_pattern else None
        self.candidates: list[Candidate] = []
        self.skipped: list[Candidate] = []
        self.diagnostics: list[Diagnostic] = []
        self.entered: set[str] = set()
        self.stopped_by: str | None = None
        self.stopped_after = ""
        self.is_late = False
        self._budget = budget
        self._prefix = root.prefix
        self._prefixes = _open_prefixes(root, files)
        self._most_folders = min(_as_bound(limits.folders_per_root), budget.folders)
        self._deadline = min(
            _find_deadline(budget.clock(), limits.seconds_per_root), budget.deadline
        )
        self._most_skills = _as_bound(limits.skills_per_root)
        self._probes = 0
        self._kept = 0
        self._listed = 0
        self._next_check = 0

    def note(self, code: str, message: str, path: str) -> None:
        """Keep a diagnostic that belongs to no candidate."""
        self.diagnostics.append(diagnose(code, message, file=path))

    def list_items(self, folder: WalkedFolder) -> list[FolderItem]:
        """The items of a folder; empty if it cannot be listed or a limit is reached."""
        # One comparison for each folder; the clock and the limits are asked now and then.
        if self._listed == self._next_check and self._has_reached_limit():
            return []
        self._listed += 1
        try:
            return self.files.list_folder(folder.path)
        except OSError as error:
            message = f"The folder cannot be listed: {name_cause(error)}."
            self.note("root-unreadable", message, folder.path)
            return []

    def _has_reached_limit(self) -> bool:
        if self.stopped_by is not None:
            return True
        budget, limits = self._budget, self.limits
        if self._listed >= self._most_folders:
            if self._listed >= budget.folders:
                self._stop("folders_per_scan", f"{limits.folders_per_scan:,} folders in all roots")
            else:
                self._stop("folders_per_root", f"{limits.folders_per_root:,} folders")
            return True
        now = budget.clock()
        if now > self._deadline:
            self.is_late = True
            if now > budget.deadline:
                self._stop("seconds_per_scan", f"{limits.seconds_per_scan:g} seconds in all roots")
            else:
                self._stop("seconds_per_root", f"{limits.seconds_per_root:g} seconds")
            return True
        self._next_check = min(self._next_check + _FOLDERS_PER_CHECK, self._most_folders)
        return False

    def _stop(self, limit: str, after: str) -> None:
        self.stopped_by, self.stopped_after = f"limits.{limit}", after
        message = f"The search for skills stopped after {after}; the rest was not searched."
        self.note("limit-reached", message, self.root.path)

    def start_again(self) -> None:
        """Forget what was found, to search the root in another way."""
        # Not how many folders were listed: they still count towards the limits.
        self.candidates.clear()
        self.skipped.clear()
        self.diagnostics.clear()
        self.entered.clear()
        self._kept = 0

    def add(self, folder: WalkedFolder, item: FolderItem, name: str) -> None:
        """Keep a file as a candidate, in whatever state it is."""
        path = folder.path
        location = f"{path}/{item.name}"
        if item.kind == "file" and not item.is_link:
            real = location if folder.real is path else folder.join_real(item.name)
            candidate = Candidate(location, path, name, self.root, real, prefix=self._prefix)
        else:
            candidate = self._make_special(folder, item, name, location)
        if self._prefixes is not None:
            prefix = self._prefixes.find(path)
            candidate = msgspec.structs.replace(candidate, prefix=prefix)
        # It is kept all the same: if one before it cannot be read, it takes that one's place.
        if self._kept >= self._most_skills:
            reason = f"the limit of {self._most_skills} skills in one root was reached"
            candidate = msgspec.structs.replace(candidate, skipped=reason, skipped_by=SKILLS_LIMIT)
        self._kept += 1
        self.candidates.append(candidate)

    def _make_special(
        self, folder: WalkedFolder, item: FolderItem, name: str, location: str
    ) -> Candidate:
        """A candidate whose file is a link, or no file at all."""
        real = self.files.find_real_path(location) if item.is_link else None
        # Codex does not find a SKILL.md that is a link: it is skipped there, not invalid.
        if self.root.links == "real-path":
            reason = "it is a link or no file; this host only reads regular files"
            return Candidate(location, folder.path, name, self.root, real, reason, (), "links")
        problem: tuple[Diagnostic, ...] = ()
        if item.kind != "file":
            message = f"{item.name} is {_SPECIAL_KINDS[item.kind]}; it must be a regular file."
            problem = (diagnose("not-a-file", message, file=location),)
        elif not self.links.allows_file(self.root, folder.real, real):
            problem = (_report_escape(location, real),)
        prefix = self.root.prefix
        return Candidate(location, folder.path, name, self.root, real, None, problem, prefix=prefix)

    def add_ignored(self, folder: WalkedFolder, item: FolderItem, name: str, why: Reason) -> None:
        """Keep a file that git ignores, as skipped; it does not count towards the limit."""
        reason, finding = why
        location = f"{folder.path}/{item.name}"
        self.candidates.append(
            Candidate(location, folder.path, name, self.root, None, reason, (finding,), "gitignore")
        )

    def add_skipped(
        self,
        folder: str,
        name: str,
        rule: str,
        reason: str,
        diagnostics: tuple[Diagnostic, ...] = (),
    ) -> bool:
        """Keep the skill of a folder that the host does not search; whether there is one."""
        if not self._may_probe():
            return False
        location = f"{folder}/{SKILL_FILE}"
        if self.files.find_kind(location) != "file":
            return False
        self.skipped.append(
            Candidate(location, folder, name, self.root, None, reason, diagnostics, rule)
        )
        return True

    def _may_probe(self) -> bool:
        self._probes += 1
        if self._probes == _MOST_PROBES:
            message = (
                f"More than {_MOST_PROBES:,} folders here are skipped; skills in the rest of them"
                " are not listed."
            )
            self.diagnostics.append(
                diagnose("limit-reached", message, file=self.root.path, severity=Severity.INFO)
            )
        return self._probes < _MOST_PROBES

    def finish(self) -> None:
        """Take what was used from the budget of the scan, and report what a limit left unread."""
        self._budget.folders -= self._listed
        most = self.limits.skills_per_root
        if self._kept > most > 0:
            verb = "is" if most == 1 else "are"
            message = f"The folder has {self._kept:,} skills; only the first {most:,} {verb} read."
            self.note("limit-reached", message, self.root.path)


def _open_prefixes(root: Root, files: FileSystem) -> PluginPrefixes | None:
    """What finds the names that manifests give to the skills of a root, where the host asks."""
    if not root.prefix_from:
        return None
    from prowess.discover.plugin_prefixes import PluginPrefixes

    return PluginPrefixes(root.prefix_from, files)


def _as_bound(limit: int) -> int:
    """A limit to compare with; 0 means that there is none."""
    return limit if limit > 0 else _NO_BOUND


def _find_deadline(now: float, seconds: float) -> float:
    """When a time limit is reached; 0 seconds means never."""
    return now + seconds if seconds > 0 else inf


def _report_escape(path: str, real: str | None) -> Diagnostic:
    target = "a path that cannot be resolved" if real is None else real
    message = f"The link leads to {target}, which is outside the folders that may be followed."
    return diagnose("link-escapes", message, file=path)


def open_root(walk: Walk) -> WalkedFolder:
    """The root itself as the first folder of its walk."""
    return open_folder(walk, walk.root.path)


def open_folder(walk: Walk, path: str) -> WalkedFolder:
    """A folder at which a walk starts."""
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    real = walk.files.find_real_path(path)
    if real == path or (real is not None and walk.root.links == "real-folder"):
        # The same text twice says that no link leads here.
        return WalkedFolder(real, real, name, 0)
    return WalkedFolder(path, real, name, 0)


def walk_skills(
    walk: Walk, start: WalkedFolder | None = None, *, min_depth: int, max_depth: int
) -> None:
    """Folders that hold SKILL.md, between two depths. Where the root says that a skill's folder is
    a leaf, it is not searched further.
    """
    waiting = deque([start or open_root(walk)])
    stops_at_skills, by_level = walk.root.leaf, walk.root.by_level
    while waiting:
        folder = waiting.popleft() if by_level else waiting.pop()
        items = walk.list_items(folder)
        if walk.stopped_by is not None:
            # This folder was not listed either.
            rest = waiting if by_level else reversed(waiting)
            _skip_rest(walk, [folder, *rest], min_depth)
            return
        has_skill = False
        if folder.depth < min_depth:
            _skip_shallow(walk, folder, items)
        elif _take_skill(walk, folder, items):
            if stops_at_skills:
                if walk.thorough:
                    _skip_nested(walk, folder, items)
                continue
            has_skill = True
        elif walk.root.flat and folder.depth == 0:
            _take_files(walk, folder, items)
        if folder.real in walk.plugins and folder.depth > 0:
            # The skills below belong to the plugin, whether it is on or off.
            continue
        if folder.depth < max_depth:
            below = _choose_folders(walk, folder, items)
            waiting += below if by_level else reversed(below)
        # What is below a folder that was entered before was reported then.
        elif not (has_skill or folder.again):
            _skip_deep(walk, folder, items)
        elif has_skill and walk.thorough:
            _skip_nested(walk, folder, items)


def _take_skill(walk: Walk, folder: WalkedFolder, items: Sequence[FolderItem]) -> bool:
    """Keep the folder's SKILL.md, if it has one; a file that only looks like one is reported."""
    outer = ignored = folder.ignored or walk.ignored
    for item in items:
        name = item.name
        if name == SKILL_FILE:
            why = ignored.find_file(folder.path, name) if ignored else None
            if why is None:
                walk.add(folder, item, folder.name)
                return True
            walk.add_ignored(folder, item, folder.name, why)
            # To pi a folder whose SKILL.md is ignored is one without it.
            return not walk.root.ignore_files
        if outer and ignored is outer and name in outer.names:
            # Items are sorted, so it comes before SKILL.md.
            ignored = outer.enter(folder.path, items)
    for item in items:
        if item.name.lower() == "skill.md":
            message = f"The file is named {item.name}; only {SKILL_FILE} is read."
            walk.note("wrong-file-name", message, f"{folder.path}/{item.name}")
    return False


def _take_files(walk: Walk, folder: WalkedFolder, items: Sequence[FolderItem]) -> None:
    """Keep the Markdown files directly in a root as skills; the root names them."""
    outer = folder.ignored or walk.ignored
    ignored = outer.enter(folder.path, items) if outer else None
    for item in items:
        if item.kind != "file" or item.name[0] == "." or not item.name.endswith(".md"):
            continue
        if item.name == SKILL_FILE:
            # It is here only if it is ignored, and was kept as such.
            continue
        why = ignored.find_file(folder.path, item.name) if ignored else None
        if why is None:
            walk.add(folder, item, folder.name)
        else:
            walk.add_ignored(folder, item, folder.name, why)


def _choose_folders(
    walk: Walk, folder: WalkedFolder, items: Sequence[FolderItem]
) -> list[WalkedFolder]:
    """The folders to search below one, without those that the host skips."""
    skip_names, hidden = walk.root.skip_names, walk.root.hidden
    pattern = walk.skip_pattern
    never = None if walk.root.git_folder else GIT_FOLDER
    most = _as_bound(walk.limits.items_per_folder)
    count = 0
    outer = folder.ignored or walk.ignored
    ignored = outer.enter(folder.path, items) if outer else None
    chosen: list[WalkedFolder] = []
    # There may be thousands of skills in one folder, so the same things are not asked for each.
    base, depth, has_links = f"{folder.path}/", folder.depth + 1, folder.real is not folder.path
    for item in items:
        if item.kind != "folder":
            continue
        name = item.name
        path = base + name
        is_skipped = name in skip_names or (name[0] == "." and (not hidden or name == never))
        if is_skipped:
            _skip_by_name(walk, path, item)
            continue
        if pattern is not None and pattern.search(name):
            _skip_by_pattern(walk, path, name)
            continue
        count += 1
        if count > most:
            _take_beyond(walk, path, name, most)
        elif ignored and (why := ignored.find_folder(path)):
            reason, finding = why
            _skip_inside(walk, path, name, "gitignore", reason, (finding,))
        elif item.is_link:
            # Behind a link git ignores nothing, but a host's own ignore files do.
            behind = ignored if ignored and ignored.is_own else folder.ignored
            chosen += follow_link(walk, folder, path, name, behind)
        else:
            real = folder.join_real(name) if has_links else path
            chosen.append(WalkedFolder(path, real, name, depth, False, ignored))
    if count > most:
        message = f"The folder has {count} folders in it; only the first {most} are searched."
        walk.note("limit-reached", message, folder.path)
    return chosen


def follow_link(
    walk: Walk,
    folder: WalkedFolder,
    path: str,
    name: str,
    ignored: IgnoredPaths | None = None,
) -> Iterator[WalkedFolder]:
    """The folder behind a link, where the root's rule for links allows it."""
    real = walk.files.find_real_path(path)
    if not walk.links.allows_folder(walk.root, real):
        # Only a skill is missed; other links that lead out are no finding.
        location = f"{path}/{SKILL_FILE}"
        if walk.files.find_kind(location) == "file":
            problem = (_report_escape(path, real),)
            walk.candidates.append(Candidate(location, path, name, walk.root, None, None, problem))
        return
    if real is None or _is_inside(folder.real, real):
        # It leads back to a folder that we are in.
        return
    shown = real if walk.root.links in _SHOW_REAL else path
    target = WalkedFolder(shown, real, name, folder.depth + 1, False, ignored)
    if real in walk.entered:
        # Only what is directly in it can be a skill of its own; the rest was found before.
        target.depth, target.again = walk.root.max_depth, True
    walk.entered.add(real)
    yield target


def _is_inside(path: str | None, folder: str) -> bool:
    return path is not None and f"{path}/".startswith(f"{folder.rstrip('/')}/")


# What the host skips. It is reported all the same, so that nobody has to guess why a skill is
# missing; only one folder deep, because searching everything would cost what skipping saves.


def _skip_rest(walk: Walk, folders: Sequence[WalkedFolder], min_depth: int) -> None:
    """The skills of folders that were still waiting when a limit was reached."""
    reason = f"the search for skills stopped after {walk.stopped_after}"
    # Once the time is up, asking the disk about every folder would take even more of it.
    probed = folders[:_MOST_LATE_PROBES] if walk.is_late else folders
    for folder in probed:
        if folder.depth >= min_depth:
            walk.add_skipped(folder.path, folder.name, walk.stopped_by or "", reason)


def _skip_shallow(walk: Walk, folder: WalkedFolder, items: Sequence[FolderItem]) -> None:
    """SKILL.md where the host expects folders of skills."""
    # Items are sorted, and a root may have thousands.
    at = bisect_left(items, SKILL_FILE, key=attrgetter("name"))
    found = items[at : at + 1]
    if found and found[0].name == SKILL_FILE and found[0].kind == "file":
        reason = "it is in the root itself; this host searches only the folders below it"
        walk.add_skipped(folder.path, folder.name, "min_depth", reason)


def _skip_deep(walk: Walk, folder: WalkedFolder, items: Sequence[FolderItem]) -> None:
    """Skills one folder deeper than the host searches: a folder around folders is a common
    mistake.
    """
    most = folder.depth
    # The last two names of its path tell a root from the others.
    root = "/".join(walk.root.path.split("/")[-2:])
    levels = _MOST_LEVELS if walk.thorough else 1
    for path, below in _list_below(walk, folder.path, items, levels):
        depth = most + below
        reason = f"it is {depth} folders below the root; this host searches {most} deep"
        message = f"The skill is {depth} folders below {root}; this host searches {most} deep."
        finding = diagnose("too-deep", message, file=f"{path}/{SKILL_FILE}")
        name = path.rpartition("/")[2]
        walk.add_skipped(path, name, "max_depth", reason, (finding,))


def _skip_nested(walk: Walk, folder: WalkedFolder, items: Sequence[FolderItem]) -> None:
    """Skills inside the folder of a skill, where the host does not search."""
    reason = f"it is inside another skill, {folder.name}; this host does not search there"
    outer = f"{folder.path}/{SKILL_FILE}"
    message = f"The skill is inside another skill, {folder.name}; this host does not search there."
    for path, _ in _list_below(walk, folder.path, items, _MOST_LEVELS):
        name = path.rpartition("/")[2]
        file = f"{path}/{SKILL_FILE}"
        finding = diagnose("inside-skill", message, file=file, related=(outer,))
        walk.add_skipped(path, name, "leaf", reason, (finding,))


def _list_below(
    walk: Walk, path: str, items: Sequence[FolderItem], levels: int
) -> Iterator[tuple[str, int]]:
    """The plain folders below a folder that was listed, and how many levels below each is."""
    waiting = [(f"{path}/{name}", 1) for name in reversed(_list_plain_folders(items))]
    listed = 0
    while waiting:
        below, level = waiting.pop()
        if below.rpartition("/")[2] in walk.root.skip_names:
            continue
        yield below, level
        listed += 1
        if level >= levels or listed > _MOST_INSIDE:
            continue
        try:
            inner = walk.files.list_folder(below)
        except OSError:
            # Nobody searches this folder anyway, so nobody misses what cannot be listed.
            continue
        waiting += [(f"{below}/{name}", level + 1) for name in reversed(_list_plain_folders(inner))]


def _skip_by_name(walk: Walk, path: str, item: FolderItem) -> None:
    """A folder that is skipped for its name. Links are not followed for this."""
    if item.name == GIT_FOLDER or item.is_link:
        return
    if item.name[0] != "." or item.name in walk.root.skip_names:
        reason = f"this host skips folders named {item.name}"
        _skip_inside(walk, path, item.name, "skip_names", reason)
    else:
        reason = "its folder begins with a dot; this host skips those"
        _skip_inside(walk, path, item.name, "hidden", reason)


def _skip_by_pattern(walk: Walk, path: str, name: str) -> None:
    """A folder that is skipped because its name has a certain form."""
    reason = f"this host skips folders whose names match `{walk.root.skip_pattern}`"
    _skip_inside(walk, path, name, "skip_pattern", reason)


def _skip_inside(
    walk: Walk,
    path: str,
    name: str,
    rule: str,
    reason: str,
    diagnostics: tuple[Diagnostic, ...] = (),
) -> None:
    """The skill of a folder that is skipped, or the skills one folder deeper."""
    if walk.add_skipped(path, name, rule, reason, diagnostics):
        return
    try:
        items = walk.files.list_folder(path)
    except OSError:
        # Nobody searches this folder anyway, so nobody misses what cannot be listed.
        return
    for inner in _list_plain_folders(items)[:_MOST_INSIDE]:
        walk.add_skipped(f"{path}/{inner}", inner, rule, reason, diagnostics)


def _list_plain_folders(items: Sequence[FolderItem]) -> list[str]:
    """The names of folders that are neither links nor hidden."""
    return [
        item.name
        for item in items
        if item.kind == "folder" and not item.is_link and item.name[0] != "."
    ]


def _take_beyond(walk: Walk, path: str, name: str, most: int) -> None:
    """A skill in a folder after the last one that is searched."""
    location = f"{path}/{SKILL_FILE}"
    if walk.files.find_kind(location) == "file":
        reason = f"only the first {most} folders beside it are searched"
        rule = "limits.items_per_folder"
        walk.candidates.append(Candidate(location, path, name, walk.root, None, reason, (), rule))
