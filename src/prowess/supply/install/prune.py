"""Remove the trees of the store that no lock file names."""

from __future__ import annotations

import msgspec

from prowess.errors import MachineError
from prowess.machine.files import LocalFiles
from prowess.model.facts import Facts
from prowess.state.install_lock import InstallLock
from prowess.state.known_locks import KnownLocks
from prowess.state.skill_store import SkillStore


class Pruned(msgspec.Struct, frozen=True, kw_only=True):
    """The digests of the trees that no project needs, and how many projects were asked.

    `size` are the bytes that were freed.
    """

    trees: tuple[str, ...] = ()
    projects: int = 0
    size: int = 0


def prune_store(facts: Facts, store: SkillStore, *, dry_run: bool = False) -> Pruned:
    """Remove what no known project has in its lock file. Raises `InvalidLock`, `MachineError`.

    A lock file that cannot be read stops it: nobody knows what that project needs.
    """
    known = KnownLocks(facts)
    paths = known.load()
    for problem in known.diagnostics:
        raise MachineError("prune", store.folder, problem.message.rstrip("."))
    existing = [path for path in paths if LocalFiles().find_kind(path) is not None]
    used = {skill.tree for path in existing for skill in InstallLock(path, facts).load().skills}
    unused = store.list_unused(used)
    size = 0
    if not dry_run:
        size = sum(store.remove(digest) for digest in unused)
        for path in set(paths) - set(existing):
            known.remove(path)
    return Pruned(trees=tuple(unused), projects=len(existing), size=size)
