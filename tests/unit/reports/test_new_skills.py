"""The template of a new skill, the folder it goes into, and what a project is set up with."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prowess.diagnostics import Severity
from prowess.errors import InvalidName, UsageError
from prowess.parse.header.fast import read_header
from prowess.parse.lint.checks import lint_skill
from prowess.profiles.load import load_profile
from prowess.reports.project_setup import (
    TEMPLATE,
    ProjectSetup,
    apply_setup,
    count_by_root,
    plan_setup,
)
from prowess.reports.skill_folders import (
    choose_new_folder,
    choose_project_folder,
    choose_user_folder,
    find_project_folder,
)
from prowess.reports.skill_template import check_name, quote, render_skill
from prowess.runtime import Skills
from prowess.testing import MemoryFiles, make_facts
from tests.workspace import skill_text


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.from_regex(r"[a-z0-9]+(-[a-z0-9]+){0,3}", fullmatch=True).filter(
        lambda name: len(name) <= 64
    )
)
def test_every_name_that_is_allowed_gives_a_skill_without_findings(name):
    rendered = render_skill(name, None, ("scripts", "references", "assets"))
    text = rendered.files["SKILL.md"].decode()
    rules, fields = load_profile("prowess").header, load_profile("spec").fields
    assert (
        lint_skill(
            text, folder_name=name, files=frozenset(rendered.files), rules=rules, fields=fields
        )
        == ()
    )


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200).filter(
        lambda text: text.split()
    )
)
def test_any_text_that_is_quoted_comes_back_from_the_header(text):
    text = " ".join(text.split())
    profile = load_profile("spec")
    header = f"---\nname: x\ndescription: {quote(text)}\n---\nbody\n"
    reading = read_header(header.encode(), rules=profile.header, limits=profile.limits)
    assert [finding for finding in reading.diagnostics if finding.severity is Severity.ERROR] == []
    assert reading.frontmatter["description"] == text


@pytest.mark.parametrize(("name", "written"), [("404", '"404"'), ("true", '"true"'), ("a1", "a1")])
def test_a_name_that_yaml_would_not_read_as_text_is_quoted(name, written):
    text = render_skill(name, None, ()).files["SKILL.md"].decode()
    assert text.splitlines()[1] == f"name: {written}"


def test_a_description_that_would_not_be_valid_is_refused():
    with pytest.raises(
        UsageError, match=r"^Nothing was created because the skill would be invalid: "
    ):
        render_skill("pdf", " ", ())


@pytest.mark.parametrize(
    ("name", "problem"),
    [("Pdf", "try “pdf”"), ("a b", "contains a space"), ("é", "contains “é”; only a-z")],
)
def test_a_name_that_is_not_standard_is_refused_with_the_rule(name, problem):
    with pytest.raises(InvalidName, match=problem):
        check_name(name)


# Folders


def open_skills(*files: str, host: str = "prowess", cwd: str = "/p") -> Skills:
    disk = MemoryFiles({file: skill_text("x") for file in files})
    return Skills(cwd, host=host, facts=make_facts(), files=disk)


def test_without_a_folder_the_shared_one_is_created_where_the_host_reads_it():
    assert choose_project_folder(open_skills()) == "/p/.agents/skills"
    assert choose_project_folder(open_skills(host="claude-code")) == "/p/.claude/skills"
    assert choose_user_folder(open_skills()) == "/home/me/.agents/skills"
    assert choose_user_folder(open_skills(host="claude-code")) == "/home/me/.claude/skills"


def test_the_nearest_folder_counts_then_the_shared_one():
    files = ["/p/.agents/skills/x/SKILL.md", "/p/d/.claude/skills/x/SKILL.md", "/p/.git/HEAD"]
    assert find_project_folder(open_skills(*files, cwd="/p/d")) == "/p/d/.claude/skills"
    files[1] = "/p/.claude/skills/x/SKILL.md"
    assert find_project_folder(open_skills(*files, cwd="/p/d")) == "/p/.agents/skills"
    assert find_project_folder(open_skills(*files, cwd="/p/d"), within="/p/d/") is None


def test_our_own_folder_comes_last():
    files = ["/p/.prowess/skills/x/SKILL.md", "/p/.codex/skills/x/SKILL.md"]
    assert find_project_folder(open_skills(*files)) == "/p/.codex/skills"
    assert find_project_folder(open_skills(files[0])) == "/p/.prowess/skills"


def test_a_plain_folder_counts_once_it_has_a_skill():
    assert find_project_folder(open_skills("/p/skills/readme.txt")) is None
    assert find_project_folder(open_skills("/p/skills/x/SKILL.md")) == "/p/skills"


def test_a_new_folder_is_created_in_the_folder_that_was_asked_for():
    skills = open_skills("/p/.git/HEAD", cwd="/p/d", host="claude-code")
    assert choose_new_folder(skills, "/p") == "/p/.claude/skills"
    assert choose_new_folder(skills, "/p/d") == "/p/d/.claude/skills"


# Setting up


def test_a_project_is_set_up_with_what_it_does_not_have():
    assert plan_setup(open_skills()) == ProjectSetup(
        ("/p/prowess.toml", "/p/.agents/skills"), (), "/p/.agents/skills"
    )
    assert plan_setup(open_skills("/p/.claude/skills/x/SKILL.md")) == ProjectSetup(
        ("/p/prowess.toml",), ("/p/.claude/skills",), "/p/.claude/skills"
    )


def test_a_setup_is_written_whole(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    setup = plan_setup(Skills(project, facts=make_facts(str(tmp_path / "home"))))
    assert list(project.iterdir()) == []
    apply_setup(setup)
    assert (project / "prowess.toml").read_text() == TEMPLATE
    assert (project / ".agents/skills").is_dir()


def test_files_are_counted_by_root_in_scan_order():
    skills = open_skills(
        "/p/skills/x/SKILL.md", "/p/.agents/skills/x/SKILL.md", "/p/.agents/skills/y/SKILL.md"
    )
    assert list(count_by_root(skills.snapshot).items()) == [
        ("/p/.agents/skills", 2),
        ("/p/skills", 1),
    ]
