"""What the tests of remote sources share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.remote_server import RemoteServer


@pytest.fixture
def server() -> Iterator[RemoteServer]:
    """A web server on this machine."""
    with RemoteServer() as running:
        yield running
