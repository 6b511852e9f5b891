"""Servers that speak https: their certificates are always checked, and there is no way back to http."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from prowess.model.snapshot import Snapshot
from prowess.supply.sources import open_sources
from tests.remote_server import RemoteServer, send
from tests.workspace import Workspace

pytestmark = pytest.mark.needs("openssl")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that nobody has signed, with its key."""
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=skills", "-addext", "subjectAltName=IP:127.0.0.1"]
    key, own = file.with_name("key.pem"), file.with_name("own.pem")
    made = subprocess.run([*command, "-keyout", key, "-out", own], capture_output=True, check=True)
    assert made.returncode == 0
    file.write_text(key.read_text() + own.read_text())
    return file


@pytest.fixture
def server(certificate: Path) -> Iterator[RemoteServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with RemoteServer(context) as running:
        yield running


def scan(workspace: Workspace, url: str) -> Snapshot:
    workspace.write(
        "home/.config/prowess/prowess.toml",
        f'[sources.team]\nurl = "{url}/index.json"\n[network]\nseconds = 120\n',
    )
    return workspace.scan(sources=open_sources())


def test_a_certificate_that_nobody_signed_is_refused(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer("one")
    [finding] = scan(workspace, server.url).diagnostics
    assert finding.code == "source-unreachable"
    assert "certificate" in finding.message
    assert server.requests == []


def test_a_certificate_that_this_machine_trusts_is_accepted(
    workspace: Workspace,
    server: RemoteServer,
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    server.offer("one", "two")
    snapshot = scan(workspace, server.url)
    assert ([one.name for one in snapshot.skills], snapshot.diagnostics) == (["one", "two"], ())


def test_a_certificate_of_another_name_is_refused(
    workspace: Workspace,
    server: RemoteServer,
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    server.offer("one")
    [finding] = scan(workspace, server.url.replace("127.0.0.1", "localhost")).diagnostics
    assert (finding.code, "certificate" in finding.message) == ("source-unreachable", True)


def test_a_redirect_from_https_to_http_is_refused(
    workspace: Workspace,
    server: RemoteServer,
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    for target in (server.url.replace("https", "http"), "http://example.com"):
        server.routes["/index.json"] = lambda handler, target=target: send(  # type: ignore[misc]
            handler, b"", status=301, headers={"Location": f"{target}/index.json"}
        )
        cache = workspace.home / ".cache/prowess/sources"
        for failure in cache.glob("*/failure.json"):
            failure.unlink()
        [finding] = scan(workspace, server.url).diagnostics
        assert finding.code == "source-downgraded"


def test_a_server_that_speaks_no_tls_is_refused(workspace: Workspace) -> None:
    with RemoteServer() as plain:
        plain.offer("one")
        url = plain.url.replace("http", "https")
        [finding] = scan(workspace, url).diagnostics
        assert (finding.code, plain.requests) == ("source-unreachable", [])
