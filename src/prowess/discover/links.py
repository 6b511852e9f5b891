"""Where symbolic links may lead, as a table of rules by the word in the profile."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from prowess.model.skill import Root


class LinkRules(msgspec.Struct, frozen=True):
    """The folders that links may lead into.

    `roots` are the real paths of roots by their own path, `known` every folder that may be followed from any
    root (all roots, the repository), `trusted` those that the user named.
    """

    roots: dict[str, str | None]
    known: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()

    def allows_folder(self, root: Root, target: str | None) -> bool:
        """Whether a link to a folder may be followed from this root."""
        return target is not None and _FOLDER_RULES[root.links](self, root, target)

    def allows_file(self, root: Root, folder: str | None, target: str | None) -> bool:
        """Whether SKILL.md itself may be a link to this target."""
        return target is not None and _FILE_RULES[root.links](self, root, folder, target)


def _inside(target: str, folders: tuple[str | None, ...]) -> bool:
    return any(folder is not None and (target == folder or target.startswith(folder + "/")) for folder in folders)


def _inside_root(rules: LinkRules, root: Root, target: str) -> bool:
    return _inside(target, (rules.roots.get(root.path), *rules.trusted))


def _inside_known(rules: LinkRules, root: Root, target: str) -> bool:
    return _inside(target, (*rules.known, *rules.trusted))


_FOLDER_RULES: dict[str, Callable[[LinkRules, Root, str], bool]] = {
    "follow": lambda rules, root, target: True,
    "real-folder": lambda rules, root, target: True,
    "inside-root": _inside_root,
    "root-only": lambda rules, root, target: _inside(target, (rules.roots.get(root.path),)),
    "known": _inside_known,
    "never": lambda rules, root, target: False,
}

_FILE_RULES: dict[str, Callable[[LinkRules, Root, str | None, str], bool]] = {
    "follow": lambda rules, root, folder, target: True,
    "real-folder": lambda rules, root, folder, target: _inside(target, (folder,)),
    "inside-root": lambda rules, root, folder, target: _inside(target, (folder,)),
    "root-only": lambda rules, root, folder, target: _inside(target, (folder,)),
    "known": lambda rules, root, folder, target: _inside_known(rules, root, target),
    "never": lambda rules, root, folder, target: False,
}
