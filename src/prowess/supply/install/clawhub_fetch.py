"""Install from ClawHub, or from another registry with the same API."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors.install import InvalidSource, RefusedTree, SourceFailed
from prowess.machine.http_client import FetchError, HttpSession
from prowess.model.file_content import FileContent
from prowess.supply.clawhub import (
    BlockedSkill,
    Registry,
    RegistryError,
    ReleaseDetails,
    SkillAnswer,
    quote_registry,
)
from prowess.supply.install.fetch import (
    FetchContext,
    Fetched,
    list_private_hosts,
    watch_download,
)
from prowess.supply.install.local_fetch import read_archive, write_files
from prowess.supply.install.source import CLAWHUB, InstallSource, split_address

_SITE = "https://clawhub.ai"
_SECONDS = 120.0
_VERSION = re.compile(r"[A-Za-z0-9][\w.+-]{0,99}")
_SKILL = re.compile(
    r"(?:@?(?P<owner>[A-Za-z0-9][\w-]*)/)?"
    r"(?P<slug>[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)"
    rf"(?:@(?P<ref>{_VERSION.pattern}))?"
)
_ADDRESS = re.compile(r"clawhub\+(?P<base>https?://[^\s?#]*?)/(?P<skill>(?:@[^/@]+/)?[^/]+)")
# The registry writes this file into the archive; its author did not.
_ADDED = "_meta.json"
# The last moment that a date of Python can have is later than that of any release.
_MOST_MILLISECONDS = 4e12


def parse_clawhub(text: str, cwd: str) -> InstallSource | None:
    """`clawhub:[@OWNER/]SLUG[@VERSION]`, or `clawhub+https://HOST/[@OWNER/]SLUG[@VERSION]`."""
    if not text.startswith(("clawhub:", "clawhub+")):
        return None
    address = _ADDRESS.fullmatch(text)
    if address is not None:
        base, written, lead = address["base"], address["skill"], f"clawhub+{address['base']}/"
    else:
        base, written, lead = _SITE, text.removeprefix("clawhub:"), "clawhub:"
    skill = _SKILL.fullmatch(written)
    if skill is None:
        hint = "Use clawhub:SLUG, clawhub:@OWNER/SLUG or clawhub+https://HOST/SLUG, with @VERSION."
        raise InvalidSource(text, "it is not a skill of ClawHub", hint)
    split_address(text, base)
    owner = f"@{skill['owner']}/" if skill["owner"] else ""
    name = f"{owner}{skill['slug']}"
    return InstallSource(
        kind=CLAWHUB, location=f"{base}/{name}", text=f"{lead}{name}", ref=skill["ref"] or ""
    )


class ClawHubFetcher:
    """Fetches one version of one skill, with exactly the files that the registry lists."""

    def fetch(self, source: InstallSource, staging: str, context: FetchContext) -> Fetched:
        """Download the wanted version, or the latest one."""
        hosts = list_private_hosts(source, context)
        watch = watch_download(source, context)
        try:
            with HttpSession(seconds=_SECONDS, private_hosts=hosts, watch=watch) as session:
                registry = _open_registry(source, session)
                answer = registry.find_skill()
                version = answer.find_version(source.ref)
                if not version:
                    raise RegistryError(registry.describe_elsewhere())
                # It becomes a part of URLs and of the lock file.
                if _VERSION.fullmatch(version) is None:
                    shown = version[:100]
                    raise RegistryError(f"it has {shown!r}, which is not a valid version")
                release = registry.get_release(version)
                data = registry.download(version)
        except BlockedSkill as error:
            raise RefusedTree(source.text, str(error)) from error
        except RegistryError as error:
            raise SourceFailed(source.text, str(error)) from error
        except FetchError as error:
            raise SourceFailed(source.text, error.message) from error
        files = read_archive(source, data)
        listed, left_out = _choose_listed(source, files, release)
        write_files(staging, listed)
        return Fetched(
            resolved=version,
            released_at=_read_time(release.created_at),
            diagnostics=(*_report_moderation(source, answer), *left_out),
        )


def _open_registry(source: InstallSource, session: HttpSession) -> Registry:
    base, _, skill = source.location.rpartition("/")
    owner = ""
    folder, _, last = base.rpartition("/")
    if last.startswith("@"):
        base, owner = folder, last[1:]
    registry = Registry(session, base, skill, owner)
    # Where the API of ClawHub itself is, is known.
    if base != _SITE:
        registry.discover()
    return registry


def _choose_listed(
    source: InstallSource, files: Mapping[str, FileContent], release: ReleaseDetails
) -> tuple[dict[str, FileContent], tuple[Diagnostic, ...]]:
    """The files to install, and what the registry does not list; each has the digest it lists."""
    own = {path: file for path, file in files.items() if path != _ADDED}
    if release.files is None:
        problem = f"The registry does not list the files of {source.text}"
        message = f"{problem}, so its archive was not checked."
        return own, (diagnose("install-archive-unchecked", message),)
    listed: dict[str, FileContent] = {}
    for promised in release.files:
        file = files.get(promised.path)
        if file is None:
            cause = f"{promised.path[:200]!r} is missing in the archive"
            raise RefusedTree(source.text, cause)
        if hashlib.sha256(file.data).hexdigest() != promised.sha256.lower():
            cause = f"{promised.path[:200]!r} does not have the SHA-256 that the registry lists"
            raise RefusedTree(source.text, cause)
        listed[promised.path] = file
    # What the registry does not list was not reviewed there, so it is left out.
    unlisted = [path for path in own if path not in listed]
    left_out = tuple(
        diagnose("install-unlisted-file", f"{path} is not listed by the registry.", file=path)
        for path in unlisted
    )
    return listed, left_out


def _report_moderation(source: InstallSource, answer: SkillAnswer) -> tuple[Diagnostic, ...]:
    moderation = answer.moderation
    if moderation is None or not moderation.is_suspicious:
        return ()
    said = quote_registry(moderation.summary)
    reason = f" {said[0].upper()}{said[1:]}." if said else ""
    message = f"The registry has flagged {source.text} as suspicious.{reason}"
    return (diagnose("install-flagged", message),)


def _read_time(milliseconds: float | None) -> datetime | None:
    if milliseconds is None or not 0 < milliseconds < _MOST_MILLISECONDS:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
