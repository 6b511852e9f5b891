"""What a program of a skill may touch, and whether this machine can enforce it."""

from __future__ import annotations

from typing import Literal

import msgspec

# Folders and files in the home folder that hold keys, tokens and passwords. Programs of a skill
# never need to read them; `[sandbox] hide` adds to the list.
CREDENTIALS = (
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".password-store",
    ".mozilla",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/google-chrome",
    ".config/chromium",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".local/share/keyrings",
    ".local/share/opencode/auth.json",
)

MEMORY_BYTES = 4 << 30
PROCESSES = 256


class SandboxPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of one program: where it may write, what it may not read, and how much it gets.

    Everything that is not hidden may be read. A private temporary folder is always writable.
    """

    writable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    network: bool = False
    memory_bytes: int = MEMORY_BYTES
    processes: int = PROCESSES


Engine = Literal["sandlock", "bubblewrap"]


class SandboxSupport(msgspec.Struct, frozen=True, kw_only=True):
    """How this machine confines programs; without an engine, `reason` says why it cannot."""

    engine: Engine | None
    reason: str
