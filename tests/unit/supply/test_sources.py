"""Sources that settings name: none of them costs anything before it is named."""

from __future__ import annotations

from pathlib import Path

from prowess.machine.files import LocalFiles
from prowess.model.settings import Settings
from prowess.ports import Discovered, Search
from prowess.supply.sources import open_sources


def test_sources_that_are_not_configured_find_nothing(tmp_path: Path) -> None:
    search = Search(cwd=str(tmp_path), settings=Settings(), files=LocalFiles())
    assert [source.find(search) for source in open_sources()] == [Discovered()] * len(
        open_sources()
    )
