"""The journey of one candidate through the stages, in sentences."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

import msgspec

from prowess.model.catalog import CatalogLine, Shown
from prowess.model.outcome import Note, Outcome, State
from prowess.model.permission import Action, Decision
from prowess.model.skill import Root, Skill
from prowess.model.snapshot import Snapshot
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.resolution import ResolutionRules
from prowess.text.display import count_words

_RESOLVED = (State.DUPLICATE, State.DISABLED, State.SHADOWED)
_GATED = (State.INELIGIBLE, State.DENIED, State.DORMANT, State.HIDDEN)


class Step(msgspec.Struct, frozen=True):
    """What a stage did with a candidate."""

    stage: str
    says: tuple[str, ...]


def find_claims(snapshot: Snapshot, name: str) -> list[Outcome]:
    """Every file that has to do with a name: those that claim it first, then those whose folder has
    it.
    """
    by_name = list(snapshot.claims(name))
    folded = [
        one
        for one in snapshot.outcomes
        if one not in by_name and os.path.basename(one.candidate.folder) == name
    ]
    holder = snapshot.find(name)
    by_name.sort(
        key=lambda one: (one is not holder, one.candidate.root.order, one.candidate.location)
    )
    return by_name + [one for one in folded if one.candidate.root.layout != "commands"]


class Offer(msgspec.Struct, frozen=True):
    """What the rules and the catalog say of skills: a decision for each, and what is shown of each
    that is ready.

    `shown` goes by location; `problem` is the sentence that says why there is no catalog, where
    there is none.
    """

    decide: Callable[[Skill], Decision]
    shown: Mapping[str, CatalogLine]
    problem: str | None = None


def tell_journey(
    outcome: Outcome, claims: Sequence[Outcome], snapshot: Snapshot, profile: Profile, offer: Offer
) -> list[Step]:
    """Stage by stage, up to the state in which the candidate ended."""
    steps = [
        Step("discover", _tell_discovery(outcome, snapshot, profile)),
        Step("parse", _tell_parsing(outcome, profile)),
    ]
    if outcome.skill is not None:
        steps.append(Step("resolve", _tell_resolution(outcome, claims, profile.resolution)))
        steps.append(Step("gate", _tell_gate(outcome, offer.decide(outcome.skill))))
    if outcome.state is State.READY:
        steps.append(Step("present", _tell_presenting(outcome, offer)))
    return steps


def _notes(outcome: Outcome) -> list[Note]:
    """Everything that keeps a candidate from being ready, what decided first."""
    if outcome.reason is None:
        return list(outcome.notes)
    return [
        Note(outcome.state, outcome.reason, outcome.by, outcome.rule, outcome.origin),
        *outcome.notes,
    ]


def _tell_discovery(outcome: Outcome, snapshot: Snapshot, profile: Profile) -> tuple[str, ...]:
    root = outcome.candidate.root
    place = f"root {root.order + 1} of {len(snapshot.roots)}"
    says = [f"found in {root.path}, {place} ({root.scope.value}, {root.source.label})"]
    rule = profile.roots.get(root.id)
    if rule is not None:
        says.append(
            f"the root is searched because {_tell_reason(root, rule.at, snapshot, profile)}"
        )
    if root.disabled_by is not None:
        joined = ", since" if " " in root.disabled_by else " by"
        says.append(f"the root is switched off{joined} {root.disabled_by}")
    if outcome.candidate.skipped is not None:
        says.append(f"skipped: {outcome.candidate.skipped}")
    return tuple(says)


def _tell_reason(root: Root, templates: Sequence[str], snapshot: Snapshot, profile: Profile) -> str:
    for placeholder, setting in (("{custom}", "custom_folders"), ("{plugin}", "plugin_folders")):
        if any(placeholder in template for template in templates):
            from prowess.settings.read.key_names import find_written

            key = find_written(setting, [profile.settings[id] for id in profile.settings_order]).key
            return f"`{key}` names it ({snapshot.settings.entry_origin(setting, root.path)})"
    if any("{added}" in template for template in templates):
        return "--add-dir names it"
    if root.distance:
        return f"it hangs {count_words(root.distance, 'folder')} above the working folder"
    if any("{ancestor}" in template or "{cwd}" in template for template in templates):
        return "it hangs in the working folder"
    return f"{snapshot.host} keeps {root.scope.value} skills there"


def _tell_parsing(outcome: Outcome, profile: Profile) -> tuple[str, ...]:
    if outcome.skill is None:
        says = [f"{outcome.state.value}: {soften(outcome.reason or '')}"]
    else:
        says = [_tell_name(outcome, profile)]
    for one in outcome.diagnostics:
        # Collisions are told where they are decided.
        if one.code == "name-collision":
            continue
        place = f" on line {one.line}" if one.line is not None else ""
        if one.message.rstrip(".") == outcome.reason:
            says.append(f"{one.severity.value}{place} ({one.code}): {one.hint}")
        else:
            says.append(f"{one.severity.value}{place} ({one.code}): {one.message}")
    return tuple(says)


def _tell_name(outcome: Outcome, profile: Profile) -> str:
    declared = outcome.skill.frontmatter.get("name") if outcome.skill else None
    folder = outcome.candidate.default_name
    if declared is None:
        return f"read; the header has no name, so the one of its place holds: {outcome.name}"
    if profile.fields.name_from == "folder" and declared != folder:
        return f"read; its header says {declared}, but this host goes by the folder: {outcome.name}"
    return f"read; its name is {outcome.name}"


def _tell_resolution(
    outcome: Outcome, claims: Sequence[Outcome], rules: ResolutionRules
) -> tuple[str, ...]:
    notes = [note for note in _notes(outcome) if note.state in _RESOLVED]
    rivals = [
        one
        for one in claims
        if one.name == outcome.name and one.skill is not None and one is not outcome
    ]
    says = []
    for note in notes:
        says.append(f"{note.state.value}: {tell_reason(note)}")
        winner = next((one for one in rivals if one.candidate.location == note.by), None)
        if note.state is State.SHADOWED and winner is not None:
            says.append(_tell_why(winner.candidate.root, outcome.candidate.root, rules))
    if notes:
        return tuple(says)
    beaten = sum(_was_beaten_by(one, outcome) for one in rivals)
    if beaten:
        return (
            f"won over {count_words(beaten, 'other file')} of this name",
            _RULES[rules.strategy](rules),
        )
    return (
        "no other file competes for this name" if not rivals else _RULES[rules.strategy](rules),
    )


def _was_beaten_by(one: Outcome, winner: Outcome) -> bool:
    location = winner.candidate.location
    return any(note.by == location for note in _notes(one))


_RULES: dict[str, Callable[[ResolutionRules], str]] = {
    "first": lambda rules: "rule: the first in scan order wins",
    "last": lambda rules: "rule: the last in scan order wins",
    "priority": lambda rules: (
        "rule: the source of the highest priority wins, then the first in scan order"
    ),
    "scope": lambda rules: (
        f"rule: the strongest scope wins ({_list(rules.scopes)}), then the first in scan order"
    ),
    "assembly": lambda rules: (
        f"rule: the first group wins ({_list(rules.groups)}), then the first in scan order"
    ),
    "all": lambda rules: "rule: every file keeps its name",
}


def _list(words: Sequence[str]) -> str:
    return ", ".join(getattr(word, "value", word) for word in words)


def _tell_why(winner: Root, loser: Root, rules: ResolutionRules) -> str:
    """What made one root stronger than another."""
    if rules.strategy == "priority" and winner.priority != loser.priority:
        return f"because its source has priority {winner.priority}, this one {loser.priority}"
    if rules.strategy == "scope" and winner.scope is not loser.scope:
        return f"because {winner.scope.value} is stronger than {loser.scope.value}"
    if rules.strategy == "assembly" and winner.group != loser.group:
        return f"because {winner.group} comes before {loser.group}"
    when = "after" if rules.strategy == "last" else "before"
    if winner.order == loser.order:
        return f"because it comes {when} this one in the same root"
    wins = ", and the last wins" if rules.strategy == "last" else ""
    return f"because root {winner.order + 1} is searched {when} root {loser.order + 1}{wins}"


def _tell_gate(outcome: Outcome, decision: Decision) -> tuple[str, ...]:
    notes = [note for note in _notes(outcome) if note.state in _GATED]
    says = [f"{note.state.value}: {tell_reason(note)}" for note in notes] or [
        "nothing keeps it from being offered"
    ]
    # That a host's own rules allow everything is worth no line.
    spoken = decision.action is not Action.ALLOW or (
        decision.rule is not None and decision.rule.origin.file
    )
    if spoken and State.DENIED not in (note.state for note in notes):
        says.append(f"permission: {decision.action.value}, since {decision.reason}")
    return tuple(says)


_SHOWN: dict[Shown, str] = {
    Shown.WHOLE: "the model is shown its name and all that describes it",
    Shown.SHORTENED: "the model is shown its name and a part of what describes it",
    Shown.NAME_ONLY: "the model is shown its name only",
    Shown.LEFT_OUT: "the model is not shown it",
    Shown.INJECTED: "its whole text stands in every request",
}


def _tell_presenting(outcome: Outcome, offer: Offer) -> tuple[str, ...]:
    line = offer.shown.get(outcome.candidate.location)
    if line is None:
        return (
            f"there is no catalog: {offer.problem}"
            if offer.problem
            else "the model is not shown it",
        )
    return (f"{_SHOWN[line.shown]}: {line.why}" if line.why else _SHOWN[line.shown],)


_ANSWERS: dict[State, str] = {
    State.READY: "“{name}” is ready",
    State.HIDDEN: "“{name}” is loaded, but the model is not shown it",
    State.DORMANT: "“{name}” is loaded, but dormant",
    State.INELIGIBLE: "“{name}” cannot be offered on this machine",
    State.DENIED: "“{name}” may not be used here",
    State.SHADOWED: "“{name}” lost its name to another file",
    State.DISABLED: "“{name}” is switched off",
    State.DUPLICATE: "“{name}” is another path to a file that is already there",
    State.SKIPPED: "“{name}” was found but left unread",
    State.INVALID: "“{name}” could not be loaded",
}


def tell_answer(name: str, holder: Outcome, claims: Sequence[Outcome]) -> str:
    """The whole answer in one sentence."""
    said = _ANSWERS[holder.state].format(name=name)
    if holder.reason is not None:
        said += f": {soften(tell_reason(holder))}"
    else:
        said += f": {holder.candidate.location} is offered to the model"
    others = [one for one in claims if one is not holder and one.name == holder.name]
    lost = sum(one.state is State.SHADOWED for one in others)
    if lost and holder.state is not State.SHADOWED:
        said += f"; it beat {count_words(lost, 'other file')} of this name"
    return f"{said}."


def tell_reason(found: Outcome | Note) -> str:
    """Why something is not ready, with the file and line of the setting that says so."""
    reason = found.reason or ""
    return reason if found.origin is None else f"{reason} ({found.origin})"


def soften(reason: str) -> str:
    """A sentence as the part of another: its first letter small, unless it begins with a name."""
    return (
        reason[:1].lower() + reason[1:] if reason[1:2].islower() or reason[1:2] == " " else reason
    )
