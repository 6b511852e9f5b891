"""Limits for the settings of a project: it can't trust itself or undo what the user decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.origin import Origin
from prowess.model.sandbox import SandboxSettings
from prowess.profiles.schema.roots import ScanLimits
from prowess.settings.formats.document import join_key
from prowess.settings.formats.key_spans import Path
from prowess.settings.read.settings_file import OWN_KEYS

Values = dict[Path, tuple[Any, Origin]]


class ProjectValue(NamedTuple):
    """A value in a project's file.

    `users` is what the user's own files say (None: nothing), `limits` are those of the profile.
    """

    path: Path
    value: Any
    users: Any
    limits: ScanLimits


def _forbid(proposed: ProjectValue) -> str | None:
    return "only your own prowess.toml can say what is trusted"


def _forbid_model(proposed: ProjectValue) -> str | None:
    # A model is where everything that the agent reads is sent, and what it costs.
    return "only your own prowess.toml can choose a model"


def _forbid_window(proposed: ProjectValue) -> str | None:
    # Every compaction is a request that the user pays for.
    return "only your own prowess.toml can say when a conversation is compacted"


def _forbid_dream(proposed: ProjectValue) -> str | None:
    # A dream is a row of requests that the user pays for.
    return "only your own prowess.toml can say when an idle chat runs `/dream`"


def _forbid_feature(proposed: ProjectValue) -> str | None:
    if proposed.value is False or proposed.users is True:
        return None
    return "only your own prowess.toml can turn features on"


def _forbid_hosts(proposed: ProjectValue) -> str | None:
    return "only your own prowess.toml can open a private network to the agent"


def _forbid_jobs(proposed: ProjectValue) -> str | None:
    # Whoever can write to that database decides what workers run here.
    return "only your own prowess.toml can say where and how jobs run"


def _forbid_manager(proposed: ProjectValue) -> str | None:
    # Each has its own registry and settings, which are the user's.
    return "only your own prowess.toml can choose what installs programs"


def _check_limit(proposed: ProjectValue) -> str | None:
    most = proposed.users
    if most is None:
        most = getattr(proposed.limits, proposed.path[-1])
    # 0 means no limit: nothing is above it, and it is above everything else.
    is_lower = most == 0 or 0 < proposed.value <= most
    if is_lower:
        return None
    return f"a project can lower a limit but not raise it, and the limit is {most:,}"


def _check_switch(proposed: ProjectValue) -> str | None:
    is_off = proposed.users in (False, "off")
    if not is_off or proposed.value == proposed.users:
        return None
    return "your own prowess.toml turns it off, and a project can't undo that"


def _check_approvals(proposed: ProjectValue) -> str | None:
    if proposed.value != "disk":
        return None
    return "only your own prowess.toml can store approvals on disk"


def _check_trust(proposed: ProjectValue) -> str | None:
    if proposed.users != "content" or proposed.value == "content":
        return None
    return "your own prowess.toml binds trust to content, and a project can't undo that"


def _check_tool(proposed: ProjectValue) -> str | None:
    if proposed.users is None:
        return None
    return "your own prowess.toml declares a tool with that name"


def _check_source(proposed: ProjectValue) -> str | None:
    if proposed.users is not None:
        return "your own prowess.toml has a source with that name"
    if proposed.value.private:
        return "only your own prowess.toml can allow private addresses"
    return None


def _forbid_network(proposed: ProjectValue) -> str | None:
    return "only your own prowess.toml can say how the network is used"


def _check_secret(proposed: ProjectValue) -> str | None:
    if proposed.users is None:
        return None
    return "your own prowess.toml already sets it"


def _check_server(proposed: ProjectValue) -> str | None:
    if proposed.users is None:
        return None
    return "your own prowess.toml has a server with that name"


_SANDBOX = SandboxSettings()
_LOOSENS = "a project can tighten the sandbox but not loosen it"


def _check_sandbox(proposed: ProjectValue) -> str | None:
    """Only the user can allow more folders, the network, or no sandbox at all."""
    loosens = proposed.path[-1] == "write" or proposed.value in (True, "off")
    # What the user's own file says as well, a project may repeat.
    is_repeated = proposed.value == proposed.users
    if not loosens or is_repeated:
        return None
    return _LOOSENS


def _check_sandbox_limit(proposed: ProjectValue) -> str | None:
    most = proposed.users
    if most is None:
        most = getattr(_SANDBOX, proposed.path[-1])
    # Unlike the limits of a scan, 0 is the strictest: with no memory nothing runs.
    if proposed.value <= most:
        return None
    return f"{_LOOSENS}, and the limit is {most:,}"


# What a project's file may not set freely, by setting (`*` is any name). Each function returns why
# a value is refused, or None.
USERS_OWN: Mapping[tuple[str, ...], Callable[[ProjectValue], str | None]] = {
    ("trusted_links",): _forbid,
    ("limits", "*"): _check_limit,
    ("enabled",): _check_switch,
    ("toggles", "*"): _check_switch,
    ("usage",): _check_switch,
    ("approvals",): _check_approvals,
    ("trust",): _check_trust,
    ("shell_commands",): _check_switch,
    ("overrides", "*", "enabled"): _check_switch,
    ("overrides", "*", "visibility"): _check_switch,
    ("overrides", "*", "env", "*"): _check_secret,
    ("overrides", "*", "api_key"): _check_secret,
    ("overrides", "*", "api_key_from"): _check_secret,
    ("enabled_plugins", "*"): _check_switch,
    ("tools", "*"): _check_tool,
    ("mcp_servers", "*"): _check_server,
    ("sources", "*"): _check_source,
    ("network", "*"): _forbid_network,
    ("agent", "model"): _forbid_model,
    ("agent", "models", "*"): _forbid_model,
    ("agent", "context_window"): _forbid_window,
    ("agent", "compact_at"): _forbid_window,
    ("agent", "dream_after"): _forbid_dream,
    ("agent", "private_hosts"): _forbid_hosts,
    ("features", "*"): _forbid_feature,
    ("node_manager",): _forbid_manager,
    ("jobs", "database"): _forbid_jobs,
    ("jobs", "concurrency"): _forbid_jobs,
    ("jobs", "pull_requests"): _forbid_jobs,
    ("jobs", "background"): _forbid_jobs,
    ("sandbox", "mode"): _check_sandbox,
    ("sandbox", "network"): _check_sandbox,
    ("sandbox", "write"): _check_sandbox,
    ("sandbox", "memory_mb"): _check_sandbox_limit,
    ("sandbox", "processes"): _check_sandbox_limit,
    ("sandbox", "skills", "*", "*"): _check_sandbox,
}
# Lists to which every file adds, instead of replacing what was read before.
ADDS_UP = (("disabled_extensions",), ("ignored",), ("sandbox", "hide"))

# These settings are read by functions of another name.
_SAME_KEYS = {"tools": "tools", "enabled_plugins": "enabled_plugins"}
_KEYS = {setting: key for key, setting in OWN_KEYS.items()} | _SAME_KEYS


def add_users_values(values: Values, found: Values) -> None:
    """Add what a user's own file sets to the values so far."""
    for path, (value, origin) in found.items():
        values[path] = (_combine(path, value, values), origin)


def add_project_values(
    values: Values, found: Values, users: Values, limits: ScanLimits
) -> list[Diagnostic]:
    """Add what a project's file may set to the values so far; a warning for everything else."""
    refused = []
    for path, (value, origin) in found.items():
        users_value = users[path][0] if path in users else None
        reason = _find_refusal(ProjectValue(path, value, users_value, limits))
        if reason is not None:
            refused.append(_report(path, origin, reason))
        else:
            values[path] = (_combine(path, value, values), origin)
    return refused


def _find_refusal(proposed: ProjectValue) -> str | None:
    for key, check in USERS_OWN.items():
        if _covers(key, proposed.path):
            return check(proposed)
    return None


def _combine(path: Path, value: Any, values: Values) -> Any:
    if path in ADDS_UP and path in values:
        return tuple(dict.fromkeys((*values[path][0], *value)))
    return value


def _covers(key: tuple[str, ...], path: Path) -> bool:
    if len(key) != len(path):
        return False
    return all(part in ("*", name) for part, name in zip(key, path, strict=True))


def _report(path: Path, origin: Origin, reason: str) -> Diagnostic:
    key = join_key((*_KEYS[path[0]].split("."), *path[1:]))
    return diagnose(
        "setting-ignored",
        f"`{key}` has no effect in a project's file: {reason}.",
        file=origin.file,
        line=origin.line,
        field=key,
        hint="Remove it here, or set it in your own prowess.toml.",
    )
