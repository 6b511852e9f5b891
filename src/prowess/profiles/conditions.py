"""Conditions of a profile, such as `env:NAME`: what turns a root or a settings file on or off."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from prowess.errors import SwitchError
from prowess.model.settings import Settings

_TRUE_WORDS = ("true", "yes", "on", "1", "y")
_FALSE_WORDS = ("false", "no", "off", "0", "n")
# The words of a trusted folder, as Gemini CLI writes them.
_TRUSTING = ("TRUST_FOLDER", "TRUST_PARENT")


class Switches(msgspec.Struct, frozen=True):
    """What conditions are about: the environment, the settings and the working folder.

    With `strict_words`, a variable that is neither true nor false is an error.
    """

    env: Mapping[str, str]
    settings: Settings
    strict_words: bool
    home: str = ""
    cwd: str = ""

    def is_true(self, condition: str) -> bool:
        """Whether a condition such as `env:NAME` or `toggle:NAME` is true here."""
        kind, _, name = condition.partition(":")
        return _CONDITIONS[kind](self, name)


def _env_is_true(switches: Switches, name: str) -> bool:
    value = switches.env.get(name)
    if value is None:
        return False
    if not switches.strict_words:
        return value.strip().lower() not in (*_FALSE_WORDS, "")
    # opencode stops with an error here, and does not guess.
    if value not in (*_TRUE_WORDS, *_FALSE_WORDS):
        raise SwitchError(name, value, (*_TRUE_WORDS, *_FALSE_WORDS))
    return value in _TRUE_WORDS


def _env_is_one(switches: Switches, name: str) -> bool:
    return switches.env.get(name, "").lower() in ("1", "true")


def _env_is_set(switches: Switches, name: str) -> bool:
    return bool(switches.env.get(name))


def _env_leads_elsewhere(switches: Switches, name: str) -> bool:
    """`NAME=~/usual`: whether the variable names another folder than the usual one."""
    variable, _, usual = name.partition("=")
    value = switches.env.get(variable, "").strip()
    return bool(value) and value.rstrip("/") != usual.replace("~", switches.home, 1)


def _toggle_is_on(switches: Switches, name: str) -> bool:
    return switches.settings.toggles.get(name, True)


def _any_toggle_is_on(switches: Switches, name: str) -> bool:
    return any(switches.settings.toggles.values())


def _provider_is_enabled(switches: Switches, name: str) -> bool:
    return not {name, "*", "all"}.isdisjoint(switches.settings.enabled_providers)


def _folder_is_trusted(switches: Switches, name: str) -> bool:
    """Whether the host trusts the working folder; the longest path that covers it decides."""
    settings = switches.settings
    # In Gemini CLI `false` trusts every folder; unset, a folder is not trusted until it is listed.
    if settings.folder_trust is False:
        return True
    word, longest = "", -1
    for path, trust in settings.trusted_folders.items():
        covered = path.rpartition("/")[0] if trust == "TRUST_PARENT" else path
        is_inside = f"{switches.cwd}/".startswith(f"{covered.rstrip('/')}/")
        if is_inside and len(path) > longest:
            word, longest = trust, len(path)
    return word in _TRUSTING


_CONDITIONS: dict[str, Callable[[Switches, str], bool]] = {
    "env": _env_is_true,
    "env-one": _env_is_one,
    "env-set": _env_is_set,
    "env-moved": _env_leads_elsewhere,
    "toggle": _toggle_is_on,
    "any-toggle": _any_toggle_is_on,
    "provider": _provider_is_enabled,
    "trusted-folder": _folder_is_trusted,
}
