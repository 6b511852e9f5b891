"""What holds for every scan, whatever the files and settings are."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from prowess.model.outcome import State
from prowess.model.snapshot import Snapshot
from prowess.profiles.load import BUILT_IN
from prowess.runtime import Skills
from prowess.testing import MemoryFiles, make_facts

HOSTS = [
    *BUILT_IN,
    "claude-code@documented",
    "opencode@documented",
    "openclaw@documented",
    "omp@documented",
]
NAMES = ("alpha", "beta", "Gamma", "alpha")
FOLDERS = (
    "/home/me/.claude/skills",
    "/home/me/.agents/skills",
    "/home/me/.omp/agent/skills",
    "/home/me/.openclaw/skills",
    "/home/me/p/.claude/skills",
    "/home/me/p/.agents/skills",
    "/home/me/p/.opencode/skills",
    "/home/me/p/.omp/skills",
    "/home/me/p/skills",
    "/home/me/p/a/.claude/skills",
)
HEADERS = (
    "---\nname: {name}\ndescription: d\n---\nBody\n",
    "---\nname: {name}\ndescription: Use when: x\n---\nBody\n",
    "---\nname: {name}\n---\nBody\n",
    "---\ndescription: [unclosed\n---\nBody\n",
    "---\nname: {name}\ndescription: d\nhide: true\n---\nBody\n",
    "---\nname: {name}\ndescription: d\nenabled: false\n---\nBody\n",
    "---\nname: {name}\ndescription: d\npaths: src/**\n---\nBody\n",
    "---\nname: {name}\ndescription: d\nmetadata: {{openclaw: {{requires: {{bins: [nope]}}}}}}\n---\nBody\n",
    "no header at all\n",
    "",
)

# A file that makes the working folder exist.
WORK = "/home/me/p/a/README.md"

skill_files = st.dictionaries(
    st.tuples(
        st.sampled_from(FOLDERS), st.sampled_from(("one", "two", "group/three", ".hidden"))
    ).map("/".join),
    st.tuples(st.sampled_from(HEADERS), st.sampled_from(NAMES)),
    max_size=12,
)


def lay_out(skills: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    files = {
        f"{folder}/SKILL.md": header.format(name=name) for folder, (header, name) in skills.items()
    }
    return {WORK: "", **files}


def scan(host: str, files: MemoryFiles) -> Snapshot:
    return Skills(
        "/home/me/p/a", host=host, facts=make_facts(), files=files, places={"managed": "/none"}
    ).snapshot


def facts_of(snapshot: Snapshot) -> list[tuple[Any, ...]]:
    return [
        (o.candidate.location, o.name, o.state, o.reason, o.by, o.notes) for o in snapshot.outcomes
    ]


@contextmanager
def shuffled_disk(seed: int) -> Iterator[None]:
    """A disk whose folders list their items in any order, as disks do."""
    real_scandir = os.scandir
    chance = random.Random(seed)

    @contextmanager
    def scandir(path: str) -> Iterator[Iterator[os.DirEntry[str]]]:
        with real_scandir(path) as listing:
            items = list(listing)
        chance.shuffle(items)
        yield iter(items)

    with mock.patch("prowess.machine.files.os.scandir", scandir):
        yield


def scan_disk(host: str, machine: Path) -> Snapshot:
    home = str(machine / "home/me")
    cwd = machine / "home/me/p/a"
    return Skills(
        cwd, host=host, facts=make_facts(home), places={"managed": "/none"}, cache=False
    ).snapshot


def lies_below_a_root(path: str, snapshot: Snapshot) -> bool:
    return any(path.startswith(root.path + "/") for root in snapshot.roots)


@given(skills=skill_files, host=st.sampled_from(HOSTS))
def test_every_file_below_a_root_ends_in_exactly_one_state_and_the_counts_add_up(
    skills: dict[str, tuple[str, str]], host: str
) -> None:
    files = lay_out(skills)
    snapshot = scan(host, MemoryFiles(files))
    expected = [path for path in files if lies_below_a_root(path, snapshot)]
    assert sorted(outcome.candidate.location for outcome in snapshot.outcomes) == sorted(expected)
    assert sum(snapshot.counts().values()) == len(expected)
    assert len(snapshot.shown) == sum(
        1 for outcome in snapshot.outcomes if snapshot.is_shown(outcome)
    )


@given(skills=skill_files, host=st.sampled_from(HOSTS))
def test_whatever_is_not_ready_says_why(skills: dict[str, tuple[str, str]], host: str) -> None:
    for outcome in scan(host, MemoryFiles(lay_out(skills))).outcomes:
        assert (outcome.state is State.READY) == (outcome.reason is None)
        assert (outcome.state in (State.DUPLICATE, State.SHADOWED)) == (outcome.by is not None)
        assert outcome.state is not State.INVALID or outcome.diagnostics


@given(skills=skill_files, host=st.sampled_from([host for host in HOSTS if host != "codex"]))
def test_at_most_one_skill_is_listed_under_a_name(
    skills: dict[str, tuple[str, str]], host: str
) -> None:
    listed = [outcome.name for outcome in scan(host, MemoryFiles(lay_out(skills))).shown]
    assert len(listed) == len(set(listed))


@given(skills=skill_files, host=st.sampled_from(HOSTS), seed=st.integers(0, 99))
def test_results_do_not_depend_on_the_order_of_the_disk(
    skills: dict[str, tuple[str, str]], host: str, seed: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        machine = Path(os.path.realpath(folder))
        for path, text in lay_out(skills).items():
            place = machine / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        plain = scan_disk(host, machine)
        with shuffled_disk(seed):
            shuffled = scan_disk(host, machine)
    assert facts_of(shuffled) == facts_of(plain)
    assert shuffled.diagnostics == plain.diagnostics


@given(skills=skill_files, host=st.sampled_from(HOSTS))
def test_a_shadowed_skill_points_at_one_that_holds_the_name(
    skills: dict[str, tuple[str, str]], host: str
) -> None:
    snapshot = scan(host, MemoryFiles(lay_out(skills)))
    by_location = {outcome.candidate.location: outcome for outcome in snapshot.outcomes}
    for outcome in snapshot.outcomes:
        if outcome.state is State.SHADOWED:
            assert outcome.by is not None
            winner = by_location[outcome.by]
            assert winner.name == outcome.name
            assert winner.state not in (
                State.SHADOWED,
                State.INVALID,
                State.SKIPPED,
                State.DUPLICATE,
            )


@given(skills=skill_files, host=st.sampled_from(HOSTS), data=st.data())
def test_removing_a_skill_changes_another_only_by_giving_its_name_free(
    skills: dict[str, tuple[str, str]], host: str, data: st.DataObject
) -> None:
    files = lay_out(skills)
    before = scan(host, MemoryFiles(files))
    if not before.outcomes:
        return
    removed = data.draw(
        st.sampled_from([outcome.candidate.location for outcome in before.outcomes])
    )
    after = scan(host, MemoryFiles({path: text for path, text in files.items() if path != removed}))
    ends = {outcome.candidate.location: outcome for outcome in after.outcomes}
    for outcome in before.outcomes:
        location = outcome.candidate.location
        if location == removed or outcome.by == removed or location not in ends:
            # A skill below the removed one can come to light, never the other way round.
            assert location == removed or outcome.by == removed
            continue
        assert ends[location].state == outcome.state
