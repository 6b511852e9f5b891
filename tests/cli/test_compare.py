"""`prowess compare`: skills × hosts, who sees what and which file wins."""

from __future__ import annotations

import json

from tests.cli.terminal import Terminal


def write_skills(terminal: Terminal) -> None:
    """One skill that all hosts agree on not at all, one that two do."""
    terminal.skill("project/.agents/skills/pdf")
    terminal.skill("home/.claude/skills/pdf")
    terminal.skill("project/.claude/skills/deploy", disable_model_invocation="true")


COMPARISON = """\
deploy  .claude/skills/deploy/SKILL.md
  ○ hidden    prowess, claude-code, omp, copilot, crush
              its header says `disable-model-invocation: true`
  ● ready     opencode
  · not read  openclaw, codex, gemini, pi, qwen

pdf
  ● ready     prowess, opencode, openclaw, omp, codex, copilot, pi, qwen, crush
              .agents/skills/pdf/SKILL.md
  ● ready     claude-code
              ~/.claude/skills/pdf/SKILL.md
  · not read  gemini (the host does not trust the working folder)

2 of 2 skills are treated differently by hosts that read them.
"""


def test_every_host_but_the_standard_is_compared_unless_some_are_named(terminal):
    write_skills(terminal)
    assert terminal.run("compare") == (0, COMPARISON, "")


def test_skills_on_which_all_agree_that_read_them_come_by_folder(terminal):
    terminal.skill("project/.agents/skills/a")
    terminal.skill("project/.agents/skills/b")
    hosts = [word for host in ("codex", "claude-code", "gemini") for word in ("--host", host)]
    assert terminal.run("compare", *hosts) == (
        0,
        ".agents/skills\n"
        "  ● ready      a, b\n"
        "  read by      codex\n"
        "  not read by  claude-code\n"
        "  nor by       gemini (the host does not trust the working folder)\n"
        "\n"
        "Hosts that read a skill agree on it; 2 of 2 are simply not read by some.\n",
        "",
    )


def test_a_file_that_one_host_drops_comes_first_even_if_no_other_reads_it(terminal):
    terminal.write("project/.agents/skills/a/SKILL.md", "---\ndescription: [\n---\n")
    terminal.skill("project/.agents/skills/b")
    answer = terminal.run("compare", "--host", "copilot", "--host", "claude-code")
    assert answer.out.startswith(
        "a  .agents/skills/a/SKILL.md\n"
        "  ! invalid   copilot\n"
        "              The header cannot be parsed"
    )
    assert "1 of 2 skills is treated differently by hosts that read it; 1 is simply" in answer.out


def test_hosts_can_be_named_with_their_edition_and_equal_answers_left_out(terminal):
    write_skills(terminal)
    hosts = ["--host", "prowess", "--host", "claude-code@documented", "--host", "prowess"]
    different = (
        "pdf\n"
        "  ● ready  prowess\n"
        "           .agents/skills/pdf/SKILL.md\n"
        "  ● ready  claude-code@documented\n"
        "           ~/.claude/skills/pdf/SKILL.md\n"
        "\n"
    )
    summary = "1 of 2 skills is treated differently by hosts that read it.\n"
    assert terminal.run("compare", "--only-different", *hosts) == (0, different + summary, "")
    same = "Hidden in every host: deploy.\n\n"
    assert terminal.run("compare", *hosts) == (0, different + same + summary, "")


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
                "agreement": "not-read",
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
                "agreement": "same",
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
    assert answer.out.startswith("Ready in every host: pdf.\n")
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


def test_a_skill_whose_folder_has_another_name_is_one_row(terminal):
    location = str(terminal.skill("project/.claude/skills/folder", name="header"))
    answer = terminal.run(
        "compare", "--host", "claude-code", "--host", "opencode", "--host", "prowess"
    )
    assert answer.out.startswith(
        "header / folder  .claude/skills/folder/SKILL.md\n"
        "  ● ready  claude-code\n"
        "           as “folder”\n"
        "  ● ready  opencode, prowess\n"
        "           as “header”\n"
    )
    shaped = terminal.json("compare", "--host", "claude-code", "--host", "opencode")["skills"]
    assert shaped == [
        {
            "name": "folder",
            "agreement": "different",
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

    lines, render = [], progress.Progress._render_line

    def note(shown, seconds):
        lines.append(seconds)
        return render(shown, seconds)

    def slowly(snapshot):
        # One that is made from now on has been written when the next one is made.
        before, end = len(lines), time.monotonic() + 120
        while len(lines) < before + 3 and time.monotonic() < end:
            time.sleep(0.01)
        return index_outcomes(snapshot)

    monkeypatch.setattr(progress.Progress, "_render_line", note)

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
    assert "  ● ready     opencode, house\n" in out
    assert (
        "No answer from worn: ~/.config/prowess/profiles/worn.toml" in out
        or "No answer from worn: " in out
    )
    shaped = json.loads(terminal.run("compare", "--json").out)
    assert [one["name"] for one in shaped["hosts"] if "problem" in one] == ["worn"]
    assert shaped["skills"][0]["hosts"]["house"] == shaped["skills"][0]["hosts"]["opencode"]


def test_a_page_sorts_and_filters_and_escapes_what_skills_say(terminal):
    terminal.skill("project/.claude/skills/x", name='"<img src=x onerror=alert(1)>"')
    terminal.skill("project/.agents/skills/y", description='"</script><script>alert(1)</script>"')
    code, out, err = terminal.run("compare", "--html", "page.html")
    assert (code, err) == (0, "")
    assert out.startswith("Wrote page.html. ")
    page = (terminal.project / "page.html").read_text()
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert page.count("<script") == 1
    policy = page.partition('Content-Security-Policy" content="')[2].partition('"')[0]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
    assert page.count('<th scope="col"><button') == 12
    shape = terminal.json("compare", "--html", "page.html")
    assert shape["html"] == "page.html"
