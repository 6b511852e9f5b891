"""The folders of a host as a source of skills: every root, walked in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prowess.diagnostics import Diagnostic, diagnose
from prowess.discover.ignored_paths import IgnoreFiles, IgnoreRules
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
            obeys_git = root.gitignore and links.roots[root.path]
            walk = Walk(
                root,
                files=search.files,
                limits=self._limits,
                links=links,
                ignore=_learn_ignores(root, self._places, ignores) if obeys_git else None,
                clock=self._clock,
            )
            found = find_candidates(walk)
            candidates += found.candidates
            diagnostics += found.diagnostics
            if search.reporter is not None:
                search.reporter.progress("looking for skills", len(candidates))
        diagnostics += ignores.diagnostics
        return Discovered(tuple(candidates), tuple(diagnostics), self._roots)

    def read(self, candidate: Candidate, reader: ManifestReader) -> Claim:
        """Read the header of a candidate's file."""
        return reader.read_file(candidate)


def _refuse(root: Root, links: LinkRules) -> Diagnostic:
    real, bounds = links.roots[root.path], links.refused[root.path]
    found = "lies" if real == root.path else f"leads to {real},"
    message = (
        f"The folder {found} outside {bounds}, to which it belongs; skills are not looked for"
        " there."
    )
    hint = (
        "If you trust it, name it under `discovery.trusted_links` in your own prowess.toml, not the"
        " project's."
    )
    return diagnose("link-escapes", message, file=root.path, hint=hint)


def _learn_ignores(root: Root, places: Places, files: IgnoreFiles) -> IgnoreRules:
    """The ignore files between the repository's root and the folder that holds a skills root."""
    above: list[str] = []
    folder = places.paths.dirname(root.path)
    while places.repository is not None and (folder + "/").startswith(
        places.repository.rstrip("/") + "/"
    ):
        above.append(folder)
        folder = places.paths.dirname(folder)
    above.reverse()
    return IgnoreRules.above(root.path, above, files)
