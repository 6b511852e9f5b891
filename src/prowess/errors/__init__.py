"""What can go wrong with a request or the machine, as one tree:

    ProwessError
    ├── UsageError               the request itself is wrong
    │   ├── UnknownName          no such name; has the known names and the nearest ones
    │   │   ├── UnknownSkill     no such skill
    │   │   │   └── NotInstalled no such skill in prowess.lock
    │   │   ├── UnknownTool      no such tool for a command
    │   │   ├── UnknownHost      no such profile or edition
    │   │   ├── UnknownFormat    no such catalog format
    │   │   ├── UnknownEncoding  no such token encoding
    │   │   ├── UnknownAgent     no such definition of a sub-agent
    │   │   └── UnknownApproval  no such approval to revoke
    │   ├── Unavailable          the skill exists but cannot be loaded; has its state and the reason
    │   ├── NotPermitted         a rule or a person refused; has the reason and any feedback
    │   ├── ArgumentRefused      an argument is not what the skill's header allows
    │   ├── UntrustedTool        a tool declared by a project that the user does not trust
    │   ├── AddressError         a skill:// address that cannot be resolved; has the kind of problem
    │   ├── NotAFolder           a working folder that does not exist
    │   ├── InvalidWindow        a context window of no tokens
    │   ├── BudgetTooSmall       a catalog budget too small for a single name
    │   ├── TooWide              a folder too wide to be trusted as one project
    │   ├── MissingExtra         an optional part of Prowess that is not installed
    │   ├── ModelUnavailable     a model that cannot be used: a package or a key is missing
    │   │   └── UnknownModel     a short name that no setting explains
    │   ├── NoModel              a model is needed, and none is configured
    │   ├── InvalidSource        a text that names no source of skills
    │   ├── TargetTaken          a folder that something else is in, so nothing is installed there
    │   ├── ScriptError          a script that cannot be replayed; has file and line
    │   └── InvalidName          a name that a new skill cannot have
    ├── ApprovalNeeded           someone has to approve it first; has the request and its key
    ├── ProfileError             a profile file cannot be used
    ├── SettingError             a settings file has a wrong value; has file, line and key
    ├── SwitchError              an environment variable of a host has a value it refuses
    ├── CodeFailed               a function that was passed to Prowess failed
    │   ├── CommandToolFailed    a tool that runs a command returned an error
    │   └── PromptFailed         a skill that is defined in code could not build its prompt
    ├── Cancelled                the work was cancelled
    ├── CommandRefused           an argument cannot be passed safely to a command inside a skill
    ├── ScriptRefused            a script of a skill that is not run; has the reason
    ├── CommandFailed            a command inside a skill failed; has the command and last output
    ├── SourceFailed             a source that could not be fetched, or has nothing to install
    │   ├── RefusedTree          files that are not installed, because they could do harm
    │   └── PrivateHost          a host of a private network that only a lock file names
    ├── InvalidLock              a prowess.lock that cannot be used
    ├── LocalChanges             installed skills that were edited here
    ├── MergeConflict            files that were changed here and upstream in the same lines
    ├── InvalidPolicy            a policy.toml that cannot be used
    ├── AgainstPolicy            a skill that the policy of this machine does not allow
    ├── McpServerError           an MCP server that cannot be used; has its name and the problem
    └── MachineError             the machine refused: a file cannot be written, a program is missing

Data first: each class has what it knows as attributes and makes its sentence from them. Surfaces
translate once: the command line to `exit_code`, servers to their own errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

# A name in a message is at most this long, whatever somebody asked for.
MOST_SHOWN = 200


def shorten(text: str, most: int = MOST_SHOWN) -> str:
    """A text as part of a sentence, bounded."""
    return text if len(text) <= most else text[: most - 1] + "…"


class ProwessError(Exception):
    """The base of every exception that Prowess raises deliberately."""

    # 1: there is something to decide or to fix; 2: the request or a file that it needs is wrong;
    # 3: no such name; 4: the machine or foreign code failed; 5: not permitted; 130: cancelled.
    exit_code = 2

    @property
    def hint(self) -> str | None:
        """What to do about it, if the message does not say so."""
        return None


class UsageError(ProwessError):
    """The request cannot be carried out as it is."""


class UnknownName(UsageError):
    """Nothing has the requested name; `known` are all names, `nearest` the closest of them."""

    most_nearest = 3

    def __init__(self, name: str, known: Iterable[str] = ()) -> None:
        self.name = name
        self.known = tuple(known)
        self.nearest = nearest_names(name, self.known, most=self.most_nearest)
        super().__init__(name)

    @property
    def hint(self) -> str | None:
        if not self.nearest:
            return None
        quoted = [f"“{name}”" for name in self.nearest]
        return f"Did you mean {' or '.join(quoted)}?"


class UnknownSkill(UnknownName):
    """No skill has the requested name.

    `host` is the host that was asked, and `seen_by` are others that find the skill, where that was
    looked up.
    """

    exit_code = 3
    host = ""
    seen_by: tuple[str, ...] = ()

    def __init__(
        self,
        name: str,
        known: Iterable[str] = (),
        *,
        host: str = "",
        seen_by: Iterable[str] = (),
    ) -> None:
        found = tuple(seen_by)
        if found:
            self.host, self.seen_by = host, found
        super().__init__(name, known)

    def __str__(self) -> str:
        if self.seen_by:
            return f"{self.host} finds no skill named “{shorten(self.name)}” here."
        return f"There is no skill named “{shorten(self.name)}” here."

    @property
    def hint(self) -> str | None:
        if self.seen_by:
            return f"These hosts find it: {', '.join(self.seen_by)}."
        return super().hint or "Run `prowess list --all` to see every skill that was found."


class UnknownHost(UnknownName):
    """No profile has the requested name or edition."""

    # The message lists every host, so one suggestion is enough.
    most_nearest = 1

    def __str__(self) -> str:
        return f"There is no host “{shorten(self.name)}”; the hosts are {', '.join(self.known)}."


class NotAFolder(UsageError):
    """The given working folder does not exist or is not a folder."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(path)

    def __str__(self) -> str:
        return f"{self.path} is not a folder; choose one that exists."


class InvalidName(UsageError):
    """A name that a new skill cannot have."""

    def __init__(self, name: str, why: str) -> None:
        self.name = name
        self.why = why
        super().__init__(name)

    def __str__(self) -> str:
        return f"“{shorten(self.name)}” cannot be the name of a skill: {self.why}."


class UnknownFormat(UnknownName):
    """No catalog format has the requested name."""

    def __str__(self) -> str:
        known = ", ".join(self.known)
        return f"There is no catalog format “{shorten(self.name)}”; the formats are {known}."


class UnknownEncoding(UnknownName):
    """No token encoding has the requested name."""

    def __str__(self) -> str:
        known = ", ".join(self.known)
        return f"There is no encoding “{shorten(self.name)}”; the encodings are {known}."


class InvalidWindow(UsageError):
    """A context window of no tokens."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        super().__init__(tokens)

    def __str__(self) -> str:
        return f"The context window is {self.tokens:,} tokens; it must be at least 1."


class BudgetTooSmall(UsageError):
    """A catalog budget too small for a single name; has what one and all names need."""

    def __init__(self, characters: int, *, least: int, names: int) -> None:
        self.characters = characters
        self.least = least
        self.names = names
        super().__init__(characters)

    def __str__(self) -> str:
        return (
            f"A budget of {self.characters:,} characters is too small for a single name; one name"
            f" needs at least {self.least:,}, all names need {self.names:,}."
        )


class MissingExtra(UsageError):
    """An optional part of Prowess that is not installed."""

    def __init__(self, extra: str, purpose: str) -> None:
        self.extra = extra
        self.purpose = purpose
        super().__init__(extra)

    def __str__(self) -> str:
        return f"The extra “{self.extra}”, which is needed to {self.purpose}, is not installed."

    @property
    def hint(self) -> str | None:
        return f'Run `pip install "prowess[{self.extra}]"`.'


class ProfileError(ProwessError):
    """A profile file cannot be used."""

    def __init__(
        self, file: str, problem: str, key: str | None = None, line: int | None = None
    ) -> None:
        self.file = file
        self.problem = problem
        self.key = key
        self.line = line
        super().__init__(file, problem)

    def __str__(self) -> str:
        where = _locate(self.file, self.line)
        return f"Invalid profile {where}: {_make_sentence(self.key, self.problem)}"


class SettingError(ProwessError):
    """A settings file has a value that cannot be used."""

    def __init__(self, file: str, line: int | None, key: str | None, problem: str) -> None:
        self.file = file
        self.line = line
        self.key = key
        self.problem = problem
        super().__init__(file, problem)

    def __str__(self) -> str:
        return f"{_locate(self.file, self.line)}: {_make_sentence(self.key, self.problem)}"


def _make_sentence(key: str | None, problem: str) -> str:
    """A problem with a key as a sentence; a problem may end with a question (did you mean …?)."""
    subject = f"`{key}` " if key else ""
    end = "" if problem.endswith("?") else "."
    return f"{subject}{problem}{end}"


class SwitchError(ProwessError):
    """An environment variable of a host has a value that the host refuses."""

    def __init__(self, name: str, value: str, allowed: Sequence[str]) -> None:
        self.name = name
        self.value = value
        self.allowed = tuple(allowed)
        super().__init__(name, value)

    def __str__(self) -> str:
        return (
            f"The environment variable {self.name} is “{self.value}”; the host accepts only"
            f" {', '.join(self.allowed)}."
        )


class MachineError(ProwessError):
    """The machine refused something that the request needs."""

    exit_code = 4

    def __init__(self, doing: str, path: str, cause: str) -> None:
        self.doing = doing
        self.path = path
        self.cause = cause
        super().__init__(doing, path, cause)

    @classmethod
    def caused_by(cls, doing: str, path: str, error: BaseException) -> MachineError:
        """The error for what the system refused, in the system's own words."""
        return MachineError(doing, path, name_cause(error))

    def __str__(self) -> str:
        return f"Could not {self.doing} {self.path}: {self.cause}."


def name_cause(error: BaseException) -> str:
    """What went wrong, without the number and the path that Python adds."""
    return getattr(error, "strerror", None) or str(error)


def _locate(file: str, line: int | None) -> str:
    return file if line is None else f"{file}:{line}"


# How much less alike than the best a name may be and still be suggested.
_MUCH_WORSE = 0.2


def nearest_names(name: str, known: Iterable[str], *, most: int = 3) -> tuple[str, ...]:
    """The known names closest to a mistyped one, best first; none for a text that is no name."""
    if len(name) > MOST_SHOWN:
        return ()
    import difflib

    folded: dict[str, str] = {}
    for candidate in known:
        folded.setdefault(candidate.casefold(), candidate)
    typed = name.casefold()
    close = difflib.get_close_matches(typed, folded, n=most, cutoff=0.6)
    ratios = {match: difflib.SequenceMatcher(None, match, typed).ratio() for match in close}
    # Beside a name that differs by a letter, one that shares a few letters is no help.
    least = max(ratios.values(), default=0) - _MUCH_WORSE
    return tuple(folded[match] for match in close if ratios[match] >= least)
