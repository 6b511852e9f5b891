"""Laws of what servers send: parsing never raises anything else, and no path leaves its folder."""

from __future__ import annotations

import io
import json
import os
import tarfile
import zipfile
from typing import Any
from urllib.parse import unquote, urlsplit

from hypothesis import given
from hypothesis import strategies as st

from prowess.machine.http_client import FetchError, check_redirect, check_url
from prowess.machine.network_address import is_private_name
from prowess.supply.archives import InvalidArchive, unpack_archive
from prowess.supply.index_format import InvalidIndex, RemoteEntry, parse_index

URL = "https://skills.example/team/index.json"
SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"

pieces = st.sampled_from(
    [
        "..",
        ".",
        "",
        "a",
        "SKILL.md",
        "%2e%2e",
        "%2f",
        "\\",
        "/",
        "//",
        "C:",
        "~",
        "\0",
        " ",
        "é",
        "?x",
    ]
)
paths = st.one_of(st.lists(pieces, max_size=6).map("/".join), st.text(max_size=30))
scalars = st.one_of(st.none(), st.booleans(), st.integers(), paths)
files = st.one_of(
    st.lists(
        st.one_of(
            paths,
            st.just("SKILL.md"),
            st.fixed_dictionaries({"path": paths, "digest": st.just("sha256:" + "0" * 64)}),
            scalars,
        ),
        max_size=5,
    ),
    scalars,
)
entries = st.fixed_dictionaries(
    {},
    optional={
        "name": st.one_of(paths, scalars),
        "files": files,
        "version": scalars,
        "type": st.sampled_from(["skill-md", "archive", "x"]),
        "url": st.one_of(paths, st.sampled_from(["https://x.example/a", "//x.example/a", "/a"])),
        "digest": st.sampled_from(["sha256:" + "0" * 64, "sha256:0", ""]),
    },
)
indexes = st.fixed_dictionaries(
    {"skills": st.lists(st.one_of(entries, scalars), max_size=5)},
    optional={"$schema": st.sampled_from([SCHEMA, "x", None]), "version": scalars},
)


def list_targets(entry: RemoteEntry) -> list[str]:
    wanted = entry.files if entry.archive is None else (entry.archive,)
    return [one.url for one in wanted]


@given(indexes, st.sampled_from(["any", "opencode"]))
def test_what_an_index_names_stays_in_its_folder_and_on_its_server(index: Any, kind: str) -> None:
    try:
        parsed = parse_index(json.dumps(index).encode(), URL, kind=kind)
    except InvalidIndex:
        return
    # Every entry is used or has a reason why not.
    assert len(parsed.entries) + len(parsed.diagnostics) == len(index["skills"])
    for entry in parsed.entries:
        folder = os.path.normpath(os.path.join("/cache", entry.name))
        assert folder.startswith("/cache/")
        for file in entry.files:
            whole = os.path.normpath(os.path.join(folder, file.path))
            assert whole.startswith(f"{folder}/")
            assert "\\" not in file.path
        for target in list_targets(entry):
            assert urlsplit(target)[:2] == urlsplit(URL)[:2]
        if "$schema" not in index or kind == "opencode":
            for target in list_targets(entry):
                path = os.path.normpath(unquote(urlsplit(target).path))
                assert path.startswith("/team/")


@given(st.binary(max_size=200))
def test_any_bytes_are_an_index_or_none(data: bytes) -> None:
    try:
        parse_index(data, URL)
    except InvalidIndex as error:
        assert str(error)


@given(
    st.dictionaries(paths, st.binary(max_size=20), max_size=5), st.booleans(), st.integers(0, 40)
)
def test_what_comes_out_of_an_archive_stays_in_its_folder(
    content: dict[str, bytes], is_zip: bool, cut: int
) -> None:
    stream = io.BytesIO()
    try:
        if is_zip:
            with zipfile.ZipFile(stream, "w") as archive:
                for name, data in content.items():
                    archive.writestr(name, data)
        else:
            with tarfile.open(fileobj=stream, mode="w:gz") as packed:
                for name, data in content.items():
                    member = tarfile.TarInfo(name)
                    member.size = len(data)
                    packed.addfile(member, io.BytesIO(data))
    except (ValueError, OSError, IndexError, UserWarning):
        # A name that cannot be packed.
        return
    packed_bytes = stream.getvalue()
    try:
        found = unpack_archive(packed_bytes[: len(packed_bytes) - cut], most_bytes=50, most_files=3)
    except InvalidArchive:
        return
    assert len(found) <= 3
    assert sum(map(len, found.values())) <= 50
    for path in found:
        assert os.path.normpath(os.path.join("/skill", path)).startswith("/skill/")


@given(st.one_of(paths, st.text(max_size=60)))
def test_a_redirect_stays_at_its_server_or_is_refused(location: str) -> None:
    origin = check_url(URL)
    try:
        target = check_redirect(origin, location)
    except FetchError as error:
        assert error.code.startswith("source-")
        return
    assert (target.scheme, target.netloc) == (origin.scheme, origin.netloc)


@given(st.ip_addresses())
def test_an_address_is_refused_in_a_url_unless_it_is_public(address: Any) -> None:
    host = f"[{address}]" if address.version == 6 else str(address)
    try:
        check_url(f"https://{host}/")
        is_refused = False
    except FetchError as error:
        is_refused = error.code == "source-private-address"
    assert is_refused is is_private_name(str(address))
    if address.is_private or address.is_loopback or address.is_link_local:
        assert is_refused
