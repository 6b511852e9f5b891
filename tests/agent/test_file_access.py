"""What the file tools keep closed: denied files, credentials, settings, and what git runs."""

from __future__ import annotations

import pytest

from prowess.agent.events import ToolStarted
from tests.agent.studio import Asked, call, pick, say

WRITE = {"allow": ["Write", "Edit"]}
ALL = {"allow": ["Read", "Write", "Edit", "Glob", "Grep"]}


@pytest.mark.parametrize("kind", ["deny", "ask"])
def test_a_file_that_may_not_be_read_is_not_found_by_a_search(studio, kind):
    studio.write("secrets/key", "TOKEN=1\n")
    studio.write("open.txt", "TOKEN=2\n")
    rules = {kind: ["Read(secrets/*)"]}
    assert studio.use("Grep", rules=rules, pattern="TOKEN").output == "open.txt:1:TOKEN=2"
    found = studio.use("Grep", rules=rules, pattern="TOKEN", path="secrets")
    assert "TOKEN" not in found.output
    assert "TOKEN" not in studio.use("Grep", rules=rules, pattern="T", path="secrets/key").output
    assert studio.use("Glob", rules=rules, pattern="**").output == "open.txt"


def test_a_search_that_a_person_permits_covers_the_files_of_the_same_rule(studio):
    studio.write("a.txt", "TOKEN\n")
    asked = Asked()
    done = studio.use("Grep", rules={"ask": ["Read"]}, options={"approver": asked}, pattern="TOKEN")
    assert (done.output, len(asked.requests)) == ("a.txt:1:TOKEN", 1)


def test_a_rule_for_everything_in_a_folder_lets_it_be_searched(studio):
    outside = studio.workspace.write("outside/a.txt", "TOKEN\n").parent
    studio.workspace.write("outside/b.txt", "TOKEN\n")
    rules = {"allow": [f"Read({outside}/*)"], "deny": ["Read(*b.txt)"]}
    done = studio.use("Grep", rules=rules, pattern="TOKEN", path=str(outside))
    assert done.output == f"{outside}/a.txt:1:TOKEN"


@pytest.fixture
def in_home(studio, monkeypatch):
    """The home folder is the working folder."""
    monkeypatch.chdir(studio.workspace.home)
    studio.project = studio.workspace.home
    studio.workspace.write("home/.ssh/id_rsa", "PRIVATE\n")
    studio.workspace.write("home/.config/prowess/prowess.toml", '[sandbox]\nhide = ["~/vault"]\n')
    studio.workspace.write("home/.local/state/prowess/trust.json", "{}\n")
    studio.workspace.write("home/vault/a.txt", "PRIVATE\n")
    studio.workspace.write("home/notes.txt", "not PRIVATE\n")
    return studio


CLOSED = [
    ".ssh/id_rsa",
    ".config/prowess/prowess.toml",
    ".local/state/prowess/trust.json",
    "vault/a.txt",
]


@pytest.mark.parametrize("path", CLOSED)
def test_credentials_and_settings_need_a_rule_that_names_them(in_home, path):
    file = in_home.workspace.home / path
    before = file.read_text()
    assert in_home.use("Read", rules=ALL, file_path=path).outcome == "refused"
    assert in_home.use("Write", rules=ALL, file_path=path, content="x").outcome == "refused"
    edit = {"file_path": path, "old_string": before, "new_string": "x"}
    assert in_home.use("Edit", rules=ALL, **edit).outcome == "refused"
    assert file.read_text() == before
    named = in_home.use("Read", rules={"allow": [f"Read(~/{path})"]}, file_path=path)
    assert named.outcome == "done"


def test_a_search_leaves_out_credentials(in_home):
    found = in_home.use("Grep", rules=ALL, pattern="PRIVATE").output
    assert found == "notes.txt:1:not PRIVATE"
    listed = in_home.use("Glob", rules=ALL, pattern="**").output.splitlines()
    assert not set(CLOSED) & set(listed)


def test_a_refusal_says_why_and_which_rule_would_allow_it(in_home):
    home = in_home.workspace.home
    assert in_home.use("Read", file_path=".ssh/id_rsa").output == (
        "Not permitted: it is hidden from the agent, like credentials;"
        f" the rule `Read({home}/.ssh/id_rsa)` would allow it."
    )


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", ".git/config", "sub/.git/config"])
def test_what_git_runs_is_written_only_by_a_rule_that_names_it(studio, path):
    refused = studio.use("Write", rules=WRITE, file_path=path, content="x")
    assert refused.outcome == "refused"
    asked = Asked()
    studio.use("Write", rules=WRITE, options={"approver": asked}, file_path=path, content="x")
    assert len(asked.requests) == 1
    rules = {"allow": ["Write", "Write(*.git/*)"]}
    assert studio.use("Write", rules=rules, file_path=path, content="y").outcome == "done"


def test_a_command_that_changes_a_hook_is_noted(studio):
    (studio.project / ".git/hooks").mkdir(parents=True, exist_ok=True)
    done = studio.use("Bash", rules={"allow": ["Bash"]}, command="echo x > .git/hooks/pre-push")
    assert "The command changed .git/hooks/pre-push." in done.output


def test_edit_and_write_outside_work_where_a_rule_names_the_path(studio):
    file = studio.workspace.write("outside/a.txt", "old\n")
    _, events = studio.run(
        call("Edit", file_path=str(file), old_string="old", new_string="new"),
        call("Write", file_path=str(file), content="newer\n"),
        say("Done."),
        rules={"allow": [f"Edit({file.parent}/*)"]},
    )
    assert file.read_text() == "newer\n"
    diffs = [one.diff.splitlines()[2:] for one in pick(events, ToolStarted)]
    assert diffs == [["@@ -1 +1 @@", "-old", "+new"], ["@@ -1 +1 @@", "-new", "+newer"]]


def test_a_denied_edit_does_not_tell_what_the_file_has(studio):
    studio.write("key", "SECRET\n")
    said = {
        studio.use(
            "Edit", rules={"deny": ["Edit(key)"]}, file_path="key", old_string=old, new_string="x"
        ).output
        for old in ("SECRET", "OTHER")
    }
    assert len(said) == 1


def test_the_person_who_is_asked_sees_the_whole_change(studio):
    asked = Asked()
    content = "".join(f"{number}\n" for number in range(1_000))
    studio.run(call("Write", file_path="a", content=content), say("Done."), approver=asked)
    assert asked.requests[0].metadata["diff"].endswith("+999")
