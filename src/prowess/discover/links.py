"""Where symbolic links may lead, as a table of rules by the word in the profile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from prowess.model.skill import Root
from prowess.ports import FileSystem
from prowess.profiles.places import Places

# The rules that hold links inside something; a root under one of them may itself be no way out.
_BOUNDED = ("known", "inside-root", "root-only", "never")


class LinkRules(msgspec.Struct, frozen=True):
    """The folders that links may lead into.

    `roots` are the real paths of roots by their own path, `known` every folder that may be followed
    from any root (other roots, the repository), `trusted` those that the user named. `refused` are
    the roots that lead out of the folder they belong to, with that folder; they are not searched,
    and nothing is known because of them.
    """

    roots: dict[str, str | None]
    known: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()
    refused: dict[str, str] = msgspec.field(default_factory=dict)

    def allows_folder(self, root: Root, target: str | None) -> bool:
        """Whether a link to a folder may be followed from this root."""
        return target is not None and _FOLDER_RULES[root.links](self, root, target)

    def allows_file(self, root: Root, folder: str | None, target: str | None) -> bool:
        """Whether SKILL.md itself may be a link to this target."""
        return target is not None and _FILE_RULES[root.links](self, root, folder, target)


def learn_links(
    roots: Sequence[Root], places: Places, trusted_links: Iterable[str], files: FileSystem
) -> LinkRules:
    """The rules for one scan: what is known and trusted here, and which roots are refused."""
    real = {root.path: files.find_real_path(root.path) for root in roots}
    repository = find_real_repository(places, files)
    trusted = tuple(path for path in map(files.find_real_path, trusted_links) if path is not None)
    known: list[str] = [] if repository is None else [repository]
    refused: dict[str, str] = {}
    for root in roots:
        path = real[root.path]
        if path is None:
            continue
        bounds = None if root.within is None else find_bounds(root.within, repository, files)
        if bounds is None or lies_inside(path, (bounds, *trusted)):
            known.append(path)
        elif root.links in _BOUNDED:
            refused[root.path] = bounds
    return LinkRules(real, tuple(dict.fromkeys(known)), trusted, refused)


def find_real_repository(places: Places, files: FileSystem) -> str | None:
    """The real path of the repository; None where it holds a whole home, which is no project to be
    trusted.
    """
    repository = files.find_real_path(places.repository) if places.repository else None
    home = files.find_real_path(places.home) or places.home
    return None if repository is None or lies_inside(home, (repository,)) else repository


def find_bounds(folder: str, repository: str | None, files: FileSystem) -> str:
    """What belongs together with a folder of a project: the repository around it, else the folder
    itself.
    """
    real = files.find_real_path(folder) or folder
    return repository if repository is not None and lies_inside(real, (repository,)) else real


def lies_inside(target: str, folders: Iterable[str | None]) -> bool:
    """Whether a real path is one of these folders or lies in one."""
    return any(
        folder is not None and (target == folder or target.startswith(folder.rstrip("/") + "/"))
        for folder in folders
    )


def _inside_root(rules: LinkRules, root: Root, target: str) -> bool:
    return lies_inside(target, (rules.roots.get(root.path), *rules.trusted))


def _inside_known(rules: LinkRules, root: Root, target: str) -> bool:
    return lies_inside(target, (*rules.known, *rules.trusted))


_FOLDER_RULES: dict[str, Callable[[LinkRules, Root, str], bool]] = {
    "follow": lambda rules, root, target: True,
    "real-folder": lambda rules, root, target: True,
    "inside-root": _inside_root,
    "root-only": lambda rules, root, target: lies_inside(target, (rules.roots.get(root.path),)),
    "known": _inside_known,
    "never": lambda rules, root, target: False,
}

_FILE_RULES: dict[str, Callable[[LinkRules, Root, str | None, str], bool]] = {
    "follow": lambda rules, root, folder, target: True,
    "real-folder": lambda rules, root, folder, target: lies_inside(target, (folder,)),
    "inside-root": lambda rules, root, folder, target: lies_inside(target, (folder,)),
    "root-only": lambda rules, root, folder, target: lies_inside(target, (folder,)),
    "known": lambda rules, root, folder, target: _inside_known(rules, root, target),
    "never": lambda rules, root, folder, target: False,
}
