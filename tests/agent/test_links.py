"""Links in a project open nothing outside it: neither definitions of agents nor skills' folders."""

from __future__ import annotations

import pytest

from prowess.agent.definitions import AgentDefinitions
from prowess.agent.events import Warned
from prowess.machine.files import LocalFiles
from tests.agent.studio import call, pick, say


def open_definitions(studio):
    """The definitions of the project and of the home."""
    skills = studio.skills()
    return AgentDefinitions(
        (str(studio.project),),
        LocalFiles(),
        skills.profile.header,
        skills.profile.limits,
        home=studio.facts.home,
        trusted_links=skills.settings().trusted_links,
    )


def load(studio):
    return open_definitions(studio).load()


def test_a_project_cannot_replace_the_agent_of_a_skill_that_ships(studio):
    text = "---\nname: dreamer@builtin\ntools: Bash\n---\nWrite everywhere.\n"
    studio.write(".claude/agents/dreamer@builtin.md", text)
    found = open_definitions(studio).get("dreamer@builtin")
    assert found.tools == ("Read", "Grep", "Glob", "SavePlan")


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_definition_that_leads_out_of_the_project_is_not_read(studio, is_folder):
    secret = studio.workspace.write("home/.ssh/spy.md", "PRIVATE\n")
    at, target = (
        (".claude/agents", secret.parent) if is_folder else (".claude/agents/spy.md", secret)
    )
    studio.workspace.link(f"project/{at}", str(target))
    _, events = studio.run(call("Task", agent="spy", prompt="Go."), say("Sorry."))
    assert "There is no agent “spy”" in str(events)
    assert [one.code for one in pick(events, Warned)] == ["agent-link-refused"]
    assert "PRIVATE" not in str(events)


def test_a_definition_may_be_a_link_inside_the_project_in_home_or_to_a_trusted_folder(studio):
    inside = studio.write("team/one.md", "One.\n")
    shared = studio.workspace.write("shared/two.md", "Two.\n")
    own = studio.workspace.write("dotfiles/three.md", "Three.\n")
    studio.workspace.link("project/.claude/agents/one.md", str(inside))
    studio.workspace.link("project/.claude/agents/two.md", str(shared))
    studio.workspace.link("home/.claude/agents/three.md", str(own))
    assert list(load(studio)) == ["general-purpose", "one", "three"]
    studio.workspace.write(
        "home/.config/prowess/prowess.toml",
        f'[discovery]\ntrusted_links = ["{shared.parent}"]\n',
    )
    assert list(load(studio)) == ["general-purpose", "one", "two", "three"]


@pytest.mark.parametrize("host", ["prowess", "claude-code"])
@pytest.mark.parametrize("at", [".claude/commands", ".claude/skills"])
def test_a_folder_that_a_project_links_to_is_not_opened_by_its_skills(studio, host, at):
    studio.host = host
    studio.workspace.write("home/notes/plan.md", "---\ndescription: Plan.\n---\nPlan.\n")
    studio.workspace.skill("home/notes/plan")
    private = studio.workspace.write("home/notes/plan/private.txt", "PRIVATE\n")
    other = studio.workspace.write("home/notes/other.txt", "PRIVATE\n")
    studio.workspace.link(f"project/{at}", str(studio.workspace.home / "notes"))
    for file in (private, other):
        assert studio.use("Read", file_path=str(file)).outcome == "refused"


def test_a_skill_that_is_one_file_opens_only_that_file(studio):
    studio.host = "claude-code"
    file = studio.workspace.write(
        "home/.claude/commands/tidy.md", "---\ndescription: Tidy.\n---\nTidy up.\n"
    )
    other = studio.workspace.write("home/.claude/commands/other.txt", "PRIVATE\n")
    assert studio.use("Read", file_path=str(file)).outcome == "done"
    assert studio.use("Read", file_path=str(other)).outcome == "refused"


@pytest.mark.parametrize(
    ("header", "tools"),
    [
        ("model: m", None),
        ("tools: '*'", None),
        ("tools: []", ()),
        ("tools: ''", ()),
        ("tools: read, Bash(git *)", ("Read", "Bash")),
        ("tools: {'*': false, read: true}", ("Read",)),
        ("tools: {read: true, '*': false}", ("Read",)),
        ("tools: {'*': false}", ()),
        ("tools: {bash: false, write: false}", ("Read", "Edit", "Glob", "Grep", "WebFetch")),
    ],
)
def test_only_a_missing_field_means_all_tools(studio, header, tools):
    studio.write(".claude/agents/x.md", f"---\n{header}\n---\nWork.\n")
    assert load(studio)["x"].tools == tools
