"""The remote indexes that settings name."""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec

from prowess.model.origin import Origin
from prowess.model.settings import Settings


class ConfiguredIndex(msgspec.Struct, frozen=True, kw_only=True):
    """A remote index that settings name.

    `kind` is `opencode` for a URL in its settings, where the index has one place only, and `any`
    otherwise. `is_own` says whether it is in a prowess.toml and `is_project` whether the file came
    with the project.
    """

    name: str
    url: str
    kind: str = "any"
    private: bool = False
    is_own: bool = True
    is_project: bool = False
    origin: Origin = Origin()

    @property
    def provider(self) -> str:
        """What skills call it: its name, or the host's own word for a URL that has none."""
        return self.name if self.is_own else "remote"

    @property
    def host(self) -> str:
        """The host in its URL; empty if it is no URL."""
        try:
            return urlsplit(self.url).hostname or ""
        except ValueError:
            # The fetch says what is wrong with the URL.
            return ""


def list_indexes(settings: Settings) -> list[ConfiguredIndex]:
    """The remote indexes that the settings of a scan name, in their order; none that is off."""
    indexes: list[ConfiguredIndex] = []
    for name, source in settings.sources.items():
        if not source.enabled:
            continue
        indexes.append(
            ConfiguredIndex(
                name=name,
                url=source.url,
                private=source.private,
                is_project=settings.is_from_project(f"sources.{name}"),
                origin=settings.origin(f"sources.{name}"),
            )
        )
    # Settings of a user and of a project may name the same URL.
    for url in dict.fromkeys(settings.remote_urls):
        origin = settings.entry_origin("remote_urls", url)
        indexes.append(
            ConfiguredIndex(
                name=url,
                url=url,
                kind="opencode",
                is_own=False,
                is_project=origin.file in settings.project_files,
                origin=origin,
            )
        )
    return indexes


def allow_private(index: ConfiguredIndex, own: Settings) -> ConfiguredIndex:
    """An index of a host, private if the user's own settings allow that for the same server."""
    if index.is_own:
        return index
    # A project cannot allow it: a clone would open the network around this machine.
    of_user = (other for other in list_indexes(own) if other.is_own and not other.is_project)
    allowed = {other.host for other in of_user if other.private}
    return msgspec.structs.replace(index, private=index.host in allowed)
