"""The sample workspace, scanned on a machine that holds nothing else."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.errors import MachineError
from prowess.machine.atomic_write import copy_folder, make_folder, scratch_folder, write_aside
from prowess.machine.facts import current_facts
from prowess.model.activation import Activation
from prowess.model.catalog import Catalog
from prowess.model.facts import Facts
from prowess.model.outcome import Outcome, State
from prowess.model.skill import Root
from prowess.model.snapshot import Snapshot
from prowess.runtime import Skills
from prowess.state.profile_cache import load_added_profiles

# Two hosts that are asked about a name that two files claim.
HOSTS = ("claude-code", "opencode")
_ARGUMENTS = "42 tide-times"
DECIDED_BY_RESOLVING = (State.DUPLICATE, State.DISABLED, State.SHADOWED)
DECIDED_BY_GATING = (State.INELIGIBLE, State.DENIED, State.DORMANT, State.HIDDEN)


class HostAnswer(msgspec.Struct, frozen=True):
    """What a host says of a name: its outcome (None where it sees nothing), and how many files it
    sees in all.
    """

    host: str
    title: str
    release: str
    outcome: Outcome | None
    files: int


class Loaded(msgspec.Struct, frozen=True):
    """A skill that was loaded, and what was given with it."""

    arguments: str
    activation: Activation


class Tour(msgspec.Struct, frozen=True):
    """What the tour tells: the scan, the roots that are there, what a model would see, what it
    receives of one skill (None where no skill is ready), and two hosts' answers for one contested
    name ("" where whoever tried things out in the sample left none).

    `workspace` is where the sample lies, `scanned` the copy of it that was read, `title` the name
    of the host whose rules were followed.
    """

    workspace: str
    scanned: str
    title: str
    snapshot: Snapshot
    existing: tuple[Root, ...]
    catalog: Catalog
    loaded: Loaded | None
    contested: str
    answers: tuple[HostAnswer, ...]
    seconds: float

    def relative(self, text: str) -> str:
        """A path or a sentence with paths in it, as seen from the workspace."""
        return text.replace(f"{self.scanned}/", "")


@contextmanager
def take_tour(host: str = "prowess") -> Iterator[Tour]:
    """Scan a copy of the sample workspace, by the rules of a host, on a machine that holds nothing
    else.
    """
    started = time.perf_counter()
    workspace = find_workspace()
    with scratch_folder() as scratch:
        # A copy, and a repository of its own: where the sample lies, skills of the folders above it
        # would mix in.
        scanned = os.path.join(scratch, "workspace")
        copy_folder(workspace, scanned)
        if not os.path.lexists(os.path.join(scanned, ".git")):
            make_folder(os.path.join(scanned, ".git"))
        facts = _find_facts(os.path.join(scratch, "home"))
        skills = _open(scanned, _bring_along(host, facts), facts)
        snapshot = skills.snapshot
        contested = _find_contested(snapshot) or _find_contested(
            _open(scanned, "prowess", facts).snapshot
        )
        answers = tuple(_ask(_open(scanned, host, facts), contested) for host in HOSTS if contested)
        existing = tuple(root for root in snapshot.roots if os.path.isdir(root.path))
        catalog = skills.catalog()
        loaded = _load_one(skills)
        seconds = time.perf_counter() - started
        title = skills.profile.title or skills.profile.name
        yield Tour(
            workspace,
            scanned,
            title,
            snapshot,
            existing,
            catalog,
            loaded,
            contested,
            answers,
            seconds,
        )


def find_workspace() -> str:
    """The sample workspace: inside an installed package, or beside the source of a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    checkout = os.path.dirname(os.path.dirname(package))
    places = [os.path.join(folder, "examples", "workspace") for folder in (package, checkout)]
    found = next((place for place in places if os.path.isdir(place)), None)
    if found is None:
        raise MachineError(
            "find the sample workspace at",
            places[0],
            "it did not come along with this installation",
        )
    return found


def _find_facts(home: str) -> Facts:
    """This machine, with nobody at home and no variable set: only the sample is found."""
    machine = current_facts()
    return Facts(home=home, platform=machine.platform, find_bin=machine.find_bin)


def _bring_along(host: str, facts: Facts) -> str:
    """The host as it is known where nobody is at home: a user's own profile is taken along."""
    named, added = load_added_profiles(current_facts(), host)
    name, at, edition = named.partition("@")
    if name not in added:
        return host
    folder = os.path.join(facts.home, ".config", "prowess", "profiles")
    make_folder(folder)
    for one, text in added.items():
        write_aside(os.path.join(folder, f"{one}.toml"), text.encode())
    return f"{name}{at}{edition}"


def _find_contested(snapshot: Snapshot) -> str:
    return next((one.name for one in snapshot.outcomes if one.state is State.SHADOWED), "")


def _load_one(skills: Skills) -> Loaded | None:
    """One of the skills that are ready, as the model receives it: the first that takes arguments,
    if any does.
    """
    ready = skills.snapshot.skills
    taking = next((skill for skill in ready if skill.manifest.arguments), None)
    skill = taking or next(iter(ready), None)
    if skill is None:
        return None
    arguments = _ARGUMENTS if taking is not None else ""
    return Loaded(arguments, skills.conversation(count=False).activate(skill.name, arguments))


def _open(path: str, host: str, facts: Facts) -> Skills:
    nothing = os.path.join(facts.home, "managed")
    return Skills(path, host=host, facts=facts, places={"managed": nothing}, cache=False)


def _ask(skills: Skills, name: str) -> HostAnswer:
    profile, snapshot = skills.profile, skills.snapshot
    found = snapshot.find(name)
    return HostAnswer(
        profile.name, profile.title, profile.provenance.release, found, len(snapshot.outcomes)
    )


def list_repairs(outcome: Outcome) -> list[Diagnostic]:
    """What was changed in a header so that it could be read."""
    return [finding for finding in outcome.diagnostics if finding.code.startswith("repaired-")]


def list_decided(snapshot: Snapshot, states: tuple[State, ...]) -> list[Outcome]:
    """The candidates that ended in one of these states, in the order of the states, then of names."""
    return [outcome for state in states for outcome in snapshot.outcomes if outcome.state is state]


def list_inside(snapshot: Snapshot, root: Root) -> list[Outcome]:
    """The candidates that were found in a root."""
    return [outcome for outcome in snapshot.outcomes if outcome.candidate.root.path == root.path]
