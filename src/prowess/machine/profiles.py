"""Profiles that users added, as files."""

from __future__ import annotations

import os

from prowess.errors import MachineError
from prowess.model.facts import Facts

_MOST_BYTES = 1 << 18


def load_added_profiles(facts: Facts, host: str) -> tuple[str, dict[str, str]]:
    """The host's name and the texts of every added profile.

    Profiles lie in `profiles/*.toml` below Prowess's configuration folder and are named by their files. A host
    that is a path to a `.toml` file is itself one.
    """
    config = facts.env.get("XDG_CONFIG_HOME") or os.path.join(facts.home, ".config")
    folder = os.path.join(config, "prowess", "profiles")
    added: dict[str, str] = {}
    if os.path.isdir(folder):
        for name in sorted(os.listdir(folder)):
            if name.endswith(".toml"):
                added[name.removesuffix(".toml")] = _read(os.path.join(folder, name))
    path, at, edition = host.partition("@")
    if path.endswith(".toml"):
        name = os.path.basename(path).removesuffix(".toml")
        added[name] = _read(path)
        host = f"{name}{at}{edition}"
    return host, added


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_MOST_BYTES)
    except OSError as error:
        raise MachineError("read the profile", path, error.strerror or str(error)) from error
