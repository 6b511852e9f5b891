"""What a skill requires of the machine, whether it is there, and how to have what is missing.

Nothing is ever run. What an author wrote becomes part of a command only where it has the shape of
what it should be.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import NamedTuple

import msgspec

from prowess.cli.terminal.out import shorten_path
from prowess.gate.eligibility import Verdict, judge
from prowess.gate.remedies import Remedy, find_remedies
from prowess.model.skill import Skill
from prowess.profiles.schema.settings import SettingsFileRule
from prowess.runtime import Skills
from prowess.settings.formats.document import join_key
from prowess.settings.load import list_settings_places
from prowess.settings.read.file_mapping import OWN_KEYS

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


class Way(msgspec.Struct, frozen=True):
    """One way to have what is missing: what to do, and the command for it where there is one.

    `ready` says that nothing else has to be installed first.
    """

    says: str
    command: str | None = None
    ready: bool = True


class Requirement(msgspec.Struct, frozen=True):
    """One thing that a skill requires: its kind, the names it goes by (of several programs one may
    be enough), whether it is there, and how to have it."""

    kind: str
    names: tuple[str, ...]
    met: bool
    ways: tuple[Way, ...] = ()


class Diagnosis(msgspec.Struct, frozen=True):
    """A skill held against this machine: the verdict, and every requirement with its remedy."""

    verdict: Verdict
    requirements: tuple[Requirement, ...]

    @property
    def missing(self) -> tuple[Requirement, ...]:
        """What is not there."""
        return tuple(one for one in self.requirements if not one.met)


def diagnose_skill(skill: Skill, skills: Skills) -> Diagnosis:
    """Hold a skill's requirements against the machine, by the rules of the host that was asked."""
    rules, settings = skills.profile.gate, skills.snapshot.settings
    verdict = judge(
        skill.manifest, name=skill.name, rules=rules, facts=skills.facts, settings=settings
    )
    counted = set(rules.checks).difference(rules.always_skips if skill.manifest.always else ())
    return Diagnosis(verdict, tuple(_list_requirements(skill, skills, verdict, counted)))


def _list_requirements(
    skill: Skill, skills: Skills, verdict: Verdict, counted: Set[str]
) -> list[Requirement]:
    requires = skill.manifest.requires
    remedies = find_remedies(skill.manifest, verdict, skills.facts)
    found: list[Requirement] = []
    if "os" in counted and skill.manifest.os:
        way = Way(f"this machine is {skills.facts.platform}, and nothing mends that")
        found.append(_require("os", skill.manifest.os, [way], met=not verdict.os))
    if "bins" in counted:
        for name in requires.bins:
            found.append(
                _require("program", (name,), _install(name, remedies), met=name not in verdict.bins)
            )
    if "any_bins" in counted and requires.any_bins:
        ways = [
            way for name in requires.any_bins for way in _install(name, remedies, say_none=False)
        ]
        ways = list(dict.fromkeys(ways)) or [_NO_WAY]
        found.append(_require("one-of-programs", requires.any_bins, ways, met=not verdict.any_bins))
    if "env" in counted:
        for name in requires.env:
            ways = _set_variable(name, skill, skills)
            found.append(_require("variable", (name,), ways, met=name not in verdict.env))
    if "config" in counted:
        for name in requires.config:
            ways = _set_setting(name, skills)
            found.append(_require("setting", (name,), ways, met=name not in verdict.config))
    return found


def _require(kind: str, names: tuple[str, ...], ways: Sequence[Way], *, met: bool) -> Requirement:
    return Requirement(kind, names, met, () if met else tuple(ways))


_NO_WAY = Way("the skill names no way to install it here")


def _install(name: str, remedies: Sequence[Remedy], *, say_none: bool = True) -> list[Way]:
    """The author's ways to have a program; one that does not say what it brings may bring anything."""
    ways = [_tell_remedy(one) for one in remedies if name in one.provides or not one.provides]
    return ways if ways or not say_none else [_NO_WAY]


def _tell_remedy(remedy: Remedy) -> Way:
    if remedy.refused is not None:
        return Way(
            f"{remedy.label}: no command is shown for it, since {remedy.refused}", ready=False
        )
    needs = "" if remedy.ready else f" (needs {remedy.command[0]}, which is not installed)"
    return Way(f"{remedy.label}{needs}", remedy.render(), remedy.ready)


def _set_variable(name: str, skill: Skill, skills: Skills) -> list[Way]:
    if not _VARIABLE.fullmatch(name):
        return [
            Way("no shell can set a variable of this name; the skill's author has to change it")
        ]
    ways = [
        Way(
            "set it in your shell, or in the file that your shell starts with",
            f"export {name}=VALUE",
        )
    ]
    place = _find_place(skills, "overrides")
    if place is None:
        return ways
    owner = (*place.key, skill.manifest.skill_key or skill.name)
    ways.append(Way(f"set `{join_key((*owner, 'env', name))}` in {place.file}"))
    if name == skill.manifest.primary_env:
        word = "api_key" if place.own else "apiKey"
        ways.append(Way(f"set `{join_key((*owner, word))}` in {place.file}"))
    return ways


def _set_setting(name: str, skills: Skills) -> list[Way]:
    place = _find_place(skills, "raw")
    if place is None:
        return [Way("this host has no file for such settings")]
    return [Way(f"set `{join_key((*place.key, *name.split('.')))}` in {place.file}")]


class _Place(NamedTuple):
    """Where something is set: the key, the file as people write it, and whether it is a file of our
    own.
    """

    key: tuple[str, ...]
    file: str
    own: bool


def _find_place(skills: Skills, target: str) -> _Place | None:
    """The key and the file that a user sets something in: of several files the user's own, which is
    read first.
    """
    for path, rule in list_settings_places(skills.profile, skills.find_places()):
        prefix = _find_prefix(rule, target)
        if prefix is not None:
            return _Place(prefix, shorten_path(path, skills.cwd), rule.refuse_unknown)
    return None


def _find_prefix(rule: SettingsFileRule, target: str) -> tuple[str, ...] | None:
    if target == "raw" and not rule.refuse_unknown:
        # A host's own file is its configuration as it stands.
        return ()
    keys = rule.keys or (OWN_KEYS if rule.refuse_unknown else {})
    found = next((key for key, setting in keys.items() if setting == target), None)
    return None if found is None else tuple(found.split("."))
