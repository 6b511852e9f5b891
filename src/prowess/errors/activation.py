"""What can go wrong when a skill is loaded, typed, read or run; the tree is drawn in
`prowess.errors`.
"""

from __future__ import annotations

from prowess.errors import ProwessError, UnknownName, UsageError


class Unavailable(UsageError):
    """A skill of that name is there, but what became of it keeps it from being loaded."""

    exit_code = 5

    def __init__(self, name: str, state: str, reason: str) -> None:
        self.name = name
        self.state = state
        self.reason = reason
        super().__init__(name, state)

    def __str__(self) -> str:
        why = f": {self.reason.rstrip('.')}" if self.reason else ""
        return f"The skill “{self.name}” cannot be loaded, since it is {self.state}{why}."

    @property
    def hint(self) -> str | None:
        return f"`prowess explain {self.name}` tells its whole journey."


class NotPermitted(UsageError):
    """The rules refuse a request, or the person who was asked does; `feedback` is what that person
    said.
    """

    exit_code = 5

    def __init__(self, what: str, reason: str, *, feedback: str | None = None) -> None:
        self.what = what
        self.reason = reason
        self.feedback = feedback
        super().__init__(what, reason)

    def __str__(self) -> str:
        said = f" They said: {self.feedback}" if self.feedback else ""
        return f"It is not permitted to {self.what}: {self.reason.rstrip('.')}.{said}"


class UntrustedTool(UsageError):
    """A command goes to a tool that a project declares, and the user does not trust the project."""

    exit_code = 5

    def __init__(self, name: str, origin: str) -> None:
        self.name = name
        self.origin = origin
        super().__init__(name)

    def __str__(self) -> str:
        return (
            f"The tool “{self.name}” is declared in {self.origin}, by a project that you do not"
            " trust; it was not run."
        )

    @property
    def hint(self) -> str | None:
        return "Read what it runs; `prowess trust` then trusts the project."


class UnknownTool(UnknownName):
    """No tool has the name that a skill's command asks for."""

    exit_code = 3

    def __str__(self) -> str:
        known = (
            f"the tools are {', '.join(self.known)}" if self.known else "no tools are registered"
        )
        return f"There is no tool named “{self.name}” here; {known}."

    @property
    def hint(self) -> str | None:
        declare = (
            f"Register it, or declare it in prowess.toml: `[tools.{self.name}]` with `command ="
            ' ["program", …]`.'
        )
        return super().hint or declare


class AddressError(UsageError):
    """A `skill://` address that cannot be answered.

    `kind` is one of `malformed`, `no-name`, `absolute`, `outside`, `missing`, `not-a-file`,
    `too-large`, `unreadable`, `no-such-line`. `path` is what was asked for inside the skill, as it
    was written: no place on the machine is told.
    """

    def __init__(self, address: str, kind: str, problem: str, *, path: str = "") -> None:
        self.address = address
        self.kind = kind
        self.problem = problem
        self.path = path
        super().__init__(address, kind)

    def __str__(self) -> str:
        return f"{self.address}: {self.problem}."


class CodeFailed(ProwessError):
    """A function that somebody gave to Prowess under a name failed."""

    exit_code = 4

    def __init__(self, name: str, cause: str) -> None:
        self.name = name
        self.cause = cause
        super().__init__(name, cause)


class ToolFailed(CodeFailed):
    """A tool that was called in place of the model failed."""

    def __str__(self) -> str:
        return f"The tool “{self.name}” failed: {self.cause.rstrip('.')}."


class PromptFailed(CodeFailed):
    """The function that makes the prompt of a skill defined in code failed."""

    def __str__(self) -> str:
        return f"The prompt of “{self.name}” could not be made: {self.cause.rstrip('.')}."


class Cancelled(ProwessError):
    """Somebody called off what was under way."""

    exit_code = 130

    def __init__(self, doing: str) -> None:
        self.doing = doing
        super().__init__(doing)

    def __str__(self) -> str:
        return f"It was called off: {self.doing}."


class CommandRefused(ProwessError):
    """A command inside a skill was not run, since an argument could not be handed to it safely."""

    exit_code = 4

    def __init__(self, command: str, why: str) -> None:
        self.command = command
        self.why = why
        super().__init__(command, why)

    def __str__(self) -> str:
        return f"The command `{_shorten(self.command)}` inside the skill was not run: {self.why}."

    @property
    def hint(self) -> str | None:
        return (
            r"Hand the argument over as a word of its own, or write `\$1` where a program's own"
            r" `$1` is meant."
        )


class CommandFailed(ProwessError):
    """A command inside a skill ended with an error, or was stopped at its time limit (`code` is
    None).
    """

    exit_code = 4

    def __init__(self, command: str, *, code: int | None, seconds: float, tail: str) -> None:
        self.command = command
        self.code = code
        self.seconds = seconds
        self.tail = tail
        super().__init__(command)

    def __str__(self) -> str:
        how = (
            f"took longer than {self.seconds:g} seconds and was stopped"
            if self.code is None
            else self._describe()
        )
        wrote = f" The end of its output:\n{self.tail}" if self.tail else " It wrote nothing."
        return f"The command `{_shorten(self.command)}` inside the skill {how}.{wrote}"

    def _describe(self) -> str:
        if self.code is not None and self.code < 0:
            return f"was ended by signal {-self.code}"
        return f"ended with exit code {self.code}"


class TooWide(UsageError):
    """A folder that cannot be trusted as one project, since everything of a user or a machine lies
    below it.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(path)

    def __str__(self) -> str:
        return (
            f"{self.path} holds too much to be trusted as one project; go to the project's own"
            " folder."
        )


def _shorten(command: str, most: int = 200) -> str:
    """A command as part of a sentence: its first line, within bounds."""
    first, _, rest = command.strip().partition("\n")
    return first[: most - 1] + "…" if rest or len(first) > most else first
