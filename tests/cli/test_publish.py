"""`prowess publish`: a folder that web servers serve, and that we and opencode read again."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from prowess.machine.atomic_write import write_aside
from prowess.supply.index_format import parse_index
from tests.cli.terminal import Terminal

DEPLOY = "---\nname: deploy\ndescription: Deploys the service. Use when asked to.\n---\n\nDo it.\n"
REVIEW = DEPLOY.replace("deploy", "review")
KNOWN = ".well-known/agent-skills"


@pytest.fixture
def out(terminal: Terminal) -> Path:
    terminal.write("project/skills/deploy/SKILL.md", DEPLOY)
    script = terminal.write("project/skills/deploy/scripts/run me.py", "print(1)\n")
    script.chmod(0o755)
    terminal.write("project/skills/review/SKILL.md", REVIEW)
    return terminal.root / "site"


def publish(terminal: Terminal, out: Path, *options: str) -> None:
    answer = terminal.run("publish", str(out), "skills", *options)
    assert (answer.code, answer.err) == (0, ""), answer.err


def list_files(out: Path) -> dict[str, tuple[bytes, int]]:
    """Every file with its content and time."""
    files = (path for path in out.rglob("*") if path.is_file())
    return {
        str(path.relative_to(out)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files
    }


def test_the_folder_has_both_indexes_and_all_files(terminal: Terminal, out: Path) -> None:
    answer = terminal.run("publish", str(out), "skills")
    lines = answer.out.splitlines()
    assert (answer.code, answer.err, lines[0]) == (0, "", f"Published 2 skills to {out}:")
    assert lines[-2:] == ["9 files written, 0 removed.", "Not signed; use --key FILE to sign it."]
    assert sorted(list_files(out)) == [
        ".nojekyll",
        f"{KNOWN}/deploy.zip",
        f"{KNOWN}/index.json",
        f"{KNOWN}/review/SKILL.md",
        f"{KNOWN}/sha256sums",
        "deploy/SKILL.md",
        "deploy/scripts/run me.py",
        "index.json",
        "review/SKILL.md",
    ]
    index = json.loads((out / KNOWN / "index.json").read_bytes())
    archive = hashlib.sha256((out / KNOWN / "deploy.zip").read_bytes()).hexdigest()
    assert index["$schema"] == "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
    assert index["skills"][0] == {
        "name": "deploy",
        "type": "archive",
        "description": "Deploys the service. Use when asked to.",
        "url": "deploy.zip",
        "digest": f"sha256:{archive}",
    }
    assert (index["skills"][1]["type"], index["skills"][1]["url"]) == (
        "skill-md",
        "review/SKILL.md",
    )


def test_the_list_of_files_is_what_sha256sum_checks(terminal: Terminal, out: Path) -> None:
    publish(terminal, out)
    lines = (out / KNOWN / "sha256sums").read_text().splitlines()
    listed = {path: digest for digest, path in (line.split("  ", 1) for line in lines)}
    found = {path: hashlib.sha256(one[0]).hexdigest() for path, one in list_files(out).items()}
    del found[f"{KNOWN}/sha256sums"]
    assert listed == found


def test_both_indexes_are_understood_by_the_reader(terminal: Terminal, out: Path) -> None:
    publish(terminal, out)
    url = "https://x.org/index.json"
    for path, kind in ((f"{KNOWN}/index.json", "any"), ("index.json", "opencode")):
        parsed = parse_index((out / path).read_bytes(), url, kind=kind)
        assert [one.name for one in parsed.entries] == ["deploy", "review"]
        assert parsed.diagnostics == ()


def test_publishing_again_changes_no_byte(terminal: Terminal, out: Path) -> None:
    publish(terminal, out)
    before = list_files(out)
    answer = terminal.run("publish", str(out), "skills")
    assert "Nothing has changed." in answer.out
    assert list_files(out) == before
    assert terminal.json("publish", str(out), "skills")["changed"] is False


def test_a_change_and_a_skill_that_is_gone_are_published(terminal: Terminal, out: Path) -> None:
    publish(terminal, out)
    before = json.loads((out / "index.json").read_bytes())["skills"]
    terminal.write("project/skills/review/SKILL.md", REVIEW + "More.\n")
    shutil.rmtree(terminal.project / "skills" / "deploy")
    shown = terminal.json("publish", str(out), "skills")
    assert shown["removed"] == [
        f"{KNOWN}/deploy.zip",
        "deploy/SKILL.md",
        "deploy/scripts/run me.py",
    ]
    assert not (out / "deploy").exists()
    [after] = json.loads((out / "index.json").read_bytes())["skills"]
    assert (after["name"], after["version"] != before[1]["version"]) == ("review", True)


def test_files_of_others_stay_and_are_never_replaced(terminal: Terminal, out: Path) -> None:
    out.mkdir()
    (out / "README.html").write_text("mine")
    (out / "index.json").write_text("{}")
    answer = terminal.run("publish", str(out), "skills")
    assert (answer.code, answer.out) == (1, "")
    assert "index.json was not written by `prowess publish`" in answer.err
    assert sorted(os.listdir(out)) == ["README.html", "index.json"]
    (out / "index.json").unlink()
    publish(terminal, out)
    assert (out / "README.html").read_text() == "mine"


def test_a_published_file_that_was_edited_stops_the_next_run(terminal: Terminal, out: Path) -> None:
    publish(terminal, out)
    (out / "review" / "SKILL.md").write_text("edited")
    answer = terminal.run("publish", str(out), "skills")
    assert (answer.code, (out / "review" / "SKILL.md").read_text()) == (1, "edited")
    checked = terminal.run("publish", str(out), "--check")
    assert (checked.code, checked.out) == (1, "review/SKILL.md was changed\nNot signed.\n")


def test_a_run_that_was_cut_short_is_finished_by_the_next(
    terminal: Terminal, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(terminal, out)
    terminal.write("project/skills/review/SKILL.md", REVIEW + "More.\n")
    left = [3]

    def stop_early(path: str, data: bytes, *, sync: bool) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        write_aside(path, data, sync=sync)

    with monkeypatch.context() as patch:
        patch.setattr("prowess.supply.publish.site_folder.write_aside", stop_early)
        assert terminal.run("publish", str(out), "skills").code == 130
    terminal.write("project/skills/review/SKILL.md", REVIEW + "Even more.\n")
    publish(terminal, out)
    assert terminal.run("publish", str(out), "--check").code == 0


def test_a_list_that_leads_out_of_the_folder_removes_nothing(terminal: Terminal, out: Path) -> None:
    victim = terminal.write("victim", "x")
    digest = hashlib.sha256(b"x").hexdigest()
    path = out / KNOWN / "sha256sums"
    path.parent.mkdir(parents=True)
    path.write_text(f"{digest}  ../victim\n")
    answer = terminal.run("publish", str(out), "skills")
    assert (answer.code, victim.exists()) == (4, True)


def test_a_folder_that_is_a_link_is_not_written_through(terminal: Terminal, out: Path) -> None:
    elsewhere = terminal.root / "elsewhere"
    elsewhere.mkdir()
    out.mkdir()
    os.symlink(elsewhere, out / "review")
    assert terminal.run("publish", str(out), "skills").code == 1
    assert list(elsewhere.iterdir()) == []


def test_a_folder_inside_the_project_is_not_published_into_itself(
    terminal: Terminal, out: Path
) -> None:
    for _ in range(2):
        answer = terminal.run("publish", "public")
        assert (answer.code, answer.out.splitlines()[0]) == (0, "Published 2 skills to public:")


def test_a_dry_run_writes_nothing_and_an_error_publishes_nothing(
    terminal: Terminal, out: Path
) -> None:
    assert terminal.json("publish", str(out), "skills", "--dry-run")["changed"] is True
    terminal.write("project/skills/bad/SKILL.md", "---\nname: Bad\n---\n")
    assert terminal.run("publish", str(out), "skills").code == 1
    assert not out.exists()


# Served


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def url(terminal: Terminal, out: Path) -> Iterator[str]:
    """The folder, served by an ordinary web server below a path."""
    publish(terminal, out)
    os.makedirs(terminal.root / "www")
    os.symlink(out, terminal.root / "www" / "team")
    handler = functools.partial(_QuietHandler, directory=str(terminal.root / "www"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/team"
    server.shutdown()
    thread.join()
    server.server_close()


def test_our_own_source_reads_what_was_published(terminal: Terminal, url: str) -> None:
    shutil.rmtree(terminal.project / "skills")
    terminal.write(
        "home/.config/prowess/prowess.toml",
        f'[sources.team]\nurl = "{url}"\n[network]\nseconds = 120\n',
    )
    listed = terminal.json("list")
    names = {one["name"]: one for one in listed["skills"]}
    assert sorted(names) == ["deploy", "review"]
    folder = Path(names["deploy"]["location"]).parent
    assert (folder / "SKILL.md").read_text() == DEPLOY
    assert (folder / "scripts" / "run me.py").read_text() == "print(1)\n"


def test_opencode_reads_what_was_published(terminal: Terminal, url: str) -> None:
    shutil.rmtree(terminal.project / "skills")
    config = {"skills": {"urls": [url]}}
    terminal.write("home/.config/opencode/opencode.json", json.dumps(config))
    terminal.write("home/.config/prowess/prowess.toml", "[network]\nseconds = 120\n")
    listed = terminal.json("list", "--host", "opencode", "--all")
    found = {one["name"]: one["location"] for one in listed["skills"]}
    assert {"deploy", "review"} <= found.keys()
    assert (Path(found["deploy"]).parent / "scripts" / "run me.py").read_text() == "print(1)\n"


def test_what_was_published_is_installed_updated_and_restored(
    terminal: Terminal, out: Path, url: str
) -> None:
    shutil.move(terminal.project / "skills", terminal.root / "sources")
    answer = terminal.run("install", url, "--all", "--yes")
    assert answer.code == 0, answer.err
    folder = terminal.project / ".agents" / "skills"
    assert sorted(os.listdir(folder)) == ["deploy", "review"]
    assert (folder / "deploy" / "scripts" / "run me.py").read_text() == "print(1)\n"
    lock = json.loads((terminal.project / "prowess.lock").read_bytes())
    archive = hashlib.sha256((out / KNOWN / "deploy.zip").read_bytes()).hexdigest()
    [deploy] = [one for one in lock["skills"] if one["name"] == "deploy"]
    assert (deploy["kind"], deploy["source"]) == ("site", url)
    assert deploy["resolved"] == f"sha256:{archive}"
    review = terminal.root / "sources" / "review" / "SKILL.md"
    review.write_text(REVIEW + "More.\n")
    assert terminal.run("publish", str(out), str(review.parent.parent)).code == 0
    answer = terminal.run("update", "--yes")
    assert answer.code == 0, answer.err
    assert (folder / "review" / "SKILL.md").read_text() == REVIEW + "More.\n"
    shutil.rmtree(folder)
    assert terminal.run("sync", "--frozen").code == 0
    assert (folder / "review" / "SKILL.md").read_text() == REVIEW + "More.\n"


@pytest.mark.seed("W-29")
def test_remote_skills_come_into_the_workspace(terminal: Terminal, url: str) -> None:
    shutil.rmtree(terminal.project / "skills")
    config = {"agents": {"defaults": {"workspace": str(terminal.project)}}}
    terminal.write("home/.openclaw/openclaw.json", json.dumps(config))
    (terminal.project / "skills").mkdir()
    terminal.skill("project/skills/other")
    answer = terminal.run("install", f"{url}#deploy", "--to", "openclaw", "--yes")
    assert answer.code == 0, answer.err
    assert (terminal.project / "skills" / "deploy" / "SKILL.md").read_text() == DEPLOY
    listed = terminal.json("list", "--host", "openclaw")["skills"]
    assert "deploy" in [one["name"] for one in listed]


def test_a_site_without_an_index_is_no_source(terminal: Terminal, url: str) -> None:
    answer = terminal.run("install", f"{url}/deploy", "--yes")
    assert (answer.code, answer.err.startswith("prowess: Could not install from http://")) == (
        4,
        True,
    )


# Signed


@pytest.fixture
def key(terminal: Terminal, request: pytest.FixtureRequest) -> Path:
    kind = getattr(request, "param", "ed25519")
    path = terminal.root / "key"
    command = ["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", "me@example.org", "-f", str(path)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return path


def allow(terminal: Terminal, key: Path, who: str = "me@example.org") -> str:
    public = Path(f"{key}.pub").read_text()
    line = f'{who} namespaces="agent-skills" {public}'
    return str(terminal.write("allowed_signers", line))


@pytest.mark.needs("ssh-keygen")
# ECDSA makes another signature each time.
@pytest.mark.parametrize("key", ["ed25519", "ecdsa"], indirect=True)
def test_a_signed_folder_is_verified_and_stays_as_it_is(
    terminal: Terminal, out: Path, key: Path
) -> None:
    publish(terminal, out, "--key", str(key))
    before = list_files(out)
    publish(terminal, out, "--key", str(key))
    publish(terminal, out)
    assert list_files(out) == before
    shown = terminal.json("publish", str(out), "--check", "--signers", allow(terminal, key))
    assert (shown["problems"], shown["signer"]["name"]) == ([], "me@example.org")
    # What anybody can do without Prowess.
    data = (out / KNOWN / "sha256sums").read_bytes()
    command = ["ssh-keygen", "-Y", "verify", "-f", allow(terminal, key), "-I", "me@example.org"]
    command += ["-n", "agent-skills", "-s", str(out / KNOWN / "sha256sums.sig")]
    assert subprocess.run(command, input=data, capture_output=True).returncode == 0


@pytest.mark.needs("ssh-keygen")
def test_what_is_not_signed_by_an_allowed_signer_does_not_verify(
    terminal: Terminal, out: Path, key: Path
) -> None:
    publish(terminal, out, "--key", str(key))
    signers = allow(terminal, key)
    (out / "review" / "SKILL.md").write_text("edited")
    sums = (out / KNOWN / "sha256sums").read_text().splitlines(keepends=True)
    digest = hashlib.sha256(b"edited").hexdigest()
    forged = "".join(
        f"{digest}  review/SKILL.md\n" if line.endswith("  review/SKILL.md\n") else line
        for line in sums
    )
    (out / KNOWN / "sha256sums").write_text(forged)
    answer = terminal.run("publish", str(out), "--check", "--signers", signers)
    assert (answer.code, answer.err.startswith("prowess: The signature does not verify")) == (
        1,
        True,
    )
    stranger = str(terminal.write("nobody", ""))
    other = terminal.run("publish", str(out), "--check", "--signers", stranger)
    assert (other.code, "has the key of the signature" in other.err) == (1, True)


@pytest.mark.needs("ssh-keygen")
def test_an_old_signature_never_stays_beside_new_files(
    terminal: Terminal, out: Path, key: Path
) -> None:
    publish(terminal, out, "--key", str(key))
    terminal.write("project/skills/review/SKILL.md", REVIEW + "More.\n")
    publish(terminal, out)
    assert not (out / KNOWN / "sha256sums.sig").exists()
    answer = terminal.run("publish", str(out), "--check", "--signers", allow(terminal, key))
    assert (answer.code, answer.out.splitlines()[0]) == (1, "it is not signed")


@pytest.mark.needs("ssh-keygen")
def test_a_key_that_cannot_sign_is_reported_and_nothing_is_written(
    terminal: Terminal, out: Path
) -> None:
    bad = terminal.write("bad-key", "no key")
    answer = terminal.run("publish", str(out), "skills", "--key", str(bad))
    assert (answer.code, "ssh-keygen could not sign with" in answer.err) == (1, True)
    assert not out.exists()
    assert terminal.run("publish", str(out), "--key", "nowhere").code == 2
