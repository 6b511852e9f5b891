"""The folders of a host as a source of skills: every root, walked in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.discover.ignored_paths import IgnoredPaths, IgnoreFiles
from prowess.discover.layouts import find_candidates
from prowess.discover.links import LinkRules, learn_links
from prowess.discover.walk import SKILLS_LIMIT, SearchBudget, Walk
from prowess.model.outcome import Claim
from prowess.model.skill import Candidate, Root, Scope
from prowess.ports import Discovered, FileSystem, ManifestReader, Search
from prowess.profiles.places import Places
from prowess.profiles.schema.roots import ScanLimits


class FolderSource:
    """The `SkillSource` over folders. A root that fails costs the others nothing.

    All roots of a scan belong to one source, because links may lead from one into another.
    `diagnostics` are what was noticed when the roots were planned. A `thorough` search also looks
    for skills where the host doesn't: inside other skills, and deeper than it goes.
    """

    name = "folders"

    def __init__(
        self,
        roots: Sequence[Root],
        *,
        places: Places,
        limits: ScanLimits,
        clock: Callable[[], float],
        diagnostics: tuple[Diagnostic, ...] = (),
        thorough: bool = False,
        trusted: tuple[str, ...] = (),
    ) -> None:
        self._roots = tuple(roots)
        self._places = places
        self._limits = limits
        self._clock = clock
        self._diagnostics = diagnostics
        self._thorough = thorough
        self._trusted = trusted
        self._failed: dict[str, int] = {}

    def find(self, search: Search) -> Discovered:
        """Walk every root."""
        roots = tuple(self._choose_folder(root, search.files) for root in self._roots)
        trusted = (*search.settings.trusted_links, *self._trusted)
        links = learn_links(roots, self._places, trusted, search.files)
        ignores = IgnoreFiles(search.files)
        budget = SearchBudget(self._limits, self._clock)
        plugins = frozenset(root.plugin_folder for root in roots if root.plugin_folder)
        by_root: dict[int, Discovered] = {}
        count = 0
        for position, root in sorted(enumerate(roots), key=_find_turn):
            found = self._search(root, search, links, ignores, budget, plugins)
            by_root[position] = found
            count += len(found.candidates)
            if search.reporter is not None:
                search.reporter.progress("searching for skills", count)
        # The host's order decides who wins, in whichever order the roots were searched.
        in_order = [by_root[position] for position in range(len(roots))]
        candidates = chain.from_iterable(found.candidates for found in in_order)
        diagnostics = chain.from_iterable(found.diagnostics for found in in_order)
        all_diagnostics = (*self._diagnostics, *diagnostics, *ignores.diagnostics)
        return Discovered(tuple(candidates), all_diagnostics, roots)

    def read(self, candidate: Candidate, reader: ManifestReader) -> Claim:
        """Read the header of a candidate's file.

        A file that cannot be loaded does not count towards the limit of its root, so the first one
        beyond the limit is read in its place.
        """
        if candidate.skipped is None:
            claim = reader.read_file(candidate)
            if claim.skill is None:
                path = candidate.root.path
                self._failed[path] = self._failed.get(path, 0) + 1
            return claim
        path = candidate.root.path
        if candidate.skipped_by != SKILLS_LIMIT or not self._failed.get(path):
            return reader.read_file(candidate)
        self._failed[path] -= 1
        return self.read(msgspec.structs.replace(candidate, skipped=None, skipped_by=None), reader)

    def _choose_folder(self, root: Root, files: FileSystem) -> Root:
        """The root, or the folder to search instead of it where it does not exist."""
        # Codex goes by real paths, also in a root that is a link itself.
        if root.links == "real-path":
            real = files.find_real_path(root.path) or root.path
            return root if real == root.path else msgspec.structs.replace(root, path=real)
        instead = root.instead
        # In Claude Code even an empty folder in the worktree counts as its own.
        if instead is None or files.find_kind(root.path) is not None:
            return root
        source = msgspec.structs.replace(root.source, path=instead)
        within = self._places.main_checkout
        return msgspec.structs.replace(root, path=instead, source=source, within=within)

    def _search(
        self,
        root: Root,
        search: Search,
        links: LinkRules,
        ignores: IgnoreFiles,
        budget: SearchBudget,
        plugins: frozenset[str],
    ) -> Discovered:
        """What is in one root. What is in the folders of `plugins` is theirs, not the root's."""
        if root.path in links.refused:
            return Discovered((), (_refuse(root, links),))
        # Most roots of a host do not exist; for those no ignore file is read.
        exists = links.roots[root.path] is not None
        ignored = self._find_ignored(root, ignores) if exists else None
        walk = Walk(
            root,
            files=search.files,
            budget=budget,
            links=links,
            ignored=ignored,
            thorough=self._thorough,
            plugins=frozenset() if root.plugin else plugins,
        )
        return find_candidates(walk)

    def _find_ignored(self, root: Root, files: IgnoreFiles) -> IgnoredPaths | None:
        """What ignore files exclude in a root: those inside it, or those that git reads.

        Git reads those from the repository's folder down to the root's parent, too.
        """
        if root.ignore_files:
            return IgnoredPaths(files, names=root.ignore_files, in_root=True)
        if not root.gitignore:
            return None
        repository, paths = self._places.repository, self._places.paths
        folders: list[str] = []
        if repository is not None:
            top = repository.rstrip("/") + "/"
            folder = paths.dirname(root.path)
            # A root outside the repository has none of these above it.
            while f"{folder}/".startswith(top):
                folders.append(folder)
                folder = paths.dirname(folder)
        folders.reverse()
        return IgnoredPaths.above(root.path, folders, files)


def _find_turn(numbered: tuple[int, Root]) -> tuple[bool, int]:
    """When a root is searched: those that a project can name come last, in the host's order.

    All roots share one budget. A clone that names "/" must not use up what the user's own skills
    need.
    """
    position, root = numbered
    return (root.scope in (Scope.PROJECT, Scope.ADDED), position)


def _refuse(root: Root, links: LinkRules) -> Diagnostic:
    real, bounds = links.roots[root.path], links.refused[root.path]
    found = "is" if real == root.path else f"leads to {real},"
    message = (
        f"The folder {found} outside {bounds}, to which it belongs; it is not searched for skills."
    )
    hint = (
        "If you trust it, add it to `discovery.trusted_links` in your own prowess.toml, not the"
        " project's."
    )
    return diagnose("link-escapes", message, file=root.path, hint=hint)
