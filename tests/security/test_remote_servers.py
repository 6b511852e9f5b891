"""Servers that lie, stall, redirect, cut off and overflow: they cost their own skills, nothing else."""

from __future__ import annotations

import gzip
import io
import json
import os
import socket
import stat
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from prowess.model.snapshot import Snapshot
from prowess.supply import remote_fetch
from prowess.supply.sources import open_sources
from tests.remote_server import Answer, RemoteServer, digest, send
from tests.workspace import Workspace, skill_text

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"


@pytest.fixture
def server() -> Iterator[RemoteServer]:
    with RemoteServer() as running:
        yield running


_DRIP_SECONDS = 600


def scan(workspace: Workspace, server: RemoteServer, *, seconds: float = 120) -> Snapshot:
    """A scan with the server as the user's only source."""
    workspace.write(
        "home/.config/prowess/prowess.toml",
        f'[sources.team]\nurl = "{server.url}/index.json"\n[network]\nseconds = {seconds}\n',
    )
    workspace.skill("project/.agents/skills/local")
    return workspace.scan(sources=open_sources())


def result(snapshot: Snapshot) -> tuple[list[str], list[str]]:
    """The skills beside the local one, and the codes of what was found."""
    assert snapshot.find("local") is not None
    names = [one.name for one in snapshot.skills if one.name != "local"]
    return names, [one.code for one in snapshot.diagnostics]


def list_written(workspace: Workspace) -> set[str]:
    """Every file outside the cache and the settings."""
    return {
        str(path.relative_to(workspace.root))
        for path in workspace.root.rglob("*")
        if path.is_file() and ".cache" not in path.parts and ".config" not in path.parts
    }


HOSTILE_NAMES = [
    "../evil",
    "../../../../evil",
    "/etc/evil",
    "a/../../evil",
    "..",
    ".",
    "a\\..\\..\\evil",
    "C:\\evil",
    "C:evil",
    "%2e%2e/evil",
    "..%2fevil",
    "a\0b",
    "a\nb",
    "",
    "   ",
    "x" * 200,
    "a//b",
    "./a",
]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_no_name_leaves_the_cache(workspace: Workspace, server: RemoteServer, name: str) -> None:
    entries = [{"name": name, "files": ["SKILL.md"]}, {"name": "good", "files": ["SKILL.md"]}]
    server.routes["/index.json"] = json.dumps({"skills": entries})
    server.routes["/good/SKILL.md"] = skill_text("good")
    server.routes["/evil/SKILL.md"] = skill_text("evil")
    names, codes = result(scan(workspace, server))
    assert (names, len(codes)) == (["good"], 1)
    assert codes[0] in ("source-path-escapes", "source-entry-invalid")
    assert list_written(workspace) == {"project/.agents/skills/local/SKILL.md"}
    assert all("evil" not in path for path in server.requests)


@pytest.mark.parametrize(
    "path",
    [
        "../pwned.txt",
        "../../../../../../pwned.txt",
        "/tmp/pwned.txt",
        "refs/../../pwned.txt",
        "..\\pwned.txt",
        "%2e%2e%2fpwned.txt",
        "refs/%2e%2e/%2e%2e/pwned.txt",
        "https://evil.example/pwned.txt",
        "//evil.example/pwned.txt",
        "refs/",
        "a\0b",
        7,
        None,
        {"path": "../pwned.txt", "digest": digest("")},
    ],
    ids=str,
)
def test_no_file_leaves_the_folder_of_its_skill(
    workspace: Workspace, server: RemoteServer, path: Any
) -> None:
    entries = [
        {"name": "bad", "files": ["SKILL.md", path]},
        {"name": "good", "files": ["SKILL.md"]},
    ]
    server.routes["/index.json"] = json.dumps({"skills": entries})
    for name in ("bad", "good"):
        server.routes[f"/{name}/SKILL.md"] = skill_text(name)
    names, codes = result(scan(workspace, server))
    assert (names, len(codes)) == (["good"], 1)
    assert codes[0] in ("source-path-escapes", "source-entry-invalid", "source-other-origin")
    assert list_written(workspace) == {"project/.agents/skills/local/SKILL.md"}
    assert all("pwned" not in asked and "bad" not in asked for asked in server.requests)


def test_a_file_that_is_also_a_folder_costs_its_skill_only(
    workspace: Workspace, server: RemoteServer
) -> None:
    entries = [
        {"name": "bad", "files": ["SKILL.md", "a", "a/b"]},
        {"name": "good", "files": ["SKILL.md"]},
    ]
    server.routes["/index.json"] = json.dumps({"skills": entries})
    server.routes["/good/SKILL.md"] = skill_text("good")
    assert result(scan(workspace, server)) == (["good"], ["source-entry-invalid"])


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<!doctype html><html>",
        "null",
        "[]",
        '{"skills": {}}',
        '{"skills": null}',
        "[" * 100_000,
        '{"skills": ["',
        b"\xff\xfe",
        '{"$schema": "https://schemas.agentskills.io/discovery/9.9.9/schema.json", "skills": []}',
        '{"$schema": 7, "skills": []}',
        '{"version": "1.0.0", "skills": []}',
        json.dumps({"skills": [{"name": f"s{number}", "files": []} for number in range(1001)]}),
    ],
    ids=range(13),
)
def test_what_is_no_index_is_said_to_be_none(
    workspace: Workspace, server: RemoteServer, body: Any
) -> None:
    server.routes["/index.json"] = body
    assert result(scan(workspace, server)) == ([], ["source-index-invalid"])


def redirect(location: str) -> Callable[[BaseHTTPRequestHandler], None]:
    return lambda handler: send(handler, b"", status=302, headers={"Location": location})


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("http://127.0.0.2/index.json", "source-private-address"),
        ("http://localhost/index.json", "source-private-address"),
        ("http://10.0.0.1/index.json", "source-private-address"),
        ("https://192.168.1.1/", "source-private-address"),
        ("http://169.254.169.254/latest/meta-data/", "source-private-address"),
        ("https://[::1]/", "source-private-address"),
        ("https://[::ffff:10.0.0.1]/", "source-private-address"),
        ("http://example.com/index.json", "source-insecure"),
        ("https://203.0.114.7/index.json", "source-other-origin"),
        ("http://127.0.0.1:1/index.json", "source-other-origin"),
        ("file:///etc/passwd", "source-url-invalid"),
        ("gopher://127.0.0.1/", "source-url-invalid"),
        ("https://user:pw@203.0.114.7/", "source-url-invalid"),
        ("http://[", "source-url-invalid"),
        ("/loop", "source-http-error"),
    ],
)
def test_a_redirect_leads_nowhere_else(
    workspace: Workspace, server: RemoteServer, location: str, code: str
) -> None:
    server.routes["/index.json"] = redirect(location)
    server.routes["/loop"] = redirect("/loop")
    assert result(scan(workspace, server)) == ([], [code])


def test_a_redirect_at_the_same_origin_is_followed(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.routes["/index.json"] = redirect("/v2/index.json")
    server.offer("good", base="/v2")
    assert result(scan(workspace, server)) == (["good"], [])


def cut_off(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"skills": []}')
    handler.close_connection = True


def cut_off_chunk(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b'e\r\n{"skills": []}\r\n')
    handler.close_connection = True


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def send_nonsense(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"NONSENSE\r\n\r\n")
    handler.close_connection = True


def send_bomb(handler: BaseHTTPRequestHandler) -> None:
    send(handler, gzip.compress(b"0" * 50_000_000), headers={"Content-Encoding": "gzip"})


def send_endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    handler.close_connection = True
    for _ in range(1000):
        handler.wfile.write(b" " * 65536)


def send_endless_headers(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    handler.close_connection = True
    for number in range(1000):
        handler.wfile.write(b"X-%d: x\r\n" % number)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (cut_off, "source-unreachable"),
        (cut_off_chunk, "source-unreachable"),
        (hang_up, "source-unreachable"),
        (send_nonsense, "source-unreachable"),
        (send_endless_headers, "source-unreachable"),
        (send_bomb, "source-encoding"),
        (send_endless, "source-too-large"),
        (b" " * (remote_fetch.MOST_INDEX_BYTES + 1), "source-too-large"),
        (404, "source-http-error"),
        (403, "source-http-error"),
        (204, "source-http-error"),
    ],
    ids=lambda one: getattr(one, "__name__", str(one)[:20]),
)
def test_an_answer_that_is_wrong_costs_the_source_only(
    workspace: Workspace, server: RemoteServer, answer: Answer, code: str
) -> None:
    server.routes["/index.json"] = answer
    assert result(scan(workspace, server)) == ([], [code])


def test_a_server_that_sends_a_byte_now_and_then_is_left_at_the_limit(
    workspace: Workspace, server: RemoteServer
) -> None:
    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        end = time.monotonic() + _DRIP_SECONDS
        while not server.ended.wait(0.05) and time.monotonic() < end:
            handler.wfile.write(b" ")

    def drip_headers(handler: BaseHTTPRequestHandler) -> None:
        end = time.monotonic() + _DRIP_SECONDS
        while not server.ended.wait(0.05) and time.monotonic() < end:
            handler.wfile.write(b"H")

    for answer in (drip, drip_headers):
        server.routes["/index.json"] = answer
        began = time.monotonic()
        workspace.write("home/.cache/prowess/sources/.keep")
        for old in (workspace.home / ".cache/prowess/sources").glob("*/failure.json"):
            old.unlink()
        assert result(scan(workspace, server, seconds=0.4)) == ([], ["source-timeout"])
        # Without the limit it would take as long as the server sends.
        assert time.monotonic() - began < _DRIP_SECONDS / 2


def test_one_file_that_hangs_means_that_nothing_of_the_source_is_taken(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer("one", "two")
    server.routes["/two/SKILL.md"] = server.hang
    assert result(scan(workspace, server, seconds=0.5)) == ([], ["source-timeout"])
    names = [path.name for path in (workspace.home / ".cache/prowess/sources").glob("*/*")]
    assert "current" not in names
    assert not [name for name in names if name.startswith("staging")]


def test_a_skill_that_is_too_large_costs_itself_only(
    workspace: Workspace, server: RemoteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_fetch, "MOST_SKILL_BYTES", 10_000)
    server.offer("big", "many", "small")
    entries = [
        {"name": "big", "files": ["SKILL.md", "x.bin"], "version": "1"},
        {"name": "many", "files": ["SKILL.md", *(f"{one}.bin" for one in range(3))]},
        {"name": "small", "files": ["SKILL.md"]},
    ]
    server.routes["/index.json"] = json.dumps({"skills": entries})
    server.routes["/big/x.bin"] = b"0" * 10_001
    for one in range(3):
        server.routes[f"/many/{one}.bin"] = b"0" * 5_000
    assert result(scan(workspace, server)) == (["small"], ["source-too-large"] * 2)


def test_a_source_that_is_too_large_is_not_fetched_to_its_end(
    workspace: Workspace, server: RemoteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_fetch, "MOST_SOURCE_BYTES", 1_000)
    names = [f"s{number}" for number in range(50)]
    server.offer(*names)
    for name in names:
        server.routes[f"/{name}/SKILL.md"] = skill_text(name, body="0" * 200)
    listed, codes = result(scan(workspace, server))
    assert 0 < len(listed) < 10
    assert set(codes) == {"source-too-large"}


def pack_tar(files: dict[str, bytes | tarfile.TarInfo]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in files.items():
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
                continue
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def pack_zip(files: dict[str, bytes], *, mode: int = 0) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            member = zipfile.ZipInfo(name)
            member.external_attr = mode << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, content)
    return stream.getvalue()


def make_link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type = kind
    member.linkname = target
    return member


SKILL = skill_text("packed").encode()
GOOD = {"SKILL.md": SKILL, "refs/x.md": b"x"}


def offer_archive(server: RemoteServer, data: bytes) -> None:
    entry = {"name": "packed", "type": "archive", "url": "/p.tgz", "digest": digest(data)}
    server.routes["/index.json"] = json.dumps({"$schema": SCHEMA, "skills": [entry]})
    server.routes["/p.tgz"] = data


@pytest.mark.parametrize("data", [pack_tar({**GOOD}), pack_zip(GOOD)], ids=["tar", "zip"])
def test_an_archive_is_unpacked(workspace: Workspace, server: RemoteServer, data: bytes) -> None:
    offer_archive(server, data)
    snapshot = scan(workspace, server)
    assert result(snapshot) == (["packed"], [])
    found = snapshot.find("packed")
    assert found is not None
    assert found.skill is not None
    assert sorted(os.listdir(found.skill.folder)) == ["SKILL.md", "refs"]
    mode = os.stat(f"{found.skill.folder}/refs/x.md").st_mode
    assert not mode & (stat.S_IXUSR | stat.S_ISUID)


HOSTILE_ARCHIVES = {
    "no skill": pack_tar({"packed/SKILL.md": SKILL}),
    "up": pack_tar({"SKILL.md": SKILL, "../x": b"x"}),
    "absolute": pack_tar({"SKILL.md": SKILL, "/tmp/pwned": b"x"}),
    "symlink": pack_tar({"SKILL.md": SKILL, "l": make_link("l", "/etc/passwd")}),
    "symlink skill": pack_tar({"SKILL.md": make_link("SKILL.md", "/etc/passwd")}),
    "hard link": pack_tar({"SKILL.md": SKILL, "l": make_link("l", "SKILL.md", tarfile.LNKTYPE)}),
    "device": pack_tar({"SKILL.md": SKILL, "d": make_link("d", "", tarfile.CHRTYPE)}),
    "pipe": pack_tar({"SKILL.md": SKILL, "p": make_link("p", "", tarfile.FIFOTYPE)}),
    "tar bomb": pack_tar({"SKILL.md": SKILL, "b": b"0" * (40 << 20)}),
    "zip bomb": pack_zip({"SKILL.md": SKILL, "b": b"0" * (40 << 20)}),
    "many files": pack_zip({"SKILL.md": SKILL, **{f"{one}": b"" for one in range(600)}}),
    "zip up": pack_zip({"SKILL.md": SKILL, "../x": b"x"}),
    "zip backslash": pack_zip({"SKILL.md": SKILL, "..\\x": b"x"}),
    "zip symlink": pack_zip({"SKILL.md": SKILL, "l": b"/etc/passwd"}, mode=stat.S_IFLNK | 0o777),
    "zip without a name": pack_zip({"SKILL.md": SKILL, "x": b""}).replace(
        b"\x01\x00\x00\x00x", b"\x00\x00\x00\x00x"
    ),
    "cut": pack_tar({**GOOD})[:-20],
    "not one": b"MZ" + SKILL,
    "empty": b"",
}


@pytest.mark.parametrize("kind", HOSTILE_ARCHIVES)
def test_a_hostile_archive_is_refused_as_a_whole(
    workspace: Workspace, server: RemoteServer, kind: str
) -> None:
    offer_archive(server, HOSTILE_ARCHIVES[kind])
    assert result(scan(workspace, server)) == ([], ["source-archive-invalid"])
    assert list_written(workspace) == {"project/.agents/skills/local/SKILL.md"}


def test_an_archive_or_a_file_with_another_digest_is_refused(
    workspace: Workspace, server: RemoteServer
) -> None:
    offer_archive(server, pack_tar({**GOOD}))
    server.routes["/p.tgz"] = pack_tar({**GOOD, "more": b"x"})
    assert result(scan(workspace, server)) == ([], ["source-digest-mismatch"])


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"url": "https://other.example/SKILL.md"}, "source-other-origin"),
        ({"url": "//other.example/SKILL.md"}, "source-other-origin"),
        ({"url": "http://127.0.0.1:1/SKILL.md"}, "source-other-origin"),
        ({"url": "file:///etc/passwd"}, "source-other-origin"),
        ({"url": "http://["}, "source-entry-invalid"),
        ({"url": None}, "source-entry-invalid"),
        ({"digest": None}, "source-entry-invalid"),
        ({"digest": "sha256:00"}, "source-entry-invalid"),
        ({"digest": "md5:" + "0" * 32}, "source-entry-invalid"),
        ({"digest": digest(SKILL).upper()}, "source-entry-invalid"),
        ({"type": "program"}, "source-entry-invalid"),
    ],
)
def test_an_entry_that_cannot_be_verified_is_not_fetched(
    workspace: Workspace, server: RemoteServer, change: dict[str, Any], code: str
) -> None:
    entry = {"name": "s", "type": "skill-md", "url": "/s.md", "digest": digest(SKILL)} | change
    server.routes["/index.json"] = json.dumps({"$schema": SCHEMA, "skills": [entry]})
    server.routes["/s.md"] = SKILL
    assert result(scan(workspace, server)) == ([], [code])
    assert server.requests == ["/index.json"]


def test_the_files_of_the_earlier_draft_are_verified_one_by_one_and_together(
    workspace: Workspace, server: RemoteServer
) -> None:
    skill, extra = b"# Hello\n", b"#!/bin/sh\n"
    whole = "sha256:34f7a8c484e9991f3e71a309f31332d6335efc01f544105c4185a7c4ab12eb1e"
    entry = {
        "name": "hello",
        "digest": whole,
        "files": [
            {"path": "SKILL.md", "digest": digest(skill)},
            {"path": "scripts/run.sh", "digest": digest(extra)},
        ],
    }
    server.routes["/index.json"] = json.dumps({"version": "0.2.0", "skills": [entry]})
    server.routes["/hello/SKILL.md"], server.routes["/hello/scripts/run.sh"] = skill, extra
    names, codes = result(scan(workspace, server))
    assert (names, [code for code in codes if code.startswith("source")]) == (["hello"], [])
    server.routes["/hello/scripts/run.sh"] = b"#!/bin/sh\nrm\n"
    for failure in (workspace.home / ".cache/prowess/sources").glob("*"):
        for path in sorted(failure.rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
    assert result(scan(workspace, server)) == ([], ["source-digest-mismatch"])


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("https://10.1.2.3/", "source-private-address"),
        ("https://169.254.169.254/", "source-private-address"),
        ("http://192.168.0.1/", "source-private-address"),
    ],
)
def test_a_clone_cannot_reach_into_the_network_around_this_machine(
    workspace: Workspace, url: str, code: str
) -> None:
    workspace.git()
    workspace.write("project/opencode.json", json.dumps({"skills": {"urls": [url]}}))
    snapshot = workspace.scan("opencode", sources=open_sources())
    assert [one.code for one in snapshot.diagnostics] == ["source-untrusted"]


def test_a_name_that_leads_to_a_private_address_is_refused_unless_a_setting_allows_it(
    workspace: Workspace, server: RemoteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prowess.machine import http_client
    from prowess.machine.network_address import Endpoint

    server.offer("good")
    port = int(server.url.rpartition(":")[2])
    asked: list[str] = []

    def resolve(host: str, port_: int, *, seconds: float) -> list[Endpoint]:
        asked.append(host)
        # The second answer would be another one, as with DNS rebinding.
        address = "127.0.0.1" if len(asked) == 1 else "203.0.114.7"
        return [Endpoint(socket.AF_INET, address, port_)]

    monkeypatch.setattr(http_client, "resolve", resolve)
    text = f'[sources.team]\nurl = "https://skills.example:{port}/index.json"\n'
    workspace.write("home/.config/prowess/prowess.toml", text)
    snapshot = workspace.scan(sources=open_sources())
    assert [one.code for one in snapshot.diagnostics] == ["source-private-address"]
    assert (asked, server.requests) == (["skills.example"], [])
    asked.clear()
    private = text.replace("https", "http") + "private = true\n"
    workspace.write("home/.config/prowess/prowess.toml", private)
    snapshot = workspace.scan(sources=open_sources())
    assert [one.name for one in snapshot.skills] == ["good"]
    assert asked == ["skills.example"]


def test_threads_and_connections_end_with_the_scan(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer(*(f"s{number}" for number in range(20)))
    server.routes["/s3/SKILL.md"] = server.hang
    scan(workspace, server, seconds=0.5)
    ours = [one for one in threading.enumerate() if one.name.startswith("prowess-fetch")]
    assert ours == []
