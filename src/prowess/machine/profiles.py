"""Profiles as files: those that users added, and built-in ones kept as they were checked the last time."""

from __future__ import annotations

import os

import msgspec

from prowess.errors import MachineError
from prowess.machine.dirs import cache_folder
from prowess.machine.stamps import stamp_code
from prowess.model.facts import Facts
from prowess.profiles.load import BUILT_IN, ProfileText, load_profile, split_host
from prowess.profiles.schema import Profile
from prowess.version import VERSION

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


def load_kept_profile(host: str, facts: Facts) -> Profile:
    """A built-in profile, from where it is kept checked and merged; reading its files costs many times as much.

    It is kept with a stamp over Prowess's own files, and one of another stamp is made anew.
    """
    if split_host(host)[0] not in BUILT_IN:
        return load_profile(host)
    stamp = f"{VERSION} {stamp_code()}"
    path = os.path.join(cache_folder(facts), "profiles", f"{host}.msgpack")
    try:
        with open(path, "rb") as file:
            kept, profile = msgspec.msgpack.decode(file.read(), type=tuple[str, Profile])
        if kept == stamp:
            return profile
    except (OSError, msgspec.DecodeError):
        kept = ""
    profile = load_profile(host)
    _keep(path, msgspec.msgpack.encode((stamp, profile)))
    return profile


def _keep(path: str, data: bytes) -> None:
    from prowess.machine.writing import write_aside

    try:
        write_aside(path, data, mode=0o600, folder_mode=0o700)
    except MachineError:
        # A home that cannot be written costs only the time to read the files again.
        return


def _read(path: str) -> ProfileText:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return ProfileText(file.read(_MOST_BYTES), path)
    except OSError as error:
        raise MachineError("read the profile", path, error.strerror or str(error)) from error
