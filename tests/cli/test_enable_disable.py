"""`prowess enable` and `prowess disable`: one switch written, everything else kept, the new state
told.
"""

from __future__ import annotations

import os

import pytest

from tests.cli.terminal import Terminal


@pytest.fixture
def terminal(tmp_path, monkeypatch, capsys):
    return Terminal(tmp_path, monkeypatch, capsys)


def test_disabling_makes_the_settings_file_and_says_the_new_state(terminal):
    terminal.skill("project/.claude/skills/pdf")
    assert terminal.run("disable", "pdf") == (
        0,
        "Disabled “pdf” in new file prowess.toml.\n"
        "It is now disabled: it is switched off in the settings (prowess.toml:2).\n",
        "",
    )
    assert (terminal.project / "prowess.toml").read_text(
        encoding="utf-8"
    ) == "[skills.pdf]\nenabled = false\n"
    assert terminal.run("enable", "pdf") == (
        0,
        "Enabled “pdf” in prowess.toml.\nIt is now ready.\n",
        "",
    )
    assert terminal.ends(terminal.scan()) == {"project/.claude/skills/pdf/SKILL.md": "ready"}


def test_what_else_stands_in_the_file_is_kept_to_the_byte(terminal):
    terminal.skill("project/.claude/skills/pdf")
    text = '# ours\r\nignore = [ "draft-*" ] # not yet\r\n\r\n[skills."pdf"]\r\nenabled = true # for now\r\n'
    terminal.write("project/prowess.toml", text)
    terminal.run("disable", "pdf")
    assert (terminal.project / "prowess.toml").read_bytes().decode() == text.replace(
        "= true #", "= false #"
    )


def test_doing_it_twice_writes_once(terminal):
    terminal.skill("project/.claude/skills/pdf")
    terminal.run("disable", "pdf")
    before = os.stat(terminal.project / "prowess.toml")
    assert terminal.run("disable", "pdf") == (
        0,
        "“pdf” is already disabled in prowess.toml; nothing was written.\n"
        "It is disabled: it is switched off in the settings (prowess.toml:2).\n",
        "",
    )
    assert os.stat(terminal.project / "prowess.toml") == before


def test_the_nearest_settings_file_above_is_written(terminal, monkeypatch):
    terminal.git()
    terminal.skill("project/.claude/skills/pdf")
    terminal.write("project/prowess.toml", "")
    terminal.write("project/deep/prowess.toml", "# nearer\n")
    (terminal.project / "deep/down").mkdir()
    monkeypatch.chdir(terminal.project / "deep/down")
    assert terminal.json("disable", "pdf")["file"] == terminal.path("project/deep/prowess.toml")


def test_without_a_settings_file_the_repository_root_gets_one(terminal, monkeypatch):
    terminal.git()
    terminal.skill("project/.claude/skills/pdf")
    (terminal.project / "deep").mkdir()
    monkeypatch.chdir(terminal.project / "deep")
    assert terminal.json("disable", "pdf")["file"] == terminal.path("project/prowess.toml")


def test_for_all_projects_of_the_user(terminal):
    terminal.skill("project/.claude/skills/pdf")
    done = terminal.json("disable", "pdf", "--user")
    assert (done["file"], done["created"]) == (
        terminal.path("home/.config/prowess/prowess.toml"),
        True,
    )
    assert terminal.tree() == [".claude/skills/pdf/SKILL.md"]
    assert terminal.ends(terminal.scan()) == {"project/.claude/skills/pdf/SKILL.md": "disabled"}


def test_what_another_file_switches_off_is_not_reported_as_switched_on(terminal):
    terminal.skill("project/.claude/skills/pdf")
    terminal.run("disable", "pdf")
    assert terminal.run("enable", "pdf", "--user") == (
        2,
        "",
        "prowess: “pdf” stays disabled: it is switched off in the settings (prowess.toml:2). "
        "`prowess enable pdf` changes that file. Nothing was written.\n",
    )
    assert not (terminal.home / ".config").exists()
    terminal.run("enable", "pdf")
    terminal.run("disable", "pdf", "--user")
    code, out, err = terminal.run("enable", "pdf")
    assert (code, out) == (2, "")
    assert (
        "(~/.config/prowess/prowess.toml:2). `prowess enable pdf --user` changes that file. Nothing"
        in err
    )
    assert terminal.run("enable", "pdf", "--user").code == 0


def test_an_author_who_disabled_a_skill_is_not_overruled_and_that_is_told(terminal):
    terminal.skill("project/.claude/skills/pdf", enabled="false")
    assert terminal.run("enable", "pdf") == (
        2,
        "",
        "prowess: “pdf” stays disabled: its header says `enabled: false`. "
        "Remove that line from .claude/skills/pdf/SKILL.md. Nothing was written.\n",
    )
    assert terminal.tree() == [".claude/skills/pdf/SKILL.md"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            'disabled = ["a", "pdf"] # two\n',
            'disabled = ["a"] # two\n',
            "Removed “pdf” from `disabled` in prowess.toml (line 1).",
        ),
        (
            'disabled = ["skill:pdf"]\n',
            "disabled = []\n",
            "Removed “pdf” from `disabled` in prowess.toml (line 1).",
        ),
        (
            'ignore = [\n  "x-*",\n  "pdf", # slow\n]\n',
            'ignore = [\n  "x-*",\n]\n',
            "Removed “pdf” from `ignore` in prowess.toml (line 3).",
        ),
        (
            '[skills.pdf]\nvisibility = "off" # for now\n',
            '[skills.pdf]\nvisibility = "on" # for now\n',
            "Set `visibility` of “pdf” to “on” in prowess.toml (line 2).",
        ),
    ],
)
def test_whatever_names_the_skill_is_taken_back(terminal, before, after, said):
    terminal.skill("project/.claude/skills/pdf")
    terminal.write("project/prowess.toml", before)
    assert terminal.run("enable", "pdf") == (0, f"{said}\nIt is now ready.\n", "")
    assert (terminal.project / "prowess.toml").read_text(encoding="utf-8") == after


def test_a_profile_of_ones_own_that_reads_our_settings_is_switched_too(terminal):
    terminal.skill("project/.claude/skills/pdf")
    terminal.write("project/mine.toml", 'name = "mine"\nextends = "prowess"\n')
    terminal.write("project/prowess.toml", 'disabled = ["pdf"]\n')
    assert terminal.run("enable", "pdf", "--host", "./mine.toml").code == 0
    assert (terminal.project / "prowess.toml").read_text(encoding="utf-8") == "disabled = []\n"


def test_several_obstacles_in_several_files_are_all_taken_away(terminal, monkeypatch):
    terminal.git()
    terminal.skill("project/.claude/skills/pdf")
    terminal.write("project/prowess.toml", 'disabled = ["pdf"]\n')
    terminal.write(
        "project/deep/prowess.toml",
        'ignore = ["pdf"]\n[skills.pdf]\nenabled = false\nvisibility = "off"\n',
    )
    monkeypatch.chdir(terminal.project / "deep")
    done = terminal.json("enable", "pdf")
    assert (done["file"], done["changed"], done["skill"]["state"]) == (
        terminal.path("project/deep/prowess.toml"),
        True,
        "ready",
    )
    assert [(one["setting"], one["line"]) for one in done["undone"]] == [
        ("disabled", 1),
        ("ignore", 1),
        ("enabled", None),
        ("visibility", 4),
    ]
    assert (terminal.project / "prowess.toml").read_text(encoding="utf-8") == "disabled = []\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'ignore = ["p*"]\n',
            "its name matches the ignored pattern `p*` (prowess.toml:1). Change the pattern there, or rename the skill.",
        ),
        (
            'include = ["x"]\n',
            "its name matches no pattern in the include list (prowess.toml:1). Add the skill to that list.",
        ),
        (
            "\nenabled = false\n",
            "all skills are switched off (prowess.toml:2). Set `enabled = true` there.",
        ),
    ],
)
def test_what_is_not_about_this_skill_alone_stays_and_is_named(terminal, text, said):
    terminal.skill("project/.claude/skills/pdf")
    terminal.write("project/prowess.toml", text + "# end\n")
    assert terminal.run("enable", "pdf") == (
        2,
        "",
        f"prowess: “pdf” stays disabled: {said} Nothing was written.\n",
    )
    assert (terminal.project / "prowess.toml").read_text(encoding="utf-8") == text + "# end\n"


def test_the_same_as_json(terminal):
    location = terminal.skill("project/.claude/skills/pdf")
    done = terminal.json("disable", "pdf")
    skill = done.pop("skill")
    assert done == {
        "version": 1,
        "name": "pdf",
        "enabled": False,
        "file": terminal.path("project/prowess.toml"),
        "created": True,
        "changed": True,
        "undone": [],
    }
    assert (skill["name"], skill["location"], skill["state"]) == ("pdf", str(location), "disabled")


@pytest.mark.parametrize(
    ("folder", "content", "state"),
    [
        (".claude/skills/pdf", "---\nname: pdf\n", "invalid"),
        (".claude/skills/pdf", "---\nname: pdf\ndescription: d\nos: [plan9]\n---\n", "ineligible"),
    ],
)
def test_a_skill_that_is_not_ready_is_known_all_the_same(terminal, folder, content, state):
    terminal.write(f"project/{folder}/SKILL.md", content)
    assert terminal.ends(terminal.scan()) == {f"project/{folder}/SKILL.md": state}
    assert terminal.run("disable", "pdf").code == 0


def test_an_unknown_name_is_refused_with_the_nearest_and_nothing_is_written(terminal):
    terminal.skill("project/.claude/skills/pdf-tools")
    assert terminal.run("disable", "pdf-tool") == (
        3,
        "",
        "prowess: There is no skill named “pdf-tool” here.\nDid you mean “pdf-tools”?\n",
    )
    assert not (terminal.project / "prowess.toml").exists()


def test_a_settings_file_that_is_not_toml_is_named_with_its_line_and_stays(terminal):
    terminal.skill("project/.claude/skills/pdf")
    terminal.write("project/prowess.toml", "enabled = true\n[skills\n")
    answer = terminal.run("disable", "pdf")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"prowess: {terminal.path('project/prowess.toml')}:2: ")
    assert (terminal.project / "prowess.toml").read_text(
        encoding="utf-8"
    ) == "enabled = true\n[skills\n"


def test_a_linked_settings_file_stays_a_link_and_keeps_its_permissions(terminal):
    terminal.skill("project/.claude/skills/pdf")
    target = terminal.write("dotfiles/prowess.toml", "# shared\n")
    target.chmod(0o640)
    terminal.link("project/prowess.toml", str(target))
    assert terminal.run("disable", "pdf").code == 0
    assert (terminal.project / "prowess.toml").is_symlink()
    assert target.read_text(encoding="utf-8") == "# shared\n\n[skills.pdf]\nenabled = false\n"
    assert target.stat().st_mode & 0o777 == 0o640


def test_ctrl_c_while_writing_leaves_the_old_file(terminal, monkeypatch):
    terminal.skill("project/.claude/skills/pdf")
    terminal.write("project/prowess.toml", "# old\n")

    def interrupted(source: str, target: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setenv("PROWESS_NO_CACHE", "1")
    monkeypatch.setattr(os, "replace", interrupted)
    assert terminal.run("disable", "pdf").code == 130
    assert terminal.tree() == [".claude/skills/pdf/SKILL.md", "prowess.toml"]
    assert (terminal.project / "prowess.toml").read_text(encoding="utf-8") == "# old\n"
