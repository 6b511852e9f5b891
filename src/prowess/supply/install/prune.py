"""Remove the trees of the store that nobody needs; what may be needed stays."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import MachineError, UsageError
from prowess.errors.install import InvalidLock
from prowess.machine.files import LocalFiles
from prowess.model.facts import Facts
from prowess.state.install_lock import InstallLock
from prowess.state.known_locks import KnownLock, KnownLocks
from prowess.state.skill_store import SkillStore
from prowess.text.display import count_words


class Pruned(msgspec.Struct, frozen=True, kw_only=True):
    """The digests of the trees that no project needs, and how many lock files were read.

    `size` are the bytes that were freed; `diagnostics` say what stays because of doubt.
    """

    trees: tuple[str, ...] = ()
    projects: int = 0
    size: int = 0
    diagnostics: tuple[Diagnostic, ...] = ()


def prune_store(
    facts: Facts, store: SkillStore, *, forget: Iterable[str] = (), dry_run: bool = False
) -> Pruned:
    """Remove what no known project needs. Raises `MachineError`, `UsageError`.

    The trees of a project whose lock file cannot be read stay, unless its folder is in `forget`.
    """
    known = KnownLocks(store)
    locks = known.load()
    # A list that was lost would make every tree look unused.
    for problem in known.diagnostics:
        raise MachineError("prune", store.folder, _explain_lost(problem, known.path))
    forgotten = {_find_known(folder, locks).path for folder in forget}
    needs = _Needs(facts, store)
    # The store itself last: of its trees only those count that no project is known to need.
    for lock in sorted(locks, key=lambda one: one.path == store.folder):
        needs.add(lock, is_forgotten=lock.path in forgotten)
    unused = store.list_unused(needs.used | needs.doubtful)
    size = 0
    if not dry_run:
        size = sum(store.remove(digest) for digest in unused)
        for path in needs.gone:
            known.remove(path)
    return Pruned(
        trees=tuple(unused),
        projects=needs.read,
        size=size,
        diagnostics=tuple(needs.diagnostics),
    )


class _Needs:
    """What the projects need: `used` for certain, `doubtful` perhaps; `gone` are lock files."""

    def __init__(self, facts: Facts, store: SkillStore) -> None:
        self.used: set[str] = set()
        self.doubtful: set[str] = set()
        self.gone: list[str] = []
        self.read = 0
        self.diagnostics: list[Diagnostic] = []
        self._facts = facts
        self._store = store

    def add(self, lock: KnownLock, *, is_forgotten: bool) -> None:
        """Add what one project needs. Raises `UsageError` for one to forget that is still there."""
        if lock.path == self._store.folder:
            self._add_nameless(lock, is_forgotten=is_forgotten)
            return
        if lock.is_gone():
            self.gone.append(lock.path)
            return
        try:
            # An `InstallLock` that is not there has no skills; here that would be a guess.
            LocalFiles().get_stamp(lock.path)
            needed = InstallLock(lock.path, self._facts).load().trees
        except (OSError, MachineError, InvalidLock) as error:
            if is_forgotten:
                self.gone.append(lock.path)
            else:
                self._keep(lock, error)
            return
        if is_forgotten:
            raise UsageError(f"{lock.path} is still there; remove its skills instead.")
        # Folders may be links to the versions of before, until `prowess sync`.
        self.used.update(needed, lock.trees)
        self.read += 1

    def _add_nameless(self, lock: KnownLock, *, is_forgotten: bool) -> None:
        """Keep the trees that are older than the list; who needs them is not known."""
        if is_forgotten:
            self.gone.append(lock.path)
            return
        # Projects that were synced since have claimed their own.
        unclaimed = set(lock.trees) - self.used - self.doubtful
        kept = [digest for digest in unclaimed if self._store.has(digest)]
        self.doubtful.update(kept)
        if not kept:
            return
        message = (
            f"{_count_copies(kept)} kept because the store had no list of projects when it got"
            f" {'it' if len(kept) == 1 else 'them'}, or lost the list since."
        )
        hint = (
            "Run `prowess sync` in every project with installed skills, then"
            f" `prowess prune --forget {shlex.quote(lock.path)}`."
        )
        self._warn(message, lock.path, hint)

    def _keep(self, lock: KnownLock, error: Exception) -> None:
        kept = [digest for digest in lock.trees if self._store.has(digest)]
        self.doubtful.update(kept)
        if not kept:
            return
        cause = str(error)
        if isinstance(error, OSError):
            cause = str(MachineError.caused_by("read", lock.path, error))
        message = f"{cause} {_count_copies(kept)} kept for it."
        hint = (
            "Fix the file, or mount its disk; if the project is gone for good or was moved, run"
            f" `prowess prune --forget {shlex.quote(lock.folder)}`."
        )
        self._warn(message, lock.path, hint)

    def _warn(self, message: str, path: str, hint: str) -> None:
        self.diagnostics.append(diagnose("store-copies-kept", message, file=path, hint=hint))


def _count_copies(kept: list[str]) -> str:
    verb = "is" if len(kept) == 1 else "are"
    return f"{count_words(len(kept), 'version')} {verb}"


def _find_known(folder: str, locks: list[KnownLock]) -> KnownLock:
    """The entry that somebody names by its folder. Raises `UsageError`."""
    for lock in locks:
        if lock.is_in(folder):
            return lock
    raise UsageError(f"No skills were installed in {folder}, as far as the store knows.")


def _explain_lost(problem: Diagnostic, path: str) -> str:
    return (
        f"{problem.message} Fix the permissions of {path}, or delete the file: everything that is"
        " in the store now then stays until you run `prowess sync` in all projects"
        " and forget the rest"
    )
