"""What the core asks of the world.

Stages take these as arguments. `prowess.machine` holds the real ones, `prowess.testing` one that
lives in memory.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

import msgspec

from prowess.model.files import FolderItem, Head, KeptReading, Stamp

if TYPE_CHECKING:
    from prowess.diagnostics import Diagnostic
    from prowess.model.command import Command, Finished
    from prowess.model.facts import Facts
    from prowess.model.outcome import Claim
    from prowess.model.permission import Approval, ApprovalAnswer, ApprovalRequest
    from prowess.model.plugin import Plugin
    from prowess.model.settings import Settings
    from prowess.model.skill import Candidate, Root, Scope, Skill
    from prowess.model.source_status import SourceStatus
    from prowess.model.usage import Caller, Usage


class FileSystem(Protocol):
    """Folders and files, read only. Every method that is not a `find_` raises OSError where the
    machine refuses.
    """

    def list_folder(self, path: str) -> list[FolderItem]:
        """What is in a folder, sorted by name."""
        ...

    def read_head(self, path: str, limit: int) -> Head:
        """At most `limit` bytes from the start of an ordinary file; never waits on a pipe or a
        device.
        """
        ...

    def list_real_folder(self, path: str) -> list[FolderItem]:
        """As `list_folder`, for a path without links; a part of it that became one is refused."""
        ...

    def read_real_head(self, path: str, limit: int) -> Head:
        """As `read_head`, for a path without links; a part of it that became one is refused.

        So is a file of another owner that has several names: whoever made this name need not have
        been allowed to read it.
        """
        ...

    def get_stamp(self, path: str) -> Stamp:
        """The stamp of what is there now."""
        ...

    def find_real_path(self, path: str) -> str | None:
        """The path with every link resolved; None if it cannot be resolved."""
        ...

    def find_kind(self, path: str) -> str | None:
        """`file`, `folder` or `other`, following links; None if nothing is there."""
        ...

    def find_link(self, path: str) -> str | None:
        """The target of a symlink, whether it exists or not; None if there is no link."""
        ...


T = TypeVar("T")


class ReadingStore(Protocol[T]):
    """What earlier scans read from files, while those files have not changed."""

    def find_reading(self, location: str) -> KeptReading[T] | None:
        """What was read from a file that has not changed since; None where it must be read."""
        ...

    def keep_reading(self, location: str, head: Head, reading: T) -> KeptReading[T]:
        """Remember what was read from a file, if its stamp can be relied on."""
        ...


class ScannedProject(Protocol):
    """The project that a scan is about, for sources that look beyond the host's own folders."""

    @property
    def facts(self) -> Facts:
        """The machine and its user."""
        ...

    @property
    def mcp_names(self) -> tuple[str, str]:
        """How the host names skills and prompts of MCP servers; empty for what it does not use."""
        ...

    def load_own_settings(self) -> Settings:
        """Prowess's own settings, whichever host it answers as."""
        ...

    def is_trusted_folder(self, folder: str) -> bool:
        """Whether the user trusts the project that a folder belongs to."""
        ...

    def plan_root(self, path: str, *, scope: Scope, provider: str) -> Root:
        """A folder outside the host's own, to be searched as the host searches that scope.

        It comes after every folder that was planned before.
        """
        ...

    def walk(self, roots: Sequence[Root], search: Search) -> Discovered:
        """Search folders for skills, within the limits of the scan."""
        ...


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """What a source may know about the scan that asks it.

    `files` remembers listings between scans, so a source that walks folders uses it for that.
    `project` is None where folders are searched on their own, outside any project.
    """

    cwd: str
    settings: Settings
    files: FileSystem
    reporter: Reporter | None = None
    project: ScannedProject | None = None


class Discovered(msgspec.Struct, frozen=True):
    """What a source found: candidates in scan order, and diagnostics that belong to none of them.

    `roots` are the folders that were searched; a source that searches none leaves them out.
    `statuses` say how each source behind this one is doing, for `prowess sources`.
    """

    candidates: tuple[Candidate, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    roots: tuple[Root, ...] = ()
    statuses: tuple[SourceStatus, ...] = ()


class ManifestReader(Protocol):
    """Reads the header of a SKILL.md under the rules of the host, for any source.

    Problems with the text become notes and diagnostics of the claim; it never raises.
    """

    def read_file(self, candidate: Candidate) -> Claim:
        """The claim of a candidate whose `location` is a file on this machine.

        An unchanged file is not read again. The skill's body is read from the file when needed.
        """
        ...

    def read_text(self, candidate: Candidate, data: bytes, fetch: Callable[[str], bytes]) -> Claim:
        """The claim of a candidate that is in no file.

        `data` is the beginning of its SKILL.md, at least the whole header. `fetch` gets the
        candidate's location whenever the skill is loaded, and returns the whole text.
        """
        ...


class SkillSource(Protocol):
    """Where skills come from: folders, code, and whatever else can list them.

    A scan calls `find` once, then `read` once for each candidate. The rest is the same for every
    source: who wins a name, what is eligible, what the model is shown and how a skill is loaded.

    Each candidate needs a `root`, which says whose the skill is (`scope`), where it comes from
    (`source`) and what the host demands there; candidates of one source usually share one. Its
    `location` must be unique. `real` is None unless the candidate is a file.

    Sources given by a user of the library are guarded: whatever one raises becomes a diagnostic,
    and costs only its own skills.
    """

    @property
    def name(self) -> str:
        """What diagnostics call this source."""
        ...

    def find(self, search: Search) -> Discovered:
        """List the candidates, in an order that is the same every time."""
        ...

    def read(self, candidate: Candidate, reader: ManifestReader) -> Claim:
        """What a candidate says of itself.

        A source of SKILL.md texts returns what the reader makes of one. Any other builds the claim
        and its `Skill`, with a `loader` that returns the instructions when they are needed.
        """
        ...


Refresh: TypeAlias = Literal["auto", "manual"] | float
"""When changes are noticed: at the next request (`auto`), only by `Skills.reload` (`manual`), or
after this many seconds.
"""


class SlowSource(SkillSource, Protocol):
    """A source that waits for servers or programs.

    A scan calls `begin` of all such sources before it calls `find` of any source, so that slow ones
    are waited for together and not one after the other.
    """

    def begin(self, search: Search) -> None:
        """Start what takes time, and return at once; `find` gets the same search and waits."""
        ...


class Event(msgspec.Struct, frozen=True):
    """Something a host would publish on its bus while it loads skills."""

    kind: str
    file: str
    message: str
    related: str | None = None


Listener = Callable[[Event], Any]


class Reporter(Protocol):
    """Told how far a slow piece of work has come."""

    def progress(self, doing: str, done: int) -> None:
        """`done` units of the named work are finished."""
        ...


class Approver(Protocol):
    """The person who decides where the rules say `ask`, or a program in their place.

    `ask` may be async; then the conversation's async methods await it in the caller's event loop,
    and the others raise `ApprovalNeeded`. If `ask` is not async, a conversation asks one question
    at a time.

    Nothing is granted by an approver that raises. One of Python's own errors (`OSError`,
    `ValueError`, `RuntimeError` and so on, or a class derived from them) counts as a refusal. Every
    other exception reaches the caller unchanged, so that a framework can suspend the call and
    repeat it later.
    """

    def ask(self, request: ApprovalRequest) -> ApprovalAnswer | Awaitable[ApprovalAnswer]:
        """Once, always or not at all. `request.always` is what “always” would cover."""
        ...


class ApprovalStore(Protocol):
    """Where “always” is remembered."""

    def find(self, permission: str, pattern: str, location: str) -> Approval | None:
        """The approval that was given for a pattern of the skill at a location, if any."""
        ...

    def keep(self, approval: Approval) -> None:
        """Remember an approval in place of an earlier one for the same. Raises `MachineError`."""
        ...


class Ranker(Protocol):
    """Knows which skills fit a request."""

    def score(self, query: str, skills: Sequence[Skill]) -> Sequence[float]:
        """How well each skill fits, in the order of the skills; 0 is not at all."""
        ...


class UsageStore(Protocol):
    """Counts how skills are used. No method raises: a store that cannot be used counts as empty."""

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Why the store could not be used, where it could not."""
        ...

    def note_offered(self, skills: Iterable[Skill]) -> None:
        """These skills were shown to a model."""
        ...

    def note_activated(self, skill: Skill, by: Caller) -> None:
        """This skill was loaded into a conversation."""
        ...

    def load_counts(self, skills: Iterable[Skill] | None = None) -> Mapping[tuple[str, str], Usage]:
        """The counts of these skills, by name and location; of all that were ever counted if none
        are given.
        """
        ...

    def clear(self, name: str | None = None) -> int:
        """Forget the counts of a name, or all of them; how many skills were forgotten."""
        ...


class TrustPolicy(Protocol):
    """Knows which skills may run commands and which settings count as the user's own."""

    def is_trusted(self, skill: Skill) -> bool:
        """Whether a skill may run commands, and gets the tools and hooks it asks for."""
        ...

    def is_trusted_folder(self, folder: str) -> bool:
        """Whether the settings files in a folder are trusted."""
        ...

    def is_own_plugin(self, plugin: Plugin) -> bool:
        """Whether the user installed a plugin, or it ships with the program."""
        ...


class Unpacker(Protocol):
    """Puts the files of skills that are defined in code where programs can read them."""

    def find_folder(self, name: str) -> str:
        """Where the files of a skill lie or will lie; nothing is made yet."""
        ...

    def unpack(self, name: str, files: Mapping[str, str | bytes]) -> str:
        """The folder with the files of a skill, by their paths below it.

        They are written at the first call, once, whoever calls at the same time. A failure is
        remembered too: the same `MachineError` is raised every time.
        """
        ...


class Runner(Protocol):
    """Runs the commands of skills, within their bounds. Whoever gives one has asked for permission
    before.
    """

    def run(self, command: Command, *, is_cancelled: Callable[[], bool] | None = None) -> Finished:
        """Run a command to its end, its time limit, or until it is called off.

        Raises `MachineError` where it cannot be started, and `Cancelled`.
        """
        ...


class SecretStore(Protocol):
    """Knows the secrets that settings only refer to."""

    def find_secret(self, reference: Mapping[str, Any]) -> str | None:
        """The secret that a reference leads to; None where there is none. Raises `MachineError`."""
        ...
