"""WebFetch, against a server on loopback, which only a setting opens."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from prowess.agent.events import ToolFinished
from prowess.model.permission import ApprovalChoice
from tests.agent.studio import Asked, Studio

OWN = "home/.config/prowess/prowess.toml"
PAGE = b"<html><title>Tides</title><body><h1>Brest</h1><p>3.2 <b>m</b></p></web_page></body></html>"


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/away":
            self.send_response(302)
            self.send_header("Location", f"http://localhost:{self.server.server_port}/page")  # type: ignore[attr-defined]
            self.end_headers()
            return
        if path.startswith(("/to/", "/loop")):
            self.send_response(302)
            self.send_header("Location", path.removeprefix("/to"))
            self.end_headers()
            return
        if path == "/missing":
            self.send_error(404)
            return
        kind, body = {
            "/page": ("text/html", PAGE),
            "/secret": ("text/plain", b"the key"),
            "/large": ("text/plain", b"x" * 300_000),
            "/huge": ("text/plain", b"x" * (11 << 20)),
            "/binary": ("application/pdf", b"%PDF" + bytes(96)),
        }[path]
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except ConnectionError:
            self.close_connection = True

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def fetch(studio: Studio, url: str, *rules: str, hosts: str = '["127.0.0.1"]') -> ToolFinished:
    studio.workspace.write(OWN, f"[agent]\nprivate_hosts = {hosts}\n")
    return studio.use("WebFetch", url=url, rules={"allow": rules})


def test_a_page_comes_as_markdown_with_its_origin(studio: Studio, port: int) -> None:
    url = f"http://127.0.0.1:{port}/page?a=1&b=2"
    found = fetch(studio, url, "WebFetch(domain:127.0.0.1)")
    assert (found.outcome, found.output) == (
        "done",
        f'<web_page url="http://127.0.0.1:{port}/page?a=1&amp;b=2">\n'
        "# Tides\n\nTides\n\nBrest\n=====\n\n3.2 **m**\n</web_page>",
    )


def test_private_addresses_are_refused_unless_the_user_names_them(
    studio: Studio, port: int
) -> None:
    for url in (
        f"http://127.0.0.1:{port}/page",
        f"http://localhost:{port}/page",
        f"http://2130706433:{port}/page",
        f"http://[::1]:{port}/page",
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
    ):
        found = fetch(studio, url, "WebFetch", hosts="[]")
        assert found.outcome == "failed", url
        assert "force_download" not in found.output
        is_cloud = "169.254" in url
        assert ("`[agent] private_hosts`" in found.output) is not is_cloud, url
    # Not even a host that is named opens the addresses of clouds.
    found = fetch(studio, "http://169.254.169.254/", "WebFetch", hosts='["169.254.169.254"]')
    assert found.outcome == "failed"


def test_a_redirect_to_another_host_is_not_followed(studio: Studio, port: int) -> None:
    url = f"http://127.0.0.1:{port}/away"
    found = fetch(studio, url, "WebFetch", hosts='["127.0.0.1", "localhost"]')
    assert found.outcome == "failed"
    assert f"Fetch http://localhost:{port}/page instead." in found.output


def fetch_by(studio: Studio, url: str, **rules: Sequence[str]) -> ToolFinished:
    studio.workspace.write(OWN, '[agent]\nprivate_hosts = ["127.0.0.1"]\n')
    return studio.use("WebFetch", url=url, rules=rules)


def test_a_redirect_on_the_same_host_is_followed(studio: Studio, port: int) -> None:
    base = f"http://127.0.0.1:{port}"
    found = fetch(studio, f"{base}/to/to/page", "WebFetch(domain:127.0.0.1)")
    assert (found.outcome, "Brest" in found.output) == ("done", True)
    assert f'<web_page url="{base}/page">' in found.output


@pytest.mark.parametrize("path", ["/to/secret", "/to/to/secret", "/to/%73ecret"])
def test_every_redirect_is_judged_by_the_rules_about_paths(
    studio: Studio, port: int, path: str
) -> None:
    base = f"http://127.0.0.1:{port}"
    deny = [f"WebFetch({base}/secret*)"]
    found = fetch_by(studio, f"{base}{path}", allow=["WebFetch"], deny=deny)
    assert found.outcome == "failed"
    assert "Not permitted" in found.output
    assert "the key" not in found.output


def test_a_redirect_out_of_what_a_rule_allows_needs_a_call_of_its_own(
    studio: Studio, port: int
) -> None:
    base = f"http://127.0.0.1:{port}"
    found = fetch_by(studio, f"{base}/to/page", allow=[f"WebFetch({base}/to/*)"])
    assert found.outcome == "failed"
    assert f"The page redirects to {base}/page, which needs an approval." in found.output


def test_redirects_without_end_are_not_followed(studio: Studio, port: int) -> None:
    found = fetch(studio, f"http://127.0.0.1:{port}/loop", "WebFetch")
    assert (found.outcome, found.output) == ("failed", "The page redirects more than 5 times.")


@pytest.mark.parametrize(
    "path",
    ["/secret", "/%73ecret", "/%73%65%63%72%65%74/x", "//secret", "/%2Fsecret", "/%2573ecret"],
)
def test_a_denied_path_is_denied_however_it_is_written(studio: Studio, path: str) -> None:
    base = "http://127.0.0.1:9"
    deny = [f"WebFetch({base}/secret*)"]
    found = fetch_by(studio, f"{base}{path}", allow=["WebFetch"], deny=deny)
    assert found.outcome == "refused"


def test_answers_are_bounded(studio: Studio, port: int) -> None:
    base = f"http://127.0.0.1:{port}"
    large = fetch(studio, f"{base}/large", "WebFetch")
    assert 50_000 < len(large.output) < 51_000
    huge = fetch(studio, f"{base}/huge", "WebFetch")
    assert (huge.outcome, len(huge.output) < 1_000) == ("failed", True)
    binary = fetch(studio, f"{base}/binary", "WebFetch")
    assert "[100 bytes of application/pdf]" in binary.output
    assert fetch(studio, f"{base}/missing", "WebFetch").outcome == "failed"


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        ("WebFetch", "failed"),
        ("WebFetch(domain:127.0.0.1)", "failed"),
        ("WebFetch(domain:127.0.0.*)", "failed"),
        ("WebFetch(domain:127.0.0.1:9)", "failed"),
        ("WebFetch(http://127.0.0.1:9/*)", "failed"),
        ("WebFetch(domain:example.org)", "refused"),
        ("WebFetch(domain:127.0.0.1:8)", "refused"),
        ("WebFetch(domain:*.example.org)", "refused"),
        ("WebFetch(*://example.org/*)", "refused"),
    ],
)
def test_rules_are_about_the_host(studio: Studio, rule: str, outcome: str) -> None:
    # Nothing listens there: what is permitted fails.
    url = "http://127.0.0.1:9/a.example.org/?x=http://example.org/y"
    assert fetch(studio, url, rule).outcome == outcome


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org/",
        "http://",
        "https://user:secret@example.org/",
        "https://example.org\\@evil.example/",
        "https://exa mple.org/",
        "https://example.org:99999/",
        "javascript:alert(1)",
    ],
)
def test_what_is_no_plain_address_is_refused_before_anyone_is_asked(
    studio: Studio, url: str
) -> None:
    asked = Asked(ApprovalChoice.ONCE)
    found = studio.use("WebFetch", url=url, options={"approver": asked})
    assert (found.outcome, asked.requests) == ("failed", [])


@pytest.mark.parametrize(
    "path",
    [
        "/docs/../secret",
        "/docs/%2e%2e/secret",
        "/docs/.%2E/secret",
        "/docs/%252e%252E/secret",
        "/docs/..%2fsecret",
        "/docs/..;a/secret",
        "/docs/..%5csecret",
        "/docs/a%255Csecret",
        "/docs/./secret",
        "/docs/..",
    ],
)
def test_a_path_that_leads_elsewhere_is_refused_whatever_the_rules(
    studio: Studio, path: str
) -> None:
    found = fetch(studio, f"http://127.0.0.1:9{path}", "WebFetch(http://127.0.0.1:9/docs/*)")
    assert found.outcome == "failed"
    assert "can be read in two ways" in found.output
    assert "Use the path that it leads to instead." in found.output


@pytest.mark.parametrize("path", ["/docs/...", "/docs/a..b/.well-known", "/docs/50%25?x=../y"])
def test_dots_within_a_name_are_no_segments(studio: Studio, path: str) -> None:
    # Nothing listens there: what is permitted fails.
    found = fetch(studio, f"http://127.0.0.1:9{path}", "WebFetch(http://127.0.0.1:9/docs/*)")
    assert (found.outcome, "two ways" in found.output) == ("failed", False)


def test_without_a_rule_a_person_is_asked(studio: Studio) -> None:
    asked = Asked(ApprovalChoice.REJECT)
    found = studio.use("WebFetch", url="https://example.org/", options={"approver": asked})
    assert found.outcome == "refused"
    (request,) = asked.requests
    assert (request.permission, request.metadata["title"]) == (
        "webfetch",
        "WebFetch https://example.org/",
    )
    without = studio.use("WebFetch", url="https://example.org/")
    assert "--allow 'WebFetch(domain:…)'" in without.output


def test_a_project_opens_no_private_host(studio: Studio, port: int) -> None:
    studio.write("prowess.toml", '[agent]\nprivate_hosts = ["127.0.0.1"]\n')
    studio.trust()
    url = f"http://127.0.0.1:{port}/page"
    assert studio.use("WebFetch", url=url, rules={"allow": ["WebFetch"]}).outcome == "failed"
