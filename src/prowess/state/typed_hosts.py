"""Hosts in a private network that the user has typed to install from, on this machine."""

from __future__ import annotations

import os

from prowess.model.facts import Facts
from prowess.state.folders import state_folder
from prowess.state.private_list import PrivateList

_MOST_BYTES = 1 << 20
_LOST = "The list of hosts that you installed from is ignored: {reason}."


def open_typed_hosts(facts: Facts) -> PrivateList[str]:
    """The list, in the state folder."""
    path = os.path.join(state_folder(facts), "private-hosts.json")
    return PrivateList(path, "hosts", str, order=str, lost=_LOST, most_bytes=_MOST_BYTES)


def add_typed_hosts(facts: Facts, hosts: frozenset[str]) -> None:
    """Remember hosts. Raises `MachineError`."""
    listed = open_typed_hosts(facts)
    if not hosts <= set(listed.load()):
        listed.change(lambda before: sorted(hosts.union(before)))
