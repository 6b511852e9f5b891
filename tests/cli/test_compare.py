"""`prowess compare`: skills × hosts, who sees what and which file wins."""

from __future__ import annotations

import json

from prowess.cli.commands.compare import _name_letter
from tests.cli.terminal import Terminal


def write_skills(terminal: Terminal) -> None:
    """One skill that all hosts agree on not at all, one that two do."""
    terminal.skill("project/.agents/skills/pdf")
    terminal.skill("home/.claude/skills/pdf")
    terminal.skill("project/.claude/skills/deploy", disable_model_invocation="true")


TABLE = """\
        prowess  claude-code  opencode  openclaw  omp  codex  gemini  copilot  pi   qwen  crush
deploy  ○ a      ○ a          ● a       ·         ○ a  ·      ·       ○ a      ·    ·     ○ a
pdf     ● b      ● c          ● b       ● b       ● b  ● b    – b     ● b      ● b  ● b   ● b

  a  .claude/skills
  b  .agents/skills
  c  ~/.claude/skills

● ready  ○ hidden  – disabled  · not seen
2 of 2 skills differ between these hosts.
"""


def test_every_host_but_the_standard_is_compared_unless_some_are_named(terminal):
    write_skills(terminal)
    assert terminal.run("compare") == (0, TABLE, "")


def test_hosts_can_be_named_with_their_edition_and_equal_answers_left_out(terminal):
    write_skills(terminal)
    hosts = ["--host", "prowess", "--host", "claude-code@documented", "--host", "prowess"]
    assert terminal.run("compare", "--only-different", *hosts) == (
        0,
        "     prowess  claude-code@documented\n"
        "pdf  ● a      ● b\n"
        "\n"
        "  a  .agents/skills\n"
        "  b  ~/.claude/skills\n"
        "\n"
        "● ready  · not seen\n"
        "1 of 2 skills differs between these hosts.\n",
        "",
    )


def test_json_has_state_file_and_reason_for_every_host_that_sees_a_skill(terminal):
    write_skills(terminal)
    deploy = terminal.path("project/.claude/skills/deploy/SKILL.md")
    pdf = terminal.path("project/.agents/skills/pdf/SKILL.md")
    assert terminal.json("compare", "--host", "prowess", "--host", "codex") == {
        "version": 1,
        "hosts": [{"name": "prowess"}, {"name": "codex"}],
        "skills": [
            {
                "name": "deploy",
                "hosts": {
                    "prowess": {
                        "state": "hidden",
                        "location": deploy,
                        "reason": "its header says `disable-model-invocation: true`",
                    }
                },
            },
            {
                "name": "pdf",
                "hosts": {
                    "prowess": {"state": "ready", "location": pdf},
                    "codex": {"state": "ready", "location": pdf},
                },
            },
        ],
    }


def test_a_host_whose_settings_are_wrong_is_named_and_the_others_still_answer(terminal):
    write_skills(terminal)
    terminal.write("project/prowess.toml", "enabled = 3\n")
    answer = terminal.run("compare", "--host", "prowess", "--host", "codex")
    assert answer.code == 2
    assert answer.out.startswith("     prowess  codex\npdf  ?        ● a\n")
    assert "\n● ready  · not seen\n? no answer, for the reason below\n" in answer.out
    assert "\nNo answer from prowess: " in answer.out
    assert "prowess.toml:1: `enabled` " in answer.out
    options = ("--host", "prowess", "--host", "codex", "--json")
    shaped = json.loads(terminal.run("compare", *options).out)
    assert [sorted(host) for host in shaped["hosts"]] == [["name", "problem"], ["name"]]


def test_a_host_that_does_not_exist_is_an_error(terminal):
    answer = terminal.run("compare", "--host", "nobody")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("prowess: There is no host “nobody”")


def test_nothing_found_anywhere_is_said(terminal):
    assert terminal.run("compare") == (0, "None of these hosts finds a skill here.\n", "")


def test_letters_go_on_after_z():
    assert [_name_letter(number) for number in (0, 25, 26, 27, 51, 52, 701, 702)] == [
        "a", "z", "aa", "ab", "az", "ba", "zz", "aaa",
    ]  # fmt: skip


def test_a_skill_whose_folder_has_another_name_is_one_row(terminal):
    location = str(terminal.skill("project/.claude/skills/folder", name="header"))
    answer = terminal.run(
        "compare", "--host", "claude-code", "--host", "opencode", "--host", "prowess"
    )
    assert answer.out.splitlines()[:2] == [
        "                 claude-code  opencode  prowess",
        "header / folder  ● a          ● a       ● a",
    ]
    assert (
        "Where a row has two names, some hosts use the header's name, others the folder's."
        in answer.out
    )
    shaped = terminal.json("compare", "--host", "claude-code", "--host", "opencode")["skills"]
    assert shaped == [
        {
            "name": "folder",
            "hosts": {
                "claude-code": {"name": "folder", "state": "ready", "location": location},
                "opencode": {"name": "header", "state": "ready", "location": location},
            },
        }
    ]


def test_names_that_one_host_knows_both_of_stay_two_rows(terminal):
    terminal.skill("project/.claude/skills/a", name="b")
    terminal.skill("project/.claude/skills/b", name="a")
    shaped = terminal.json("compare", "--host", "claude-code", "--host", "opencode")["skills"]
    assert [
        (row["name"], {host: one["location"].split("/")[-2] for host, one in row["hosts"].items()})
        for row in shaped
    ] == [
        ("a", {"claude-code": "a", "opencode": "b"}),
        ("b", {"claude-code": "b", "opencode": "a"}),
    ]


def test_slow_comparing_says_how_far_it_has_come(terminal, monkeypatch):
    import sys
    import time

    from prowess.cli.terminal import progress
    from prowess.reports import comparison
    from prowess.reports.outcomes_by_name import index_outcomes

    def slowly(snapshot):
        time.sleep(0.1)
        return index_outcomes(snapshot)

    write_skills(terminal)
    monkeypatch.setattr(comparison, "index_outcomes", slowly)
    monkeypatch.setattr(progress, "_QUIET_SECONDS", 0.0)
    monkeypatch.setattr(progress, "_EVERY_SECONDS", 0.01)
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda self: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    answer = terminal.run("compare", "--host", "codex", "--host", "claude-code")
    assert "\x1b[Kasking codex: " in answer.err
    assert "\x1b[Kasking claude-code: " in answer.err
    assert answer.err.endswith("\r\x1b[K")


def test_hosts_of_ones_own_are_compared_too_and_a_broken_one_says_why_it_cannot_be_asked(terminal):
    write_skills(terminal)
    folder = "home/.config/prowess/profiles"
    terminal.write(f"{folder}/house.toml", 'name = "house"\nextends = "opencode"\n')
    terminal.write(f"{folder}/worn.toml", 'name = "worn"\nextends = "opencode"\nnonsense = 1\n')
    code, out, err = terminal.run("compare")
    assert (code, err) == (2, "")
    heading = out.splitlines()[0].split()
    assert heading == [
        "prowess",
        "claude-code",
        "opencode",
        "openclaw",
        "omp",
        "codex",
        "gemini",
        "copilot",
        "pi",
        "qwen",
        "crush",
        "house",
        "worn",
    ]
    assert all(line.split()[-1] == "?" for line in out.splitlines()[1:3])
    assert (
        "No answer from worn: ~/.config/prowess/profiles/worn.toml" in out
        or "No answer from worn: " in out
    )
    shaped = json.loads(terminal.run("compare", "--json").out)
    assert [one["name"] for one in shaped["hosts"] if "problem" in one] == ["worn"]
    assert shaped["skills"][0]["hosts"]["house"] == shaped["skills"][0]["hosts"]["opencode"]
