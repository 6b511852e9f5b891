"""The tools on real files and real programs: what they answer, and where they refuse."""

from __future__ import annotations

import base64
import os
from typing import Any

import pytest
from pydantic_ai.messages import BinaryContent, ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from prowess.agent.events import SkillsWoken, ToolFinished, ToolStarted
from prowess.machine import processes
from prowess.model.permission import ApprovalChoice
from tests.agent.studio import Asked, call, pick, say
from tests.halted_clock import HaltedClock

WRITE = {"allow": ["Write", "Edit"]}


def test_read_numbers_lines_and_says_how_to_read_on(studio):
    studio.write("a.txt", "".join(f"line {number}\n" for number in range(1, 6)))
    assert studio.use("Read", file_path="a.txt", offset=2, limit=2).output == (
        "     2\tline 2\n     3\tline 3\n[2 more lines; read on with offset=4]"
    )


def test_one_answer_does_not_fill_the_window(studio):
    studio.write("long.txt", ("x" * 1_000 + "\n") * 500)
    output = studio.use("Read", file_path="long.txt").output
    assert len(output) < 101_000
    assert output.endswith("more characters; ask for less]")


def test_read_of_odd_files_is_an_answer_not_an_end(studio):
    studio.write("empty.txt")
    (studio.project / "bin").write_bytes(b"a\0b")
    (studio.project / "latin").write_bytes(b"\xe9t\xe9")
    os.mkfifo(studio.project / "pipe")
    said = {
        name: studio.use("Read", file_path=name).output
        for name in ("empty.txt", "bin", "latin", "pipe", ".", "none")
    }
    assert said == {
        "empty.txt": "The file is empty.",
        "bin": "Could not read bin: it is a binary file.",
        "latin": "Could not read latin: it is not UTF-8 text.",
        "pipe": "Could not read pipe: it is a pipe, not a regular file.",
        ".": "Could not read .: it is a folder, not a regular file.",
        "none": "Could not read none: No such file or directory.",
    }


def test_write_makes_folders_and_shows_the_change_first(studio):
    studio.write("a.txt", "old\n")
    _, events = studio.run(
        call("Write", file_path="new/b.txt", content="b\n"),
        call("Write", file_path="a.txt", content="new\n"),
        say("Done."),
        rules=WRITE,
    )
    assert (studio.read("new/b.txt"), studio.read("a.txt")) == ("b\n", "new\n")
    started = pick(events, ToolStarted)
    assert [one.title for one in started] == ["Write new/b.txt", "Overwrite a.txt"]
    assert started[1].diff == "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new"


def test_edit_replaces_exactly_and_keeps_line_endings_and_permissions(studio):
    path = studio.write("run.sh", "echo a\r\necho b\r\n")
    path.chmod(0o755)
    done = studio.use(
        "Edit", rules=WRITE, file_path="run.sh", old_string="echo a\necho b", new_string="echo c"
    )
    assert (done.outcome, path.read_bytes(), path.stat().st_mode & 0o777) == (
        "done",
        b"echo c\r\n",
        0o755,
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("x", "y", "`old_string` is not in the file; read it again and copy the exact text."),
        ("a", "b", "`old_string` occurs 2 times; add lines around it, or set `replace_all`."),
        ("a", "a", "`old_string` must not be empty, and `new_string` must differ from it."),
        ("", "a", "`old_string` must not be empty, and `new_string` must differ from it."),
    ],
)
def test_an_edit_that_is_not_clear_changes_nothing(studio, old, new, said):
    studio.write("a.txt", "a a\n")
    done = studio.use("Edit", rules=WRITE, file_path="a.txt", old_string=old, new_string=new)
    assert (done.outcome, done.output, studio.read("a.txt")) == ("failed", said, "a a\n")


def test_edit_of_all_occurrences(studio):
    studio.write("a.txt", "a a\n")
    input = {"file_path": "a.txt", "old_string": "a", "new_string": "b", "replace_all": True}
    assert studio.use("Edit", rules=WRITE, **input).outcome == "done"
    assert studio.read("a.txt") == "b b\n"


def test_a_file_that_changes_while_somebody_is_asked_is_not_written(studio):
    studio.write("a.txt", "a\n")

    class Slow(Asked):
        def ask(self, request):
            studio.write("a.txt", "changed\n")
            return super().ask(request)

    done = studio.use(
        "Edit",
        options={"approver": Slow()},
        file_path="a.txt",
        old_string="a",
        new_string="b",
    )
    assert (done.outcome, done.output) == (
        "failed",
        "a.txt has changed in the meantime; read it again.",
    )
    assert studio.read("a.txt") == "changed\n"


def test_glob_and_grep_leave_out_what_git_ignores(studio):
    studio.write(".gitignore", "build/\n")
    studio.write("src/a.py", "import os\nprint(1)\n")
    studio.write("src/deep/b.py", "import sys\n")
    studio.write("build/c.py", "import os\n")
    assert studio.use("Glob", pattern="*.py").output == "src/a.py\nsrc/deep/b.py"
    assert studio.use("Glob", pattern="src/*.py").output == "src/a.py"
    assert studio.use("Glob", pattern="*.rs").output == "No files found."
    assert studio.use("Grep", pattern="^import (os|sys)$").output == (
        "src/a.py:1:import os\nsrc/deep/b.py:1:import sys"
    )
    assert studio.use("Grep", pattern="IMPORT", ignore_case=True, glob="b.*").output == (
        "src/deep/b.py:1:import sys"
    )
    assert studio.use("Grep", pattern="nowhere").output == "No lines found."
    wrong = studio.use("Grep", pattern="(")
    assert (wrong.outcome, "nmatched (" in wrong.output) == ("failed", True)


def test_an_expression_that_would_take_forever_in_python_does_not(studio):
    studio.write("a.txt", "a" * 2_000 + "b\n")
    assert studio.use("Grep", pattern="(a+)+$").output == "No lines found."


# Places


@pytest.mark.parametrize("tool", ["Read", "Write", "Edit", "Glob", "Grep"])
@pytest.mark.parametrize("path", ["{outside}", "../outside", "link", "deep/link/../../../outside"])
def test_no_path_leads_out_of_the_project_without_a_rule(studio, tool, path):
    outside = studio.workspace.write("outside/secret.txt", "SECRET\n").parent
    studio.workspace.link("project/link", str(outside))
    studio.workspace.link("project/deep/link", str(outside))
    path = path.format(outside=outside)
    input = {
        "Read": {"file_path": f"{path}/secret.txt"},
        "Write": {"file_path": f"{path}/new.txt", "content": "x"},
        "Edit": {"file_path": f"{path}/secret.txt", "old_string": "S", "new_string": "T"},
        "Glob": {"pattern": "*", "path": path},
        "Grep": {"pattern": "S", "path": path},
    }[tool]
    done = studio.use(tool, rules={"allow": ["Read", "Write", "Edit", "Glob", "Grep"]}, **input)
    assert done.outcome in ("refused", "failed")
    assert "SECRET" not in done.output
    assert sorted(os.listdir(outside)) == ["secret.txt"]
    assert (outside / "secret.txt").read_text() == "SECRET\n"


def test_a_rule_that_names_a_whole_path_opens_it(studio):
    outside = studio.workspace.write("outside/a.txt", "A\n").parent
    done = studio.use("Read", rules={"allow": [f"Read({outside}/*)"]}, file_path=f"{outside}/a.txt")
    assert done.output == "     1\tA"
    rules = {"allow": [f"Read({outside}/*)"], "deny": ["Read(*a.txt)"]}
    done = studio.use("Read", rules=rules, file_path=f"{outside}/a.txt")
    assert done.outcome == "refused"


def test_home_in_a_rule_is_the_users(studio):
    studio.workspace.write("home/notes/a.txt", "A\n")
    done = studio.use("Read", rules={"allow": ["Read(~/notes/*)"]}, file_path="~/notes/a.txt")
    assert done.output == "     1\tA"


def test_the_folder_of_a_skill_is_readable_wherever_it_is(studio):
    studio.workspace.skill("home/.agents/skills/tides", description="Tides.")
    path = studio.workspace.write("home/.agents/skills/tides/table.md", "# Table\n")
    assert studio.use("Read", file_path=str(path)).output == "     1\t# Table"
    written = studio.use("Write", rules=WRITE, file_path=str(path), content="x")
    assert written.outcome == "refused"
    denied = studio.use("Read", rules={"deny": ["Skill(tides)"]}, file_path=str(path))
    assert denied.outcome == "refused"


def test_touching_a_file_wakes_skills_and_finds_nested_ones(studio):
    studio.skill("charts", paths="charts/**")
    studio.workspace.skill("project/sub/.agents/skills/inner")
    studio.write("charts/a.txt", "A\n")
    studio.write("sub/b.txt", "B\n")
    _, events = studio.run(
        call("Read", file_path="charts/a.txt"),
        call("Edit", file_path="sub/b.txt", old_string="B", new_string="C"),
        say("Done."),
        rules=WRITE,
    )
    assert [one.names for one in pick(events, SkillsWoken)] == [("charts",), ("inner",)]


# Commands


def test_bash_answers_with_output_and_exit_code(studio):
    rules = {"allow": ["Bash"]}
    assert studio.use("Bash", rules=rules, command="echo a; echo b >&2; exit 3").output == (
        "a\nb\n[exit code 3]"
    )
    assert studio.use("Bash", rules=rules, command="true").output == "[no output]"
    assert studio.use("Bash", rules=rules, command="pwd").output == str(studio.project)


def test_bash_is_stopped_at_its_time_limit_and_its_output_is_bounded(studio, monkeypatch):
    rules = {"allow": ["Bash"]}
    with monkeypatch.context() as patch:
        patch.setattr(processes, "time", HaltedClock((studio.project / "said").exists))
        command = "echo a; touch said; sleep 600"
        done = studio.use("Bash", rules=rules, command=command, timeout_seconds=1)
    assert (done.output, done.seconds < 300) == ("a\n[stopped after 1 second]", True)
    done = studio.use("Bash", rules=rules, command="seq 1 20000")
    assert done.output.startswith("1\n2\n3\n")
    assert done.output.endswith("19999\n20000")
    assert (len(done.output) < 40_000, "bytes left out]" in done.output) == (True, True)


def test_bash_writes_only_in_the_project_and_sees_no_secrets(studio, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "hunter2")
    rules = {"allow": ["Bash"]}
    studio.workspace.write("home/.ssh/id", "KEY\n")
    command = (
        "env; echo x > inside.txt; echo y > ../outside.txt; cat ~/.ssh/id; "
        'mktemp -p "$TMPDIR" >/dev/null && echo has-temp'
    )
    done = studio.use("Bash", rules=rules, command=command)
    assert "hunter2" not in done.output
    assert "KEY" not in done.output
    assert "has-temp" in done.output
    assert (studio.read("inside.txt"), (studio.project.parent / "outside.txt").exists()) == (
        "x\n",
        False,
    )


def test_every_program_of_a_command_needs_permission(studio):
    rules = {"allow": ["Bash(echo *)", "Bash(true)"]}
    allowed = studio.use("Bash", rules=rules, command="echo a && true; echo b")
    assert allowed.output == "a\nb"
    for command in ("echo a && touch x", "echo $(touch x)", "true | sh", "touch x # echo a"):
        refused = studio.use("Bash", rules=rules, command=command)
        assert (command, refused.outcome) == (command, "refused")
    assert not (studio.project / "x").exists()


def test_a_denied_program_is_refused_even_if_all_are_allowed(studio):
    rules = {"allow": ["Bash"], "deny": ["Bash(rm *)"]}
    studio.write("x", "x")
    done = studio.use(
        "Bash", rules={"table": {"bash": {"*": "allow", "rm *": "deny"}}}, command="true && rm x"
    )
    assert done.outcome == "refused"
    assert studio.use("Bash", rules=rules, command="rm x").outcome == "refused"
    assert studio.read("x") == "x"


# Permissions


def test_nobody_to_ask_means_refused_and_the_turn_says_so(studio):
    ended, events = studio.run(call("Write", file_path="a.txt", content="x"), say("I could not."))
    assert (ended.status, ended.answer) == ("refused", "I could not.")
    (done,) = pick(events, ToolFinished)
    assert done.output == (
        "Write needs approval or `--allow 'Write(…)'`, and there is no one to ask."
    )
    assert not (studio.project / "a.txt").exists()


def test_what_a_rule_denies_does_not_make_the_turn_unfinished(studio):
    ended, _ = studio.run(
        call("Write", file_path="a.txt", content="x"), say("Fine."), rules={"deny": ["Write"]}
    )
    assert ended.status == "done"


def test_the_person_sees_the_exact_change_and_can_say_what_to_do_instead(studio):
    asked = Asked(ApprovalChoice.REJECT, "use b.txt")
    _, events = studio.run(
        call("Write", file_path="a.txt", content="x\n"), say("Fine."), approver=asked
    )
    (request,) = asked.requests
    assert request.metadata == {
        "tool": "Write",
        "title": "Write a.txt",
        "diff": "--- a/a.txt\n+++ b/a.txt\n@@ -0,0 +1 @@\n+x",
    }
    (done,) = pick(events, ToolFinished)
    assert done.output == "Not permitted: it was rejected. The user says: use b.txt"


def test_always_is_remembered_for_the_same_call(studio):
    asked = Asked(ApprovalChoice.ALWAYS)
    same = call("Bash", command="echo a")
    studio.run(same, same, call("Bash", command="echo b"), say("Done."), approver=asked)
    assert [request.patterns for request in asked.requests] == [("echo a",), ("echo b",)]


def test_approvals_are_kept_on_disk_where_the_user_wants_that(studio):
    studio.workspace.write("home/.config/prowess/prowess.toml", 'approvals = "disk"\n')
    for expected in (1, 0):
        asked = Asked(ApprovalChoice.ALWAYS)
        studio.run(call("Bash", command="echo a"), say("Done."), approver=asked)
        assert len(asked.requests) == expected


def test_rules_of_the_settings_apply_and_a_project_cannot_loosen_them(studio):
    studio.workspace.write(
        "home/.config/prowess/prowess.toml",
        '[permissions.bash]\n"echo *" = "allow"\n"rm *" = "deny"\n',
    )
    studio.write("prowess.toml", '[permissions]\nbash = "allow"\n')
    assert studio.use("Bash", command="echo a").outcome == "done"
    assert studio.use("Bash", command="rm a").outcome == "refused"


def test_a_read_only_session_changes_nothing(studio):
    studio.write("a.txt", "a\n")
    rules = {"allow": ["Write", "Edit", "Bash"]}
    options = {"read_only": True}
    same = studio.use("Write", rules=rules, options=options, file_path="a.txt", content="a\n")
    assert same.outcome == "refused"
    written = studio.use("Write", rules=rules, options=options, file_path="b", content="x")
    assert (written.outcome, written.output) == (
        "refused",
        "Not permitted: the session is read-only.",
    )
    ran = studio.use("Bash", rules=rules, options=options, command="cat a.txt; echo x > b")
    assert ran.output.startswith("a\n")
    assert not (studio.project / "b").exists()


def test_an_exception_in_a_tool_is_an_answer(studio, monkeypatch):
    from prowess.machine.project_files import ProjectFiles

    def fail(self, place):
        raise RuntimeError("boom")

    monkeypatch.setattr(ProjectFiles, "load_text", fail)
    ended, events = studio.run(call("Read", file_path="a"), say("I see."))
    (done,) = pick(events, ToolFinished)
    assert (ended.status, done.output) == ("done", "The tool failed: RuntimeError: boom")


def test_unknown_tools_and_wrong_arguments_are_corrected_by_the_model(studio):
    studio.write("a.txt", "A\n")
    ended, _ = studio.run(
        call("Nope"),
        call("Nope"),
        call("Read", path="a.txt"),
        call("Read", file_path="a.txt", offset="many"),
        call("Read", file_path="a.txt"),
        say("Done."),
    )
    assert (ended.status, ended.requests) == ("done", 6)


PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def test_an_image_that_is_read_reaches_the_model(studio):
    (studio.project / "dot.PNG").write_bytes(PIXEL)
    seen: list[list[ModelMessage]] = []

    async def answer(messages: list[ModelMessage], info: AgentInfo):
        seen.append(messages)
        if len(seen) == 1:
            yield {0: DeltaToolCall(name="Read", json_args='{"file_path": "dot.PNG"}')}
        else:
            yield "A dot."

    _, events = studio.run(model=FunctionModel(stream_function=answer))
    (finished,) = pick(events, ToolFinished)
    assert (finished.outcome, finished.output) == ("done", "The image dot.PNG:")
    part: Any = seen[1][-1].parts[0]
    assert part.content == ["The image dot.PNG:", BinaryContent(PIXEL, media_type="image/png")]


def test_what_only_has_the_name_of_an_image_is_no_image(studio):
    (studio.project / "dot.png").write_bytes(b"\0\1\2")
    studio.write("words.png", "words\n")
    assert "it is a binary file" in studio.use("Read", file_path="dot.png").output
    assert studio.use("Read", file_path="words.png").output == "     1\twords"
