"""What an organisation allows to be installed: `policy.toml` in the managed folder.

A policy that cannot be read allows nothing: the machine's administrator meant to restrict.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import NoReturn

import msgspec

from prowess.errors import MachineError, SettingError
from prowess.errors.install import AgainstPolicy, InvalidPolicy
from prowess.machine.files import LocalFiles
from prowess.settings.formats.document import find_line, parse_settings
from prowess.settings.formats.key_spans import Path
from prowess.text.globs import matches_wildcard

POLICY_NAME = "policy.toml"
_MOST_BYTES = 1 << 20
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class PolicyRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table `[install]`.

    `sources` are patterns of the sources that are allowed, None for any. `blocked` are patterns of
    names. `digests` has the digests of the only versions of a skill that are allowed, by its name.
    `minimum_age` is how many days ago a release must have been made. `signers` is a file of allowed
    signers as ssh has it, relative to the policy; then every source must be signed by one of them.
    """

    sources: tuple[str, ...] | None = None
    blocked: tuple[str, ...] = ()
    digests: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    minimum_age: int = 0
    signers: str = ""


class InstallCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """A skill that somebody wants to install, as far as a policy is concerned.

    `released_at` is None and `signer` is "" where the source does not say; `is_local` if it is on
    this disk.
    """

    name: str
    source: str
    tree: str
    is_local: bool = False
    released_at: datetime | None = None
    signer: str = ""


class InstallPolicy:
    """The policy of one machine."""

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._text = text
        self._rules = _parse_rules(file, text)

    @property
    def signers_file(self) -> str:
        """The file of allowed signers, "" where nobody has to sign."""
        if not self._rules.signers:
            return ""
        return posixpath.join(posixpath.dirname(self._file), self._rules.signers)

    def check(self, wanted: InstallCandidate) -> None:
        """Raise `AgainstPolicy` for a skill that must not be installed."""
        self.check_known(wanted.name, wanted.source, wanted.tree)
        self._check_age(wanted)
        if self._rules.signers and not wanted.signer:
            self._refuse(wanted.name, ("signers",), "it is not signed by an allowed signer")

    def check_known(self, name: str, source: str, tree: str) -> None:
        """Raise `AgainstPolicy` for a name, a source or a digest that is not allowed."""
        for number, pattern in enumerate(self._rules.blocked):
            if matches_wildcard(name, pattern):
                self._refuse(name, ("blocked", str(number)), f"its name matches “{pattern}”")
        if not self._is_allowed(source):
            self._refuse(name, ("sources",), f"{source} is not an allowed source")
        # A name without digests is free: the list pins versions, it does not list all skills.
        digests = self._rules.digests.get(name)
        if digests is not None and tree not in digests:
            reason = f"its digest is {tree}, which is not among those allowed"
            self._refuse(name, ("digests", name), reason)

    def _is_allowed(self, source: str) -> bool:
        allowed = self._rules.sources
        if allowed is None:
            return True
        return any(matches_wildcard(source, pattern) for pattern in allowed)

    def _check_age(self, wanted: InstallCandidate) -> None:
        days = self._rules.minimum_age
        # A folder or repository on this disk is the user's own work.
        if not days or wanted.is_local:
            return
        # Unknown is too young: otherwise a publisher could leave the date out.
        if wanted.released_at is None:
            reason = "its source does not say when it was released"
            self._refuse(wanted.name, ("minimum_age",), reason)
        age = datetime.now(UTC) - wanted.released_at
        if age < timedelta(days=days):
            when = wanted.released_at.date().isoformat()
            reason = f"it was released on {when}, and a release must be at least {days} days old"
            self._refuse(wanted.name, ("minimum_age",), reason)

    def _refuse(self, name: str, key: Path, reason: str) -> NoReturn:
        # The user cannot change the policy, but can show an administrator the line.
        line = find_line(self._text, "toml", ("install", *key))
        raise AgainstPolicy(name, reason, self._file, line)


def load_policy(folder: str | None) -> InstallPolicy | None:
    """The policy in the managed folder; None where there is none. Raises `InvalidPolicy`."""
    if folder is None:
        return None
    file = posixpath.join(folder, POLICY_NAME)
    try:
        head = LocalFiles().read_head(file, _MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        # Most machines have none.
        return None
    except OSError as error:
        raise MachineError.caused_by("read", file, error) from error
    # What was not read may forbid the most.
    if head.size > _MOST_BYTES:
        problem = f"it has {head.size:,} bytes; at most {_MOST_BYTES:,} are read"
        raise InvalidPolicy(file, problem)
    try:
        text = head.data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidPolicy(file, "it is not UTF-8") from None
    return InstallPolicy(file, text)


def _parse_rules(file: str, text: str) -> PolicyRules:
    try:
        data = parse_settings(text, "toml", file)
    except SettingError as error:
        raise InvalidPolicy(file, f"line {error.line}: {error.problem}") from error
    # A misspelt table would allow what it was written to forbid.
    unknown = sorted(set(data) - {"install"})
    if unknown:
        raise InvalidPolicy(file, f"it has “{unknown[0]}”; the only table is [install]")
    try:
        rules = msgspec.convert(data.get("install", {}), PolicyRules)
    except msgspec.ValidationError as error:
        raise InvalidPolicy(file, str(error)) from error
    _check_digests(file, rules.digests)
    return rules


def _check_digests(file: str, digests: Mapping[str, tuple[str, ...]]) -> None:
    """Raise `InvalidPolicy` for one that no skill can have, such as a digest in capitals."""
    for name, allowed in digests.items():
        for digest in allowed:
            if not _DIGEST.fullmatch(digest):
                raise InvalidPolicy(file, f"“{digest}” of {name} is not sha256: and 64 hex digits")
