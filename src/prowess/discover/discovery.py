"""The whole stage: every root that a profile plans, walked in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.discover.ignored_paths import IgnoreFiles, IgnoreRules
from prowess.discover.layouts import find_candidates
from prowess.discover.links import LinkRules, learn_links
from prowess.discover.walk import Walk
from prowess.model.settings import Settings
from prowess.model.skill import Candidate, Root
from prowess.ports import FileSystem, Reporter
from prowess.profiles.places import Places
from prowess.profiles.schema.roots import Limits


class Discovered(msgspec.Struct, frozen=True):
    """The candidates of every root, in scan order, and what was noticed on the way."""

    candidates: tuple[Candidate, ...]
    diagnostics: tuple[Diagnostic, ...]


def discover(
    roots: Sequence[Root],
    *,
    places: Places,
    settings: Settings,
    limits: Limits,
    files: FileSystem,
    clock: Callable[[], float],
    reporter: Reporter | None = None,
) -> Discovered:
    """Walk every root. One that fails costs its neighbours nothing."""
    limits = limits.change(settings.limits)
    links = learn_links(roots, places, settings.trusted_links, files)
    ignores = IgnoreFiles(files)
    candidates: list[Candidate] = []
    diagnostics: list[Diagnostic] = []
    for root in roots:
        if root.path in links.refused:
            diagnostics.append(_refuse(root, links))
            continue
        ignore = (
            _learn_ignores(root, places, ignores)
            if root.gitignore and links.roots[root.path]
            else None
        )
        walk = Walk(root, files=files, limits=limits, links=links, ignore=ignore, clock=clock)
        found = find_candidates(walk)
        candidates += found.candidates
        diagnostics += found.diagnostics
        if reporter is not None:
            reporter.progress("looking for skills", len(candidates))
    return Discovered(tuple(candidates), (*diagnostics, *ignores.diagnostics))


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
