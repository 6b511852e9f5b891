"""The variables that belong to one skill: what its settings give it, for the programs it runs and
for nothing else.

Nothing here changes the environment of this process; the result is a value that goes with each
command and each call of a tool.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import MachineError
from prowess.model.settings import Override, Settings
from prowess.model.skill import Manifest
from prowess.ports import SecretStore
from prowess.shell.env_denylist import find_refusal, looks_secret, may_be_secret
from prowess.text.masker import Masker

_MOST_CHARACTERS = 32_768
# Every program gets these as they are, whatever a skill declares.
_GIVEN_ANYWAY = frozenset("HOME PATH PATHEXT SHELL TEMP TMP TMPDIR".split())
# Who asks, in front of the host of an address. A user without a password is a key if it is too long
# for a name.
_USER = re.compile(r"://([^\s/?#@]*(?:@[^\s/?#@]*)*)@")
_LONGEST_NAME = 15


class SkillEnvironment(msgspec.Struct, frozen=True, kw_only=True):
    """The variables of one skill, and what hides their secrets. It never shows a value, not even in
    its `repr`.
    """

    variables: Mapping[str, str] = msgspec.field(default_factory=dict)
    masker: Masker = msgspec.field(default_factory=Masker)
    diagnostics: tuple[Diagnostic, ...] = ()

    def __repr__(self) -> str:
        return (
            f"SkillEnvironment(variables={sorted(self.variables)},"
            f" diagnostics={self.diagnostics!r})"
        )

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("variables", sorted(self.variables)), ("diagnostics", self.diagnostics)]


def build_environment(
    name: str,
    manifest: Manifest,
    settings: Settings,
    *,
    outside: Mapping[str, str],
    trusts_project: bool = False,
    secrets: SecretStore | None = None,
) -> SkillEnvironment:
    """The variables that a skill's programs get beside those that every program gets.

    They come from the settings of the skill, under its key or its name: `env` as it is, and
    `api_key` for the variable that the header calls primary. `outside` is the environment of this
    process: what is set there holds before a setting, and a variable that the header declares is
    taken from there. A name that looks like a secret's counts only where the header declares it. A
    key that is kept elsewhere is asked of `secrets`. What a project's own file sets counts only
    where the user trusts the project: it could send a skill's keys elsewhere.
    """
    keyed_override = settings.find_override(manifest.skill_key, name)
    key, override = keyed_override or (name, Override())
    builder = _Builder(key, manifest, settings, outside)
    if not trusts_project:
        override = builder.drop_projects(override)
    return builder.build(override, secrets)


class _Builder:
    def __init__(
        self, key: str, manifest: Manifest, settings: Settings, outside: Mapping[str, str]
    ) -> None:
        self._key = key
        self._settings = settings
        self._primary = manifest.primary_env
        self._declared = tuple(
            dict.fromkeys((*filter(None, (manifest.primary_env,)), *manifest.requires.env))
        )
        self._outside = outside
        self._variables: dict[str, str] = {}
        self._secrets: list[str] = []
        self._diagnostics: list[Diagnostic] = []

    def drop_projects(self, override: Override) -> Override:
        """What is set for the skill, without what a project's own file sets."""
        env = dict(override.env)
        for name in override.env:
            if self._is_projects(f"env.{name}"):
                del env[name]
        if self._is_projects("api_key"):
            return msgspec.structs.replace(override, env=env, api_key=None, api_key_from={})
        return msgspec.structs.replace(override, env=env)

    def _is_projects(self, field: str) -> bool:
        if not self._settings.is_from_project(f"overrides.{self._key}.{field}"):
            return False
        message = (
            f"`{field}` of the skill “{self._key}” is set by a project that is not trusted, and is"
            " not passed on."
        )
        self._refuse(message, field)
        return True

    def build(self, override: Override, secrets: SecretStore | None) -> SkillEnvironment:
        """Everything, in the order of strength: the weakest is laid down first."""
        # What a setting holds is a secret even where it does not reach the skill.
        self._secrets += [value for name, value in override.env.items() if may_be_secret(name)]
        for name, value in override.env.items():
            self._add(name, value, f"env.{name}")
        api_key = self._find_api_key(override, secrets)
        if api_key is not None:
            self._secrets.append(api_key)
            if self._primary is not None:
                self._add(self._primary, api_key, "api_key")
        for name in dict.fromkeys((*self._variables, *self._declared)):
            if self._outside.get(name, "").strip():
                self._take_outside(name)
        self._secrets += [self._variables[name] for name in self._list_secret_names()]
        for value in (*override.env.values(), *self._variables.values()):
            self._secrets += _list_passwords(value)
        return SkillEnvironment(
            variables=self._variables,
            masker=Masker(self._secrets),
            diagnostics=tuple(self._diagnostics),
        )

    def _add(self, name: str, value: str, field: str) -> None:
        refusal = find_refusal(name) or self._find_fault(name, value)
        if refusal is not None:
            self._refuse(
                f"`{name}` is set for the skill “{self._key}” but is not passed on because"
                f" {refusal}.",
                field,
            )
            return
        self._variables[name] = value

    def _find_fault(self, name: str, value: str) -> str | None:
        if "\0" in value:
            return "it contains a NUL character"
        if len(value) > _MOST_CHARACTERS:
            return f"it has {len(value):,} characters; at most {_MOST_CHARACTERS:,} are passed on"
        if looks_secret(name) and name not in self._declared:
            return (
                "it looks like a secret and the skill does not declare it (`primaryEnv` or"
                " `requires.env`)"
            )
        return None

    def _take_outside(self, name: str) -> None:
        """A variable of this process that the skill declares or has a setting for."""
        refusal = find_refusal(name)
        if refusal is None:
            self._variables[name] = self._outside[name]
        elif name not in _GIVEN_ANYWAY:
            self._refuse(
                f"The skill “{self._key}” declares `{name}`, which is not passed on because"
                f" {refusal}.",
                None,
            )

    def _find_api_key(self, override: Override, secrets: SecretStore | None) -> str | None:
        reference = override.api_key_from
        if not reference:
            return override.api_key
        if secrets is None:
            self._report_no_key("no secret store is available")
            return None
        try:
            secret = secrets.find_secret(reference)
        except MachineError as error:
            self._report_no_key(error.cause)
            return None
        if secret is None:
            self._report_no_key("no key is stored there")
        return secret

    def _report_no_key(self, problem: str) -> None:
        message = f"Could not get the key of the skill “{self._key}”: {problem}."
        self._diagnostics.append(self._diagnose("environment-unresolved", message, "api_key"))

    def _list_secret_names(self) -> Iterable[str]:
        return (name for name in self._variables if may_be_secret(name) or name == self._primary)

    def _refuse(self, message: str, field: str | None) -> None:
        self._diagnostics.append(self._diagnose("environment-refused", message, field))

    def _diagnose(self, code: str, message: str, field: str | None) -> Diagnostic:
        if field is None:
            return diagnose(code, message, field="requires.env")
        key = f"overrides.{self._key}.{field}"
        origin = self._settings.origin(key)
        return diagnose(code, message, file=origin.file, line=origin.line, field=key)


def _list_passwords(value: str) -> Iterator[str]:
    """The passwords in the addresses of a value, as they are written and as they are meant."""
    from urllib.parse import unquote

    for credentials in _USER.finditer(value):
        user, colon, password = credentials[1].partition(":")
        if colon:
            secret = password
        elif len(user) > _LONGEST_NAME:
            secret = user
        else:
            continue
        yield from filter(None, (secret, unquote(secret)))
