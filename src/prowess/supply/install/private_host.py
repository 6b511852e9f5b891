"""Hosts in a private network that a source leads to.

A lock file may come from a stranger. What it names is fetched only from public hosts, or from those
that the user has typed: this machine and its network would answer requests that nobody wanted.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from prowess.machine.network_address import NameUnresolved, is_private_name, is_public, resolve
from prowess.supply.install.source import InstallSource

# The check comes before every fetch; a name server that hangs must not cost more than this.
_SECONDS = 5.0
_PORTS = {"http": 80, "https": 443}


def find_private_host(source: InstallSource) -> str | None:
    """The host of a source that is in a private network; None for a public one, and for none.

    Over ssh the user's own list of known hosts decides.
    """
    if source.is_local:
        return None
    # The scheme of `git+https://…` is what comes after the mark.
    parts = urlsplit(source.location)
    scheme = parts.scheme.removeprefix("git+")
    if scheme not in _PORTS:
        return None
    host = parts.hostname or ""
    # A full stop at the end of a name changes nothing for a connection.
    name = host.rstrip(".")
    if is_private_name(name):
        return host
    port = parts.port or _PORTS[scheme]
    try:
        resolved = resolve(name, port, seconds=_SECONDS)
    except NameUnresolved:
        # Then it cannot be fetched either, and the fetch says why.
        return None
    # A name may have several addresses, and the download may use any of them.
    if all(is_public(one.address) for one in resolved):
        return None
    return host
