"""Plans to enable or disable a skill: which texts of which files, and what stands in the way."""

from __future__ import annotations

import pytest

from prowess.errors import UnknownSkill, UsageError
from prowess.reports.switch_plan import SwitchPlan, UndoneSetting, apply_plan, plan_switch
from prowess.runtime import Skills
from prowess.testing import MemoryFiles, make_facts
from tests.workspace import Workspace, skill_text

OWN = "/home/me/p/prowess.toml"


def plan(
    files: dict[str, str], *, enabled: bool, user: bool = False, host: str = "prowess"
) -> SwitchPlan:
    disk = MemoryFiles(
        {
            "/home/me/p/.git/HEAD": "",
            "/home/me/p/.claude/skills/pdf/SKILL.md": skill_text("pdf"),
            **files,
        }
    )
    skills = Skills("/home/me/p", host=host, facts=make_facts(), files=disk)
    return plan_switch(skills, host, "pdf", enabled=enabled, user=user)


def test_a_new_file_is_planned_at_the_top_of_the_project():
    assert plan({}, enabled=False) == SwitchPlan(
        {OWN: "[skills.pdf]\nenabled = false\n"}, OWN, created=True
    )


def test_nothing_is_written_for_what_is_so_already():
    text = "[skills.pdf]\nenabled = false\n"
    planned = plan({OWN: text}, enabled=False)
    assert planned == SwitchPlan({}, OWN, created=False)
    assert not planned.changed


def test_everything_that_names_the_skill_is_undone_in_one_text():
    text = 'disabled = ["pdf"]\nignore = ["pdf"]\n[skills.pdf]\nenabled = false\n'
    assert plan({OWN: text}, enabled=True) == SwitchPlan(
        {OWN: "disabled = []\nignore = []\n[skills.pdf]\nenabled = true\n"},
        OWN,
        created=False,
        undone=(
            UndoneSetting("disabled", OWN, 1),
            UndoneSetting("ignore", OWN, 2),
            UndoneSetting("enabled", OWN, None),
        ),
    )


@pytest.mark.parametrize(
    ("files", "user", "said"),
    [
        (
            {OWN: 'ignore = ["p*"]\n'},
            False,
            "its name matches the ignored pattern `p*` (prowess.toml:1). "
            "Change the pattern there, or rename the skill.",
        ),
        (
            {OWN: 'disabled = ["pdf"]\n'},
            True,
            "it is listed as `skill:pdf` (prowess.toml:1). `prowess enable pdf` changes that file.",
        ),
        (
            {"/home/me/.config/prowess/prowess.toml": 'disabled = ["pdf"]\n'},
            False,
            "it is listed as `skill:pdf` (~/.config/prowess/prowess.toml:1). "
            "`prowess enable pdf --user` changes that file.",
        ),
    ],
)
def test_what_other_settings_decide_is_an_error_that_says_what_to_do(files, user, said):
    with pytest.raises(UsageError) as raised:
        plan(files, enabled=True, user=user)
    assert str(raised.value) == f"“pdf” stays disabled: {said} Nothing was written."


def test_a_name_that_nothing_claims_is_unknown():
    with pytest.raises(UnknownSkill):
        plan_switch(
            Skills("/p", facts=make_facts(), files=MemoryFiles({})),
            "prowess",
            "pdf",
            enabled=True,
            user=False,
        )


def test_a_host_has_its_own_file_and_key():
    file = "/home/me/p/.claude/settings.local.json"
    text = '{\n  "skillOverrides": {\n    "pdf": "off"\n  }\n}\n'
    assert plan({}, enabled=False, host="claude-code") == SwitchPlan(
        {file: text}, file, created=True, key="skillOverrides.pdf"
    )
    back = plan({file: text}, enabled=True, host="claude-code")
    assert (back.file, back.texts[file]) == (file, text.replace('"off"', '"on"'))


def test_plans_have_the_key_in_json_only_for_a_host():
    own, host = plan({}, enabled=False), plan({}, enabled=False, host="claude-code")
    assert own.shape() == {"file": OWN, "created": True, "changed": True, "undone": []}
    assert host.shape() == {
        "file": host.file,
        "created": True,
        "changed": True,
        "undone": [],
        "key": "skillOverrides.pdf",
    }


def test_applying_a_plan_writes_its_texts(tmp_path):
    workspace = Workspace(tmp_path)
    workspace.skill("project/.claude/skills/pdf")
    skills = Skills(workspace.project, facts=workspace.facts())
    planned = plan_switch(skills, "prowess", "pdf", enabled=False, user=False)
    assert not (workspace.project / "prowess.toml").exists()
    apply_plan(planned)
    assert (workspace.project / "prowess.toml").read_text() == planned.texts[planned.file]
