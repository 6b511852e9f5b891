"""Installing from a signed site: who signed it is shown, required, recorded, and never made up."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from prowess.errors.install import AgainstPolicy
from tests.supply.install.conftest import Desk
from tests.supply.install.test_git import serve
from tests.supply.install.test_install import load_lock
from tests.supply.install.test_policy import install, make_key, write_policy
from tests.workspace import skill_text

KNOWN = ".well-known/agent-skills"
pytestmark = pytest.mark.needs("ssh-keygen")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def site(desk: Desk) -> Path:
    """A published folder with two skills, not signed."""
    desk.source(
        {
            "pdf/SKILL.md": skill_text("pdf", "Reads."),
            "pdf/notes.md": "Notes.\n",
            "zip/SKILL.md": skill_text("zip", "Packs."),
        }
    )
    publish(desk)
    return desk.root / "site"


@pytest.fixture
def url(desk: Desk, site: Path) -> Iterator[str]:
    """Where the folder is served."""
    with serve(functools.partial(_Quiet, directory=str(site))) as address:
        yield address


def publish(desk: Desk, *options: str) -> None:
    answer = desk.run("publish", str(desk.root / "site"), str(desk.root / "source"), *options)
    assert answer.code == 0, answer.err


def sign(desk: Desk, name: str = "key") -> str:
    """Sign the site with a new key; the line that allows it."""
    public = make_key(desk.root / name)
    publish(desk, "--key", str(desk.root / name))
    return f"{name}@example.org {public}\n"


def know(desk: Desk, line: str) -> None:
    """Let the user know a signer."""
    desk.write("home/.config/prowess/allowed_signers", line)


def test_a_signer_whom_the_user_knows_is_shown_and_recorded(desk: Desk, url: str) -> None:
    know(desk, sign(desk))
    answer = desk.run("install", url, "--skill", "pdf", "--yes")
    assert (answer.code, answer.err) == (0, "")
    assert "  signed by  key@example.org\n" in answer.out
    (entry,) = load_lock(desk).skills
    assert entry.signer == "key@example.org"
    assert desk.run("verify").code == 0
    # Somebody who does not know the signer installs the same again, and loses nothing.
    know(desk, "")
    assert desk.run("install", url, "--skill", "pdf", "--yes").code == 0
    assert load_lock(desk).skills == (entry,)


def test_a_site_without_a_signature_is_signed_by_nobody(desk: Desk, url: str) -> None:
    (plan,) = desk.json("install", url, "--skill", "pdf", "--yes")["skills"]
    assert plan["signer"] is None
    assert b"signer" not in (desk.project / "prowess.lock").read_bytes()


@pytest.mark.parametrize("has_file", [True, False])
def test_a_key_that_nobody_knows_is_named_and_proves_nothing(
    desk: Desk, url: str, has_file: bool
) -> None:
    sign(desk)
    if has_file:
        know(desk, f"other@example.org {make_key(desk.root / 'other')}\n")
    shape = desk.json("install", url, "--skill", "pdf", "--yes")
    assert shape["skills"][0]["signer"] is None
    (said,) = [one for one in shape["diagnostics"] if one["code"] == "install-signer-unknown"]
    assert "is signed with key SHA256:" in said["message"]
    signers = desk.home / ".config/prowess/allowed_signers"
    reason = (
        f"which does not count: no signer in {signers} has the key of the signature."
        if has_file
        else "which is not in your allowed signers: you have no `allowed_signers` file."
    )
    assert said["message"].endswith(reason)


@pytest.mark.parametrize("broken", ["signature", "list", "file", "added", "missing", "other-index"])
def test_what_does_not_fit_the_signature_is_refused(
    desk: Desk, site: Path, url: str, broken: str
) -> None:
    know(desk, sign(desk))
    change_site(site, broken)
    answer = desk.run("install", url, "--all", "--yes")
    assert (answer.code, answer.out) == (5, "")
    wanted = {
        "signature": "the signature of its list of files is broken",
        "list": "the signature of its list of files is broken",
    }
    assert wanted.get(broken, "is not what was signed") in answer.err
    assert not (desk.project / "prowess.lock").exists()
    assert desk.installed() == {}


def change_site(site: Path, broken: str) -> None:
    """Change what was signed, as whoever has the server could."""
    listed = site / KNOWN / "sha256sums"
    signature = site / KNOWN / "sha256sums.sig"
    if broken == "signature":
        lines = signature.read_text().splitlines()
        lines[1] = lines[1][:-4] + ("AAAA" if not lines[1].endswith("AAAA") else "BBBB")
        signature.write_text("\n".join(lines) + "\n")
    elif broken == "list":
        listed.write_text(listed.read_text() + f"{'0' * 64}  new/SKILL.md\n")
    else:
        # Only opencode's index has no digests of its own, so that it can be forged alone.
        for path in ("index.json", "pdf.zip"):
            (site / KNOWN / path).unlink()
        forge(site, broken)


def forge(site: Path, broken: str) -> None:
    index = site / "index.json"
    if broken == "file":
        (site / "pdf/notes.md").write_text("Evil.\n")
    elif broken == "added":
        (site / "pdf/evil.md").write_text("Evil.\n")
        index.write_text(index.read_text().replace('"notes.md"', '"evil.md", "notes.md"'))
    elif broken == "missing":
        text = index.read_text()
        assert '"notes.md"' in text
        start, end = text.index('"SKILL.md"'), text.index('"notes.md"')
        index.write_text(text.replace(text[start + 10 : end + 10], ""))
    else:
        (site / "evil").mkdir()
        (site / "evil/SKILL.md").write_text(skill_text("evil", "Evil."))
        index.write_text('{"skills": [{"name": "evil", "files": ["SKILL.md"]}]}')


def test_a_signature_without_its_list_cannot_be_checked(desk: Desk, site: Path, url: str) -> None:
    know(desk, sign(desk))
    (site / KNOWN / "sha256sums").unlink()
    answer = desk.run("install", url, "--all", "--yes")
    assert (answer.code, "its signature cannot be checked" in answer.err) == (4, True)


def test_an_update_by_another_signer_is_left_and_the_others_go_on(
    desk: Desk, site: Path, url: str
) -> None:
    know(desk, sign(desk))
    assert desk.run("install", url, "--skill", "pdf", "--yes").code == 0
    plain = desk.source({"plain/SKILL.md": skill_text("plain", "Old.")}, "plain")
    assert desk.run("install", str(plain), "--yes").code == 0
    before = load_lock(desk).skills[0]
    desk.source({"pdf/notes.md": "Newer.\n"})
    desk.source({"plain/SKILL.md": skill_text("plain", "New.")}, "plain")
    (site / KNOWN / "sha256sums.sig").unlink()
    publish(desk)
    answer = desk.run("update", "--yes")
    assert (answer.code, answer.err) == (
        4,
        "pdf cannot be updated: it was signed by key@example.org, the new version by no known"
        f" signer; `prowess install {url} --skill pdf` shows the new version and asks.\n",
    )
    assert answer.out.endswith("Updated plain.\n")
    assert load_lock(desk).skills[0] == before
    assert desk.installed()["pdf/notes.md"] == b"Notes.\n"
    assert b"New." in desk.installed()["plain/SKILL.md"]
    # Who knows what changed can still have it.
    shown = desk.run("install", url, "--skill", "pdf", "--yes")
    assert shown.code == 0
    said = " ".join(shown.out.split())
    assert "signed by no known signer (installed version: key@example.org)" in said
    assert load_lock(desk).skills[0].signer == ""


def test_an_update_says_who_signed_the_new_version(desk: Desk, url: str) -> None:
    first = sign(desk)
    know(desk, first)
    assert desk.run("install", url, "--skill", "pdf", "--yes").code == 0
    desk.source({"pdf/notes.md": "Newer.\n"})
    know(desk, first + sign(desk, "other"))
    answer = desk.run("outdated", "--json")
    assert answer.code == 4
    (version,) = json.loads(answer.out)["skills"]
    assert version["state"] == "failed"
    assert version["problem"].startswith(
        "it was signed by key@example.org, the new version by other@example.org;"
    )
    publish(desk, "--key", str(desk.root / "key"))
    assert desk.run("update", "--yes").code == 0
    assert desk.installed()["pdf/notes.md"] == b"Newer.\n"


@pytest.mark.parametrize(
    "end",
    [
        "/?v=1",
        "?v=1",
        "/index.json?v=1",
        "/.well-known/agent-skills?v=1",
        "/.well-known/agent-skills/index.json?v=/.well-known/",
    ],
)
def test_a_query_in_the_address_does_not_hide_the_signature(
    desk: Desk, site: Path, url: str, end: str
) -> None:
    know(desk, sign(desk))
    (plan,) = desk.json("install", f"{url}{end}", "--skill", "pdf", "--yes")["skills"]
    assert plan["signer"] == "key@example.org"


def test_changed_files_are_refused_also_with_a_query(desk: Desk, site: Path, url: str) -> None:
    know(desk, sign(desk))
    change_site(site, "file")
    answer = desk.run("install", f"{url}/?v=1", "--all", "--yes")
    assert (answer.code, desk.installed()) == (5, {})
    assert "is not what was signed" in answer.err


def test_the_signature_is_where_a_redirect_leads(desk: Desk, site: Path) -> None:
    know(desk, sign(desk))

    class Moved(_Quiet):
        def do_GET(self) -> None:
            if self.path.startswith("/new/"):
                self.path = self.path.removeprefix("/new")
                super().do_GET()
                return
            is_index = self.path.endswith("/.well-known/agent-skills/index.json")
            self.send_response(302 if is_index else 404)
            self.send_header("Location", f"/new{self.path}")
            self.send_header("Content-Length", "0")
            self.end_headers()

    with serve(functools.partial(Moved, directory=str(site))) as address:
        (plan,) = desk.json("install", address, "--skill", "pdf", "--yes")["skills"]
    assert plan["signer"] == "key@example.org"


def test_files_are_compared_with_the_list_also_without_ssh_keygen(
    desk: Desk, site: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    know(desk, sign(desk))
    desk.write("empty/file", "")
    monkeypatch.setenv("PATH", str(desk.root / "empty"))
    shape = desk.json("install", url, "--skill", "pdf", "--yes")
    assert shape["skills"][0]["signer"] is None
    (said,) = shape["diagnostics"]
    assert (said["code"], said["severity"]) == ("install-signature-unchecked", "warning")
    assert "was not checked" in said["message"]
    assert "OpenSSH" in said["hint"]
    before = desk.installed()
    change_site(site, "file")
    answer = desk.run("install", url, "--all", "--yes")
    assert (answer.code, desk.installed()) == (5, before)
    assert "'pdf/notes.md' is not what was signed" in answer.err


def test_the_policy_accepts_only_its_own_signers(desk: Desk, url: str) -> None:
    know(desk, sign(desk))
    other = f"other@example.org {make_key(desk.root / 'other')}\n"
    desk.write("managed/signers", other)
    write_policy(desk, 'signers = "signers"')
    with pytest.raises(AgainstPolicy) as refused:
        install(desk, url)
    file = desk.root / "managed/policy.toml"
    assert str(refused.value) == (
        "The policy of this machine does not allow “pdf”: it is not signed by an allowed signer"
        f" ({file}:2)."
    )
    publish(desk, "--key", str(desk.root / "other"))
    assert {one.signer for one in install(desk, url)} == {"other@example.org"}


def test_the_policy_refuses_a_site_that_is_not_signed(desk: Desk, url: str) -> None:
    desk.write("managed/signers", f"key@example.org {make_key(desk.root / 'key')}\n")
    write_policy(desk, 'signers = "signers"')
    with pytest.raises(AgainstPolicy, match="it is not signed by an allowed signer"):
        install(desk, url)


def test_the_signer_of_a_commit_is_shown_and_recorded_too(desk: Desk) -> None:
    from tests.supply.install.test_policy import sign as sign_commit

    upstream = desk.repository({"pdf/SKILL.md": skill_text("pdf", "Reads.")})
    know(desk, f"ada@example.org {make_key(desk.root / 'key')}\n")
    sign_commit(desk, upstream, desk.root / "key")
    (plan,) = desk.json("install", f"file://{upstream}", "--yes")["skills"]
    assert plan["signer"] == "ada@example.org"
    (entry,) = load_lock(desk).skills
    assert entry.signer == "ada@example.org"
