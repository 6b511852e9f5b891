"""What this machine is: where Python's packages are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from prowess.machine.facts import current_facts


def test_packages_are_where_python_finds_them_without_its_own_library(
    monkeypatch: pytest.MonkeyPatch,
):
    library = f"{sys.base_prefix}/lib/python3"
    paths = ["", "relative", library, f"{library}/site-packages", "/opt/editable/src"]
    monkeypatch.setattr(sys, "path", paths)
    found = current_facts().python_paths
    assert found == (f"{library}/site-packages", "/opt/editable/src")


def test_a_folder_that_is_gone_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert current_facts().platform
