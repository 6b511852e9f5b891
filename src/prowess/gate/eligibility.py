"""Requirements against facts: whether a skill can be offered on a machine, and what is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from prowess.model.facts import Facts
from prowess.model.outcome import Note, State
from prowess.model.settings import Override, Settings
from prowess.model.skill import Manifest
from prowess.profiles.schema.resolution import GateRules
from prowess.text.digits import find_number

# JavaScript hosts refuse these in a config path, because they reach into an object's prototype.
_UNSAFE_SEGMENTS = frozenset(("__proto__", "prototype", "constructor"))
# A setting may be null, which is not the same as not being there.
_MISSING = object()


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything a skill is missing on a machine, by kind; eligible if nothing is missing."""

    os: tuple[str, ...] = ()
    bins: tuple[str, ...] = ()
    any_bins: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    config: tuple[str, ...] = ()

    @property
    def eligible(self) -> bool:
        """Whether nothing is missing."""
        return self == _ELIGIBLE

    def explain(self) -> str:
        """What is missing, as part of a sentence."""
        parts = []
        if self.os:
            parts.append(f"it runs only on {' or '.join(self.os)}")
        if self.bins:
            parts.append(f"the {_list_names('program', self.bins)} cannot be found")
        if self.any_bins:
            parts.append(f"none of the programs {' or '.join(self.any_bins)} can be found")
        if self.env:
            parts.append(_say_unset("environment variable", self.env))
        if self.config:
            parts.append(_say_unset("setting", self.config))
        return "; ".join(parts)


_ELIGIBLE = Verdict()


def _list_names(kind: str, names: tuple[str, ...]) -> str:
    plural = "" if len(names) == 1 else "s"
    return f"{kind}{plural} {', '.join(names)}"


def _say_unset(kind: str, names: tuple[str, ...]) -> str:
    verb = "is" if len(names) == 1 else "are"
    return f"the {_list_names(kind, names)} {verb} not set"


class _Case(msgspec.Struct):
    """One skill on one machine: everything that a check may look at."""

    manifest: Manifest
    rules: GateRules
    facts: Facts
    settings: Settings
    override: Override | None


def _missing_os(case: _Case) -> tuple[str, ...]:
    wanted = case.manifest.os
    if not wanted:
        return ()
    aliases = case.rules.os_words
    platforms = {aliases.get(word.lower(), word.lower()) for word in wanted}
    # Connected machines count too: OpenClaw offers a macOS skill if a Mac of the user is connected.
    facts = case.facts
    runs_here = not platforms.isdisjoint((facts.platform, *facts.platforms))
    return () if runs_here else wanted


def _missing_bins(case: _Case) -> tuple[str, ...]:
    has_program = _PROGRAMS[case.rules.programs]
    wanted = case.manifest.requires.bins
    return tuple(name for name in wanted if not has_program(case.facts, name))


def _missing_any_bins(case: _Case) -> tuple[str, ...]:
    has_program = _PROGRAMS[case.rules.programs]
    wanted = case.manifest.requires.any_bins
    has_one = any(has_program(case.facts, name) for name in wanted)
    return () if has_one else wanted


def _has_program(facts: Facts, name: str) -> bool:
    return facts.has_bin(name)


def _has_path_entry(facts: Facts, name: str) -> bool:
    # OpenClaw joins the name to each folder of PATH, so an absolute path is never found there.
    return not name.startswith("/") and facts.has_path_entry(name)


_PROGRAMS: dict[str, Callable[[Facts, str], bool]] = {
    "run": _has_program,
    "path-entry": _has_path_entry,
}


def _missing_env(case: _Case) -> tuple[str, ...]:
    wanted = case.manifest.requires.env
    return tuple(name for name in wanted if not _is_set(case, name))


def _is_set(case: _Case, name: str) -> bool:
    """Whether a variable has a value: in the environment, or in the settings for this skill."""
    # A blank value counts as none, as in OpenClaw.
    if case.facts.env.get(name, "").strip():
        return True
    override = case.override
    if override is None:
        return False
    if override.env.get(name, "").strip():
        return True
    # A configured API key is passed to the skill in the variable that its author named for it,
    # and so satisfies no other name.
    if name != case.manifest.primary_env:
        return False
    key = (override.api_key or "").strip()
    return bool(key or override.api_key_from)


def _missing_config(case: _Case) -> tuple[str, ...]:
    wanted = case.manifest.requires.config
    return tuple(path for path in wanted if not _is_configured(case, path))


def _is_configured(case: _Case, path: str) -> bool:
    """Whether a setting of the host is truthy, as JavaScript counts it: `{}` and `[]` are."""
    value: Any = case.settings.raw
    for segment in filter(None, path.split(".")):
        if segment in _UNSAFE_SEGMENTS:
            return False
        value = _get_member(value, segment)
        if value is _MISSING:
            # Some settings are on unless the user turns them off, such as `browser.enabled`.
            return case.rules.config_defaults.get(path, False)
    if isinstance(value, str):
        return bool(value.strip())
    if isinstance(value, (Mapping, list)):
        return True
    return bool(value)


def _get_member(value: Any, segment: str) -> Any:
    """A field of a table or an item of a list."""
    if isinstance(value, Mapping):
        return value.get(segment, _MISSING)
    index = find_number(segment) if isinstance(value, list) else None
    return _MISSING if index is None or index >= len(value) else value[index]


CHECKS: dict[str, Callable[[_Case], tuple[str, ...]]] = {
    "os": _missing_os,
    "bins": _missing_bins,
    "any_bins": _missing_any_bins,
    "env": _missing_env,
    "config": _missing_config,
}


def judge(
    manifest: Manifest, *, name: str, rules: GateRules, facts: Facts, settings: Settings
) -> Verdict:
    """Check a skill's requirements against the facts of a machine."""
    found = settings.find_override(manifest.skill_key, name)
    override = None if found is None else found[1]
    case = _Case(manifest, rules, facts, settings, override)
    # `always: true` waives most requirements; in OpenClaw never that of the platform.
    waived = rules.always_skips if manifest.always else ()
    missing: dict[str, tuple[str, ...]] = {}
    for check in rules.checks:
        if check not in waived:
            missing[check] = CHECKS[check](case)
    return Verdict(**missing)


def has_requirements(manifest: Manifest) -> bool:
    """Whether a skill requires anything of the machine at all."""
    requires = manifest.requires
    return bool(
        manifest.os or requires.bins or requires.any_bins or requires.env or requires.config
    )


def find_other_spelling(manifest: Manifest, rules: GateRules, facts: Facts) -> Note | None:
    """Why a host lists a skill as ready and yet does not offer it; None if it does.

    OpenClaw's list accepts every spelling of a platform, its catalog and its commands only one.
    """
    if not manifest.os or not rules.os_as_written:
        return None
    platform = facts.platform
    is_spelled_right = not {platform, *facts.platforms}.isdisjoint(manifest.os)
    if is_spelled_right:
        return None
    reason = (
        f"it is left out of the catalog and has no command unless `os` says `{platform}`, in lower"
        " case"
    )
    return Note(State.READY, reason, rule="os")


def find_ineligible(
    manifest: Manifest, *, name: str, rules: GateRules, facts: Facts, settings: Settings
) -> Note | None:
    """Why a skill cannot be offered on this machine; None if it can."""
    # Most skills require nothing, and a scan asks for every one of them.
    if not rules.checks or not has_requirements(manifest):
        return None
    verdict = judge(manifest, name=name, rules=rules, facts=facts, settings=settings)
    if verdict.eligible:
        return None
    return Note(State.INELIGIBLE, verdict.explain(), rule="requires")
