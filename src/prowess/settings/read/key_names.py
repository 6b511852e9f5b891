"""The key that a settings file has for a setting: every host's file has its own names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from prowess.profiles.schema.settings import SettingsFileRule
from prowess.settings.read.coercion import get_field
from prowess.settings.read.settings_file import get_keys

# Settings whose key in a file has the opposite value.
_INVERTED = ("no_shell_commands",)


class FileKey(NamedTuple):
    """A key of a settings file, and whether its value is the opposite of the setting's."""

    key: str
    is_inverted: bool = False


def get_file_key(name: str, rules: Iterable[SettingsFileRule]) -> FileKey:
    """The key for the dotted name of a setting in the first file that has one.

    If no file has a key for it, the name itself.
    """
    for rule in rules:
        # Where a file has two keys for one setting, as opencode for agents, the first is the usual.
        found = next(_list_file_keys(name, rule), None)
        if found is not None:
            return found
        is_configuration = not rule.is_own and not rule.only_keys
        if is_configuration and name.startswith("config."):
            return FileKey(name.removeprefix("config."))
    return FileKey(name)


def _list_file_keys(name: str, rule: SettingsFileRule) -> Iterator[FileKey]:
    for key, setting in get_keys(rule).items():
        translate = _TRANSLATIONS.get(setting.partition(".")[0], _translate_field)
        translated = translate(name, key.removesuffix(".*"), setting, rule)
        if translated is not None:
            yield FileKey(translated, setting in _INVERTED)


# Each of these returns the key for a name, or None if the setting of the key does not cover it.
Translate = Callable[[str, str, str, SettingsFileRule], str | None]


def _translate_field(name: str, key: str, setting: str, rule: SettingsFileRule) -> str | None:
    field, entry = get_field(setting)
    covered = field if entry is None else f"{field}.{entry}"
    # With a dot, so that `agent` does not cover `agents`.
    is_covered = f"{name}.".startswith(f"{covered}.")
    return key + name.removeprefix(covered) if is_covered else None


def _translate_override(name: str, key: str, setting: str, rule: SettingsFileRule) -> str | None:
    translated = _translate_field(name, key, setting, rule)
    if translated is None or rule.is_own:
        return translated
    # Hosts write this one field in camel case.
    is_key = translated.endswith(".api_key")
    return f"{translated.removesuffix('api_key')}apiKey" if is_key else translated


def _translate_visibility(name: str, key: str, setting: str, rule: SettingsFileRule) -> str | None:
    if name == "overrides":
        return key
    skill = name.removeprefix("overrides.").removesuffix(".visibility")
    is_visibility = name == f"overrides.{skill}.visibility"
    return f"{key}.{skill}" if is_visibility else None


def _translate_agent(name: str, key: str, setting: str, rule: SettingsFileRule) -> str | None:
    # In prowess.toml the name of the setting is the key.
    if rule.is_own:
        return None
    agent = name.removeprefix("agents.").removesuffix(".permissions")
    is_about_agent = agent != name
    return f"{key}.{agent}" if is_about_agent else None


def _translate_rules(name: str, key: str, setting: str, rule: SettingsFileRule) -> str | None:
    if name != "permissions":
        return None
    # `permissions.deny = "rules.deny"` is one list of the table that has them all.
    is_one_list = "." in setting
    return key.rpartition(".")[0] if is_one_list else key


def _translate_nothing(name: str, key: str, setting: str, rule: SettingsFileRule) -> str | None:
    return None


_TRANSLATIONS: dict[str, Translate] = {
    "overrides": _translate_override,
    "visibility": _translate_visibility,
    "agents": _translate_agent,
    "rules": _translate_rules,
    "raw": _translate_nothing,
    "tools": _translate_nothing,
}
