"""Which addresses on the network a name leads to, and which of them may be reached.

A server that somebody else runs can point its name, or a redirect, at this machine or at the
network around it. So a name is resolved once, every address is checked, and the connection goes to
the address that was checked.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
from typing import NamedTuple

from prowess.errors import name_cause

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# IPv6 addresses that carry an IPv4 address; a gateway would take us there.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class Endpoint(NamedTuple):
    """An address that a name was resolved to, ready to connect to."""

    family: int
    address: str
    port: int


class NameUnresolved(OSError):
    """A name that cannot be resolved, or not in time."""


def is_public(address: str) -> bool:
    """Whether an address is on the public Internet: not this machine, its network or a special one.

    An IPv6 address that carries an IPv4 address is public only if both are.
    """
    # The part after `%` names an interface of this machine.
    parsed = ipaddress.ip_address(address.partition("%")[0])
    carried = _find_carried(parsed)
    if carried is not None:
        return _is_global(carried)
    return _is_global(parsed)


def _is_global(address: Address) -> bool:
    # Python calls most multicast addresses global, too.
    is_special = address.is_multicast or address.is_reserved
    return address.is_global and not is_special


def _find_carried(address: Address) -> ipaddress.IPv4Address | None:
    if not isinstance(address, ipaddress.IPv6Address):
        return None
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    if teredo is not None:
        return teredo[1]
    return address.ipv4_mapped or address.sixtofour


def is_private_name(host: str) -> bool:
    """Whether a host, as it is written in a URL, is this machine or a private address."""
    # The whole domain is this machine (RFC 6761), whatever a resolver says.
    if host == "localhost" or host.endswith(".localhost"):
        return True
    is_literal = find_literal(host) is not None
    return is_literal and not is_public(host)


def find_literal(host: str) -> Address | None:
    """The address that a host is, where it is written as one."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def resolve(host: str, port: int, *, seconds: float) -> list[Endpoint]:
    """Every address of a host. Raises `NameUnresolved`.

    The system's resolver cannot be interrupted, so it runs in a thread that is left behind when the
    time is up.
    """
    endpoints: list[Endpoint] = []
    failure: list[str] = []

    def look_up() -> None:
        try:
            answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            # A name with a label that is too long or empty fails in the encoding already.
            failure.append(name_cause(error))
        else:
            endpoints.extend(Endpoint(one[0], str(one[4][0]), port) for one in answers)

    thread = threading.Thread(target=look_up, daemon=True, name="prowess-resolve")
    thread.start()
    thread.join(max(seconds, 0))
    if failure:
        raise NameUnresolved(f"the name {host} cannot be resolved ({failure[0]})")
    if not endpoints:
        raise NameUnresolved(f"the name {host} was not resolved in time")
    return list(dict.fromkeys(endpoints))
