"""What can go wrong when a skill is loaded, typed, read or run; `prowess.errors` has the tree."""

from __future__ import annotations

from prowess.errors import MOST_SHOWN, ProwessError, UnknownName, UsageError, shorten
from prowess.model.permission import ApprovalRequest


class Unavailable(UsageError):
    """A skill of that name exists, but its state keeps it from being loaded."""

    exit_code = 5

    def __init__(self, name: str, state: str, reason: str) -> None:
        self.name = name
        self.state = state
        self.reason = reason
        super().__init__(name, state)

    def __str__(self) -> str:
        why = f": {self.reason.rstrip('.')}" if self.reason else ""
        return f"The skill “{self.name}” cannot be loaded because it is {self.state}{why}."

    @property
    def hint(self) -> str | None:
        return f"Run `prowess explain {self.name}` to see why."


class NotPermitted(UsageError):
    """A rule or a person refused the request; `feedback` is what that person said."""

    exit_code = 5

    def __init__(self, what: str, reason: str, *, feedback: str | None = None) -> None:
        self.what = what
        self.reason = reason
        self.feedback = feedback
        super().__init__(what, reason)

    def __str__(self) -> str:
        feedback = f" Feedback: {self.feedback}" if self.feedback else ""
        return f"Not permitted to {self.what}: {self.reason.rstrip('.')}.{feedback}"


class ApprovalNeeded(ProwessError):
    """Someone has to answer `request` before the call can go on; nothing has run yet.

    Repeat the call with `answers={error.key: Answer(…)}`. The key stands for the whole request and
    the content of the skill: if either has changed by then, this is raised again with another key.
    """

    exit_code = 5

    def __init__(self, request: ApprovalRequest) -> None:
        self.request = request
        self.key = request.key
        super().__init__(request)

    def __str__(self) -> str:
        names = ", ".join(f"`{name}`" for name in self.request.patterns)
        return f"Approval is needed first ({self.request.permission}: {_shorten(names)})."


class UntrustedTool(UsageError):
    """A command calls a tool that is declared by a project the user does not trust."""

    exit_code = 5

    def __init__(self, name: str, origin: str) -> None:
        self.name = name
        self.origin = origin
        super().__init__(name)

    def __str__(self) -> str:
        return (
            f"The tool “{self.name}” was not run: it is declared in {self.origin}, in a project"
            " that you do not trust."
        )

    @property
    def hint(self) -> str | None:
        return "Check what it runs, then run `prowess trust` to trust the project."


class UnknownTool(UnknownName):
    """No tool has the name that a skill's command calls."""

    exit_code = 3

    def __str__(self) -> str:
        if not self.known:
            return f"There is no tool named “{shorten(self.name)}”; no tools are registered."
        return (
            f"There is no tool named “{shorten(self.name)}”; the tools are {', '.join(self.known)}."
        )

    @property
    def hint(self) -> str | None:
        return super().hint or (
            f"Register it, or declare it in prowess.toml: `[tools.{self.name}]` with"
            ' `command = ["program", …]`.'
        )


class AddressError(UsageError):
    """A `skill://` address that cannot be resolved.

    `kind` is one of `malformed`, `no-name`, `absolute`, `outside`, `missing`, `not-a-file`,
    `too-large`, `unreadable`, `no-such-line`. `path` is the requested path inside the skill, as it
    was written: where the skill is on this machine is not revealed.
    """

    def __init__(self, address: str, kind: str, problem: str, *, path: str = "") -> None:
        self.address = address
        self.kind = kind
        self.problem = problem
        self.path = path
        super().__init__(address, kind)

    def __str__(self) -> str:
        # The problem may have the path in it, which is as long as somebody made it.
        return f"{shorten(self.address)}: {shorten(self.problem, 2 * MOST_SHOWN)}."


class CodeFailed(ProwessError):
    """A function that was passed to Prowess under a name failed."""

    exit_code = 4

    def __init__(self, name: str, cause: str) -> None:
        self.name = name
        self.cause = cause
        super().__init__(name, cause)


class CommandToolFailed(CodeFailed):
    """A tool that was called instead of the model failed."""

    def __str__(self) -> str:
        return f"The tool “{self.name}” failed: {self.cause.rstrip('.')}."


class PromptFailed(CodeFailed):
    """The function that builds the prompt of a skill defined in code failed."""

    def __str__(self) -> str:
        return f"Could not build the prompt of “{self.name}”: {self.cause.rstrip('.')}."


class Cancelled(ProwessError):
    """The work was cancelled; `doing` says what was stopped."""

    exit_code = 130

    def __init__(self, doing: str) -> None:
        self.doing = doing
        super().__init__(doing)

    def __str__(self) -> str:
        return f"Cancelled: {self.doing}."


class ArgumentRefused(UsageError):
    """An argument is not what the skill's header allows."""

    def __init__(self, name: str, value: str, allowed: str) -> None:
        self.name = name
        self.value = value
        self.allowed = allowed
        super().__init__(name, value, allowed)

    def __str__(self) -> str:
        given = f"is “{_shorten(self.value, 80)}”" if self.value else "is missing"
        return f"The argument `{self.name}` of the skill {given}; {self.allowed}."


class CommandRefused(ProwessError):
    """A command inside a skill was not run, because it cannot be given its arguments safely.

    `line` is the line of the body that is the reason, None where no line is.
    """

    exit_code = 4

    def __init__(self, command: str, why: str, *, line: int | None = None) -> None:
        self.command = command
        self.why = why
        self.line = line
        super().__init__(command, why)

    def __str__(self) -> str:
        where = f" (line {self.line} of its body)" if self.line is not None else ""
        command = _shorten(self.command)
        return f"The command `{command}` inside the skill{where} was not run: {self.why}."

    @property
    def hint(self) -> str | None:
        return (
            "“Arguments in commands” in docs/guides/writing-skills.md says where arguments are"
            " allowed, and how a header lets one begin with `-`."
        )


class ScriptRefused(ProwessError):
    """A script of a skill was not run: there is no way to run it, or nobody trusts it."""

    exit_code = 4

    def __init__(self, script: str, why: str, advice: str | None = None) -> None:
        self.script = script
        self.why = why
        self.advice = advice
        super().__init__(script, why, advice)

    @property
    def hint(self) -> str | None:
        return self.advice

    def __str__(self) -> str:
        return f"The script `{_shorten(self.script)}` was not run: {self.why}."


class CommandFailed(ProwessError):
    """A command inside a skill failed, or hit its time limit (`code` is None then)."""

    exit_code = 4

    def __init__(self, command: str, *, code: int | None, seconds: float, tail: str) -> None:
        self.command = command
        self.code = code
        self.seconds = seconds
        self.tail = tail
        super().__init__(command)

    def __str__(self) -> str:
        output = f"Its last output:\n{self.tail}" if self.tail else "It printed nothing."
        command = _shorten(self.command)
        return f"The command `{command}` inside the skill {self._describe()}. {output}"

    def _describe(self) -> str:
        if self.code is None:
            return f"took longer than {self.seconds:g} seconds and was stopped"
        if self.code < 0:
            return f"was killed by signal {-self.code}"
        return f"failed with exit code {self.code}"


class TooWide(UsageError):
    """A folder too wide to be trusted as one project: the user's whole home is inside it."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(path)

    def __str__(self) -> str:
        return (
            f"{self.path} covers your whole home folder, so it cannot be trusted as one project;"
            " name the project's own folder."
        )


class UnknownApproval(UnknownName):
    """No approval has the requested id, name or skill."""

    def __str__(self) -> str:
        return f"Nothing is approved under “{shorten(self.name)}”."

    @property
    def hint(self) -> str | None:
        return super().hint or "Run `prowess trust --list` to see what is approved."


def _shorten(command: str, most: int = 200) -> str:
    """A command as part of a sentence: its first line, bounded."""
    first, _, rest = command.strip().partition("\n")
    is_whole = not rest and len(first) <= most
    return first if is_whole else first[: most - 1] + "…"
