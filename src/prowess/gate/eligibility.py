"""Requirements against facts: whether a skill can be offered on a machine, and everything that is
missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from prowess.model.facts import Facts
from prowess.model.outcome import Note, State
from prowess.model.settings import Override, Settings
from prowess.model.skill import Manifest
from prowess.profiles.schema.resolution import GateRules

_UNSAFE_SEGMENTS = frozenset(("__proto__", "prototype", "constructor"))


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything a skill misses on a machine, by kind; eligible where nothing is missing."""

    os: tuple[str, ...] = ()
    bins: tuple[str, ...] = ()
    any_bins: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    config: tuple[str, ...] = ()

    @property
    def eligible(self) -> bool:
        """Whether nothing is missing."""
        return not (self.os or self.bins or self.any_bins or self.env or self.config)

    def explain(self) -> str:
        """What is missing, as a sentence part."""
        parts = [
            f"it runs only on {_either(self.os)}" if self.os else "",
            f"the program{_plural(self.bins)} {_all(self.bins)} cannot be found"
            if self.bins
            else "",
            f"none of the programs {_either(self.any_bins)} can be found" if self.any_bins else "",
            _not_set("environment variable", self.env),
            _not_set("setting", self.config),
        ]
        return "; ".join(part for part in parts if part)


def _plural(words: tuple[str, ...]) -> str:
    return "s" if len(words) > 1 else ""


def _not_set(what: str, names: tuple[str, ...]) -> str:
    if not names:
        return ""
    return f"the {what}{_plural(names)} {_all(names)} {'are' if len(names) > 1 else 'is'} not set"


def _all(words: tuple[str, ...]) -> str:
    return ", ".join(words)


def _either(words: tuple[str, ...]) -> str:
    return " or ".join(words)


class _Question(msgspec.Struct):
    manifest: Manifest
    rules: GateRules
    facts: Facts
    settings: Settings
    override: Override | None


def _missing_os(ask: _Question) -> tuple[str, ...]:
    wanted = ask.manifest.os
    words = ask.rules.os_words
    folded = {words.get(word.lower(), word.lower()) for word in wanted}
    here = (ask.facts.platform, *ask.facts.platforms)
    return wanted if wanted and folded.isdisjoint(here) else ()


def _missing_bins(ask: _Question) -> tuple[str, ...]:
    return tuple(name for name in ask.manifest.requires.bins if not ask.facts.has_bin(name))


def _missing_any_bins(ask: _Question) -> tuple[str, ...]:
    wanted = ask.manifest.requires.any_bins
    return wanted if wanted and not ask.facts.has_any_bin(wanted) else ()


def _missing_env(ask: _Question) -> tuple[str, ...]:
    return tuple(name for name in ask.manifest.requires.env if not _is_set(ask, name))


def _is_set(ask: _Question, name: str) -> bool:
    override = ask.override
    if ask.facts.env.get(name, "").strip():
        return True
    if override is None:
        return False
    configured = override.env.get(name, "").strip()
    has_key = bool(override.api_key or override.api_key_from)
    return bool(configured) or (name == ask.manifest.primary_env and has_key)


def _missing_config(ask: _Question) -> tuple[str, ...]:
    return tuple(path for path in ask.manifest.requires.config if not _is_configured(ask, path))


def _is_configured(ask: _Question, path: str) -> bool:
    value: Any = ask.settings.raw
    for segment in path.split("."):
        if segment in _UNSAFE_SEGMENTS or not isinstance(value, Mapping) or segment not in value:
            return ask.rules.config_defaults.get(path, False)
        value = value[segment]
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, (Mapping, list)) or bool(value)


CHECKS: dict[str, Callable[[_Question], tuple[str, ...]]] = {
    "os": _missing_os,
    "bins": _missing_bins,
    "any_bins": _missing_any_bins,
    "env": _missing_env,
    "config": _missing_config,
}


def judge(
    manifest: Manifest, *, name: str, rules: GateRules, facts: Facts, settings: Settings
) -> Verdict:
    """Hold a skill's requirements against the facts of a machine."""
    found = settings.find_override(manifest.skill_key, name)
    ask = _Question(manifest, rules, facts, settings, None if found is None else found[1])
    skipped = rules.always_skips if manifest.always else ()
    return Verdict(**{check: CHECKS[check](ask) for check in rules.checks if check not in skipped})


def has_requirements(manifest: Manifest) -> bool:
    """Whether a skill asks anything of the machine at all."""
    requires = manifest.requires
    return bool(
        manifest.os or requires.bins or requires.any_bins or requires.env or requires.config
    )


def find_ineligible(
    manifest: Manifest, *, name: str, rules: GateRules, facts: Facts, settings: Settings
) -> Note | None:
    """Why a skill cannot be offered on this machine; None where it can."""
    if not rules.checks or not has_requirements(manifest):
        return None
    verdict = judge(manifest, name=name, rules=rules, facts=facts, settings=settings)
    return None if verdict.eligible else Note(State.INELIGIBLE, verdict.explain(), rule="requires")
