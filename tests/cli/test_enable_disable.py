"""`prowess enable` and `prowess disable`: one switch written, everything else kept, the new state told."""

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
        "Switched “pdf” off in the new file prowess.toml.\nIt is now disabled: it is switched off in the settings.\n",
        "",
    )
    assert (terminal.project / "prowess.toml").read_text(encoding="utf-8") == "[skills.pdf]\nenabled = false\n"
    assert terminal.run("enable", "pdf") == (0, "Switched “pdf” on in prowess.toml.\nIt is now ready.\n", "")
    assert terminal.ends(terminal.scan()) == {"project/.claude/skills/pdf/SKILL.md": "ready"}


def test_what_else_stands_in_the_file_is_kept_to_the_byte(terminal):
    terminal.skill("project/.claude/skills/pdf")
    text = '# ours\r\nignore = [ "draft-*" ] # not yet\r\n\r\n[skills."pdf"]\r\nenabled = true # for now\r\n'
    terminal.write("project/prowess.toml", text)
    terminal.run("disable", "pdf")
    assert (terminal.project / "prowess.toml").read_bytes().decode() == text.replace("= true #", "= false #")


def test_doing_it_twice_writes_once(terminal):
    terminal.skill("project/.claude/skills/pdf")
    terminal.run("disable", "pdf")
    before = os.stat(terminal.project / "prowess.toml")
    assert terminal.run("disable", "pdf") == (
        0,
        "“pdf” is already switched off in prowess.toml; nothing was written.\n"
        "It is disabled: it is switched off in the settings.\n",
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
    assert (done["file"], done["created"]) == (terminal.path("home/.config/prowess/prowess.toml"), True)
    assert terminal.tree() == [".claude/skills/pdf/SKILL.md"]
    assert terminal.ends(terminal.scan()) == {"project/.claude/skills/pdf/SKILL.md": "disabled"}


def test_a_switch_that_a_stronger_file_overrules_is_told(terminal):
    terminal.skill("project/.claude/skills/pdf")
    terminal.run("disable", "pdf")
    assert terminal.run("enable", "pdf", "--user") == (
        0,
        "Switched “pdf” on in the new file ~/.config/prowess/prowess.toml.\n"
        "It is still disabled: it is switched off in the settings.\nprowess.toml:2 decides.\n",
        "",
    )


def test_an_author_who_disabled_a_skill_is_not_overruled_and_that_is_told(terminal):
    terminal.skill("project/.claude/skills/pdf", enabled="false")
    answer = terminal.run("enable", "pdf")
    assert answer.out.splitlines()[1] == "It is still disabled: its header says `enabled: false`."


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
    assert (terminal.project / "prowess.toml").read_text(encoding="utf-8") == "enabled = true\n[skills\n"


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


def test_a_host_that_does_not_read_our_settings_has_a_switch_of_its_own(terminal):
    terminal.skill("project/.claude/skills/pdf")
    code, out, err = terminal.run("disable", "pdf", "--host", "claude-code")
    assert (code, out) == (2, "")
    assert "prowess.toml is not read by Claude Code; its own switch is `skillOverrides` in " in err
    assert not (terminal.project / "prowess.toml").exists()
