"""What a project's own file may do to the settings: it can neither trust itself nor undo what its
user decided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.sandbox import SandboxSettings
from prowess.model.settings import Origin
from prowess.profiles.schema.roots import Limits
from prowess.settings.formats.document import join_key
from prowess.settings.formats.key_spans import Path
from prowess.settings.read.file_mapping import OWN_KEYS

Values = dict[Path, tuple[Any, Origin]]


class Spoken(NamedTuple):
    """A value that a project's file has, what the user's own files say (None: nothing), and the
    profile's limits.
    """

    path: Path
    value: Any
    users: Any
    limits: Limits


def _trusts_itself(spoken: Spoken) -> str | None:
    return "only your own prowess.toml can say what is trusted"


def _raises(spoken: Spoken) -> str | None:
    most = getattr(spoken.limits, spoken.path[-1]) if spoken.users is None else spoken.users
    if most == 0 or 0 < spoken.value <= most:
        return None
    return f"a project can lower a limit but not raise it, and it is {most:,} here"


def _switches_on(spoken: Spoken) -> str | None:
    if spoken.users not in (False, "off") or spoken.value == spoken.users:
        return None
    return "your own prowess.toml switches it off, which a project cannot undo"


def _remembers(spoken: Spoken) -> str | None:
    return (
        "only your own prowess.toml can have approvals kept on disk"
        if spoken.value == "disk"
        else None
    )


def _replaces(spoken: Spoken) -> str | None:
    return None if spoken.users is None else "your own prowess.toml declares a tool of that name"


def _redirects(spoken: Spoken) -> str | None:
    return None if spoken.users is None else "your own prowess.toml sets it for your skill"


_SANDBOX = SandboxSettings()
_LOOSENS = "a project can tighten the sandbox but not loosen it"


def _leaves_sandbox(spoken: Spoken) -> str | None:
    """Writing to further folders, the network, and no sandbox at all are the user's to allow."""
    loosens = spoken.path[-1] == "write" or spoken.value in (True, "off")
    return _LOOSENS if loosens and spoken.value != spoken.users else None


def _raises_sandbox(spoken: Spoken) -> str | None:
    most = getattr(_SANDBOX, spoken.path[-1]) if spoken.users is None else spoken.users
    return None if spoken.value <= most else f"{_LOOSENS}, and it is {most:,} here"


# What a project's file may not set, by setting (`*` stands for any name), each with what speaks
# against a value.
USERS_OWN: Mapping[tuple[str, ...], Callable[[Spoken], str | None]] = {
    ("trusted_links",): _trusts_itself,
    ("limits", "*"): _raises,
    ("enabled",): _switches_on,
    ("toggles", "*"): _switches_on,
    ("usage",): _switches_on,
    ("approvals",): _remembers,
    ("shell_commands",): _switches_on,
    ("overrides", "*", "enabled"): _switches_on,
    ("overrides", "*", "visibility"): _switches_on,
    ("overrides", "*", "env", "*"): _redirects,
    ("overrides", "*", "api_key"): _redirects,
    ("overrides", "*", "api_key_from"): _redirects,
    ("tools", "*"): _replaces,
    ("sandbox", "mode"): _leaves_sandbox,
    ("sandbox", "network"): _leaves_sandbox,
    ("sandbox", "write"): _leaves_sandbox,
    ("sandbox", "memory_mb"): _raises_sandbox,
    ("sandbox", "processes"): _raises_sandbox,
    ("sandbox", "skills", "*", "*"): _leaves_sandbox,
}
# What every file adds to, in place of replacing what was read before.
ADDS_UP = (("disabled_extensions",), ("ignored",), ("sandbox", "hide"))

_WRITTEN = {setting: key for key, setting in OWN_KEYS.items()} | {"tools": "tools"}


def take_users(values: Values, found: Values) -> None:
    """Lay what a user's own file says over the values so far."""
    for path, (value, origin) in found.items():
        values[path] = (_add_up(path, value, values), origin)


def take_projects(values: Values, found: Values, users: Values, limits: Limits) -> list[Diagnostic]:
    """Lay what a project's file says over the values so far, as far as it may; what it may not is
    reported.
    """
    refused = []
    for path, (value, origin) in found.items():
        judge = next((judge for key, judge in USERS_OWN.items() if _covers(key, path)), None)
        reason = judge and judge(Spoken(path, value, users.get(path, (None,))[0], limits))
        if reason:
            refused.append(_report(path, origin, reason))
        else:
            values[path] = (_add_up(path, value, values), origin)
    return refused


def _add_up(path: Path, value: Any, values: Values) -> Any:
    return (
        tuple(dict.fromkeys((*values[path][0], *value)))
        if path in ADDS_UP and path in values
        else value
    )


def _covers(key: tuple[str, ...], path: Path) -> bool:
    return len(key) == len(path) and all(
        part in ("*", named) for part, named in zip(key, path, strict=True)
    )


def _report(path: Path, origin: Origin, reason: str) -> Diagnostic:
    key = join_key((*_WRITTEN[path[0]].split("."), *path[1:]))
    message = f"`{key}` has no effect in a project's file: {reason}."
    hint = "Remove it here; set it in your own prowess.toml if you want it."
    return diagnose(
        "setting-ignored", message, file=origin.file, line=origin.line, field=key, hint=hint
    )
