"""Profiles on disk: those that users added, and a cache of the built-in ones."""

from __future__ import annotations

import os
from functools import lru_cache

import msgspec

from prowess.errors import MachineError, name_cause
from prowess.machine.files import LocalFiles
from prowess.machine.ownership import find_other_writer
from prowess.model.facts import Facts
from prowess.profiles.load import BUILT_IN, ProfileText, load_profile, split_host
from prowess.profiles.packed import pack_profile, unpack_profile
from prowess.profiles.schema.profile import Profile
from prowess.state.checksum import compute_checksum
from prowess.state.code_stamp import stamp_code
from prowess.state.folders import cache_folder
from prowess.version import VERSION

_MOST_BYTES = 1 << 18
_MOST_CACHED_BYTES = 1 << 20


def load_added_profiles(facts: Facts, host: str) -> tuple[str, dict[str, str]]:
    """The host's name and the texts of every added profile.

    They are in `profiles/*.toml` in Prowess's configuration folder and have the names of their
    files. A host that is a path to a `.toml` file is one too. A problem with a file is reported
    when that profile is used, so that one broken file does not affect the others.
    """
    config = facts.env.get("XDG_CONFIG_HOME") or os.path.join(facts.home, ".config")
    folder = os.path.join(config, "prowess", "profiles")
    added: dict[str, str] = {}
    for name in _list_names(folder, host):
        added[name.removesuffix(".toml")] = _read(os.path.join(folder, name))
    path, at, edition = host.partition("@")
    if path.endswith(".toml"):
        name = os.path.basename(path).removesuffix(".toml")
        added[name] = _read(path)
        host = f"{name}{at}{edition}"
    return host, added


def load_named_profile(host: str) -> Profile:
    """The profile of a host, without those that users added; a host may be a `.toml` file."""
    path, at, edition = host.partition("@")
    if not path.endswith(".toml"):
        return load_profile(host)
    name = os.path.basename(path).removesuffix(".toml")
    return load_profile(f"{name}{at}{edition}", {name: _read(path)})


def _list_names(folder: str, host: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".toml"))
    except (FileNotFoundError, NotADirectoryError):
        # Most users have added none.
        return []
    except OSError as error:
        # Of no matter to someone who asked for a host that is built in.
        if split_host(host)[0] in BUILT_IN:
            return []
        raise MachineError.caused_by("list the profiles in", folder, error) from error


def load_kept_profile(host: str, facts: Facts) -> Profile:
    """A built-in profile, from the cache of checked and merged ones; that is many times faster.

    It is cached with a stamp over Prowess's own files; one with another stamp is made again.
    """
    if split_host(host)[0] not in BUILT_IN:
        return load_profile(host)
    stamp = f"{VERSION} {stamp_code()}"
    path = os.path.join(cache_folder(facts), "profiles", f"{host}.msgpack")
    try:
        # A profile that somebody else wrote could allow anything.
        if find_other_writer(path) is not None:
            return load_profile(host)
        data = LocalFiles().read_head(path, _MOST_CACHED_BYTES).data
    except OSError:
        # There is none yet.
        data = b""
    profile = _unpack(data, stamp)
    if profile is None:
        profile = load_profile(host)
        _keep(path, profile, stamp)
    return profile


@lru_cache(maxsize=4)
def _unpack(data: bytes, stamp: str) -> Profile | None:
    """The profile in a cache file; None where it is damaged, or has another stamp.

    One command loads the same profile several times.
    """
    try:
        kept, checksum, packed = msgspec.msgpack.decode(data, type=tuple[str, str, bytes])
    except (msgspec.DecodeError, UnicodeDecodeError):
        # For a damaged text msgspec raises the second.
        return None
    if kept != stamp or checksum != compute_checksum(packed):
        return None
    return unpack_profile(packed)


def _keep(path: str, profile: Profile, stamp: str) -> None:
    from prowess.machine.atomic_write import write_aside

    packed = pack_profile(profile)
    data = msgspec.msgpack.encode((stamp, compute_checksum(packed), packed))
    try:
        write_aside(path, data, mode=0o600, folder_mode=0o700, sync=False)
    except MachineError:
        # A read-only home only costs the time to read the files again.
        return


def _read(path: str) -> ProfileText:
    files = LocalFiles()
    kind = files.find_kind(path)
    # A missing file has its own words below; of these the system's are hard to understand.
    if kind not in ("file", None):
        what = "a folder" if kind == "folder" else "a pipe or a device"
        return ProfileText("", path, problem=f"it is {what}, not a regular file")
    try:
        head = files.read_head(path, _MOST_BYTES)
    except (OSError, ValueError) as error:
        reason = name_cause(error)
        reason = reason[:1].lower() + reason[1:]
        return ProfileText("", path, problem=f"the file cannot be read ({reason})")
    if head.size > _MOST_BYTES:
        problem = f"the file has {head.size:,} bytes; at most {_MOST_BYTES:,} are allowed"
        return ProfileText("", path, problem=problem)
    try:
        return ProfileText(head.data.decode("utf-8-sig"), path)
    except UnicodeDecodeError as error:
        line = head.data.count(b"\n", 0, error.start) + 1
        return ProfileText(
            "", path, problem="the file is not UTF-8 text; save it as UTF-8", line=line
        )
