"""Laws of skills in memory: any files give a scan, and a folder and a mapping give the same one."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from prowess.errors import ProwessError, UsageError
from prowess.runtime import Skills
from prowess.sources import Files, Folder

NAMES = st.sampled_from(["a", "b", "SKILL.md", "SKILL.md ", "..", ".", "", ".x", "é", "a\\b", "C:"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
TEXTS = st.sampled_from(
    ["", "x", "---\nname: a\ndescription: d\n---\nBody\n", "---\nname: b\n---\n", "---\n: [\n---\n"]
)
FILES = st.dictionaries(PATHS, TEXTS | st.binary(max_size=40), max_size=6)
# Paths that every file system can have, none of which is the folder of another.
PLAIN = st.dictionaries(
    st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3).map(
        lambda parts: "/".join((*parts, "SKILL.md"))
    ),
    TEXTS,
    max_size=5,
)


@given(FILES)
def test_any_files_give_a_scan_or_a_usage_error(files: dict[str, str | bytes]) -> None:
    try:
        skills = Skills.of(Files(files))
    except UsageError:
        return
    chat = skills.conversation()
    chat.catalog()
    for outcome in skills.snapshot.outcomes:
        try:
            chat.activate(outcome.name)
        except ProwessError:
            continue


@given(PLAIN)
def test_a_mapping_and_a_folder_with_the_same_files_give_the_same_skills(
    files: dict[str, str],
) -> None:
    with TemporaryDirectory() as name:
        for path, text in files.items():
            place = Path(name) / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        os.makedirs(name, exist_ok=True)
        on_disk = Skills.of(Folder(name, name="x")).snapshot
    in_memory = Skills.of(Files(files, name="x")).snapshot
    ends = [
        [
            (one.name, one.state, one.reason is None, one.candidate.default_name)
            for one in found.outcomes
        ]
        for found in (on_disk, in_memory)
    ]
    assert ends[0] == ends[1]
