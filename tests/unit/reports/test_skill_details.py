"""One skill in full: its text, its cost and its files, on any file system."""

from __future__ import annotations

import pytest

from prowess.errors import UnknownSkill
from prowess.reports.skill_details import (
    MOST_FILES,
    DetailCost,
    SkillFile,
    SkillFiles,
    load_details,
    load_files,
)
from prowess.testing import MemoryFiles
from tests.unit.reports.folders import PROJECT, open_project, skill

FOLDER = f"{PROJECT}/.agents/skills/pdf"


def test_a_skill_has_its_text_its_cost_and_its_files():
    text = skill("pdf", "Reads PDF files.", body="Read it.\n")
    details = load_details(
        open_project(
            {
                ".agents/skills/pdf/SKILL.md": text,
                ".agents/skills/pdf/scripts/run.py": "1",
                ".agents/skills/pdf/.git/HEAD": "1",
            }
        ),
        "pdf",
    )
    assert details.document is not None
    assert details.document.content == "Read it.\n"
    assert details.cost == DetailCost(listed_tokens=5, body_tokens=3)
    assert details.files == SkillFiles(
        (
            SkillFile("SKILL.md", "file", len(text), False),
            SkillFile("scripts/run.py", "file", 1, False),
        )
    )


def test_a_skill_that_cannot_be_parsed_has_neither_text_nor_cost():
    details = load_details(open_project({".agents/skills/torn/SKILL.md": "---\nname: x\n"}), "torn")
    assert (details.document, details.cost) == (None, None)
    shape = details.shape()["skill"]
    assert ("content" in shape, shape["state"]) == (False, "invalid")


def test_an_unknown_name_knows_the_nearest():
    skills = open_project({".agents/skills/pdf/SKILL.md": skill("pdf")})
    with pytest.raises(UnknownSkill) as raised:
        load_details(skills, "pfd")
    assert raised.value.nearest == ("pdf",)


def test_links_are_listed_and_never_entered():
    disk = MemoryFiles(
        {f"{FOLDER}/SKILL.md": skill("pdf"), f"{FOLDER}/pipe": None},
        links={f"{FOLDER}/again": FOLDER, f"{FOLDER}/lost": "/nowhere"},
    )
    outcome = open_project({".agents/skills/pdf/SKILL.md": skill("pdf")}).snapshot.outcomes[0]
    kinds = [(file.path, file.kind, file.link) for file in load_files(outcome, disk).files]
    assert kinds == [
        ("SKILL.md", "file", False),
        ("again", "folder", True),
        ("lost", "broken", True),
        ("pipe", "other", False),
    ]


def test_a_long_list_of_files_is_cut_and_says_so():
    names = [f"{FOLDER}/data/{number:03}.txt" for number in range(MOST_FILES + 20)]
    disk = MemoryFiles({f"{FOLDER}/SKILL.md": skill("pdf"), **dict.fromkeys(names, "x")})
    outcome = open_project({".agents/skills/pdf/SKILL.md": skill("pdf")}).snapshot.outcomes[0]
    listed = load_files(outcome, disk)
    assert (len(listed.files), listed.has_more) == (MOST_FILES, True)
    assert listed.files[1].path == "data/000.txt"
