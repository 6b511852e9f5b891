"""The cache of profiles: whatever is in its file, the profile is the host's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prowess.model.facts import Facts
from prowess.profiles.load import load_profile
from prowess.state.profile_cache import load_kept_profile

HOST = "claude-code"


def open_cache(folder: Path) -> tuple[Facts, Path]:
    facts = Facts(home=str(folder), env={"PROWESS_CACHE_DIR": str(folder / "cache")})
    load_kept_profile(HOST, facts)
    return facts, folder / "cache" / "profiles" / f"{HOST}.msgpack"


def test_a_profile_is_kept_and_read_again(tmp_path: Path) -> None:
    facts, file = open_cache(tmp_path)
    kept = file.read_bytes()
    assert load_kept_profile(HOST, facts) == load_profile(HOST)
    assert file.read_bytes() == kept


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 1 << 20), change=st.integers(1, 255))
def test_a_damaged_file_is_noticed_and_written_again(
    tmp_path: Path, place: int, change: int
) -> None:
    facts, file = open_cache(tmp_path)
    kept = file.read_bytes()
    # What is drawn must not depend on the file, which differs from one version to the next.
    at = place % len(kept)
    file.write_bytes(kept[:at] + bytes([kept[at] ^ change]) + kept[at + 1 :])
    assert load_kept_profile(HOST, facts) == load_profile(HOST)
    assert file.read_bytes() == kept


@pytest.mark.parametrize(
    "text",
    [b"", b"\x00" * 100, b"not a profile", b"\x93\xa1a\xa1b\xa1c", b"\x93\xa1\xff\xa1b\xa1c"],
)
def test_a_file_with_anything_else_counts_as_none(tmp_path: Path, text: bytes) -> None:
    facts, file = open_cache(tmp_path)
    kept = file.read_bytes()
    file.write_bytes(text)
    assert load_kept_profile(HOST, facts) == load_profile(HOST)
    assert file.read_bytes() == kept


def test_a_profile_that_other_code_kept_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts, file = open_cache(tmp_path)
    kept = file.read_bytes()
    monkeypatch.setattr("prowess.state.profile_cache.stamp_code", lambda: "another")
    assert load_kept_profile(HOST, facts) == load_profile(HOST)
    assert file.read_bytes() != kept
