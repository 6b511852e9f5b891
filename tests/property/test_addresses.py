"""Laws of addresses: whatever is written in one, nothing outside the skill is read, not even
through links.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.activate.resources.addresses import Address, Dots, parse_address
from prowess.activate.resources.lookup import resolve
from prowess.errors import UnknownSkill
from prowess.errors.activation import AddressError
from prowess.machine.files import LocalFiles
from prowess.model.files import FolderItem, Head
from prowess.model.skill import Skill
from prowess.profiles.load import load_profile
from tests.unit.activate.skills import make_outcome

steps = st.sampled_from(
    [
        *(
            ".. . %2e%2e %2E%2e .%2e ..%2f %2f ..%5c ..\\ \\ / // %00 %25 %252e %zz ?x #y :1 :raw : C: ~ "
        ).split(" "),
        *(
            "in out up loop link deep sub evil secret SKILL.md a.md ..dots.md etc passwd root abs"
        ).split(),
    ]
)
paths = st.lists(st.one_of(steps, st.just("/"), st.text(max_size=4)), max_size=9).map("".join)
all_dots = st.sampled_from(["refuse", "fold"])


@given(st.one_of(st.text(), paths.map(lambda path: f"skill://pdf/{path}")), all_dots, st.booleans())
def test_an_address_that_is_taken_apart_stays_inside(
    url: str, dots: Dots, with_lines: bool
) -> None:
    try:
        address = parse_address(url, dots=dots, with_lines=with_lines)
    except AddressError as error:
        assert error.kind in ("malformed", "no-name", "absolute", "outside")
        return
    for path in (address.path, address.literal or ""):
        assert not path.startswith(("/", "\\"))
        assert ".." not in path.replace("\\", "/").split("/")
        assert "\0" not in path


class Watching(LocalFiles):
    """The disk, noting the real path of everything that is read or listed."""

    def __init__(self) -> None:
        self.touched: list[str] = []

    def read_head(self, path: str, limit: int) -> Head:
        self.touched.append(os.path.realpath(path))
        return super().read_head(path, limit)

    def list_folder(self, path: str) -> list[FolderItem]:
        self.touched.append(os.path.realpath(path))
        return super().list_folder(path)

    def read_real_head(self, path: str, limit: int) -> Head:
        self.touched.append(os.path.realpath(path))
        return super().read_real_head(path, limit)

    def list_real_folder(self, path: str) -> list[FolderItem]:
        self.touched.append(os.path.realpath(path))
        return super().list_real_folder(path)


@pytest.fixture(scope="module")
def skill(tmp_path_factory: pytest.TempPathFactory) -> Skill:
    """A skill on disk with links of every kind, beside things that are nobody's business."""
    top = tmp_path_factory.mktemp("top")
    for path in (
        "pdf/SKILL.md",
        "pdf/a.md",
        "pdf/..dots.md",
        "pdf/sub/deep/x",
        "pdf-evil/evil",
        "secret",
        "sub/secret",
    ):
        place: Path = top / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("inside" if path.startswith("pdf/") else "SECRET")
    links = {
        "in": "a.md",
        "out": "../secret",
        "up": "..",
        "loop": "loop",
        "link": "../pdf-evil",
        "abs": str(top),
        "root": "/",
    }
    for name, target in links.items():
        (top / "pdf" / name).symlink_to(target)
        (top / "pdf" / "sub" / name).symlink_to(target)
    made = make_outcome("pdf").skill
    assert made is not None
    return msgspec.structs.replace(
        made, folder=str(top / "pdf"), location=str(top / "pdf" / "SKILL.md")
    )


def assert_inside(skill: Skill, address: Address) -> None:
    files = Watching()
    inside = os.path.realpath(skill.folder)
    with suppress(AddressError, UnknownSkill):
        found = resolve(address, {"pdf": skill}, files, rules=load_profile("omp").resources)
        assert "SECRET" not in found.content
    assert [
        path for path in files.touched if path != inside and not path.startswith(inside + "/")
    ] == []


@given(path=paths, dots=all_dots, with_lines=st.booleans())
def test_no_address_reads_anything_outside_its_skill(
    skill: Skill, path: str, dots: Dots, with_lines: bool
) -> None:
    try:
        address = parse_address(f"skill://pdf/{path}", dots=dots, with_lines=with_lines)
    except AddressError:
        return
    assert_inside(skill, address)


@given(path=paths)
def test_no_path_reads_anything_outside_its_skill_even_if_nobody_judged_it(
    skill: Skill, path: str
) -> None:
    if "\0" not in path:
        assert_inside(skill, Address(url="skill://pdf", name="pdf", path=path))


def test_the_tree_of_these_tests_has_ways_out(skill: Skill) -> None:
    assert {
        name for name in os.listdir(skill.folder) if os.path.islink(f"{skill.folder}/{name}")
    } == {
        "in",
        "out",
        "up",
        "loop",
        "link",
        "abs",
        "root",
    }
    assert Path(skill.folder, "up", "secret").read_text() == "SECRET"
