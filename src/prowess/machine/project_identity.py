"""What tells a project from another one that takes its place: the first commit, or the folder.

Git is asked about a repository that nobody has trusted yet. It gets no configuration that could
start a program, may reach no remote, and reads objects only.
"""

from __future__ import annotations

import os
import subprocess

_SECONDS = 20.0
_GIT = (
    "git",
    # Another owner is no reason to refuse here: only the names of commits are read.
    "-c",
    "safe.directory=*",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "--no-pager",
    "--no-replace-objects",
)
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    # A clone that lacks an object would fetch it; with no protocol allowed it cannot.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}


def find_identity(root: str) -> str:
    """`commit:ID` of a repository's first commit; else `folder:DEVICE-INODE`.

    A history may have several beginnings; the smallest id is as good as any. Where git takes too
    long, is not installed or knows no commit yet, the folder is all there is.
    """
    answer = _ask_git(root, "rev-list", "--max-parents=0", "HEAD")
    commits = (answer or "").split()
    if not commits:
        return _identify_folder(root)
    return f"commit:{min(commits)}"


def has_identity(root: str, identity: str) -> bool:
    """Whether the project at a path is still the one that had this identity."""
    kind, _, value = identity.partition(":")
    # The identity comes from a file; a value with other characters could be an option of git.
    if kind == "commit" and value.isalnum():
        return _ask_git(root, "cat-file", "-e", f"{value}^{{commit}}") is not None
    return kind == "folder" and identity == _identify_folder(root)


def _identify_folder(root: str) -> str:
    try:
        found = os.stat(root)
    except OSError:
        return "folder:missing"
    return f"folder:{found.st_dev}-{found.st_ino}"


def _ask_git(root: str, *words: str) -> str | None:
    """What git prints; None where it fails."""
    # A repository of its own only: git must not find one further up.
    if not os.path.lexists(os.path.join(root, ".git")):
        return None
    # Ours must not lead git to another repository (GIT_DIR), as they do inside a hook.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = {
        **inherited,
        **_ENVIRONMENT,
        "GIT_CEILING_DIRECTORIES": os.path.dirname(root),
    }
    try:
        done = subprocess.run(
            [*_GIT, "-C", root, *words],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        # git is not installed, or takes too long.
        return None
    return done.stdout.decode("ascii", "replace") if done.returncode == 0 else None
