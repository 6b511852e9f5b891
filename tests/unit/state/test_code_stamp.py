"""Every file that decides a cached answer counts in the stamp over Prowess's own code."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from prowess.state.code_stamp import stamp_package

FILES = (
    "diagnostics.py",
    "model/skill.py",
    "parse/header/fast.py",
    "parse/yaml/reader.py",
    "profiles/data/omp.toml",
    "profiles/schema/header.py",
)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for file in (*FILES, "cli/app.py", "parse/__pycache__/fast.py"):
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n", encoding="utf-8")
        os.utime(path, ns=(1, 1))
    return tmp_path


def test_the_same_files_have_the_same_stamp(package: Path) -> None:
    assert stamp_package(str(package)) == stamp_package(str(package))


@pytest.mark.parametrize("file", FILES)
def test_a_changed_time_or_size_of_any_of_them_changes_the_stamp(package: Path, file: str) -> None:
    before = stamp_package(str(package))
    os.utime(package / file, ns=(1, 2))
    later = stamp_package(str(package))
    (package / file).write_text("x = 12\n", encoding="utf-8")
    os.utime(package / file, ns=(1, 1))
    larger = stamp_package(str(package))
    assert len({before, later, larger}) == 3


def test_a_new_or_renamed_module_changes_the_stamp(package: Path) -> None:
    stamps = {stamp_package(str(package))}
    (package / "parse/yaml/reader.py").rename(package / "parse/yaml/readers.py")
    stamps.add(stamp_package(str(package)))
    (package / "parse/yaml/readers.py").rename(package / "parse/header/readers.py")
    stamps.add(stamp_package(str(package)))
    assert len(stamps) == 3


@pytest.mark.parametrize("file", ["cli/app.py", "parse/__pycache__/fast.py"])
def test_other_files_do_not_count(package: Path, file: str) -> None:
    before = stamp_package(str(package))
    (package / file).write_text("y = 2\n", encoding="utf-8")
    assert stamp_package(str(package)) == before
