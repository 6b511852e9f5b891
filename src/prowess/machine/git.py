"""git, in a repository of ours or in one of the user's; nothing of the repository itself runs.

`GitRepository` fetches a commit and reads its files byte for byte, without a checkout, which would
convert line ends, run filters and expand keywords as the repository asks for. Blobs are read from
git's own store instead. It runs without questions and with the protocols that the address itself
needs, so that no redirect or setting leads elsewhere.

`UserGit` works in the user's repository with the user's own settings: their name, keys and remotes.
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
from prowess.machine.processes import ProcessRunner, pass_on
from prowess.model.command import Command, Finished
from prowess.model.facts import Facts

_SECONDS = 600.0
_USER_SECONDS = 300.0
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_PROGRESS = re.compile(r"(Receiving objects|Resolving deltas|Counting objects):\s+(\d+)%")
_NO_SHALLOW = "does not support shallow"
# Nothing of a repository runs: no hook, no file monitor, no work in the background.
_NO_PROGRAMS = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
)
_SAFE = (
    *_NO_PROGRAMS,
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
            # What git says is searched for words, which would be translated.
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
            # A server of plain files has no way to leave the history out.
            is_shallow_refused = _NO_SHALLOW in failure.cause
            # A server may refuse a commit that is no branch, and knows no shortened ones at all.
            is_maybe_a_commit = bool(ref)
            if not (is_shallow_refused or is_maybe_a_commit):
                raise
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
            # First the process: the feeder may be blocked in a write to it.
            process.kill()
            process.wait()
            feeder.join()
            _close(process)

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
        # By their whole names first: a branch can be named like the beginning of a commit's id.
        for name in (f"refs/tags/{ref}", f"refs/heads/{ref}", ref):
            commit = self._find_commit(name)
            if commit is not None:
                return commit
        raise GitFailed("find", f"{ref} in {url}", "there is no such branch, tag or commit")

    def _fetch(
        self, url: str, specs: tuple[str, ...], allowed: str, watch: Watch | None, *, depth: bool
    ) -> None:
        options = ("--no-tags", "--no-recurse-submodules", "--force", "--progress")
        shallow = ("--depth=1",) if depth else ()
        # A URL or a ref that begins with a dash is not an option after that word.
        arguments = ("fetch", *options, *shallow, "--end-of-options", url, *specs)
        process = self._start(arguments, env={"GIT_ALLOW_PROTOCOL": allowed})
        assert process.stderr is not None
        # Reading the progress blocks as long as git says nothing, so the limit is a timer.
        timer = threading.Timer(_SECONDS, process.kill)
        timer.start()
        try:
            said = _follow(process.stderr, watch)
            code = process.wait()
        finally:
            timer.cancel()
            process.kill()
            process.wait()
            _close(process)
        if code != 0:
            raise GitFailed("fetch", url, _pick_reason(said) or f"git exited with {code}")

    def _resolve(self, name: str) -> str:
        commit = self._find_commit(name)
        if commit is None:
            raise GitFailed("read", name, "it is not a commit")
        return commit

    def _find_commit(self, name: str) -> str | None:
        # A tag may be an object of its own; the suffix asks for the commit behind it.
        try:
            said = self._git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        except GitFailed:
            # The caller asks whether there is something; git fails where there is not.
            return None
        commit = said.decode("ascii", "replace").strip()
        return commit if _COMMIT.fullmatch(commit) else None

    def _git(self, *arguments: str) -> bytes:
        process = self._start(arguments)
        try:
            output, errors = process.communicate(timeout=_SECONDS)
        except BaseException:
            # Also for Ctrl-C: git has a session of its own, so the terminal does not end it.
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
        # Told where the repository is, git does not look for one in the folders above.
        repository = () if arguments[0] == "init" else (f"--git-dir={self.folder}",)
        try:
            return subprocess.Popen(
                ["git", *_as_options(_SAFE), *repository, *arguments],
                env={**self._env, **(env or {})},
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # Without a terminal of its own neither git nor ssh can ask for a password.
                start_new_session=os.name == "posix",
            )
        except OSError as error:
            raise MachineError.caused_by("run", "git", error) from error


class UserGit:
    """git in a repository of the user, with the user's own settings and no input.

    `where` are the options that say which repository: `-C FOLDER`, or `--git-dir` and
    `--work-tree` in a folder that a model has written to, whose own `.git` must have no effect.
    """

    def __init__(self, where: tuple[str, ...], *, cwd: str, facts: Facts) -> None:
        self._argv = ("git", *where, *_as_options(_NO_PROGRAMS))
        self._cwd = cwd
        self._facts = facts

    def run(self, *arguments: str) -> str:
        """What a command of git prints. Raises `GitFailed`."""
        finished = self.attempt(*arguments)
        if finished.code != 0:
            raise GitFailed("run", f"git {arguments[0]}", pick_last_line(finished))
        return finished.output.strip()

    def attempt(self, *arguments: str) -> Finished:
        """How a command of git ended, also where it failed."""
        return run_for_user((*self._argv, *arguments), cwd=self._cwd, facts=self._facts)


def run_for_user(argv: tuple[str, ...], *, cwd: str, facts: Facts) -> Finished:
    """Run git, or a program such as `gh` that calls it, so that it asks nothing."""
    # A question on a terminal or an editor would wait for ever.
    env = {"GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true", "LC_ALL": "C"}
    command = Command(text=" ".join(argv), argv=argv, cwd=cwd, env=env, seconds=_USER_SECONDS)
    return ProcessRunner(facts).run(command)


def pick_last_line(finished: Finished) -> str:
    """The last line that a program printed, where people look for the reason."""
    lines = [line.strip() for line in finished.output.splitlines() if line.strip()]
    if not lines:
        return f"it exited with {finished.code}"
    return lines[-1].rstrip(".")


def _as_options(settings: Iterable[tuple[str, str]]) -> list[str]:
    options: list[str] = []
    for key, value in settings:
        options += ["-c", f"{key}={value}"]
    return options


def _close(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _parse_entry(line: bytes) -> GitEntry:
    described, _, path = line.partition(b"\t")
    mode, kind, id, size = described.decode("ascii").split()
    # A submodule has no size here: its files are in another repository.
    length = int(size) if size != "-" else 0
    return GitEntry(path.decode("utf-8", "surrogateescape"), mode, kind, id, length)


def _read_blob(stream: IO[bytes], entry: GitEntry) -> bytes:
    # `ID blob SIZE`, the content, and a newline; or `ID missing`.
    words = stream.readline().split()
    is_blob = len(words) == 3 and words[1] == b"blob"
    if not is_blob:
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
    if not lines:
        return ""
    # The first, because those after it are consequences (“could not read from remote”).
    fatal = [line for line in lines if line.startswith(("fatal:", "error:", "ERROR:", "remote:"))]
    chosen = fatal[0] if fatal else lines[-1]
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
        raise MachineError.caused_by("run", "git", error) from error
    # The number of conflicts, at most 127; more is an error, and less than 0 a signal.
    conflicts = finished.returncode
    if not 0 <= conflicts <= 127:
        cause = _pick_reason(finished.stderr.decode("utf-8", "replace"))
        raise MachineError("merge", ours, cause or "git merge-file failed")
    return finished.stdout, conflicts == 0
