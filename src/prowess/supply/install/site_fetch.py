"""Install from a site that offers skills by an index, as `prowess publish` writes it."""

from __future__ import annotations

import hashlib
import re

from prowess.errors import MachineError
from prowess.errors.install import SourceFailed
from prowess.machine.atomic_write import scratch_folder
from prowess.machine.http_client import FetchError, HttpSession
from prowess.machine.tree_files import write_file
from prowess.state.remote_cache import FetchedIndex, RemoteCache
from prowess.supply.install.fetch import FetchContext, Fetched, list_private_hosts
from prowess.supply.install.site_signature import check_site
from prowess.supply.install.source import ARCHIVE_SUFFIXES, SITE, InstallSource, split_address
from prowess.supply.remote_fetch import MOST_SKILL_BYTES, fetch_source

_ANY_FORMAT = "any"
_SECONDS = 120.0
# Also with the skill that is wanted.
_REPOSITORY = re.compile(r"\.git(@[^/@]+)?\Z")
# Their pages are repositories.
_GIT_HOSTS = ("github.com", "gitlab.com")


def parse_site(text: str, cwd: str) -> InstallSource | None:
    """The address of a site, perhaps with `#SKILL`; None for a repository or an archive."""
    if not text.startswith(("https://", "http://")):
        return None
    location, _, skill = text.partition("#")
    parts = split_address(text, location)
    path = parts.path.rstrip("/")
    is_repository = parts.hostname in _GIT_HOSTS or _REPOSITORY.search(path) is not None
    if is_repository or path.endswith(ARCHIVE_SUFFIXES):
        return None
    location = location.rstrip("/")
    return InstallSource(kind=SITE, location=location, text=location, skill=skill)


class SiteFetcher:
    """Fetches the skills of a site, each in a folder of its name."""

    def fetch(self, source: InstallSource, staging: str, context: FetchContext) -> Fetched:
        """Fetch all skills that the index names; one that is refused costs itself only."""
        hosts = list_private_hosts(source, context)

        def watch(done: int, total: int) -> None:
            if context.reporter is not None:
                context.reporter.progress(f"fetching {total:,} skills", done)

        with scratch_folder() as scratch:
            # A cache that is thrown away: the store keeps what is installed, and nothing else is
            # wanted.
            cache = RemoteCache(scratch, _ANY_FORMAT, source.location)
            try:
                with HttpSession(seconds=_SECONDS, private_hosts=hosts) as session:
                    index = fetch_source(_ANY_FORMAT, source.location, cache, session, watch=watch)
            except FetchError as error:
                raise SourceFailed(source.text, error.message) from error
            digests = _write(cache, index, staging)
            # Before anybody sees a plan: files that are not those that were signed are refused.
            signed = check_site(source, index, digests, context)
        versions: dict[str, str] = {}
        for name, skill in index.skills.items():
            if skill.version is not None:
                versions[name] = skill.version
        return Fetched(
            versions=versions,
            signer=signed.signer,
            diagnostics=(*index.diagnostics, *signed.diagnostics),
        )


def _write(cache: RemoteCache, index: FetchedIndex, staging: str) -> dict[str, str]:
    """Write the files of all skills; their SHA-256, by their paths in the site."""
    digests: dict[str, str] = {}
    for name, skill in index.skills.items():
        files = cache.load_files(name, skill.files, MOST_SKILL_BYTES)
        if files is None:
            raise MachineError("read", f"{cache.skills_folder}/{name}", "a file is gone")
        for path, data in files.items():
            # Indexes do not say which files are programs.
            is_program = data.startswith(b"#!")
            write_file(staging, f"{name}/{path}", data, is_executable=is_program)
            digests[f"{name}/{path}"] = hashlib.sha256(data).hexdigest()
    return digests
