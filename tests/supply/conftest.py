"""What the tests of remote sources share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.remote_server import RemoteServer


@pytest.fixture(autouse=True, scope="session")
def _loaded_client() -> None:
    """Loading the client takes a second or more, which short limits of tests must not include."""
    import prowess.machine.mcp.http
    import prowess.machine.mcp.stdio  # noqa: F401


@pytest.fixture
def server() -> Iterator[RemoteServer]:
    """A web server on this machine."""
    with RemoteServer() as running:
        yield running
