"""What a skill requires of the machine, what is missing, and how to fix it.

Nothing is ever run. What an author wrote becomes part of a command only where it looks like what it
should be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from prowess.gate.eligibility import Verdict, judge
from prowess.gate.remedies import Remedy, find_remedies
from prowess.model.outcome import Outcome, State
from prowess.model.skill import Skill
from prowess.profiles.schema.settings import SettingsFileRule
from prowess.reports.json_output import shape_diagnostic, shape_outcome
from prowess.reports.outcomes_by_name import get_outcome
from prowess.runtime import Skills
from prowess.settings.formats.document import join_key
from prowess.settings.load import list_settings_places
from prowess.settings.read.settings_file import OWN_KEYS
from prowess.text.display import shorten_path

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


class Way(msgspec.Struct, frozen=True):
    """One way to get what is missing: what to do, and the command for it if there is one.

    `ready` means that nothing else has to be installed first.
    """

    says: str
    command: str | None = None
    ready: bool = True


_NO_WAY = Way("the skill does not say how to install it on this machine")


class Requirement(msgspec.Struct, frozen=True):
    """One requirement of a skill: its kind, its names, whether it is met, and how to meet it.

    A requirement with several names, such as several programs, may be met by any of them.
    """

    kind: str
    names: tuple[str, ...]
    met: bool
    ways: tuple[Way, ...] = ()


class RequirementsReport(msgspec.Struct, frozen=True):
    """What one skill requires and whether it can be used here.

    A skill that could not be read has no verdict and no requirements. `is_checked` is false for a
    host that does not check requirements.
    """

    outcome: Outcome
    verdict: Verdict | None
    requirements: tuple[Requirement, ...]
    host: str
    is_checked: bool

    @property
    def is_eligible(self) -> bool:
        """Whether the skill can be used on this machine."""
        return self.verdict is not None and self.verdict.eligible

    @property
    def missing(self) -> tuple[Requirement, ...]:
        """The requirements that are not met."""
        return tuple(one for one in self.requirements if not one.met)

    def render_summary(self) -> str:
        """Whether the skill can be used on this machine, and why not."""
        name, outcome = f"“{self.outcome.name}”", self.outcome
        if self.verdict is None:
            return f"{name} could not be read, so its requirements are unknown: {outcome.reason}."
        if not self.verdict.eligible:
            return f"{name} cannot be used on this machine: {self.verdict.explain()}."
        unchecked = "" if self.is_checked else f": {self.host} does not check requirements"
        summary = f"{name} can be used on this machine{unchecked}."
        if outcome.state in (State.READY, State.INELIGIBLE):
            return summary
        return f"{summary} However, it is {outcome.state.value}: {outcome.reason}."

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "name": self.outcome.name,
            "eligible": self.is_eligible,
            "verdict": self.render_summary(),
            "requirements": [msgspec.to_builtins(one) for one in self.requirements],
            "skill": shape_outcome(self.outcome),
            "diagnostics": [shape_diagnostic(one) for one in self.outcome.diagnostics],
        }


def report_requirements(skills: Skills, name: str) -> RequirementsReport:
    """What the skill of a name requires. Raises `UnknownSkill`."""
    return _report(skills, get_outcome(skills.snapshot, name))


def report_ineligible(skills: Skills) -> tuple[RequirementsReport, ...]:
    """The skills that cannot be used on this machine, each with what it requires."""
    ineligible = (one for one in skills.snapshot.outcomes if one.state is State.INELIGIBLE)
    return tuple(_report(skills, outcome) for outcome in ineligible if outcome.skill is not None)


def _report(skills: Skills, outcome: Outcome) -> RequirementsReport:
    host, is_checked = skills.profile.name, bool(skills.profile.gate.checks)
    if outcome.skill is None:
        return RequirementsReport(outcome, None, (), host, is_checked)
    verdict = judge(
        outcome.skill.manifest,
        name=outcome.skill.name,
        rules=skills.profile.gate,
        facts=skills.facts,
        settings=skills.snapshot.settings,
    )
    requirements = tuple(_list_requirements(outcome.skill, skills, verdict))
    return RequirementsReport(outcome, verdict, requirements, host, is_checked)


def list_remedies(skills: Skills, skill: Skill, verdict: Verdict) -> tuple[Remedy, ...]:
    """The ways to install what a skill is missing here, the best first."""
    manager = skills.snapshot.settings.node_manager
    return find_remedies(skill.manifest, verdict, skills.facts, node_manager=manager)


class _Checked(NamedTuple):
    """A skill whose requirements are listed, with what was found out about them."""

    skill: Skill
    skills: Skills
    verdict: Verdict
    remedies: Sequence[Remedy]


def _list_requirements(skill: Skill, skills: Skills, verdict: Verdict) -> Iterator[Requirement]:
    rules, manifest = skills.profile.gate, skill.manifest
    # A skill that is always loaded is let off some checks, by hosts that have such skills.
    skipped = rules.always_skips if manifest.always else ()
    checked = _Checked(skill, skills, verdict, list_remedies(skills, skill, verdict))
    for check, list_kind in _KINDS.items():
        is_checked = check in rules.checks and check not in skipped
        if is_checked:
            yield from list_kind(checked)


def _list_systems(checked: _Checked) -> Iterator[Requirement]:
    names = checked.skill.manifest.os
    if names:
        way = Way(f"this machine runs {checked.skills.facts.platform}")
        yield _require("os", names, [way], met=not checked.verdict.os)


def _list_programs(checked: _Checked) -> Iterator[Requirement]:
    for name in checked.skill.manifest.requires.bins:
        installs = _list_installs(name, checked.remedies)
        is_met = name not in checked.verdict.bins
        yield _require("program", (name,), installs or [_NO_WAY], met=is_met)


def _list_alternatives(checked: _Checked) -> Iterator[Requirement]:
    names = checked.skill.manifest.requires.any_bins
    if not names:
        return
    installs: list[Way] = []
    for name in names:
        installs += _list_installs(name, checked.remedies)
    # A remedy that does not say what it brings is found for each of the programs.
    ways = list(dict.fromkeys(installs)) or [_NO_WAY]
    yield _require("one-of-programs", names, ways, met=not checked.verdict.any_bins)


def _list_variables(checked: _Checked) -> Iterator[Requirement]:
    for name in checked.skill.manifest.requires.env:
        ways = _list_variable_ways(name, checked.skill, checked.skills)
        yield _require("variable", (name,), ways, met=name not in checked.verdict.env)


def _list_settings(checked: _Checked) -> Iterator[Requirement]:
    for name in checked.skill.manifest.requires.config:
        way = _find_setting_way(name, checked.skills)
        yield _require("setting", (name,), [way], met=name not in checked.verdict.config)


# By the word that profiles have for each check, in the order they are shown.
_KINDS: dict[str, Callable[[_Checked], Iterator[Requirement]]] = {
    "os": _list_systems,
    "bins": _list_programs,
    "any_bins": _list_alternatives,
    "env": _list_variables,
    "config": _list_settings,
}


def _require(kind: str, names: tuple[str, ...], ways: Sequence[Way], *, met: bool) -> Requirement:
    return Requirement(kind, names, met, () if met else tuple(ways))


def _list_installs(name: str, remedies: Sequence[Remedy]) -> list[Way]:
    """The author's ways to install a program; one that does not say what it brings may bring it."""
    return [_as_way(one) for one in remedies if not one.provides or name in one.provides]


def _as_way(remedy: Remedy) -> Way:
    if remedy.refused is not None:
        return Way(f"{remedy.label}: no command shown, because {remedy.refused}", ready=False)
    needs = "" if remedy.ready else f" (needs {remedy.command[0]}, which is not installed)"
    return Way(f"{remedy.label}{needs}", remedy.render(), remedy.ready)


def _list_variable_ways(name: str, skill: Skill, skills: Skills) -> list[Way]:
    # The name becomes part of a command that the user copies, so it must be a name and no more.
    if not _VARIABLE.fullmatch(name):
        return [Way("no shell can set a variable with this name; ask the author to rename it")]
    ways = [Way("set it in your shell or in its startup file", f"export {name}=VALUE")]
    place = _find_place(skills, "overrides")
    if place is None:
        return ways
    owner = (*place.key, skill.manifest.skill_key or skill.name)
    ways.append(Way(f"set `{join_key((*owner, 'env', name))}` in {place.file}"))
    if name == skill.manifest.primary_env:
        # OpenClaw's spelling, and ours.
        api_key = "api_key" if place.is_own else "apiKey"
        ways.append(Way(f"set `{join_key((*owner, api_key))}` in {place.file}"))
    return ways


def _find_setting_way(name: str, skills: Skills) -> Way:
    place = _find_place(skills, "raw")
    if place is None:
        return Way("this host has no settings file for it")
    return Way(f"set `{join_key((*place.key, *name.split('.')))}` in {place.file}")


class _SettingPlace(NamedTuple):
    """Where to set something: the key, the file as people write it, and whether it is our own."""

    key: tuple[str, ...]
    file: str
    is_own: bool


def _find_place(skills: Skills, target: str) -> _SettingPlace | None:
    """Where a user sets something. Of several files the user's own, which is read first."""
    for path, rule in list_settings_places(skills.profile, skills.find_places()):
        prefix = _find_prefix(rule, target)
        if prefix is not None:
            file = shorten_path(path, cwd=skills.cwd, home=skills.facts.home)
            return _SettingPlace(prefix, file, rule.refuse_unknown)
    return None


def _find_prefix(rule: SettingsFileRule, target: str) -> tuple[str, ...] | None:
    """The key that something is set below in a file; None where the file does not have it."""
    is_own = rule.refuse_unknown
    is_configuration = target == "raw"
    # Of such a file only these keys are read; the rest belongs to another program.
    if is_configuration and rule.only_keys:
        return None
    # A host's own file is its configuration, from the top.
    if is_configuration and not is_own:
        return ()
    own_keys = OWN_KEYS if is_own else {}
    keys = rule.keys or own_keys
    for key, setting in keys.items():
        if setting == target:
            return tuple(key.split("."))
    return None
