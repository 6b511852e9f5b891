"""What a program of a skill may touch, and whether this machine can enforce it."""

from __future__ import annotations

from collections.abc import Mapping
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

MEMORY_MB = 4096
PROCESSES = 256


class SandboxOverride(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Sandbox settings for the programs of one skill; None means as for all others.

    - `mode`: `on` or `off`.
    - `network`: allow access to the network.
    - `write`: more folders that programs may write to.
    """

    mode: str | None = None
    network: bool | None = None
    write: tuple[str, ...] = ()


class SandboxSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The settings under `[sandbox]`.

    - `mode`: `on` or `off`.
    - `network`: allow access to the network.
    - `write`: folders outside the project that programs may write to.
    - `hide`: more files and folders that programs can't read, besides those with credentials.
    - `memory_mb`: the most memory, in megabytes.
    - `processes`: the most processes.
    - `skills`: settings for single skills, by name.
    """

    mode: str = "on"
    network: bool = False
    write: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()
    memory_mb: int = MEMORY_MB
    processes: int = PROCESSES
    skills: Mapping[str, SandboxOverride] = msgspec.field(default_factory=dict)


class SandboxPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of one program: where it may write, what it may not read, and how much it gets.

    Everything that is not hidden may be read. A private temporary folder is always writable.
    """

    writable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    network: bool = False
    memory_bytes: int = MEMORY_MB << 20
    processes: int = PROCESSES


Engine = Literal["sandlock", "bubblewrap"]


class SandboxSupport(msgspec.Struct, frozen=True, kw_only=True):
    """How this machine confines programs; without an engine, `reason` says why it cannot."""

    engine: Engine | None
    reason: str
