"""The tour: a sample workspace taken through every stage, on a machine with nothing else on it."""

from __future__ import annotations

import posixpath
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from prowess.diagnostics import CODES, Diagnostic
from prowess.errors import MachineError
from prowess.machine.atomic_write import copy_folder, make_folder, scratch_folder, write_aside
from prowess.machine.facts import current_facts
from prowess.machine.files import LocalFiles
from prowess.model.activation import Activation
from prowess.model.catalog import Catalog
from prowess.model.facts import Facts
from prowess.model.outcome import (
    DECIDED_BY_GATE,
    DECIDED_BY_PARSE,
    DECIDED_BY_RESOLVE,
    Outcome,
    State,
)
from prowess.model.skill import Root
from prowess.model.snapshot import Snapshot
from prowess.present.tokens import estimate_tokens
from prowess.reports.json_output import shape_diagnostic, shape_outcome
from prowess.runtime import Skills
from prowess.state.profile_cache import load_added_profiles

# The hosts that are asked about a name that two files claim.
_ASKED_HOSTS = ("claude-code", "opencode")
_ARGUMENTS = "42 tide-times"


class HostAnswer(msgspec.Struct, frozen=True):
    """What a host finds for a name (None if nothing), and how many files it finds in all."""

    host: str
    title: str
    release: str
    outcome: Outcome | None
    files: int


class TourActivation(msgspec.Struct, frozen=True):
    """A skill that was activated, and its arguments."""

    arguments: str
    activation: Activation


class Tour(msgspec.Struct, frozen=True, kw_only=True):
    """What happened to the sample at every stage.

    `workspace` is the sample, `scanned` the copy of it that was read, `title` the host whose rules
    were followed. `existing` are the roots that exist. `activated` is None where no skill is ready,
    and `contested` is "" where no two files claim one name; both happen in a changed sample.
    """

    workspace: str
    scanned: str
    title: str
    snapshot: Snapshot
    existing: tuple[Root, ...]
    catalog: Catalog
    activated: TourActivation | None
    contested: str
    answers: tuple[HostAnswer, ...]
    seconds: float

    def relative(self, text: str) -> str:
        """A path, or a text with paths in it, relative to the workspace."""
        return text.replace(f"{self.scanned}/", "")

    def estimate(self, text: str) -> int:
        """The tokens of a text as it is shown; the copy's own path differs every time."""
        return estimate_tokens(self.relative(text))

    def shape(self) -> dict[str, Any]:
        """The tour as JSON; paths are relative to the workspace."""
        snapshot = self.snapshot
        stages = {
            "discover": _shape_discover(self),
            "parse": _shape_parse(snapshot),
            "resolve": _shape_decided(snapshot, DECIDED_BY_RESOLVE),
            "gate": _shape_decided(snapshot, DECIDED_BY_GATE),
            "present": _shape_present(self),
            "activate": _shape_activated(self),
            "states": {
                state.value: [one.name for one in list_decided(snapshot, (state,))]
                for state in snapshot.counts()
            },
            "hosts": {
                "name": self.contested,
                "answers": [_shape_answer(answer) for answer in self.answers],
            },
        }
        return {
            "host": snapshot.host,
            "edition": snapshot.edition,
            "workspace": self.workspace,
            "seconds": round(self.seconds, 3),
            **_make_relative(stages, self),
        }


@contextmanager
def take_tour(host: str = "prowess") -> Iterator[Tour]:
    """Scan a copy of the sample as a host. The copy exists as long as the tour is open."""
    started = time.perf_counter()
    workspace = find_workspace()
    with scratch_folder() as scratch:
        scanned = _copy_workspace(workspace, scratch)
        facts = _make_facts(posixpath.join(scratch, "home"))
        skills = _open(scanned, _bring_profile(host, facts), facts)
        snapshot = skills.snapshot
        # A host that finds one file for every name is no reason to leave this part out.
        contested = _find_contested(snapshot) or _find_contested(
            _open(scanned, "prowess", facts).snapshot
        )
        asked = _ASKED_HOSTS if contested else ()
        disk = LocalFiles()
        yield Tour(
            workspace=workspace,
            scanned=scanned,
            title=skills.profile.title or skills.profile.name,
            snapshot=snapshot,
            existing=tuple(one for one in snapshot.roots if disk.find_kind(one.path) == "folder"),
            catalog=skills.catalog(),
            activated=_activate_one(skills),
            contested=contested,
            answers=tuple(_ask(_open(scanned, one, facts), contested) for one in asked),
            seconds=time.perf_counter() - started,
        )


def find_workspace() -> str:
    """The sample: inside an installed package, or beside the source of a checkout."""
    package = posixpath.dirname(posixpath.dirname(__file__))
    checkout = posixpath.dirname(posixpath.dirname(package))
    places = [posixpath.join(folder, "examples", "workspace") for folder in (package, checkout)]
    disk = LocalFiles()
    for place in places:
        if disk.find_kind(place) == "folder":
            return place
    raise MachineError(
        "find the sample workspace at", places[0], "it is missing from this installation"
    )


def _copy_workspace(workspace: str, scratch: str) -> str:
    """A copy that is a repository of its own: skills of the folders above it would mix in."""
    copy = posixpath.join(scratch, "workspace")
    copy_folder(workspace, copy)
    git = posixpath.join(copy, ".git")
    disk = LocalFiles()
    if disk.find_kind(git) is None and disk.find_link(git) is None:
        make_folder(git)
    return copy


def _make_facts(home: str) -> Facts:
    """This machine with an empty home and no variables, so that only the sample is found."""
    machine = current_facts()
    return Facts(home=home, platform=machine.platform, find_bin=machine.find_bin)


def _bring_profile(host: str, facts: Facts) -> str:
    """The name of a host in the empty home; a profile of the user's own is copied there."""
    named, added = load_added_profiles(current_facts(), host)
    if named.partition("@")[0] not in added:
        return host
    folder = posixpath.join(facts.home, ".config", "prowess", "profiles")
    make_folder(folder)
    # All of them: a profile may extend another one of the user.
    for name, text in added.items():
        write_aside(posixpath.join(folder, f"{name}.toml"), text.encode())
    return named


def _open(path: str, host: str, facts: Facts) -> Skills:
    # The folder of the machine's administrator is not below the home, so it is moved there.
    places = {"managed": posixpath.join(facts.home, "managed")}
    return Skills(path, host=host, facts=facts, places=places, cache=False)


def _find_contested(snapshot: Snapshot) -> str:
    """A name that two files claim."""
    shadowed = (one.name for one in snapshot.outcomes if one.state is State.SHADOWED)
    return next(shadowed, "")


def _activate_one(skills: Skills) -> TourActivation | None:
    """A ready skill as the model receives it: the first with arguments, or else the first."""
    ready = skills.snapshot.skills
    if not ready:
        return None
    taking = next((skill for skill in ready if skill.manifest.arguments), None)
    chosen, arguments = (ready[0], "") if taking is None else (taking, _ARGUMENTS)
    # The tour must not look like a use in the user's own counts.
    conversation = skills.conversation(count=False)
    return TourActivation(arguments, conversation.activate(chosen.name, arguments))


def _ask(skills: Skills, name: str) -> HostAnswer:
    profile, snapshot = skills.profile, skills.snapshot
    return HostAnswer(
        host=profile.name,
        title=profile.title,
        release=profile.provenance.release,
        outcome=snapshot.find(name),
        files=len(snapshot.outcomes),
    )


def list_repairs(outcome: Outcome) -> list[Diagnostic]:
    """What was repaired in a header so that it could be read."""
    return [finding for finding in outcome.diagnostics if CODES[finding.code].tolerated]


def list_decided(snapshot: Snapshot, states: tuple[State, ...]) -> list[Outcome]:
    """The candidates that ended in one of these states, by state, then by name."""
    return [outcome for state in states for outcome in snapshot.outcomes if outcome.state is state]


def list_inside(snapshot: Snapshot, root: Root) -> list[Outcome]:
    """The candidates that were found in a root."""
    return [outcome for outcome in snapshot.outcomes if outcome.candidate.root.path == root.path]


def _shape_discover(tour: Tour) -> dict[str, Any]:
    snapshot = tour.snapshot
    roots = [
        {
            "path": root.path,
            "label": root.source.label,
            "files": len(list_inside(snapshot, root)),
        }
        for root in tour.existing
    ]
    return {"searched": len(snapshot.roots), "roots": roots, "files": len(snapshot.outcomes)}


def _shape_parse(snapshot: Snapshot) -> dict[str, Any]:
    repaired = {
        outcome.name: [shape_diagnostic(finding) for finding in repairs]
        for outcome in snapshot.outcomes
        if (repairs := list_repairs(outcome))
    }
    return {
        "read": sum(outcome.skill is not None for outcome in snapshot.outcomes),
        "repaired": repaired,
        "invalid": _shape_decided(snapshot, DECIDED_BY_PARSE),
    }


def _shape_decided(snapshot: Snapshot, states: tuple[State, ...]) -> list[dict[str, Any]]:
    return [shape_outcome(one) for one in list_decided(snapshot, states)]


def _shape_present(tour: Tour) -> dict[str, Any]:
    catalog = tour.catalog
    return {
        "text": catalog.prompt,
        "characters": catalog.characters,
        "budget": catalog.budget,
        "estimated_tokens": tour.estimate(catalog.prompt),
        "shown": {line.name: line.shown.value for line in catalog.lines},
    }


def _shape_activated(tour: Tour) -> dict[str, Any] | None:
    if tour.activated is None:
        return None
    activation = tour.activated.activation
    return {
        "name": activation.name,
        "arguments": tour.activated.arguments,
        "text": activation.text,
        "estimated_tokens": tour.estimate(activation.text),
    }


def _shape_answer(answer: HostAnswer) -> dict[str, Any]:
    skill = None if answer.outcome is None else shape_outcome(answer.outcome)
    return {"host": answer.host, "release": answer.release, "files": answer.files, "skill": skill}


def _make_relative(value: Any, tour: Tour) -> Any:
    if isinstance(value, str):
        return tour.relative(value)
    if isinstance(value, dict):
        return {key: _make_relative(one, tour) for key, one in value.items()}
    if isinstance(value, list):
        return [_make_relative(one, tour) for one in value]
    return value
