"""A profile that was packed is the same profile, whichever host's."""

from __future__ import annotations

import pytest

from prowess.profiles.load import known_editions, known_hosts, load_profile
from prowess.profiles.packed import pack_profile, unpack_profile

NAMES = [f"{host}@{edition}" for host in known_hosts() for edition in known_editions(host)]


@pytest.mark.parametrize("name", NAMES)
def test_a_packed_profile_is_equal_to_the_loaded_one(name: str) -> None:
    profile = load_profile(name)
    unpacked = unpack_profile(pack_profile(profile))
    assert unpacked == profile
    # Equal values can still have other types: a list is not a tuple, a text not a member.
    assert repr(unpacked) == repr(profile)


def test_only_what_differs_from_the_defaults_is_packed() -> None:
    packed = pack_profile(load_profile("spec"))
    assert b"RootRule" in packed
    assert b"hard_links" not in packed
