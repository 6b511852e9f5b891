"""`prowess export`: a project's skills in the folders of other hosts, and what those would lose."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from prowess.model.facts import Facts
from prowess.reports.hosts import list_agents
from tests.cli.terminal import Terminal

PLAIN = "---\nname: deploy\ndescription: Deploys the service. Use when asked to.\n---\n\nDo it.\n"
RICH = """\
---
name: deploy
description: Deploys the service. Use when asked to.
allowed-tools: Bash(make *)
model: opus
paths: ["*.tf"]
metadata: {openclaw: {requires: {bins: [sh]}, os: [linux, darwin]}}
---

Deploy $ARGUMENTS. The branch is !`git branch --show-current`.
"""


@pytest.fixture
def source(terminal: Terminal) -> Path:
    """A skill where Claude Code looks for it, and few others."""
    terminal.write("project/.claude/skills/deploy/scripts/run.sh", "#!/bin/sh\n").chmod(0o755)
    return terminal.write("project/.claude/skills/deploy/SKILL.md", PLAIN).parent


def export(terminal: Terminal, *arguments: str) -> list[dict[str, Any]]:
    answer = terminal.run("export", *arguments, "--json")
    assert answer.code == 0, answer.err
    skills: list[dict[str, Any]] = json.loads(answer.out)["skills"]
    return skills


def names(terminal: Terminal, host: str) -> list[str]:
    listed = terminal.json("list", "--host", host)["skills"]
    return [one["name"] for one in listed if one["state"] == "ready"]


def test_a_host_gets_a_link_in_a_folder_it_reads(terminal: Terminal, source: Path) -> None:
    answer = terminal.run("export", "--to", "codex")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == (
        "codex\n"
        "  deploy  created  .agents/skills/deploy, a link to .claude/skills/deploy\n"
        "1 folder written.\n"
    )
    target = terminal.project / ".agents" / "skills" / "deploy"
    assert os.readlink(target) == "../../.claude/skills/deploy"
    assert names(terminal, "codex") == ["deploy"]


def test_a_host_that_follows_no_links_gets_a_copy(terminal: Terminal, source: Path) -> None:
    config = {"agents": {"defaults": {"workspace": str(terminal.project)}}}
    terminal.write("home/.openclaw/openclaw.json", json.dumps(config))
    [done] = export(terminal, "--to", "openclaw")
    assert (done["action"], done["method"]) == ("create", "copy")
    target = Path(done["target"])
    assert not target.is_symlink()
    assert os.access(target / "scripts" / "run.sh", os.X_OK)
    assert "deploy" in names(terminal, "openclaw")


@pytest.mark.parametrize("host", sorted(list_agents(Facts(home="/nonexistent"))))
def test_every_host_reads_what_was_exported_to_it(
    terminal: Terminal, source: Path, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # This one reads nothing in a folder that it does not trust.
    monkeypatch.setenv("GEMINI_CLI_TRUST_WORKSPACE", "true")
    if host == "openclaw":
        config = {"agents": {"defaults": {"workspace": str(terminal.project)}}}
        terminal.write("home/.openclaw/openclaw.json", json.dumps(config))
    export(terminal, "--to", host)
    assert "deploy" in names(terminal, host)


def test_a_host_that_reads_the_skill_where_it_is_gets_nothing(
    terminal: Terminal, source: Path
) -> None:
    before = terminal.tree()
    [done] = export(terminal, "--to", "claude-code")
    assert (done["action"], "target" in done) == ("reads", False)
    assert terminal.tree() == before


def test_exporting_again_changes_nothing_and_an_edit_reaches_copies(
    terminal: Terminal, source: Path
) -> None:
    export(terminal, "--to", "codex", "--copy")
    copy = terminal.project / ".agents" / "skills" / "deploy" / "SKILL.md"
    assert [one["action"] for one in export(terminal, "--to", "codex", "--copy")] == ["unchanged"]
    (source / "SKILL.md").write_text(PLAIN + "More.\n")
    assert [one["action"] for one in export(terminal, "--to", "codex")] == ["update"]
    assert copy.read_text() == PLAIN + "More.\n"
    # A host that needs a copy keeps it, although another could follow a link.
    assert not copy.parent.is_symlink()


def test_what_was_not_exported_is_never_overwritten(terminal: Terminal, source: Path) -> None:
    mine = terminal.write("project/.agents/skills/deploy/SKILL.md", PLAIN + "Mine.\n")
    answer = terminal.run("export", "--to", "codex", "--host", "claude-code")
    assert (answer.code, mine.read_text()) == (1, PLAIN + "Mine.\n")
    assert "was not written by `prowess export`" in answer.out


def test_a_copy_that_was_edited_is_never_overwritten(terminal: Terminal, source: Path) -> None:
    export(terminal, "--to", "codex", "--copy")
    copy = terminal.project / ".agents" / "skills" / "deploy" / "SKILL.md"
    copy.write_text(PLAIN + "Edited.\n")
    (source / "SKILL.md").write_text(PLAIN + "More.\n")
    answer = terminal.run("export", "--to", "codex", "--copy")
    assert (answer.code, copy.read_text()) == (1, PLAIN + "Edited.\n")
    assert "it was changed since it was exported" in answer.out


def test_a_folder_that_leads_out_of_the_project_is_not_written(
    terminal: Terminal, source: Path
) -> None:
    (terminal.root / "elsewhere").mkdir()
    os.symlink(terminal.root / "elsewhere", terminal.project / ".agents")
    answer = terminal.run("export", "--to", "codex")
    assert (answer.code, "leads out of the project" in answer.out) == (1, True)
    assert list((terminal.root / "elsewhere").iterdir()) == []


def test_a_dry_run_writes_nothing(terminal: Terminal, source: Path) -> None:
    before = terminal.tree()
    answer = terminal.run("export", "--to", "codex", "--to", "gemini", "--dry-run")
    assert (answer.code, terminal.tree()) == (0, before)
    assert "would create" in answer.out
    assert answer.out.splitlines()[-1] == "1 folder would be written."


def test_what_each_host_would_lose_is_shown(terminal: Terminal) -> None:
    terminal.write("project/.claude/skills/deploy/SKILL.md", RICH)
    [codex] = export(terminal, "--to", "codex", "--dry-run")
    assert codex["losses"] == [
        "ignores `model`, `allowed-tools`",
        "does not check `os`, `requires.bins`",
        "offers it at once, whatever `paths` says",
        "does not insert arguments for `$ARGUMENTS`",
        "does not run the 1 command in its text",
    ]
    [claude] = export(terminal, "--to", "claude-code", "--dry-run")
    assert claude["losses"] == ["does not check `os`, `requires.bins`"]
    answer = terminal.run("export", "--to", "codex", "--dry-run")
    assert "      loses: ignores `model`, `allowed-tools`\n" in answer.out


def test_a_host_that_would_not_load_a_skill_says_why(terminal: Terminal) -> None:
    terminal.write(
        "project/.claude/skills/deploy/SKILL.md", PLAIN.replace("name: deploy", "name: a:b/c")
    )
    [done] = export(terminal, "--to", "copilot", "--dry-run")
    assert any("would not load the skill" in loss for loss in done["losses"])


def test_a_host_that_does_not_read_the_folder_says_why(terminal: Terminal, source: Path) -> None:
    [done] = export(terminal, "--to", "gemini", "--dry-run")
    assert done["losses"][0].startswith("does not read the folder: ")


def test_names_choose_and_an_unknown_one_is_an_error(terminal: Terminal, source: Path) -> None:
    terminal.write("project/.claude/skills/other/SKILL.md", PLAIN.replace("deploy", "other"))
    assert [one["name"] for one in export(terminal, "other", "--to", "codex")] == ["other"]
    assert terminal.run("export", "deplyo", "--to", "codex").code == 3


def test_skills_of_the_user_stay_where_they_are(terminal: Terminal) -> None:
    terminal.write("home/.claude/skills/deploy/SKILL.md", PLAIN)
    answer = terminal.run("export", "--to", "codex")
    assert answer == (0, "The project has no skills to export.\n", "")


def test_a_link_whose_skill_is_gone_is_replaced_by_the_next_one(
    terminal: Terminal, source: Path
) -> None:
    export(terminal, "--to", "codex")
    shutil.move(source, terminal.project / "skills" / "deploy")
    [done] = export(terminal, "--to", "codex")
    assert done["action"] == "update"
    assert names(terminal, "codex") == ["deploy"]


def test_an_agent_of_which_only_the_folder_is_known_gets_a_link(
    terminal: Terminal, source: Path
) -> None:
    [done] = export(terminal, "--to", "windsurf")
    assert (done["action"], done["method"]) == ("create", "link")
    assert done["losses"] == ["unknown; Prowess has no profile of this agent, only its folder"]
    link = terminal.project / ".windsurf" / "skills" / "deploy"
    assert os.readlink(link) == "../../.claude/skills/deploy"
    assert [one["action"] for one in export(terminal, "--to", "windsurf")] == ["reads"]


def test_an_unknown_host_is_an_error(terminal: Terminal, source: Path) -> None:
    assert terminal.run("export", "--to", "no-such-agent").code == 2
