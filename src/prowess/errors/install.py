"""What can go wrong when skills are installed, updated or verified."""

from __future__ import annotations

from collections.abc import Iterable

from prowess.errors import ProwessError, UnknownSkill, UsageError, shorten

_MOST_LISTED = 10


class InvalidSource(UsageError):
    """A text that names no source of skills, and why."""

    def __init__(self, source: str, problem: str, hint: str | None = None) -> None:
        self.source = source
        self.problem = problem
        self._hint = hint
        super().__init__(source, problem)

    def __str__(self) -> str:
        return f"Cannot install from “{shorten(self.source)}”: {self.problem}."

    @property
    def hint(self) -> str | None:
        return self._hint


class SourceFailed(ProwessError):
    """A source that could not be fetched, or that has nothing to install."""

    exit_code = 4

    def __init__(self, source: str, cause: str) -> None:
        self.source = source
        self.cause = cause
        super().__init__(source, cause)

    def __str__(self) -> str:
        return f"Could not install from {shorten(self.source)}: {self.cause.rstrip('.')}."


class RefusedTree(SourceFailed):
    """Files that are not installed, because they could do harm outside their folder."""

    exit_code = 5


class PrivateHost(SourceFailed):
    """A host in a private network that a lock file names, and that the user has not typed."""

    exit_code = 5

    def __init__(self, source: str, host: str) -> None:
        self.host = host
        where = f"{shorten(host)} is on this machine or a private network"
        super().__init__(source, f"{where}, and you have not installed from it yourself")

    @property
    def hint(self) -> str | None:
        return f"If you trust whoever wrote the lock file, add --private-host {self.host}."


class InvalidLock(ProwessError):
    """A `prowess.lock` that cannot be used."""

    exit_code = 4

    def __init__(self, path: str, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(path, problem)

    def __str__(self) -> str:
        return f"Cannot use {self.path}: {self.problem.rstrip('.')}."

    @property
    def hint(self) -> str | None:
        return "Restore it from version control, or delete it and install the skills again."


class NotInstalled(UnknownSkill):
    """No skill of that name is in `prowess.lock`; `folder` has one that nobody installed.

    `folder_hint` is what to do about that folder.
    """

    def __init__(
        self,
        name: str,
        known: Iterable[str] = (),
        *,
        folder: str = "",
        folder_hint: str | None = None,
    ) -> None:
        self.folder = folder
        self._folder_hint = folder_hint
        super().__init__(name, known)

    def __str__(self) -> str:
        name = shorten(self.name)
        if self.folder:
            where = f"there is a skill of that name in {self.folder}"
            return f"“{name}” was not installed by Prowess; {where}."
        return f"“{name}” is not installed here."

    @property
    def hint(self) -> str | None:
        if self.folder:
            return self._folder_hint or "Prowess did not install it, so it cannot manage it."
        if self.nearest:
            return super().hint
        if not self.known:
            return "prowess.lock has no skills; --user means those for all your projects."
        more = ", …" if len(self.known) > _MOST_LISTED else ""
        return f"Installed: {', '.join(self.known[:_MOST_LISTED])}{more}."


class LocalChanges(ProwessError):
    """Installed skills that were edited here, so that nothing replaces them."""

    exit_code = 1

    def __init__(self, names: tuple[str, ...], *, hint: str | None = None) -> None:
        self.names = names
        self._hint = hint
        super().__init__(names)

    def __str__(self) -> str:
        listed = ", ".join(shorten(name) for name in self.names)
        return f"Changed since it was installed: {listed}. Nothing was written."

    @property
    def hint(self) -> str | None:
        return self._hint or (
            "Keep your changes with --ours, drop them with --theirs, or combine both with --merge;"
            " --backup saves them first."
        )


class MergeConflict(ProwessError):
    """Files that were changed here and upstream in the same lines."""

    exit_code = 1

    def __init__(self, name: str, files: tuple[str, ...]) -> None:
        self.name = name
        self.files = files
        super().__init__(name, files)

    def __str__(self) -> str:
        listed = ", ".join(shorten(file) for file in self.files)
        return f"“{self.name}” cannot be merged: conflicts in {listed}. Nothing was written."

    @property
    def hint(self) -> str | None:
        return "Use --ours or --theirs; --backup saves your version first."


class TargetTaken(UsageError):
    """A folder that something else is in, which is not replaced."""

    def __init__(self, target: str, owner: str) -> None:
        self.target = target
        self.owner = owner
        super().__init__(target, owner)

    def __str__(self) -> str:
        return f"{self.target} already exists: {self.owner}. Nothing was written."

    @property
    def hint(self) -> str | None:
        return "Remove it first, or choose another folder name with --as NAME."


class InvalidPolicy(ProwessError):
    """A `policy.toml` that cannot be used; then nothing is installed."""

    exit_code = 4

    def __init__(self, file: str, problem: str) -> None:
        self.file = file
        self.problem = problem
        super().__init__(file, problem)

    def __str__(self) -> str:
        return f"The policy {self.file} cannot be used: {self.problem}."

    @property
    def hint(self) -> str | None:
        return "Nothing can be installed until your administrator fixes it."


class AgainstPolicy(ProwessError):
    """A skill that the policy of this machine does not allow."""

    exit_code = 5

    def __init__(self, name: str, reason: str, file: str, line: int | None) -> None:
        self.name = name
        self.reason = reason
        self.file = file
        self.line = line
        super().__init__(name, reason)

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        name = shorten(self.name)
        return f"The policy of this machine does not allow “{name}”: {self.reason} ({where})."
