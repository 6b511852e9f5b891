"""Which of the author's ways to install programs are used, and how each is shown before it runs."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from prowess.gate.eligibility import Verdict
from prowess.gate.remedies import Remedy
from prowess.text.display import shorten_path


class Step(msgspec.Struct, frozen=True):
    """One way to install programs that was chosen."""

    remedy: Remedy

    @property
    def text(self) -> str:
        """Exactly what is carried out; this is what people agree to."""
        download = self.remedy.download
        if download is None:
            return shlex.join(self.remedy.command)
        digest = f" sha256 {download.sha256}" if download.sha256 else ""
        part = f" part {download.inside}" if download.inside else ""
        strip = f" strip {download.strip}" if download.strip else ""
        return f"download {download.url}{digest}{part}{strip} to {download.folder}"

    def list_notes(self, home: str) -> list[str]:
        """What else is worth knowing before it runs."""
        download = self.remedy.download
        if download is None:
            return []
        notes = [f"goes to {shorten_path(download.folder, home=home)}"]
        if download.sha256 is None:
            notes.append("the author gives no sha256, so the download cannot be checked")
        return notes

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        remedy = self.remedy
        shape: dict[str, Any] = {"kind": remedy.kind, "label": remedy.label, "command": self.text}
        if remedy.download is None:
            return {**shape, "argv": list(remedy.command), "provides": list(remedy.provides)}
        return {
            **shape,
            "download": msgspec.to_builtins(remedy.download),
            "provides": list(remedy.provides),
        }


def plan_steps(
    remedies: Sequence[Remedy], verdict: Verdict, *, tried: Collection[str] = ()
) -> tuple[Step, ...]:
    """The best way for each program that is missing, in the order of the remedies.

    Those that were `tried`, that are refused or that need a missing installer are left out. One
    that does not say what it provides counts for all that is missing.
    """
    missing, alternatives = set(verdict.bins), set(verdict.any_bins)
    steps: list[Step] = []
    for remedy in remedies:
        step = Step(remedy)
        if not is_usable(remedy) or step.text in tried:
            continue
        # An author who names no programs means the one that is asked for.
        provided = set(remedy.provides) or missing | alternatives
        if provided.isdisjoint(missing | alternatives):
            continue
        steps.append(step)
        missing -= provided
        # One of them is enough.
        if not provided.isdisjoint(alternatives):
            alternatives = set()
    return tuple(steps)


def is_usable(remedy: Remedy) -> bool:
    """Whether a way can be carried out here. A download needs no other program."""
    return remedy.refused is None and (remedy.ready or remedy.download is not None)
