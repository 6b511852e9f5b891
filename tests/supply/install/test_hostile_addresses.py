"""Whatever an address looks like, it gets a sentence, and a stranger's leads nowhere private."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from prowess.errors.install import InvalidSource
from prowess.model.tree import Tree, TreeFile
from prowess.state.install_lock import LockedSkill
from prowess.supply.install.fetchers import PARSERS
from prowess.supply.install.private_host import find_private_host
from prowess.supply.install.source import InstallSource, parse_source
from tests.remote_server import RemoteServer
from tests.supply.install.clawhub_server import make_zip
from tests.supply.install.conftest import Desk
from tests.supply.install.test_plugins import make_market
from tests.workspace import skill_text

# HOST is where the server listens, PORT its port.
HOSTILE = {
    "archive in capitals": "HTTP://HOST/x.zip",
    "mixed case": "hTTp://HOST/x.zip",
    "repository in capitals": "HTTP://HOST/x.git",
    "marked repository in capitals": "GIT+HTTP://HOST/x",
    "marked repository, half in capitals": "git+HTTP://HOST/x",
    "site in capitals": "HTTP://HOST",
    "registry in capitals": "clawhub+HTTP://HOST/x",
    "server in capitals": "mcp+HTTP://HOST/x",
    "plugin list in capitals": "plugin:HTTP://HOST/x.json",
    "plugin repository in capitals": "plugin:x@HTTP://HOST/x.git",
    "plugin archive in capitals": "plugin:HTTP://HOST/x.zip",
    "file in capitals": "FILE:///nowhere/x.git",
    "scheme that is not known": "gopher://HOST/x.git",
    "scheme of a helper": "ext::sh -c id://HOST/x.git",
    "helper behind a scheme": "http::http://HOST/x.git",
    "empty scheme": "://HOST/x.git",
    "open bracket": "https://[::1/x.git",
    "open bracket, site": "https://[::1/x",
    "open bracket, plugin": "plugin:https://[::1/x.json",
    "open bracket, registry": "clawhub+https://[::1/x",
    "open bracket, server": "mcp+https://[::1/x",
    "brackets around a name": "http://[localhost]:PORT/x.git",
    "name before brackets": "http://localhost[::1]:PORT/x.zip",
    "loopback in brackets": "http://[::1]:PORT/x.zip",
    "mapped address": "http://[::ffff:127.0.0.1]:PORT/x.zip",
    "port out of range": "http://e.invalid:99999/x",
    "port out of range, repository": "http://e.invalid:99999/x.git",
    "port out of range, plugin": "plugin:http://e.invalid:99999/x.json",
    "port that is a word": "http://127.0.0.1:port/x.zip",
    "port with a sign": "http://127.0.0.1:-1/x.zip",
    "two ports": "http://127.0.0.1:PORT:80/x.git",
    "user": "http://me@HOST/x.git",
    "empty user": "http://@HOST/x.git",
    "password": "http://me:secret@HOST/x.zip",
    "two users": "http://a@b@HOST/x.git",
    "user instead of a path": "ssh://git@127.0.0.1",
    "no host": "http:///HOST/x.git",
    "no host, archive": "http:///x.zip",
    "no host, site": "http://",
    "no host, plugin": "plugin:http:///x.json",
    "port only": "http://:PORT/x.git",
    "backslash": "http://HOST\\.example.com/x.git",
    "backslash and user": "http://e.invalid\\@HOST/x.git",
    "percent in the host": "http://%6cocalhost:PORT/x.git",
    "percent in the address": "http://127%2e0.0.1:PORT/x.git",
    "percent in the path": "http://HOST/%00%0a.git",
    "null in a path": "file:///nowhere/%00.git",
    "line in a path": "file:///nowhere/%0a.git",
    "address in a path": "file:///nowhere%3A%2F%2Fx.git",
    "null in a ref": "https://github.com/o/r/tree/%00/x",
    "line feed": "http://HOST/\nx.git",
    "tab in the scheme": "ht\ttp://HOST/x.git",
    "null": "http://HOST/\x00x.git",
    "other control character": "http://HOST/\x85x.git",
    "short address": "http://127.1:PORT/x.zip",
    "address as a number": "http://2130706433:PORT/x.git",
    "address in hexadecimal": "http://0x7f000001:PORT/x.git",
    "full stop at the end": "http://localhost.:PORT/x.git",
    "full stop after an address": "http://127.0.0.1.:PORT/x.git",
    "octal address": "http://0177.0.0.1:PORT/x.git",
    "byte that is no text": "http://HOST/\udcff.git",
    "two solidi": "//[x",
    "wide letters": "http://ｌｏｃａｌｈｏｓｔ:PORT/x.git",
    "wide full stops": "http://127。0。0。1:PORT/x.zip",
    "wide digits in the port": "http://127.0.0.1:８０/x.git",
    "wide solidus": "http://HOST／x.git",
    "long host": f"http://{'a' * 300}.invalid/x.git",
    "long path": f"http://HOST/{'a' * 200_000}.git",
    "long name": f"./{'a' * 5_000}.git",
    "long archive": f"./{'a' * 300}.zip",
    "long folder": f"plugin:/{'a/' * 4_000}",
    "fragment before a user": "http://HOST#@e.invalid/x.git",
    "query before a user": "http://HOST?@e.invalid/x.git",
}
OVER_SSH = ("ssh://git@HOST/x.git", "SSH://git@HOST/x.git", "git@localhost:x/y.git", "git@h:x")


@pytest.fixture
def server() -> Iterator[RemoteServer]:
    """A web server on this machine, which has what may be asked for."""
    with RemoteServer() as running:
        running.routes["/x.zip"] = make_zip({"alpha/SKILL.md": skill_text("alpha")})
        yield running


@pytest.fixture(autouse=True)
def _no_ssh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever listens on this machine, ssh does not ask it."""
    monkeypatch.setenv("GIT_SSH_COMMAND", "false")


def fill(address: str, server: RemoteServer) -> str:
    host = server.url.removeprefix("http://")
    return address.replace("HOST", host).replace("PORT", host.partition(":")[2])


def write_lock(desk: Desk, kind: str, source: str) -> None:
    """A lock file as a stranger writes it."""
    files = {"SKILL.md": hashlib.sha256(b"x").hexdigest()}
    tree = Tree({path: TreeFile(digest) for path, digest in files.items()}).digest
    entry = LockedSkill(
        name="alpha",
        source=source,
        kind=kind,
        resolved="a" * 40,
        tree=tree,
        targets=(".agents/skills/alpha",),
        files=files,
    )
    lock = {"version": 1, "skills": [msgspec.to_builtins(entry)]}
    desk.write("project/prowess.lock", json.dumps(lock))


def list_market(desk: Desk, address: str) -> str:
    """A marketplace on this disk with one plugin from elsewhere; what to install."""
    entry = {"name": "tools", "source": {"source": "url", "url": address}}
    desk.source(make_market(entry), folder="project/market")
    return "plugin:tools@./market"


def check_sentence(desk: Desk, *arguments: str) -> int:
    """Run a command, which must not end in a bug; its exit code."""
    result = desk.run(*arguments)
    assert result.code != 70, result.err
    assert "Traceback" not in result.err
    return result.code


@pytest.mark.parametrize("address", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_address_gets_a_sentence_and_reaches_nothing(
    desk: Desk, server: RemoteServer, address: str
) -> None:
    text = fill(address, server)
    try:
        found: InstallSource | None = parse_source(text, cwd="/w", home="/h", parsers=PARSERS)
    except InvalidSource:
        found = None
    if found is not None:
        assert not any(one in found.location + found.text for one in ("HTTP:", "hTTp:", "FILE:"))
    for kind in ("git", "archive"):
        write_lock(desk, kind, text)
        assert check_sentence(desk, "sync") != 0
    assert check_sentence(desk, "install", list_market(desk, text), "--yes") != 0
    assert server.requests == []
    (desk.project / "prowess.lock").unlink()
    # Here the user types it, so it may lead to this machine.
    check_sentence(desk, "install", text, "--dry-run")


def test_one_hostile_entry_of_another_installer_costs_itself(
    desk: Desk, server: RemoteServer
) -> None:
    # No JSON file can have half a character.
    texts = [one for one in HOSTILE.values() if "\udcff" not in one]
    addresses = [fill(one, server) for one in texts]
    skills = {
        f"s{number}": {"source": "o/r", "sourceType": kind, "sourceUrl": address}
        for number, (address, kind) in enumerate(
            (address, kind) for address in addresses for kind in ("git", "well-known")
        )
    }
    desk.source({"SKILL.md": skill_text("good")}, folder="project/good")
    skills["good"] = {"source": "./good", "sourceType": "local"}
    for name in skills:
        desk.write(f"project/.agents/skills/{name}/SKILL.md", skill_text(name))
    lock = {"version": 1, "skills": skills}
    desk.write("project/skills-lock.json", json.dumps(lock))
    result = desk.run("import", "--dry-run")
    assert (result.code, "Traceback" in result.err) == (0, False), result.err
    assert "from         ./good" in result.out
    assert server.requests == []


@pytest.mark.parametrize(
    "source",
    [
        "./a\x00b",
        {"source": "git-subdir", "url": "https://h.invalid/x.git", "path": "a\x00b"},
        {"source": "url", "url": "https://h.invalid/x.git", "ref": "a\x00b"},
    ],
)
def test_a_marketplace_cannot_have_control_characters(desk: Desk, source: object) -> None:
    desk.source(make_market({"name": "tools", "source": source}), folder="project/market")
    assert check_sentence(desk, "install", "plugin:tools@./market", "--yes") == 5


@pytest.mark.parametrize("address", OVER_SSH)
def test_a_marketplace_does_not_lead_over_ssh(
    desk: Desk,
    server: RemoteServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
) -> None:
    called = tmp_path / "called"
    monkeypatch.setenv("GIT_SSH_COMMAND", f"touch {called}; false")
    source = list_market(desk, fill(address, server))
    result = desk.run("install", source, "--yes")
    assert (result.code, called.exists()) == (5, False)
    assert "is not a public git repository over https" in result.err
    # The user may type it.
    check_sentence(desk, "install", fill(address, server), "--dry-run")
    assert called.exists()


@pytest.mark.parametrize(
    "text",
    [
        "HTTP://LOCALHOST/x.zip",
        "Http://localhost/x.git",
        "GIT+HTTPS://localhost/x",
        "HTTP://localhost",
    ],
)
def test_the_case_of_a_scheme_does_not_matter(text: str) -> None:
    found = parse_source(text, cwd="/w", home="/h", parsers=PARSERS)
    assert find_private_host(found) == "localhost"
    # Whoever makes a source by hand is not trusted to have written it this way.
    shouted = msgspec.structs.replace(found, location=found.location.upper())
    assert find_private_host(shouted) == "localhost"


@pytest.mark.parametrize(
    "text", ["https://g.example/o/r.git@pdf#v1", "https://g.example/r.git@pdf"]
)
def test_a_repository_with_a_skill_is_no_site(text: str) -> None:
    found = parse_source(text, cwd="/w", home="/h", parsers=PARSERS)
    assert (found.kind, found.skill) == ("git", "pdf")
    assert found.location.endswith(".git")
