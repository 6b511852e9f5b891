"""Installing from git: the bytes of a commit, over file and http, and nothing that git could run."""

from __future__ import annotations

import functools
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.supply.install.conftest import Desk, two_skills
from tests.supply.install.test_install import load_lock
from tests.workspace import skill_text

CRLF = b"---\r\nname: alpha\r\ndescription: Ends lines as on Windows.\r\n---\r\nBody\r\n"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serve(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server on this machine while the block runs; its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def web(desk: Desk) -> Iterator[str]:
    """A server of plain files over the workspace, which git can fetch from."""
    with serve(functools.partial(_Quiet, directory=str(desk.root))) as url:
        yield url


def publish(desk: Desk, folder: Path, name: str = "served.git") -> Path:
    """A bare copy that a server of plain files can offer."""
    bare = desk.root / name
    desk.do_git(desk.root, "clone", "--quiet", "--bare", str(folder), str(bare))
    desk.do_git(bare, "update-server-info")
    return bare


def list_blobs(desk: Desk, folder: Path, path: str, commit: str = "HEAD") -> dict[str, bytes]:
    """What git has below a path at a commit."""
    listed = desk.do_git(folder, "ls-tree", "-r", "--name-only", f"{commit}:{path}").splitlines()
    return {
        name: subprocess.run(
            ["git", "cat-file", "blob", f"{commit}:{path}/{name}"],
            cwd=folder,
            capture_output=True,
            check=True,
        ).stdout
        for name in listed
    }


TRICKY: dict[str, str | bytes] = {
    ".gitattributes": "*.txt text eol=crlf\n*.md ident\n*.x filter=lower\n*.e export-subst\n"
    "*.i export-ignore\n*.u working-tree-encoding=UTF-16\n",
    "skills/alpha/SKILL.md": CRLF,
    "skills/alpha/unix.txt": b"one\ntwo\n",
    "skills/alpha/keyword.md": b"$Id$ $Format:%H$\n",
    "skills/alpha/subst.e": b"$Format:%H$\n",
    "skills/alpha/kept.i": b"kept\n",
    "skills/alpha/data.bin": bytes(range(256)) * 40,
    "skills/alpha/empty": b"",
    "skills/alpha/no end": b"no newline",
    "skills/alpha/söß/日本.txt": "ü\n".encode(),
    "skills/alpha/large.bin": b"0123456789abcdef" * 90_000,
}


def test_an_installed_tree_is_what_git_has_at_that_commit_byte_for_byte(desk: Desk) -> None:
    folder = desk.repository(TRICKY)
    (folder / "skills/alpha/run.sh").write_text("#!/bin/sh\n")
    (folder / "skills/alpha/run.sh").chmod(0o755)
    desk.commit(folder)
    assert desk.run("install", f"file://{folder}", "--yes").code == 0
    blobs = list_blobs(desk, folder, "skills/alpha")
    assert desk.installed(".agents/skills/alpha") == blobs
    assert len(blobs) == 11
    (entry,) = load_lock(desk).skills
    assert entry.resolved == desk.do_git(folder, "rev-parse", "HEAD")
    assert entry.executable == ("run.sh",)


def test_http_gives_the_same_as_file(desk: Desk, web: str) -> None:
    folder = desk.repository(TRICKY)
    desk.repository({"README.md": "Another commit."})
    publish(desk, folder)
    assert desk.run("install", f"{web}/served.git", "--yes").code == 0
    assert desk.installed(".agents/skills/alpha") == list_blobs(desk, folder, "skills/alpha")
    (entry,) = load_lock(desk).skills
    assert (entry.source, entry.resolved) == (
        f"{web}/served.git",
        desk.do_git(folder, "rev-parse", "HEAD"),
    )
    assert desk.run("outdated").out == "All installed skills are up to date.\n"
    missing = desk.run("install", f"{web}/other.git", "--yes")
    assert (missing.code, "not found" in missing.err) == (4, True)


def test_a_tag_a_branch_and_a_commit_can_be_asked_for(desk: Desk, web: str) -> None:
    folder = desk.repository({"SKILL.md": skill_text("alpha", "First.")})
    first = desk.do_git(folder, "rev-parse", "HEAD")
    desk.do_git(folder, "tag", "-a", "v1", "-m", "one")
    desk.do_git(folder, "branch", "team/stable")
    desk.repository({"SKILL.md": skill_text("alpha", "Second.")})
    publish(desk, folder)
    for address in (f"file://{folder}", f"{web}/served.git"):
        for ref in ("v1", "team/stable", first, first[:8]):
            shape = desk.json("install", f"{address}#{ref}", "--dry-run")
            assert [one["resolved"] for one in shape["skills"]] == [first]
        answer = desk.run("install", f"{address}#nothing", "--dry-run")
        assert (answer.code, "no such branch, tag or commit" in answer.err) == (4, True)


def test_a_path_and_a_skill_narrow_what_is_fetched(desk: Desk) -> None:
    folder = desk.repository(two_skills())
    names = {
        f"file://{folder}@beta": ["beta"],
        f"file://{folder}#main@alpha": ["alpha"],
    }
    for source, expected in names.items():
        shape = desk.json("install", source, "--dry-run")
        assert [one["name"] for one in shape["skills"]] == expected


def test_no_hook_filter_or_setting_of_a_repository_runs(desk: Desk) -> None:
    mark = desk.root / "ran"
    folder = desk.repository(
        {".gitattributes": "* filter=evil diff=evil merge=evil\n", "SKILL.md": skill_text("alpha")}
    )
    for hook in ("post-checkout", "post-upload-pack", "pre-receive", "reference-transaction"):
        place = folder / ".git/hooks" / hook
        place.write_text(f"#!/bin/sh\ntouch {mark}\n")
        place.chmod(0o755)
    for key in ("core.fsmonitor", "filter.evil.smudge", "uploadpack.packObjectsHook"):
        desk.do_git(folder, "config", key, f"touch {mark}")
    assert desk.run("install", f"file://{folder}", "--yes").code == 0
    assert not mark.exists()


def test_submodules_and_links_cost_only_their_own_skill(desk: Desk) -> None:
    folder = desk.repository(two_skills())
    os.symlink("/etc/passwd", folder / "skills/alpha/secret")
    desk.commit(folder)
    answer = desk.run("install", f"file://{folder}", "--all", "--yes")
    assert (answer.code, answer.err) == (
        0,
        "Not installed: skills/alpha (skills/alpha/secret is a symlink).\n",
    )
    assert sorted(desk.installed()) == ["beta/SKILL.md"]
    named = desk.run("install", f"file://{folder}@alpha", "--yes")
    assert (named.code, "is a symlink" in named.err) == (5, True)
    inner = desk.repository({"SKILL.md": skill_text("gamma")}, "inner")
    (folder / "skills/alpha/secret").unlink()
    commit = desk.do_git(inner, "rev-parse", "HEAD")
    desk.do_git(
        folder, "update-index", "--add", "--cacheinfo", f"160000,{commit},skills/alpha/module"
    )
    (folder / "skills/alpha/module").mkdir()
    desk.do_git(folder, "commit", "--quiet", "-am", "module")
    again = desk.run("install", f"file://{folder}@alpha", "--yes")
    assert (again.code, "is a submodule" in again.err) == (5, True)


def test_a_pointer_of_git_lfs_is_installed_as_it_is_and_reported(desk: Desk) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"
    folder = desk.repository({"SKILL.md": skill_text("alpha"), "model.bin": pointer})
    answer = desk.run("install", f"file://{folder}", "--yes")
    assert (answer.code, "(install-lfs-pointer)" in answer.err) == (0, True)
    assert desk.installed()["alpha/model.bin"] == pointer.encode()


def test_a_server_that_wants_a_password_is_not_waited_for(desk: Desk) -> None:
    class Locked(_Quiet):
        def do_GET(self) -> None:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.send_header("Content-Length", "0")
            self.end_headers()

    with serve(Locked) as url:
        answer = desk.run("install", f"{url}/x.git", "--yes")
    assert answer.code == 4
    assert desk.tree() == []


def test_a_redirect_to_another_protocol_is_not_followed(desk: Desk) -> None:
    secret = desk.repository({"SKILL.md": skill_text("alpha")}, "secret")

    class Elsewhere(_Quiet):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", f"file://{secret}/.git{self.path}")
            self.send_header("Content-Length", "0")
            self.end_headers()

    with serve(Elsewhere) as url:
        answer = desk.run("install", f"{url}/x.git", "--yes")
    assert answer.code == 4
    assert desk.tree() == []


def test_names_that_differ_only_by_case_are_refused(desk: Desk) -> None:
    folder = desk.repository({"SKILL.md": skill_text("alpha"), "A/x": "1", "a/y": "2"})
    answer = desk.run("install", f"file://{folder}", "--yes")
    assert (answer.code, "differ only by case" in answer.err) == (5, True)
    assert desk.tree() == []
