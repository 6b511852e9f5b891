"""Why a skill loads or does not: every file that claims its name, stage by stage."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.errors import ProwessError, nearest_names
from prowess.gate.permissions import AgentRules, decide, request_skill
from prowess.model.catalog import CatalogLine, Shown
from prowess.model.origin import Origin
from prowess.model.outcome import DECIDED_BY_GATE, DECIDED_BY_RESOLVE, Note, Outcome, State
from prowess.model.permission import Action, Decision
from prowess.model.skill import Root, Skill
from prowess.model.snapshot import Snapshot
from prowess.profiles.load import known_hosts
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.resolution import ResolutionRules
from prowess.reports.catalog_report import pair_lines
from prowess.reports.json_output import shape_diagnostic, shape_outcome, shape_scan
from prowess.reports.outcomes_by_name import OpenHost, is_same_answer, load_other_editions
from prowess.reports.phrases import cite_reason, lower_first
from prowess.reports.served_origin import ServedOrigin, find_served_origin
from prowess.runtime import Skills
from prowess.settings.read.key_names import get_file_key
from prowess.state.profile_cache import load_added_profiles
from prowess.text.display import count_words

# The rules that skip a skill for where it is. Another host may well search there, which is worth
# saying; the other rules, such as limits, are about the scan and not about the place.
_PLACES = ("leaf", "max_depth", "min_depth", "hidden")
# Findings that say what a skipped candidate's reason says.
_SAID_BY_REASON = ("inside-skill", "too-deep")


class StageReport(msgspec.Struct, frozen=True):
    """What one stage did with a candidate."""

    stage: str
    says: tuple[str, ...]


class ClaimReport(msgspec.Struct, frozen=True):
    """A file that claims the name, and its journey up to the state in which it ended."""

    outcome: Outcome
    journey: tuple[StageReport, ...]


class EditionAnswer(msgspec.Struct, frozen=True):
    """What another edition of the host answers for the name, or why it cannot be used."""

    host: str
    outcome: Outcome | None
    problem: str | None = None


class Elsewhere(msgspec.Struct, frozen=True):
    """Another host that sees the name: the state and the file it finds."""

    host: str
    state: str
    location: str


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Why a name loads or does not.

    `answer` is the whole answer in a sentence. `editions` are the other editions of the host that
    answer differently; `elsewhere` are the hosts that read a file which this host skips.
    `left_out` counts the claims beyond the number that was asked for.
    """

    snapshot: Snapshot
    name: str
    answer: str
    claims: tuple[ClaimReport, ...]
    left_out: int = 0
    editions: tuple[EditionAnswer, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()

    def shape(self) -> dict[str, Any]:
        """The explanation as JSON."""
        return {
            **shape_scan(self.snapshot),
            "name": self.name,
            "answer": self.answer,
            "claims": [_shape_claim(claim) for claim in self.claims],
            "editions": [_shape_edition(edition) for edition in self.editions],
            "elsewhere": [msgspec.to_builtins(one) for one in self.elsewhere],
        }


class MissingName(msgspec.Struct, frozen=True, kw_only=True):
    """A name that no skill here has: similar names, and the hosts that see it.

    `claims` are skills that lie in a folder of this name but have another; `misnamed` are findings
    about files in such a folder that are not named SKILL.md; `cut` are findings about limits that
    may have hidden it.
    """

    snapshot: Snapshot
    name: str
    claims: tuple[ClaimReport, ...]
    left_out: int = 0
    nearest: tuple[str, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()
    misnamed: tuple[Diagnostic, ...] = ()
    cut: tuple[Diagnostic, ...] = ()

    def shape(self) -> dict[str, Any]:
        """What was found instead as JSON; a missing name has no answer."""
        return {
            **shape_scan(self.snapshot),
            "name": self.name,
            "answer": None,
            "claims": [_shape_claim(claim) for claim in self.claims],
            "nearest": list(self.nearest),
            "elsewhere": [msgspec.to_builtins(one) for one in self.elsewhere],
            "misnamed": [shape_diagnostic(finding) for finding in self.misnamed],
            "cut": [shape_diagnostic(finding) for finding in self.cut],
        }


def explain_name(
    skills: Skills,
    name: str,
    *,
    host: str,
    open_host: OpenHost,
    most_claims: int | None = None,
) -> Explanation | MissingName:
    """Explain a name, with at most so many claims; `host` is the host as the user named it."""
    snapshot = skills.snapshot
    all_claims = find_claims(snapshot, name)
    shown = all_claims[:most_claims]
    # A file that is not shown may still be the one that another lost to.
    claims = _load_claims(skills, all_claims, shown)
    left_out = len(all_claims) - len(shown)
    holder = snapshot.find(name)
    if holder is None:
        # A name that this host does not have may be misspelt, seen by other hosts only, in a file
        # with a wrong name, or beyond a limit of the scan; each is offered as a clue.
        return MissingName(
            snapshot=snapshot,
            name=name,
            claims=claims,
            left_out=left_out,
            nearest=nearest_names(name, {one.name: None for one in snapshot.outcomes}),
            elsewhere=tuple(find_elsewhere(skills, name, open_host)),
            misnamed=tuple(_find_misnamed(snapshot, name)),
            cut=tuple(one for one in snapshot.diagnostics if one.code == "limit-reached"),
        )
    return Explanation(
        snapshot=snapshot,
        name=name,
        answer=render_answer(name, holder, all_claims),
        claims=claims,
        left_out=left_out,
        editions=tuple(_find_differing_editions(skills, holder, host, open_host)),
        elsewhere=tuple(_find_readers(skills, holder, open_host)),
    )


def _find_misnamed(snapshot: Snapshot, name: str) -> Iterator[Diagnostic]:
    """The findings about `skill.md` and the like in a folder of this name."""
    for finding in snapshot.diagnostics:
        if finding.code != "wrong-file-name":
            continue
        folder = posixpath.dirname(finding.file or "")
        if posixpath.basename(folder) == name:
            yield finding


def find_claims(snapshot: Snapshot, name: str) -> list[Outcome]:
    """Every file that has to do with a name: those that claim it, then those in such a folder."""
    holder = snapshot.find(name)
    by_name = sorted(
        snapshot.claims(name),
        key=lambda one: (one is not holder, one.candidate.root.order, one.candidate.location),
    )
    by_folder = [one for one in snapshot.outcomes if _is_in_folder_named(one, name)]
    return by_name + [one for one in by_folder if one not in by_name]


def _is_in_folder_named(outcome: Outcome, name: str) -> bool:
    # The folder of a command says nothing about its name.
    if outcome.candidate.root.layout == "commands":
        return False
    return posixpath.basename(outcome.candidate.folder) == name


def _find_differing_editions(
    skills: Skills, holder: Outcome, host: str, open_host: OpenHost
) -> Iterator[EditionAnswer]:
    for edition in load_other_editions(skills, host, open_host):
        outcome = edition.outcomes.get(holder.name)
        if edition.problem is not None or not is_same_answer(outcome, holder):
            yield EditionAnswer(edition.host, outcome, edition.problem)


def find_elsewhere(skills: Skills, name: str, open_host: OpenHost) -> Iterator[Elsewhere]:
    """The other hosts that find a name here, each with the state and the file."""
    _, added = load_added_profiles(skills.facts, "prowess")
    for host in known_hosts(added):
        if host == skills.profile.name:
            continue
        try:
            outcome = open_host(host).snapshot.find(name)
        except ProwessError:
            # The user did not ask about this host, so its own problems do not matter here.
            continue
        if outcome is not None:
            yield Elsewhere(host, outcome.state.value, outcome.candidate.location)


def _find_readers(skills: Skills, holder: Outcome, open_host: OpenHost) -> Iterator[Elsewhere]:
    """The hosts that read the file of a skill which this host skips for its place."""
    if holder.state is not State.SKIPPED or holder.rule not in _PLACES:
        return
    for reader in find_elsewhere(skills, holder.name, open_host):
        is_same_file = reader.location == holder.candidate.location
        is_read = reader.state != State.SKIPPED.value
        if is_same_file and is_read:
            yield reader


# Journeys


class _Context(msgspec.Struct, frozen=True):
    """What journeys are told from: the scan, the host's rules, and what the catalog shows.

    `shown` has a line for each location; `problem` says why there is no catalog. `served` are the
    origins of the skills that servers sent, by location.
    """

    snapshot: Snapshot
    profile: Profile
    rules: AgentRules
    shown: Mapping[str, CatalogLine]
    problem: str | None = None
    served: Mapping[str, ServedOrigin] = msgspec.field(default_factory=dict)

    def decide(self, skill: Skill) -> Decision:
        """What the permission rules say about using a skill."""
        return decide(request_skill(skill.name, skill.manifest), self.rules, skill.manifest)


def _load_claims(
    skills: Skills, rivals: Sequence[Outcome], shown: Sequence[Outcome]
) -> tuple[ClaimReport, ...]:
    if not shown:
        return ()
    served: dict[str, ServedOrigin] = {}
    for outcome in shown:
        origin = find_served_origin(skills, outcome)
        if origin is not None:
            served[outcome.candidate.location] = origin
    context = msgspec.structs.replace(_load_context(skills), served=served)
    return tuple(
        ClaimReport(outcome, _build_journey(outcome, rivals, context)) for outcome in shown
    )


def _load_context(skills: Skills) -> _Context:
    snapshot = skills.snapshot
    rules = skills.project.gather_rules(snapshot.settings)
    try:
        paired = pair_lines(skills, skills.catalog())
    except ProwessError as error:
        # A bad budget says nothing about the stages before the catalog.
        problem = lower_first(str(error).rstrip("."))
        return _Context(snapshot, skills.profile, rules, {}, problem)
    shown = {outcome.candidate.location: line for outcome, _, line in paired}
    return _Context(snapshot, skills.profile, rules, shown)


def _build_journey(
    outcome: Outcome, rivals: Sequence[Outcome], context: _Context
) -> tuple[StageReport, ...]:
    steps = [
        StageReport("discover", tuple(_explain_discover(outcome, context))),
        StageReport("parse", tuple(_explain_parse(outcome, context.profile))),
    ]
    # A file that could not be read went no further than the parser.
    if outcome.skill is not None:
        resolution = context.profile.resolution
        steps.append(StageReport("resolve", tuple(_explain_resolve(outcome, rivals, resolution))))
        gate = [*_explain_gate(outcome, context.decide(outcome.skill))]
        served = context.served.get(outcome.candidate.location)
        if served is not None:
            gate += _explain_approval(served)
        steps.append(StageReport("gate", tuple(gate)))
    if outcome.state is State.READY:
        steps.append(StageReport("present", (_explain_present(outcome, context),)))
    return tuple(steps)


def _explain_approval(served: ServedOrigin) -> Iterator[str]:
    yield f"approval: {served.render_approval()}"
    if served.digest is not None:
        yield f"an approval covers its content as it is, {served.digest}"
    yield "commands in it never run, because it comes from a server"


def _list_obstacles(outcome: Outcome, states: Sequence[State]) -> list[Note]:
    """What keeps a candidate from being ready, of these states; what decided comes first."""
    # An outcome has the decision in its own fields, and what else was against it as notes.
    notes = list(outcome.notes)
    if outcome.reason is not None:
        decided = Note(outcome.state, outcome.reason, outcome.by, outcome.rule, outcome.origin)
        notes.insert(0, decided)
    return [note for note in notes if note.state in states]


def _explain_discover(outcome: Outcome, context: _Context) -> Iterator[str]:
    root = outcome.candidate.root
    place = f"root {root.order + 1} of {len(context.snapshot.roots)}"
    shown = context.profile.source_labels.get(root.source.label)
    label = root.source.label if shown is None else f"{root.source.label}, {shown}"
    served = context.served.get(outcome.candidate.location)
    if served is not None:
        # The root of a server is a folder of the cache, which means nothing to the user.
        yield f"found in {served.render_source()} ({root.scope.value}, {label})"
        if served.source.origin.file is not None:
            yield f"asked because {served.source.origin} names it"
        return
    yield f"found in {root.path}, {place} ({root.scope.value}, {label})"
    rule = context.profile.roots.get(root.id)
    if rule is not None:
        yield f"searched because {_explain_why_searched(root, rule.at, context)}"
    if root.disabled_by is not None:
        # Either the name of a setting or switch, or a clause.
        joint = "because" if " " in root.disabled_by else "by"
        yield f"the root is disabled {joint} {root.disabled_by}"
    if outcome.candidate.skipped is not None:
        yield f"skipped: {outcome.candidate.skipped}"


# Templates of roots that a setting lists, and that setting.
_LISTED_IN = {"{custom}": "custom_folders", "{plugin}": "plugin_folders"}


def _explain_why_searched(root: Root, templates: Sequence[str], context: _Context) -> str:
    # What a user wrote explains a root better than the place it happens to be in.
    if root.plugin:
        return f"the plugin {root.plugin} has it"
    written = " ".join(templates)
    listing = _find_listing(root, written, context)
    if listing is not None:
        return listing
    if "{added}" in written:
        return "--add-dir names it"
    if root.distance:
        return f"it is {count_words(root.distance, 'folder')} above the working folder"
    if "{ancestor}" in written or "{cwd}" in written:
        return "it is in the working folder"
    return f"{context.snapshot.host} keeps {root.scope.value} skills there"


def _find_listing(root: Root, templates: str, context: _Context) -> str | None:
    """The setting that lists a root, and where it does; None for a root that none lists."""
    settings = context.snapshot.settings
    listed = settings.skill_paths.get(root.path_list)
    if listed is not None and root.path in listed.paths:
        setting = f"skill_paths.{root.path_list}"
        return _cite_listing(setting, settings.origin(setting), context.profile)
    for placeholder, setting in _LISTED_IN.items():
        if placeholder in templates:
            # Several files may add to the list, so the entry has an origin of its own.
            origin = settings.entry_origin(setting, root.path)
            return _cite_listing(setting, origin, context.profile)
    return None


def _cite_listing(setting: str, origin: Origin, profile: Profile) -> str:
    files = [profile.settings[id] for id in profile.settings_order]
    return f"`{get_file_key(setting, files).key}` lists it ({origin})"


def _explain_parse(outcome: Outcome, profile: Profile) -> Iterator[str]:
    reason = outcome.reason or ""
    if outcome.candidate.skipped is not None:
        yield "not read"
    elif outcome.skill is None:
        yield f"{outcome.state.value}: {lower_first(reason)}"
    else:
        yield _explain_name(outcome, outcome.skill, profile)
    for finding in outcome.diagnostics:
        # Collisions are explained where they are decided.
        if finding.code != "name-collision":
            yield _explain_finding(finding, reason)


def _explain_finding(finding: Diagnostic, reason: str) -> str:
    place = f" on line {finding.line}" if finding.line is not None else ""
    # The reason was just given; what remains to say is how to fix it.
    is_reason = finding.message.rstrip(".") == reason
    says_what_reason_says = is_reason or finding.code in _SAID_BY_REASON
    said = finding.hint if says_what_reason_says else finding.message
    return f"{finding.severity.value}{place} ({finding.code}): {said}"


def _explain_name(outcome: Outcome, skill: Skill, profile: Profile) -> str:
    declared = skill.frontmatter.get("name")
    if declared is None:
        return f"read; the header has no name, so its path gives the name: {outcome.name}"
    if profile.fields.name_from == "folder" and declared != outcome.candidate.default_name:
        return f"read; its header says {declared}, but this host uses the folder: {outcome.name}"
    return f"read; its name is {outcome.name}"


def _explain_resolve(
    outcome: Outcome, claims: Sequence[Outcome], rules: ResolutionRules
) -> Iterator[str]:
    others = [one for one in claims if one.name == outcome.name and one is not outcome]
    # A file that could not be read takes no name.
    rivals = [one for one in others if one.skill is not None]
    obstacles = _list_obstacles(outcome, DECIDED_BY_RESOLVE)
    if obstacles:
        yield from _explain_defeat(outcome, obstacles, rivals, rules)
        return
    if not rivals:
        yield "no other file claims this name"
        return
    # Where every file keeps its name, nobody is beaten.
    beaten = sum(_was_beaten_by(one, outcome) for one in rivals)
    if beaten:
        yield f"won over {count_words(beaten, 'other file')} with this name"
    yield f"rule: {_RULES[rules.strategy](rules)}"


def _explain_defeat(
    outcome: Outcome,
    obstacles: Sequence[Note],
    rivals: Sequence[Outcome],
    rules: ResolutionRules,
) -> Iterator[str]:
    roots = {one.candidate.location: one.candidate.root for one in rivals}
    for note in obstacles:
        yield f"{note.state.value}: {cite_reason(note)}"
        winner = roots.get(note.by or "")
        if note.state is State.SHADOWED and winner is not None:
            yield _explain_why_stronger(winner, outcome.candidate.root, rules)


def _was_beaten_by(loser: Outcome, winner: Outcome) -> bool:
    # A loser may also be disabled or denied, so any of its obstacles can name the winner.
    location = winner.candidate.location
    return any(note.by == location for note in _list_obstacles(loser, tuple(State)))


# The strategies of `resolve`, in words.
_RULES: dict[str, Callable[[ResolutionRules], str]] = {
    "first": lambda rules: "the first in scan order wins",
    "last": lambda rules: "the last in scan order wins",
    "priority": lambda rules: (
        "the source with the highest priority wins, then the first in scan order"
    ),
    "scope": lambda rules: (
        f"the strongest scope wins ({_list(rules.scopes)}), then the first in scan order"
    ),
    "assembly": lambda rules: (
        f"the first group wins ({_list(rules.groups)}), then the first in scan order"
    ),
    "path": lambda rules: "the last folder in alphabetical order wins, whatever its root",
    "all": lambda rules: "every file keeps its name",
}


def _list(words: Sequence[str]) -> str:
    return ", ".join(getattr(word, "value", word) for word in words)


# What a strategy compares before the scan order, and how the difference is said.
_COMPARED_FIRST: dict[str, tuple[Callable[[Root], object], str]] = {
    "priority": (lambda root: root.priority, "because its source has priority {}, this one {}"),
    "scope": (lambda root: root.scope.value, "because {} is stronger than {}"),
    "assembly": (lambda root: root.group, "because {} comes before {}"),
}


def _explain_why_stronger(winner: Root, loser: Root, rules: ResolutionRules) -> str:
    if rules.strategy in _COMPARED_FIRST:
        get_compared, sentence = _COMPARED_FIRST[rules.strategy]
        of_winner, of_loser = get_compared(winner), get_compared(loser)
        if of_winner != of_loser:
            return sentence.format(of_winner, of_loser)
    return _explain_scan_order(winner, loser, last_wins=rules.strategy == "last")


def _explain_scan_order(winner: Root, loser: Root, *, last_wins: bool) -> str:
    when = "after" if last_wins else "before"
    if winner.order == loser.order:
        return f"because it comes {when} this one in the same root"
    added = ", and the last wins" if last_wins else ""
    return f"because root {winner.order + 1} is searched {when} root {loser.order + 1}{added}"


def _explain_gate(outcome: Outcome, decision: Decision) -> Iterator[str]:
    obstacles = _list_obstacles(outcome, DECIDED_BY_GATE)
    for note in obstacles:
        yield f"{note.state.value}: {cite_reason(note)}"
    if not obstacles:
        yield "it can be offered"
    # A denial has its line already.
    is_denied = any(note.state is State.DENIED for note in obstacles)
    if is_denied:
        return
    # That a host allows everything by default is not worth a line.
    is_written = decision.rule is not None and decision.rule.origin.file is not None
    if is_written or decision.action is not Action.ALLOW:
        yield f"permission: {decision.action.value}, because {decision.reason}"


_SHOWN: dict[Shown, str] = {
    Shown.WHOLE: "the model sees its name and full description",
    Shown.SHORTENED: "the model sees its name and part of its description",
    Shown.NAME_ONLY: "the model sees only its name",
    Shown.LEFT_OUT: "the model does not see it",
    Shown.INJECTED: "its full text is in every request",
}


def _explain_present(outcome: Outcome, context: _Context) -> str:
    line = context.shown.get(outcome.candidate.location)
    if line is not None:
        said = _SHOWN[line.shown]
        return f"{said}: {line.why}" if line.why else said
    if context.problem:
        return f"there is no catalog: {context.problem}"
    return _SHOWN[Shown.LEFT_OUT]


# Answers


_ANSWERS: dict[State, str] = {
    State.READY: "is ready",
    State.HIDDEN: "is loaded, but hidden from the model",
    State.DORMANT: "is loaded, but dormant",
    State.INELIGIBLE: "cannot be used on this machine",
    State.DENIED: "is not permitted here",
    State.SHADOWED: "is shadowed",
    State.DISABLED: "is disabled",
    State.DUPLICATE: "is a duplicate",
    State.SKIPPED: "was found but not read",
    State.INVALID: "could not be loaded",
}


def render_answer(name: str, holder: Outcome, claims: Sequence[Outcome]) -> str:
    """The whole answer in one sentence."""
    why = f"{holder.candidate.location} is offered to the model"
    if holder.reason is not None:
        why = lower_first(cite_reason(holder))
    answer = f"“{name}” {_ANSWERS[holder.state]}: {why}"
    # Claims also have files that only lie in a folder of this name.
    named_alike = [one for one in claims if one.name == holder.name]
    shadowed = [one for one in named_alike if one.state is State.SHADOWED]
    if shadowed and holder.state is not State.SHADOWED:
        answer += f"; it won over {count_words(len(shadowed), 'other file')} with this name"
    return f"{answer}."


# JSON


def _shape_claim(claim: ClaimReport) -> dict[str, Any]:
    return {
        **shape_outcome(claim.outcome),
        "journey": [msgspec.to_builtins(step) for step in claim.journey],
        "diagnostics": [shape_diagnostic(one) for one in claim.outcome.diagnostics],
    }


def _shape_edition(edition: EditionAnswer) -> dict[str, Any]:
    if edition.problem is not None:
        return {"host": edition.host, "problem": edition.problem}
    if edition.outcome is None:
        return {"host": edition.host, "state": None}
    outcome = edition.outcome
    return {
        "host": edition.host,
        "state": outcome.state.value,
        "location": outcome.candidate.location,
    }
