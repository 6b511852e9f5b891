"""Ask a ClawHub registry for a skill: its versions, the files of one, and the archive of them.

Version 1 of its API. A registry is a server like any other: every answer is checked, redirects stay
at the same server, and the archive must have the files that the registry lists.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TypeVar
from urllib.parse import quote, urlencode

import msgspec

from prowess.errors.install import InvalidSource
from prowess.machine.http_client import FetchError, HttpSession
from prowess.supply.install.source import GIT, parse_source
from prowess.text.markup import tidy_line

_MOST_ANSWER = 1 << 22
_MOST_ARCHIVE = 1 << 26
_MOST_QUOTED = 300
_GONE = 410
_NOT_FOUND = 404
_REFUSED = 403

Answer = TypeVar("Answer")


class RegistryError(Exception):
    """Why a registry could not be used, as a sentence without its full stop."""


class BlockedSkill(RegistryError):
    """A skill that the registry itself does not want anybody to install."""


class Release(msgspec.Struct, frozen=True, rename="camel"):
    """A version, and when it was published, in milliseconds."""

    version: str
    created_at: float | None = None


class Moderation(msgspec.Struct, frozen=True, rename="camel"):
    """What the registry found out about a skill."""

    is_suspicious: bool = False
    is_malware_blocked: bool = False
    summary: str | None = None


class SkillPage(msgspec.Struct, frozen=True):
    """A skill: its slug, which may have been renamed, and the versions that its tags stand for."""

    slug: str
    tags: Mapping[str, object] = msgspec.field(default_factory=dict)


class SkillAnswer(msgspec.Struct, frozen=True, rename="camel"):
    """What a registry says about a skill."""

    skill: SkillPage | None = None
    latest_version: Release | None = None
    moderation: Moderation | None = None

    def find_version(self, wanted: str) -> str:
        """The version that a tag stands for, or the text itself; "" for the latest."""
        if not wanted:
            # A skill that is only kept on GitHub has no version in the registry.
            latest = self.latest_version
            return latest.version if latest is not None else ""
        tags = self.skill.tags if self.skill is not None else {}
        tagged = tags.get(wanted)
        return tagged if isinstance(tagged, str) else wanted


class ReleasedFile(msgspec.Struct, frozen=True):
    """A file of a version, with the SHA-256 that it must have."""

    path: str
    sha256: str


class _Security(msgspec.Struct, frozen=True):
    status: str = ""


class ReleaseDetails(Release, frozen=True, rename="camel"):
    """A version with its files; None where the registry lists none."""

    files: tuple[ReleasedFile, ...] | None = None
    security: _Security | None = None


class _ReleaseAnswer(msgspec.Struct, frozen=True):
    version: ReleaseDetails | None = None


class _GitHubCopy(msgspec.Struct, frozen=True):
    repo: str
    commit: str
    path: str = ""

    def find_source(self) -> str | None:
        """What to type to install it; None if that is not a repository of GitHub."""
        inner = f"/{self.path}" if self.path not in ("", ".") else ""
        text = f"{self.repo}{inner}#{self.commit}"
        # The registry could hide a part of the command that the user is to copy.
        if len(text) > _MOST_QUOTED or not text.isprintable():
            return None
        try:
            source = parse_source(text, cwd="/", home="/")
        except InvalidSource:
            # The caller says so.
            return None
        # A registry must not make the user install from a server that only it names.
        is_on_github = source.location.startswith("https://github.com/")
        return text if source.kind == GIT and is_on_github else None


class _InstallAnswer(msgspec.Struct, frozen=True):
    github: _GitHubCopy | None = None
    message: str = ""


class _Discovery(msgspec.Struct, frozen=True, rename="camel"):
    api_base: str = ""
    registry: str = ""


class Registry:
    """One registry, asked for one skill of an owner ("" for anyone who has that slug)."""

    def __init__(self, session: HttpSession, base: str, slug: str, owner: str = "") -> None:
        self._session = session
        self._base = base.rstrip("/")
        self._slug = slug
        self._owner = owner

    def discover(self) -> None:
        """Find out where the API of a site is; the site itself where it does not say."""
        try:
            site = self._get(f"{self._base}/.well-known/clawhub.json", _Discovery)
        except FetchError as error:
            if error.status != _NOT_FOUND:
                raise
            return
        self._base = (site.api_base or site.registry or self._base).rstrip("/")

    def find_skill(self) -> SkillAnswer:
        """What the registry says about the skill. Raises `RegistryError` and `FetchError`."""
        answer = self._get(self._locate(), SkillAnswer)
        if answer.skill is None:
            raise RegistryError(f"there is no skill “{self._slug}”")
        # ClawHub's own program refuses these, too.
        moderation = answer.moderation
        if moderation is not None and moderation.is_malware_blocked:
            raise BlockedSkill("the registry has blocked it as malware")
        # Old slugs lead to the skill under its new one.
        self._slug = answer.skill.slug
        return answer

    def get_release(self, version: str) -> ReleaseDetails:
        """One version with its files. Raises `RegistryError` and `FetchError`."""
        address = self._locate(f"/versions/{quote(version, safe='')}")
        answer = self._get(address, _ReleaseAnswer)
        release = answer.version
        if release is None:
            raise RegistryError(f"there is no version {version}")
        # The lock file would have one version and the folder another.
        if release.version != version:
            got = release.version[:100]
            raise RegistryError(f"asked for version {version}, but it answered with {got!r}")
        # The skill may be fine, and one of its versions not.
        security = release.security
        if security is not None and security.status == "malicious":
            raise BlockedSkill(f"the registry says that version {version} is malicious")
        return release

    def describe_elsewhere(self) -> str:
        """Where a skill without versions is kept, as a sentence."""
        answer = self._get(self._locate("/install"), _InstallAnswer)
        if answer.github is None:
            return quote_registry(answer.message) or "the registry has no version of it"
        source = answer.github.find_source()
        if source is None:
            return "it is kept on GitHub, but the registry does not name a valid repository"
        return f"it is kept on GitHub; use `prowess install {shlex.quote(source)}`"

    def download(self, version: str) -> bytes:
        """The archive of a version. Raises `RegistryError` and `FetchError`."""
        query = {"slug": self._slug, "version": version, **self._owner_query()}
        address = f"{self._base}/api/v1/download?{urlencode(query)}"
        try:
            return self._session.get(address, most_bytes=_MOST_ARCHIVE).body
        except FetchError as error:
            explained = _explain(error, version)
            raise explained or error from error

    def _locate(self, rest: str = "") -> str:
        query = urlencode(self._owner_query())
        address = f"{self._base}/api/v1/skills/{quote(self._slug, safe='')}{rest}"
        return f"{address}?{query}" if query else address

    def _owner_query(self) -> dict[str, str]:
        return {"ownerHandle": self._owner} if self._owner else {}

    def _get(self, address: str, kind: type[Answer]) -> Answer:
        body = self._session.get(address, most_bytes=_MOST_ANSWER, accept="application/json").body
        try:
            return msgspec.json.decode(body, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            message = f"{address} does not answer like ClawHub ({error})"
            raise RegistryError(message) from error


def quote_registry(text: str | None) -> str:
    """What a registry says, on one line and as its own words; "" for nothing."""
    line = tidy_line(text or "")
    if not line:
        return ""
    if len(line) > _MOST_QUOTED:
        line = f"{line[:_MOST_QUOTED]}…"
    return f"the registry says: “{line}”"


def _explain(error: FetchError, version: str) -> RegistryError | None:
    """What a status means for a version; None for a failure that is not the registry's word."""
    if error.status == _GONE:
        return RegistryError(f"version {version} was withdrawn")
    if error.status == _REFUSED:
        return BlockedSkill(f"the registry does not offer version {version}")
    return None
