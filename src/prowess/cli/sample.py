"""The sample workspace, scanned on a machine that holds nothing else."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.errors import MachineError
from prowess.machine.facts import current_facts
from prowess.machine.writing import copy_folder, make_folder, scratch_folder
from prowess.model.catalog import Catalog
from prowess.model.facts import Facts
from prowess.model.outcome import Outcome, State
from prowess.model.skill import Root
from prowess.model.snapshot import Snapshot
from prowess.runtime import Skills

# Two hosts that are asked about a name that two files claim.
HOSTS = ("claude-code", "opencode")
DECIDED_BY_RESOLVING = (State.DUPLICATE, State.DISABLED, State.SHADOWED)
DECIDED_BY_GATING = (State.INELIGIBLE, State.DENIED, State.DORMANT, State.HIDDEN)


class HostAnswer(msgspec.Struct, frozen=True):
    """What a host says of a name: its outcome (None where it sees nothing), and how many files it sees in all."""

    host: str
    title: str
    release: str
    outcome: Outcome | None
    files: int


class Tour(msgspec.Struct, frozen=True):
    """What the tour tells: the scan, the roots that are there, what a model would see, and two hosts' answers for one
    contested name ("" where whoever tried things out in the sample left none).

    `workspace` is where the sample lies, `scanned` the copy of it that was read.
    """

    workspace: str
    scanned: str
    snapshot: Snapshot
    existing: tuple[Root, ...]
    catalog: Catalog
    contested: str
    answers: tuple[HostAnswer, ...]
    seconds: float

    def relative(self, text: str) -> str:
        """A path or a sentence with paths in it, as seen from the workspace."""
        return text.replace(f"{self.scanned}/", "")


@contextmanager
def take_tour() -> Iterator[Tour]:
    """Scan a copy of the sample workspace on a machine that holds nothing else."""
    started = time.perf_counter()
    workspace = find_workspace()
    with scratch_folder() as scratch:
        # A copy, and a repository of its own: where the sample lies, skills of the folders above it would mix in.
        scanned = os.path.join(scratch, "workspace")
        copy_folder(workspace, scanned)
        if not os.path.lexists(os.path.join(scanned, ".git")):
            make_folder(os.path.join(scanned, ".git"))
        facts = _find_facts(os.path.join(scratch, "home"))
        skills = _open(scanned, "prowess", facts)
        snapshot = skills.snapshot
        contested = next((one.name for one in snapshot.outcomes if one.state is State.SHADOWED), "")
        answers = tuple(_ask(_open(scanned, host, facts), contested) for host in HOSTS if contested)
        existing = tuple(root for root in snapshot.roots if os.path.isdir(root.path))
        catalog = skills.catalog()
        seconds = time.perf_counter() - started
        yield Tour(workspace, scanned, snapshot, existing, catalog, contested, answers, seconds)


def find_workspace() -> str:
    """The sample workspace: inside an installed package, or beside the source of a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    checkout = os.path.dirname(os.path.dirname(package))
    places = [os.path.join(folder, "examples", "workspace") for folder in (package, checkout)]
    found = next((place for place in places if os.path.isdir(place)), None)
    if found is None:
        raise MachineError("find the sample workspace at", places[0], "it did not come along with this installation")
    return found


def _find_facts(home: str) -> Facts:
    """This machine, with nobody at home and no variable set: only the sample is found."""
    machine = current_facts()
    return Facts(home=home, platform=machine.platform, find_bin=machine.find_bin)


def _open(path: str, host: str, facts: Facts) -> Skills:
    nothing = os.path.join(facts.home, "managed")
    return Skills(path, host=host, facts=facts, places={"managed": nothing}, cache=False)


def _ask(skills: Skills, name: str) -> HostAnswer:
    profile, snapshot = skills.profile, skills.snapshot
    found = snapshot.find(name)
    return HostAnswer(profile.name, profile.title, profile.provenance.release, found, len(snapshot.outcomes))


def list_repairs(outcome: Outcome) -> list[Diagnostic]:
    """What was changed in a header so that it could be read."""
    return [finding for finding in outcome.diagnostics if finding.code.startswith("repaired-")]


def list_decided(snapshot: Snapshot, states: tuple[State, ...]) -> list[Outcome]:
    """The candidates that ended in one of these states, in the order of the states, then of names."""
    return [outcome for state in states for outcome in snapshot.outcomes if outcome.state is state]


def list_inside(snapshot: Snapshot, root: Root) -> list[Outcome]:
    """The candidates that were found in a root."""
    return [outcome for outcome in snapshot.outcomes if outcome.candidate.root.path == root.path]
