"""What can go wrong with a request or the machine, as one tree:

    ProwessError
    ├── UsageError               the request itself is wrong
    │   ├── UnknownName          nothing of that name; carries the names there are and the nearest ones
    │   │   ├── UnknownSkill     no such skill
    │   │   ├── UnknownTool      no such tool to carry out a command
    │   │   ├── UnknownHost      no such profile or edition
    │   │   ├── UnknownFormat    no such catalog format
    │   │   └── UnknownEncoding  no such encoding to count tokens by
    │   ├── Unavailable          a skill that is there and cannot be loaded; carries its state and the reason
    │   ├── NotPermitted         what the rules or a person refuse; carries the reason and what the person said
    │   ├── UntrustedTool        a tool that a project declares which the user does not trust
    │   ├── AddressError         a skill:// address that cannot be answered; says of which kind the trouble is
    │   ├── NotAFolder           a working folder that is not there
    │   ├── InvalidWindow        a context window that holds nothing
    │   ├── BudgetTooSmall       a budget that not even one skill's name fits into
    │   ├── TooWide              a folder that holds too much to be trusted as one project
    │   ├── MissingExtra         a part of Prowess that was not installed
    │   └── InvalidName          a name that a new skill cannot have
    ├── ProfileError             a profile file cannot be used
    ├── SettingError             a settings file has a wrong value; carries file, line and key
    ├── SwitchError              an environment switch of a host has a value it refuses
    ├── CodeFailed               a function that was given to Prowess failed
    │   ├── ToolFailed           a tool that carries out a command gave an error in place of an answer
    │   └── PromptFailed         a skill that is defined in code could not make its prompt
    ├── Cancelled                what was under way was called off
    ├── CommandRefused           a command inside a skill would run an argument as code, or cannot be given it
    ├── CommandFailed            a command inside a skill failed; carries the command and the end of its output
    └── MachineError             the machine refused: a file that cannot be written, a missing program

Data first: each class holds what it knows as attributes and makes its sentence from them. Surfaces
translate once: the command line to `exit_code`, servers to their own errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class ProwessError(Exception):
    """The base of every exception that Prowess raises on purpose."""

    exit_code = 2

    @property
    def hint(self) -> str | None:
        """What to do about it, where that is not part of the message."""
        return None


class UsageError(ProwessError):
    """The request cannot be carried out as it was put."""


class UnknownName(UsageError):
    """Nothing has the name that was asked for; `known` are those there are, `nearest` the closest
    of them.
    """

    most_nearest = 3

    def __init__(self, name: str, known: Iterable[str] = ()) -> None:
        self.name = name
        self.known = tuple(known)
        self.nearest = nearest_names(name, self.known, most=self.most_nearest)
        super().__init__(name)

    @property
    def hint(self) -> str | None:
        return (
            f"Did you mean {' or '.join(f'“{name}”' for name in self.nearest)}?"
            if self.nearest
            else None
        )


class UnknownSkill(UnknownName):
    """No skill has the name that was asked for."""

    exit_code = 3

    def __str__(self) -> str:
        return f"There is no skill named “{self.name}” here."

    @property
    def hint(self) -> str | None:
        return super().hint or "`prowess list --all` shows every skill that was found."


class UnknownHost(UnknownName):
    """No profile has the name or edition that was asked for."""

    # There are few, and all of them are told.
    most_nearest = 1

    def __str__(self) -> str:
        return f"There is no host “{self.name}”; the hosts are {', '.join(self.known)}."


class NotAFolder(UsageError):
    """The working folder that was given is not there, or is no folder."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(path)

    def __str__(self) -> str:
        return f"{self.path} is not a folder; name one that exists."


class InvalidName(UsageError):
    """A name that a new skill cannot have."""

    def __init__(self, name: str, why: str) -> None:
        self.name = name
        self.why = why
        super().__init__(name)

    def __str__(self) -> str:
        return f"“{self.name}” cannot be the name of a skill: {self.why}."


class UnknownFormat(UnknownName):
    """No format of a catalog has the name that was asked for."""

    def __str__(self) -> str:
        return f"There is no catalog format “{self.name}”; the formats are {', '.join(self.known)}."


class UnknownEncoding(UnknownName):
    """No encoding has the name that was asked for."""

    def __str__(self) -> str:
        return (
            f"Tokens cannot be counted by “{self.name}”; the encodings are {', '.join(self.known)}."
        )


class InvalidWindow(UsageError):
    """A context window that holds nothing."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        super().__init__(tokens)

    def __str__(self) -> str:
        return (
            f"A context window of {self.tokens:,} tokens cannot be used; it must have at least 1"
            " token."
        )


class BudgetTooSmall(UsageError):
    """A budget for the catalog that holds no skill's name; knows what one name and all names need."""

    def __init__(self, characters: int, *, least: int, names: int) -> None:
        self.characters = characters
        self.least = least
        self.names = names
        super().__init__(characters)

    def __str__(self) -> str:
        return (
            f"A budget of {self.characters:,} characters holds no skill's name; at least"
            f" {self.least:,} are needed for one name, {self.names:,} for all names."
        )


class MissingExtra(UsageError):
    """A part of Prowess that is installed only on request."""

    def __init__(self, extra: str, purpose: str) -> None:
        self.extra = extra
        self.purpose = purpose
        super().__init__(extra)

    def __str__(self) -> str:
        return f"To {self.purpose}, Prowess needs its extra “{self.extra}”, which is not installed."

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
        where = f" (at `{self.key}`)" if self.key else ""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"The profile {place} cannot be used: {self.problem}{where}."


class SettingError(ProwessError):
    """A settings file has a value that cannot be used."""

    def __init__(self, file: str, line: int | None, key: str | None, problem: str) -> None:
        self.file = file
        self.line = line
        self.key = key
        self.problem = problem
        super().__init__(file, problem)

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line is not None else self.file
        key = f"`{self.key}` " if self.key else ""
        return f"{place}: {key}{self.problem}."


class SwitchError(ProwessError):
    """An environment switch of a host has a value that the host refuses."""

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

    def __str__(self) -> str:
        return f"Could not {self.doing} {self.path}: {self.cause}."


def nearest_names(name: str, known: Iterable[str], *, most: int = 3) -> tuple[str, ...]:
    """The known names closest to a mistyped one, best first."""
    import difflib

    folded: dict[str, str] = {}
    for candidate in known:
        folded.setdefault(candidate.casefold(), candidate)
    close = difflib.get_close_matches(name.casefold(), folded, n=most, cutoff=0.6)
    return tuple(folded[match] for match in close)
