"""Fetch a commit with git and read its files byte for byte, without a checkout.

A checkout would convert line ends, run filters and expand keywords as the repository asks for.
Blobs are read from git's own store instead. git runs without hooks, without questions and with the
protocols that the address itself needs, so that no redirect or setting leads elsewhere.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import IO, NamedTuple

from prowess.errors import MachineError
from prowess.machine.processes import pass_on
from prowess.model.facts import Facts

_SECONDS = 600.0
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_PROGRESS = re.compile(r"(Receiving objects|Resolving deltas|Counting objects):\s+(\d+)%")
_NO_SHALLOW = "does not support shallow"
# Nothing of a repository runs: no hook, no file monitor, no work in the background.
NO_PROGRAMS = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
)
_SAFE = (
    *NO_PROGRAMS,
    ("core.autocrlf", "false"),
    ("core.symlinks", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("protocol.allow", "never"),
    ("advice.detachedHead", "false"),
)
# What git needs to reach the user's own servers: keys, proxies and certificates.
_PASSED_ON = (
    "SSH_AUTH_SOCK",
    "GIT_SSH_COMMAND",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)

Watch = Callable[[str, int], None]
"""Told what git does and how much of it is done, in percent."""


class GitFailed(MachineError):
    """git could not do what it was asked for; has its last words."""


class GitEntry(NamedTuple):
    """A file of a commit: its mode as git writes it, its kind, its id and its size."""

    path: str
    mode: str
    kind: str
    id: str
    size: int


class GitRepository:
    """A bare repository in a folder of our own, which commits are fetched into."""

    def __init__(self, folder: str, facts: Facts) -> None:
        self.folder = folder
        self._env = {
            **pass_on(facts.env),
            **{name: facts.env[name] for name in _PASSED_ON if name in facts.env},
            "LC_ALL": "C",
            # A question on a terminal would wait for ever.
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "true",
            "SSH_ASKPASS": "true",
            "GCM_INTERACTIVE": "never",
            "GIT_LFS_SKIP_SMUDGE": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
        }

    def create(self) -> None:
        """Make the repository. Raises `GitFailed`."""
        self._git("init", "--quiet", "--bare", "--template=", self.folder)

    def fetch(self, url: str, ref: str, protocols: Iterable[str], watch: Watch | None) -> str:
        """Fetch one commit without its history where the server can do that; its id.

        `ref` is a branch, a tag or a commit, "" for what the server has as its head. Raises
        `GitFailed`.
        """
        allowed = ":".join(protocols)
        wanted = ref or "HEAD"
        try:
            self._fetch(url, (wanted,), allowed, watch, depth=True)
        except GitFailed as failure:
            if _NO_SHALLOW in failure.cause:
                # A server of plain files has no way to leave the history out.
                return self._fetch_all(url, ref, allowed, watch)
            if not ref:
                raise
            # A server may refuse a commit that is no branch, and knows no shortened ones at all.
            return self._fetch_all(url, ref, allowed, watch)
        return self._resolve("FETCH_HEAD")

    def find_date(self, commit: str) -> datetime:
        """When a commit was made, as whoever made it says."""
        seconds = self._git("log", "-1", "--no-show-signature", "--format=%ct", commit)
        return datetime.fromtimestamp(int(seconds), tz=UTC)

    def find_signer(self, commit: str, signers_file: str) -> str:
        """Who of the allowed signers signed a commit with an ssh key; "" for nobody."""
        if not signers_file:
            return ""
        options = ("-c", f"gpg.ssh.allowedSignersFile={signers_file}")
        try:
            # `%G?` is G only for a good signature of somebody in that file.
            said = self._git(*options, "log", "-1", "--format=%G?%n%GS", commit)
        except GitFailed:
            # Without ssh-keygen nothing can be verified, and counts as not signed.
            return ""
        state, _, signer = said.decode("utf-8", "replace").partition("\n")
        return signer.strip() if state == "G" else ""

    def list_files(self, commit: str) -> list[GitEntry]:
        """Every file of a commit; links and submodules are listed as what they are."""
        listed = self._git("ls-tree", "-r", "-z", "--long", "--full-tree", commit)
        return [_parse_entry(line) for line in listed.split(b"\0") if line]

    def read_blobs(self, entries: Iterable[GitEntry]) -> Iterator[tuple[GitEntry, bytes]]:
        """The content of files, exactly as git has it. Raises `GitFailed`."""
        wanted = list(entries)
        ids = "".join(f"{entry.id}\n" for entry in wanted).encode()
        process = self._start(("cat-file", "--batch"), stdin=subprocess.PIPE)
        assert process.stdin is not None
        assert process.stdout is not None
        # git stops reading ids while nobody reads its answers.
        feeder = threading.Thread(target=_feed, args=(process.stdin, ids), daemon=True)
        feeder.start()
        try:
            for entry in wanted:
                yield entry, _read_blob(process.stdout, entry)
        finally:
            process.kill()
            process.wait()
            feeder.join()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()

    def _fetch_all(self, url: str, ref: str, allowed: str, watch: Watch | None) -> str:
        """Fetch all branches and tags, and find the commit among them."""
        specs = (
            "+refs/heads/*:refs/heads/*",
            "+refs/tags/*:refs/tags/*",
            "+HEAD:refs/prowess/head",
        )
        self._fetch(url, specs, allowed, watch, depth=False)
        if not ref:
            return self._resolve("refs/prowess/head")
        for name in (f"refs/tags/{ref}", f"refs/heads/{ref}", ref):
            found = self._try("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
            if found is not None:
                return found
        raise GitFailed("find", f"{ref} in {url}", "there is no such branch, tag or commit")

    def _fetch(
        self, url: str, specs: tuple[str, ...], allowed: str, watch: Watch | None, *, depth: bool
    ) -> None:
        options = ("--no-tags", "--no-recurse-submodules", "--force", "--progress")
        shallow = ("--depth=1",) if depth else ()
        arguments = ("fetch", *options, *shallow, "--end-of-options", url, *specs)
        process = self._start(arguments, env={"GIT_ALLOW_PROTOCOL": allowed})
        assert process.stderr is not None
        timer = threading.Timer(_SECONDS, process.kill)
        timer.start()
        try:
            said = _follow(process.stderr, watch)
            code = process.wait()
        finally:
            timer.cancel()
            process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        if code != 0:
            raise GitFailed("fetch", url, _pick_reason(said) or f"git exited with {code}")

    def _resolve(self, name: str) -> str:
        found = self._try("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        if found is None:
            raise GitFailed("read", name, "it is not a commit")
        return found

    def _try(self, *arguments: str) -> str | None:
        try:
            found = self._git(*arguments).decode("ascii", "replace").strip()
        except GitFailed:
            # The caller asks whether there is something; git fails where there is not.
            return None
        return found if _COMMIT.fullmatch(found) else None

    def _git(self, *arguments: str) -> bytes:
        process = self._start(arguments)
        try:
            output, errors = process.communicate(timeout=_SECONDS)
        except BaseException:
            process.kill()
            process.communicate()
            raise
        if process.returncode != 0:
            said = errors.decode("utf-8", "replace")
            raise GitFailed("run", f"git {arguments[0]}", _pick_reason(said) or "it failed")
        return output

    def _start(
        self,
        arguments: tuple[str, ...],
        *,
        env: Mapping[str, str] | None = None,
        stdin: int = subprocess.DEVNULL,
    ) -> subprocess.Popen[bytes]:
        settings = [word for key, value in _SAFE for word in ("-c", f"{key}={value}")]
        repository = () if arguments[0] == "init" else (f"--git-dir={self.folder}",)
        try:
            return subprocess.Popen(
                ["git", *settings, *repository, *arguments],
                env={**self._env, **(env or {})},
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # Without a terminal of its own neither git nor ssh can ask for a password.
                start_new_session=os.name == "posix",
            )
        except OSError as error:
            raise MachineError("run", "git", error.strerror or str(error)) from error


def _parse_entry(line: bytes) -> GitEntry:
    described, _, path = line.partition(b"\t")
    mode, kind, id, size = described.decode("ascii").split()
    length = int(size) if size != "-" else 0
    return GitEntry(path.decode("utf-8", "surrogateescape"), mode, kind, id, length)


def _read_blob(stream: IO[bytes], entry: GitEntry) -> bytes:
    words = stream.readline().split()
    if len(words) != 3 or words[1] != b"blob":
        raise GitFailed("read", entry.path, "git does not have its content")
    size = int(words[2])
    data = stream.read(size + 1)
    if len(data) != size + 1:
        raise GitFailed("read", entry.path, "git stopped early")
    return data[:-1]


def _feed(stream: IO[bytes], data: bytes) -> None:
    try:
        stream.write(data)
        stream.close()
    except (BrokenPipeError, ValueError):
        # git was stopped; whoever reads its answers notices.
        return


def _follow(stream: IO[bytes], watch: Watch | None) -> str:
    """All that git says, reporting progress meanwhile; its lines end with CR or LF."""
    said: list[str] = []
    rest = b""
    while piece := os.read(stream.fileno(), 1 << 14):
        *lines, rest = re.split(rb"[\r\n]", rest + piece)
        for line in lines:
            text = line.decode("utf-8", "replace")
            found = _PROGRESS.search(text)
            if found is None:
                said.append(text)
            elif watch is not None:
                watch(found[1].lower(), int(found[2]))
    return "\n".join([*said[-50:], rest.decode("utf-8", "replace")])


def _pick_reason(said: str) -> str:
    """The line that says why git failed: the first fatal one, else the last."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:", "ERROR:", "remote:"))]
    chosen = (fatal or lines[-1:] or [""])[0]
    return re.sub(r"^(fatal|error|ERROR|remote):\s*", "", chosen).rstrip(".")


def merge_files(facts: Facts, *, base: str, ours: str, theirs: str) -> tuple[bytes, bool]:
    """Merge three files with `git merge-file`: the result, and whether it is free of conflicts.

    Raises `MachineError`, also for files that are not text.
    """
    labels = ("-L", "yours", "-L", "installed", "-L", "upstream")
    argv = ["git", "merge-file", "-p", *labels, ours, base, theirs]
    try:
        finished = subprocess.run(
            argv, env=pass_on(facts.env), capture_output=True, timeout=_SECONDS, check=False
        )
    except OSError as error:
        raise MachineError("run", "git", error.strerror or str(error)) from error
    # The number of conflicts, at most 127; more is an error.
    if finished.returncode > 127 or finished.returncode < 0:
        cause = _pick_reason(finished.stderr.decode("utf-8", "replace"))
        raise MachineError("merge", ours, cause or "git merge-file failed")
    return finished.stdout, finished.returncode == 0
