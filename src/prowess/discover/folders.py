"""The folders of a host as a source of skills: every root, walked in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prowess.diagnostics import Diagnostic, diagnose
from prowess.discover.ignored_paths import IgnoredPaths, IgnoreFiles
from prowess.discover.layouts import find_candidates
from prowess.discover.links import LinkRules, learn_links
from prowess.discover.walk import Walk
from prowess.model.outcome import Claim
from prowess.model.skill import Candidate, Root
from prowess.ports import Discovered, ManifestReader, Search
from prowess.profiles.places import Places
from prowess.profiles.schema.roots import Limits


class FolderSource:
    """The `SkillSource` over folders. A root that fails costs the others nothing.

    All roots of a scan belong to one source, because links may lead from one into another.
    `diagnostics` are what was noticed when the roots were planned.
    """

    name = "folders"

    def __init__(
        self,
        roots: Sequence[Root],
        *,
        places: Places,
        limits: Limits,
        clock: Callable[[], float],
        diagnostics: tuple[Diagnostic, ...] = (),
    ) -> None:
        self._roots = tuple(roots)
        self._places = places
        self._limits = limits
        self._clock = clock
        self._diagnostics = diagnostics

    def find(self, search: Search) -> Discovered:
        """Walk every root."""
        links = learn_links(self._roots, self._places, search.settings.trusted_links, search.files)
        ignores = IgnoreFiles(search.files)
        candidates: list[Candidate] = []
        diagnostics: list[Diagnostic] = list(self._diagnostics)
        for root in self._roots:
            if root.path in links.refused:
                diagnostics.append(_refuse(root, links))
                continue
            exists = links.roots[root.path] is not None
            walk = Walk(
                root,
                files=search.files,
                limits=self._limits,
                links=links,
                ignored=self._find_ignored(root, ignores) if root.gitignore and exists else None,
                clock=self._clock,
            )
            found = find_candidates(walk)
            candidates += found.candidates
            diagnostics += found.diagnostics
            if search.reporter is not None:
                search.reporter.progress("searching for skills", len(candidates))
        diagnostics += ignores.diagnostics
        return Discovered(tuple(candidates), tuple(diagnostics), self._roots)

    def read(self, candidate: Candidate, reader: ManifestReader) -> Claim:
        """Read the header of a candidate's file."""
        return reader.read_file(candidate)

    def _find_ignored(self, root: Root, files: IgnoreFiles) -> IgnoredPaths:
        """What the ignore files from the repository's folder down to the root's parent ignore."""
        repository, paths = self._places.repository, self._places.paths
        folders: list[str] = []
        if repository is not None:
            top = repository.rstrip("/") + "/"
            folder = paths.dirname(root.path)
            while f"{folder}/".startswith(top):
                folders.append(folder)
                folder = paths.dirname(folder)
        folders.reverse()
        return IgnoredPaths.above(root.path, folders, files)


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
