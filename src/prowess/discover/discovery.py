"""The whole stage: every root that a profile plans, walked in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.discover.ignore import IgnoreRules
from prowess.discover.layouts import find_candidates
from prowess.discover.links import LinkRules
from prowess.discover.walk import Walk
from prowess.model.settings import Settings
from prowess.model.skill import Candidate, Root
from prowess.ports import FileSystem, Reporter
from prowess.profiles.places import Places
from prowess.profiles.schema import Limits


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
    limits = msgspec.structs.replace(limits, **settings.limits) if settings.limits else limits
    links = _learn_links(roots, places, settings, files)
    candidates: list[Candidate] = []
    diagnostics: list[Diagnostic] = []
    for root in roots:
        ignore = _learn_ignores(root, places, files) if root.gitignore and links.roots[root.path] else None
        walk = Walk(root, files=files, limits=limits, links=links, ignore=ignore, clock=clock)
        found = find_candidates(walk)
        candidates += found.candidates
        diagnostics += found.diagnostics
        if reporter is not None:
            reporter.progress("looking for skills", len(candidates))
    return Discovered(tuple(candidates), tuple(diagnostics))


def _learn_links(roots: Sequence[Root], places: Places, settings: Settings, files: FileSystem) -> LinkRules:
    real = {root.path: files.find_real_path(root.path) for root in roots}
    repository = files.find_real_path(places.repository) if places.repository else None
    known = tuple(path for path in (*real.values(), repository) if path is not None)
    trusted = tuple(path for path in map(files.find_real_path, settings.trusted_links) if path is not None)
    return LinkRules(real, known, trusted)


def _learn_ignores(root: Root, places: Places, files: FileSystem) -> IgnoreRules:
    """The ignore files between the repository's root and the folder that holds a skills root."""
    above: list[str] = []
    folder = places.paths.dirname(root.path)
    while places.repository is not None and (folder + "/").startswith(places.repository.rstrip("/") + "/"):
        above.append(folder)
        folder = places.paths.dirname(folder)
    above.reverse()
    return IgnoreRules.above(root.path, above, files)
