"""Settings by the keys that people write: each host's file has words of its own for what is one
setting here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from prowess.profiles.schema.settings import SettingsFileRule
from prowess.settings.read.coercion import find_field
from prowess.settings.read.file_mapping import OWN_KEYS

# What a host's file says the other way round: there it is true where the setting is false.
_TURNED = ("no_shell_commands",)


class Written(NamedTuple):
    """A key as a file has it, and whether the file says the opposite of the setting."""

    key: str
    is_turned: bool = False


def find_written(key: str, rules: Iterable[SettingsFileRule]) -> Written:
    """The key of a file for a setting's dotted name; the first file that has one decides, else the
    name itself.
    """
    for rule in rules:
        keys = rule.keys or (OWN_KEYS if rule.refuse_unknown else {})
        found = [
            Written(written, setting in _TURNED)
            for name, setting in keys.items()
            if (written := _translate(key, name.removesuffix(".*"), setting, rule)) is not None
        ]
        if found:
            # Of the words for agents the last is the one in use.
            return found[-1] if key.startswith("agents.") else found[0]
        if not rule.is_own and key.startswith("config."):
            return Written(key.removeprefix("config."))
    return Written(key)


def _translate(key: str, written: str, setting: str, rule: SettingsFileRule) -> str | None:
    if setting in ("raw", "tools"):
        return None
    if setting == "agents":
        name = key.removeprefix("agents.").removesuffix(".permissions")
        return None if name == key or rule.is_own else f"{written}.{name}"
    if setting.startswith("rules."):
        return written.rpartition(".")[0] if key == "permissions" else None
    if setting == "visibility" and key.startswith("overrides."):
        name = key.removeprefix("overrides.").removesuffix(".visibility")
        return f"{written}.{name}" if key.endswith(".visibility") else None
    field, name_in_field = find_field(setting)
    internal = field if name_in_field is None else f"{field}.{name_in_field}"
    if key != internal and not key.startswith(f"{internal}."):
        return None
    rest = key.removeprefix(internal)
    is_key = setting == "overrides" and not rule.is_own and rest.endswith(".api_key")
    return written + (rest.removesuffix("api_key") + "apiKey" if is_key else rest)
