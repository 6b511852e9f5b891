"""Packing and unpacking a skill: nothing is lost, and the order of things does not matter."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prowess.model.file_content import FileContent
from prowess.supply.archives import unpack_files
from prowess.supply.publish.archive import pack_files

NAMES = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters="/\\:"), min_size=1)
PART = NAMES.filter(lambda name: name not in (".", ".."))
PATHS = st.lists(PART, min_size=1, max_size=3).map("/".join)
FILES = st.dictionaries(PATHS, st.builds(FileContent, st.binary(max_size=200), st.booleans()))


@given(FILES, st.sampled_from(["", "my-skill"]))
def test_what_is_packed_is_unpacked_again(files: dict[str, FileContent], folder: str) -> None:
    data = pack_files(files, folder=folder)
    if not files:
        return
    lead = f"{folder}/" if folder else ""
    expected = {f"{lead}{path}": file for path, file in files.items()}
    assert unpack_files(data, most_bytes=1 << 20, most_files=1000) == expected


@given(FILES, st.randoms())
def test_the_order_of_files_does_not_matter(files: dict[str, FileContent], random: object) -> None:
    shuffled = list(files.items())
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert pack_files(dict(shuffled)) == pack_files(files)
