"""Where symbolic links may lead, as a table of rules by the word in the profile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from prowess.model.skill import Root
from prowess.ports import FileSystem
from prowess.profiles.places import Places

# The rules that keep links inside something; under one of them a root itself may be no way out.
_BOUNDED = ("known", "inside-root", "inside-plugin", "root-only", "never")


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
        if target is None:
            return False
        # The only rule about files that has to know the root, for the plugin's folder.
        if root.links == "inside-plugin":
            return _is_in_plugin(self, root, target)
        return _FILE_RULES[root.links](self, folder, target)


def learn_links(
    roots: Sequence[Root], places: Places, trusted_links: Iterable[str], files: FileSystem
) -> LinkRules:
    """The rules for one scan: what is known and trusted here, and which roots are refused."""
    repository = find_real_repository(places, files)
    resolved = map(files.find_real_path, trusted_links)
    trusted = tuple(path for path in resolved if path is not None)
    real_roots: dict[str, str | None] = {}
    refused: dict[str, str] = {}
    known: list[str] = [] if repository is None else [repository]
    for root in roots:
        real = real_roots[root.path] = files.find_real_path(root.path)
        if real is None:
            continue
        if root.within is None:
            known.append(real)
            continue
        # A clone may have a link in place of its folder of skills, to anywhere on the machine.
        bounds = find_bounds(root.within, repository, files)
        if is_inside(real, (bounds, *trusted)):
            known.append(real)
        elif root.links in _BOUNDED:
            refused[root.path] = bounds
    return LinkRules(real_roots, tuple(dict.fromkeys(known)), trusted, refused)


def find_real_repository(places: Places, files: FileSystem) -> str | None:
    """The real path of the repository; None where it holds a whole home, because trusting that
    would trust everything.
    """
    if not places.repository:
        return None
    repository = files.find_real_path(places.repository)
    if repository is None:
        return None
    home = files.find_real_path(places.home) or places.home
    holds_home = is_inside(home, (repository,))
    return None if holds_home else repository


def find_bounds(folder: str, repository: str | None, files: FileSystem) -> str:
    """What belongs together with a folder of a project: the repository around it, or the folder
    itself where there is none.
    """
    real = files.find_real_path(folder) or folder
    if repository is not None and is_inside(real, (repository,)):
        return repository
    return real


def is_inside(target: str, folders: Iterable[str | None]) -> bool:
    """Whether a real path is one of these folders or lies in one."""
    # With a slash at the end of both, or `/home/me2` would be inside `/home/me`.
    inside = f"{target}/"
    for folder in folders:
        if folder is not None and inside.startswith(f"{folder.rstrip('/')}/"):
            return True
    return False


def _allow(rules: LinkRules, at: object, target: str) -> bool:
    return True


def _refuse(rules: LinkRules, at: object, target: str) -> bool:
    return False


def _is_known(rules: LinkRules, at: object, target: str) -> bool:
    return is_inside(target, (*rules.known, *rules.trusted))


def _is_in_root(rules: LinkRules, root: Root, target: str) -> bool:
    return is_inside(target, (rules.roots.get(root.path),))


def _is_in_root_or_trusted(rules: LinkRules, root: Root, target: str) -> bool:
    return is_inside(target, (rules.roots.get(root.path), *rules.trusted))


def _is_in_plugin(rules: LinkRules, root: Root, target: str) -> bool:
    return is_inside(target, (root.plugin_folder or rules.roots.get(root.path),))


def _is_in_folder(rules: LinkRules, folder: str | None, target: str) -> bool:
    return is_inside(target, (folder,))


_FOLDER_RULES: dict[str, Callable[[LinkRules, Root, str], bool]] = {
    "follow": _allow,
    "real-folder": _allow,
    "real-path": _allow,
    "inside-root": _is_in_root_or_trusted,
    "inside-plugin": _is_in_plugin,
    "root-only": _is_in_root,
    "known": _is_known,
    "never": _refuse,
}

# For the file itself OpenClaw is strict where it follows any folder: SKILL.md must really be in its
# own folder. Codex does not read one that is a link at all.
_FILE_RULES: dict[str, Callable[[LinkRules, str | None, str], bool]] = {
    "follow": _allow,
    "real-folder": _is_in_folder,
    "real-path": _refuse,
    "inside-root": _is_in_folder,
    "root-only": _is_in_folder,
    "known": _is_known,
    "never": _refuse,
}
