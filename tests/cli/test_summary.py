"""Bare `prowess`: what is here, what is wrong, what it costs, and what to try next."""

from __future__ import annotations

from tests.cli.terminal import Terminal


def write_skills(terminal: Terminal) -> None:
    """Two ready skills, one shadowed, one broken."""
    terminal.skill("project/.agents/skills/pdf", description="x" * 97)
    terminal.skill("home/.claude/skills/pdf")
    terminal.skill("home/.claude/skills/notes", description="y" * 95)
    (terminal.project / ".claude/skills/torn/SKILL.md").mkdir(parents=True)


def test_the_summary_tells_what_is_here_what_it_costs_and_what_is_wrong(terminal):
    write_skills(terminal)
    assert terminal.run() == (
        0,
        f"2 skills ready in {terminal.project}, by the rules of prowess.\n"
        "\n"
        "  project  1 ready, 1 invalid\n"
        "           in .agents/skills, .claude/skills\n"
        "  user     1 ready, 1 shadowed\n"
        "           in ~/.claude/skills\n"
        "\n"
        "They cost about 77 tokens in every request (an estimate); `prowess cost` shows what each costs.\n"
        "\n"
        "1 error and 1 warning:\n"
        "  error    .claude/skills/torn/SKILL.md\n"
        "           SKILL.md is a folder; it must be a regular file.\n"
        "  warning  ~/.claude/skills/pdf/SKILL.md\n"
        "           The name “pdf” is taken by .agents/skills/pdf/SKILL.md.\n"
        "\n"
        "Try next:\n"
        "  prowess list         every skill, with its state\n"
        "  prowess explain pdf  why a skill loads or does not\n"
        "  prowess catalog      what the model sees of them\n"
        "  prowess compare      which agent sees which skill\n"
        "  prowess check        all errors and warnings\n",
        "",
    )


def test_a_command_to_copy_quotes_the_name_in_it(terminal):
    terminal.write(
        "project/.agents/skills/x/SKILL.md",
        "---\nname: $(touch pwned)\ndescription: d\n---\nText\n",
    )
    assert "  prowess explain '$(touch pwned)'  why" in terminal.run().out


def test_where_nothing_is_found_it_says_where_it_looked_and_how_to_begin(terminal):
    answer = terminal.run()
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[:3] == [
        f"prowess finds no skills in {terminal.project}.",
        "",
        "It searched:",
    ]
    assert {"  .agents/skills", "  .claude/skills", "  ~/.claude/skills"} <= set(lines)
    assert lines[-3:] == [
        "Try next:",
        "  prowess new NAME  make your first skill",
        "  prowess tour      see every stage on a sample workspace",
    ]


def test_the_folders_above_are_mentioned_once(terminal, monkeypatch):
    (terminal.project / "deep").mkdir()
    monkeypatch.chdir(terminal.project / "deep")
    assert "  and the same folders in the folders above this one\n" in terminal.run().out


def test_json_has_counts_roots_findings_and_cost(terminal):
    write_skills(terminal)
    user, agents, claude = (
        terminal.path(path)
        for path in ("home/.claude/skills", "project/.agents/skills", "project/.claude/skills")
    )
    assert terminal.json() == {
        "version": 1,
        "host": "prowess",
        "edition": "current",
        "cwd": str(terminal.project),
        "counts": {"invalid": 1, "shadowed": 1, "ready": 2},
        "scopes": {"project": {"invalid": 1, "ready": 1}, "user": {"shadowed": 1, "ready": 1}},
        "roots": [
            {
                "path": agents,
                "scope": "project",
                "label": "agents:project",
                "candidates": 1,
                "disabled_by": None,
            },
            {
                "path": claude,
                "scope": "project",
                "label": "claude:project",
                "candidates": 1,
                "disabled_by": None,
            },
            {
                "path": user,
                "scope": "user",
                "label": "claude:user",
                "candidates": 2,
                "disabled_by": None,
            },
        ],
        "diagnostics": {"error": 1, "warning": 1, "info": 0},
        "cost": {"skills": 2, "characters": 455, "estimated_tokens": 77},
    }


def test_another_host_can_be_asked_and_the_advice_names_it(terminal):
    terminal.skill("project/.claude/skills/a")
    lines = terminal.run("--host", "claude-code@documented").out.splitlines()
    assert (
        lines[0] == f"1 skill ready in {terminal.project}, by the rules of claude-code@documented."
    )
    assert "  prowess list --host claude-code@documented       every skill, with its state" in lines


def test_more_than_the_worst_few_findings_are_counted(terminal):
    for number in range(6):
        (terminal.project / f".agents/skills/s{number}/SKILL.md").mkdir(parents=True)
    lines = terminal.run().out.splitlines()
    start = lines.index("6 errors:")
    assert [line for line in lines[start : start + 8] if "SKILL.md is" not in line] == [
        "6 errors:",
        "  error  .agents/skills/s0/SKILL.md",
        "  error  .agents/skills/s1/SKILL.md",
        "  error  .agents/skills/s2/SKILL.md",
        "  and 3 more",
    ]


def test_a_budget_that_cannot_be_used_does_not_hide_the_rest(terminal, monkeypatch):
    terminal.skill("project/.claude/skills/a")
    monkeypatch.setenv("SLASH_COMMAND_TOOL_CHAR_BUDGET", "lots")
    problem = (
        "SLASH_COMMAND_TOOL_CHAR_BUDGET is “lots”; it must be a number of characters, 1 or more."
    )
    answer = terminal.run("--host", "claude-code")
    assert (answer.code, answer.err) == (0, "")
    assert f"Their cost is unknown: {problem}\n" in answer.out
    assert terminal.json("--host", "claude-code")["cost"] == {"skills": 1, "problem": problem}
