"""How often skills were offered and used on this machine, and which never were."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.errors import MachineError, UsageError, nearest_names
from prowess.model.facts import Facts
from prowess.model.origin import Origin
from prowess.model.outcome import Outcome, State
from prowess.model.settings import Settings
from prowess.model.snapshot import Snapshot
from prowess.model.usage import Usage
from prowess.reports.json_output import shape_diagnostic
from prowess.runtime import Skills
from prowess.state.usage import UsageFile, usage_path
from prowess.text.display import shorten_path

_SWITCH = "PROWESS_NO_USAGE"


class CountingOff(msgspec.Struct, frozen=True):
    """Why uses are not counted: the setting at `origin`, or else the environment variable."""

    origin: Origin | None = None


class UsageReport(msgspec.Struct, frozen=True, kw_only=True):
    """The counts, the most used skill first, and where they are kept."""

    file: str
    off: CountingOff | None
    counts: tuple[Usage, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    def shape(self) -> dict[str, Any]:
        """The counts as JSON."""
        return {
            "file": self.file,
            "counting": self.off is None,
            "skills": [_shape_counts(usage) for usage in self.counts],
            "diagnostics": [shape_diagnostic(finding) for finding in self.diagnostics],
        }


class Cleared(msgspec.Struct, frozen=True):
    """How many counts were deleted; `nearest` are names like one that had no counts."""

    file: str
    forgotten: int
    nearest: tuple[str, ...] = ()

    def shape(self) -> dict[str, Any]:
        """The number as JSON."""
        return {"file": self.file, "forgotten": self.forgotten}


def load_usage(facts: Facts, settings: Settings, *, seen: Snapshot | None = None) -> UsageReport:
    """The counts of this machine, or only those of skills that were `seen` in a scan.

    `settings` are Prowess's own.
    """
    store = UsageFile(usage_path(facts))
    counts = sort_usage(store.load_counts().values())
    if seen is not None:
        keys = {(outcome.name, outcome.candidate.location) for outcome in seen.outcomes}
        counts = [usage for usage in counts if (usage.name, usage.location) in keys]
    return UsageReport(
        file=store.path,
        off=find_counting_off(facts, settings),
        counts=tuple(counts),
        diagnostics=store.diagnostics,
    )


def find_counting_off(facts: Facts, settings: Settings) -> CountingOff | None:
    """Why uses are not counted; None where they are. `settings` are Prowess's own."""
    if facts.env.get(_SWITCH):
        return CountingOff()
    if settings.usage is False:
        return CountingOff(settings.origin("usage"))
    return None


def render_counting_off(off: CountingOff, *, cwd: str, home: str) -> str:
    """Why uses are not counted, as a clause."""
    if off.origin is None:
        return f"{_SWITCH} is set"
    return f"`usage` is false in {shorten_path(str(off.origin), cwd=cwd, home=home)}"


def sort_usage(counts: Iterable[Usage]) -> list[Usage]:
    """The most used first, then the most offered, then by name."""
    return sorted(counts, key=lambda one: (-one.activated, -one.offered, one.name, one.location))


def clear_usage(facts: Facts, name: str | None = None) -> Cleared:
    """Delete the counts of a name, or all of them."""
    store = UsageFile(usage_path(facts))
    known = sorted({usage.name for usage in store.load_counts().values()})
    # A file that cannot be read may be fixed by hand, so it is not cleared.
    forgotten = 0 if store.diagnostics else store.clear(name)
    # Of the reading before, or of the clearing itself.
    _raise_unreadable(store.diagnostics, "clear the counts in", store.path)
    if name is None or forgotten:
        return Cleared(store.path, forgotten)
    return Cleared(store.path, forgotten, nearest_names(name, known))


def find_unused(skills: Skills) -> tuple[Outcome, ...]:
    """The ready skills that were never used; raises where uses are not counted."""
    off = find_counting_off(skills.facts, skills.project.load_own_settings())
    if off is not None:
        reason = render_counting_off(off, cwd=skills.cwd, home=skills.facts.home)
        raise UsageError(f"Usage counting is off ({reason}), so unused skills cannot be listed.")
    store = UsageFile(usage_path(skills.facts))
    counts = store.load_counts(skills.snapshot.skills)
    used = {key for key, usage in counts.items() if usage.activated}
    _raise_unreadable(store.diagnostics, "read the counts in", "")
    ready = [outcome for outcome in skills.snapshot.outcomes if outcome.state is State.READY]
    return tuple(one for one in ready if (one.name, one.candidate.location) not in used)


def _raise_unreadable(diagnostics: Sequence[Diagnostic], doing: str, path: str) -> None:
    if not diagnostics:
        return
    first = diagnostics[0]
    raise MachineError(doing, path or first.file or "", first.message.rstrip("."))


def render_time(seconds: float | None) -> str | None:
    """A time in ISO 8601, in this machine's time zone; None where there is none."""
    if seconds is None:
        return None
    try:
        return datetime.datetime.fromtimestamp(seconds).astimezone().isoformat(" ", "seconds")
    except (OverflowError, ValueError, OSError, TypeError):
        # A clock that was wrong once must not hide the counts.
        return None


def _shape_counts(usage: Usage) -> dict[str, Any]:
    return {
        "name": usage.name,
        "location": usage.location,
        "offered": usage.offered,
        "activated": usage.activated,
        "by_user": usage.by_user,
        "by_model": usage.by_model,
        "last_offered": render_time(usage.last_offered),
        "last_activated": render_time(usage.last_activated),
    }
